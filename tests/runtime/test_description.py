"""What a system says of itself, and whether binaries fit it (docs/hardware/runtime.md#binaries-and-submit, T36)."""

import copy
import dataclasses
import json

import pytest

import tensim as tt
from tensim.runtime import (
    Binary,
    BinaryBuilder,
    DType,
    Layout,
    MemSpace,
    Promise,
    Sharded,
    System,
    TensorDesc,
    Variant,
    check,
    describe,
)
from tensim.runtime.description import describe_declared
from tensim.runtime.errors import BinaryIncompatible
from tensim.sim.arch.loader import load_arch
from tensim.sim.errors import UsageError
from tensim.types import DataFormat
from tests.runtime.programs import COUNT, DESC, DRAM, adder, combine, info, pair_program

CHIP_ONLY = (Variant("sim", build=lambda device, inputs, outputs: None),)


@pytest.fixture(scope="module")
def wormhole():
    with System("wormhole_b0") as system:
        yield describe(system)


def chip_program(**settings):
    return Binary([pair_program("add", variants=CHIP_ONLY, **settings)])


def problem(report):
    (only,) = report.problems
    return only["program"], only["field"], only["expected"], only["found"]


# --- descriptions


def test_a_description_is_plain_data_and_opens_nothing():
    with System("n300,blackhole") as system:
        described = system.describe()
        assert system.open_devices() == [] and json.loads(json.dumps(described)) == described
    assert [chip["arch"] for chip in described["chips"]] == ["wormhole_b0", "wormhole_b0", "blackhole"]
    assert [chip["remote_of"] for chip in described["chips"]] == [None, 0, None]
    arch, chip = load_arch("blackhole"), described["chips"][2]
    assert chip["grid"] == list(arch.grid) and chip["l1_bytes"] == arch["l1.size"]
    assert (chip["dram_channels"], chip["dram_channel_bytes"]) == (arch["dram.banks"], arch["dram.bank_bytes"])
    assert chip["alignments"]["dram_page"] == arch["alignment.dram_page"] and chip["clock_mhz"] == arch.clock_mhz
    assert chip["circular_buffers"] == 32 and "bfp8" in chip["dtypes"] and [32, 32] in chip["tile_shapes"]
    ends = {(link["src"], link["dst"], link["kind"]) for link in described["links"]}
    assert ends == {
        ("host", "chip0", "pcie"), ("chip0", "host", "pcie"), ("chip0", "chip1", "eth"), ("chip1", "chip0", "eth"),
        ("host", "chip2", "pcie"), ("chip2", "host", "pcie"),
    }  # fmt: skip
    assert described["capabilities"] == {"host_mmio": True, "ethernet": True, "schemes": ["sim", "host", "embedded"]}


def test_a_device_is_the_part_of_the_system_that_it_is():
    with System("n300") as system:
        device = system.open("sim://wormhole_b0[1]?cqs=2&clock_mhz=500")
        described = describe(device)
        assert [chip["place"] for chip in described["chips"]] == ["chip1"] and described["links"] == []
        assert described["chips"][0]["clock_mhz"] == 500 and described["chips"][0]["queues"] == 2
        assert described["capabilities"]["schemes"] == ["sim"]
        assert describe(system.open("local"))["chips"] == []
        info0 = system.list_devices()[0]
        declared = describe_declared(system, info0)
        assert declared == describe(system.open(info0.spec))


# --- compatible: what the programs use


def test_a_program_for_any_chip_fits_every_chip():
    for boards in ("grayskull", "wormhole_b0", "blackhole"):
        with System(boards) as system:
            assert adder().check(system).ok and chip_program().check(system.open(f"sim://{boards}"))


def test_a_wrong_architecture_fails_both(wormhole):  # T36
    binary = Binary([pair_program("add", variants=(dataclasses.replace(CHIP_ONLY[0], target="sim://blackhole"),))])
    for mode in ("compatible", "exact"):
        report = check(binary, wormhole, mode)
        assert not report.ok and report.problems[0]["field"] == "arch"
        with pytest.raises(BinaryIncompatible, match="arch: expected .'blackhole'., found .'wormhole_b0'.") as refused:
            report.require()
        assert refused.value.where["problems"][0]["found"] == ["wormhole_b0"] and refused.value.hint


def test_a_binary_made_for_another_architecture_fails_both(wormhole):  # T36
    made_for = copy.deepcopy(wormhole)
    made_for["chips"][0]["arch"] = "blackhole"
    binary = Binary(chip_program().programs, system_desc=made_for)
    assert problem(check(binary, wormhole)) == (None, "arch", ["blackhole"], ["wormhole_b0"])
    report = check(binary, wormhole, "exact")
    assert '-      "arch": "blackhole",' in report.diff and '+      "arch": "wormhole_b0",' in report.diff


@pytest.mark.parametrize("side", ["binary", "target"])
@pytest.mark.parametrize("field", ["links", "clock_mhz", "grid", "queues", "dtypes", "alignments"])
def test_a_missing_field_passes_compatible_and_fails_exact(wormhole, side, field):  # T36
    less = copy.deepcopy(wormhole)
    del (less if field == "links" else less["chips"][0])[field]
    made_for, target = (less, wormhole) if side == "binary" else (wormhole, less)
    binary = Binary(chip_program().programs, system_desc=made_for)
    assert check(binary, target).ok
    report = check(binary, target, "exact")
    assert problem(report)[1] == "system_desc" and f'"{field}"' in report.diff
    with pytest.raises(BinaryIncompatible, match=field):
        report.require()


def test_an_equal_description_is_exact(wormhole):
    report = check(Binary(chip_program().programs, system_desc=wormhole), copy.deepcopy(wormhole), "exact")
    assert report.ok and report.diff == "" and report.require() is None


def test_a_binary_without_a_description_is_never_exact(wormhole):
    assert problem(check(chip_program(), wormhole, "exact"))[1] == "system_desc"


def test_the_host_runs_numpy_variants_only():
    with System() as system:
        host, chip = system.open("local"), system.open("sim://wormhole_b0")
        functional = Binary([pair_program("add", variants=(Variant("host", function=lambda a, b: a + b),))])
        assert functional.check(host).ok and not chip_program().check(host).ok
        assert problem(functional.check(chip)) == ("add", "variants", ["host"], ["sim"])


def test_what_a_tensor_needs_of_the_memory():
    grid = tt.CoreRange(tt.CoreCoord(0, 0), tt.CoreCoord(9, 0))
    sharded = Layout(MemSpace.L1, distribution=Sharded("height", grid, (2, 64)))
    small = TensorDesc((20, 64), DType.U32)
    large = TensorDesc((64, 1 << 20), DType.U32)
    with System("wormhole_b0") as wormhole, System("blackhole") as blackhole:
        wide = chip_program(inputs=(info("a", small, sharded), info("b")))
        assert wide.check(blackhole).ok
        assert problem(wide.check(wormhole)) == ("add", "a.grid", [10, 1], [8, 8])
        full = chip_program(inputs=(info("a", large, Layout(MemSpace.L1)), info("b")))
        room = load_arch("wormhole_b0").l1_size - load_arch("wormhole_b0").l1_user_base
        assert problem(full.check(wormhole)) == ("add", "a.bytes_per_bank", 4 << 20, room)


def test_what_a_description_leaves_out_can_be_too_little(wormhole):
    less = copy.deepcopy(wormhole)
    less["chips"][0] |= {"dtypes": ["bf16"], "tile_shapes": [[32, 32]], "queues": 1}
    tiled = dataclasses.replace(DRAM, tiling="tile", tile=(16, 32))
    inputs = (info("a", layout=tiled), info("b", placement=Promise("gpu", [1])))
    fields = {problem["field"] for problem in check(chip_program(inputs=inputs), less).problems}
    assert fields == {"a.dtype", "a.tile", "b.dtype", "out.dtype", "queues"}


def test_a_mesh_program_needs_a_mesh():
    binary = chip_program(mesh_shape=(1, 2))
    with System("wormhole_b0") as single, System("n300") as pair:
        assert problem(binary.check(single)) == ("add", "mesh_shape", [1, 2], [1, 1])
        assert binary.check(pair).ok


def test_bad_questions_are_refused(wormhole):
    with pytest.raises(UsageError, match="mode is 'roughly'"):
        check(adder(), wormhole, "roughly")
    with pytest.raises(UsageError, match="cannot be checked against str"):
        check(adder(), "n300")


def test_the_clock_of_a_spec_is_the_clock_of_the_chip():
    with System() as system:
        assert system.open("sim://wormhole_b0?clock_mhz=500").chip.arch.clock_mhz == 500


# --- what the kernels of a program use


def placed(core=(0, 0), room=4096):
    """A copying program whose kernel and circular buffer are on one core."""
    builder, core = BinaryBuilder(), tt.CoreCoord(*core)
    program = builder.program("add")
    tensors = [program.input("a", DESC, DRAM), program.input("b", DESC, DRAM), program.output("out", DESC, DRAM)]
    program.circular_buffer(core, 0, total_size=room, page_size=256, data_format=DataFormat.UInt32)
    program.kernel(combine, core, tt.ReaderDataMovementConfig(), [*tensors, COUNT, 0, 1])
    return builder.build()


USES = {"cores": (placed(core=(9, 9)), [10, 10], [8, 8]), "circular_buffers": (placed(room=4 << 20), 4 << 20, None)}


@pytest.mark.parametrize("how", ["in memory", "from a file"])
@pytest.mark.parametrize("target", ["device", "description"])
@pytest.mark.parametrize("field", USES)
def test_kernels_and_circular_buffers_must_fit(tmp_path, wormhole, field, target, how):
    binary, expected, found = USES[field]
    if how == "from a file":
        binary.save(tmp_path / "bad.bin")
        binary = Binary.load(tmp_path / "bad.bin")
    with System("wormhole_b0") as system:
        report = binary.check(system.open("sim://wormhole_b0") if target == "device" else wormhole)
    room = wormhole["chips"][0]["l1_bytes"] - wormhole["chips"][0]["l1_user_base"]
    assert problem(report) == ("add", field, expected, found or room)


def test_a_chip_with_more_cores_has_room(tmp_path):
    with System("blackhole") as system:
        assert placed(core=(9, 9)).check(system).ok


def test_a_program_that_cannot_be_built_says_why(wormhole):
    def broken(device, inputs, outputs):
        raise UsageError("no kernel for this chip")

    binary = Binary([pair_program("add", variants=(Variant("sim", build=broken),))])
    assert problem(binary.check(wormhole)) == (
        "add",
        "kernels",
        "a program that can be built",
        "no kernel for this chip",
    )
