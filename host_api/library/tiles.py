"""The memories that the library sees: L1 and mailboxes of worker cores, DRAM, registers of everything else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tensim.library.mailboxes import DONE, GO, SIGNAL
from tensim.sim.engine.entry_points import take_writes
from tensim.sim.engine.host_writes import LOG_WORDS, RECEIVER, SIDE
from tensim.sim.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tensim.library.mailboxes import Layout
    from tensim.sim.host.device import Device

REGISTERS = 0xFF000000  # addresses of a tile from here on are registers
PAGE = 4096
WORD = 4
LOG_ROOM = 1 << 16  # writes between two launches that are noted at once
TOLD_ROOM = SIDE * SIDE  # for every tile


class Tiles:
    """Memory by tile, as (x, y, address) of the library.

    `device`: `tensim.sim.host.device.Device`; `layout`: `tensim.library.mailboxes.Layout`; `channels`: lists of the NoC
    coordinates of each DRAM channel.  Below `config_end` a worker's L1 is `config[worker]` (uint8), the library's own; `strangers`:
    the (x, y) of other cores that were told to run; `chip`: what messages name it by.
    """

    def __init__(
        self, device: Device, layout: Layout, channels: Iterable[Iterable[tuple[int, int]]], chip: int = 0
    ) -> None:
        self.device, self.layout, self.chip, arch = device, layout, chip, device.arch
        self.config_end = arch.l1_user_base
        self.workers = {coordinate: worker for worker, coordinate in enumerate(arch.kernel_coords)}
        self.config = np.zeros((len(self.workers), self.config_end), np.uint8)
        # writes there since the last launch: worker, address, bytes
        self._log = np.zeros((LOG_ROOM, LOG_WORDS), np.int64)
        self._told = np.zeros(TOLD_ROOM, np.int64)  # workers
        self._receiver, self._numbers = self._build_receiver()
        self._places = np.array([(x | chip << 16, y) for x, y in self.workers], np.uint32)
        self.strangers = []
        self._bank_bytes, self._per_tile = arch.dram_bank_bytes, arch["dram.banks_per_tile"]
        self._dram = {place: channel for channel, places in enumerate(channels) for place in places}
        self._others = {}

    def _build_receiver(self) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """The record of `take_writes`, and the table that it points to."""
        numbers = np.full(SIDE * SIDE, -1, np.int64)
        for (x, y), worker in self.workers.items():
            numbers[x * SIDE + y] = worker
        receiver = np.zeros(1, RECEIVER)
        receiver["memory_at"], receiver["memory_bytes"] = self.config.ctypes.data, self.config_end
        receiver["workers_at"], receiver["signal_at"] = numbers.ctypes.data, self.layout.go + SIGNAL
        receiver["go"], receiver["done"] = GO, DONE
        receiver["told_at"], receiver["told_room"] = self._told.ctypes.data, TOLD_ROOM
        receiver["log_at"], receiver["log_room"], receiver["chip"] = self._log.ctypes.data, LOG_ROOM, self.chip
        return receiver, numbers

    def take_writes(self, data: bytearray, at: int) -> int:
        """Carry out the messages from byte `at` of a bytearray on that only write what launches are made of; returns where they
        end."""
        content = np.frombuffer(data, np.uint8)
        take_writes(self._receiver.ctypes.data, content.ctypes.data + at, len(content) - at)
        return at + int(self._receiver["taken"][0])

    def writes(self, workers: Sequence[int]) -> NDArray[np.int64]:
        """int64 (n, 3): worker, address and bytes of what was written below `config_end` of some workers since their last launch,
        in order."""
        log = self._log[: int(self._receiver["n_log"][0])]
        return log[np.isin(log[:, 0], workers)]

    def sizes(self, workers: Sequence[int]) -> dict[int, dict[int, int]]:
        """{worker: {address: bytes}} of these writes."""
        found = {worker: {} for worker in workers}
        for worker, address, count in self.writes(workers).tolist():
            found[worker][address] = count
        return found

    def launched(self, workers: Sequence[int]) -> None:
        """Some workers have run what they were told: their next launch begins here."""
        log = self._log[: int(self._receiver["n_log"][0])]
        others = log[~np.isin(log[:, 0], workers)]
        self._log[: len(others)] = others
        self._receiver["n_log"] = len(others)

    def take_told(self) -> tuple[list[int], list[tuple[int, int]]]:
        """(workers, other cores) that were told to run since this was asked last, each once."""
        told, strangers = self.told, list(self.strangers)
        self._receiver["n_told"] = 0
        self.strangers.clear()
        return told, strangers

    @property
    def told(self) -> list[int]:
        """The workers that were told to run, each once, in their order."""
        return list(dict.fromkeys(self._told[: int(self._receiver["n_told"][0])].tolist()))

    def _tell(self, worker: int) -> None:
        told = self.told
        if worker not in told:  # so that there is room for all of them
            told.append(worker)
        self._told[: len(told)], self._receiver["n_told"] = told, len(told)

    def write(self, x: int, y: int, address: int, data: bytes) -> None:
        """Bytes from the host.  UsageError outside a memory."""
        worker = self.workers.get((x, y))
        if worker is not None and address < self.config_end:
            self._write_config(worker, address, data)
        elif worker is not None and address < REGISTERS:
            self.device.chip.memory.write_l1(worker, address, data)
        elif (x, y) in self._dram and address < REGISTERS:
            bank, inside = self._bank(x, y, address)
            self.device.chip.memory.write_dram(bank, inside, data)
        else:
            self._write_other(x, y, address, data)

    def read(self, x: int, y: int, address: int, size: int) -> bytes:
        """Bytes for the host."""
        worker = self.workers.get((x, y))
        if worker is not None and address < REGISTERS:
            own = bytes(self.config[worker][address : address + size])
            left = size - len(own)
            return own + bytes(self.device.chip.memory.read_l1(worker, address + len(own), left)) if left else own
        if (x, y) in self._dram and address < REGISTERS:
            bank, inside = self._bank(x, y, address)
            return bytes(self.device.chip.memory.read_dram(bank, inside, size))
        return b"".join(bytes(page[begin:end]) for page, begin, end in self._pages(x, y, address, size))

    def polls(self, x: int, y: int, address: int, size: int) -> bool:
        """Whether a read looks at a worker's go word."""
        return address == self.layout.go and size == WORD and (x, y) in self.workers

    def keeps(self, x: int, y: int, address: int, size: int) -> bool:
        """Whether bytes lie in a memory that kernels work on, DRAM or L1 behind what launches are made of."""
        if (x, y) in self.workers:
            return self.config_end < address + size <= REGISTERS
        return (x, y) in self._dram and address < REGISTERS

    def go_words(self) -> NDArray[np.uint32]:
        """uint32 (workers, 3): x and y as in messages, and the go word of every worker."""
        go = self.layout.go
        return np.hstack([self._places, self.config[:, go : go + WORD].copy().view(np.uint32)])

    def answer(self, worker: int, signal: int) -> None:
        """Set the signal of a worker's go word."""
        self.config[worker][self.layout.go + SIGNAL] = signal

    def _write_config(self, worker: int, address: int, data: bytes) -> None:
        inside = data[: self.config_end - address]
        self.config[worker, address : address + len(inside)] = np.frombuffer(inside, np.uint8)
        self._note(worker, address, len(inside))
        if len(inside) < len(data):
            self.device.chip.memory.write_l1(worker, self.config_end, data[len(inside) :])
        if address <= self.layout.go + SIGNAL < address + len(inside):
            if self.config[worker][self.layout.go + SIGNAL] == GO:
                self._tell(worker)
            else:  # firmware is started, or told to begin with the first launch message: nothing to do here
                self.answer(worker, DONE)

    def _note(self, worker: int, address: int, size: int) -> None:
        count = int(self._receiver["n_log"][0])
        if count == len(self._log):
            self._log = np.concatenate([self._log, np.zeros_like(self._log)])
            self._receiver["log_at"], self._receiver["log_room"] = self._log.ctypes.data, len(self._log)
        self._log[count] = worker, address, size
        self._receiver["n_log"] = count + 1

    def _bank(self, x: int, y: int, address: int) -> tuple[int, int]:
        """(DRAM bank, address in it)."""
        place, inside = divmod(address, self._bank_bytes)
        bank = self._dram[x, y] * self._per_tile + place
        if place >= self._per_tile:
            raise UsageError(f"address {address:#x} lies outside the DRAM at ({x},{y})")
        return bank, inside

    def _write_other(self, x: int, y: int, address: int, data: bytes) -> None:
        at = 0
        for page, begin, end in self._pages(x, y, address, len(data)):
            page[begin:end] = np.frombuffer(data[at : at + end - begin], np.uint8)
            at += end - begin
        for go in {
            self.layout.go,
            self.layout.ethernet_go,
            self.layout.idle_ethernet_go,
        }:  # firmware of other cores is always done
            if address == go and len(data) == WORD and data[SIGNAL] == GO:
                self.strangers.append((x, y))
            if address <= go < address + len(data):
                for page, begin, end in self._pages(x, y, go, WORD):
                    page[begin:end] = DONE

    def _pages(self, x: int, y: int, address: int, size: int) -> Iterator[tuple[NDArray[np.uint8], int, int]]:
        """(page, begin, end) of the pieces of a range of a tile's registers or of a memory that nothing here models."""
        while size > 0:
            number, begin = divmod(address, PAGE)
            end = min(begin + size, PAGE)
            key = x, y, number
            if key not in self._others:
                self._others[key] = np.zeros(PAGE, np.uint8)
            yield self._others[key], begin, end
            address, size = address + end - begin, size - (end - begin)
