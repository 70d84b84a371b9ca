"""Empirical privacy tests that anyone can run on a statistic, a mechanism or an estimator.

`replay` checks that an estimator's fit depends on its releases alone, and that these move no further than declared;
`attack_sensitivity` searches for neighbouring data sets that break a stated sensitivity; `audit_outputs` and
`audit_estimator` bound epsilon from below by telling neighbouring data sets apart. They can refute a claim; they cannot
prove one.
"""

from tacit.audit.estimator import audit_estimator
from tacit.audit.outputs import Audit, audit_outputs
from tacit.audit.replaying import CheckedRelease, Replay, replay
from tacit.audit.sensitivity import SensitivityAttack, attack_sensitivity

__all__ = [
    "Audit",
    "CheckedRelease",
    "Replay",
    "SensitivityAttack",
    "attack_sensitivity",
    "audit_estimator",
    "audit_outputs",
    "replay",
]
