"""tacit: private statistical learning.

Models near the non-private ones, a certificate to show for it, and nothing leaked. Start with
:class:`tacit.GaussianMixture`.
"""

from importlib.metadata import version

from tacit.lazy import lazy_names

__getattr__, __dir__, _names = lazy_names(__name__)

__all__ = [*_names, "__version__"]
__version__ = version("tacit")
