"""A Tensix tile as its registers and memories: five RISC-V cores that run what lies in L1, and the coprocessor.

Cores leave and enter reset by the register of soft resets, which the host and the cores write (ISA: SoftReset.md).  Text is decoded
when a core comes to it, and forgotten when a core leaves reset or empties instruction caches: until then a core may run what lay
there before, as with the caches of silicon.
"""

from contextlib import suppress

import numpy as np

from tensim.sim.cores.coprocessor.baby_core import BLOCKED, ENDED
from tensim.sim.cores.coprocessor.cluster import ALL_DONE, ASKED, CLUSTER, FAULT, RAISED, RESTING
from tensim.sim.cores.coprocessor.config_unit import CONFIG_WORDS
from tensim.sim.cores.coprocessor.debug_registers import DEBUG, DEBUG_BYTES, SOFT_RESET
from tensim.sim.cores.coprocessor.faults import UNKNOWN_PLACES
from tensim.sim.cores.coprocessor.frontend import FRONTEND, NO_TIME
from tensim.sim.cores.coprocessor.memory_map import WATCHES_L1, mailbox_of
from tensim.sim.cores.coprocessor.state import (
    ASKED_INVALIDATION,
    ASKED_MOVER,
    ASKED_RESET,
    ASKED_TRANSFER,
    BLACKHOLE,
    N_THREADS,
    NCRISC,
    NOTHING_ASKED,
    WORMHOLE,
)
from tensim.sim.cores.coprocessor.stream_registers import write_stream
from tensim.sim.cores.coprocessor.tile_registers import ETHERNET, NIUS, STREAMS, STREAMS_END, TDMA, WORMHOLE_RAM_LOAD
from tensim.sim.cores.coprocessor.tile_state import TileState
from tensim.sim.cores.coprocessor.together import FUEL
from tensim.sim.cores.riscv.layout import LOCAL_BYTES
from tensim.sim.engine.entry_points import RUN_TILE
from tensim.sim.errors import SimulatorError
from tensim.sim.register_level import part_resets
from tensim.sim.register_level.core_sets import TENSIX
from tensim.sim.register_level.debug_interface import DebugInterface
from tensim.sim.register_level.entries import entry_of
from tensim.sim.register_level.ethernet import EthernetRegisters
from tensim.sim.register_level.niu import Niu
from tensim.sim.register_level.shown import show
from tensim.sim.register_level.text import MOVER_IDLE, MOVER_STATUS, Text

N_CORES = len(TENSIX.names)
EBREAK = (0x00100073).to_bytes(4, "little")


class RegisterTile(TileState):
    """A tile after power-on, all cores in reset.

    `arch`: the chip (`tensim.sim.arch.load_arch`); `l1`: uint8, its memory; `coordinates`: those by which the driver knows it,
    `physical`: those on NoC 0; `data`: whether data move; `fast`: products in float32; `cores`: the `CoreSet`;
    `awake`: a set that holds the tile's coordinates as long as something may happen in it by itself; `lenient`: registers that are
    not modelled read as zero, and are noted (`unknown`), where else an access stops who makes it.
    """

    def __init__(self, arch, l1, coordinates, physical, data=True, fast=False, cores=TENSIX, awake=None, lenient=False):
        self._awake = awake if awake is not None else set()
        self.debug = np.zeros(DEBUG_BYTES // 4, np.uint32)
        self.streams = np.zeros((STREAMS_END - STREAMS) // 4, np.uint32)
        width, height = arch["chip.noc_grid"]
        mirrored = width - 1 - physical[0], height - 1 - physical[1]
        self.niu = Niu(arch, (physical, mirrored), coordinates)
        self.ethernet = None if cores is TENSIX else EthernetRegisters(arch)
        self._unknown = np.zeros(1 + UNKNOWN_PLACES, np.int64) if lenient else None
        self.requests = []  # (cycle, `Request` or what a transmit queue was told) of cores since the tile was run last
        self._cluster = np.zeros(1, CLUSTER)
        self.cluster_at = self._cluster.ctypes.data
        compute, data_movement = (arch[f"{LOCAL_BYTES}.{kind}"] for kind in ("compute", "data_movement"))
        super().__init__(arch, l1, (compute,) * N_THREADS + (data_movement,) * 2, data=data, fast=fast)
        self.coordinates, self.place = coordinates, f"{coordinates[0]}-{coordinates[1]}"
        self.observer = None  # is told what others write: `written(tile, address, content, cycle)`
        self._broken = False  # the coprocessor has stopped at what is not modelled
        self._retired = np.zeros(N_CORES, np.int64)  # instructions of programs that were reset
        self.set = cores
        self.names = tuple(own or name for own, name in zip(cores.names, self.names, strict=True))
        self._resets = cores.in_reset  # as the cores have it
        self._parts = 0  # of the coprocessor that are in reset, by their bits
        self.debug[(SOFT_RESET - DEBUG) // 4] = cores.in_reset
        self.debugger = DebugInterface(self)
        self.text = Text(self, has_ram=arch.name == "wormhole_b0")
        self.now = 0

    def power_on(self):
        """Make the coprocessor as after reset, and let all five cores run before it."""
        super().power_on()
        self.record["n_cores"] = N_CORES
        for name, words in (("debug", self.debug), ("niu", self.niu.registers), ("streams", self.streams)):
            self.record[f"{name}_at"] = words.ctypes.data
        if self.ethernet is not None:
            self.record["ethernet_at"] = self.ethernet.words.ctypes.data
        if self._unknown is not None:
            self.record["unknown_at"] = self._unknown.ctypes.data
        self.arrays.tdma[MOVER_STATUS] = MOVER_IDLE
        self._cluster["coprocessor_at"], self._cluster["cores_at"] = self.address, self.cores.address

    # --- what the host reads and writes

    def read(self, address, size):
        """`size` bytes of L1 or registers."""
        if address + size <= len(self.l1):
            return self.l1[address : address + size].tobytes()
        registers = self.registers(address, size)
        if registers is None:
            return bytes(size)
        if DEBUG <= address < DEBUG + DEBUG_BYTES:
            show(self)
        return registers.tobytes()

    def write(self, address, content):
        """Write L1 or registers."""
        self.take(address, content, self.now)
        if address <= SOFT_RESET < address + len(content):
            self._reset()
        self.debugger.written(address)

    def take(self, address, content, cycle):
        """Others write to L1, or a register, at a cycle."""
        if self.observer is not None:
            self.observer.written(self, address, content, cycle)
        if address + len(content) > len(self.l1):
            if not self._take_register(address, content):
                return
        else:
            self.l1[address : address + len(content)] = np.frombuffer(content, np.uint8)
        self.changed(cycle)

    def _take_register(self, address, content):
        """Write registers; False where there are none."""
        if STREAMS <= address < STREAMS_END and len(content) == 4:
            chip = BLACKHOLE if self.arch == "blackhole" else WORMHOLE
            write_stream(chip, self.streams, address - STREAMS, int.from_bytes(content, "little"))
            return True
        registers = self.registers(address, len(content))
        if registers is not None:
            registers[:] = np.frombuffer(content, np.uint8)
        return registers is not None

    def count(self, noc, counter, cycle, change=1):
        """Change a counter of an NIU at a cycle."""
        self.niu.count(noc, counter, change)
        self.changed(cycle)

    def changed(self, cycle):
        """Others have changed something that cores may wait for."""
        self.record["written_at"] = cycle
        self.wake()

    def word(self, address):
        """A register's value."""
        return int.from_bytes(self.registers(address, 4).tobytes(), "little")

    def set_word(self, address, value):
        """Set a register; nothing comes of it."""
        self.registers(address, 4)[:] = np.frombuffer((value & 0xFFFFFFFF).to_bytes(4, "little"), np.uint8)

    def registers(self, address, size):
        """The bytes behind an address, None where there are none."""
        spaces = ((DEBUG, self.debug), (TDMA, self.arrays.tdma), (NIUS, self.niu.registers), (STREAMS, self.streams))
        if self.ethernet is not None:
            spaces = *spaces, (ETHERNET, self.ethernet.words)
        for base, words in spaces:
            if base <= address and address + size <= base + words.nbytes:
                return words.view(np.uint8)[address - base : address - base + size]
        return None

    # --- time

    @property
    def rests(self):
        """Does nothing happen until somebody outside acts?"""
        return self.coordinates not in self._awake

    def wake(self):
        """Something happens from here on."""
        self._awake.add(self.coordinates)

    def run(self, until, has_begun=False):
        """Run to a cycle; SimulatorError when a core or the coprocessor stops at what is not modelled.

        `has_begun`: cores have run up to that cycle, or until they stopped (`tensim.sim.cores.coprocessor.together`).
        """
        if self.rests:
            self.now = until
            return
        while True:
            self.keep_spans()
            if not has_begun:
                self._cluster["fuel"] = FUEL
                with suppress(SimulatorError):  # the record says so, too
                    RUN_TILE[self.arch](self.cluster_at, until, NO_TIME)
            has_begun = False
            reason = int(self._cluster["reason"][0])
            if reason == ASKED:
                self._answer()
                if self.requests:
                    self.now = min(until, self.requests[-1][0])
                    return
            elif reason == FAULT and self._cluster["at"][0] == RAISED:
                self._broken = True  # a mistake of ours: nothing says which core's work it came of
                self._halt(range(N_CORES))
                raise SimulatorError(f"tile {self.place}: compiled code raised an error")
            elif reason == FAULT:
                self._fail()
            elif reason in (ALL_DONE, RESTING):
                self._awake.discard(self.coordinates)
                break
            elif int(self._cluster["at"][0]) > until:
                break
        self.now = until

    def _answer(self):
        asked, by = int(self.record["asked"]), int(self.record["asked_by"])
        self.record["asked"] = NOTHING_ASKED
        if asked == ASKED_RESET:
            self._reset(int(self.cores.records[by]["clock"]))
        elif asked == ASKED_INVALIDATION:
            self.text.forget()
        elif asked == ASKED_TRANSFER:
            self._transfer(int(self.record["asked_at"]), self.cores.records[by])
        elif asked == ASKED_MOVER:
            self.text.move(self.cores.records[by])
        else:
            self.text.provide(self.cores.records[by])

    def _transfer(self, address, core):
        """A core has written a register that sends something, or fills its instruction RAM."""
        if address == WORMHOLE_RAM_LOAD and self.arch == "wormhole_b0":
            self.text.load(self.word(address), core)
            self.set_word(address, 0)
            return
        request = self.niu.written(address) if address < ETHERNET else self.ethernet.written(address)
        if request is not None:
            self.requests.append((int(core["clock"]), request))

    def _fail(self):
        """Tell what has stopped a core or the coprocessor.  That core, or all three threads, stand still until they are reset."""
        failure = self.fault() or self.core_fault()
        stopped = ()
        if self.record["fault"] and self.record["fault_word"]:
            self._broken, stopped = True, range(N_THREADS)
        elif self.record["fault"]:  # an access of a core, not an instruction of the coprocessor
            stopped = (int(self.record["fault_thread"]),)
            failure += f", pc {self.cores.records[stopped[0]]['pc']:#x}"
        self._halt(stopped)
        raise SimulatorError(f"tile {self.place}: {failure}")

    def _halt(self, cores):
        """Let some cores stand still, and those that have failed by themselves."""
        for number, core in enumerate(self.cores.records):
            if core["cause"] or number in cores:
                core["state"], core["cause"] = ENDED, 0
        self.record["fault"] = 0

    # --- resets

    def _reset(self, cycle=None):
        """Let cores and parts of the coprocessor enter and leave reset as the register says; `cycle`: at which, now by default."""
        register = int(self.debug[(SOFT_RESET - DEBUG) // 4])
        wanted = register & self.set.in_reset
        changed, self._resets = wanted ^ self._resets, wanted
        if self._broken and all(wanted >> bit & 1 for bit in TENSIX.reset_bits[:N_THREADS]):
            self.power_on()
            self._broken = False
        if self.set is TENSIX:
            parts = register & part_resets.PARTS
            part_resets.enter(self, parts & ~self._parts)
            part_resets.leave(self, self._parts & ~parts)
            self._parts = parts
        for core, bit in enumerate(self.set.reset_bits):
            if bit is not None and changed >> bit & 1:
                if wanted >> bit & 1:
                    self._stop(core)
                else:
                    self.text.forget()
                    if core < N_THREADS:
                        self.parts["pc_buffers"][core] = 0
                    self._retired[core] += self.cores.records[core]["retired"]
                    self.debugger.released(core)
                    self.cores.start(core, entry_of(self, core), self.now if cycle is None else cycle)
                    self.wake()

    def _stop(self, core):
        """A core enters reset: what it has pushed and sent, and nobody has taken, is gone."""
        self.cores.records[core]["state"], self.cores.records[core]["action"] = ENDED, 0
        if core < N_THREADS:
            self.parts["frontends"][core] = np.zeros((), FRONTEND)
        if core != NCRISC:
            self.parts["mailboxes"][:, mailbox_of.py_func(core)]["count"] = 0

    @property
    def retired(self):
        """{core: instructions so far}."""
        counts = (self._retired + self.cores.records["retired"]).tolist()
        return {name: count for name, count in zip(self.set.names, counts, strict=True) if name is not None}

    @property
    def unknown(self):
        """Addresses of registers that are not modelled, and were accessed."""
        return [] if self._unknown is None else self._unknown[1 : 1 + self._unknown[0]].tolist()

    @property
    def standing(self):
        """{core out of reset: where it is and what it does, in words}."""
        found = {}
        for name, bit, core in zip(self.set.names, self.set.reset_bits, self.cores.records, strict=True):
            if bit is None or self._resets >> bit & 1:
                continue
            what = "stands still"
            if core["state"] == BLOCKED:
                what = f"waits for {'a change of' if core['watches'] == WATCHES_L1 else ''} {core['address']:#x}"
            elif core["state"] != ENDED:
                what = "runs"
            found[name] = f"{core['pc']:#x}: {' '.join(what.split())}"
        return found

    @property
    def config_words(self):
        """Words of a bank of the configuration."""
        return CONFIG_WORDS[BLACKHOLE if self.arch == "blackhole" else WORMHOLE]

    def is_at_stop(self, core):
        """Has a core come to an ebreak, or a breakpoint?"""
        record = self.cores.records[core]
        is_in_reset = self._resets >> self.set.reset_bits[core] & 1
        pc = int(record["pc"])
        is_stop = pc in self.debugger.breakpoints or self.read(pc, 4) == EBREAK
        return record["state"] == ENDED and not is_in_reset and is_stop
