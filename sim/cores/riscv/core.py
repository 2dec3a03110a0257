"""The state of a simulated RISC-V core as data, beside the record of its thread.

`registers_at`: 33 int64 words with the values, sign-extended from 32 bits, and behind REGISTER_BYTES as many with the cycles
from which each can be used; number 32 takes what is written to x0.  `text_at`: the records of `tensim.sim.cores.riscv.decode`.
`local_at`: local memory, followed by a byte per word that says whether it derives from data that are not known.
`pending`: what comes with the end of the operation that the core has posted: its result, or behind a SPEND a fault, a print or
a debugger's stop;
`pending_to`, `pending_code`: the register and the kind of load.
`clock_high`: upper half of the wall clock, which a load of the lower one keeps.
`tainted`: a bit per register.  `icache_at`: (newest, oldest) line of each set.
"""

import numpy as np

from tensim.sim.engine.tables import table

REGISTER_BYTES = 512  # from a register's value to its cycle
CORE = np.dtype(
    [(name, np.int64) for name in (
        "registers_at text_at text_bytes operands_at local_at local_bytes data_end icache_at icache_sets text_l1 pc "
        "args_end args_limit "
        "pending pending_to pending_code result clock_high tainted fault fault_a fault_b fault_c"
    ).split()],
    align=True,
)  # fmt: skip
NOTHING, LOADED, RESULT, RETRY, FAULTED, PRINTED, BROKEN = range(7)  # `pending`
ICACHE_WAYS = 2  # what loops of 1024 to 2048 instructions take (docs/hardware/riscv.md#instruction-fetch)
ICACHE_LINE = 16  # bytes: one read of L1 (docs/hardware/riscv.md#instruction-fetch)

core_table = table(CORE)
