"""Messages of a driver that writes into the memories of tiles, carried out by the run (`tensim.library.tiles` has their form).

A library that dispatches from the host tells a program to 64 cores in three thousand small writes.
"""

import numpy as np

from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.memory import copy_bytes, load_i32, load_i64, load_u8, load_u32, store_8
from tensim.sim.engine.tables import table

HEAD_BYTES, WRITE = 24, 2  # kind, x, y and size of 32 bits, an address of 64; kind of a write
SIDE = 64  # tiles are numbered x * SIDE + y

# `memory_at`: of rows of `memory_bytes`, one for each worker; `workers_at`: int64 worker of each tile, or -1; `signal_at`: address
# of the byte that tells a worker to run when it is `go`, and becomes `done` with any other value; `told_at`: int64 of workers that
# were told, `n_told` of `told_room`; `chip`: upper half of x in messages for it; `log_at`: LOG_WORDS int64 of each write, `n_log`
# of `log_room` of them; `taken`: bytes of the last call's messages that are carried out
FIELDS = "memory_at memory_bytes workers_at signal_at go done told_at told_room n_told chip log_at log_room n_log taken"
RECEIVER = np.dtype([(name, np.int64) for name in FIELDS.split()])
LOG_WORDS = 3  # worker, address, bytes

receivers = table(RECEIVER)
words = table(np.dtype(np.int64))


@compiled()
def take_writes(receiver, data, size):
    """Carry out the writes at the start of `size` bytes of messages at `data`, up to the first message that is none, is not
    complete, or goes elsewhere.
    """
    r = receivers(receiver)[0]
    workers, log, told = words(r.workers_at), words(r.log_at), words(r.told_at)
    at = 0
    while size - at >= HEAD_BYTES and r.n_log < r.log_room and r.n_told < r.told_room:
        x, y, count = load_u32(data + at + 4) - (r.chip << 16), load_u32(data + at + 8), load_u32(data + at + 12)
        address = load_i64(data + at + 16)
        if load_i32(data + at) != WRITE or size - at - HEAD_BYTES < count or x < 0 or x >= SIDE or y >= SIDE:
            break
        worker = workers[x * SIDE + y]
        if worker < 0 or address < 0 or address > r.memory_bytes - count:
            break
        memory = r.memory_at + worker * r.memory_bytes
        copy_bytes(memory + address, data + at + HEAD_BYTES, count)
        entry = LOG_WORDS * r.n_log
        log[entry], log[entry + 1], log[entry + 2] = worker, address, count
        r.n_log += 1
        if address <= r.signal_at and r.signal_at < address + count:
            if load_u8(memory + r.signal_at) == r.go:
                told[r.n_told] = worker
                r.n_told += 1
            else:
                store_8(memory + r.signal_at, r.done)
        at += HEAD_BYTES + count
    r.taken = at
