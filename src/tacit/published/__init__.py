"""Methods as published, each an object with its own options, for comparison with the defaults.

An estimator takes one as its ``method`` (or ``solver``), or its name as a word, which means the method with its default
options:

>>> import tacit
>>> model = tacit.KMeans(3, method=tacit.published.DPLloyd(composition="zcdp", n_iter=7))
>>> same = tacit.KMeans(3, method="dplloyd")

Errors of the papers are corrected, and each module says which they were.
"""

from typing import TYPE_CHECKING

from tacit.lazy import lazy_names

if TYPE_CHECKING:
    from tacit.published.analyze_gauss import AnalyzeGauss
    from tacit.published.catoni_mean import CatoniMean
    from tacit.published.dp_em import DPEM, JointMoments
    from tacit.published.first_order import SGD, GradientDescent
    from tacit.published.frank_wolfe import FrankWolfe
    from tacit.published.lloyd import DPEMLloyd, DPLloyd
    from tacit.published.perturbation import ObjectivePerturbation, OutputPerturbation
    from tacit.published.robust_descent import RobustDescent, RobustSGD
    from tacit.published.sample_aggregate import BlockMean, SampleAggregate
    from tacit.published.trimmed_descent import TrimmedDescent
    from tacit.published.variance_reduced import SVRG, Katyusha, SVRGPlusPlus
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "tacit.published.analyze_gauss": ["AnalyzeGauss"],
            "tacit.published.catoni_mean": ["CatoniMean"],
            "tacit.published.dp_em": ["DPEM", "JointMoments"],
            "tacit.published.first_order": ["SGD", "GradientDescent"],
            "tacit.published.frank_wolfe": ["FrankWolfe"],
            "tacit.published.lloyd": ["DPEMLloyd", "DPLloyd"],
            "tacit.published.perturbation": ["ObjectivePerturbation", "OutputPerturbation"],
            "tacit.published.robust_descent": ["RobustDescent", "RobustSGD"],
            "tacit.published.sample_aggregate": ["BlockMean", "SampleAggregate"],
            "tacit.published.trimmed_descent": ["TrimmedDescent"],
            "tacit.published.variance_reduced": ["SVRG", "Katyusha", "SVRGPlusPlus"],
        },
    )

__all__ = [
    "DPEM",
    "SGD",
    "SVRG",
    "AnalyzeGauss",
    "BlockMean",
    "CatoniMean",
    "DPEMLloyd",
    "DPLloyd",
    "FrankWolfe",
    "GradientDescent",
    "JointMoments",
    "Katyusha",
    "ObjectivePerturbation",
    "OutputPerturbation",
    "RobustDescent",
    "RobustSGD",
    "SVRGPlusPlus",
    "SampleAggregate",
    "TrimmedDescent",
]
