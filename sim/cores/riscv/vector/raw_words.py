"""What raw words of a kernel do to the vector unit's registers and lanes (Tensix instruction words, both chips).

Sources: tt-isa-documentation, WormholeB0/TensixTile/TensixCoprocessor/SFP*.md; the opcodes are those of the instruction table.
"""

LOAD, LOADI, STORE, LUT, MULI, ADDI = 0x70, 0x71, 0x72, 0x73, 0x74, 0x75
IADD, SETCC, LZ, EXEXP = 0x79, 0x7B, 0x81, 0x77
ARG_IMMEDIATE, ARG_MINUS, CC_LT0, CC_NONE, CC_GTE0 = 1, 2, 0, 4, 8  # modes of SFPIADD
OPPOSITE_SIGN = {CC_LT0: CC_GTE0, CC_GTE0: CC_LT0}
MAD, ADD, MUL, PUSHC, POPC, ENCC, COMPC, TRANSP = 0x84, 0x85, 0x86, 0x87, 0x88, 0x8A, 0x8B, 0x8C
STOCH_RND, NOP, CONFIG, SWAP, LOADMACRO, SHFT2, LUTFP32 = 0x8E, 0x8F, 0x91, 0x92, 0x93, 0x94, 0x95
LE, GT, MUL24 = 0x96, 0x97, 0x98
ENABLE_MODE, ENABLE_ALL = 10, 3  # SFPENCC: flags count, and are set in all lanes
# VD = f(VC) and VD = f(VD, VC)
ONE_SOURCE = (0x76, 0x77, 0x78, 0x7C, 0x7D, 0x80, 0x81, 0x90, 0x99)
TWO_SOURCES = (0x79, 0x7A, 0x7E, 0x7F, 0x82, 0x83, 0x89, 0x8D)
TWO_CYCLES = (LUT, MULI, ADDI, MAD, ADD, MUL, LUTFP32, MUL24)  # before another instruction may read what they write
GROUP = frozenset(range(8))


def opcode(word):
    return word >> 24


def is_vector(word):
    """Whether the vector unit executes a word."""
    return LOAD <= opcode(word) <= 0x99


def registers(word):
    """(registers 0 to 7 that a word reads, those that it writes)."""
    code, mode, d, c = opcode(word), word & 15, word >> 4 & 15, word >> 8 & 15
    high = word >> 20 & 15
    if code in (LOAD, LOADMACRO):
        written = {high & 3 | (word & 1) << 2} if code == LOADMACRO else {high}
        return frozenset(), _low(written)
    if code == LOADI:
        return _low({high} if (word >> 16 & 15) in (8, 10) else set()), _low({high})
    if code == STORE:
        return _low({high}), frozenset()
    if code == LUT:
        return frozenset(range(4)), _low({high})
    if code in (MULI, ADDI):
        return _low({d}), _low({d})
    if code in (MAD, ADD, MUL, MUL24):
        return _low({word >> 16 & 15, word >> 12 & 15, c} | ({7} if mode & 12 else set())), _low({d})
    if code in ONE_SOURCE:
        return _low({c}), _low({d})
    if code in TWO_SOURCES:
        return _low({c, d}), _low({d})
    if code == SETCC:
        return _low({c}), frozenset()
    if code == STOCH_RND:
        return _low({c, word >> 12 & 15}), _low({d})
    if code == CONFIG:
        return frozenset({0}) if not mode & 1 else frozenset(), frozenset()
    if code == SWAP:
        return _low({c, d}), _low({c, d})
    if code == TRANSP:
        return GROUP, GROUP
    if code == SHFT2:
        if mode <= 2:
            return _low({0, 1, 2, 3, c}), frozenset(range(4))
        return _low({c, word >> 12 & 15} if mode == 5 else {c}), _low({d})
    if code == LUTFP32:
        return frozenset(range(7)), _low({d})
    if code in (LE, GT):
        return _low({c, d}), _low({d} if mode & 8 else set())
    return frozenset(), frozenset()


def _low(numbers):
    return frozenset(number for number in numbers if number < 8)


def lane_effect(word):
    """What a word does to the lanes that are enabled: push, pop, complement, narrow, all, or None."""
    code, mode = opcode(word), word & 15
    if code == PUSHC:
        return "push"
    if code == POPC:
        return "pop" if mode == 0 else "narrow"
    if code == COMPC:
        return "complement"
    if code == ENCC:
        return "all"
    if code == SETCC:
        return "narrow"
    if code == IADD:
        return None if mode & 4 and not mode & 8 else "narrow"
    if code == EXEXP:
        return "narrow" if mode & 10 else None
    if code == LZ:
        return "narrow" if mode & 10 else None
    if code in (LE, GT):
        return "narrow" if mode & 1 else None
    return None
