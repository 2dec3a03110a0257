"""How long the launches of a network take one behind the other: from a metal trace, and as Python calls its operations.

In library mode the host waits for each launch, so the device's time between launches is not the card's.  What the queue of a card
would do with the same launches is known (`tensim.sim.host.queue_time`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tensim.sim.host.queue_time import Launch, from_host, from_trace

if TYPE_CHECKING:
    from tensim.sim.arch.loader import Arch
    from tensim.ttnn.measurements import Operation


def paced(operations: Sequence[Any], items: tuple[float, str] | None = None) -> dict[str, Any] | None:
    """What launches take, of the chip that takes longest; None without launches whose costs are known.

    `operations`: `Operation`s; `items`: (number, name) of what the program works on.  {"launches", "alone_ns": the sum of their
    own times, "traced_ns": replayed from a metal trace, "untraced_ns": each called from Python, which takes the host's
    `host.ttnn_operation_ns`, with a program configuration `host.ttnn_configuration_ns` more}, and with items "rates": {"of":
    their name, "alone", "traced", "untraced": so many a second}.
    """
    chips = {}
    for one in operations:
        if one.cost is not None:
            chips.setdefault(one.told.get("chip", 0), []).append(one)
    found = max(map(_of_chip, chips.values()), key=lambda one: one["traced_ns"], default=None)
    if found is None or items is None:
        return found
    number, name = items
    rates = {kind: round(number * 1e9 / found[f"{kind}_ns"], 3) for kind in ("alone", "traced", "untraced")}
    return found | {"rates": {"of": name, **rates}}


def replays(operations: Sequence[Any]) -> list[dict[str, Any]]:
    """What a replay takes of each metal trace that the program executed, of the chip that takes longest.

    [{"trace": its number, "replays": how many, and of one, on average, "launches", "alone_ns", "traced_ns" as `paced` has them}].
    """
    found: dict[int, dict[int, list[Any]]] = {}
    for one in operations:
        if "trace" in one.told:
            number, replay = one.told["trace"]
            found.setdefault(number, {}).setdefault(replay, []).append(one)
    return [{"trace": number, "replays": len(parts)} | _mean(list(parts.values())) for number, parts in found.items()]


def _mean(parts: Sequence[Sequence[Any]]) -> dict[str, Any]:
    each = [found for found in map(paced, parts) if found is not None]
    names = ("launches", "alone_ns", "traced_ns")
    return {name: round(sum(one[name] for one in each) / len(each), 3) for name in names}


def _of_chip(operations: Sequence[Any]) -> dict[str, Any]:
    arch = operations[0].device.host.arch
    entry_ns = arch["riscv.kernel_entry"] * 1000 / arch.clock_mhz  # of a kernel's zone, part of the go signal's time
    launches = [Launch(one.cost, max(one.nanoseconds - entry_ns, 0)) for one in operations]
    return {
        "launches": len(operations), "alone_ns": round(sum(one.nanoseconds for one in operations), 3),
        "traced_ns": round(from_trace(arch, launches), 3),
        "untraced_ns": round(from_host(arch, launches, [_call_ns(arch, one) for one in operations]), 3),
    }  # fmt: skip


def _call_ns(arch: Arch, operation: Operation) -> float:
    settings = (operation.told.get("library") or {}).get("settings") or {}
    configured = settings.get("program_config") not in (None, "None")
    return arch["host.ttnn_operation_ns"] + configured * arch["host.ttnn_configuration_ns"]
