"""Functional access to a chip's L1 and DRAM: what the host reads and writes at once, and hashes of all of it."""

import hashlib

import numpy as np

from tensim.sim.errors import SimulatorError, UsageError

CHUNK_BYTES = 1 << 18  # of DRAM, the unit in which it is made on first write
CHUNKS_PER_SLAB = 64


class FunctionalMemory:
    """The bytes of `chip`, a `Chip`, as the host sees them; takes no simulated time."""

    def __init__(self, chip):
        self.chip = chip

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
        """Write bytes into a DRAM bank."""
        data = np.frombuffer(data, np.uint8)
        for start, inside, count, slot in self._dram_pieces(bank, address, len(data)):
            chunk = self._chunk(slot, make=True)
            chunk[inside : inside + count] = data[start : start + count]
        if self.chip.checks is not None:
            self.chip.checks.host_wrote_dram(bank, address, len(data))

    def _dram_pieces(self, bank, address, size):
        if not (
            0 <= bank < self.chip.arch.dram_banks and 0 <= address and address + size <= self.chip.arch.dram_bank_bytes
        ):
            raise UsageError(f"DRAM access out of range: bank {bank}, offset {address:#x}, {size} bytes")
        per_bank, done = int(self.chip.machine["chunks_per_bank"]), 0
        while done < size:
            index, inside = divmod(address + done, CHUNK_BYTES)
            count = min(size - done, CHUNK_BYTES - inside)
            yield done, inside, count, bank * per_bank + index
            done += count

    def _chunk(self, slot, make=False):
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
                return slab[(address - start) // CHUNK_BYTES]
        raise SimulatorError(f"DRAM chunk at {address:#x} belongs to no slab")

    def image_sha256(self):
        """SHA-256 (hex) of all bytes in DRAM and in L1: {"dram", "l1"}.  Memory never written counts as zeros."""
        dram = hashlib.sha256()
        for slot in np.flatnonzero(self.chip.arrays["dram_chunks"]):
            chunk = self._chunk(slot)
            if chunk.any():
                dram.update(int(slot).to_bytes(8, "little"))
                dram.update(chunk)
        return {"dram": dram.hexdigest(), "l1": hashlib.sha256(self.chip.l1).hexdigest()}
