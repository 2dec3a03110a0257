"""Small kernels that compute (issue 7): rows of their columns as programs, wrong rows, one small program per structure."""

import pytest

from tensim.validation.kernels import all_reduce, expressions, launches, tilizing
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


def options(example, variant, params, **columns):
    """Options of a described program."""
    return dict(read(example, variant, params, **columns)[1])


def test_a_block_is_reduced_by_rows_columns_or_both():
    for dim in ("row", "col", "scalar"):
        found = options(
            "reduce_block", "reduce_tile", f"dim={dim}; Ht x Wt x NC=2x4x4; output tiles=4; HiFi4; sharded L1"
        )
        assert [found[name] for name in ("dim", "Ht", "Wt", "NC", "variant")] == [dim, 2, 4, 4, "reduce_tile"]
    found = options("reduce_block", "acc_via_add", "dim=col; reduced tiles=32 into one output; LoFi; sharded L1")
    assert [found[name] for name in ("Ht", "Wt", "level")] == [32, 1, "LoFi"]
    assert found["variant"] == "accumulate_via_add_inline" and not found["accumulate_first"]


def test_row_reductions_name_the_formats_of_input_and_sum():
    found = options(
        "row_reduce_accumulate", "dest_accum_pairs_sfpu", "row mean over 4 tiles; HiFi4; output fp32",
        data_format="input-accum bf16-fp32",
    )  # fmt: skip
    assert found["precision"] == "bf16-fp32" and found["width_tiles"] == 4


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
    ring = options("tensix_all_reduce_ring_transport", "NoC1 payload", RING, cores="64")
    assert ring["variant"] == "payload_ring_noc1" and ring["group_shape"] == (1, 4) and ring["num_groups"] == 16
    assert read(
        "tensix_all_reduce", "tree_reduce_mcast", "group=8x2 groups=6; tiles per core=6; value per all-reduce",
        arch="blackhole", board="13x10 grid chip", cores="96",
    ) == ("blackhole", "p150_13x10", "tree_reduce_mcast", (8, 2, 6), 6)  # fmt: skip


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
    assert read("zero_copy_fold", "compute_only", fold) == ("wormhole_b0", False, 4, 4, 0)
    launch = "tilize L1 sharded; tiles HxW=8x2; in-kernel iterations=20"
    assert read("handshake_elision", "handshake", launch) == ("wormhole_b0", True, 8, 2, 20)
    chain = options("compute_block_size", "reconfig_off", CHAIN)
    assert chain == {"block_rows": 2, "kernel_iters": 100, "reconfig": False}


def test_streams_are_split_by_rows_or_columns_of_tiles():
    wide, tall = "relu per tile; H=32 W=4096", "relu per tile; H=2048 W=32"
    split = {params: read("distribution_gate", "gated", params, cores="64")[1:] for params in (wide, tall)}
    assert split == {wide: (64, 1, 128, True), tall: (64, 64, 1, False)}


@pytest.mark.parametrize(
    "example, variant, params, complaint",
    [
        ("reduce_block", "guess", "dim=row; reduced tiles=2 into one output; LoFi", "column variant is 'guess'"),
        ("reduce_block", "reduce_tile", "dim=row; reduced tiles=2 into one output", "names no fidelity"),
        ("row_reduce_accumulate", "l1_accum", "row mean over 2 tiles; HiFi4", "column data_format is 'bf16'"),
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


def time_ns(example, variant, params, **columns):
    return kernels.simulate(kernels.read(row(example, variant, params, **columns), "micro").spec)


def test_adding_first_beats_reducing_each_of_many_tiles_only():
    def time(variant, tiles):
        return time_ns(
            "reduce_block", variant, f"dim=row; reduced tiles={tiles} into one output; HiFi4; (4 in-kernel iterations)"
        )

    assert time("reduce_tile", 1) < time("acc_via_add", 1)
    assert time("reduce_tile", 16) > time("acc_via_add", 16)


@pytest.mark.parametrize("variant", all_reduce.VARIANTS)
def test_every_all_reduce_ends_and_takes_longer_for_more_tiles(variant):
    few, many = (all_reduce.time_ns("wormhole_b0", None, variant, (1, 4, 1), tiles) for tiles in (2, 8))
    assert 500 < few < many < 20_000


def test_a_ring_against_its_noc_is_slower_and_a_payload_costs_more_than_its_semaphore():
    def time(variant):
        params = "group=1x4 groups=16; tiles=1; value per pass (3 in-kernel iterations)"
        return time_ns("tensix_all_reduce_ring_transport", variant, params, cores="64")

    assert time("NoC0 semaphore only") < time("NoC1 semaphore only") < time("NoC0 payload")


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
    elided, handed = (tilizing.time_ns("blackhole", handed_over, 1, 2, 6) for handed_over in (False, True))
    chain = "block_rows=4; HiFi2; value per evaluation (2 in-kernel iterations)"
    off, on = (time_ns("compute_block_size", f"reconfig_{state}", chain) for state in ("off", "on"))
    assert elided < handed and off < on


def test_more_cores_and_no_reads_shorten_a_stream():
    one, two = (launches.time_ns("wormhole_b0", cores, 1, 8, True) for cores in (1, 2))
    assert two < one
    for megabytes, cores in ((1, "8"), (4, "64")):  # 4 MB on silicon: 46 us and 35
        read_too, written = (
            time_ns("constant_synthesis", variant, f"output {megabytes} MB; 8 pages per barrier", cores=cores)
            for variant in ("stream_from_dram", "synthesize")
        )
        assert written < read_too
