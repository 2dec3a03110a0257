"""Binaries saved to files and loaded again: docs/hardware/runtime.md#binaries-and-submit, part of T36."""

import dataclasses
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tensim as tt
from tensim.kernel_api import *  # noqa: F403
from tensim.running.fuzz import Tables
from tensim.runtime import (
    Affinity,
    Binary,
    DType,
    Layout,
    MemSpace,
    Optimal,
    ProgramInfo,
    Promise,
    Sharded,
    System,
    Tensor,
    TensorDesc,
    TensorInfo,
    Variant,
    host_function,
    replay,
    submit,
    to_layout,
)
from tensim.runtime.binary_files import schema_hash
from tensim.runtime.errors import NoVariant, ReplayMismatch
from tensim.sim.errors import BinaryError, UsageError
from tensim.traces.light_metal.verify import problems_of
from tensim.traces.light_metal.write import sealed
from tests.runtime.programs import (
    CORE,
    DESC,
    DRAM,
    adder,
    build,
    ideal,
    info,
    pair_program,
    set_buffers,
    subtracter,
    vector,
)

# ruff: noqa: F405
ROOT = Path(__file__).parents[2]
CHIP_ONLY = (Variant("sim", build(False, 700)),)
REBINDING = (Variant("sim", build(True, 300), set_buffers(True, 300)),)

host_function("test_binary_files.add")(np.add)


def both():
    """Two programs of kernels: one built anew for other buffers, one bound to them."""
    return Binary([pair_program("add", variants=CHIP_ONLY), pair_program("sub", variants=REBINDING)])


def result(binary):
    """Values and simulated times of a run that uses every program twice."""
    with System() as system:
        device = system.open("sim://wormhole_b0")
        x, y = (to_layout(Tensor.from_numpy(vector(seed)), DRAM, device) for seed in range(2))
        for _ in range(2):
            z = submit(device, binary, "add", [x, y]).outputs[0]
            x = submit(device, binary, "sub", [z, y]).outputs[0]
            y = submit(device, binary, "sub", [z, x]).outputs[0]
        values = [tensor.numpy().tolist() for tensor in (x, y, z)]
        return {"values": values, "spans": [list(span.key()) for span in system.spans]}


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("binary") / "both.bin"
    both().save(path)
    return path


def test_a_fresh_process_gets_the_same_bits_and_times(saved):
    code = (
        "import json, sys; import tests.runtime.test_binary_files as t; "
        "print(json.dumps(t.result(t.Binary.load(sys.argv[1]))))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(saved)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) == json.loads(json.dumps(result(both())))


def test_a_file_is_a_light_metal_file(saved):
    assert problems_of(saved.read_bytes()) == []
    loaded = Binary.load(saved.read_bytes())
    assert loaded.schema_hash == both().schema_hash == schema_hash() and len(schema_hash()) == 64
    with pytest.raises(ReplayMismatch, match="holds no timeline"):
        replay(saved)


def face(binary):
    """What a binary says of its programs, without what runs them."""
    programs = [dataclasses.replace(p, variants=(), goldens={}) for p in binary.programs]
    goldens = [{name: (v.dtype, v.tolist()) for name, v in p.goldens.items()} for p in binary.programs]
    return programs, goldens, binary.version, binary.build_id, binary.system_desc


def test_everything_said_of_programs_is_kept(tmp_path):
    grid = tt.CoreRange(tt.CoreCoord(0, 0), tt.CoreCoord(1, 1))
    sharded = Layout(
        MemSpace.L1, tiling="tile", distribution=Sharded("height", grid, (32, 64), axes=("a", "b")), oob="one"
    )
    desc = TensorDesc((100, 64), DType.BF16, (64, 1))
    place = Optimal((Promise("gpu", [1]), Promise("npu")), "least_loaded")
    inputs = (
        TensorInfo("x", desc, sharded, place, const=True),
        TensorInfo("y", DESC, dataclasses.replace(DRAM, dtype=DType.F32), Promise("gpu"), aliases_output=0),
    )
    goldens = {"x": np.arange(6.0).reshape(2, 3).astype(DType.BF16.numpy), "y": vector(0)}
    host = Variant("host", function=np.add, cost_ns=12.5)
    program = ProgramInfo("p", inputs, (info("z"),), (host,), True, (2, 4), Promise("npu"), goldens)
    binary = Binary([program], build_id="build 7", system_desc={"chips": ["wormhole_b0"]})
    binary.save(tmp_path / "b")
    loaded = Binary.load(str(tmp_path / "b"))
    assert face(loaded) == face(binary) and loaded.devices == ("npu", "gpu")
    assert loaded.programs[0].variants == (host,)


def test_an_index_equal_to_the_count_raises(saved):  # T36
    loaded = Binary.load(saved)
    assert loaded.index(1) == 1
    with pytest.raises(UsageError, match="no program 2") as refused:
        loaded.index(2)
    assert refused.value.where["programs"] == ["add", "sub"]
    with pytest.raises(UsageError, match="has 2 inputs, no input 2"):
        loaded.layout(0, 2)


def test_architectures(tmp_path):
    adder(variants=CHIP_ONLY).save(tmp_path / "b", architectures=("wormhole_b0", "blackhole"))
    loaded = Binary.load(tmp_path / "b")
    assert [v.target for v in loaded.programs[0].variants] == ["sim://wormhole_b0", "sim://blackhole"]
    for arch in ("wormhole_b0", "blackhole"):
        with ideal(arch) as system:
            device = system.open(f"sim://{arch}")
            x, y = (to_layout(Tensor.from_numpy(vector(seed)), DRAM, device) for seed in range(2))
            np.testing.assert_array_equal(submit(device, loaded, 0, [x, y]).outputs[0].numpy(), vector(0) + vector(1))
    with ideal("grayskull") as system, pytest.raises(NoVariant, match="sim://wormhole_b0, sim://blackhole"):
        loaded.bind(system.open("sim://grayskull"))


# --- what a file cannot hold


def refuse(tmp_path, message, program):
    with pytest.raises(UsageError, match=message):
        Binary([program]).save(tmp_path / "b")
    assert not (tmp_path / "b").exists()


def raw_address(device, inputs, outputs):
    program = build(False)(device, inputs, outputs)
    tt.set_runtime_args(program, 0, CORE, [int(inputs[0].address), inputs[1], outputs[0], 64, 0, 1])
    return program


def with_semaphore(device, inputs, outputs):
    tt.create_global_semaphore(device, CORE, 0)
    return build(False)(device, inputs, outputs)


def test_what_is_refused(tmp_path):
    nameless = Variant("host", function=lambda a, b: a, cost_ns=1)
    refuse(tmp_path, "the numpy function of program add has no name", pair_program(variants=(nameless,)))
    computed = Variant("host", function=np.add, cost_ns=lambda a, b: 1)
    refuse(tmp_path, "computes its cost", pair_program(variants=(computed,)))
    refuse(tmp_path, "a buffer's address as a plain number", pair_program(variants=(Variant("sim", raw_address),)))
    refuse(tmp_path, "does CreateGlobalSemaphore", pair_program(variants=(Variant("sim", with_semaphore),)))
    refuse(tmp_path, "placed by a device", pair_program(variants=CHIP_ONLY, placement=Affinity("chip")))


def test_a_function_that_is_not_here(tmp_path):
    host_function("test_binary_files.elsewhere")(passing := lambda a, b: a)
    Binary([pair_program(variants=(Variant("host", function=passing, cost_ns=1),))]).save(tmp_path / "b")
    data = (tmp_path / "b").read_bytes().replace(b"test_binary_files.elsewhere", b"test_binary_files.somewhere")
    with pytest.raises(UsageError, match="'test_binary_files.somewhere' is not registered"):
        Binary.load(bytes(sealed(data)))


def test_a_changed_file_is_refused(saved):
    data = bytearray(saved.read_bytes())
    data[len(data) // 2] ^= 0xFF
    with pytest.raises(BinaryError):
        Binary.load(bytes(data))


def test_descriptions_that_cannot_be(tmp_path):
    subtracter(variants=REBINDING).save(tmp_path / "b")
    data = (tmp_path / "b").read_bytes()
    for old, new in ((b"u32\0", b"u33\0"), (b'"tiling": "row"', b'"tiling": "raw"'), (b'{"space"', b'{"spice"')):
        assert old in data
        with pytest.raises((BinaryError, UsageError)):
            Binary.load(bytes(sealed(data.replace(old, new))))


@pytest.mark.parametrize("field, made", [("build", "0 programs, not 1"), ("rebind", "1 programs, not 0")])
def test_commands_that_make_other_than_a_program(saved, field, made):
    tables = Tables(saved.read_bytes())
    (variant,) = (node for node in tables.nodes if node.fields.get("rebind") is not None)
    build, rebind = variant.fields["build"], variant.fields["rebind"]
    changed, other = (build, rebind) if field == "build" else (rebind, build)
    changed.fields |= {name: other.fields[name] for name in ("first", "count")}
    with pytest.raises(BinaryError, match=f"make {made}"):
        Binary.load(bytes(tables.written()))


def test_a_recording_is_no_binary(tmp_path):
    with ideal() as system:
        with system.record(tmp_path / "r"):
            system.open("sim://wormhole_b0")
        with pytest.raises(BinaryError, match="no binary"):
            Binary.load(tmp_path / "r")


@kernel
def fill_tensor():
    target = InterleavedAddrGen(get_compile_time_arg_val(0), page_size=256, dram=True)
    words = l1_ptr(get_write_ptr(0), uint32)
    for i in range(64):
        words[i] = 7
    noc_async_write_page(0, target, get_write_ptr(0))
    noc_async_write_barrier()


def fill_by_compile_time_argument(device, inputs, outputs):
    program = tt.create_program()
    config = tt.CircularBufferConfig(256, {0: tt.DataFormat.UInt32}).set_page_size(0, 256)
    tt.create_circular_buffer(program, CORE, config)
    tt.create_kernel(program, fill_tensor, CORE, tt.WriterDataMovementConfig(compile_args=[outputs[0].address]))
    return program


def test_compile_time_arguments_have_the_addresses_of_the_tensors_at_hand(tmp_path):
    binary = Binary([ProgramInfo("fill", (), (info("out"),), (Variant("sim", fill_by_compile_time_argument),))])
    binary.save(tmp_path / "fill.bin")
    with System() as system:
        device = system.open("sim://wormhole_b0")
        others = [to_layout(Tensor.from_numpy(vector(i)), DRAM, device) for i in range(3)]
        out = submit(device, Binary.load(tmp_path / "fill.bin"), "fill", []).outputs[0]
        assert (out.numpy().ravel()[:64] == 7).all()
        assert all(np.array_equal(one.numpy(), vector(i)) for i, one in enumerate(others))
