"""Functional access to a chip's L1 and DRAM: what the host reads and writes at once, and hashes of all of it."""

import hashlib

import numpy as np

from tensim.sim.engine.known_words import WORD
from tensim.sim.errors import SimulatorError, UsageError

CHUNK_BYTES = 1 << 18  # of DRAM, the unit in which it is made on first write
CHUNKS_PER_SLAB = 64


class FunctionalMemory:
    """The bytes of `chip`, a `Chip`, as the host sees them; takes no simulated time."""

    def __init__(self, chip):
        self.chip = chip
        self._views = {}  # number of a chunk -> its bytes and, with numerics off, which of its words are known behind them

    def read_l1(self, core, address, size):
        """`size` bytes of the L1 of worker `core`."""
        self._check_l1(core, address, size)
        return self.chip.l1[core, address : address + size].tobytes()

    def write_l1(self, core, address, data, cycle=0):
        """Write bytes into the L1 of worker `core`; its threads that poll a semaphore there see them at `cycle`.

        A cycle the engine has passed already counts as its present one.
        """
        data = np.frombuffer(data, np.uint8)
        self._check_l1(core, address, len(data))
        self.chip.l1[core, address : address + len(data)] = data
        if self.chip.arrays.tracks_known and address + len(data) > self.chip.arch.l1_user_base:
            self.chip.machine["knows"] = 1
            self.chip.arrays.l1_known[core, _whole_words(address, len(data))] = 1
        if self.chip.checks is not None:
            self.chip.checks.host_wrote_l1(core, address, len(data))
        self.chip.l1_written(core, address, len(data), cycle)

    def _check_l1(self, core, address, size):
        if not (0 <= core < self.chip.n_workers and 0 <= address and address + size <= self.chip.arch.l1_size):
            raise UsageError(f"L1 access out of range: core {core}, address {address:#x}, {size} bytes")

    def read_dram(self, bank, address, size):
        """`size` bytes of a DRAM bank; memory never written reads as zero."""
        out = np.empty(size, np.uint8)
        for start, inside, count, slot in self._dram_pieces(bank, address, size):
            chunk = self._chunk(slot)
            out[start : start + count] = 0 if chunk is None else chunk[inside : inside + count]
        return out.tobytes()

    def write_dram(self, bank, address, data):
        """Write bytes into a DRAM bank.  Many zeros that meet memory never written leave it so."""
        data = np.frombuffer(data, np.uint8)
        self._write_dram(bank, address, data, len(data))

    def _write_dram(self, bank, address, data, size):
        """Write some of the `size` bytes of a write."""
        for start, inside, count, slot in self._dram_pieces(bank, address, len(data)):
            piece = data[start : start + count]
            chunk = self._chunk_for(slot, piece, size)
            if chunk is not None:
                chunk[inside : inside + count] = piece
                self._note_known(slot, inside, count)
        if self.chip.checks is not None:
            self.chip.checks.host_wrote_dram(bank, address, len(data))

    def write_dram_rows(self, bank, address, rows, stride):
        """Write rows, uint8 (n, bytes), into a DRAM bank, each `stride` bytes behind the one before; zeros between them."""
        width, size = rows.shape[1], len(rows) * stride
        for first, count, inside, slot in self._row_pieces(bank, address, stride, len(rows)):
            if count == 0:
                row = np.zeros(stride, np.uint8)
                row[:width] = rows[first]
                self._write_dram(bank, address + first * stride, row, size)
                continue
            piece = rows[first : first + count]
            chunk = self._chunk_for(slot, piece, size)
            if chunk is None:
                continue
            places = chunk[inside : inside + count * stride].reshape(count, stride)
            places[:, :width] = piece
            places[:, width:] = 0
            self._note_known(slot, inside, count * stride)
        if self.chip.checks is not None:
            self.chip.checks.host_wrote_dram(bank, address, len(rows) * stride)

    def read_dram_rows(self, bank, address, stride, rows):
        """Read what `write_dram_rows` would write into `rows`, which hold zeros."""
        width = rows.shape[1]
        for first, count, inside, slot in self._row_pieces(bank, address, stride, len(rows)):
            if count == 0:
                rows[first] = np.frombuffer(self.read_dram(bank, address + first * stride, width), np.uint8)
            elif (chunk := self._chunk(slot)) is not None:
                places = chunk[inside : inside + count * stride].reshape(count, stride)
                rows[first : first + count] = places[:, :width]

    def _row_pieces(self, bank, address, stride, n_rows):
        """(first row, rows, place in its chunk, its number) of rows that lie in one chunk; 0 rows for one that lies in two."""
        self._check_dram(bank, address, n_rows * stride)
        per_bank, first = int(self.chip.machine["chunks_per_bank"]), 0
        while first < n_rows:
            index, inside = divmod(address + first * stride, CHUNK_BYTES)
            count = min(n_rows - first, (CHUNK_BYTES - inside) // stride)
            yield first, count, inside, bank * per_bank + index
            first += max(count, 1)

    def _check_dram(self, bank, address, size):
        arch = self.chip.arch
        if not (0 <= bank < arch.dram_banks and 0 <= address and address + size <= arch.dram_bank_bytes):
            raise UsageError(f"DRAM access out of range: bank {bank}, offset {address:#x}, {size} bytes")

    def _dram_pieces(self, bank, address, size):
        self._check_dram(bank, address, size)
        per_bank, done = int(self.chip.machine["chunks_per_bank"]), 0
        while done < size:
            index, inside = divmod(address + done, CHUNK_BYTES)
            count = min(size - done, CHUNK_BYTES - inside)
            yield done, inside, count, bank * per_bank + index
            done += count

    def _chunk_for(self, slot, piece, size):
        """A chunk that a piece of a write of `size` bytes goes to, made if need be; None for zeros that stay memory never written.

        Of these it is not known that they are zeros, which a long tensor can bear, but no table that steers a kernel.
        """
        chunk = self._chunk(slot)
        if chunk is None and (piece.any() or (self.chip.arrays.tracks_known and size < CHUNK_BYTES // 2)):
            return self._chunk(slot, make=True)
        return chunk

    def _chunk(self, slot, make=False):
        view = self._views.get(slot)
        if view is None:
            view = self._find_chunk(slot, make)
            if view is None:
                return None
            self._views[slot] = view
        return view[:CHUNK_BYTES]

    def _note_known(self, slot, inside, size):
        """The host has written bytes of a chunk."""
        if self.chip.arrays.tracks_known:
            self.chip.machine["knows"] = 1
            self._views[slot][CHUNK_BYTES:][_whole_words(inside, size)] = 1

    def _find_chunk(self, slot, make):
        table = self.chip.arrays["dram_chunks"]
        if table[slot] == 0:
            if not make:
                return None
            if self.chip.machine["n_spare"] < 16:
                self.chip.arrays.add_chunks()
            self.chip.machine["n_spare"] -= 1
            table[slot] = self.chip.arrays["spare_chunks"][self.chip.machine["n_spare"]]
        address = int(table[slot])
        for slab in self.chip.arrays.slabs:
            start = slab.ctypes.data
            if start <= address < start + slab.nbytes:
                return slab[(address - start) // slab.shape[1]]
        raise SimulatorError(f"DRAM chunk at {address:#x} belongs to no slab")

    def free(self):
        """Let go of the memory."""
        self._views.clear()

    def image_sha256(self):
        """SHA-256 (hex) of all bytes in DRAM and in L1: {"dram", "l1"}.  Memory never written counts as zeros."""
        dram = hashlib.sha256()
        for slot in np.flatnonzero(self.chip.arrays["dram_chunks"]):
            chunk = self._chunk(slot)
            if chunk.any():
                dram.update(int(slot).to_bytes(8, "little"))
                dram.update(chunk)
        return {"dram": dram.hexdigest(), "l1": hashlib.sha256(self.chip.l1).hexdigest()}


def _whole_words(address, size):
    """The words that lie in a range of bytes."""
    return slice(-(-address // WORD), (address + size) // WORD)
