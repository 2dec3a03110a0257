"""Words of the Tensix instruction set: the values of published examples, and every field for itself."""

import pytest

from tensim.sim.cores.coprocessor.instruction_table import (
    CHIPS,
    embedded,
    extracted,
    instruction_of,
    instructions,
    is_embedded,
    text_of,
)
from tensim.sim.errors import UsageError


def test_published_words():
    """Words of tt-llk's assembler macros, rotated as they stand in a program (`.ttinsn`)."""
    table = instructions("wormhole_b0")
    assert embedded(table["SETRWC"].word(BitMask=15)) == 0xDC00003C
    assert embedded(table["MVMUL"].word()) == 0x98000000
    assert embedded(table["STALLWAIT"].word(wait_res=0)) == 0x88000002


@pytest.mark.parametrize("chip", CHIPS)
def test_fields_are_apart_and_lie_below_the_opcode(chip):
    for instruction in instructions(chip).values():
        assert instruction_of(chip, instruction.word()) is instruction
        used = 0
        for name, (low, width) in instruction.fields.items():
            bits = ((1 << width) - 1) << low
            assert width > 0 and low + width <= 24 and not used & bits, (instruction.name, name)
            used |= bits
            word = instruction.word(**{name: (1 << width) - 1})
            assert word == instruction.word() | bits
            assert instruction.values(word)[name] == (1 << width) - 1


@pytest.mark.parametrize("chip", CHIPS)
def test_words_in_a_program_are_no_riscv_instructions(chip):
    for instruction in instructions(chip).values():
        assert is_embedded(embedded(instruction.word()))
        assert extracted(embedded(instruction.word())) == instruction.word()


def test_text_names_fields_and_unknown_words():
    assert text_of("blackhole", instructions("blackhole")["SEMPOST"].word(sem_sel=4)) == "SEMPOST sem_sel=4"
    assert text_of("wormhole_b0", instructions("wormhole_b0")["SFPNOP"].word()) == "SFPNOP"
    assert text_of("wormhole_b0", 0xFF000001) == "unknown 0xff000001"
    assert text_of("wormhole_b0", 0x99 << 24) == "unknown 0x99000000"  # SFPARECIP: Blackhole's only


def test_wrong_fields_are_named():
    with pytest.raises(UsageError, match="SEMPOST has no field 'dst'"):
        instructions("wormhole_b0")["SEMPOST"].word(dst=1)
    with pytest.raises(UsageError, match="MVMUL.dst = 16384: the field has 14 bits"):
        instructions("blackhole")["MVMUL"].word(dst=1 << 14)
    with pytest.raises(UsageError, match="no table of Tensix instructions for 'grayskull'"):
        instructions("grayskull")
