"""What the host asks of a chip while the chip's log is on: calls, and commands in its queues (for the timeline)."""

from dataclasses import field

from tensim.sim.lazy_dataclass import dataclass


@dataclass
class HostLog:
    """`calls`: [(name, begun, ended)] in femtoseconds of the host's time; `commands`: [(name, queue, item)] with the
    `tensim.sim.host.queue.Item` of each, whose times are known when it has ended; `zones`: [(name, begun, ended)] that the
    program marked on the host's timeline; `origin_fs`: time of the chip's cycle 0.
    """

    on: bool = False
    origin_fs: int = 0
    calls: list = field(default_factory=list)
    commands: list = field(default_factory=list)
    zones: list = field(default_factory=list)
