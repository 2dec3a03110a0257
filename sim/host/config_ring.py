"""The ring of kernel-configuration memory which is the same on all workers of a queue (docs/hardware/dispatch.md#worker-side).

Every program in flight holds its arguments and configuration there, and an entry of the launch ring.  Programs of a trace
also leave their binaries there: a program that comes again finds them, unless others needed the room since.
"""

from collections import deque

from tensim.sim.errors import ProgramError
from tensim.sim.lazy_dataclass import dataclass


@dataclass(frozen=True)
class Staged:
    """A program in flight: what it holds of the ring besides resident binaries, and the event of its end."""

    program: int
    n_bytes: int
    done: object


class ConfigRing:
    """`size`: bytes per core; `depth`: entries of the launch ring.

    `staged`: programs in flight, in order; `resident`: program -> bytes of its binaries, the longest unused first.
    """

    def __init__(self, size, depth):
        self.size, self.depth = size, depth
        self.staged, self.resident = deque(), {}

    def reserve(self, cost, keep_binaries):
        """SimPy process body: wait until a program (`ProgramCost`) has room.  Returns whether its binaries must be written.

        `keep_binaries`: they stay for the next time.  ProgramError when it does not fit the ring.
        """
        if cost.ring_bytes > self.size:
            raise ProgramError(
                f"a program needs {cost.ring_bytes} B of kernel configuration (binaries, arguments, circular buffers) "
                f"per core; the ring has {self.size} B"
            )
        found = self.resident.pop(cost.program, None)
        need = cost.ring_bytes
        while len(self.staged) >= self.depth or self._used() + need > self.size:
            if not (self._drop_ended() or self._drop_unused(need)):
                yield self.staged[0].done
        if keep_binaries:
            self.resident[cost.program] = cost.ring_binary_bytes
        return found is None

    def stage(self, cost, done, keep_binaries):
        """A program that was reserved goes its way; `done`: event of its end."""
        self.staged.append(Staged(cost.program, cost.ring_bytes - keep_binaries * cost.ring_binary_bytes, done))

    def fill(self, done):
        """Count as full until `done`; no binaries are left."""
        self.resident.clear()
        self.staged = deque([Staged(None, self.size, done)])

    def _used(self):
        return sum(program.n_bytes for program in self.staged) + sum(self.resident.values())

    def _drop_ended(self):
        """Forget the first program in flight if it has ended."""
        if not self.staged or not self.staged[0].done.processed:
            return False
        self.staged.popleft()
        return True

    def _drop_unused(self, need):
        """Forget the binaries that no program in flight uses, the longest unused first, where room is short."""
        if self._used() + need <= self.size:
            return False
        in_flight = {program.program for program in self.staged}
        unused = next((program for program in self.resident if program not in in_flight), None)
        if unused is None:
            return False
        del self.resident[unused]
        return True
