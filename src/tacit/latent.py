"""The name that the room of latent-variable models had in version 0.1: its public names are in ``tacit`` now."""

from tacit.lazy import former_room

__getattr__, __path__ = former_room(__name__, "tacit", {"MixtureIntervals": "tacit.mixture"})
