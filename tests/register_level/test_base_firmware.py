"""Ethernet tiles as the driver finds them: the state of a trained link, and a core that runs what the host asks for."""

import pytest

from tensim.sim.register_level import base_firmware
from tests.cores.riscv.assembler import A0, A1, RA, i_type, li, store
from tests.register_level.test_ethernet import Pair

RESULT, PROGRAM = 0x2F000, 0x20000
CALL, DONE, RELEASE_CORE, LINK_STATUS_CHECK = 0xCA110000, 0xD0E50000, 2, 1
WORMHOLE_FLAG, WORMHOLE_PROGRAM = 0x9004, 0x9040
RETURN = i_type(0x67, 0, 0, RA, 0)


@pytest.fixture
def pair(request):
    pair = Pair(request.param)
    for chip in range(2):
        base_firmware.boot(pair.tile(chip), ((chip, 0), (1 - chip, 0)))
    return pair


def put(pair, address, words):
    pair.tile(0).write(address, b"".join(word.to_bytes(4, "little") for word in words))


def program(value):
    return [*li(A1, RESULT), *li(A0, value), store("sw", A0, A1, 0), RETURN]


@pytest.mark.parametrize("pair", ["blackhole"], indirect=True)
def test_a_message_has_the_core_call_a_program_and_come_back(pair):
    put(pair, PROGRAM, program(5))
    for value, message in ((0, LINK_STATUS_CHECK), (5, RELEASE_CORE), (6, RELEASE_CORE)):
        put(pair, PROGRAM, program(value))
        pair.tile(0).text.forget()
        put(pair, base_firmware.MAILBOX, [CALL | message, PROGRAM])
        pair.mesh.run(pair.mesh.now + 1000)
        assert pair.word(0, base_firmware.MAILBOX) == DONE | message
        assert pair.word(0, RESULT) == value
    assert not pair.mesh.is_busy and not pair.errors


@pytest.mark.parametrize("pair", ["blackhole"], indirect=True)
def test_a_trained_link_tells_who_is_at_its_ends(pair):
    places = base_firmware.OWN + base_firmware.CHIP, base_firmware.PEER + base_firmware.CHIP
    assert [[pair.word(chip, place) for place in places] for chip in range(2)] == [[1, 2], [2, 1]]
    assert pair.word(0, base_firmware.STATUS + base_firmware.PORT) == base_firmware.UP


@pytest.mark.parametrize("pair", ["wormhole_b0"], indirect=True)
def test_a_flag_has_the_core_call_the_program_behind_it(pair):
    put(pair, WORMHOLE_PROGRAM, [*program(7)[:-1], *li(A1, WORMHOLE_FLAG), store("sw", 0, A1, 0), RETURN])
    pair.mesh.run(1000)
    assert pair.word(0, RESULT) == 0 and not pair.mesh.is_busy
    put(pair, WORMHOLE_FLAG, [1])
    pair.mesh.run(2000)
    assert pair.word(0, RESULT) == 7 and pair.word(0, WORMHOLE_FLAG) == 0 and not pair.mesh.is_busy


@pytest.mark.parametrize("pair", ["wormhole_b0"], indirect=True)
def test_an_ethernet_core_runs_from_its_instruction_ram(pair):
    """A program fills it from L1, and what lies in L1 may change after that."""
    ram_load, ram = 0xFFB94098, 0xFFC00000
    jump = [*li(A1, ram), i_type(0x67, 0, 0, A1, 0)]
    put(pair, 0x10000, program(9))
    put(pair, PROGRAM, [*li(A1, ram_load), *li(A0, 0x10000 >> 4), store("sw", A0, A1, 0), *li(A1, 0x10000),
                        store("sw", 0, A1, 0), *jump])  # fmt: skip
    put(
        pair,
        WORMHOLE_PROGRAM,
        [*li(A1, WORMHOLE_FLAG), store("sw", 0, A1, 0), *li(A1, PROGRAM), i_type(0x67, 0, 0, A1, 0)],
    )
    put(pair, WORMHOLE_FLAG, [1])
    pair.mesh.run(5000)
    assert pair.word(0, RESULT) == 9 and pair.word(0, 0x10000) == 0 and not pair.errors


@pytest.mark.parametrize("pair", ["wormhole_b0"], indirect=True)
def test_an_empty_instruction_ram_stops_the_core(pair):
    put(pair, WORMHOLE_PROGRAM, [*li(A1, 0xFFC00000), i_type(0x67, 0, 0, A1, 0)])
    put(pair, WORMHOLE_FLAG, [1])
    pair.mesh.run(1000)
    assert len(pair.errors) == 1 and "0xffc00000" in str(pair.errors[0])
