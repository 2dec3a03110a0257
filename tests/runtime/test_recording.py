"""Recordings and replays: I17 and T37 of docs/hardware/runtime.md#invariants and docs/hardware/runtime.md#functional-tests."""

import numpy as np
import pytest

from tensim.running.replay import LightMetalReplay
from tensim.runtime import (
    Binary,
    Event,
    Layout,
    MemSpace,
    ProgramInfo,
    System,
    SystemConfig,
    Tensor,
    Variant,
    host_function,
    replay,
    submit,
    to_layout,
    wait,
)
from tensim.runtime.errors import CommandFailed, ReplayMismatch
from tensim.runtime.meshes import Replicate, distribute
from tensim.runtime.transfers import transfer
from tensim.sim.errors import BinaryError, UsageError
from tensim.sim.host.topology import HOST, Link
from tensim.traces.light_metal.verify import open_verified
from tests.runtime.programs import COUNT, DESC, DRAM, adder, build, ideal, info, pair_program, subtracter, vector

US = 1000
N = 8


@host_function("test_recording.pass_on")
def pass_on(x):
    return x


def keys(spans):
    return [(*span.key(), span.deps, span.scope) for span in spans]


def recorded(system, path, body):
    """(spans, bytes of all reads) of a body whose commands are recorded."""
    reads = []

    def read(record, result):
        if type(record).__name__ == "ReadBuffer":
            reads.append(result)

    with system.record(path):
        system.executor.observers.append(read)
        first = len(system.spans)
        body()
    system.executor.observers.remove(read)
    return keys(system.spans[first:]), [bytes(item.result) for item in reads]


def check_replay(path, live):
    """I17: the same timeline, the same bytes; with the plain replay of Light Metal, too."""
    spans, reads = live
    again = replay(path)
    assert keys(again.timeline()) == spans
    assert [bytes(data) for data in again.reads] == reads
    plain = LightMetalReplay(path)
    assert plain.run(), plain.error
    assert [bytes(item.result) for item in plain.reads] == reads


# --- I17


def stitch(device):
    x, y, z = (to_layout(Tensor.from_numpy(vector(seed)), DRAM, device) for seed in range(3))
    first = submit(device, adder(cycles=500), "add", [x, y])
    second = submit(device, subtracter(cycles=100), "sub", [first.outputs[0], z])
    np.testing.assert_array_equal(second.outputs[0].numpy(), vector(0) + vector(1) - vector(2))


@pytest.mark.parametrize("ideal_host", [True, False])
def test_stitched_binaries(tmp_path, ideal_host):  # I17
    with System(SystemConfig(ideal=ideal_host)) as system:
        device = system.open("sim://wormhole_b0")
        live = recorded(system, tmp_path / "t5.bin", lambda: stitch(device))
    assert len(live[0]) > 5 and len(live[1]) == 1
    check_replay(tmp_path / "t5.bin", live)


def overlap(system, device):
    """G5: queue 1 writes, then reads back; queue 0 runs; two inputs, two outputs."""
    program = adder(cycles=20000)
    hosts = [Tensor.from_numpy(vector(seed)) for seed in range(N)]
    inputs = [Tensor.empty(DESC, DRAM, device) for _ in range(2)]
    outputs = [Tensor.empty(DESC, DRAM, device) for _ in range(2)]

    def write(n):
        system.timeline_host.compute(4 * US)
        device.write(inputs[n % 2], hosts[n].storage.data.tobytes(), queue=2)

    write(0)
    for n in range(N):
        submit(device, program, 0, [inputs[n % 2]] * 2, outputs=[outputs[n % 2]], queue=1)
        if n + 1 < N:
            write(n + 1)
        outputs[n % 2].to_host(queue=2)


def test_a_pipeline_with_two_outputs(tmp_path):  # I17, G5
    with ideal(overrides={"pcie.write_latency_ns": 3000.0}) as system:
        device = system.open("sim://wormhole_b0")
        live = recorded(system, tmp_path / "g5.bin", lambda: overlap(system, device))
    assert [span[0] for span in live[0]].count("program") == N
    values = [np.frombuffer(data, np.uint32)[:COUNT] for data in live[1]]
    assert all(np.array_equal(got, 2 * vector(n)) for n, got in enumerate(values))
    check_replay(tmp_path / "g5.bin", live)


def two_chips():
    """Two chips, PCIe to each, ethernet between them of 25 us for a vector."""
    ends = [(HOST, "chip0", 20), (HOST, "chip1", 30), ("chip0", "chip1", 25)]
    links = []
    for one, other, us in ends:
        kind = "pcie" if HOST in (one, other) else "eth"
        links += [Link(*pair, kind, DESC.nbytes / (us * US), 0.0) for pair in ((one, other), (other, one))]
    chips = SystemConfig.named("wormhole_b0,wormhole_b0").chips
    return System(SystemConfig(chips, ideal=True, links=tuple(links)))


def stage(name, us):
    """A program that is known by its time."""
    variant = Variant("host", function=pass_on, cost_ns=us * US)
    return Binary([ProgramInfo(name, (info("x"),), (info("y"),), (variant,))])


def chain(system, chips):
    """G7: stage A of 100 us on one chip, a transfer of 25 us, stage B of 80 us on the other."""
    first, second = stage("first", 100).bind(chips[0]), stage("second", 80).bind(chips[1])
    xs = [to_layout(Tensor.from_numpy(vector(n)), DRAM, chips[0]) for n in range(2)]
    mids = [Tensor.empty(DESC, DRAM, chips[0]) for _ in range(2)]
    system.drain()
    begun = system.host_ns
    for n in range(N):
        first.submit(0, [xs[n % 2]], outputs=[mids[n % 2]], queue=1)
        moved = transfer(mids[n % 2], chips[1], queue=2)
        last = second.submit(0, [moved], queue=1)
    system.drain()
    assert (system.host_ns - begun) / US == N * 100 + 25 + 80
    np.testing.assert_array_equal(last.outputs[0].numpy(), vector((N - 1) % 2))


def test_two_chips(tmp_path):  # I17, G7
    with two_chips() as system:
        chips = [system.open(f"sim://wormhole_b0[{n}]?cqs=2&timing=functional") for n in range(2)]
        live = recorded(system, tmp_path / "g7.bin", lambda: chain(system, chips))
    check_replay(tmp_path / "g7.bin", live)


def test_conversions_copies_fills_and_host_events(tmp_path):  # I17
    """All that a queue does besides programs, devices opened inside, scopes, events of the host, pokes."""
    values = np.arange(64 * 96, dtype=np.float32).reshape(64, 96)
    tiled = Layout(MemSpace.DRAM, tiling="tile")
    path = tmp_path / "all.bin"

    def body():
        device, host = system.open("sim://wormhole_b0?cqs=2"), system.open("host://local")
        with system.scope("convert"):
            x = to_layout(Tensor.from_numpy(values), DRAM, device)
            y = to_layout(x, tiled)
            np.testing.assert_array_equal(y.numpy(), values)
        with system.scope("rest"):
            z = Tensor.empty(y.desc, tiled, device)
            timeline = system.new_timeline()
            both = Event.all_of(device.queues[0].copy(z, y), timeline.at(1))
            w = Tensor.empty(x.desc, DRAM, device)
            after = device.queues[1].fill(w, 7, wait=[both])
            timeline.signal(1)
            assert not after.query()
            wait([after, both])
            z.poke(np.full(z.nbytes, 3, np.uint8))
            x.deallocate()
            for tensor in (z, w):
                tensor.to_host(untilize=False)
        submit(host, adder(), 0, [Tensor.from_numpy(vector(n)) for n in range(2)])

    with System() as system:
        live = recorded(system, path, body)
    check_replay(path, live)
    only = replay(path, scope="rest").timeline()
    assert {span.scope for span in only} == {"rest"} and {"copy", "fill"} <= {span.kind for span in only}
    with pytest.raises(ReplayMismatch, match="no scope 'other'"):
        replay(path, scope="other")


def test_a_mesh(tmp_path):  # I17
    with System("n300") as system:
        mesh = system.open("sim://wormhole_b0?mesh=1x2")

        def body():
            tensor = Tensor.from_numpy(vector(0))
            spread = distribute(tensor, mesh, [Replicate(), Replicate()])
            for part in spread.shards:
                np.testing.assert_array_equal(part.numpy(), vector(0))

        live = recorded(system, tmp_path / "mesh.bin", body)
    check_replay(tmp_path / "mesh.bin", live)


# --- T37


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """A recording of one program on each of two chips, independent of each other, and what it did."""
    path = tmp_path_factory.mktemp("pair") / "pair.bin"
    with ideal("wormhole_b0,wormhole_b0") as system:
        chips = [system.open(f"sim://wormhole_b0[{n}]") for n in range(2)]

        def body():
            tensors = [[to_layout(Tensor.from_numpy(vector(n)), DRAM, chip) for n in range(2)] for chip in chips]
            names = ("left", "right")
            done = [
                submit(chip, Binary([pair_program(name, cycles=1000)]), 0, inputs)
                for chip, name, inputs in zip(chips, names, tensors, strict=True)
            ]
            for item in done:
                item.outputs[0].to_host()

        live = recorded(system, path, body)
    return path, live


def test_a_slower_program_changes_only_its_spans(pair):  # T37
    path, (spans, reads) = pair
    slower = replay(path, substitute={"right": build(False, cycles=9000)})
    changed = [(a, b) for a, b in zip(spans, keys(slower.timeline()), strict=True) if a != b]
    (before, after), *behind = changed
    assert before[3] == after[3] == "right"
    assert (after[6] - after[5]) - (before[6] - before[5]) == pytest.approx(8000), "ns at 1 GHz"
    assert all(a[1] == "sim://wormhole_b0[1]" or a[0] == "barrier" or a[0] == "record_event" for a, _ in behind)
    assert all((a[6] - a[5]) == pytest.approx(b[6] - b[5]) for a, b in behind), "what waits for it only moves"
    assert [bytes(data) for data in slower.reads] == reads


def test_another_program_changes_the_values(pair):  # T37
    path, _ = pair
    again = replay(path, substitute={"right": Variant("sim", build(True, cycles=1000))})
    left, right = (np.frombuffer(data, np.uint32)[:COUNT] for data in again.reads)
    np.testing.assert_array_equal(left, vector(0) + vector(1))
    np.testing.assert_array_equal(right, vector(0) - vector(1))


def test_a_program_that_does_not_fit_is_refused(pair):  # T37
    path, _ = pair
    with pytest.raises(ReplayMismatch, match=r"needs sim://wormhole_b0\[1\]") as missing:
        replay(path, "wormhole_b0")
    assert missing.value.where["found"] == ["sim://wormhole_b0[0]"]
    with pytest.raises(ReplayMismatch, match="no program 'middle'") as unknown:
        replay(path, substitute={"middle": build(False)})
    assert unknown.value.where["found"] == ["left", "right"]
    with pytest.raises(ReplayMismatch, match=r"no device sim://blackhole\[0\]"):
        replay(path, remap={"sim://blackhole[0]": "sim://wormhole_b0[0]"})


def test_replays_on_other_devices(pair):  # T37
    path, (spans, reads) = pair
    other = SystemConfig.named("wormhole_b0,wormhole_b0,wormhole_b0", ideal=True)
    moved = replay(path, other, remap={"sim://wormhole_b0[1]": "sim://wormhole_b0[2]"})
    assert {span.device for span in moved.timeline()} == {"sim://wormhole_b0[0]", "sim://wormhole_b0[2]"}
    assert [bytes(data) for data in moved.reads] == reads
    assert [(span.start, span.end) for span in moved.timeline()] == [span[5:7] for span in spans]


def test_a_changed_time_is_a_mismatch(tmp_path):  # T37
    from tensim.runtime import recording

    class Late(recording.Recorder):
        def _span(self, span, host_work):
            node = super()._span(span, host_work)
            node.fields["end_fs"] += 1
            return node

    with ideal() as system, pytest.MonkeyPatch.context() as patch:
        patch.setattr(recording, "Recorder", Late)
        device = system.open("sim://wormhole_b0")
        recorded(system, tmp_path / "late.bin", lambda: stitch(device))
    with pytest.raises(ReplayMismatch, match="span 0, 'upload tensor1', was recorded from"):
        replay(tmp_path / "late.bin")


# --- refusals


def test_a_function_without_a_name_cannot_be_replayed(tmp_path):
    variant = Variant("host", function=lambda x: x + 1, cost_ns=10)
    binary = Binary([ProgramInfo("nameless", (info("x"),), (info("y"),), (variant,))])
    with ideal() as system:
        device = system.open("sim://wormhole_b0?timing=functional")
        with system.record(tmp_path / "f.bin"):
            submit(device, binary, 0, [Tensor.empty(DESC, DRAM, device)])
    with pytest.raises(UsageError, match="host function 'program nameless' is not registered") as refused:
        replay(tmp_path / "f.bin")
    assert '@host_function("program nameless")' in refused.value.hint


def test_memory_changed_within_a_command_is_refused(tmp_path):
    with ideal() as system:
        device = system.open("sim://wormhole_b0")
        with (
            pytest.raises(CommandFailed, match="which a recording cannot represent"),
            system.record(tmp_path / "f.bin"),
        ):
            x = Tensor.empty(DESC, DRAM, device)
            wait(device.queues[0].host_call(lambda _: x.poke(np.zeros(x.nbytes, np.uint8)), writes=[x]))
    assert not (tmp_path / "f.bin").exists()


def test_a_transfer_whose_source_was_closed():
    """A file may say so; whoever waits for the transfer learns why it failed."""
    with two_chips() as system:
        chips = [system.open(f"sim://wormhole_b0[{n}]") for n in range(2)]
        moved = transfer(Tensor.empty(DESC, DRAM, chips[0]), chips[1])
        chips[0].close(force=True)
        with pytest.raises(CommandFailed, match="device 0 was closed"):
            wait(moved)


def test_names_are_given_once():
    with pytest.raises(UsageError, match="a host function named 'test_recording.pass_on' already exists"):
        host_function("test_recording.pass_on")(np.add)


def test_a_recording_that_fails_leaves_no_file(tmp_path):
    with ideal() as system:
        with pytest.raises(ZeroDivisionError), system.record(tmp_path / "x"):
            raise ZeroDivisionError
        with system.record(tmp_path / "x"):
            with pytest.raises(UsageError, match="already in progress"), system.record(tmp_path / "y"):
                pass
            with pytest.raises(UsageError, match="supports one host process"):
                system.spawn(iter(()))
    assert (tmp_path / "x").exists() and not (tmp_path / "y").exists()


def test_a_span_that_points_nowhere(tmp_path, pair):
    from tensim.traces.flatbuffers.tables import Node

    path, _ = pair
    binary = open_verified(path.read_bytes())
    assert binary.reader.root("spans").spans[0].command < len(binary)

    from tensim.runtime import recording

    class Wrong(recording.Recorder):
        def _span(self, span, host_work):
            node = super()._span(span, host_work)
            return Node("SpanDescription", node.fields | {"command": 10**6})

    with ideal() as system, pytest.MonkeyPatch.context() as patch:
        patch.setattr(recording, "Recorder", Wrong)
        device = system.open("sim://wormhole_b0")
        recorded(system, tmp_path / "wrong.bin", lambda: stitch(device))
    with pytest.raises(BinaryError, match="there is no command 1000000"):
        replay(tmp_path / "wrong.bin")
