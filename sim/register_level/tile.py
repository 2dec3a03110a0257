"""A Tensix tile as its registers and memories: five RISC-V cores that run what lies in L1, and the coprocessor.

Cores leave and enter reset by the register of soft resets, which the host and the cores write (ISA: SoftReset.md).  Text is decoded
when a core comes to it, and forgotten when a core leaves reset or empties instruction caches: until then a core may run what lay
there before, as with the caches of silicon.
"""

import numpy as np

from tensim.sim.cores.coprocessor.baby_core import (
    BLOCKED,
    END,
    ENDED,
    FAULTED,
    MISALIGNED,
    OUTSIDE_TEXT,
    UNDECODED,
    decode,
)
from tensim.sim.cores.coprocessor.cluster import ALL_DONE, ASKED, CLUSTER, FAULT, RESTING
from tensim.sim.cores.coprocessor.config_unit import CONFIG_WORDS
from tensim.sim.cores.coprocessor.debug_registers import (
    CONFIG_INDEX,
    CONFIG_VALUE,
    DEBUG,
    DEBUG_BYTES,
    DST,
    ROW_COMMAND,
    ROW_VALUE,
    SOFT_RESET,
)
from tensim.sim.cores.coprocessor.faults import UNKNOWN_PLACES
from tensim.sim.cores.coprocessor.frontend import FRONTEND, NO_TIME
from tensim.sim.cores.coprocessor.memory_map import WATCHES_L1, mailbox_of
from tensim.sim.cores.coprocessor.mover import TO_CONFIG, mover_cycles
from tensim.sim.cores.coprocessor.registers import register
from tensim.sim.cores.coprocessor.state import (
    ASKED_INVALIDATION,
    ASKED_MOVER,
    ASKED_RESET,
    ASKED_TRANSFER,
    BLACKHOLE,
    BRISC,
    DST_ROWS,
    N_THREADS,
    NCRISC,
    NOTHING_ASKED,
    WORMHOLE,
)
from tensim.sim.cores.coprocessor.stream_registers import write_stream
from tensim.sim.cores.coprocessor.tile_registers import (
    MOVER_COMMAND,
    STREAMS,
    STREAMS_END,
    TDMA,
    WALL_CLOCK_HIGH,
    WALL_CLOCK_HIGH_AT,
    WALL_CLOCK_LOW,
)
from tensim.sim.cores.coprocessor.tile_state import TileState
from tensim.sim.cores.riscv.decode import INSTRUCTION_BYTES
from tensim.sim.cores.riscv.layout import LOCAL_BYTES
from tensim.sim.engine.entry_points import run_tile
from tensim.sim.errors import SimulatorError
from tensim.sim.register_level import debug_daisychain
from tensim.sim.register_level.core_sets import ETHERNET_ENTRIES, TENSIX
from tensim.sim.register_level.debug_interface import DebugInterface
from tensim.sim.register_level.niu import NIUS, Niu

N_CORES = len(TENSIX.names)
EBREAK = (0x00100073).to_bytes(4, "little")
BLOCK_BYTES = 1024  # of text, decoded at a time
# Instruction RAM of Wormhole's NCRISC: where the core and the mover see it (ISA: InstructionRAM.md, Mover.md); TDMA-RISC's command
# that moves, its word of status with nothing to do, and the direction
RAM, RAM_VIEW, RAM_BYTES = 0xFFC00000, 0x40000, 16 * 1024
MOVE, TO_L0, MOVER_STATUS, MOVER_IDLE = 0x40, 1, 5, 1 << 3 | 1 << 5
FUEL = 1 << 20  # cycles between two looks at Ctrl-C
# Where a core's program begins, by core, unless a register says otherwise (ISA: SoftReset.md)
ENTRIES = (0x6000, 0xA000, 0xE000, 0, 0x12000)
WORMHOLE_ENTRIES = ("TRISC_RESET_PC_SEC0_PC", "TRISC_RESET_PC_OVERRIDE_Reset_PC_Override_en")
WORMHOLE_NCRISC_ENTRY = ("NCRISC_RESET_PC_PC", "NCRISC_RESET_PC_OVERRIDE_Reset_PC_Override_en")
# of Blackhole, behind DEBUG: T0's address and the enabling bits of T0 to T2; NCRISC's (tensix.h of ttnn 0.81.1)
BLACKHOLE_ENTRY, BLACKHOLE_ENABLED, BLACKHOLE_NCRISC_ENTRY, BLACKHOLE_NCRISC_ENABLED = 0x228, 0x234, 0x238, 0x23C


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
        self._unknown = np.zeros(1 + UNKNOWN_PLACES, np.int64) if lenient else None
        self.requests = []  # (cycle, `Request`) that cores have made since the tile was run last
        self._cluster = np.zeros(1, CLUSTER)
        compute, data_movement = (arch[f"{LOCAL_BYTES}.{kind}"] for kind in ("compute", "data_movement"))
        super().__init__(arch, l1, (compute,) * N_THREADS + (data_movement,) * 2, data=data, fast=fast)
        self.coordinates, self.place = coordinates, f"{coordinates[0]}-{coordinates[1]}"
        self.observer = None  # is told what others write: `written(tile, address, content, cycle)`
        self._broken = False  # the coprocessor has stopped at what is not modelled
        self._retired = np.zeros(N_CORES, np.int64)  # instructions of programs that were reset
        self.set = cores
        self.names = tuple(own or name for own, name in zip(cores.names, self.names, strict=True))
        self._resets = cores.in_reset  # as the cores have it
        self.debug[(SOFT_RESET - DEBUG) // 4] = cores.in_reset
        self.debugger = DebugInterface(self)
        self.ram = np.zeros(RAM_BYTES, np.uint8) if arch.name == "wormhole_b0" and cores is TENSIX else None
        self._ram_text = np.full(RAM_BYTES // INSTRUCTION_BYTES, UNDECODED, np.int64)
        self._text = np.full(len(l1) // INSTRUCTION_BYTES, UNDECODED, np.int64)
        self._blocks = set()  # addresses of the blocks of text that are decoded
        for core in self.cores.records:
            core["text_at"], core["text_base"], core["text_bytes"] = self._text.ctypes.data, 0, len(l1)
        self.now = 0

    def power_on(self):
        """Make the coprocessor as after reset, and let all five cores run before it."""
        super().power_on()
        self.record["n_cores"] = N_CORES
        for name, words in (("debug", self.debug), ("niu", self.niu.registers), ("streams", self.streams)):
            self.record[f"{name}_at"] = words.ctypes.data
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
            self._show()
        return registers.tobytes()

    def _show(self):
        """Let registers that show something else have its value: a word of the configuration, the wall clock, a row of Dst, the
        daisychain."""
        bank, index = divmod(self.word(DEBUG + CONFIG_INDEX) & 0x7FF, self.config_words)
        self.set_word(DEBUG + CONFIG_VALUE, int(self.arrays.config[bank, index]) if bank < 2 else 0)
        for clock, value in (
            (WALL_CLOCK_LOW, self.now),
            (WALL_CLOCK_HIGH, self.now >> 32),
            (WALL_CLOCK_HIGH_AT, self.now >> 32),
        ):
            self.set_word(clock, value)
        self.set_word(
            debug_daisychain.DATA, debug_daisychain.shown(self.word(debug_daisychain.CONTROL), self.cores.records["pc"])
        )
        command = self.word(DEBUG + ROW_COMMAND)
        row, pair, array = command & 0xFFF, command >> 12 & 15, command >> 16 & 7
        if array == DST and row < DST_ROWS and pair < 8:
            low, high = (int(value) for value in self.arrays.dst[row, 2 * pair : 2 * pair + 2])
            self.set_word(DEBUG + ROW_VALUE, low | high << 16)

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

    def run(self, until):
        """Run to a cycle; SimulatorError when a core or the coprocessor stops at what is not modelled."""
        if self.rests:
            self.now = until
            return
        while True:
            self._cluster["fuel"] = FUEL
            try:
                run_tile(self._cluster.ctypes.data, until, NO_TIME)
            except SimulatorError as error:  # a mistake of ours: nothing says which core's work it came of
                self._broken = True
                self._halt(range(N_CORES))
                raise SimulatorError(f"tile {self.place}: {error}") from error
            reason = int(self._cluster["reason"][0])
            self.record["l1_stored"] = 0
            if reason == ASKED:
                self._answer()
                if self.requests:
                    self.now = min(until, self.requests[-1][0])
                    return
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
            self.forget_text()
        elif asked == ASKED_TRANSFER:
            request = self.niu.written(int(self.record["asked_at"]))
            if request is not None:
                self.requests.append((int(self.cores.records[by]["clock"]), request))
        elif asked == ASKED_MOVER:
            self._move(self.cores.records[by])
        else:
            self._provide_text(self.cores.records[by])

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

    # --- text

    def _provide_text(self, core):
        """Let a core find its next instruction: in L1, or in the instruction RAM of Wormhole's NCRISC."""
        pc = int(core["pc"])
        in_ram = self.ram is not None and RAM <= pc < RAM + len(self.ram)
        if in_ram:
            core["text_at"], core["text_base"], core["text_bytes"] = self._ram_text.ctypes.data, RAM, len(self.ram)
        elif pc + INSTRUCTION_BYTES <= len(self.l1):
            core["text_at"], core["text_base"], core["text_bytes"] = self._text.ctypes.data, 0, len(self.l1)
            self._decode(pc)
        else:
            core["state"], core["cause"] = FAULTED, OUTSIDE_TEXT

    def _move(self, core):
        """Carry out the command that TDMA-RISC has been given (ISA: TDMA-RISC.md, Mover.md); the core waits as long as it takes."""
        source, target, count, mode = (int(value) for value in self.arrays.tdma[:4])
        command = self.word(MOVER_COMMAND) & 0xFF
        source, target, count = source << 4, target << 4, count << 4
        fits = (
            self.ram is not None and 0 <= target - RAM_VIEW <= len(self.ram) - count and source + count <= len(self.l1)
        )
        if command != MOVE or mode != TO_L0 or not fits:
            core["state"], core["cause"], core["address"] = FAULTED, MISALIGNED, MOVER_COMMAND
            return
        place = target - RAM_VIEW
        self.ram[place : place + count] = self.l1[source : source + count]
        first, last = place // INSTRUCTION_BYTES, (place + count) // INSTRUCTION_BYTES
        content = self.ram[4 * first : 4 * last].tobytes()
        self._ram_text[first:last] = decode(content, RAM + 4 * first, False)
        core["clock"] += mover_cycles.py_func(count, TO_CONFIG)

    def _decode(self, address):
        """Decode the block of text in which an address lies."""
        begin = address - address % BLOCK_BYTES
        content = self.l1[begin : begin + BLOCK_BYTES].tobytes()
        records = decoded(content, begin, self.arch == "blackhole")
        self._text[begin // INSTRUCTION_BYTES : (begin + BLOCK_BYTES) // INSTRUCTION_BYTES] = records
        for stop in self.debugger.breakpoints:
            if begin <= stop < begin + BLOCK_BYTES:
                self._text[stop // INSTRUCTION_BYTES] = END
        self._blocks.add(begin)

    def forget_text(self):
        """Decode text anew when a core comes to it."""
        for begin in self._blocks:
            self._text[begin // INSTRUCTION_BYTES : (begin + BLOCK_BYTES) // INSTRUCTION_BYTES] = UNDECODED
        self._blocks.clear()

    # --- resets

    def _reset(self, cycle=None):
        """Let cores enter and leave reset as the register says; `cycle`: at which, now by default."""
        wanted = int(self.debug[(SOFT_RESET - DEBUG) // 4]) & self.set.in_reset
        changed, self._resets = wanted ^ self._resets, wanted
        if self._broken and all(wanted >> bit & 1 for bit in TENSIX.reset_bits[:N_THREADS]):
            self.power_on()
            self._broken = False
        for core, bit in enumerate(self.set.reset_bits):
            if bit is not None and changed >> bit & 1:
                if wanted >> bit & 1:
                    self._stop(core)
                else:
                    self.forget_text()
                    self._retired[core] += self.cores.records[core]["retired"]
                    self.debugger.released(core)
                    self.cores.start(core, self._entry(core), self.now if cycle is None else cycle)
                    self.wake()

    def _stop(self, core):
        """A core enters reset: what it has pushed and sent, and nobody has taken, is gone."""
        self.cores.records[core]["state"], self.cores.records[core]["action"] = ENDED, 0
        if core < N_THREADS:
            self.parts["frontends"][core] = np.zeros((), FRONTEND)
        if core != NCRISC:
            self.parts["mailboxes"][:, mailbox_of.py_func(core)]["count"] = 0

    def _entry(self, core):
        """Address at which a core begins."""
        if self.set is not TENSIX:
            return self.word(ETHERNET_ENTRIES + 8 * (core - BRISC))
        if self.arch == "blackhole":
            at, enabled, bit = (
                (BLACKHOLE_NCRISC_ENTRY, BLACKHOLE_NCRISC_ENABLED, 0)
                if core == NCRISC
                else (BLACKHOLE_ENTRY + 4 * core, BLACKHOLE_ENABLED, core)
            )
            value, is_enabled = int(self.debug[at // 4]), int(self.debug[enabled // 4]) >> bit & 1
        else:
            names = WORMHOLE_NCRISC_ENTRY if core == NCRISC else WORMHOLE_ENTRIES
            further = 0 if core == NCRISC else core
            value = self._config(names[0], further)
            is_enabled = self._config(names[1]) >> further & 1
        return value if is_enabled and core != BRISC else ENTRIES[core]

    def _config(self, name, further=0):
        return int(self.arrays.config[0, (int(self.arrays.fields[register(name)]) & 0xFFFF) + further])

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


_DECODED = {}


def decoded(content, begin, has_bit_instructions):
    """Records of a block of text, kept by content: the same firmware lies on all tiles of a chip."""
    key = content, begin, has_bit_instructions
    if key not in _DECODED:
        _DECODED[key] = decode(content, begin, has_bit_instructions)
    return _DECODED[key]
