"""Which runtime arguments a C++ kernel's text reads."""

import pytest

from tensim.sim.cores.riscv.read_arguments import read_arguments

HEAD = '#include <cstdint>\n#include "api/dataflow/dataflow_api.h"\nvoid kernel_main() {'


@pytest.mark.parametrize(
    "body, read",
    [
        ("uint32_t a = get_arg_val<uint32_t>(0), b = get_arg_val<int>( 2 );", {0, 2}),
        ("uint32_t a = get_arg_val<uint32_t>(0);  // get_arg_val<uint32_t>(1)", {0}),
        ("/* get_arg_val<uint32_t>(1) */", set()),
        ("#ifdef BIAS\nuint32_t a = get_arg_val<uint32_t>(3);\n#endif", {3}),
        ("uint32_t i = 0; uint32_t a = get_arg_val<uint32_t>(i++);", None),
        ("uint32_t a = get_arg_val<uint32_t>(0); auto p = get_arg_addr(4);", None),
        ("uint32_t a = get_arg(args::count);", None),
    ],
)
def test_indices(body, read):
    assert read_arguments(HEAD + body + "}") == (None if read is None else frozenset(read))


def test_a_header_of_ones_own_may_read_any():
    assert read_arguments('#include "helpers.hpp"\n' + HEAD + "}") is None
