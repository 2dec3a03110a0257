"""Many copies in one call: what loading a program again comes down to (`tensim.sim.chip.program_image`)."""

from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.memory import copy_bytes, load_i64, zero_bytes

WORDS = 3  # of a copy: target, source (0: zeros), bytes


@compiled()
def copy_regions(copies, count):
    """Carry out `count` copies; `copies`: host address of int64 (count, WORDS)."""
    for i in range(count):
        at = copies + 8 * WORDS * i
        target, source, size = load_i64(at), load_i64(at + 8), load_i64(at + 16)
        if source == 0:
            zero_bytes(target, size)
        else:
            copy_bytes(target, source, size)
