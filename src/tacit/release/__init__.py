"""The door: noise, the lattice it lives on, what may be asked of rows, and the curator who asks."""

from tacit.lazy import former_names
from tacit.release.choice import Choice, Side
from tacit.release.curator import Curator
from tacit.release.generator import RandomState, SecureGenerator, generator
from tacit.release.minimum import Minimum, RowGradients
from tacit.release.planning import calibrated_plan, stated_plan
from tacit.release.row_maps import Affine, BlankIncomplete, RoundTarget, RowMap, Standardise, Whiten
from tacit.release.smooth import SmoothStatistic
from tacit.release.statistic import Measurement, Norm, Statistic

__all__ = [
    "Affine",
    "BlankIncomplete",
    "Choice",
    "Curator",
    "Measurement",
    "Minimum",
    "Norm",
    "RandomState",
    "RoundTarget",
    "RowGradients",
    "RowMap",
    "SecureGenerator",
    "Side",
    "SmoothStatistic",
    "Standardise",
    "Statistic",
    "Whiten",
    "calibrated_plan",
    "generator",
    "stated_plan",
]

__getattr__ = former_names(__name__, {"planned": "calibrated_plan", "uncalibrated": "stated_plan"})
