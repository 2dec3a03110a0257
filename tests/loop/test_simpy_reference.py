"""The compiled engine against the same rules as plain SimPy processes: same operations, same cycles on every kind of thread."""

import pytest

from bench import handoff, simpy_reference


@pytest.mark.parametrize("rounds", [1, 2, 7, 8, 33, 150])
def test_hand_offs_take_the_same_cycles(rounds):
    operations, _, cycles = handoff.run(rounds)
    expected_operations, _, expected_cycles = simpy_reference.run(rounds)
    assert (operations, cycles) == (expected_operations, expected_cycles)
    assert min(cycles) > rounds
