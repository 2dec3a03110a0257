"""What a kernel's ELF may be, and what is said about others."""

import struct

import pytest

from tensim.sim.arch import load_arch
from tensim.sim.cores.operations import Op
from tensim.sim.cores.riscv.elf import HEADER, load_elf
from tensim.sim.cores.riscv.layout import LOCAL_BASE
from tensim.sim.cores.riscv.program import RiscvKernel
from tensim.sim.errors import BinaryError
from tests.cores.riscv.assembler import A0, addi, assemble, elf, end, kernel_elf, operation
from tests.cores.riscv.elf_fuzz import fuzz, seeds

LOCAL_BYTES = 4096
CI_MUTATIONS = 500


def patched(raw, at, layout, value):
    data = bytearray(raw)
    struct.pack_into(layout, data, at, value)
    return bytes(data)


def test_text_data_and_texts_of_a_kernel():
    raw = kernel_elf(addi(A0, A0, 1), data=b"abcd", data_at=0x700, data_bytes=12, texts=(0x70000000, b"one\0two\0"))
    image = load_elf(raw, LOCAL_BYTES)
    assert image.text == assemble([addi(A0, A0, 1), end()]) and image.entry == 0
    assert image.data == ((0x700, b"abcd"),) and image.data_end == 0x70C
    assert image.string_at(0x70000004) == "two" and image.string_at(0x70000008) is None


FIRST_SEGMENT = HEADER.size
DAMAGES = {
    "magic": (0, "<I", 0, "e_ident"),
    "64 bits": (4, "<B", 2, "e_ident"),
    "type": (16, "<H", 1, "e_type"),
    "machine": (18, "<H", 62, "e_machine"),
    "compressed": (36, "<I", 1, "e_flags"),
    "entry": (24, "<I", 0x1000, "e_entry"),
    "odd entry": (24, "<I", 2, "e_entry"),
    "segments": (44, "<H", 60000, "e_phnum"),
    "sections": (48, "<H", 60000, "e_shnum"),
    "names": (50, "<H", 99, "e_shstrndx"),
    "segment table": (28, "<I", 1 << 30, "table"),
    "segment beyond the file": (FIRST_SEGMENT + 4, "<I", 1 << 30, "segment"),
    "text elsewhere": (FIRST_SEGMENT + 8, "<I", 0x1000, "segment"),
    "data outside local memory": (FIRST_SEGMENT + 32 + 8, "<I", LOCAL_BASE + LOCAL_BYTES, "segment"),
    "more data than memory": (FIRST_SEGMENT + 32 + 20, "<I", 1 << 20, "segment"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_damage_is_refused_with_offset_and_field(name):
    at, layout, value, field = DAMAGES[name]
    raw = patched(kernel_elf(addi(A0, A0, 1), data=b"abcd"), at, layout, value)
    with pytest.raises(BinaryError) as caught:
        load_elf(raw, LOCAL_BYTES)
    assert caught.value.where["field"] == field and isinstance(caught.value.where["offset"], int)


@pytest.mark.parametrize("size", [0, 10, HEADER.size])
def test_files_that_are_cut_off_are_refused(size):
    with pytest.raises(BinaryError):
        load_elf(kernel_elf(addi(A0, A0, 1))[:size], LOCAL_BYTES)


OPERATIONS = {
    "no trap": operation(Op.CB_WAIT_FRONT, 0, 1)[:-1],
    "too few arguments": operation(Op.CB_WAIT_FRONT, 0, 1)[1:],
    "too many arguments": [operation(Op.SPEND)[0] | 4 << 12 for _ in range(11)],
    "unknown operation": [0x7FF << 20 | 0x0B],
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_operations_without_their_arguments_are_refused(name):
    raw = elf(assemble([OPERATIONS[name], addi(A0, A0, 1)]))
    with pytest.raises(BinaryError, match="operation"):
        RiscvKernel("k", "k.cpp", {0: raw}, load_arch("wormhole_b0"))


def test_mutations_are_refused_or_harmless():
    accepted, refused = fuzz(CI_MUTATIONS, seeds())
    assert accepted > 20 and refused > 20
