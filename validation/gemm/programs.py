"""Running one matrix product of the GEMM FLOPS report, timing only."""

import tensim as tt
from tensim.examples.blocked_matmul import build_program, create_operands, free_l1_bytes
from tensim.examples.common import execute
from tensim.examples.matmul_plan import Settings, Topology, make_plan
from tensim.sim.arch import load_arch
from tensim.sim.chip import repetition, statistics
from tensim.sim.cores.numerics.data_format import DataFormat
from tensim.sim.host.binding import compile_kernels, program_cost
from tensim.sim.host.dispatch import Costs
from tensim.sim.loop.environment import FS_PER_NS

WARM_UP_RUNS, MEASURED_RUNS = 5, 100  # of the report's loop
TOPOLOGIES = {"rows_columns": Topology.ROWS_COLUMNS, "all": Topology.ALL}


def simulate(arch, board, grid, shape, dtype, fidelity, in0_sharded, out_sharded, topology, blocks, configured):
    """[cycles of the longest TRISC1 kernel, ns per traced run, ns per untraced run] of back-to-back runs, and the ns once more
    as they would be at the full clock.

    `shape`: (M, K, N) in elements; `blocks`: (name, tiles) of `tensim.examples.matmul_plan.Settings`; `configured`: whether
    the caller names them, which costs the host time.
    """
    settings = Settings(
        topology=TOPOLOGIES[topology],
        dtype=DataFormat(dtype),
        fp32_dest_acc_en=False,
        in0_sharded=in0_sharded,
        out_sharded=out_sharded,
        **dict(blocks),
    )
    device = tt.create_device(arch=load_arch(arch, {"board": board}), numerics="off")
    try:
        plan = make_plan(shape, grid, settings, free_l1_bytes(device))
        operands = create_operands(device, shape, plan, settings)
        program = build_program(device, plan, settings, operands, tt.MathFidelity[fidelity], kernels="cpp")
        execute(device, program)
        chip = device.chip
        longest = int(statistics.thread_totals(chip, statistics.TRISC0 + 1)["longest"])
        cycles = statistics.program_cycles(chip)
        program_ns = cycles * 1000 / chip.arch.clock_mhz
        slowed_ns = repetition.run_ns(
            chip.arch, program_ns, repetition.load(chip, cycles), WARM_UP_RUNS + MEASURED_RUNS
        )
        return [
            longest,
            *(ns for one in (slowed_ns, program_ns) for ns in runs_ns(device.arch, program, one, configured)),
        ]
    finally:
        tt.close_device(device)


def runs_ns(arch, program, program_ns, configured):
    """(traced, untraced) ns per run when a program of `program_ns` runs again and again, as in the report's loop.

    Its configuration is written while the run before goes on (`tensim.sim.host.dispatch`), so a run takes the longer of the two;
    untraced it also takes as long as the host needs for the call of the operation, and the loop as a whole one time the
    shorter of call and run as well: the first program waits for its call, or the last call for its program.
    """
    costs, frozen = Costs(arch), program._state.snapshot(0)
    cost = program_cost(frozen, compile_kernels(frozen, arch), arch)
    busy_ns = program_ns + arch["dispatch.op_gap_ns"]
    traced, untraced = (max(busy_ns, costs.configuration(cost, host_fed) / FS_PER_NS) for host_fed in (False, True))
    call_ns = arch["host.ttnn_operation_ns"] + configured * arch["host.ttnn_configuration_ns"]
    return traced, max(untraced, call_ns) + min(untraced, call_ns) / MEASURED_RUNS
