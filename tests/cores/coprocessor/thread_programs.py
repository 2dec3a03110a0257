"""Random programs of the three threads of a tile, which wait for each other by semaphores, mutexes, source banks and stalls."""

import numpy as np

from tensim.sim.cores.coprocessor.instruction_table import embedded, instructions
from tensim.sim.cores.coprocessor.tile import Tile
from tensim.sim.errors import SimulatorError

TEXT, TEXT_BYTES = 0x10000, 0x4000
EBREAK = 0x00100073
PC_BUFFER, GPRS = 0xFFE80000, 0xFFE00000
BASE_REGISTER, TARGET_REGISTER = 5, 6
DONE_CHECK, MOP_DONE_CHECK, SEMAPHORES = 4, 8, 0x20  # behind PC_BUFFER
# Tensix instructions by thread, unpack, math and pack: waits and what ends them among work for their units
COMMON = "STALLWAIT SEMWAIT SEMPOST SEMPOST SEMGET ATGETM ATRELM NOP SETDMAREG ADDDMAREG SETC16 REPLAY DMANOP MOP"
NAMES = (
    f"{COMMON} SETDVALID SETDVALID SETDVALID UNPACR_NOP SETADCXX",
    f"{COMMON} CLEARDVALID MVMUL ELWADD ELWMUL SETRWC INCRWC ZEROACC MOVA2D MOVD2B SFPLOAD SFPMAD SFPSTORE SFPSWAP SFPNOP",
    f"{COMMON} PACR PACR SETADCXX SEMGET ZEROACC SFPSTORE SFPLOADI",
)
# Fields of which one bit is set, and of how many; the others are 0
BITS = {
    "STALLWAIT": {"stall_res": 9, "wait_res": 15}, "SEMWAIT": {"stall_res": 9, "sem_sel": 8, "wait_sem_cond": 2},
    "SEMPOST": {"sem_sel": 8}, "SEMGET": {"sem_sel": 8}, "SETDVALID": {"setvalid": 2}, "CLEARDVALID": {"cleardvalid": 2},
    "SETDMAREG": {"RegIndex16b": 7}, "ADDDMAREG": {"OpARegIndex": 6},
}  # fmt: skip
UNPACKER_MODES = 1, 2  # of UNPACR_NOP: clear a bank, nothing
MOP_COUNTS = 2, 3


def tensix_word(random, table, name):
    """A word that does no harm: its effects are those on time."""
    one = table[name]
    if name in ("ATGETM", "ATRELM"):
        return one.opcode << 24 | int(random.integers(2, 4))
    if name == "REPLAY":
        return (
            one.opcode << 24
            | int(random.integers(0, 4)) << 14
            | int(random.integers(1, 8)) << 4
            | int(random.integers(0, 2))
        )
    word = one.opcode << 24
    if name == "UNPACR_NOP":
        return word | int(random.integers(0, 2)) << 23 | int(random.choice(UNPACKER_MODES))
    if name == "MOP":
        word |= 1 << 23
    for field, bits in BITS.get(name, {}).items():
        word |= 1 << one.fields[field][0] + int(random.integers(0, bits))
    return word


def core_words(random):
    """RISC-V instructions that look at the coprocessor: waits for its end, semaphores, GPRs; or a few additions."""
    kind = int(random.integers(0, 6))
    base = PC_BUFFER if kind < 4 else GPRS
    words = [base | BASE_REGISTER << 7 | 0x37]  # lui
    place = (DONE_CHECK, MOP_DONE_CHECK, SEMAPHORES + 4 * int(random.integers(0, 8)))[min(kind, 2)]
    if kind <= 2:
        words.append(place << 20 | BASE_REGISTER << 15 | 2 << 12 | TARGET_REGISTER << 7 | 0x03)  # lw
        words.append(TARGET_REGISTER << 20 | TARGET_REGISTER << 15 | 7 << 7 | 0x33)  # which has to be there
    elif kind <= 4:
        place = place if kind == 3 else 4 * int(random.integers(8, 16))
        words.append((place >> 5) << 25 | BASE_REGISTER << 15 | 2 << 12 | (place & 31) << 7 | 0x23)  # sw of x0
    else:
        words += [1 << 20 | 8 << 15 | 8 << 7 | 0x13] * int(random.integers(1, 30))  # addi
    return words


def program(random, table, thread, length):
    """The text (bytes) of a thread's program: `length` pieces."""
    names, words = NAMES[thread].split(), []
    for _ in range(length):
        if random.random() < 0.15:
            words += core_words(random)
        else:
            name = names[int(random.integers(0, len(names)))]
            words.append(embedded(tensix_word(random, table, name)))
    return b"".join(word.to_bytes(4, "little") for word in [*words, EBREAK])


def loaded(chip, seed, length=60):
    """A tile (`Tile`), timing only, on which nothing has run yet."""
    random, tile = np.random.default_rng(seed), Tile(chip, data=False)
    tile.arrays.semaphores["max"] = 4
    tile.parts["frontends"]["replay"] = instructions(chip)["NOP"].word()
    for thread in range(3):
        base = TEXT + thread * TEXT_BYTES
        tile.load(thread, program(random, instructions(chip), thread, length), base, base)
        tile.set_mop(thread, [*MOP_COUNTS, *[instructions(chip)["INCRWC"].word()] * 7])
    return tile


def outcome(tile, run):
    """How `run()` of a tile ends, and all that tells of times: what its units, threads and cores did when."""
    try:
        end = run()
    except SimulatorError as error:
        end = str(error)
    units, fronts, cores = tile.parts["units"][0], tile.parts["frontends"], tile.cores.records
    return (
        end,
        [units[name].tolist() for name in ("free", "busy", "issued", "worked", "src_a_valid", "src_b_valid")],
        [fronts[name].tolist() for name in ("pushed", "passed", "passed_at", "wait_kind", "held_until")],
        [cores[name].tolist() for name in ("state", "pc", "clock", "retired", "stall")],
        tile.arrays.semaphores["value"].tolist(),
    )
