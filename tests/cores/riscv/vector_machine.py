"""A plain evaluation of vector instruction words, one after the other: 32 lanes as numpy uint32, for tests of the pass.

Semantics: tt-isa-documentation, WormholeB0/TensixTile/TensixCoprocessor/SFP*.md; Blackhole's modes by tt-llk's kernels.
"""

import numpy as np

from tensim.sim.cores.coprocessor.instruction_table import instruction_of

LANES = 32
FIRST_TEMPLATE = 12  # from this VD on
TWO_CYCLES = {"SFPMAD", "SFPADD", "SFPMUL", "SFPMULI", "SFPADDI"}


def bits(value):
    return np.asarray(value, np.float32).view(np.uint32)


def floats(value):
    return np.asarray(value, np.uint32).view(np.float32)


def signed(value, width):
    return value - (1 << width) if value >> (width - 1) else value


def multiply_add(a, b, c):
    """a * b + c in float32 with one rounding; -0 becomes 0."""
    exact = floats(a).astype(np.float64) * floats(b).astype(np.float64) + floats(c).astype(np.float64)
    return bits((exact + 0.0).astype(np.float32))


def ordered(value):
    """Numbers with their sign apart in an order of integers."""
    number = value.astype(np.int64)
    return np.where(number >> 31, ~(number & 0x7FFFFFFF), number)


class VectorMachine:
    """Registers, flags and a Dst of {address: lanes}."""

    def __init__(self, chip, dst):
        self.chip, self.dst = chip, {address: lanes.copy() for address, lanes in dst.items()}
        self.registers = np.full((16, LANES), 0xDEADBEEF, np.uint32)
        for number, value in ((8, 0.8373), (9, 0.0), (10, 1.0), (11, -1.0)):
            self.registers[number] = bits(np.float32(value))
        self.registers[15] = 2 * np.arange(LANES)
        self.flags, self.stack, self._written = np.ones(LANES, bool), [], None

    def run(self, words):
        for word in words:
            instruction = instruction_of(self.chip, word)
            fields = instruction.values(word)
            assert fields.get("lreg_dest", 0) < FIRST_TEMPLATE, (
                f"{instruction.name} writes a template of SFPLOADMACRO's"
            )
            self._check_gap(instruction.name, fields)
            method = getattr(self, f"_{instruction.name.lower()}", None)
            assert method is not None, f"{instruction.name} is not evaluated here"
            method(**fields)

    def _check_gap(self, name, fields):
        """Wormhole's two-cycle instructions want a cycle before their result is read."""
        sources = ("lreg_c", "lreg_src_a", "lreg_src_b", "lreg_src_c")
        read = {fields[key] for key in sources if key in fields and name not in ("SFPPUSHC", "SFPPOPC", "SFPCOMPC")}
        if name in (
            "SFPIADD",
            "SFPAND",
            "SFPOR",
            "SFPXOR",
            "SFPSHFT",
            "SFPSETEXP",
            "SFPSETSGN",
            "SFPSWAP",
            "SFPMULI",
            "SFPADDI",
        ):
            read.add(fields["lreg_dest"])
        if name == "SFPSTORE":
            read.add(fields["lreg_ind"])
        if self.chip == "wormhole_b0" and self._written is not None:
            assert self._written not in read, f"{name} reads LReg {self._written} too early"
        self._written = fields["lreg_dest"] if name in TWO_CYCLES else None

    def _set(self, number, value, everywhere=False):
        assert number < 8
        mask = np.ones(LANES, bool) if everywhere else self.flags
        self.registers[number] = np.where(
            mask, np.asarray(value).astype(np.uint64).astype(np.uint32), self.registers[number]
        )

    def _narrow(self, condition):
        self.flags = self.flags & condition

    # --- loads and stores

    def _sfpload(self, lreg_ind, dest_reg_addr, **_):
        self._set(lreg_ind, self.dst[dest_reg_addr])

    def _sfpstore(self, lreg_ind, dest_reg_addr, **_):
        old = self.dst.get(dest_reg_addr, np.zeros(LANES, np.uint32))
        self.dst[dest_reg_addr] = np.where(self.flags, self.registers[lreg_ind], old)

    def _sfploadi(self, lreg_ind, instr_mod0, imm16):
        old = self.registers[lreg_ind]
        value = {
            0: imm16 << 16, 2: imm16, 4: signed(imm16, 16) & 0xFFFFFFFF, 8: old & 0xFFFF | imm16 << 16,
            10: old & 0xFFFF0000 | imm16,
            1: imm16 >> 15 << 31 | ((imm16 >> 10 & 31) + 112) << 23 | (imm16 & 0x3FF) << 13,
        }[instr_mod0]  # fmt: skip
        self._set(lreg_ind, np.broadcast_to(np.asarray(value, np.uint64), LANES))

    # --- floating point

    def _sfpmad(self, instr_mod1, lreg_dest, lreg_src_a, lreg_src_b, lreg_src_c):
        a, c = self.registers[lreg_src_a], self.registers[lreg_src_c]
        if self.chip == "blackhole":
            a = a ^ np.uint32((instr_mod1 & 1) << 31)
            c = c ^ np.uint32((instr_mod1 >> 1 & 1) << 31)
        else:
            assert instr_mod1 == 0
        self._set(lreg_dest, multiply_add(a, self.registers[lreg_src_b], c))

    _sfpadd = _sfpmul = _sfpmad

    def _sfpmuli(self, lreg_dest, imm16_math, **_):
        self._set(lreg_dest, multiply_add(self.registers[lreg_dest], np.uint32(imm16_math << 16), np.uint32(0)))

    def _sfpaddi(self, lreg_dest, imm16_math, **_):
        self._set(lreg_dest, multiply_add(self.registers[lreg_dest], bits(1.0), np.uint32(imm16_math << 16)))

    def _sfpexexp(self, instr_mod1, lreg_dest, lreg_c, **_):
        exponent = (self.registers[lreg_c] >> 23 & 255).astype(np.int64)
        self._set(lreg_dest, (exponent - (0 if instr_mod1 & 1 else 127)) & 0xFFFFFFFF)

    def _sfpsetexp(self, instr_mod1, lreg_dest, lreg_c, imm12_math):
        exponent = imm12_math if instr_mod1 & 1 else self.registers[lreg_dest]
        self._set(lreg_dest, self.registers[lreg_c] & 0x807FFFFF | (exponent & 255) << 23)

    def _sfpsetsgn(self, instr_mod1, lreg_dest, lreg_c, imm12_math):
        sign = imm12_math << 31 if instr_mod1 & 1 else self.registers[lreg_dest] & 0x80000000
        self._set(lreg_dest, self.registers[lreg_c] & 0x7FFFFFFF | sign)

    def _sfpswap(self, instr_mod1, lreg_dest, lreg_src_c, **_):
        c, d = self.registers[lreg_src_c].copy(), self.registers[lreg_dest].copy()
        smaller = ordered(c) < ordered(d)
        swapped = {0: np.ones(LANES, bool), 1: smaller, 9: ~smaller}[instr_mod1]
        if lreg_src_c < 8:
            self._set(lreg_src_c, np.where(swapped, d, c))
        self._set(lreg_dest, np.where(swapped, c, d))

    # --- integers

    def _sfpiadd(self, instr_mod1, lreg_dest, lreg_c, imm12_math):
        c, d = (self.registers[number].astype(np.int64) for number in (lreg_c, lreg_dest))
        value = c + signed(imm12_math, 12) if instr_mod1 & 1 else c - d if instr_mod1 & 2 else c + d
        self._set(lreg_dest, value & 0xFFFFFFFF)
        if not instr_mod1 & 4:
            negative = (value & 0x80000000) != 0
            self._narrow(~negative if instr_mod1 & 8 else negative)

    def _sfpshft(self, instr_mod1, lreg_dest, lreg_c, imm12_math):
        source = self.registers[lreg_c if instr_mod1 & 4 else lreg_dest].astype(np.int64)
        amount = (
            np.full(LANES, signed(imm12_math, 12))
            if instr_mod1 & 1
            else self.registers[lreg_c].view(np.int32).astype(np.int64)
        )
        right = source.astype(np.uint32).view(np.int32).astype(np.int64) if instr_mod1 & 2 else source
        moved = np.where(amount >= 0, source << (amount & 31), right >> (-amount & 31))
        self._set(lreg_dest, moved & 0xFFFFFFFF)

    def _logic(self, function, instr_mod1, lreg_dest, lreg_c, **_):
        self._set(lreg_dest, function(self.registers[lreg_dest], self.registers[lreg_c]))

    def _sfpand(self, **fields):
        self._logic(np.bitwise_and, **fields)

    def _sfpor(self, **fields):
        self._logic(np.bitwise_or, **fields)

    def _sfpxor(self, **fields):
        self._logic(np.bitwise_xor, **fields)

    def _sfpnot(self, lreg_dest, lreg_c, **_):
        self._set(lreg_dest, ~self.registers[lreg_c])

    def _sfpabs(self, instr_mod1, lreg_dest, lreg_c, **_):
        value = self.registers[lreg_c]
        self._set(
            lreg_dest,
            value & 0x7FFFFFFF
            if instr_mod1 & 1
            else np.where(value >> 31, -value.astype(np.int64) & 0xFFFFFFFF, value),
        )

    def _sfpmov(self, instr_mod1, lreg_dest, lreg_c, **_):
        self._set(lreg_dest, self.registers[lreg_c] ^ np.uint32((instr_mod1 & 1) << 31), everywhere=instr_mod1 == 2)

    # --- lanes

    def _sfpsetcc(self, instr_mod1, lreg_c, **_):
        value = self.registers[lreg_c].view(np.int32)
        self._narrow({0: value < 0, 2: value != 0, 4: value >= 0, 6: value == 0}[instr_mod1])

    def _sfppushc(self, **_):
        assert len(self.stack) < 8
        self.stack.append(self.flags)

    def _sfppopc(self, **_):
        self.flags = self.stack.pop()

    def _sfpcompc(self, **_):
        self.flags = self.stack[-1] & ~self.flags if self.stack else ~self.flags

    def _sfpencc(self, imm12_math, instr_mod1, **_):
        assert (imm12_math, instr_mod1) == (3, 10)
        self.flags = np.ones_like(self.flags)

    def _ordered(self, lreg):
        """Numbers that rise with what sign and magnitude say, -0 below 0."""
        value = self.registers[lreg].astype(np.int64)
        return np.where(value >> 31, ~(value & 0x7FFFFFFF), value)

    def _sfpgt(self, lreg_dest, lreg_c, instr_mod1, **_):
        assert instr_mod1 == 1
        self._narrow(self._ordered(lreg_dest) > self._ordered(lreg_c))

    def _sfple(self, lreg_dest, lreg_c, instr_mod1, **_):
        assert instr_mod1 == 1
        self._narrow(self._ordered(lreg_dest) <= self._ordered(lreg_c))

    def _sfpnop(self, **_):
        pass
