"""Pictures of a private model, and the HTML report that goes with it.

Everything shown here is computed from private parameters and from the certificate; no row is ever seen. How each model
is presented is in the registry, :mod:`tacit.models`, which is built on this room; so the two functions that take any
model are found there.
"""

from tacit.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
