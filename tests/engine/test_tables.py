"""Tables: compiled code reads and writes state through a host address."""

import numba as nb
import numpy as np

from tensim.sim.engine.tables import table

PAIR = np.dtype([("count", np.int64), ("words", np.int32, 3)], align=True)
pair_table, float_table = table(PAIR), table(np.float32)


@nb.njit
def count_up(address, n):
    pairs = pair_table(address)
    for i in range(n):
        pair = pairs[i]
        pair.count += i
        pair.words[1] = 10 * i
    return pairs[np.uint8(n - 1)].count


@nb.njit
def double(address, n):
    values = float_table(address)
    for i in range(n):
        values[i] = 2 * values[i]
    values[0] += 1


def test_records_are_references_into_the_array():
    pairs = np.zeros(4, PAIR)
    pairs["count"] = 100
    assert count_up(pairs.ctypes.data, 3) == 102
    assert pairs["count"].tolist() == [100, 101, 102, 100]
    assert pairs["words"].tolist() == [[0, 0, 0], [0, 10, 0], [0, 20, 0], [0, 0, 0]]


def test_numbers_are_read_and_written():
    values = np.arange(4, dtype=np.float32)
    double(values.ctypes.data, 3)
    assert values.tolist() == [1, 2, 4, 3]
