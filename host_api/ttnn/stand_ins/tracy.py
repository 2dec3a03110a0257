"""Signposts as Tracy's Python package puts them: names between a program's operations."""

from __future__ import annotations

import ttnn


def signpost(header: str, message: str | None = None) -> None:
    """Put a name, and a message, between the operations before and those behind."""
    ttnn.tracy_message(f"`TT_SIGNPOST: {header}" + (f"\n{message}`" if message else "`"))
