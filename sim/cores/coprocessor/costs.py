"""Cycles and rates of the coprocessor's units and of its threads' cores: a record per chip that the coprocessor keeps.

The numbers are parameters of the chip, `coprocessor` in sim/arch/*.yaml, and those that the operation level has as well: widths
of unpackers and packers, `riscv.fetch_miss`.
"""

import numpy as np

from tensim.sim.cores.store_queue import FRACTION
from tensim.sim.engine.tables import table

# From L1 to the source registers, from Dst to L1, by the configuration unit; of RISC-V cores: a pushed word, loads and
# multiplications; of the vector unit and of the matrix unit: until a result can be used
NAMES = (
    "unpack_address unpack_gap unpack_latency pack_latency config_latency push_latency local_load register_load config_load "
    "tile_register_load l1_load multiply multiply_latency vector_latency vector_late_latency vector_hold "
    "dst_write_to_read matrix_latency matrix_short_latency move_to_dst_latency move_to_a_latency move_to_b_latency "
    "shift_b_latency thread_config_latency"
).split()
SHARED = {  # with the operation level: the parameter, and its unit here
    "unpack_joint_bytes": ("tensix.unpack.joint_bytes_per_cycle", 1),
    "pack_bytes": ("tensix.pack.bytes_per_cycle", 1),
    "unpack_hold": ("tensix.pack.unpack_hold", FRACTION),
    "fetch_miss": ("riscv.fetch_miss", 1),
    "l1_store": ("riscv.l1_store", FRACTION),
    "l1_store_delay": ("riscv.l1_store_delay", 1),
    "store_merges": ("riscv.store_merges", 1),
}
COSTS = np.dtype([(name, np.int64) for name in (*NAMES, *SHARED)])
costs_table = table(COSTS)


def make_costs(arch):
    """COSTS[1] of a chip (`tensim.sim.arch.load_arch`)."""
    costs = np.zeros(1, COSTS)
    for name in NAMES:
        costs[name] = arch[f"coprocessor.{name}"]
    for name, (key, scale) in SHARED.items():
        costs[name] = round(arch[key] * scale)
    return costs
