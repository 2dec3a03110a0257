"""A suite for the vendor's library whose first test fails in a launch, and which then goes on; `test_wheel.py` runs it.

The environment variable SUITE says how the first one fails (`KERNELS`), the scope of the device's fixture, and whether it opens
the device anew after a failure.
"""

import os

import numpy as np
import pytest
import ttnn

HOW, SCOPE, REOPENS = os.environ["SUITE"].split()
KERNELS = {
    "fault": "cb_pop_front(7, 1);",
    "deadlock": "cb_wait_front(0, 1);",
    "endless": "while (true) { riscv_wait(100); }",
    "memory": "noc_async_read(get_noc_addr_from_bank_id<true>(0, 0x200000), 0x7fffffc0, 64); noc_async_read_barrier();",
    "build": "if (get_arg_val<uint32_t>(0) == 0) experimental::remote_cb_pop_front(0, 1);",
}


@pytest.fixture(scope=SCOPE)
def opened():
    box = [ttnn.open_device(device_id=0)]
    yield box
    ttnn.close_device(box[0])


@pytest.fixture
def device(opened, request):
    yield opened[0]
    if REOPENS == "reopens" and "fails" in request.node.name:
        ttnn.close_device(opened[0])
        opened[0] = ttnn.open_device(device_id=0)


def put(values, device):
    return ttnn.Tensor(values.reshape(-1).tolist(), list(values.shape), ttnn.bfloat16, ttnn.TILE_LAYOUT).to(device)


def get(tensor):
    return np.array(tensor.cpu().to(ttnn.ROW_MAJOR_LAYOUT).to_list())


def test_that_fails(device):
    tensor = put(np.ones((1, 1, 32, 32), np.float32), device)
    cores = ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(1, 1))])
    text = f'#include "api/dataflow/dataflow_api.h"\nvoid kernel_main() {{ {KERNELS[HOW]} }}\n'
    args = ttnn.RuntimeArgs()
    for x in range(2):
        for y in range(2):
            args[x][y] = [1]
    kernel = ttnn.KernelDescriptor(
        kernel_source=text, source_type=ttnn.KernelDescriptor.SourceType.SOURCE_CODE, core_ranges=cores,
        compile_time_args=[], runtime_args=args, config=ttnn.ReaderConfigDescriptor(),
    )  # fmt: skip
    layout = ttnn.CBFormatDescriptor(buffer_index=0, data_format=ttnn.bfloat16, page_size=2048)
    buffer = ttnn.CBDescriptor(total_size=4096, core_ranges=cores, format_descriptors=[layout])
    ttnn.generic_op([tensor, tensor], ttnn.ProgramDescriptor(kernels=[kernel], semaphores=[], cbs=[buffer]))


@pytest.mark.parametrize("operation", ["relu", "add", "transpose", "add"])
def test_that_passes(device, operation):
    values = np.arange(-2048, 2048, dtype=np.float32).reshape(1, 1, 64, 64) // 16
    tensor = put(values, device)
    found, expected = {
        "relu": lambda: (ttnn.relu(tensor), np.maximum(values, 0)),
        "add": lambda: (ttnn.add(tensor, tensor), values + values),
        "transpose": lambda: (ttnn.transpose(tensor, -2, -1), np.swapaxes(values, -2, -1)),
    }[operation]()
    assert np.array_equal(get(found).reshape(expected.shape), expected)
    assert np.array_equal(get(tensor).reshape(values.shape), values)
