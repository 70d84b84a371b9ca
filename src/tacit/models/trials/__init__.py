"""Simulated tables on which ``tacit plan`` tries models out, and how a private fit is judged beside an ordinary one."""
