"""One table for two front ends: each row of the kernel API's tables posts the same in a Python kernel and in a C++ kernel."""

from io import BytesIO

import pytest

pytest.importorskip("elftools")

from elftools.elf.elffile import ELFFile

from tensim.sim.arch import load_arch
from tensim.sim.cores.kernels import api, api_compute, lowering_operations
from tensim.sim.cores.kernels.api import DM, PACK, REQUIRED, operation
from tensim.sim.cores.kernels.compiler import kernel_from_source
from tensim.sim.cores.operations import Op, Role
from tensim.sim.cores.riscv import toolchain
from tensim.sim.cores.riscv.compiler import Build, Processor, compile_kernel
from tensim.sim.cores.riscv.generated_calls import TEMPLATES, compute_calls, function
from tensim.sim.cores.riscv.traps import OPCODE, Form, Service
from tests.cores.kernels.driver import Driver

BY_HAND = api.CPP_BY_HAND | api_compute.CPP_BY_HAND
THREADS = {
    Role.DATA_MOVEMENT: Processor.NCRISC, Role.UNPACK: Processor.TRISC0, Role.MATH: Processor.TRISC1, Role.PACK: Processor.TRISC2,
}  # fmt: skip


def rows(role):
    """(name, row) of the calls of a kind of kernel that are generated and that Python has, too."""
    table = api.OPERATIONS if role == Role.DATA_MOVEMENT else api_compute.OPERATIONS
    return [(name, call) for name, call in table.items() if name not in BY_HAND and not name.startswith("_")]


def python_arguments(call):
    if call.ignores_arguments:
        return "0, 1"
    return ", ".join(f"{name}=0" for name, default in call.parameters.items() if default is REQUIRED)


def cpp_arguments(call):
    if call.ignores_arguments:
        return "0, 1"
    needed = [part for part in call.cpp.split() if "=" not in part and part != "..."]
    pointer = "(volatile tt_l1_ptr uint32_t*)64"
    return ", ".join(
        pointer if part.endswith(":p") else "0" for part in needed if part.partition(":")[2] not in TEMPLATES
    )


def from_python(lines, role):
    text = "@kernel\ndef k():\n" + "\n".join(f"    {line}" for line in lines) + "\n"
    posted = Driver(role=role).run(kernel_from_source(text, "k").compile())
    return [Op(op) for op, *_ in posted if op != Op.SPEND]


def from_cpp(lines, role, declared=""):
    """Operations of a C++ kernel's text, in the order of their addresses."""
    text = f"{declared}\nvoid kernel_main() {{ {' '.join(f'{line};' for line in lines)} }}"
    buffers = ((0, 5, 32, 32), (1, 5, 32, 32), (2, 5, 32, 32))
    elf = compile_kernel(Build(THREADS[role], load_arch("wormhole_b0"), text=text, circular_buffers=buffers)).elf
    code = ELFFile(BytesIO(elf)).get_section_by_name(".text").data()
    words = [int.from_bytes(code[at : at + 4], "little") for at in range(0, len(code), 4)]
    numbers = [word >> 20 for word in words if word & 0x7F == OPCODE and word >> 12 & 7 == Form.CALL]
    return [Op(number) for number in numbers if number < Service.END]


@pytest.mark.parametrize("role", THREADS, ids=lambda role: role.name)
def test_rows_post_the_same_in_both_languages(role):
    """In one kernel each: 60 calls of data movement, 130 of a compute thread."""
    found = rows(role)
    python = from_python([f"{name}({python_arguments(call)})" for name, call in found], role)
    cpp = from_cpp([f"{name}({cpp_arguments(call)})" for name, call in found], role)
    assert cpp == python and len(python) > 20


def test_a_call_is_generated_or_written_by_hand():
    headers = "\n".join(path.read_text() for path in sorted((toolchain.INCLUDE / "tensim").glob("*.h")))
    declared = [line for line in headers.splitlines() if "TENSIM_INLINE" in line or line.startswith("    uint")]
    macros = ("_tiles_bcast_", "WAYPOINT", "print_full_tile", "print_tile_rows", "dprint_tensix_dest_reg")
    for name in BY_HAND:
        assert any(f" {name}(" in line for line in declared) or any(part in name for part in macros), name
    for name, _ in [*rows(Role.DATA_MOVEMENT), *compute_calls()]:
        assert name in BY_HAND or not any(f" void {name}(" in line for line in declared), name


def test_a_new_row_is_a_call_of_both_languages(monkeypatch):
    row = operation(DM | PACK, Op.CB_PUSH_BACK, "n:s cb=1 twice:t=0", "cb n")
    monkeypatch.setitem(lowering_operations.OPERATIONS, "push_some", row)
    text = function("push_some", row)
    assert text == (
        "template <bool twice = false> TENSIM_INLINE void push_some(int32_t n, uint32_t cb = 1) "
        "{ if constexpr (tensim::fills) tensim::post_cb_push_back(cb, n); }"
    )
    for role in (Role.DATA_MOVEMENT, Role.PACK):
        assert from_python(["push_some(2)"], role) == from_cpp(["push_some(2)"], role, text) == [Op.CB_PUSH_BACK]
