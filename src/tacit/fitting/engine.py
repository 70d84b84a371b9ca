"""Private expectation-maximisation, once: every model of this room is run by this loop.

A model is its parameters, a bounded statistic and an M-step. The loop asks it for the statistic, has the curator
release that, and gives the model what came back. Model code never meets a row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

from tacit.fitting.progress import Watch
from tacit.privacy import Step
from tacit.release import Choice, Curator, Minimum, Statistic

State = TypeVar("State")
Noise = Callable[[Statistic], float]


class Model(Protocol[State]):
    """What the loop needs of a model. ``rounds`` and ``steps`` are known before any row is read."""

    rounds: Sequence[str]
    """Name of the plan's step that each round releases, in order."""

    def steps(self) -> list[Step]:
        """Return the plan's steps, with noise relative to each other."""

    def start(self) -> State:
        """Return the parameters before the first release: public."""

    def statistic(self, state: State, index: int, noise: Noise) -> tuple[State, Statistic]:
        """Return what round `index` releases, and the state it is released at (components may be split or merged).

        ``noise(statistic)`` is the scale of the noise that a statistic's sum would get in this round.
        """

    def update(self, state: State, index: int, statistic: Statistic, released: Any, noise: float) -> State:
        """M-step: return new parameters from a noisy sum, what was chosen of a ``Choice``, or where a minimum is."""


def run(
    model: Model[State],
    curator: Curator,
    watch: Watch = lambda done, total: None,
    heard: Callable[[Statistic, Any, float], None] = lambda statistic, released, noise: None,
) -> State:
    """Run all rounds of a model through a curator and return its final parameters.

    Parameters
    ----------
    model, curator
        The curator's plan must be the model's steps, calibrated.
    watch : callable, optional
        Called as ``watch(done, total)`` after each round, for a progress bar.
    heard : callable, optional
        Called as ``heard(statistic, released, noise)`` with what each round released: all of it private values.
    """
    state = model.start()
    for index, step in enumerate(model.rounds):
        state, statistic = model.statistic(state, index, lambda statistic, step=step: curator.noise(step, statistic))
        if isinstance(statistic, Choice | Minimum):
            noise = curator.noise(step, statistic)
            released = (curator.choose if isinstance(statistic, Choice) else curator.minimise)(step, statistic)
        else:
            measurement = curator.measure(step, statistic)
            released, noise = measurement.value, measurement.noise
        heard(statistic, released, noise)
        state = model.update(state, index, statistic, released, noise)
        watch(index + 1, len(model.rounds))
    return state
