"""What units and threads wait for besides their own work: a thread's configuration, L1 that others read and write."""

import pytest

from tensim.sim.cores.coprocessor.machine import enter, held_by_packers, matrix_unit_ready_at
from tensim.sim.cores.coprocessor.units import CONFIG, MATRIX
from tensim.sim.cores.store_queue import FRACTION
from tests.cores.coprocessor.coprocessor_bench import Bench

SETC16_AT = 100


@pytest.mark.parametrize(
    ("before", "waits"),
    [
        (("MVMUL", {}), False),
        (("SETRWC", {"clear_ab_vld": 1, "BitMask": 15}), False),
        (("SETRWC", {"BitMask": 15}), True),
        (("SETRWC", {"clear_ab_vld": 3, "BitMask": 6}), True),
        (("GAPOOL", {}), True),
    ],
    ids=["MVMUL", "SETRWC of a product", "SETRWC that keeps banks", "SETRWC that keeps the phase", "GAPOOL"],
)
def test_behind_sums_and_pools_the_matrix_unit_has_a_configuration_two_cycles_later(before, waits):
    bench, thread = Bench("blackhole"), 1
    c, latency = bench.arrays.record[0], int(bench.parts["costs"]["thread_config_latency"][0])
    name, values = before
    enter(c, thread, bench.word(name, **values), MATRIX, SETC16_AT - 8)
    enter(c, thread, bench.word("SETC16", setc16_reg=0, setc16_value=0), CONFIG, SETC16_AT)
    ready = matrix_unit_ready_at(c, thread, bench.word("MVMUL", dst=128), SETC16_AT + 1)
    assert ready == SETC16_AT + (latency if waits else 1)


def test_packers_take_a_third_of_l1_until_they_have_what_they_need():
    bench = Bench("wormhole_b0")
    units = bench.parts["units"]
    units["held"] = 20 * FRACTION
    assert [held_by_packers(bench.arrays.record[0], 16) for _ in range(4)] == [8, 8, 4, 0]
