"""A plain model of the vector unit, lane by lane in Python integers, written from the public pages of its instructions.

It shares nothing with the compiled one but the numbers of opcodes and fields (`instruction_table`).
"""

from tests.cores.coprocessor.vector_numbers import (
    M32,
    SIGN,
    advance,
    coefficient_8,
    coefficient_16,
    fields,
    float_word,
    from_sign_magnitude,
    multiply_add,
    nearest_even,
    order,
    shift,
    signed,
    swap_bf16,
    to_sign_magnitude,
    unswap_bf16,
)


class Model:
    """State of the unit: `lregs` [17][32], per lane `flags`, `use`, `config`, `random`; `stack`; `dst` [1024][16] of 16 bits."""

    def __init__(self, blackhole):
        self.blackhole = blackhole
        self.lregs = [[0] * 32 for _ in range(17)]
        self.flags, self.use = [False] * 32, [False] * 32
        self.config, self.random, self.shuffled = [0] * 32, [0] * 32, [0] * 32
        self.stack = []
        self.dst = [[0] * 16 for _ in range(1024)]

    def enabled(self, lane):
        if self.config[lane & 7] >> 12 + lane // 8 & 1:
            return False
        return self.flags[lane] if self.use[lane] else True

    def lanes(self):
        return [lane for lane in range(32) if self.enabled(lane)]

    def write(self, d, lane, value):
        if d < 8 or d == 16:
            self.lregs[d][lane] = value if value == "nan" else value & M32

    def mad(self, a, b, c):
        return multiply_add(a, b, c, self.blackhole)

    def execute(self, name, f):
        """An instruction with the fields `f` ({name: value} of the table of instructions)."""
        getattr(self, name.lower())(
            f, f.get("instr_mod1", f.get("instr_mod0", 0)), f.get("lreg_dest", f.get("lreg_ind", 0))
        )

    def lanewise(self, d, function):
        for lane in self.lanes():
            self.write(d, lane, function(lane))

    def of(self, f, key="lreg_c"):
        return self.lregs[f[key]]

    # --- multiply and add

    def three(self, f, mode, d, a_of):
        for lane in self.lanes():
            number = self.lregs[7][lane] & 15 if mode & 4 else f["lreg_src_a"]
            a, b, c = self.lregs[number][lane], self.of(f, "lreg_src_b")[lane], self.of(f, "lreg_src_c")[lane]
            self.write(self.lregs[7][lane] & 15 if mode & 8 else d, lane, a_of(a, b, c))

    def sfpmad(self, f, mode, d):
        a_sign, c_sign = ((mode & 1) << 31, (mode & 2) << 30) if self.blackhole else (0, 0)
        self.three(f, mode, d, lambda a, b, c: self.mad(a ^ a_sign, b, c ^ c_sign))

    sfpadd = sfpmul = sfpmad

    def sfpmul24(self, f, mode, d):
        def product(a, b, c):
            whole = (a & 0x7FFFFF) * (b & 0x7FFFFF)
            return whole >> 23 if mode & 1 else whole & 0x7FFFFF

        self.three(f, mode, d, product)

    def sfpaddi(self, f, mode, d):
        for lane in self.lanes():
            value = self.mad(f["imm16_math"] << 16, 0x3F800000, self.lregs[d][lane])
            self.write(self.lregs[7][lane] & 15 if mode & 8 else d, lane, value)

    def sfpmuli(self, f, mode, d):
        for lane in self.lanes():
            value = self.mad(f["imm16_math"] << 16, self.lregs[d][lane], 0)
            self.write(self.lregs[7][lane] & 15 if mode & 8 else d, lane, value)

    def by_table(self, mode, d, coefficients):
        for lane in self.lanes():
            given = self.lregs[3][lane]
            x = given & 0x7FFFFFFF
            third = 0 if x < 0x3F800000 else 1 if x < 0x40000000 else 2
            a, c = coefficients(lane, x, third)
            value = self.mad(a, x, c)
            if mode & 4 and value != "nan":
                value = value & 0x7FFFFFFF | given & SIGN
            self.write(self.lregs[7][lane] & 15 if mode & 8 else d, lane, value)

    def sfplut(self, f, mode, d):
        def coefficients(lane, x, third):
            word = self.lregs[third][lane]
            return coefficient_8(word >> 8), coefficient_8(word)

        self.by_table(mode, d, coefficients)

    def sfplutfp32(self, f, mode, d):
        def coefficients(lane, x, third):
            a, c = self.lregs[third][lane], self.lregs[4 + third][lane]
            if mode & 2 == 0:
                return a, c
            if mode & 8:
                return coefficient_16(a >> 16), coefficient_16(a)
            last = 0x40800000 if mode & 1 else 0x40400000
            upper = [0x3F000000, 0x3FC00000, last][third] <= x
            return coefficient_16(a >> 16 * upper), coefficient_16(c >> 16 * upper)

        self.by_table(mode, d, coefficients)

    # --- integers and bits

    def sfpiadd(self, f, mode, d):
        for lane in self.lanes():
            b, c = self.lregs[d][lane], self.of(f)[lane]
            value = c + signed(f["imm12_math"], 12) if mode & 1 else c - b if mode & 2 else c + b
            self.write(d, lane, value)
            if d < 8:
                self.set_flag(lane, None if mode & 4 else value >> 31 & 1 == 1, mode & 8)

    def set_flag(self, lane, value, inverted):
        if value is not None:
            self.flags[lane] = value
        if inverted:
            self.flags[lane] = not self.flags[lane]

    def sfpshft(self, f, mode, d):
        def value(lane):
            amount = signed(f["imm12_math"], 12) if mode & 1 else signed(self.of(f)[lane])
            source = self.of(f)[lane] if self.blackhole and mode & 4 else self.lregs[d][lane]
            if self.blackhole and mode & 2 and amount < 0:
                return signed(source) >> (-amount & 31)
            return shift(source, amount)

        self.lanewise(d, value)

    def sfpabs(self, f, mode, d):
        def value(lane):
            x = self.of(f)[lane]
            if mode & 1:
                return x if x > 0xFF800000 else x & 0x7FFFFFFF
            return abs(signed(x))

        self.lanewise(d, value)

    def second(self, f, mode, d):
        return self.lregs[f["imm12_math"] & 15 if self.blackhole and mode & 1 else d]

    def sfpand(self, f, mode, d):
        self.lanewise(d, lambda lane: self.second(f, mode, d)[lane] & self.of(f)[lane])

    def sfpor(self, f, mode, d):
        self.lanewise(d, lambda lane: self.second(f, mode, d)[lane] | self.of(f)[lane])

    def sfpxor(self, f, mode, d):
        self.lanewise(d, lambda lane: self.lregs[d][lane] ^ self.of(f)[lane])

    def sfpnot(self, f, mode, d):
        self.lanewise(d, lambda lane: ~self.of(f)[lane])

    def sfplz(self, f, mode, d):
        for lane in self.lanes():
            value = self.of(f)[lane] & (0x7FFFFFFF if mode & 4 else M32)
            self.write(d, lane, 32 - value.bit_length())
            if d < 8:
                self.set_flag(lane, value != 0 if mode & 2 else None, mode & 8)

    def sfpgt(self, f, mode, d):
        self.comparison(f, mode, d, lambda b, c: b > c)

    def sfple(self, f, mode, d):
        self.comparison(f, mode, d, lambda b, c: b <= c)

    def comparison(self, f, mode, d, relation):
        for lane in self.lanes():
            result = relation(order(self.lregs[d][lane]), order(self.of(f)[lane]))
            if mode & 1:
                self.flags[lane] = result
            else:
                self.write(d, lane, M32 * result)

    # --- fields of float32

    def sfpdivp2(self, f, mode, d):
        def value(lane):
            sign, exponent, mantissa = fields(self.of(f)[lane])
            if mode & 1 == 0:
                exponent = f["imm12_math"] & 255
            elif exponent != 255:
                exponent = (exponent + f["imm12_math"]) & 255
            return float_word(sign, exponent, mantissa)

        self.lanewise(d, value)

    def sfpexexp(self, f, mode, d):
        for lane in self.lanes():
            value = fields(self.of(f)[lane])[1] - (0 if mode & 1 else 127)
            self.write(d, lane, value)
            if d < 8:
                self.set_flag(lane, value < 0 if mode & 2 else None, mode & 8)

    def sfpexman(self, f, mode, d):
        self.lanewise(d, lambda lane: (self.of(f)[lane] & 0x7FFFFF) + (0 if mode & 1 else 0x800000))

    def sfpsetexp(self, f, mode, d):
        def value(lane):
            sign, _, mantissa = fields(self.of(f)[lane])
            other = self.lregs[d][lane]
            exponent = f["imm12_math"] & 255 if mode & 1 else other >> 23 & 255 if mode & 2 else other & 255
            return float_word(sign, exponent, mantissa)

        self.lanewise(d, value)

    def sfpsetman(self, f, mode, d):
        def value(lane):
            sign, exponent, _ = fields(self.of(f)[lane])
            return float_word(sign, exponent, f["imm12_math"] << 11 if mode & 1 else self.lregs[d][lane] & 0x7FFFFF)

        self.lanewise(d, value)

    def sfpsetsgn(self, f, mode, d):
        def value(lane):
            _, exponent, mantissa = fields(self.of(f)[lane])
            return float_word(f["imm12_math"] & 1 if mode & 1 else self.lregs[d][lane] >> 31, exponent, mantissa)

        self.lanewise(d, value)

    # --- conversions and roundings

    def sfpcast(self, f, mode, d):
        for lane in self.lanes():
            x = self.of(f, "lreg_src_c")[lane]
            if mode >= 2:
                self.write(d, lane, abs(signed(x)) if mode == 2 else (SIGN | -signed(x) & M32 if x >> 31 else x))
                continue
            magnitude, sign = x & 0x7FFFFFFF, x & SIGN
            excess = max(magnitude.bit_length() - 24, 0)
            if mode == 0:
                mantissa = nearest_even(magnitude, excess)
            else:
                aligned = magnitude << (32 - magnitude.bit_length()) if magnitude else 0
                mantissa = (magnitude >> excess) + ((aligned & 0xFE) > (self.random[lane] >> 9 & 0xFE))
                self.random[lane] = advance(self.random[lane])
            value = 0
            if magnitude:
                value = mantissa << max(24 - magnitude.bit_length(), 0)
                value += (magnitude.bit_length() + 125) << 23
            self.write(d, lane, sign | value)

    def sfp_stoch_rnd(self, f, mode, d):
        for lane in self.lanes():
            limit = self.random[lane] & 0x7FFFFF if f["rnd_mode"] & 1 else 0x400000
            self.random[lane] = advance(self.random[lane])
            x = self.of(f, "lreg_src_c")[lane]
            kind = mode & 7
            if kind < 2:
                value = self.shortened(x, limit, (13, 16)[kind])
            elif kind in (4, 5):
                amount = f["imm8_math"] & 31 if mode & 8 else self.of(f, "lreg_src_b")[lane] & 31
                scaled = ((x & 0x7FFFFFFF) << 23) >> amount
                value = self.bounded(x >> 31, scaled, limit, kind == 5, (255, 127)[kind - 4])
            else:
                value = self.rounded(x, limit, kind)
            self.write(d, lane, value)

    def shortened(self, x, limit, dropped):
        sign, exponent, mantissa = fields(x)
        if exponent in (0, 255):
            return x & 0xFF800000 if exponent else 0
        tail = x & ((1 << dropped) - 1)
        return x - tail + ((tail << 23 - dropped >= limit) << dropped)

    def bounded(self, sign, scaled, limit, keep, largest):
        magnitude = min((scaled >> 23) + (scaled & 0x7FFFFF >= limit), largest)
        return (sign if keep and magnitude else 0) << 31 | magnitude

    def rounded(self, x, limit, kind):
        largest, keep = {2: (255, False), 3: (127, True), 6: (65535, False), 7: (32767, True)}[kind]
        sign, exponent, mantissa = fields(x)
        exponent -= 127
        if exponent < -1:
            return 0
        if exponent >= 16:
            return (sign & keep) << 31 | largest
        scaled = mantissa | 0x800000
        scaled = scaled << exponent if exponent >= 0 else scaled >> -exponent
        return self.bounded(sign, scaled, limit, keep, largest)

    def sfparecip(self, f, mode, d):
        def value(lane):
            x = self.of(f)[lane]
            magnitude = x & 0x7FFFFFFF
            if magnitude < 0x800000:
                return x & SIGN | 0x7F800000
            if magnitude >= 0x7E800000:
                return x & SIGN
            middle = 1 + ((magnitude >> 16 & 127) + 0.5) / 128
            return x & SIGN | (253 - (magnitude >> 23)) << 23 | (round(256 / middle) - 128) << 16

        self.lanewise(d, value)

    # --- moves

    def sfpmov(self, f, mode, d):
        for lane in range(32) if mode == 2 else self.lanes():
            number = f["lreg_c"]
            if mode & 8:
                value = {9: self.random, 15: self.config}.get(number, [0] * 32)[lane]
                if number == 9:
                    self.random[lane] = advance(self.random[lane])
            else:
                value = self.lregs[number][lane] ^ (mode & 1) << 31
            self.write(d, lane, value)

    def sfploadi(self, f, mode, d):
        value = f["imm16"]

        def of(old):
            return {
                0: value << 16,
                1: float_word(value >> 15, (value >> 10 & 31) + 112, (value & 1023) << 13),
                2: value,
                4: signed(value, 16),
                8: value << 16 | old & 0xFFFF,
                10: old & 0xFFFF0000 | value,
            }[mode]

        if d < 8:
            self.lanewise(d, lambda lane: of(self.lregs[d][lane]))

    def sfpswap(self, f, mode, d):
        c = f["lreg_src_c"]
        least = {1: M32, 2: 0xFFFF, 3: 0xFF00FF, 4: 0xFF0000FF, 5: 0xFF, 6: 0xFF00, 7: 0xFF0000, 8: 0xFF000000}.get(
            mode, 0
        )
        for lane in self.lanes():
            of_c, of_d = self.lregs[c][lane], self.lregs[d][lane]
            smaller = order(of_c) < order(of_d)
            swap = mode == 0 or (smaller == bool(least >> lane & 1)) != bool(self.config[lane] >> 8 & 1)
            if not swap:
                continue
            indexed = self.config[lane] >> 2 & 1
            for number, value in ((c, of_d), (d, of_c)):
                if number < (4 if indexed else 8):
                    self.lregs[number][lane] = value
            if indexed:
                p, q = 4 + (c & 3), 4 + (d & 3)
                self.lregs[p][lane], self.lregs[q][lane] = self.lregs[q][lane], self.lregs[p][lane]

    def sfptransp(self, f, mode, d):
        for base in (0, 4):
            old = [list(self.lregs[base + i]) for i in range(4)]
            for i in range(4):
                for j in range(4):
                    for column in range(8):
                        if self.enabled(8 * j + column):
                            self.lregs[base + i][8 * j + column] = old[j][8 * i + column]

    def sfpshft2(self, f, mode, d):
        c, b = list(self.of(f, "lreg_src_c")), f["imm12_math"] & 15
        old = [list(row) for row in self.lregs[:4]]
        if mode in (2, 3) and d < 12:
            self.shuffled = c
        for lane in self.lanes():
            before = c[lane - 1] if lane & 7 else None
            if mode <= 2:
                for i in range(3):
                    self.lregs[i][lane] = old[i + 1][lane]
                chained = old[0][lane + 8] if lane < 24 else 0
                rotated = before if before is not None else c[lane + 7]
                self.lregs[3][lane] = (0, chained, rotated)[mode]
            elif mode == 3:
                self.write(d, lane, before if before is not None else c[lane + 7])
            elif mode == 4:
                first = 0 if self.blackhole else self.shuffled[lane + 7] if not lane & 7 else 0
                self.write(d, lane, before if before is not None else first)
            else:
                amount = signed(c[lane]) if mode == 5 else signed(f["imm12_math"], 12)
                self.write(d, lane, shift(self.lregs[b][lane], amount))

    # --- flags

    def sfpsetcc(self, f, mode, d):
        for lane in self.lanes():
            c = signed(self.of(f)[lane])
            result = {0: c < 0, 2: c != 0, 4: c >= 0, 6: c == 0}.get(mode)
            if mode & 8:
                result = False
            elif mode & 1:
                result = bool(f["imm12_math"] & 1)
            self.flags[lane] = result and self.use[lane]

    def sfpencc(self, f, mode, d):
        for lane in range(32):
            if mode & 2:
                self.use[lane] = bool(f["imm12_math"] & 1)
            elif mode & 1:
                self.use[lane] = not self.use[lane]
            self.flags[lane] = bool(f["imm12_math"] >> 1 & 1) if mode & 8 else True

    def sfppushc(self, f, mode, d):
        self.stack.append((list(self.flags), list(self.use)))

    def sfppopc(self, f, mode, d):
        top = self.stack[-1] if self.stack else ([False] * 32, [False] * 32)
        if mode == 0:
            self.stack.pop()
        table = [
            lambda a, b: b, lambda a, b: b, lambda a, b: not b, lambda a, b: a and b, lambda a, b: a or b,
            lambda a, b: a and not b, lambda a, b: a or not b, lambda a, b: not a and b, lambda a, b: not a or b,
            lambda a, b: not a and not b, lambda a, b: not a or not b, lambda a, b: a != b, lambda a, b: a == b,
            lambda a, b: not a, lambda a, b: True, lambda a, b: False,
        ]  # fmt: skip
        self.flags = [table[mode](a, b) for a, b in zip(self.flags, top[0], strict=True)]
        if mode != 13:
            self.use = list(top[1]) if mode <= 12 else [True] * 32

    def sfpcompc(self, f, mode, d):
        top = self.stack[-1] if self.stack else ([True] * 32, [True] * 32)
        for lane in range(32):
            both = top[1][lane] and self.use[lane]
            self.flags[lane] = both and top[0][lane] and not self.flags[lane]

    # --- Dst

    def dst32(self, row, column):
        row = (row & 0x1F8) << 1 | row & 0x207
        return self.dst[row][column] << 16 | self.dst[row + 8][column]

    def put_dst32(self, row, column, value):
        row = (row & 0x1F8) << 1 | row & 0x207
        self.dst[row][column], self.dst[row + 8][column] = value >> 16, value & 0xFFFF

    def place(self, address, lane, exchange):
        odd = address >> 1 & 1 | self.config[lane] >> exchange & 1
        return (address & 0x3FC) + lane // 8, 2 * (lane & 7) + odd

    def sfpload(self, f, mode, d):
        for lane in range(32) if mode == 10 else self.lanes():
            if self.config[lane] >> 5 & 1 or d >= 8:
                continue
            row, column = self.place(f["dest_reg_addr"], lane, 6)
            x, y, old = self.dst[row][column], self.dst32(row, column), self.lregs[d][lane]
            wide = unswap_bf16(y >> 16) << 16 | y & 0xFFFF
            exponent, mantissa = x & 31, x >> 5 & 1023
            half = float_word(x >> 15, exponent + 112 if exponent else 0, mantissa << 13)
            if self.config[lane] & 1 and x & 0x7FFF == 0x7FFF:
                half = x >> 15 << 31 | 0x7F800000
            complement = wide if self.blackhole else from_sign_magnitude(wide)
            self.lregs[d][lane] = {
                1: half, 2: unswap_bf16(x) << 16, 3: wide, 4: wide, 10: wide, 12: complement,
                5: x >> 15 << 31 | mantissa & 127, 13: from_sign_magnitude(x >> 15 << 31 | mantissa),
                14: old & 0xFFFF0000 | x, 15: x << 16 | old & 0xFFFF, 8: x >> 15 << 31 | x & 0x7FFF,
                6: x, 9: x, 7: x << 16, 11: 0,
            }[mode]  # fmt: skip
            if d < 4 and self.config[lane] & 12 == 12:
                self.lregs[d + 4][lane] = row << 4 | column

    def sfpstore(self, f, mode, d):
        for lane in range(32) if mode == 10 else self.lanes():
            if self.config[lane] >> 4 & 1:
                continue
            row, column = self.place(f["dest_reg_addr"], lane, 7)
            x = self.lregs[d][lane]
            sign, exponent, mantissa = fields(x)
            flushed = x if exponent else x & SIGN
            if mode in (3, 4, 10, 12, 7, 9):
                value = {3: flushed, 12: x if self.blackhole else to_sign_magnitude(x)}.get(mode, x)
                wide = swap_bf16(value >> 16) << 16 | value & 0xFFFF
                self.put_dst32(row, column, {7: x, 9: x << 16 & M32 | x >> 16}.get(mode, wide))
                continue
            half = 0 if exponent <= 112 else 0x7FFF if exponent > 143 else (mantissa >> 13) << 5 | exponent - 112
            small = to_sign_magnitude(x) if mode == 13 else x
            self.dst[row][column] = {
                1: sign << 15 | half, 2: swap_bf16(flushed >> 16), 5: sign << 15 | (x & 1023) << 5 | 16,
                13: small >> 31 << 15 | (small & 1023) << 5 | 16, 14: x & 0xFFFF, 6: x & 0xFFFF, 15: x >> 16,
                8: sign << 15 | x & 0x7FFF, 11: 0,
            }[mode]  # fmt: skip
