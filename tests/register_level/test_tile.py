"""A tile by its registers and memories: cores that leave and enter reset, text that changes, a debugger, faults."""

import numpy as np
import pytest

from tensim.sim.arch import load_arch
from tensim.sim.cores.coprocessor import debug_registers
from tensim.sim.cores.coprocessor.debug_registers import SOFT_RESET
from tensim.sim.cores.coprocessor.instruction_table import embedded, instructions
from tensim.sim.cores.coprocessor.units import SPANS
from tensim.sim.errors import SimulatorError
from tensim.sim.register_level import debug_daisychain
from tensim.sim.register_level import debug_interface as debug
from tensim.sim.register_level.core_sets import TENSIX
from tensim.sim.register_level.text import BLOCK_BYTES
from tensim.sim.register_level.tile import RegisterTile
from tests.cores.riscv.assembler import A0, A1, A2, A3, ZERO, addi, arithmetic, branch, jal, li, load, store

CHIPS = ("wormhole_b0", "blackhole")
CORES, RESET_BITS, IN_RESET = TENSIX.names, TENSIX.reset_bits, TENSIX.in_reset
BRISC = CORES.index("BRISC")
RESULT = 0x1000  # address in L1
ENTRIES = {"BRISC": 0, "TRISC0": 0x6000, "TRISC1": 0xA000, "TRISC2": 0xE000, "NCRISC": 0x12000}


def jump(distance):
    """A jump over so many bytes."""
    return jal(ZERO, "there")[0](distance)


STAY = jump(0)


@pytest.fixture(params=CHIPS)
def tile(request):
    arch = load_arch(request.param)
    return RegisterTile(arch, np.zeros(arch.l1_size, np.uint8), (1, 2), (1, 2))


def put(tile, address, words):
    tile.write(address, b"".join(word.to_bytes(4, "little") for word in words))


def release(tile, *cores):
    """Let cores, and no others, run."""
    mask = IN_RESET
    for core in cores:
        mask &= ~(1 << RESET_BITS[CORES.index(core)])
    tile.write(SOFT_RESET, mask.to_bytes(4, "little"))


def word(tile, address):
    return int.from_bytes(tile.read(address, 4), "little")


def writes(value, address=RESULT):
    """A program that writes a value and stays."""
    return [*li(A0, value), *li(A1, address), store("sw", A0, A1, 0), STAY]


def counts():
    """A program that counts for ever."""
    return [*li(A1, RESULT), addi(A0, A0, 1), store("sw", A0, A1, 0), jump(-8)]


def test_nothing_runs_until_a_core_leaves_reset(tile):
    put(tile, 0, writes(7))
    tile.run(1000)
    assert word(tile, RESULT) == 0 and tile.rests and not tile.standing
    release(tile, "BRISC")
    tile.run(2000)
    assert word(tile, RESULT) == 7 and tile.retired["BRISC"] == 6
    assert tile.standing == {"BRISC": "0x14: stands still"}


def test_each_core_begins_at_its_own_address(tile):
    for number, entry in enumerate(ENTRIES.values()):
        put(tile, entry, writes(number + 1, RESULT + 4 * number))
    release(tile, *ENTRIES)
    tile.run(1000)
    assert [word(tile, RESULT + 4 * i) for i in range(5)] == [1, 2, 3, 4, 5]


def test_a_core_releases_another(tile):
    """As BRISC does for the others: the register of soft resets is a core's too."""
    mask = IN_RESET & ~(1 << RESET_BITS[BRISC]) & ~(1 << RESET_BITS[0])
    put(tile, 0, writes(mask, SOFT_RESET))
    put(tile, 0x6000, writes(9))
    release(tile, "BRISC")
    tile.run(1000)
    assert word(tile, RESULT) == 9 and word(tile, SOFT_RESET) == mask


def test_text_is_read_anew_when_a_core_leaves_reset(tile):
    for value in (3, 4):
        put(tile, 0, writes(value))
        release(tile, "BRISC")
        tile.run(tile.now + 1000)
        assert word(tile, RESULT) == value
        release(tile)


def test_time_passes_for_cores(tile):
    """The wall clock of a core is the tile's: a program that waits takes as long."""
    put(tile, 0, [*li(A1, RESULT), *li(A2, 0xFFB121F0), load("lw", A0, A2, 0), store("sw", A0, A1, 0), STAY])
    tile.run(50_000)
    release(tile, "BRISC")
    tile.run(51_000)
    assert 50_000 <= word(tile, RESULT) < 50_100


STORES = 400


@pytest.mark.parametrize("stride", [0, 4, 16])
def test_stores_to_l1_wait_for_its_port_and_merge_on_blackhole(tile, stride):
    """One in `riscv.l1_store` cycles, but for those that merge (docs/hardware/riscv.md#stores); four are under way."""
    arch = load_arch(tile.arch)
    together = 1 if not arch["riscv.store_merges"] or stride == 16 else 4 if stride else STORES
    program = [store("sw", A0, A1, stride * number) for number in range(16)]
    put(
        tile,
        0,
        [
            *li(A1, RESULT),
            *li(A2, STORES // 16),
            *program,
            addi(A2, A2, -1),
            branch("bne", A2, ZERO, "there")[0](-68),
            STAY,
        ],
    )
    release(tile, "BRISC")
    tile.run(10_000)
    expected = max(
        STORES, (STORES / together - 4) * arch["riscv.l1_store"]
    )  # the last four wait when the core has ended
    assert expected <= int(tile.cores.records[BRISC]["clock"]) < 1.3 * expected


def test_stores_of_cores_with_the_same_port_wait_for_each_other(tile):
    """TRISC1 and TRISC2 share one (docs/hardware/l1.md#l1), TRISC0 has BRISC's."""
    clocks = {}
    for cores in (("TRISC0", "TRISC1"), ("TRISC1", "TRISC2")):
        again = RegisterTile(load_arch(tile.arch), np.zeros_like(tile.l1), (1, 2), (1, 2))
        for number, core in enumerate(cores):
            stores = [store("sw", A0, A1, 16 * place) for place in range(64)]
            put(again, ENTRIES[core], [*li(A1, RESULT + 0x400 * number), *stores, STAY])
        release(again, *cores)
        again.run(10_000)
        clocks[cores] = max(int(again.cores.records[CORES.index(core)]["clock"]) for core in cores)
    alone, shared = clocks.values()
    assert 1.6 * alone < shared < 2.1 * alone


def test_the_host_sees_configuration_and_clock(tile):
    """Through registers that show them: the index of a word of the configuration goes in, its value comes out."""
    tile.arrays.config[0, 7] = 0x12345678
    tile.write(debug_registers.DEBUG + debug_registers.CONFIG_INDEX, (7).to_bytes(4, "little"))
    assert word(tile, debug_registers.DEBUG + debug_registers.CONFIG_VALUE) == 0x12345678
    tile.run(4321)
    assert word(tile, 0xFFB121F0) == 4321 and word(tile, 0xFFB121F8) == 0


def access(tile, number, value=None, which=0):
    """Write a debug register of a core (0: BRISC), or read it."""
    control = number | (value is not None) << 16 | which << 17
    for at, content in ((debug.VALUE, value or 0), (debug.CONTROL, control), (debug.CONTROL, control | 1 << 31)):
        tile.write(at, content.to_bytes(4, "little"))
    return word(tile, debug.ANSWER)


def gpr(tile, number):
    access(tile, debug.FIRST, number)
    access(tile, debug.COMMAND, debug.READ_GPR)
    return access(tile, debug.RESULT)


def test_a_debugger_pauses_looks_and_resumes(tile):
    put(tile, 0, counts())
    release(tile, "BRISC")
    tile.run(1000)
    access(tile, debug.COMMAND, debug.PAUSE)
    assert access(tile, debug.STATUS) & debug.PAUSED
    counted = word(tile, RESULT)
    tile.run(2000)
    assert word(tile, RESULT) == counted > 0
    assert gpr(tile, debug.PC) in (8, 12, 16) and gpr(tile, A0) in (counted, counted + 1)
    for at, value in ((0xFFB00010, 77), (RESULT, 5)):  # local memory, L1
        access(tile, debug.FIRST, at)
        access(tile, debug.SECOND, value)
        access(tile, debug.COMMAND, debug.WRITE_MEMORY)
        access(tile, debug.COMMAND, debug.READ_MEMORY)
        assert access(tile, debug.RESULT) == value
    assert word(tile, RESULT) == 5
    access(tile, debug.COMMAND, debug.RESUME)
    tile.run(3000)
    assert not access(tile, debug.STATUS) and word(tile, RESULT) > counted


@pytest.mark.parametrize(("core", "signal"), [("BRISC", 5), ("TRISC1", 7), ("NCRISC", 12)])
def test_the_daisychain_tells_where_a_core_is(tile, core, signal):
    place = {"BRISC": 0, "TRISC1": 0xA000, "NCRISC": 0x12000}[core]
    put(tile, place, [addi(A0, ZERO, 1), STAY])
    release(tile, core)
    tile.run(500)
    for which, odd in ((0, 0), (1, 1)):  # what retires next, what is decoded
        control = debug_daisychain.ENABLE | which << 25 | debug_daisychain.CORES_BLOCK << 16 | 2 * signal + odd
        tile.write(debug_daisychain.CONTROL, control.to_bytes(4, "little"))
        assert word(tile, debug_daisychain.DATA) in (place, place + 4)


def test_ebreak_and_breakpoints_pause(tile):
    put(tile, 0, [addi(A0, ZERO, 1), 0x00100073, *counts()])
    release(tile, "BRISC")
    tile.run(100)
    assert access(tile, debug.STATUS) == debug.PAUSED | debug.AT_EBREAK and gpr(tile, debug.PC) == 8
    access(tile, debug.ADDRESSES, 20)  # the store
    access(tile, debug.MODES, debug.BREAKPOINT)
    access(tile, debug.COMMAND, debug.RESUME)
    tile.run(200)
    assert access(tile, debug.STATUS) == debug.PAUSED | debug.AT_BREAKPOINT | 1 << 8
    assert gpr(tile, debug.PC) == 20 and gpr(tile, A0) == 2 and word(tile, RESULT) == 0
    access(tile, debug.MODES, 0)
    access(tile, debug.COMMAND, debug.RESUME)
    tile.run(300)
    assert word(tile, RESULT) > 2


def test_a_transfer_is_sent_where_text_begins_that_nobody_has_decoded(tile):
    """A core that asks for two things at once gets both: its command to an NIU is the last instruction of a block of text."""
    begin = BLOCK_BYTES - 4 * 11
    go = 0xFFB20000 + tile.niu.go
    program = [*li(A1, go), *li(A0, 1), *li(A2, 0xFFB2001C), store("sw", ZERO, A2, 0), addi(ZERO, ZERO, 0), addi(ZERO, ZERO, 0),
               addi(ZERO, ZERO, 0), store("sw", A0, A1, 0), *writes(3)]  # fmt: skip
    put(tile, 0, [jump(begin)])
    put(tile, begin, program)
    release(tile, "BRISC")
    tile.run(1000)
    assert [request.kind for _, request in tile.requests] == ["read"]
    tile.requests.clear()
    tile.run(2000)
    assert word(tile, RESULT) == 3


def test_a_fault_is_told_and_does_not_end_the_others(tile):
    """The tile goes on; the core that stopped runs again after a reset."""
    put(tile, 0, counts())
    put(tile, 0x12000, [0xFFFFFFFF])
    release(tile, "BRISC", "NCRISC")
    with pytest.raises(SimulatorError, match="tile 1-2: NCRISC: illegal instruction at 0x12000"):
        tile.run(1000)
    tile.run(2000)
    assert word(tile, RESULT) > 10
    put(tile, 0x12000, writes(6, RESULT + 4))
    release(tile, "BRISC")
    release(tile, "BRISC", "NCRISC")
    tile.run(3000)
    assert word(tile, RESULT + 4) == 6


def waits_for(address):
    """A program that goes on when a word of L1 is no longer 0."""
    branch_back = branch("beq", A0, ZERO, "there")[0](-4)
    return [*li(A1, address), load("lw", A0, A1, 0), branch_back, *writes(5)]


def test_a_core_that_waits_for_l1_costs_nothing_and_is_woken_by_who_writes(tile):
    flag = RESULT + 0x100
    put(tile, 0, waits_for(flag))
    release(tile, "BRISC")
    tile.run(10_000)
    waited = tile.retired["BRISC"]
    assert tile.rests and tile.standing == {"BRISC": f"0x8: waits for a change of {flag:#x}"}
    tile.run(1_000_000)
    assert tile.retired["BRISC"] == waited < 20
    tile.write(flag, (1).to_bytes(4, "little"))
    tile.run(1_000_100)
    assert word(tile, RESULT) == 5 and 1_000_000 <= int(tile.cores.records[BRISC]["clock"]) < 1_000_050


def test_a_core_that_goes_on_in_text_that_nobody_has_decoded_wakes_another(tile):
    """The coprocessor may be ahead of both: all cores waited while it had something to do."""
    table, go, flag, far = instructions(tile.arch), RESULT + 0x200, RESULT + 0x100, 4 * BLOCK_BYTES
    put(tile, 0, waits_for(flag))
    waits = waits_for(go)[: -len(writes(5))]
    program = [*waits, *li(A1, flag), store("sw", A0, A1, 0), jump(far)]
    put(tile, ENTRIES["TRISC0"], program)
    put(tile, ENTRIES["TRISC0"] + 4 * (len(program) - 1) + far, [STAY])
    recorded = [table["REPLAY"].word(load_mode=1, len=31), *[table["NOP"].word()] * 31]
    put(tile, ENTRIES["TRISC1"], [*map(embedded, recorded), *[embedded(table["REPLAY"].word(len=31))] * 20, STAY])
    release(tile, "BRISC", "TRISC0", "TRISC1")
    tile.run(400)
    assert tile.record["cycle"] > 500  # nothing that others do can change what it does until there
    tile.take(go, (1).to_bytes(4, "little"), 410)
    tile.run(10_000)
    assert word(tile, RESULT) == 5


def test_a_core_of_the_tile_wakes_another(tile):
    flag = RESULT + 0x100
    put(tile, 0, waits_for(flag))
    put(tile, 0x6000, [*li(A2, 100), addi(A2, A2, -1), branch("bne", A2, ZERO, "there")[0](-4), *writes(1, flag)])
    release(tile, "BRISC", "TRISC0")
    tile.run(5000)
    assert word(tile, RESULT) == 5 and tile.retired["BRISC"] < 20


def test_an_access_that_is_not_modelled_stops_its_core_alone(tile):
    put(tile, 0, [*li(A1, 0xFFA00000), store("sw", A0, A1, 0), *writes(1)])
    put(tile, 0x6000, writes(2, RESULT + 4))
    release(tile, "BRISC", "TRISC0")
    with pytest.raises(SimulatorError, match="tile 1-2: UNMAPPED_REGISTER at BRISC.*0xffa00000.*, pc 0x"):
        tile.run(1000)
    tile.run(2000)
    assert word(tile, RESULT) == 0 and word(tile, RESULT + 4) == 2


def test_registers_that_are_not_modelled_may_read_as_zero(tile):
    arch = load_arch(tile.arch)
    lenient = RegisterTile(arch, np.zeros(arch.l1_size, np.uint8), (1, 2), (1, 2), lenient=True)
    unknown = 0xFFB1FFF0
    put(
        lenient,
        0,
        [*li(A1, unknown), load("lw", A0, A1, 0), addi(A0, A0, 7), *li(A1, RESULT), store("sw", A0, A1, 0), STAY],
    )
    release(lenient, "BRISC")
    lenient.run(500)
    assert word(lenient, RESULT) == 7 and lenient.unknown == [unknown]


def test_parts_of_the_coprocessor_are_reset(tile):
    """Four columns of SrcA, its banks, SrcB, the marks of Dst, the configuration of the unpackers and packers, the vector unit."""
    arrays, constants = tile.arrays, tile._vector.rows.copy()

    def reset(*bits):
        for word in (IN_RESET | sum(1 << bit for bit in bits), IN_RESET):
            tile.write(SOFT_RESET, word.to_bytes(4, "little"))

    for array in (
        arrays.src_a,
        arrays.src_b,
        arrays.src_a_owner,
        arrays.src_b_owner,
        arrays.dst_undefined,
        arrays.config,
    ):
        array[:] = 1
    tile._vector.rows[:] += 1
    tile.record["matrix_bank_a"] = tile.record["unpack_bank_b"] = 1
    reset(20)
    assert arrays.src_a.sum() == arrays.src_a.size * 3 // 4 and not arrays.src_a[:, :, 4:8].any()
    reset(15)
    assert not arrays.src_a_owner.any() and tile.record["matrix_bank_a"] == 0 and tile.record["unpack_bank_b"] == 1
    reset(16, 17)
    assert not arrays.src_b.any() and not arrays.src_b_owner.any() and tile.record["unpack_bank_b"] == 0
    assert not arrays.dst_undefined.any() and arrays.src_a.any()
    reset(9)
    first, behind = {"wormhole_b0": (52, 152), "blackhole": (64, 180)}[tile.arch]
    assert (
        not arrays.config[:, first:behind].any() and arrays.config[:, :first].all() and arrays.config[:, behind:].all()
    )
    reset(10)
    assert not arrays.src_a.any() and (tile._vector.rows == constants).all()


PC_BUFFER = 0xFFE80000


def words_passed_on(count):
    """Programs of BRISC and T0: so many words through T0's PC buffer, which T0 adds up, and BRISC copies the sum in the end."""
    sender = [
        *li(A1, PC_BUFFER),
        *(word for i in range(count) for word in (addi(A0, ZERO, i + 1), store("sw", A0, A1, 0))),
    ]
    sender += [load("lw", A0, A1, 0), *li(A1, RESULT), load("lw", A0, A1, 0), store("sw", A0, A1, 4), STAY]
    receiver = [*li(A1, PC_BUFFER), *li(A2, RESULT)]
    receiver += count * [
        load("lw", A0, A1, 0),
        load("lw", A3, A2, 0),
        arithmetic("add", A0, A0, A3),
        store("sw", A0, A2, 0),
    ]
    return sender, [*receiver, load("lw", A0, A1, 0), store("sw", A0, A2, 8), STAY]


def test_brisc_sends_words_to_a_thread_and_waits_until_they_are_taken(tile):
    """More than the buffer holds; the last load of the thread's core waits for ever."""
    sender, receiver = words_passed_on(20)
    put(tile, 0, sender)
    put(tile, 0x6000, receiver)
    release(tile, "BRISC", "TRISC0")
    tile.run(10_000)
    assert [word(tile, RESULT + 4 * i) for i in range(3)] == [210, 210, 0]


def test_a_pc_buffer_is_empty_when_its_thread_leaves_reset(tile):
    sender, receiver = words_passed_on(3)
    put(tile, 0, sender)
    put(tile, 0x6000, receiver)
    release(tile, "BRISC")
    tile.run(5_000)
    assert tile.parts["pc_buffers"][0]["count"] == 3
    release(tile, "BRISC", "TRISC0")
    tile.run(10_000)
    assert word(tile, RESULT) == 0, "what was sent before is gone, and BRISC sends no more"


def test_an_override_takes_the_place_of_a_pc_buffer(tile):
    """T1 finds the value that the register says, BRISC nothing to wait for."""
    tile.write(debug_registers.DEBUG + 0x90, ((1 | 2 | 7 << 2) << 10).to_bytes(4, "little"))
    put(tile, 0, [*li(A1, PC_BUFFER + 0x10000), load("lw", A0, A1, 0), *writes(5)])
    put(tile, 0xA000, [*li(A1, PC_BUFFER), load("lw", A0, A1, 0), *li(A1, RESULT + 4), store("sw", A0, A1, 0), STAY])
    release(tile, "BRISC", "TRISC1")
    tile.run(2_000)
    assert word(tile, RESULT) == 5 and word(tile, RESULT + 4) == 7


def test_units_tell_more_than_there_is_room_for(tile):
    """Alternating instructions make a span each; the tile runs on when their room is full, and a reset takes nothing away."""
    codes = [instructions(tile.arch)[name].opcode << 24 for name in ("ZEROACC", "SETRWC")]
    program = [embedded(code) for code in codes * 40]
    turns = SPANS // 40
    put(
        tile,
        ENTRIES["TRISC0"],
        [*li(A0, turns), *program, addi(A0, A0, -1), branch("bne", A0, ZERO, "turn")[0](-4 * len(program) - 4), STAY],
    )
    tile.tell_spans()
    release(tile, "TRISC0")
    tile.run(1_000_000)
    spans = tile.told_spans
    assert len(spans) == 2 * 40 * turns > SPANS
    assert (np.diff(spans["start"]) >= 0).all() and set(spans["opcode"].tolist()) == {code >> 24 for code in codes}
    tile.power_on()
    assert len(tile.told_spans) == len(spans)
