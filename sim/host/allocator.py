"""Lock-step allocation: one free list per memory, and an address that is the same in every bank."""

from tensim.sim.errors import ProgramError, UsageError


def round_up(value, multiple):
    """`value` rounded up to a multiple."""
    return -(-value // multiple) * multiple


class Allocator:
    """First-fit free list over [base, limit) of every bank of one memory.

    `bottom_up`: default direction of growth.  Addresses and sizes are rounded up to `alignment` bytes.
    """

    def __init__(self, name, banks, base, limit, alignment, bottom_up):
        self.name, self.banks, self.alignment, self.bottom_up = name, banks, alignment, bottom_up
        self.base = round_up(base, alignment)
        self.limit = max(limit // alignment * alignment, self.base)
        self._free = [(self.base, self.limit)] if self.limit > self.base else []
        self._used = {}  # address -> size

    def allocate(self, per_bank, total=None, bottom_up=None):
        """Address of `per_bank` bytes in each bank.  ProgramError when no gap is large enough."""
        size = max(round_up(per_bank, self.alignment), self.alignment)
        upwards = self.bottom_up if bottom_up is None else bottom_up
        for gap in self._free if upwards else reversed(self._free):
            if gap[1] - gap[0] >= size:
                return self._take(gap, gap[0] if upwards else gap[1] - size, size)
        raise self._out_of_memory(size, per_bank * self.banks if total is None else total)

    def _take(self, gap, address, size):
        at = self._free.index(gap)
        rest = [(gap[0], address), (address + size, gap[1])]
        self._free[at : at + 1] = [piece for piece in rest if piece[1] > piece[0]]
        self._used[address] = size
        return address

    def _out_of_memory(self, size, total):
        largest = max((end - start for start, end in self._free), default=0)
        return ProgramError(
            f"out of memory: cannot allocate {total} B in {self.name} over {self.banks} banks: each bank "
            f"needs {size} B, the largest free block has {largest} B of {self.limit - self.base} B",
            kind="out_of_memory",
            where={"total": total, "banks": self.banks, "per_bank": size, "largest_free": largest},
        )

    def free(self, address):
        """Give a block back; UsageError when nothing was allocated at the address."""
        if address not in self._used:
            raise UsageError(f"{self.name}: nothing is allocated at {address:#x}")
        start, end = address, address + self._used.pop(address)
        merged = []
        for gap in self._free:
            if gap[1] == start:
                start = gap[0]
            elif gap[0] == end:
                end = gap[1]
            else:
                merged.append(gap)
        self._free = sorted([*merged, (start, end)])

    def move_base(self, base):
        """Move the lower end up or down to `base`; ProgramError, with nothing changed, when something lies below it."""
        base = round_up(base, self.alignment)
        lowest = self.lowest()
        if lowest is not None and lowest < base:
            raise ProgramError(f"{self.name}: a buffer at {lowest:#x} lies below the new base {base:#x}")
        if base > self.limit:
            raise ProgramError(f"{self.name}: base {base:#x} lies above the limit {self.limit:#x}")
        if base < self.base:
            self._used[base] = self.base - base
            self.free(base)
        self._free = [(max(start, base), end) for start, end in self._free if end > base]
        self.base = base

    def lowest(self):
        """Lowest allocated address, or None."""
        return min(self._used, default=None)

    @property
    def allocated(self):
        """Bytes in use per bank."""
        return sum(self._used.values())

    def view(self):
        """What it holds, in bytes per bank: totals, the largest free block and the allocated blocks (address, size)."""
        return {
            "banks": self.banks,
            "total": self.limit - self.base,
            "allocated": self.allocated,
            "free": self.limit - self.base - self.allocated,
            "largest_free": max((end - start for start, end in self._free), default=0),
            "blocks": sorted(self._used.items()),
        }
