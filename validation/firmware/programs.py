"""Programs of the dispatch benchmark, from traces; started by the library's Python below `tensim device --dispatch fast`.

A JSON file lists shapes (`tensim.validation.dispatch.programs.Shape`).  Programs of each are launched once, then `ROUNDS` times
from a trace: a round is one program, or one that runs for a stated time and those without run time behind it.
"""

import json
import sys

import ttnn
from rounds import ROUNDS, distinct

CB_BYTES = 16  # of each circular buffer, as in tensim.validation.dispatch.programs
START_BYTES, NOP_BYTES = 256, 4  # the same
TRACE_REGION = 1 << 24
MOVES_DATA = """
#include "api/dataflow/dataflow_api.h"
void kernel_main() {
    const uint32_t begun = reg_read(RISCV_DEBUG_REG_WALL_CLOCK_L);
    while (reg_read(RISCV_DEBUG_REG_WALL_CLOCK_L) - begun < CYCLES) {}
    if (begun == 0) { NOPS }
}
"""
EMPTY = """
#include "api/dataflow/dataflow_api.h"
void kernel_main() {
    if (*reinterpret_cast<volatile tt_l1_ptr uint32_t*>(16) == 0xFFFFFFFF) { NOPS }
}
"""
COMPUTES = """
#include "api/compute/common.h"
void kernel_main() {
    if (*reinterpret_cast<volatile tt_l1_ptr uint32_t*>(16) == 0xFFFFFFFF) { NOPS }
}
"""
CONFIGS = {
    "brisc": ttnn.WriterConfigDescriptor, "ncrisc": ttnn.ReaderConfigDescriptor, "trisc": ttnn.ComputeConfigDescriptor,
}  # fmt: skip


def rectangle(left, top, right, bottom):
    return ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(left, top), ttnn.CoreCoord(right, bottom))])


def groups(grid, count):
    """Core ranges of `count` groups: whole columns, then single cores of the last row (docs/hardware/dispatch.md)."""
    columns, last = grid.x - count + 1, grid.y - 1
    return [rectangle(0, 0, columns - 1, last), *(rectangle(x, last, x, last) for x in range(columns, grid.x))]


def cores_of(ranges):
    return [
        (x, y)
        for one in ranges.ranges()
        for x in range(one.start.x, one.end.x + 1)
        for y in range(one.start.y, one.end.y + 1)
    ]


def kernel(shape, processor, cores, cycles, mark):
    """`mark`: of the shape, so that its programs are no other shape's in the library's cache."""
    nops = " ".join(['asm volatile("nop");'] * (max(shape["text_bytes"] - START_BYTES, 0) // NOP_BYTES))
    text = COMPUTES if processor == "trisc" else MOVES_DATA if cycles else EMPTY
    made = ttnn.KernelDescriptor(
        kernel_source=text.replace("CYCLES", str(cycles)).replace("NOPS", nops),
        source_type=ttnn.KernelDescriptor.SourceType.SOURCE_CODE, core_ranges=cores, config=CONFIGS[processor](),
        compile_time_args=[mark], common_runtime_args=[0] * shape["common_args"],
    )  # fmt: skip
    if shape["args"]:
        values = ttnn.RuntimeArgs()
        for x, y in cores_of(cores):
            values[x][y] = [0] * shape["args"]
        made.runtime_args = values
    return made


def program(grid, shape, cycles, mark):
    one = rectangle(0, 0, 0, 0)
    parts = groups(grid, shape["kernel_groups"] or grid.x) if shape["all_cores"] else [one]
    kernels = [kernel(shape, name, part, cycles, mark) for part in parts for name in shape["processors"]]
    buffers = [
        ttnn.CBDescriptor(
            total_size=CB_BYTES, core_ranges=part,
            format_descriptors=[ttnn.CBFormatDescriptor(buffer_index=i, data_format=ttnn.bfloat16, page_size=CB_BYTES)],
        )
        for part in (groups(grid, shape["cb_groups"]) if shape["all_cores"] else [one]) for i in range(shape["cbs"])
    ]  # fmt: skip
    whole = groups(grid, 1)[0] if shape["all_cores"] else one
    semaphores = [
        ttnn.SemaphoreDescriptor(id=i, core_ranges=whole, initial_value=0) for i in range(shape["semaphores"])
    ]
    return ttnn.ProgramDescriptor(kernels=kernels, cbs=buffers, semaphores=semaphores)


def run(device, tensors, shape, mark):
    grid = device.compute_with_storage_grid_size()
    programs = [program(grid, shape, shape["cycles"] if i == 0 else 0, 2 * mark + i) for i in range(distinct(shape))]
    for one in programs:
        ttnn.generic_op(tensors, one)
    ttnn.synchronize_device(device)
    trace = ttnn.begin_trace_capture(device, cq_id=0)
    for one in (programs[:1] + programs[1:] * shape["fast"]) * ROUNDS:
        ttnn.generic_op(tensors, one)
    ttnn.end_trace_capture(device, trace, cq_id=0)
    ttnn.execute_trace(device, trace, cq_id=0, blocking=True)
    ttnn.release_trace(device, trace)


def main():
    with open(sys.argv[1]) as file:
        shapes = json.load(file)
    device = ttnn.open_device(device_id=0, trace_region_size=TRACE_REGION)
    tile = ttnn.Tensor([0.0] * 32 * 32, [1, 1, 32, 32], ttnn.bfloat16, ttnn.TILE_LAYOUT)
    tensors = [tile.to(device) for _ in range(2)]
    for mark, shape in enumerate(shapes):
        run(device, tensors, shape, mark)
    ttnn.close_device(device)


main()
