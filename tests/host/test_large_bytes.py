"""Bytes that are written in place are bytes like others."""

import numpy as np
import pytest

from tensim.sim.host.large_bytes import LARGE, bytes_of, bytes_to_fill


@pytest.mark.parametrize("size", [0, 1, 5, 4096, LARGE - 1, LARGE, LARGE + 4097])
def test_what_is_filled_in_is_there(size):
    made, memory = bytes_to_fill(size)
    assert made == bytes(size) and memory.nbytes == size
    memory[:] = 7
    assert made == b"\7" * size and hash(made) == hash(b"\7" * size)
    assert bytes(1) == b"\0" and bytes(0) == b""


@pytest.mark.parametrize("shape", [(0,), (3, 5), (LARGE // 4, 2)])
def test_an_array_gives_the_bytes_of_tobytes(shape):
    array = np.arange(np.prod(shape), dtype=np.uint32).reshape(shape)
    assert bytes_of(array) == array.tobytes()
    assert bytes_of(array.T) == array.T.tobytes()
    assert bytes_of(array[::2]) == array[::2].tobytes()
