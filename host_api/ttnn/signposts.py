"""Signposts: names that a program puts between its operations (`tracy.signpost`), by which reports and other tools find the part
that matters.

`tracy.signpost(header, message)` is a message to the profiler, `ttnn.tracy_message`, with the text "`TT_SIGNPOST: header" and the
message on the next line.
"""

from __future__ import annotations

from typing import NamedTuple

from tensim.device import current_system
from tensim.sim.loop.environment import FS_PER_NS

MARK = "`TT_SIGNPOST:"


class Signpost(NamedTuple):
    """`issued_ns`: the host's time when the program put it."""

    name: str
    message: str
    issued_ns: float


_put: list[Signpost] = []  # of this process, in order


def put(text: str) -> None:
    """Take a message to the profiler: those that are no signposts say nothing here."""
    if text.startswith(MARK):
        name, _, message = text.removeprefix(MARK).strip().removesuffix("`").partition("\n")
        _put.append(Signpost(name.strip(), message.strip(), current_system().host.now_fs / FS_PER_NS))


def all_signposts() -> tuple[Signpost, ...]:
    """Those that were put so far."""
    return tuple(_put)


def behind_which() -> dict[str, str]:
    """{"signpost": the name that was put last} for rows of reports; {} before the first one."""
    return {"signpost": _put[-1].name} if _put else {}
