"""Messages of a driver that writes into the memories of tiles, carried out by the run (`tensim.library.tiles` has their form).

A library that dispatches from the host tells a program to 64 cores in three thousand small writes.
"""

import numpy as np

from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.memory import copy_bytes, load_i32, load_i64, load_u32
from tensim.sim.engine.tables import table

HEAD_BYTES, WRITE = 24, 2  # kind, x, y and size of 32 bits, an address of 64; kind of a write
SIDE = 64  # tiles are numbered x * SIDE + y

# `memory_at`: of rows of `memory_bytes`, one for each worker; `workers_at`: int64 worker of each tile, or -1; `watched`: address
# of a byte whose writes are not for here; `chip`: upper half of x in messages for it; `log_at`: LOG_WORDS int64 of each write,
# `n_log` of `log_room` of them; `taken`: bytes of the last call's messages that are carried out
RECEIVER = np.dtype(
    [(name, np.int64) for name in "memory_at memory_bytes workers_at watched chip log_at log_room n_log taken".split()]
)
LOG_WORDS = 3  # worker, address, bytes

receivers = table(RECEIVER)
words = table(np.dtype(np.int64))


@compiled()
def take_writes(receiver, data, size):
    """Carry out the writes at the start of `size` bytes of messages at `data`, up to the first message that is none, is not
    complete, or goes elsewhere.
    """
    r = receivers(receiver)[0]
    workers, log = words(r.workers_at), words(r.log_at)
    at = 0
    while size - at >= HEAD_BYTES and r.n_log < r.log_room:
        x, y, count = load_u32(data + at + 4) - (r.chip << 16), load_u32(data + at + 8), load_u32(data + at + 12)
        address = load_i64(data + at + 16)
        if load_i32(data + at) != WRITE or size - at - HEAD_BYTES < count or x < 0 or x >= SIDE or y >= SIDE:
            break
        worker = workers[x * SIDE + y]
        if worker < 0 or address < 0 or address > r.memory_bytes - count:
            break
        if address <= r.watched and r.watched < address + count:
            break
        copy_bytes(r.memory_at + worker * r.memory_bytes + address, data + at + HEAD_BYTES, count)
        entry = LOG_WORDS * r.n_log
        log[entry], log[entry + 1], log[entry + 2] = worker, address, count
        r.n_log += 1
        at += HEAD_BYTES + count
    r.taken = at
