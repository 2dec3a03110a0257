"""Every check has its words, its advice and its row in docs/checks.md."""

from pathlib import Path

import pytest

import tensim as tt
from tensim.kernel_api import *  # noqa: F403
from tensim.sim.cores.checks.faults import ADVICE, FIRST, MESSAGES, Check
from tensim.sim.cores.faults import Fault
from tensim.sim.errors import ProgramError
from tests.cores.checks.small_programs import FIRST as CORE
from tests.cores.checks.small_programs import NCRISC, checked
from tests.cores.checks.small_programs import PAGE as BYTES

# ruff: noqa: F405
PAGE = Path(__file__).parents[3] / "docs/checks.md"


def test_every_check_is_described():
    page = PAGE.read_text()
    assert set(MESSAGES) == set(ADVICE) == set(Check)
    assert [check.name for check in Check if f"`{check.name.lower()}`" not in page] == []


def test_codes_of_checks_and_of_the_engine_differ():
    assert min(Check) >= FIRST > max(Fault)


@kernel
def pushes():
    for cb in range(2):
        cb_reserve_back(cb, 1)
        cb_push_back(cb, 1)


@kernel
def copies_from_another_buffer():
    unary_op_init_common(0, 0)
    cb_wait_front(1, 1)
    tile_regs_acquire()
    copy_tile(1, 0, 0)
    tile_regs_commit()


def test_formats_have_their_names():
    def case(device):
        for index, code in enumerate((tt.DataFormat.Float16_b, tt.DataFormat.Float16)):
            config = tt.CircularBufferConfig(BYTES, {index: code}).set_page_size(index, BYTES)
            tt.create_circular_buffer(device.program, CORE, config)
        device.kernel(CORE, NCRISC, pushes)
        device.kernel(CORE, tt.ComputeConfig, copies_from_another_buffer)
        device.run()

    with pytest.raises(
        ProgramError, match="buffer 1 has format Float16, but the .* is configured for format Float16_b"
    ):
        checked(case)
