"""Raw buffers of an accelerator (`device.mem`), and what calls say to what is no layout."""

import numpy as np
import pytest

from tensim.runtime import BinaryBuilder, DType, MemSpace, Tensor, TensorDesc, plan_layout, to_layout, transfer, wait
from tensim.sim.errors import UsageError
from tests.runtime.programs import DRAM, ideal, vector


@pytest.fixture
def system():
    with ideal("n150") as system:
        yield system


def test_bytes_go_to_a_chip_and_come_back(system):
    memory = system.open("#0").mem
    buffer, found = memory.alloc(64, MemSpace.L1), np.zeros((4, 4), np.uint32)
    memory.write(buffer, np.arange(16, dtype=np.uint32))
    wait(memory.read(buffer, found))
    np.testing.assert_array_equal(found.ravel(), np.arange(16))


@pytest.mark.parametrize(
    "out",
    [
        np.zeros(10, np.uint8),
        np.zeros(65, np.uint8),
        np.zeros(128, np.uint8)[::2],
        np.frombuffer(bytes(64), np.uint8),
        bytearray(64),
    ],
    ids=["small", "large", "with gaps", "read-only", "no array"],
)
def test_an_array_that_cannot_take_the_bytes_is_refused(system, out):
    memory = system.open("#0").mem
    buffer = memory.alloc(64, MemSpace.DRAM)
    with pytest.raises(UsageError, match="cannot take the 64 B of") as error:
        memory.read(buffer, out)
    assert "64 B" in error.value.hint


def test_the_host_has_no_raw_buffers(system):
    with pytest.raises(UsageError, match="no raw buffers"):
        system.open("local").mem  # noqa: B018


@pytest.mark.parametrize("call", ["to_layout", "plan_layout", "transfer", "Tensor.empty", "description"])
def test_the_name_of_a_memory_is_no_layout(system, call):
    chip, desc = system.open("#0"), TensorDesc((64,), DType.U32)
    tensor = to_layout(Tensor.from_numpy(vector(0), system=system), DRAM, chip)
    calls = {
        "to_layout": lambda: to_layout(tensor, "dram", chip),
        "plan_layout": lambda: plan_layout(tensor, "dram", chip),
        "transfer": lambda: transfer(tensor, chip, layout="dram"),
        "Tensor.empty": lambda: Tensor.empty(desc, "dram", chip),
        "description": lambda: BinaryBuilder().program("add").input("a", desc, "dram"),
    }
    with pytest.raises(UsageError, match="takes a Layout, not a str"):
        calls[call]()
