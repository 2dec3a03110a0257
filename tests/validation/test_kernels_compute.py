"""Small kernels that compute (issue 7): rows of their columns as programs, wrong rows, one small program per structure."""

import pytest

from tensim.validation.kernels import all_reduce, expressions, launches, reductions, tilizing
from tensim.validation.kernels import rows as kernels
from tensim.validation.rows import Row

BASE = {
    "example": "", "arch": "wormhole_b0", "board": "t3000 chip", "clock_MHz": "1000", "cores": "1", "core_placement": "(0,0)",
    "variant": "", "data_format": "bf16", "page_or_write_bytes": "2048", "params": "", "metric": "device kernel duration",
    "time_ns": "100",
}  # fmt: skip
RING = "serpentine ring group=1x4 groups=16; tiles=6; value per pass (100 in-kernel iterations)"
CHAIN = "(A+B)@C; M_tiles=8 K_tiles=4 N_tiles=4; block_rows=2; HiFi2; fp32 dest acc; sharded L1; value per evaluation"


def row(example, variant, params, **columns):
    return Row("rows.csv:1", 2, BASE | {"example": example, "variant": variant, "params": params} | columns)


def read(example, variant, params, **columns):
    """Arguments of the family's program."""
    return kernels.read(row(example, variant, params, **columns), "micro").spec[1:]


def test_a_block_reduces_its_rows_columns_or_blocks_in_a_16_bit_dst():
    for dim, outputs, reduced in (("row", 8, 4), ("col", 16, 2), ("scalar", 4, 8)):
        found = read("reduce_block", "reduce_tile", f"dim={dim}; Ht x Wt x NC=2x4x4; output tiles=4; HiFi4; sharded L1")
        assert found[2:4] == ("reduce_by_tile", (outputs, reduced, reductions.DIMS[dim]))
        assert found[1] == ("Float16_b", "Float32", "HiFi4", False, False, False)


def test_tiles_reduced_into_one_output_take_a_32_bit_dst():
    found = read("reduce_block", "acc_via_add", "dim=col; reduced tiles=32 into one output; LoFi; sharded L1")
    assert found == (
        "wormhole_b0", ("Float16_b", "Float32", "LoFi", True, False, False), "reduce_by_add", (1, 32, 1), (1,), 32, "Float32"
    )  # fmt: skip


def test_row_reductions_name_the_formats_of_input_and_sum():
    found = read(
        "row_reduce_accumulate", "dest_accum_pairs_sfpu", "row mean over 4 tiles; HiFi4; output fp32",
        data_format="input-accum bf16-fp32",
    )  # fmt: skip
    assert found[1][0] == "Float16_b" and found[2:] == (
        "accumulate_then_reduce_in_dst", (2, 4, 0), (), 4, "Float32"
    )  # fmt: skip


def test_dispatch_takes_the_helper_for_few_tiles_and_the_fast_way_for_many():
    ways = {
        (variant, tiles): read("reduce_accumulate", variant, f"reduce dim=row; tiles={tiles}; HiFi4; fp32 accum")[2:4]
        for variant in ("helper", "fast", "dispatch")
        for tiles in (1, 32)
    }
    assert ways["dispatch", 1] == ways["helper", 1] and ways["dispatch", 32] == ways["fast", 32]
    assert ways["helper", 32] != ways["fast", 32]


def test_groups_of_cores_are_packed_row_by_row_and_ordered_as_a_serpentine():
    with all_reduce.Groups("wormhole_b0", None, (2, 4, 3)) as groups:
        order = [[(core.x, core.y) for core in members] for members in groups.members]
    assert order[0] == [(0, 0), (1, 0), (2, 0), (3, 0), (3, 1), (2, 1), (1, 1), (0, 1)]
    assert [members[0] for members in order] == [(0, 0), (4, 0), (0, 2)]


def test_rings_and_all_reduces_name_noc_board_and_group():
    assert read("tensix_all_reduce_ring_transport", "NoC1 payload", RING, cores="64") == (
        "ring", "wormhole_b0", 1, True, (1, 4, 16), 6
    )  # fmt: skip
    assert read(
        "tensix_all_reduce", "tree_reduce_mcast", "group=8x2 groups=6; tiles per core=6; value per all-reduce",
        arch="blackhole", board="13x10 grid chip", cores="96",
    ) == ("all_reduce", "blackhole", "p150_13x10", "tree_reduce_mcast", (8, 2, 6), 6)  # fmt: skip


def test_expressions_are_whole_or_the_pass_of_a_zone():
    whole = read("compute_fusion", "sfpu", "scenario=fpu_sfpu expr=sqrt(x)*b; tiles=16; dest_block=4; sharded L1")
    zone = read(
        "compute_fusion", "unfused zone CF_ADD", "scenario=sfpu_chain; tiles=32; in-kernel iterations=16",
        metric="zone time pack TRISC2 per phase",
    )  # fmt: skip
    assert whole[3:] == ((expressions.kernels.FUSED_VECTOR, 16, 4), 16, None)
    assert zone[3:] == ((expressions.kernels.PASS_ADD, 32, 4), 32, "TRISC2")


def test_tilize_rows_state_height_width_and_launches():
    fold = "tilize, CBs aliased on resident L1 shards; shape=512x128; tiles per core=16"
    assert read("zero_copy_fold", "compute_only", fold) == ("tilize", "wormhole_b0", False, 4, 4, 0)
    launch = "tilize L1 sharded; tiles HxW=8x2; in-kernel iterations=20"
    assert read("handshake_elision", "handshake", launch) == ("tilize", "wormhole_b0", True, 8, 2, 20)
    assert read("compute_block_size", "reconfig_off", CHAIN) == ("chain", "wormhole_b0", "HiFi2", (4, 2, 4, 4, 0))


def test_streams_are_split_by_rows_or_columns_of_tiles():
    wide, tall = "relu per tile; H=32 W=4096", "relu per tile; H=2048 W=32"
    split = {params: read("distribution_gate", "gated", params, cores="64")[2:] for params in (wide, tall)}
    assert split == {wide: (64, 1, 128, True), tall: (64, 64, 1, False)}
    assert read("constant_synthesis", "synthesize", "output 4 MB interleaved; 8 pages per barrier", cores="64") == (
        "constant", "wormhole_b0", 64, 2048, 8, False
    )  # fmt: skip


@pytest.mark.parametrize(
    "example, variant, params, complaint",
    [
        ("reduce_block", "guess", "dim=row; reduced tiles=2 into one output; LoFi", "column variant is 'guess'"),
        ("reduce_block", "reduce_tile", "dim=row; reduced tiles=2 into one output", "names no fidelity"),
        ("row_reduce_accumulate", "l1_accum", "row mean over 2 tiles; HiFi4", "column data_format is 'bf16'"),
        ("tensix_all_reduce_ring_transport", "NoC0 payload", RING, "column cores says 1"),
        ("compute_fusion", "dstreuse", "scenario=sfpu_chain; tiles=4; dest_block=1", "no expression 'dstreuse'"),
        (
            "matmul_output_subblock",
            "subblock 1x1",
            "matmul_block M=4 N=4 K=2 tiles; 100 in-kernel iterations",
            "2 steps of K",
        ),
        ("zero_copy_fold", "compute_only", "shape=64x128; tiles per core=6", "not whole rows of 4 tiles"),
        ("sfpu_tile_scope", "sin scope=rc", "SFPU vector ops per call=32", "names the function 'sin'"),
    ],
)
def test_wrong_rows_name_the_column(example, variant, params, complaint):
    with pytest.raises(ValueError, match=complaint):
        read(example, variant, params)


WIDE = ("Float16_b", "Float32", "HiFi4", True, False, False)


def test_adding_first_beats_reducing_each_of_many_tiles_only():
    def time(kernel, tiles):
        more = (1,) if kernel == "reduce_by_add" else ()
        return reductions.time_ns("blackhole", WIDE, kernel, (1, tiles, 0), more, tiles, "Float32")

    assert time("reduce_by_tile", 1) < time("reduce_by_add", 1)
    assert time("reduce_by_tile", 16) > time("reduce_by_add", 16)


@pytest.mark.parametrize("variant", all_reduce.VARIANTS)
def test_every_all_reduce_ends_and_takes_longer_for_more_tiles(variant):
    few, many = (all_reduce.time_ns("all_reduce", "wormhole_b0", None, variant, (1, 4, 1), tiles) for tiles in (2, 8))
    assert 500 < few < many < 20_000


def test_a_ring_against_its_noc_is_slower_and_a_payload_costs_more_than_its_semaphore():
    def time(noc, payload):
        return all_reduce.time_ns("ring", "wormhole_b0", noc, payload, (1, 4, 1), 1)

    assert time(0, False) < time(1, False) and time(0, False) < time(0, True)


def test_fusing_a_chain_saves_the_way_through_the_buffers():
    settings, names = expressions._settings(), expressions.kernels
    fused, unfused = (
        expressions.time_ns("evaluation", "wormhole_b0", settings, (what, 4, 1), 4, None)
        for what in (names.FUSED_REUSE, names.UNFUSED_PRODUCT)
    )
    assert fused < unfused


def test_wider_subblocks_save_sections():
    narrow, wide = (
        expressions.time_ns("subblocks", "blackhole", expressions._settings(), (4, 4, 1, columns), 6)
        for columns in (1, 4)
    )
    assert wide < narrow


def test_tilize_without_handshake_is_faster_and_reconfiguring_costs():
    elided, handed = (tilizing.time_ns("tilize", "blackhole", handed_over, 1, 2, 6) for handed_over in (False, True))
    off, on = (tilizing.time_ns("chain", "wormhole_b0", "HiFi2", (2, 1, 4, 4, reconfig)) for reconfig in (0, 1))
    assert elided < handed and off < on


def test_more_cores_and_no_reads_shorten_a_stream():
    one, two = (launches.time_ns("relu", "wormhole_b0", cores, 1, 8, True) for cores in (1, 2))
    read_too, written = (launches.time_ns("constant", "wormhole_b0", 1, 32, 8, read_too) for read_too in (True, False))
    assert two < one and written <= read_too
