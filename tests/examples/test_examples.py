"""The example programs: every one runs, agrees with numpy, and refuses what it cannot do."""

import numpy as np
import pytest

import tensim as tt
from tensim.examples import EXAMPLES
from tensim.examples.common import split_work
from tensim.examples.matmul_plan import Settings, Topology, buffer_bytes, make_plan
from tensim.examples.reduction_tree import send_level, tree_levels
from tensim.examples.result import ExampleResult
from tensim.examples.ring_all_gather import snake
from tensim.running.options import Options, parse_shape
from tensim.running.runnable import find_program
from tensim.sim.chip.statistics import bounded_by, program_cycles
from tensim.sim.cores.numerics.data_format import DataFormat
from tensim.sim.errors import UsageError

SMALL = {
    "add_integers": Options(shape="7"),
    "dram_loopback": Options(shape="64x96", grid="2x1"),
    "eltwise_add": Options(shape="96x64", grid="2x2"),
    "sfpu_chain": Options(shape="64x64", grid="2x1"),
    "matmul_single_core": Options(shape="64x96x64"),
    "matmul_naive": Options(shape="64x96x64", grid="2x2"),
    "matmul_multi_core": Options(shape="96x64x96", grid="2x2"),
    "matmul_reuse": Options(shape="128x128x192", grid="2x2"),
    "matmul_multicast": Options(shape="128x256x192", grid="3x2"),
    "matmul_multicast_1d": Options(shape="64x128x256", grid="2x2"),
    "reduction_tree": Options(shape="32x64", grid="3x2"),
    "reshard": Options(shape="128x192", grid="3x2"),
    "stencil_halo": Options(shape="128x192", grid="3x2"),
    "ring_all_gather": Options(shape="32x32", grid="3x2"),
}
L1_BYTES = 1_300_000


@pytest.fixture(scope="module", params=["wormhole_b0"])
def device(request):
    device = tt.create_device(0, arch=request.param)
    yield device
    tt.close_device(device)


def check(result):
    assert np.all(np.isfinite(result.actual))
    assert result.verified, f"relative error {result.error:.4f} > {result.tolerance}, pcc {result.pcc:.5f}"


def multicast(device, shape="128x256x192", grid="3x2", dtype="bf16", **parameters):
    return find_program("matmul_multicast").run_on(device, Options(shape, dtype, "HiFi4", grid, parameters=parameters))


# --- every program


def test_every_example_has_a_small_run():
    assert set(SMALL) == set(EXAMPLES)


@pytest.mark.parametrize("name", EXAMPLES)
def test_agrees_with_numpy(device, name):
    check(find_program(name).run_on(device, SMALL[name]))


@pytest.mark.parametrize("arch", ["blackhole", "grayskull"])
@pytest.mark.parametrize("name", ["matmul_multicast", "stencil_halo", "ring_all_gather"])
def test_runs_on_other_chips(arch, name):
    device = tt.create_device(1, arch=arch)
    try:
        check(find_program(name).run_on(device, SMALL[name]))
    finally:
        tt.close_device(device)


@pytest.mark.parametrize("name", EXAMPLES)
def test_timing_does_not_depend_on_numerics(name):
    """Every example runs in the same cycles with every numerics; exact ones agree with numpy, too."""
    cycles = []
    for numerics in ("fast", "off", "exact"):
        device = tt.create_device(1, numerics=numerics)
        try:
            result = find_program(name).run_on(device, SMALL[name])
            cycles.append(program_cycles(device.chip))
        finally:
            tt.close_device(device)
    check(result)
    assert cycles[0] == cycles[1] == cycles[2] > 0


@pytest.mark.parametrize(
    "name, shape, cause",
    [
        ("sfpu_chain", "128x128", "sfpu"),  # a unit at its limit
        ("dram_loopback", "128x128", "dram"),  # a page per barrier: latency, no unit is busy
        ("eltwise_add", "128x128", "dram"),  # the same, behind circular buffers and compute threads that only wait
        ("reshard", "256x512", "noc"),  # L1 to L1
    ],
)
def test_what_bounds_a_run(name, shape, cause):
    device = tt.create_device(1, numerics="off")
    try:
        find_program(name).run_on(device, Options(shape=shape))
        assert bounded_by(device.chip, program_cycles(device.chip)) == cause
    finally:
        tt.close_device(device)


def test_dispatch_bounds_programs_that_are_shorter_than_the_gaps_between_them():
    device = tt.create_device(1, numerics="off")
    try:
        for _ in range(20):
            find_program("add_integers").run_on(device, Options(shape="7"))
        assert bounded_by(device.chip, program_cycles(device.chip)) == "dispatch"
    finally:
        tt.close_device(device)


@pytest.mark.parametrize("fidelity", ["LoFi", "HiFi2", "HiFi3", "HiFi4"])
@pytest.mark.parametrize("dtype", ["bf16", "bfp8", "bfp4", "fp32"])
def test_fast_numbers_lie_near_exact_ones(dtype, fidelity):
    """`fast` within the stated bound of `exact` (docs/numerics.md): that of an example against numpy."""
    results = []
    for numerics in ("fast", "exact"):
        device = tt.create_device(1, numerics=numerics)
        try:
            options = Options("128x256x192", dtype, fidelity, "3x2")
            results.append(find_program("matmul_multicast").run_on(device, options))
        finally:
            tt.close_device(device)
    fast, exact = (result.actual.astype(np.float64) for result in results)
    assert np.linalg.norm(fast - exact) <= results[0].tolerance * np.linalg.norm(exact)
    assert not np.array_equal(fast, exact)


@pytest.mark.parametrize("dtype", ["bfp8", "bfp4", "fp32"])
@pytest.mark.parametrize("name", ["eltwise_add", "matmul_multicast"])
def test_runs_in_other_formats(device, name, dtype):
    small = SMALL[name]
    check(find_program(name).run_on(device, Options(small.shape, dtype, "HiFi4", small.grid)))


# --- the headline: 2-D multicast


@pytest.mark.parametrize(
    "parameters",
    [
        {"in0_sharded": True},
        {"in0_sharded": True, "in0_block_w": 2},  # narrower than the shard of 4 tiles: gathered first
        {"out_sharded": True},
        {"in0_sharded": True, "out_sharded": True},
        {"packer_l1_acc": False, "in0_block_w": 2},
        {"in0_block_w": 8},  # one K block: no partial sums
        {"in0_block_w": 4},  # two K blocks: stored once, reloaded once
        {"in0_block_w": 1, "out_block_h": 1, "out_block_w": 1},  # several out blocks per core
        {"fp32_dest_acc_en": True},
        {"out_subblock_h": 1, "out_subblock_w": 1},
    ],
    ids=str,
)
def test_multicast_variants(device, parameters):
    check(multicast(device, "128x256x192", "2x2", **parameters))


@pytest.mark.parametrize("grid", ["1x1", "4x1", "1x4", "5x3"])
def test_multicast_on_any_grid(device, grid):
    check(multicast(device, "160x128x160", grid))


def test_multicast_sharded_on_one_column(device):
    check(multicast(device, "128x128x64", "1x2", in0_sharded=True))


def test_multicast_pads_ragged_shapes(device):
    check(multicast(device, "100x72x130", "3x2"))


# --- plans


def plan(shape, grid, l1_bytes=L1_BYTES, **settings):
    settings = {"topology": Topology.ROWS_COLUMNS, "dtype": DataFormat.Float16_b, "fp32_dest_acc_en": False} | settings
    return make_plan(shape, grid, Settings(**settings), l1_bytes)


def test_plan_of_the_headline():
    headline = plan((2048, 2048, 2048), (8, 8))
    assert (headline.per_core_m, headline.per_core_n, headline.in0_block_w) == (8, 8, 8)
    assert (headline.subblock_h, headline.subblock_w) == (4, 2)


def test_plan_covers_the_product_on_a_ragged_grid():
    ragged = plan((2048, 2048, 2048), (11, 10))
    assert ragged.columns * ragged.per_core_n >= ragged.n > (ragged.columns - 1) * ragged.per_core_n
    assert ragged.rows * ragged.per_core_m >= ragged.m > (ragged.rows - 1) * ragged.per_core_m


@pytest.mark.parametrize("size", [512, 3072, 8192])
def test_plan_fits_in_l1(size):
    settings = Settings(Topology.ROWS_COLUMNS, DataFormat.Float16_b, False)
    cut = make_plan((size, size, size), (8, 8), settings, L1_BYTES)
    assert buffer_bytes(cut, settings) <= L1_BYTES
    assert cut.k % cut.in0_block_w == 0
    assert cut.per_core_m % cut.out_block_h == cut.per_core_n % cut.out_block_w == 0


def test_sharded_plan_follows_the_measured_configuration():
    """Per-core block and in0_block_w of gemm.csv's 1024x1024x1024 row on N150."""
    cut = plan((1024, 1024, 1024), (8, 8), in0_sharded=True, out_sharded=True)
    assert (cut.per_core_m, cut.per_core_n, cut.in0_block_w) == (4, 4, 4)
    assert (cut.subblock_h, cut.subblock_w) == (1, 4)


@pytest.mark.parametrize(
    "settings",
    [
        {"in0_block_w": 3},
        {"subblock_h": 4, "subblock_w": 4},
        {"subblock_w": 3},
        {"per_core_m": 1},
        {"in0_sharded": True, "in0_block_w": 32},
        {"out_sharded": True, "subblock_h": 2, "subblock_w": 1},
    ],
    ids=str,
)
def test_impossible_plans_are_refused(settings):
    with pytest.raises(UsageError):
        plan((1024, 1024, 1024), (8, 8), **settings)


def test_plan_that_fits_nowhere_is_refused():
    with pytest.raises(UsageError, match="fits"):
        plan((1024, 1024, 1024), (8, 8), l1_bytes=4096)


# --- bad input


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (Options(shape="2048x2048"), "MxKxN"),
        (Options(shape="0x32x32"), "MxKxN"),
        (Options(shape="axbxc"), "MxKxN"),
        (Options(dtype="int4"), "dtype"),
        (Options(fidelity="HiFi5"), "fidelity"),
        (Options(grid="99x1"), "grid"),
        (Options(grid="8"), "grid"),
        (Options(parameters={"nonsense": 1}), "nonsense"),
        (Options(parameters={"in0_block_w": -1}), "in0_block_w"),
        (Options(parameters={"in0_sharded": 2}), "in0_sharded"),
    ],
    ids=str,
)
def test_bad_options_are_refused(device, options, words):
    with pytest.raises(UsageError, match=words):
        find_program("matmul_multicast").run_on(device, options)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("no_such_example", Options()),
        ("matmul_single_core", Options(grid="2x2")),
        ("add_integers", Options(shape="99999")),
        ("stencil_halo", Options(shape="96x96", grid="2x2")),
        ("stencil_halo", Options(parameters={"iterations": 0})),
        ("reshard", Options(parameters={"source": "diagonal"})),
        ("ring_all_gather", Options(grid="1x1")),
        ("matmul_multi_core", Options(shape="32x32x32", grid="2x2")),
    ],
)
def test_impossible_runs_are_refused(device, name, options):
    with pytest.raises(UsageError):
        find_program(name).run_on(device, options)


# --- helpers


def result(expected, actual, tolerance=0.01):
    return ExampleResult(np.array(expected), np.array(actual), tolerance, 0, 0, "")


def test_result_verification():
    assert result([1.0, 2.0], [1.0, 2.0], 0.0).verified
    assert result([1.0, 2.0], [1.001, 2.0]).verified
    assert not result([1.0, 2.0], [1.1, 2.0]).verified
    assert not result([1.0, 2.0], [np.nan, 2.0]).verified
    assert not result([1.0, 2.0], [1.0]).verified
    assert result([1.0, 2.0, 3.0], [2.0, 4.0, 6.0]).pcc == pytest.approx(1.0)


def test_defaults_are_well_formed():
    for example in EXAMPLES.values():
        if example.shape is not None:
            assert len(parse_shape(example.shape, example.axes)) == len(example.axes)


def test_split_work_covers_everything_once():
    shares = split_work(10, 4)
    assert [count for _, count in shares] == [3, 3, 2, 2]
    assert [start for start, _ in shares] == [0, 3, 6, 8]


@pytest.mark.parametrize("count", [2, 6, 7, 64])
def test_reduction_tree_delivers_every_message(count):
    """Each core but the root sends once, at a level at which its parent receives."""
    for index in range(1, count):
        level = send_level(index)
        assert level == tree_levels(index, count) or index + (1 << tree_levels(index, count)) >= count
        assert level < tree_levels(index - (1 << level), count)
    assert sum(tree_levels(index, count) for index in range(count)) == count - 1


def test_snake_steps_to_neighbours():
    ring = snake((4, 3))
    steps = [abs(a.x - b.x) + abs(a.y - b.y) for a, b in zip(ring, ring[1:], strict=False)]
    assert set(steps) == {1} and len(ring) == 12


# --- as files


def test_an_example_runs_by_its_path_and_so_does_a_copy(tmp_path):
    import shutil
    from pathlib import Path

    import tensim as tt
    from tensim.running.runnable import find_program

    by_name = tt.run("add_integers")
    file = Path(find_program("add_integers").source_file())
    copy = Path(shutil.copy(file, tmp_path / "mine.py"))
    for program in (file, copy):
        result = tt.run(program)
        assert result.verified and result.cycles == by_name.cycles


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_file_of_an_example_has_what_its_entry_says(name):
    from tensim.running.runnable import find_program, of_file

    by_name = find_program(name)
    by_path = of_file(by_name.source_file())
    assert (by_path.axes, by_path.defaults) == (by_name.axes, by_name.defaults)
