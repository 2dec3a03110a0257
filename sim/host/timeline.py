"""The time of the host: what its calls cost, and when it waits."""

from tensim.sim.errors import UsageError
from tensim.sim.host.knowledge import Knowledge
from tensim.sim.loop.environment import FS_PER_NS

WAITING_CALLS = ("sync", "poll")  # host calls that issue nothing: they see what has happened


class Host:
    """The imperative host timeline; `now_fs` in femtoseconds.

    `enqueue_fs`, `sync_fs`: time spent so far in calls that issue commands (with their copies), and in waiting; `known`: what it
    has seen to be over.
    """

    def __init__(self):
        self.now_fs, self.enqueue_fs, self.sync_fs, self.costs = 0, 0, 0, {}
        self.known = Knowledge()

    def use_costs(self, arch):
        """Charge calls with the `host:` parameters of an architecture from now on."""
        self.costs = arch.section("host")

    def cost(self, name):
        """Time of one host call by the name of its parameter (`<name>_ns`), in femtoseconds; 0 before the first device."""
        return round(self.costs.get(f"{name}_ns", 0) * FS_PER_NS)

    def charge(self, name):
        """Charge one host call by the name of its parameter."""
        cost = self.cost(name)
        self.now_fs += cost
        if name in WAITING_CALLS:
            self.sync_fs += cost
        else:
            self.enqueue_fs += cost

    def copy(self, n_bytes, piece):
        """Charge a copy into device-visible memory; returns when the first `piece` bytes are there."""
        begun, rate = self.now_fs, self.costs["copy_bytes_per_ns"]
        self.compute(n_bytes / rate)
        self.enqueue_fs += self.now_fs - begun
        return begun + round(min(n_bytes, piece) / rate * FS_PER_NS)

    def compute(self, ns):
        """Let the host work for `ns` nanoseconds."""
        self.work(round(ns * FS_PER_NS))

    def work(self, fs):
        """Let the host work for `fs` femtoseconds."""
        if fs < 0:
            raise UsageError(f"the host cannot work for {fs / FS_PER_NS:g} ns")
        self.now_fs += fs

    def reach(self, fs):
        """What happened until `fs` is simulated: the host is not before that."""
        self.now_fs = max(self.now_fs, fs)

    def wait_until(self, fs):
        """The host wakes up at `fs` (or later, when it is later already) and pays for the wake-up."""
        begun = self.now_fs
        self.reach(fs)
        self.sync_fs += self.now_fs - begun
        self.charge("sync")
