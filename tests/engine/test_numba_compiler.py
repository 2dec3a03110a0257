"""What numba is spared: optimization and machine code of functions that others link, and loads that nobody needs."""

import io

import llvmlite.binding as llvm
import numba as nb
from elftools.elf.elffile import ELFFile
from numba.core.registry import cpu_target

from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.numba_compiler import LinkedLibrary, object_code, without_dead_loads

DEAD_LOAD = """
define i64 @next(i64 %value) {
  %variable = alloca i64
  %old = load i64, ptr %variable
  store i64 %value, ptr %variable
  %new = load i64, ptr %variable
  ret i64 %new
}
"""


def test_what_numba_loads_for_reference_counts_is_gone_before_llvm_optimizes():
    seen = []
    add = without_dead_loads(lambda library, module: seen.append(str(module)))
    add(LinkedLibrary(cpu_target.target_context.codegen(), "test"), llvm.parse_assembly(DEAD_LOAD))
    assert "%old" not in seen[0] and "%new = load" in seen[0]


def test_a_function_is_optimized_in_what_calls_it():
    @compiled()
    def inner(a):
        return a * 3

    def outer(a):
        return inner(a) + inner(a + 1)

    content = object_code(outer, 1).content
    symbols = ELFFile(io.BytesIO(content)).get_section_by_name(".symtab").iter_symbols()
    functions = [symbol.name for symbol in symbols if symbol["st_info"]["type"] == "STT_FUNC"]
    assert functions and not [name for name in functions if "inner" in name]
    assert isinstance(inner.dispatcher.overloads[nb.int64,].library, LinkedLibrary)
    assert inner(5) == 15  # Python has an entry of its own
