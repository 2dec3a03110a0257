"""The builder, hooks, the timeline, and that every error says what to do.

Source: docs/hardware/runtime.md#binaries-and-submit and docs/hardware/runtime.md#hooks-timeline-recordings-and-command-line
and docs/hardware/runtime.md#errors.
"""

import inspect
import json

import numpy as np
import pytest

import tensim as tt
from tensim.runtime import BinaryBuilder, Tensor, hooks, submit, to_layout, wait
from tensim.runtime import errors as runtime_errors
from tensim.sim.cores.numerics.data_format import DataFormat
from tensim.sim.errors import TensimError, UsageError
from tests.runtime.programs import CORE, COUNT, DESC, DRAM, adder, combine, ideal, vector


@pytest.fixture
def device():
    with ideal() as system:
        yield system.open("sim://wormhole_b0")


@pytest.fixture
def pair(device):
    return [to_layout(Tensor.from_numpy(vector(seed)), DRAM, device) for seed in range(2)]


def built():
    binary = BinaryBuilder()
    program = binary.program("add")
    a, b = program.input("a", DESC, DRAM), program.input("b", DESC, DRAM)
    out = program.output("out", DESC, DRAM)
    for index in range(3):
        program.circular_buffer(CORE, index, total_size=4 * COUNT, page_size=4 * COUNT, data_format=DataFormat.UInt32)
    program.kernel(combine, CORE, tt.ReaderDataMovementConfig(), [a, b, out, COUNT, 0, 1])
    program.host(np.add, cost_ns=10)
    return binary.build()


def test_a_program_of_kernels_over_named_tensors(device, pair):
    binary = built()
    done = submit(device, binary, "add", pair)
    again = submit(device, binary, "add", [pair[1], done.outputs[0]])  # the built program over other buffers
    np.testing.assert_array_equal(again.outputs[0].numpy(), vector(0) + 2 * vector(1))
    on_host = submit(
        device.system.open("host://local"), binary, "add", [Tensor.from_numpy(vector(s)) for s in range(2)]
    )
    np.testing.assert_array_equal(on_host.outputs[0].numpy(), vector(0) + vector(1))


def test_what_the_builder_refuses():
    program = BinaryBuilder().program("p")
    program.input("x", DESC, DRAM)
    with pytest.raises(UsageError, match="already"):
        program.output("x", DESC, DRAM)
    stranger = BinaryBuilder().program("q").input("y", DESC, DRAM)
    with pytest.raises(UsageError, match="y is not a tensor of program p"):
        program.kernel(combine, CORE, tt.ReaderDataMovementConfig(), [stranger])


def test_hooks_see_commands_and_may_change_tensors(device, pair):
    seen = []

    def before(info, inputs, outputs):
        inputs[0].poke(np.zeros(4 * COUNT, np.uint8))

    with hooks(
        device.system,
        pre_command=lambda kind, label: seen.append(("pre", kind, label)),
        post_command=lambda kind, label, event: seen.append(("post", kind, event.label)),
        pre_program=before,
    ):
        now = device.system.host_ns
        done = submit(device, adder(), 0, pair)
        assert device.system.host_ns == now
    assert seen == [("pre", "program", "add"), ("post", "program", "add")]
    np.testing.assert_array_equal(done.outputs[0].numpy(), vector(1))  # the input was read as what the hook made of it
    assert len(seen) == 2, "behind the block there are no hooks"


def test_the_timeline_as_a_chrome_trace(device, pair, tmp_path):
    system = device.system
    with system.scope("warm-up"):
        done = submit(device, adder(), 0, pair)
    wait(done)
    spans = system.timeline()
    assert [span.kind for span in spans] == ["upload", "upload", "program"]
    assert spans[-1].scope == "warm-up" and spans[0].scope == ""
    assert spans[-1].end - spans[-1].start > 0
    spans.to_chrome_trace(tmp_path / "t.json")
    trace = json.loads((tmp_path / "t.json").read_text())
    names = [event["name"] for event in trace["traceEvents"] if event["ph"] == "X"]
    assert names == ["upload tensor1", "upload tensor3", "add"]


def test_every_raise_of_the_runtime_says_what_to_do():
    """Each class of docs/hardware/runtime.md#errors exists, and is a tensim error that can carry a hint."""
    listed = """SpecSyntax DeviceNotFound DeviceConfigConflict UnresolvedPromise NoVariant NoRoute BadQueueMask AffinityConflict
        LayoutMismatch LayoutUnsupported OutOfDeviceMemory UseAfterFree UseAfterDonate RetainedTensor PrivateProgram
        EmbeddedTransfer RaceDetected Deadlock WaitTimeout CommandFailed UnknownCounter TraceStale ReplayMismatch
        BinaryIncompatible""".split()
    for name in listed:
        cls = getattr(runtime_errors, name)
        assert inspect.isclass(cls) and issubclass(cls, TensimError) and cls.kind != "error"
