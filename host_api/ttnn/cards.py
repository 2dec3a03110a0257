"""Settings of the cards that meshes are made of, where these are not those of the architecture's usual board."""

from __future__ import annotations

from typing import Any

# The library dispatches on Ethernet tiles of an n300, so that all eight rows of its chips compute
_N300 = {"board": "n300", "boards.n300.rows": [1, 2, 3, 4, 7, 8, 9, 10]}
_CARDS: dict[str, dict[str, Any]] = {"n300": _N300, "t3k": _N300}  # by name of the mesh


def card_of(mesh: str | None) -> dict[str, Any]:
    """Overrides of architecture parameters of the chips of a mesh, by dotted key."""
    return dict(_CARDS.get(mesh or "", {}))
