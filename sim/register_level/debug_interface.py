"""The interface by which a debugger pauses a core, reads and writes its registers and its memory (ISA: DebugInterface.md).

BRISC and the TRISCs have fourteen debug registers (DR) each, which the host reaches by four of the tile.  Breakpoints stand in the
decoded text; single steps and watchpoints are not modelled.
"""

import numpy as np

from tensim.sim.cores.coprocessor.baby_core import ENDED, LOCAL, REGISTERS, RUNNING
from tensim.sim.cores.coprocessor.debug_registers import DEBUG
from tensim.sim.cores.coprocessor.memory_map import CONFIG, GPRS
from tensim.sim.cores.coprocessor.state import BRISC, N_CONFIG, N_GPRS, N_THREADS
from tensim.sim.cores.riscv.decode import INSTRUCTION_BYTES

CONTROL, VALUE, ECHO, ANSWER = (DEBUG + offset for offset in (0x80, 0x84, 0x88, 0x8C))
ANSWERED = 1 << 30  # of ECHO
WHICH = (BRISC, 0, 1, 2)  # cores, by their number in CONTROL
STATUS, COMMAND, FIRST, SECOND, RESULT, MODES, ADDRESSES = 0, 1, 2, 3, 4, 5, 10  # numbers of DRs
N_DRS, N_BREAKPOINTS = 18, 8
PAUSED, AT_BREAKPOINT, AT_EBREAK = 1 << 0, 1 << 1, 1 << 3  # bits of STATUS; from bit 8 on, which breakpoint
PAUSE, STEP, RESUME, READ_GPR, WRITE_GPR, READ_MEMORY, WRITE_MEMORY = (1 << bit for bit in range(7))  # bits of COMMAND
PC = 32  # as the number of a GPR
BREAKPOINT = 8  # mode


class DebugInterface:
    """The debug registers of a `tensim.sim.register_level.tile.RegisterTile`."""

    def __init__(self, tile):
        self._tile = tile
        self._drs = np.zeros((len(WHICH), N_DRS), np.uint32)
        self._states = {}  # of cores that a debugger has paused: what they were doing

    def written(self, address):
        """The host has written a register; acts when it triggers an access of a DR."""
        tile = self._tile
        if address != CONTROL:
            return
        control, before = tile.word(CONTROL), tile.word(ECHO)
        number, write, which = control & 0x7FF, control >> 16 & 1, control >> 17 & 3
        echo = (control & 0x80000000) | (write << which) << 13 | number | (before & ANSWERED)
        if control >> 31 and not before >> 31 and number < N_DRS:
            echo &= ~ANSWERED
            if write:
                self._write(which, number, tile.word(VALUE))
            else:
                tile.set_word(ANSWER, self._read(which, number))
                echo |= ANSWERED
        tile.set_word(ECHO, echo)

    @property
    def breakpoints(self):
        """Addresses at which a core stops."""
        return {
            int(drs[ADDRESSES + i])
            for drs in self._drs
            for i in range(N_BREAKPOINTS)
            if int(drs[MODES]) >> 4 * i & 15 == BREAKPOINT
        }

    def released(self, core):
        """A core has left reset: its debug registers are 0."""
        self._states.pop(core, None)
        if core in WHICH:
            self._drs[WHICH.index(core)] = 0

    # --- debug registers

    def _read(self, which, number):
        return self._status(which) if number == STATUS else int(self._drs[which, number])

    def _write(self, which, number, value):
        if number in (STATUS, RESULT):
            return
        if number == MODES or number >= ADDRESSES:
            self._keep_paused()
        self._drs[which, number] = value
        if number == COMMAND:
            self._command(which, value)
        elif number == MODES or number >= ADDRESSES:
            self._tile.text.forget()

    def _keep_paused(self):
        """Cores that stand at a breakpoint go on standing there, whatever becomes of it."""
        for which, core in enumerate(WHICH):
            if self._status(which) & AT_BREAKPOINT:
                self._states[core] = RUNNING

    def _status(self, which):
        core = WHICH[which]
        if core in self._states:
            return PAUSED
        if not self._tile.is_at_stop(core):
            return 0
        pc = int(self._tile.cores.records[core]["pc"])
        drs, hits = self._drs[which], 0
        for i in range(N_BREAKPOINTS):
            if int(drs[MODES]) >> 4 * i & 15 == BREAKPOINT and int(drs[ADDRESSES + i]) == pc:
                hits |= 1 << (8 + i)
        return PAUSED | (AT_BREAKPOINT | hits if hits else AT_EBREAK)

    def _command(self, which, command):
        core, drs = WHICH[which], self._drs[which]
        if command & PAUSE:
            self._pause(core)
        if not self._status(which) & PAUSED:
            return
        first, second = int(drs[FIRST]), int(drs[SECOND])
        if command & READ_GPR:
            drs[RESULT] = self._gpr(core, first)
        if command & WRITE_GPR and 0 < first < PC:
            self._tile.cores.registers[core, first] = np.int32(np.uint32(second))
        if command & READ_MEMORY:
            drs[RESULT] = int.from_bytes(self._memory(core, first).tobytes(), "little")
        if command & WRITE_MEMORY:
            self._memory(core, first)[:] = np.frombuffer(second.to_bytes(4, "little"), np.uint8)
        if command & (RESUME | STEP):
            self._resume(core)

    def _pause(self, core):
        record = self._tile.cores.records[core]
        if record["state"] != ENDED:
            self._states[core] = int(record["state"])
            record["state"] = ENDED

    def _resume(self, core):
        record = self._tile.cores.records[core]
        if core in self._states:
            record["state"] = self._states.pop(core)
        else:  # behind the ebreak, or at the instruction where a breakpoint stands
            if int(record["pc"]) not in self.breakpoints:
                record["pc"] += INSTRUCTION_BYTES
            record["state"] = RUNNING
        self._tile.wake()

    def _gpr(self, core, number):
        record = self._tile.cores.records[core]
        if number == PC:
            at_ebreak = core not in self._states and int(record["pc"]) not in self.breakpoints
            return int(record["pc"]) + (INSTRUCTION_BYTES if at_ebreak else 0)
        return int(self._tile.cores.registers[core, number % (REGISTERS - 1)]) & 0xFFFFFFFF

    def _memory(self, core, address):
        """The four bytes at an address as a core sees it; of what it does not see, four that nobody keeps."""
        tile, address = self._tile, address & ~3
        local, config = tile.cores.local[core], tile.arrays.config
        if address < len(tile.l1):
            return tile.l1[address : address + 4]
        if LOCAL <= address < LOCAL + len(local):
            return local[address - LOCAL : address - LOCAL + 4]
        if CONFIG <= address < CONFIG + 8 * N_CONFIG:
            words = tile.config_words
            bank, index = divmod((address - CONFIG) // 4, words)
            if bank < 2:
                return config[bank, index : index + 1].view(np.uint8)
        if GPRS <= address < GPRS + 4 * N_GPRS * N_THREADS:
            thread, index = divmod((address - GPRS) // 4, N_GPRS)
            return tile.arrays.gprs[core if core < N_THREADS else thread, index : index + 1].view(np.uint8)
        return np.zeros(4, np.uint8) if (registers := tile.registers(address, 4)) is None else registers
