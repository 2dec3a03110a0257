"""Words that threads share: what each access does, and that none is lost when threads make it at once."""

import ctypes
import threading

import numpy as np

from tensim.sim.engine import atomics, machine_code
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.numba_compiler import object_code

COUNT = 200_000


@compiled()
def accesses(address):
    """Each access once to a word that holds 5; returns what they have returned, as digits."""
    before = atomics.exchange(address, 6)
    after = atomics.add_to_word(address, 3)
    bits = atomics.set_bits(address, 2)
    kept = atomics.keep_bits(address, 3)
    atomics.fence()
    refused, done = atomics.replace(address, 7, 1), atomics.replace(address, 3, 8)
    atomics.publish(address + 8, atomics.load_word(address) + atomics.observe(address))
    atomics.yield_processor()
    atomics.nap(1)
    return before + 10 * after + 100 * bits + 1000 * (kept - 10) + 10_000 * int(refused) + 100_000 * int(done)


def test_every_access():
    words = np.array([5, 0], np.int64)
    # 5 was exchanged for 6, which was added to: 9 = 0b1001, with bit 1 set 11, of which 3 is kept
    assert accesses(words.ctypes.data) == 5 + 60 + 900 + 1000 * (11 - 10) + 100_000
    assert words.tolist() == [8, 16]


def increments(address, count):
    """Count two words up: by addition, and by replacement."""
    for _ in range(count):
        atomics.add_to_word(address, 1)
        while True:
            held = atomics.load_word(address + 8)
            if atomics.replace(address + 8, held, held + 1):
                break


def test_nothing_is_lost_between_threads(monkeypatch, tmp_path):
    monkeypatch.setattr(machine_code, "DIRECTORY", tmp_path)
    code = machine_code.load_or_compile("increments", lambda: object_code(increments, 2))
    pointers = [ctypes.c_void_p] * 2  # result, error
    native = ctypes.CFUNCTYPE(ctypes.c_int32, *pointers, ctypes.c_int64, ctypes.c_int64)(code.address)
    words, results = np.zeros(2, np.int64), np.zeros((4, 2), np.int64)

    def work(row):
        native(row.ctypes.data, row.ctypes.data + 8, words.ctypes.data, COUNT)

    threads = [threading.Thread(target=work, args=(row,)) for row in results]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert words.tolist() == [4 * COUNT, 4 * COUNT]
