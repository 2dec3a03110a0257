"""DEVICE_PRINT of C++ kernels: fields with formats, as std::format has them."""

import pytest

import tensim as tt

pytest.importorskip("ziglang", reason="C++ kernels need the extra tensim[cpp]")
CORE = tt.CoreCoord(0, 0)


@pytest.fixture(scope="module")
def printed():
    """(a call of DEVICE_PRINT) -> the line that it prints."""
    with tt.create_device(0) as device:
        lines = []
        device.chip.printer.on_print = lines.append

        def run(call):
            program, text = tt.create_program(), f'#include "debug/dprint.h"\nvoid kernel_main() {{ {call}; }}'
            tt.create_kernel_from_string(program, text, CORE, tt.ReaderDataMovementConfig())
            tt.enqueue_program(device.command_queue(), program)
            tt.finish(device.command_queue())
            return lines.pop().partition(": ")[2]

        yield run


@pytest.mark.parametrize(
    ("call", "line"),
    [
        (r'DEVICE_PRINT("at {:x} {:#06x} {:b}\n", 255u, 0xABCu, 5)', "at ff 0x0abc 101"),
        (r'DEVICE_PRINT("{:>4}|{:<4}|{:^5}|{:+d}\n", 7, 8, 9, 10)', "   7|8   |  9  |+10"),
        (r'DEVICE_PRINT("{:.2f} {:8.3f} {}\n", 3.14159f, -2.5f, 1.5f)', "3.14   -2.500 1.5"),
        (r'DEVICE_PRINT("{1} {0}\n", 1, 2)', "2 1"),
        (r'DEVICE_PRINT("{{{}}} of {:d}\n", -5, int64_t(-1) << 40)', "{-5} of -1099511627776"),
        (r"""DEVICE_PRINT("{:c} {} {:d} {:x}\n", 65, 'b', 'c', 'd')""", "A b 99 64"),
        (r'DEVICE_PRINT("{:s} {:q}\n", "text", 3)', "text 3"),
        (r'DEVICE_PRINT("open { and {}\n", 3)', "open { and {}"),
    ],
)
def test_fields_have_formats(printed, call, line):
    assert printed(call) == line
