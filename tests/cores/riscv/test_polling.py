"""Loads that poll, in machine code: short loops that do nothing but look at one word."""

import pytest

from tensim.sim.cores.riscv.decode import decode
from tensim.sim.cores.riscv.polling import polling_rows

LOAD = 0x00072783  # lw a5, 0(a4)
NEXT_ADDRESS = 0x00470713  # addi a4, a4, 4
OTHER = 0x00160613  # addi a2, a2, 1
BACK_4, BACK_8 = 0xFED79EE3, 0xFED79CE3  # bne a5, a3 to one or two instructions before


@pytest.mark.parametrize(
    "words, rows",
    [
        ([LOAD, BACK_4], {0}),
        ([OTHER, LOAD, BACK_4], {1}),
        ([LOAD, OTHER, BACK_8], {0}),
        ([LOAD, NEXT_ADDRESS, BACK_8], set()),  # another word each time: data
        ([LOAD, OTHER, OTHER], set()),
    ],
)
def test_polling_rows(words, rows):
    text = b"".join(word.to_bytes(4, "little") for word in words)
    assert polling_rows(decode(text).records) == rows
