"""Several chips at register level, joined by Ethernet links: one clock, which none runs ahead of further than a link's latency."""

from tensim.sim.cores.fabric.layout import look_ahead
from tensim.sim.errors import UsageError
from tensim.sim.register_level.link import Link


class RegisterMesh:
    """`chips`: `tensim.sim.register_level.chip.RegisterChip`, all of one kind; `connections`: [((chip, name of an Ethernet tile),
    (chip, name))], both by number, each link once.  UsageError for a tile with two links.
    """

    def __init__(self, chips, connections):
        self.chips = chips
        self._look_ahead = look_ahead(chips[0].arch)
        self.now = 0
        for one, other in connections:
            for (chip, place), (peer, target) in ((one, other), (other, one)):
                mine, theirs = chips[chip], chips[peer]
                if place in mine.links:
                    raise UsageError(f"Ethernet tile {place[0]}-{place[1]} of chip {chip} has two links")
                mine.links[place] = Link(mine, place, theirs, target)
                mine.tile(*place).ethernet.link_up()
        for chip in chips:
            chip.whole = self

    @property
    def is_busy(self):
        """Does anything happen by itself?"""
        return any(chip.is_busy for chip in self.chips)

    def run(self, until):
        """Run all chips to a cycle, by as many cycles at a time as none can have an effect on another."""
        while self.now < until:
            begins = [begin for chip in self.chips if (begin := chip.busy_from) is not None]
            horizon = min(until, max(self.now, min(begins)) + self._look_ahead) if begins else until
            for chip in self.chips:
                chip.run(horizon)
            self.now = horizon
