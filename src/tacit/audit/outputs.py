"""Audit a mechanism from its outputs alone: how well can two neighbouring data sets be told apart?

The mechanism runs many times on a data set and on a neighbour. A quarter of the runs teaches the attacker scores, a
quarter chooses the score and the threshold, and the other half, untouched until then, counts the errors.

Invariants
----------
- The runs that are counted took no part in choosing what to count, so the two Clopper-Pearson bounds need no
  correction for the search. Each may fail with half of ``1 - confidence``; everything an `Audit` says follows from the
  two together, so however many claims one audit is held against, it wrongs a true one with at most ``1 - confidence``.
- A lower bound below the claim is not a proof of the claim: another pair of data sets may be easier to tell apart.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track

from tacit.arrays import Array
from tacit.audit.bounds import epsilon_bound, error_bound, mu_bound, plan_forbids
from tacit.audit.distinguishers import learn_scores
from tacit.messages import describe
from tacit.privacy import Budget, Certificate, Plan
from tacit.privacy.gaussian_profile import gaussian_epsilon

Claim: TypeAlias = float | Budget | Plan | Certificate
AuditMethod = Literal["threshold", "gdp"]


@dataclass(frozen=True, repr=False, eq=False)
class Audit:
    """What was measured by `audit_outputs` or `audit_estimator`.

    Attributes
    ----------
    delta, confidence, method, claim
        As given to the audit.
    trials : int
        How many runs on each data set were counted (half of those made).
    false_positives, false_negatives : int
        How many of them on the data set were taken for the neighbour, and the reverse.
    attack : {"linear", "quadratic", "trees"}
        The kind of score the attacker chose.
    tradeoff : ndarray of shape (points, 2)
        Error rates (false positive, false negative) of the counted runs at every threshold, for pictures.
        Only the chosen threshold carries the confidence.
    """

    delta: float
    confidence: float
    method: AuditMethod
    trials: int
    false_positives: int
    false_negatives: int
    attack: str
    tradeoff: Array
    claim: Claim | None = None

    @property
    def error_bounds(self) -> tuple[float, float]:
        """Upper bounds on the false positive and the false negative rate; both hold with the stated confidence."""
        bounds = error_bound([self.false_positives, self.false_negatives], self.trials, (1 - self.confidence) / 2)
        return float(bounds[0]), float(bounds[1])

    @property
    def epsilon(self) -> float:
        """Lower bound on epsilon at `delta`, with the stated confidence. Under "gdp", of a Gaussian trade-off."""
        return _epsilon(self.method, *self.error_bounds, self.delta)

    @property
    def mu(self) -> float:
        """Lower bound on mu of Gaussian differential privacy, with the stated confidence."""
        return float(mu_bound(*self.error_bounds))

    @property
    def estimate(self) -> float:
        """The point estimate of epsilon: what the attacker achieved, without the confidence margin."""
        a, b = ((count + 0.5) / (self.trials + 1) for count in (self.false_positives, self.false_negatives))
        return _epsilon(self.method, a, b, self.delta)

    @property
    def ceiling(self) -> float:
        """The largest lower bound these many runs could have given. A claim above it could not have been refuted."""
        flawless = float(error_bound(0, self.trials, (1 - self.confidence) / 2))
        return _epsilon(self.method, flawless, flawless, self.delta)

    def refutes(self, claim: Claim | None = None) -> bool:
        """Whether a claim is false, with the stated confidence.

        Parameters
        ----------
        claim : float, Budget, Plan or Certificate, optional
            An epsilon at the audit's delta, a budget, or a whole plan (alone or in its certificate), of which then the
            whole curve delta(epsilon) is tested. By default the claim the audit was made with.
        """
        claim = self.claim if claim is None else claim
        if claim is None:
            raise ValueError("There is no claim to refute: pass an epsilon, a Budget, a Plan or a Certificate.")
        if isinstance(claim, Certificate):
            claim = claim.plan
        if isinstance(claim, Plan):
            return plan_forbids(claim, *self.error_bounds)
        if isinstance(claim, Budget):
            return _epsilon(self.method, *self.error_bounds, claim.delta) > claim.epsilon
        return self.epsilon > claim

    def consistent_with(self, claim: Claim | None = None) -> bool:
        """Whether nothing measured contradicts a claim; see `refutes`."""
        return not self.refutes(claim)

    def __repr__(self) -> str:
        text = (
            f"Audit(epsilon >= {self.epsilon:.3g} at delta={self.delta:g} with {self.confidence:.4g} confidence, "
            f"estimate {self.estimate:.3g}, {self.method} method, {self.attack} attack, "
            f"{self.trials:,} counted runs on each side"
        )
        if self.claim is None:
            return text + ")"
        claimed = _claimed_epsilon(self.claim, self.delta)
        return text + f"; claimed {claimed:.3g}: {'REFUTED' if self.refutes() else 'consistent'})"


def audit_outputs(
    run: Callable[..., Any],
    data: Any,
    neighbor: Any,
    *,
    delta: float,
    trials: int,
    confidence: float = 0.95,
    method: AuditMethod = "threshold",
    claim: Claim | None = None,
    vectorized: bool = False,
    random_state: int | np.random.Generator | None = None,
    n_jobs: int | None = None,
    progress: bool = False,
) -> Audit:
    """Bound the epsilon of a black-box mechanism from below, by telling two neighbouring data sets apart.

    Parameters
    ----------
    run : callable
        ``run(data, seed)`` runs the mechanism once and returns what it publishes, a number or a vector.
        If `vectorized`, ``run(data, seed, trials)`` runs it many times and returns one row a run.
    data, neighbor : object
        Two neighbouring data sets, handed to `run` as they are. Choose them far apart: the bound is for this pair.
    delta : float
        The delta at which epsilon is bounded.
    trials : int
        How many times to run on each data set. Half of the runs train the attacker, half are counted.
    confidence : float
        The probability with which the bound holds, at least.
    method : {"threshold", "gdp"}
        "threshold" bounds epsilon with no assumption on the mechanism. "gdp" bounds mu of Gaussian differential privacy
        and converts it to epsilon at `delta`: far sharper when delta is small, and the right reading for claims that
        rest on Gaussian noise; of other mechanisms its epsilon says only which Gaussian one leaks as much.
    claim : float, Budget, Plan or Certificate, optional
        What the mechanism claims; then ``audit.refutes()`` and the repr give the verdict.
    vectorized : bool
        Whether `run` takes a third argument and makes all runs in one call.
    random_state : int, Generator or None
        From which the seeds of the runs are drawn, all different.
    n_jobs : int, optional
        Runs at a time, as in joblib.
    progress : bool
        Show a progress bar.

    Returns
    -------
    Audit
        The lower bound `epsilon`, and what it rests on.

    Examples
    --------
    A count with Gaussian noise of standard deviation 2, claimed to be (1, 1e-5)-private. It is not: that takes 3.7.

    >>> import numpy as np
    >>> from tacit.audit import audit_outputs
    >>> def noisy_count(rows, seed, trials):
    ...     return len(rows) + np.random.default_rng(seed).normal(0, 2, size=trials)
    >>> audit = audit_outputs(noisy_count, range(100), range(101), delta=1e-5, trials=20_000, method="gdp",
    ...                       claim=1.0, vectorized=True, random_state=0)
    >>> audit
    Audit(epsilon >= 1.7... at delta=1e-05 with 0.95 confidence, ...; claimed 1: REFUTED)
    """
    _check(delta, trials, confidence, method)
    rng = np.random.default_rng(random_state)
    if vectorized:
        seed, neighbor_seed = rng.choice(2**32, 2, replace=False).tolist()
        outputs = _rows(run(data, seed, trials), trials)
        neighbor_outputs = _rows(run(neighbor, neighbor_seed, trials), trials)
    else:
        seeds = rng.choice(2**32, 2 * trials, replace=False).tolist()
        tasks = [(data, seed) for seed in seeds[:trials]] + [(neighbor, seed) for seed in seeds[trials:]]
        results = Parallel(n_jobs=n_jobs, return_as="generator")(delayed(run)(*task) for task in tasks)
        shown = track(
            results, "Running the mechanism", total=len(tasks), disable=not progress, console=Console(stderr=True)
        )
        published = _pad([np.ravel(np.asarray(result, dtype=np.float64)) for result in shown])
        outputs, neighbor_outputs = published[:trials], published[trials:]

    quarter = trials // 4
    learn, choose, count = slice(quarter), slice(quarter, 2 * quarter), slice(2 * quarter, None)
    scores = learn_scores(outputs[learn], neighbor_outputs[learn])
    tests = {
        name: _best_test(score(outputs[choose]), score(neighbor_outputs[choose]), delta, confidence, method)
        for name, score in scores.items()
    }
    attack = max(tests, key=lambda name: tests[name].merit)
    counted, neighbor_counted = scores[attack](outputs[count]), scores[attack](neighbor_outputs[count])
    errors = _errors(counted, neighbor_counted, np.array([tests[attack].threshold]))
    every_threshold = _thresholds(counted, neighbor_counted)
    return Audit(
        delta=delta,
        confidence=confidence,
        method=method,
        trials=len(counted),
        false_positives=int(errors[0, 0]),
        false_negatives=int(errors[0, 1]),
        attack=attack,
        tradeoff=_errors(counted, neighbor_counted, every_threshold) / len(counted),
        claim=claim,
    )


class _Test(NamedTuple):
    threshold: float
    merit: float


def _best_test(scores: Array, neighbor_scores: Array, delta: float, confidence: float, method: AuditMethod) -> _Test:
    """Return the threshold with the best bound on these runs."""
    thresholds = _thresholds(scores, neighbor_scores)
    # The failure probability is a tenth of the counted one: the best of many bounds is biased where few runs decide it.
    a, b = error_bound(_errors(scores, neighbor_scores, thresholds), len(scores), (1 - confidence) / 20).T
    bound = mu_bound(a, b) if method == "gdp" else epsilon_bound(a, b, delta)
    # Where these runs give no bound, the counted ones, which are twice as many, may: prefer the best separation.
    merit = bound - 1e-6 * (a + b)
    best = int(np.argmax(merit))
    return _Test(float(thresholds[best]), float(merit[best]))


def _thresholds(scores: Array, neighbor_scores: Array) -> Array:
    """Return at most a thousand thresholds, evenly spaced by rank, halfway between neighbouring scores."""
    distinct = np.unique(np.concatenate([scores, neighbor_scores]))
    halfway = np.append((distinct[1:] + distinct[:-1]) / 2, distinct[-1])
    return np.take(halfway, np.unique(np.linspace(0, len(halfway) - 1, 1000).astype(int)))


def _errors(scores: Array, neighbor_scores: Array, thresholds: Array) -> NDArray[np.int64]:
    """Count, at each threshold, scores of the data set above it and scores of the neighbour not above it."""
    above = len(scores) - np.searchsorted(np.sort(scores), thresholds, side="right")
    not_above = np.searchsorted(np.sort(neighbor_scores), thresholds, side="right")
    return np.column_stack([above, not_above])


def _epsilon(method: AuditMethod, false_positive: float, false_negative: float, delta: float) -> float:
    if method == "gdp":
        return gaussian_epsilon(delta, float(mu_bound(false_positive, false_negative)))
    return float(epsilon_bound(false_positive, false_negative, delta))


def _claimed_epsilon(claim: Claim, delta: float) -> float:
    if isinstance(claim, Budget):
        return claim.epsilon
    return claim.epsilon(delta) if isinstance(claim, (Plan, Certificate)) else claim


def _rows(outputs: Any, trials: int) -> Array:
    rows = np.asarray(outputs, dtype=np.float64)
    if rows.ndim == 0 or len(rows) != trials:
        raise ValueError(
            f"A vectorized run must return one row for each of its {trials} trials, "
            f"and its result has shape {rows.shape}."
        )
    return rows.reshape(trials, -1)


def _pad(vectors: Sequence[Array]) -> Array:
    """Stack vectors. Shorter ones are filled up with NaN, because their length may tell the data sets apart."""
    rows = np.full((len(vectors), max(map(len, vectors))), np.nan)
    for row, vector in zip(rows, vectors):
        row[: len(vector)] = vector
    return rows


def _check(delta: float, trials: int, confidence: float, method: str) -> None:
    if method not in get_args(AuditMethod):
        raise ValueError(f"method must be 'threshold' or 'gdp', and it is {describe(method)}.")
    if not 0 <= delta < 1:
        raise ValueError(
            f"delta must be at least 0 and less than 1, and it is {describe(delta)}; pass the delta of the claim."
        )
    if method == "gdp" and delta == 0:
        raise ValueError("Gaussian noise has no epsilon at delta 0; use method='threshold' for pure guarantees.")
    if not 0 < confidence < 1:
        raise ValueError(
            f"confidence must lie between 0 and 1, and it is {describe(confidence)}; pass for instance 0.95."
        )
    if trials < 40:
        raise ValueError(
            f"trials must be at least 40, and it is {describe(trials)}; thousands are needed for a sharp bound."
        )
