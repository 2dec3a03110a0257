"""How long Ctrl-C may wait: the time that the compiled engine takes between two looks at signals."""
# ruff: noqa: F403, F405

import time

import tensim as tt
from tensim.kernel_api import *
from tensim.sim.errors import CycleLimitError

CYCLES = 1_000_000_000  # a dozen turns
SKIPPED = 2  # turns that may load compiled code


@kernel
def spin_forever():
    count = 0
    while True:
        count += 1


def longest_turn():
    """Processor seconds of the longest turn of the engine in a kernel that never posts an operation of its own."""
    device = tt.create_device(0, max_cycles=CYCLES, numerics="off")
    looks, advance = [], device.chip.advance

    def look(limit, fuel):
        looks.append(time.process_time())
        return advance(limit, fuel)

    device.chip.advance = look
    try:
        program = tt.create_program()
        tt.create_kernel(program, spin_forever, tt.CoreCoord(0, 0), tt.ReaderDataMovementConfig())
        tt.enqueue_program(device.command_queue(0), program, blocking=True)
    except CycleLimitError:
        return max(later - earlier for earlier, later in zip(looks[SKIPPED:], looks[SKIPPED + 1 :], strict=False))
    finally:
        tt.close_device(device)
