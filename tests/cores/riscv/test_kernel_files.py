"""Compute kernels given as ELF files: tt-metal's own, as its build leaves them beside its firmware, and whole programs; bad ones.

tt-metal's are built here by the stand-in for the vendor's compiler, where TENSIM_LLK names a wheel that is installed.
"""

import os
import struct
from io import BytesIO

import numpy as np
import pytest
from elftools.elf.elffile import ELFFile

import tensim as tt
from tensim.analysis.summary import collect
from tensim.examples.common import create_circular_buffer, create_tensor, download_tensor, execute, random_tensor
from tensim.examples.eltwise_add import read_pairs
from tensim.examples.tile_kernels import write_tiles
from tensim.running.replay import LightMetalReplay
from tensim.sim.chip.statistics import program_cycles
from tensim.sim.cores.coprocessor.instruction_table import embedded, instructions
from tensim.sim.cores.coprocessor.registers import field_positions, register
from tensim.sim.cores.riscv.elf import HEADER, LOAD, SEGMENT
from tensim.sim.cores.riscv.kernel_elf import read_kernel
from tensim.sim.cores.riscv.layout import TEXT_ADDRESSES
from tensim.sim.errors import BinaryError, CycleLimitError, ProgramError, UsageError
from tests.cores.riscv import metal_kernel
from tests.cores.riscv.assembler import T0, T1, T2, addi, assemble, elf, jal, load, lui, store

CHIPS = ("wormhole_b0", "blackhole")
BF16 = tt.DataFormat.Float16_b
ONE = tt.CoreCoord(0, 0)
needs_wheel = pytest.mark.skipif("TENSIM_LLK" not in os.environ, reason="TENSIM_LLK names no LLK sources")

# --- tt-metal's own kernels

SUM = """#include <cstdint>
#include "api/compute/compute_kernel_hw_startup.h"
#include "api/compute/eltwise_binary.h"
uint32_t pairs = 7;  // a variable that the start has to bring from L1
void kernel_main() {
    uint32_t count = get_arg_val<uint32_t>(0);
    compute_kernel_hw_startup(0, 1, 16);
    add_init(0, 1);
    for (uint32_t i = 0; i < count; i++, pairs++) {
        cb_wait_front(0, 1);
        cb_wait_front(1, 1);
        tile_regs_acquire();
        BODY
        add_tiles(0, 1, 0, 0, 0);
        tile_regs_commit();
        cb_pop_front(0, 1);
        cb_pop_front(1, 1);
        cb_reserve_back(16, 1);
        tile_regs_wait();
        pack_tile(0, 16);
        tile_regs_release();
        cb_push_back(16, 1);
    }
    volatile uint32_t* sink = &pairs;
    if (*sink != 7 + count) ASM
}
"""
TRAP = 'asm volatile(".4byte 0xffffffff");'


def metal_files(folder, chip, body=""):
    text = SUM.replace("BODY", body).replace("ASM", TRAP)
    return metal_kernel.build(folder, chip, text, [(0, BF16), (1, BF16), (16, BF16)])


def add_up(device, files):
    """(The sum of two tensors of four tiles by such files, the sum as it should be)."""
    rng = np.random.default_rng(0)
    a, b = (random_tensor(device, rng, (64, 64), BF16) for _ in range(2))
    out, program, cores = create_tensor(device, (64, 64), BF16), tt.create_program(), tt.CoreRange(ONE, ONE)
    for index in (0, 1, 16):
        create_circular_buffer(program, cores, index, 2, BF16)
    reader = tt.create_kernel(program, read_pairs, cores, tt.ReaderDataMovementConfig())
    writer = tt.create_kernel(program, write_tiles, cores, tt.WriterDataMovementConfig())
    compute = tt.create_kernel_from_binary(program, files, cores, tt.ComputeConfig())
    tt.set_runtime_args(program, reader, ONE, [a.address, b.address, 0, 4])
    tt.set_runtime_args(program, writer, ONE, [out.address, 0, 4])
    tt.set_runtime_args(program, compute, ONE, [4])
    execute(device, program)
    return download_tensor(device, out), a.values + b.values


def sections(raw):
    """[(name, offset)] of an ELF file."""
    return [(one.name, one["sh_offset"]) for one in ELFFile(BytesIO(bytes(raw))).iter_sections()]


def on_chip(chip, files):
    """(`add_up` of a new device, levels of its kernels)"""
    device = tt.create_device(0, arch=chip, numerics="exact")
    try:
        found = add_up(device, files)
        return *found, [kernel["level"] for one in collect(device.chip)["programs"] for kernel in one["kernels"]]
    finally:
        tt.close_device(device)


@needs_wheel
@pytest.mark.parametrize("chip", CHIPS)
def test_kernels_of_metal_run_beside_kernels_of_our_own(chip, tmp_path):
    actual, expected, levels = on_chip(chip, metal_files(tmp_path, chip))
    np.testing.assert_allclose(actual, expected, rtol=2**-7, atol=2**-7)
    assert sorted(levels) == ["instruction", "operation", "operation"]


@needs_wheel
def test_a_capture_holds_the_files(tmp_path, monkeypatch):
    files, path = metal_files(tmp_path, "blackhole"), tmp_path / "sum.bin"
    device = tt.create_device(0, arch="blackhole")
    try:
        with tt.light_metal_capture() as captured:
            add_up(device, files)
        cycles = program_cycles(device.chip)
    finally:
        tt.close_device(device)
    captured.binary.save_to_file(path)
    monkeypatch.delenv("TENSIM_LLK")
    replay = LightMetalReplay(str(path))
    replay.execute()
    assert program_cycles(replay.chips[0]) == cycles


@needs_wheel
def test_an_instruction_that_is_not_modelled_stops_with_the_line_of_the_kernel(tmp_path):
    files = metal_files(tmp_path, "blackhole", "MATH((TTI_RESOURCEDECL(0, 0, 0)));")
    with pytest.raises(ProgramError, match=r"kernel.cpp:15: UNKNOWN_INSTRUCTION at T1, RESOURCEDECL .*0x05000000"):
        on_chip("blackhole", files)


@needs_wheel
def test_files_of_another_chip_are_refused(tmp_path):
    files = metal_files(tmp_path, "wormhole_b0")
    for file in files:  # the vendor's compiler notes the chip in the attributes, as its stand-in does not
        raw = bytearray(file.read_bytes())
        section = next(one for one in sections(raw) if one[0] == ".riscv.attributes")
        at = raw.index(b"rv32i", section[1])
        raw[at : at + 11] = b"xtttensixwh"
        file.write_bytes(raw)
    with pytest.raises(BinaryError, match=r"trisc0.elf \(unpack\): built for wormhole_b0, not for blackhole"):
        on_chip("blackhole", files)


@needs_wheel
def test_files_without_relocations_or_symbols_are_refused_with_what_is_missing(tmp_path):
    files = metal_files(tmp_path, "blackhole")
    raw = files[2].read_bytes()
    files[2].write_bytes(raw.replace(b".rela.text", b".rela.tex_").replace(b".rela.data", b".rela.dat_"))
    with pytest.raises(BinaryError, match=r"trisc2.elf \(pack\).*--emit-relocs"):
        on_chip("blackhole", files)


# --- whole programs

EBREAK = 0x00100073


def program(words, number=0):
    """A whole program of TRISC `number`, of RISC-V words, that ends when the coprocessor has done what it was told."""
    text = assemble([*words, lui(T0, 0xFFE80), load("lw", T0, T0, 4), EBREAK])
    raw = bytearray(elf(text))
    at = HEADER.size
    kind, place, _, _, size, memory, flags, alignment = SEGMENT.unpack_from(raw, at)
    assert kind == LOAD
    address = TEXT_ADDRESSES[2 + number]
    SEGMENT.pack_into(raw, at, kind, place, address, address, size, memory, flags, alignment)
    struct.pack_into("<I", raw, 24, address)
    return bytes(raw)


def tensix(name, **fields):
    return embedded(instructions("blackhole")[name].word(**fields))


def configured(name, value):
    """RISC-V words that write the word of the configuration that a field begins with."""
    index = int(field_positions("blackhole")[register(name)]) & 0xFFFF
    address = 0xFFEF0000 + 4 * index
    return [lui(T0, (address + 0x800) >> 12), addi(T0, T0, address & 0xFFF),
            lui(T1, (value + 0x800) >> 12), addi(T1, T1, value & 0xFFF), store("sw", T1, T0)]  # fmt: skip


def run(tmp_path, *texts, max_cycles=100_000):
    """Run three programs of words on one core; texts that are not given end at once."""
    files = []
    for number in range(3):
        files.append(tmp_path / f"trisc{number}.elf")
        files[-1].write_bytes(program(texts[number] if number < len(texts) else [], number))
    device = tt.create_device(0, arch="blackhole", max_cycles=max_cycles)
    try:
        whole = tt.create_program()
        tt.create_kernel_from_binary(whole, files, ONE, tt.ComputeConfig())
        tt.enqueue_program(device.command_queue(0), whole, blocking=True)
        return program_cycles(device.chip)
    finally:
        tt.close_device(device)


def test_whole_programs_run_and_end(tmp_path):
    assert run(tmp_path, [tensix("NOP")] * 40) > 40


def test_an_unknown_tensix_word_is_named_with_its_thread_and_place(tmp_path):
    with pytest.raises(ProgramError, match=r"UNKNOWN_INSTRUCTION at T1.*\(0x0f000000\)") as error:
        run(tmp_path, [], [tensix("NOP"), embedded(0x0F000000)])
    assert error.value.where["thread"] == "TRISC1"


def test_an_unknown_word_of_riscv_is_named_with_its_thread_and_address(tmp_path):
    with pytest.raises(ProgramError, match=r"T2: illegal instruction at 0x600004, word 0xffffffff"):
        run(tmp_path, [], [], [addi(T0, T0, 1), 0xFFFFFFFF])


def test_a_store_to_nothing_names_its_thread_and_address(tmp_path):
    with pytest.raises(
        ProgramError, match=r"UNMAPPED_REGISTER at T0: an access to 0x400000, where nothing is modelled"
    ):
        run(tmp_path, [lui(T2, 0x400), store("sw", T0, T2)])


def test_a_format_out_of_range_is_named_with_its_instruction(tmp_path):
    words = configured("THCON_SEC0_REG0_TileDescriptor", 13)
    with pytest.raises(ProgramError, match=r"DATA_FORMAT at T0, UNPACR .*: data formats 13 and 0"):
        run(tmp_path, [*words, tensix("UNPACR")])


def test_an_address_outside_of_l1_is_named_with_its_instruction(tmp_path):
    words = configured("THCON_SEC0_REG0_TileDescriptor", 16 << 16 | 1 << 4 | 5) + configured(
        "THCON_SEC0_REG2_Out_data_format", 5
    )
    words += configured("THCON_SEC0_REG3_Base_address", 0xFFFFF)  # in units of 16 bytes
    with pytest.raises(ProgramError, match=r"L1_ADDRESS at T0, UNPACR .* outside of L1, which ends at 0x180000"):
        run(tmp_path, [*words, tensix("SETADCXX", CntSetMask=1, x_end2=255), tensix("UNPACR")])


def test_a_loop_of_words_into_the_fifo_reaches_the_limit_of_cycles(tmp_path):
    with pytest.raises(CycleLimitError, match=r"limit of 60000 cycles.*\n  core \(0,0\) TRISC1"):
        run(tmp_path, [], ["again", tensix("NOP"), jal(0, "again")], max_cycles=60_000)


def test_a_replay_of_what_was_not_recorded_stops(tmp_path):
    with pytest.raises(ProgramError, match=r"UNKNOWN_INSTRUCTION at T1.*\(0x00000000\)"):
        run(tmp_path, [], [tensix("REPLAY", len=32, start_idx=0)])


@pytest.mark.parametrize("damage, says", [
    (lambda raw: b"MZ" + raw[2:], "no ELF of 32 bits"), (lambda raw: raw[:18] + b"\x3e\0" + raw[20:], "62 is not RISC-V"),
    (lambda raw: raw[:40], "40 bytes"),
])  # fmt: skip
def test_files_that_are_no_such_programs_are_refused_by_name_and_thread(damage, says, tmp_path):
    files = [tmp_path / f"{number}.elf" for number in range(3)]
    for number, file in enumerate(files):
        file.write_bytes(program([], number) if number != 1 else damage(program([], 1)))
    with pytest.raises(BinaryError, match=rf"1.elf \(math\): .*{says}") as error:
        tt.create_kernel_from_binary(tt.create_program(), files, ONE, tt.ComputeConfig())
    assert error.value.where["thread"] == "math"


def test_a_compute_kernel_has_three_files(tmp_path):
    file = tmp_path / "one.elf"
    file.write_bytes(program([]))
    with pytest.raises(UsageError, match="1 ELF files"):
        tt.create_kernel_from_binary(tt.create_program(), [file], ONE, tt.ComputeConfig())
    with pytest.raises(UsageError, match="compute kernels"):
        tt.create_kernel_from_binary(tt.create_program(), [file] * 3, ONE, tt.ReaderDataMovementConfig())


def test_a_program_linked_elsewhere_is_refused(tmp_path):
    files = [tmp_path / f"{number}.elf" for number in range(3)]
    for file in files:
        file.write_bytes(program([], 0))
    assert read_kernel(files[0].read_bytes()).address == TEXT_ADDRESSES[2]
    device = tt.create_device(0, arch="blackhole")
    try:
        whole = tt.create_program()
        tt.create_kernel_from_binary(whole, files, ONE, tt.ComputeConfig())
        with pytest.raises(BinaryError, match=r"1.elf \(math\).*at address 0x500000"):
            tt.enqueue_program(device.command_queue(0), whole, blocking=True)
    finally:
        tt.close_device(device)
