"""The name that the room of linear models had in version 0.1: its public names are in ``tacit.linear`` now."""

from tacit.lazy import former_room

__getattr__, __path__ = former_room(__name__, "tacit.linear")
