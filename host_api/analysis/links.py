"""What bounds a program that sends over the fabric: the line of a link, a router at one of its ends, or the slots at the other end.

A thread that waits for a semaphore which no thread of its launch has posted waits for routers: for credits, or for packets of other
chips.  The link that has carried most of its chip's packets says why (docs/verdicts.md#verdicts).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensim.sim import state as st
from tensim.sim.chip import statistics
from tensim.sim.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from tensim.analysis.facts import Step
    from tensim.sim.chip.chip import Chip
    from tensim.sim.chip.interval import Done
    from tensim.sim.host.fabric import Fabric

LINE_FULL = 0.85  # share of the time in use from which a line bounds
ROUTER_FULL = 0.6  # share of the time at work from which a router bounds: its turns also look at what has nothing
SLOTS_FULL = 0.15  # share of the time without a slot for another packet from which slots bound
LINK, ROUTER, CREDITS = "link", "router", "credits"


@dataclass(frozen=True)
class LinkUse:
    """A link in shares of the time in which programs ran on the chip where it begins: `line` in use, `router` at work at the end
    that works more, `full`: packets waited for a slot at the other end, or a worker for slots whose packets are on their way."""

    name: str
    packets: int
    line: float
    router: float
    full: float

    @property
    def bound(self) -> str | None:
        """`LINK`, `ROUTER`, `CREDITS`, or None: the packets' way takes its time."""
        if self.line >= LINE_FULL:
            return LINK
        if self.router >= ROUTER_FULL:
            return ROUTER
        return CREDITS if self.full >= SLOTS_FULL else None


def link_uses(chip: Chip | Done) -> list[LinkUse]:
    """[LinkUse] of the links from and to a chip that have carried packets, the busiest first; none without a fabric."""
    if getattr(chip, "routers", None) is None:
        return []
    found = [link_use(row, begin) for begin, row in chip.routers.links_here() if row["packets"]]
    return sorted(found, key=lambda one: (-one.packets, -one.line))


def link_use(row: dict[str, Any], chip: Chip) -> LinkUse:
    """The `LinkUse` of a row of `Fabric.link_utilization`; `chip`: where the link begins."""
    cycles = max(statistics.program_cycles(chip), 1)
    shares = (min(row[name] / cycles, 1.0) for name in ("busy_cycles", "router_cycles", "full_cycles"))
    return LinkUse(name_of(row), row["packets"], *shares)


def name_of(row: dict[str, Any]) -> str:
    """A link in words."""
    return f"chip {row['chip']} to the {row['direction']}, link {row['link']}"


def waits_for_fabric(step: Step) -> bool:
    """Whether the last step of a critical chain is a wait that only routers end."""
    return step.waits_for is None and step.reason == st.WAIT_SEMAPHORE


def fabric_facts(fabric: Fabric) -> dict[str, Any]:
    """{"chips", "rows", "columns", "links"}: what links have carried (`Fabric.link_utilization`), the shares of `LinkUse`, and what
    bounds each."""
    chips, links = {device.chip.routers.number: device.chip for device in fabric.devices}, []
    for row in fabric.link_utilization():
        use = link_use(row, chips[row["chip"]])
        shares = {"line_share": use.line, "router_share": use.router, "full_share": use.full}
        links.append(row | shares | {"bounded_by": use.bound if row["packets"] else None})
    rows, columns = fabric.shape
    return {"chips": len(fabric.devices), "rows": rows, "columns": columns, "links": links}
