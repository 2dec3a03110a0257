"""The library sees the chip that is simulated: boards, harvested parts and memories, or a refusal by name."""

import pytest

from tensim.library.descriptions import as_seen, chip_description, cluster_description, refuse_unseen
from tensim.library.environment import find_library
from tensim.sim.arch import load_arch
from tensim.sim.errors import UsageError

P150, P100, N150 = "p150", "p100", "n150"
# Grid, units that the library is told to be lacking (rows or columns, DRAM channels), kind of board
BOARDS = [
    ("wormhole_b0", "n150", (8, 8), 1, 12, N150),
    ("wormhole_b0", "n150s", (8, 8), 1, 12, N150),
    ("wormhole_b0", "n150_row3", (8, 8), 1, 12, N150),
    ("wormhole_b0", "n300", (8, 7), 2, 12, N150),
    ("wormhole_b0", "n300_rows7_10", (8, 7), 2, 12, N150),
    ("wormhole_b0", "galaxy", (8, 9), 0, 12, N150),
    ("blackhole", "p100", (11, 10), 2, 7, P100),
    ("blackhole", "p100a", (11, 10), 2, 7, P100),
    ("blackhole", "p150b", (11, 10), 2, 8, P150),
    ("blackhole", "p150_12x10", (12, 10), 1, 8, P150),
    ("blackhole", "p150_13x10", (13, 10), 0, 8, P150),
    ("blackhole", "p300c", (11, 10), 2, 8, P150),
]


@pytest.mark.parametrize("name, board, grid, lacking, banks, kind", BOARDS)
def test_boards(name, board, grid, lacking, banks, kind):
    arch = load_arch(name, {"board": board})
    assert (arch.grid, arch.dram_banks) == (grid, banks)
    told = cluster_description(arch)
    assert told["boards"][0][1] == {"board_type": kind}
    masks = told["harvesting"][0]
    assert masks["harvest_mask"].bit_count() == lacking
    assert masks.get("dram_harvesting_mask", 0).bit_count() == (banks == 7)


def test_harvested_rows_are_those_that_neither_compute_nor_dispatch():
    """The first row behind those that compute dispatches, row 11 in a part that lacks row 3, which is the third."""
    told = cluster_description(load_arch("wormhole_b0", {"board": "n150_row3"}))
    assert told["harvesting"][0]["harvest_mask"] == 1 << 2


def test_sizes_of_memories():
    arch = load_arch("wormhole_b0", {"dram.bank_bytes": 1 << 28, "l1.size": 1 << 20})
    told = chip_description({"dram": [], "worker_l1_size": 5}, arch)
    assert told == {"dram": [], "worker_l1_size": 1 << 20, "dram_view_size": 1 << 28, "dram_bank_size": 1 << 29}


def refusal(library, name, overrides):
    base = as_seen(library, load_arch(name))
    with pytest.raises(UsageError) as raised:
        refuse_unseen(library, load_arch(name, base | overrides), load_arch(name, base))
    assert raised.value.hint
    return raised.value.message


@pytest.mark.parametrize(
    "name, overrides, says",
    [
        ("blackhole", {"chip.noc_grid": [16, 12]}, "chip.noc_grid is [16, 12]; ttnn has [17, 12]"),
        ("wormhole_b0", {"noc.translated_workers": [20, 18]}, "noc.translated_workers is [20, 18]"),
        ("blackhole", {"noc.translated_columns": [*range(1, 15)]}, "noc.translated_columns is "),
        ("blackhole", {"dram.endpoints_noc1": []}, "dram.endpoints_noc1 is []"),
        ("blackhole", {"l1.user_base": 120000}, "l1.user_base is 120000"),
        ("blackhole", {"alignment.dram_read": 32}, "alignment.dram_read is 32; ttnn has 64"),
        ("wormhole_b0", {"tensix.dst.tiles32": 4}, "tensix.dst.tiles32 is 4"),
        ("blackhole", {"boards.p150.columns": [1, 2, 3]}, "ttnn knows no blackhole with columns [1, 2, 3]"),
        ("blackhole", {"boards.p150.columns": [2, 1, *range(3, 8), *range(10, 14)]}, "ttnn knows no blackhole with"),
        ("blackhole", {"boards.p150.rows": [2, 3]}, "and rows [2, 3] of workers"),
        ("wormhole_b0", {"boards.n150.rows": [*range(1, 6), *range(7, 12)]}, "ttnn knows no wormhole_b0 with"),
        (
            "blackhole",
            {"board": "p100", "boards.p100.dram_channels": [0, 1, 2]},
            "lacks the DRAM channels [3, 4, 5, 6, 7]",
        ),
        ("blackhole", {"l1.size": 1 << 22}, "l1.size is 4194304; ttnn knows at most 1572864"),
    ],
)
def test_what_the_library_cannot_see_is_refused(installed, name, overrides, says):
    assert says in refusal(find_library(installed.of("0.81.1")), name, overrides)


@pytest.mark.parametrize("board", ["p100", "p150"])
def test_an_older_release_sees_whole_chips(installed, board):
    older = find_library(installed.of("0.66.0"))
    said = refusal(older, "blackhole", {"board": board})
    assert said.startswith("ttnn 0.66.0 sees 13 x 10 workers and 8 DRAM banks on any board; " + board)
    assert "sees 8 x 9 workers" in refusal(older, "wormhole_b0", {"board": "n300"})


def test_timing_may_be_set(installed):
    library = find_library(installed.of("0.81.1"))
    seen = load_arch("blackhole", as_seen(library, load_arch("blackhole")))
    arch = load_arch("blackhole", as_seen(library, seen) | {"noc.hop_cycles": 5, "dram.bank_bytes": 1 << 28})
    refuse_unseen(library, arch, seen)


# --- with a stand-in of the library, which reads the descriptions


ALL_MEMORIES = """
import random, re, struct
import ttnn
from pathlib import Path

device = ttnn.open_device()
print("workers", len(device.cores), "banks", 8 - ttnn.harvested(ttnn.RELEASE, "dram_harvesting_mask"))
random.seed(0)
for number, core in enumerate(device.cores):
    device.write(*core, 0x80000, struct.pack("<I", number))
text = ttnn.compiled({kernel!r}, arguments=())
banks = {banks}
args = {{core: [number % banks, 64 * number, number] for number, core in enumerate(device.cores)}}
run = ttnn.decorators.FastOperation("ttnn.all", lambda: device.run(device.cores, {{0: text}}, {{0: args}}, buffers=[(64, 1)]))
run()
for number, core in enumerate(device.cores):
    assert struct.unpack("<I", device.read(*core, 0x80000, 4)) == (number + 1,), core
    place = {places}[number % banks]
    assert struct.unpack("<I", device.read(*place, 0x200000 + 64 * number, 4)) == (number,), (core, place)
device.close()
"""
KERNEL = """
#include "api/dataflow/dataflow_api.h"
void kernel_main() {
    volatile tt_l1_ptr uint32_t* mine = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(0x80000);
    *mine = *mine + 1;
    volatile tt_l1_ptr uint32_t* words = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(get_write_ptr(0));
    words[0] = get_arg_val<uint32_t>(2);
    const uint64_t to = get_noc_addr_from_bank_id<true>(get_arg_val<uint32_t>(0), 0x200000 + get_arg_val<uint32_t>(1));
    noc_async_write(get_write_ptr(0), to, 64);
    noc_async_write_barrier();
}
"""
TOPS = [(17, 14), (17, 15), (17, 18), (17, 21), (18, 14), (18, 17), (18, 20), (18, 23)]  # a port of each channel


@pytest.mark.parametrize("board, workers, banks", [("p100", 110, 7), ("p150_13x10", 130, 8), ("p150a", 110, 8)])
def test_every_worker_and_every_bank_of_a_board(library, board, workers, banks):
    text = ALL_MEMORIES.format(kernel=KERNEL, banks=banks, places=TOPS)
    done = library.run(text, arch="blackhole", options=("--set", f"board={board}"))
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"workers {workers} banks {banks}\n"


def test_boards_side_by_side_have_descriptions_of_their_own(library):
    """Programs that run at the same time must not change what the other's library reads."""
    text = "import os, time, ttnn\ntime.sleep(1)\nprint(len(ttnn.open_device().cores))"
    ran = [library.start(text, arch="blackhole", options=("--set", f"board={one}")) for one in ("p150", "p150_12x10")]
    assert [process.communicate(timeout=120)[0] for process in ran] == ["110\n", "120\n"]


def test_a_refusal_is_one_line_and_a_hint(library):
    done = library.run("print('ran')", options=("--set", "board=n300"), release="0.66.0")
    assert (done.returncode, done.stdout) == (2, "")
    error, hint = done.stderr.splitlines()
    assert error.startswith("error: ttnn 0.66.0 sees 8 x 9 workers") and hint.strip().startswith(
        "hint: --set board=n150_physical"
    )
