"""Methods as published, each an object with its own options, for comparison with the defaults.

An estimator takes one as its ``method`` (or ``solver``), or its name as a word, which means the method with its default
options:

>>> import tacit
>>> model = tacit.KMeans(3, method=tacit.published.DPLloyd(composition="zcdp", n_iter=7))
>>> same = tacit.KMeans(3, method="dplloyd")

Errors of the papers are corrected, and each module says which they were.
"""

from tacit.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
