"""Rows of traced programs that tt-metal's own dispatch kernels run: which programs they are, and their time from launches."""

import json
import sys

import pytest

from tensim.sim.errors import TensimError
from tensim.validation.firmware import rows as firmware
from tensim.validation.firmware.rounds import FIRST, PRODUCTS, ROUNDS, launches
from tensim.validation.firmware.traced_products import FIELDS, per_run
from tensim.validation.gemm.blocks import SIZES
from tensim.validation.library_process import output_of
from tensim.validation.rows import Row, Skip

HEADER = ("arch", "configuration", "kernel_or_payload_bytes", "repetition", "time_per_program_ns")


def file_of(*lines):
    rows = []
    rows += (Row(f"d.csv:{n}", n + 1, dict(zip(HEADER, line, strict=True)), rows) for n, line in enumerate(lines, 1))
    return rows


def line(configuration="brisc_only_trace", size=256, arch="blackhole", repetition=0):
    return arch, configuration, str(size), str(repetition), "1290"


def test_shapes_of_a_chip_share_processes_of_the_library():
    sizes = [256 * (1 + n) for n in range(firmware.BATCH + 1)]
    skipped = line(arch="grayskull"), line("eth_dispatch"), line(size="many")
    some = file_of(*(line(size=size) for size in sizes), line(arch="wormhole_b0"), line(repetition=1), *skipped)
    cases = [firmware.read(row, "programs") for row in some[: -len(skipped)]]
    assert len({case.spec for case in cases}) == 3  # two batches of one chip, another chip
    assert cases[0].spec == cases[-1].spec and cases[0].group == "blackhole/one core"
    shapes = [json.loads(one) for one in cases[0].spec[-1]]
    assert [one["text_bytes"] for one in shapes] == sizes[:-1] and shapes[0]["processors"] == ["brisc"]
    results = [float(n) for n in range(firmware.BATCH)]
    assert [case.value(results) for case in cases[: firmware.BATCH]] == results
    assert cases[-1].value(results) == 0.0  # the repetition of the first


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"configuration": "eth_dispatch"}, "eth"),
        ({"configuration": "brisc_only_no_trace"}, "host"),
        ({"arch": "grayskull"}, "grayskull"),
    ],
)
def test_rows_that_name_no_traced_program_are_left_out(changed, why):
    with pytest.raises(Skip, match=why):
        firmware.read(file_of(line(**changed))[0], "programs")


def test_times_are_those_between_rounds_of_each_shape():
    """A shape of one program every 100 cycles, then one of a long program and three short ones every 900."""
    plain, shadow = {"fast": 0}, {"fast": 3}
    assert [launches(one) for one in (plain, shadow)] == [(1, 1), (2, 4)]
    begun = [0, *(50_000 + 100 * n for n in range(ROUNDS))]
    begun += [90_000, 91_000]
    begun += [100_000 + 900 * n + within for n in range(ROUNDS) for within in (0, 600, 700, 800)]
    assert firmware.times([plain, shadow], begun) == [100.0, 900.0] and FIRST < ROUNDS - 1
    with pytest.raises(TensimError, match="were expected"):
        firmware.times([plain, shadow], begun[:-30])


@pytest.mark.parametrize(
    ("said", "why"),
    [("x\nerror: no chip\n  hint: y", "with 3: no chip$"), ("a\nb\ntensim: no device", "with 3: b$"), ("", "nothing")],
)
def test_a_library_that_fails_is_told_by_its_error(said, why):
    with pytest.raises(TensimError, match=why):
        output_of([sys.executable, "-c", f"import sys; sys.stderr.write({said!r}); sys.exit(3)"])
    assert output_of([sys.executable, "-c", "print('done')"]) == "done\n"


PRODUCT = {
    "report_generation": "2026-07", "chip": "P150", "config_mode": "manual", "M": "640", "K": "704", "N": "704", "grid_x": "11",
    "grid_y": "10", "dtype": "BFLOAT8_B", "math_fidelity": "LoFi", "use_trace": "True", "in0_sharded": "True",
    "out_sharded": "True", "in0_memory": "L1", "in1_memory": "DRAM", "out_memory": "L1", "in0_block_w_tiles": "2",
    "per_core_M_tiles": "2", "per_core_N_tiles": "2", "out_block_h_tiles": "2", "out_block_w_tiles": "2",
    "out_subblock_h_tiles": "1", "out_subblock_w_tiles": "2", "inference_time_avg_ns": "10864.73",
    "derived_trisc1_kernel_cycles": "12941",
}  # fmt: skip


def product(**changed):
    return firmware.read(Row("g.csv:1", 2, PRODUCT | changed), "products")


def test_a_product_is_what_its_row_states():
    stated = product().spec[1]
    assert (stated.board, stated.grid, stated.shape) == ("p150", (11, 10), (640, 704, 704))
    assert dict(stated.blocks) == {name: 2 for name in SIZES} | {"subblock_h": 1} and FIELDS.keys() == set(SIZES)
    plain = {name: "" for name in PRODUCT if name.endswith("_tiles") or name.endswith("_sharded")}
    chosen = product(config_mode="out_of_box", in0_memory="DRAM", out_memory="DRAM", **plain)
    assert chosen.spec[1].blocks == () and chosen.group == "blackhole/out_of_box/products"
    assert chosen.measured == 10864.73


@pytest.mark.parametrize(("changed", "why"), [({"use_trace": "False"}, "host"), ({"K": "7040"}, "minutes")])
def test_products_without_a_trace_and_long_ones_are_left_out(changed, why):
    with pytest.raises(Skip, match=why):
        product(**changed)


def test_the_time_of_a_product_is_that_between_runs_of_its_trace():
    starts = [0, *(50_000 + 100 * n for n in range(PRODUCTS))]
    assert per_run(starts) == 100.0
    with pytest.raises(TensimError, match=f"{PRODUCTS} launches, {PRODUCTS + 1} were expected"):
        per_run(starts[1:])
