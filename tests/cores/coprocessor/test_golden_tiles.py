"""Golden cases of single tiles at the level of instructions: the vendor's own calls leave the bits of its functional simulator.

They run where TENSIM_LLK names a release's folder that holds tt_metal, and TENSIM_GOLDEN_TILES a folder with index.json and arrays.
"""

import json
import os
from pathlib import Path

import numpy as np
import pytest

from tensim.validation.instruction.lone_core import Buffer, LoneCore, programs
from tensim.validation.numerics.programs import ARCHS, FORMATS
from tensim.validation.numerics.rows import differing, tile_bytes

FOLDER = os.environ.get("TENSIM_GOLDEN_TILES")
pytestmark = pytest.mark.skipif(
    "TENSIM_LLK" not in os.environ or FOLDER is None,
    reason="TENSIM_LLK names no LLK sources, or TENSIM_GOLDEN_TILES no golden cases",
)
CASES = json.loads((Path(FOLDER) / "index.json").read_text()) if FOLDER else []
FIDELITIES = {"LoFi": 0, "HiFi2": 2, "HiFi3": 3, "HiFi4": 4}
CALLS = {
    "mm": ("matmul", "matmul_init(0, 1);", "matmul_tiles(0, 1, k, k, 0);"),
    "add": ("eltwise_binary", "add_init(0, 1);", "add_tiles(0, 1, k, k, 0);"),
    "sub": ("eltwise_binary", "sub_init(0, 1);", "sub_tiles(0, 1, k, k, 0);"),
    "mul": ("eltwise_binary", "mul_init(0, 1);", "mul_tiles(0, 1, k, k, 0);"),
}
KERNEL = """#include <cstdint>
#include "api/compute/compute_kernel_hw_startup.h"
#include "api/compute/pack.h"
#include "api/compute/HEADER.h"
void kernel_main() {
    compute_kernel_hw_startup(0, 1, 2);
    INIT
    cb_wait_front(0, TILES);
    cb_wait_front(1, TILES);
    tile_regs_acquire();
    for (std::uint32_t k = 0; k < TILES; k++) { CALL }
    tile_regs_commit();
    tile_regs_wait();
    cb_reserve_back(2, 1);
    pack_tile(0, 2);
    cb_push_back(2, 1);
    tile_regs_release();
}
"""


def result(case, output):
    """Bytes of the tile that a case's program packs in the format `output`."""
    tiles, arch = case["k_tiles"], ARCHS[case["arch"]]
    source = FORMATS[case["in_format"]]
    buffers = [Buffer(index, source, tiles, tiles) for index in (0, 1)] + [Buffer(2, FORMATS[output], 1)]
    header, init, call = CALLS[case["op"]]
    text = KERNEL.replace("HEADER", header).replace("INIT", init).replace("CALL", call).replace("TILES", str(tiles))
    elfs = programs(arch, text, buffers, fp32_dest=case["dst_fp32"], math_fidelity=FIDELITIES[case["fidelity"]])
    core = LoneCore(arch, elfs, buffers, data=True)
    for index in (0, 1):
        array = np.load(Path(FOLDER) / f"{case['name']}.in{index}.npy")
        core.write(index, b"".join(tile_bytes(tile, case["in_format"]) for tile in array))
    core.run()
    return core.read(2, buffers[2].page_bytes)


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_golden_tiles(case):
    """The packed tile, and Dst, as the packer writes it in its own format."""
    dst = "fp32" if case["dst_fp32"] else "fp16" if case["in_format"] == "fp16" else "bf16"
    for end, output in (("out", case["out_format"]), ("dst", dst)):
        expected = tile_bytes(np.load(Path(FOLDER) / f"{case['name']}.{end}.npy"), output)
        assert differing(result(case, output), expected, output)[0] == 0, (end, output)
