"""Events, queues, hazards and waits: T4, T9-T13, T39, T44, T45 and invariants of docs/hardware/runtime.md#functional-tests."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tensim.runtime import Event, System, SystemConfig, Tensor, submit, to_layout, to_layout_into, wait
from tensim.runtime.errors import BadQueueMask, CommandFailed, Deadlock, RaceDetected, WaitTimeout
from tensim.sim.errors import UsageError
from tests.runtime.programs import DESC, DRAM, adder, ideal, vector

BUSY = 4000  # cycles, ns on Wormhole


@pytest.fixture
def system():
    with ideal() as system:
        yield system


@pytest.fixture
def device(system):
    return system.open("sim://wormhole_b0?cqs=2")


@pytest.fixture
def pair(device):
    pair = [to_layout(Tensor.from_numpy(vector(seed)), DRAM, device) for seed in range(2)]
    device.system.drain()
    return pair


def test_conversion_into_a_tensor_behind_events(system, device, pair):  # T4
    e = submit(device, adder(cycles=BUSY), 0, pair, queue=1).event
    dst, src = Tensor.empty(DESC, DRAM, device), Tensor.from_numpy(vector(5))
    done = to_layout_into(dst, src, wait=[e], queue=2)
    assert isinstance(done, Event) and not done.done and dst.version == 1
    wait(done)
    assert done.t_start >= e.t_end
    np.testing.assert_array_equal(dst.numpy(), vector(5))


def test_writing_waits_for_readers(device, pair):  # T4
    reader = submit(device, adder(cycles=BUSY), 0, pair, queue=1).event
    written = to_layout_into(pair[0], Tensor.from_numpy(vector(6)), queue=2)
    wait(written)
    assert written.t_start >= reader.t_end


def test_looking_changes_nothing(pair):  # T9
    def spans(look):
        with ideal() as system:
            device = system.open("sim://wormhole_b0?cqs=2")
            x, y = (to_layout(Tensor.from_numpy(vector(seed)), DRAM, device) for seed in range(2))
            events = [submit(device, adder(cycles=BUSY), 0, [x, y], queue=1 << n % 2).event for n in range(4)]
            if look:
                for event in events:
                    wait(event)
                    event.query()
            system.drain()
            return [(span.label, span.start, span.end) for span in system.spans[:-2]]

    assert spans(True) == spans(False)


def overwrite(hazards, ordered):
    """Queue 1 overwrites the input of a program on queue 0 that has not begun; returns what the program read."""
    with System(SystemConfig(ideal=True), hazards=hazards) as system:
        device = system.open("sim://wormhole_b0?cqs=2")
        x, y = (to_layout(Tensor.from_numpy(vector(seed)), DRAM, device, queue=1) for seed in range(2))
        system.drain()
        first = submit(device, adder(cycles=BUSY), 0, [x, y], queue=1)
        second = submit(device, adder(), 0, [x, y], queue=1)
        wait_for = [second.event] if ordered else []
        to_layout_into(x, Tensor.from_numpy(vector(8)), wait=wait_for, queue=2)
        system.drain()
        assert first.event.done
        return second.outputs[0].numpy()


def test_hazards():  # T10
    old, new = vector(0) + vector(1), vector(8) + vector(1)
    np.testing.assert_array_equal(overwrite("auto", False), old)
    np.testing.assert_array_equal(overwrite("manual", False), new)  # corrupted, the same way every time
    np.testing.assert_array_equal(overwrite("manual", True), old)
    np.testing.assert_array_equal(overwrite("check", True), old)
    with pytest.raises(RaceDetected, match="nothing orders them") as race:
        overwrite("check", False)
    assert race.value.where["tensor"] and len(race.value.where["commands"]) == 2


def test_a_wait_of_the_host_orders_too():  # T10
    with System(SystemConfig(ideal=True), hazards="check") as system:
        device = system.open("sim://wormhole_b0?cqs=2")
        x = to_layout(Tensor.from_numpy(vector(0)), DRAM, device, queue=1)
        wait(x)
        to_layout_into(x, Tensor.from_numpy(vector(1)), queue=2)


def test_a_queue_waits_without_the_host(system, device, pair):  # T11
    e = submit(device, adder(cycles=BUSY), 0, pair, queue=1).event
    now = system.host_ns
    device.queues[1].wait_for(e)
    assert system.host_ns == now
    wait(e)
    assert system.host_ns == e.t_end


def test_the_first_of_several_and_a_time_limit(system, device, pair):  # T12
    running = submit(device, adder(cycles=10 * BUSY), 0, pair, queue=1)
    slow = running.event
    fast = to_layout_into(Tensor.empty(DESC, DRAM, device), Tensor.from_numpy(vector(3)), queue=2)
    wait([slow, fast], mode="any")
    assert system.host_ns == fast.t_end and not slow.done
    limit = system.host_ns + 100
    with pytest.raises(WaitTimeout, match="add") as late:
        wait(slow, timeout_ns=100)
    assert system.host_ns == limit == late.value.where["now_ns"]
    wait(slow, timeout_ns=100 * BUSY)
    assert system.host_ns == slow.t_end


def test_events_combined(system, device, pair):
    running = submit(device, adder(cycles=BUSY), 0, pair, queue=1)
    slow = running.event
    fast = to_layout_into(Tensor.empty(DESC, DRAM, device), Tensor.from_numpy(vector(3)), queue=2)
    both, first = Event.all_of(slow, fast), Event.any_of(slow, fast)
    wait(both)
    assert both.t_end == slow.t_end and first.t_end == fast.t_end


def test_queues_that_wait_for_each_other(system, device):  # T13
    mine = system.new_timeline("mine")
    for queue in device.queues:
        queue.wait_for(mine.at(queue.id + 1))
    blocked = [queue.record() for queue in device.queues]
    with pytest.raises(Deadlock, match="queue 0 of device 0.*queue 1 of device 0"):
        wait(blocked)
    mine.signal(2)  # the host can still resolve it
    wait(blocked)


def test_timelines(system, device):
    t = system.new_timeline()
    two, three = t.at(2), t.at(3)
    t.signal(2)
    t.signal(1)  # lower than it is: nothing
    wait(two)
    with pytest.raises(Deadlock):
        wait(three)
    t.fail(ValueError("broken"))
    with pytest.raises(CommandFailed, match="broken"):
        wait(three)
    wait(two)


def test_host_calls_keep_their_place(system, device, pair):  # T39
    seen = []
    event = submit(device, adder(cycles=BUSY), 0, pair, queue=1).event
    call = device.queues[0].host_call(lambda call: seen.append(call.device.name))
    assert seen == []
    wait(call)
    assert seen == [device.name] and call.t_start >= event.t_end

    def reenter(call):
        call.queue.record()

    again = device.queues[0].host_call(reenter)
    with pytest.raises(CommandFailed, match="must not use queues"):
        wait(again)
    broken = device.queues[0].host_call(lambda call: 1 / 0, label="division")
    with pytest.raises(CommandFailed, match="ZeroDivisionError"):
        wait(broken)
    wait(device.queues[0].record())


def test_masks(device, pair):
    for mask in (0, 4, [3]):
        with pytest.raises(BadQueueMask):
            submit(device, adder(), 0, pair, queue=mask)
    first = submit(device, adder(cycles=BUSY), 0, pair)
    second = submit(device, adder(), 0, pair)
    assert (first.plan.queue, second.plan.queue) == (0, 1)


def test_depth_blocks_the_host(system, device, pair):
    device.queues[0].depth = 1
    first = submit(device, adder(cycles=BUSY), 0, pair, queue=1).event
    second = submit(device, adder(), 0, pair, queue=1).event
    assert second.t_submit >= first.t_end


def test_fill_and_copy(device, pair):
    source, target = pair
    wait(device.queues[0].copy(target, source))
    np.testing.assert_array_equal(target.numpy(), vector(0))
    wait(device.queues[1].fill(target, 0xAB))
    assert set(target.numpy().tolist()) == {0xABABABAB}
    with pytest.raises(UsageError, match="not a byte"):
        device.queues[0].fill(target, 256)


def test_a_second_host_core_halves_host_bound_time():  # T44
    prepare, n = 10_000, 8

    def total(cores):
        with ideal() as system:
            device = system.open("sim://wormhole_b0?cqs=2")
            x, y = (to_layout(Tensor.from_numpy(vector(seed)), DRAM, device) for seed in range(2))
            out = Tensor.empty(DESC, DRAM, device)
            wait([x.event, y.event])
            begun, bound = system.host_ns, adder(cycles=BUSY).bind(device)

            def work(steps):
                for _ in range(steps):
                    yield prepare
                    bound.submit(0, [x, y], outputs=[out], queue=1)

            wait([system.spawn(work(n // cores), label=f"core {core}") for core in range(cores)])
            return system.host_ns - begun

    assert total(1) == n * prepare
    assert total(2) == total(1) / 2


def test_what_a_spawned_process_issues_is_stamped_with_its_time(system, device, pair):  # I18
    issued = []

    def process():
        yield 500
        issued.append(submit(device, adder(), 0, pair, queue=1).event)
        yield issued[0]
        assert issued[0].done

    begun = system.host_ns
    wait(system.spawn(process()))
    assert issued[0].t_submit == begun + 500


ACTIONS = st.lists(
    st.tuples(st.sampled_from(["upload", "run", "read", "wait", "query"]), st.integers(0, 2), st.sampled_from([1, 2])),
    min_size=1,
    max_size=25,
)


def play(actions, look=True, shuffle=0, hazards="auto"):
    """Carry actions out on three tensors; returns (spans, final values, timeline hash)."""
    with System(SystemConfig(), hazards=hazards) as system:
        device = system.open("sim://wormhole_b0?cqs=2")
        tensors = [to_layout(Tensor.from_numpy(vector(seed)), DRAM, device, queue=1) for seed in range(3)]
        bound, last = adder(cycles=700).bind(device), tensors[0].event
        for number, (kind, which, queue) in enumerate(actions):
            assert system.env.now <= system.host.now_fs  # I1
            queue = 3 - queue if shuffle else queue
            target, source = tensors[which], tensors[(which + 1) % 3]
            if kind == "upload":
                last = to_layout_into(target, Tensor.from_numpy(vector(number)), queue=queue)
            elif kind == "run":
                last = bound.submit(0, [source, tensors[which - 1]], outputs=[target], queue=queue).event
            elif kind == "read":
                last = target.to_host(queue=queue).event
            elif look and kind == "wait":
                wait(last)
            elif look:
                last.query()
        system.drain()
        spans = [(s.label, s.queue, s.event.t_submit, s.start, s.end, s.event) for s in system.spans if s.event]
        return spans, [tensor.numpy() for tensor in tensors], system.digest()


@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(actions=ACTIONS)
def test_order_determinism_and_bits(actions):  # I3, I4, I8
    spans, values, digest = play(actions)
    for queue in (0, 1):  # I3: in order, no overlap, not before they were submitted
        mine = [span for span in spans if span[1] == queue]
        for _, _, submitted, start, end, _ in mine:
            assert submitted <= start <= end
        for before, after in zip(mine, mine[1:], strict=False):
            assert before[4] <= after[3]
    again = play(actions)
    assert again[2] == digest  # I4
    np.testing.assert_array_equal(again[1], values)
    np.testing.assert_array_equal(play(actions, shuffle=1)[1], values)  # I8, T45: queues do not change bits
    np.testing.assert_array_equal(play(actions, look=False)[1], values)


def test_memory_that_is_freed_early_keeps_its_order(device, pair):
    """The output that nobody holds is freed at once; who gets its memory comes behind the program that writes it."""
    event = submit(device, adder(cycles=BUSY), 0, pair, queue=1).event
    taker = Tensor.empty(DESC, DRAM, device)
    written = to_layout_into(taker, Tensor.from_numpy(vector(3)), queue=2)
    np.testing.assert_array_equal(taker.numpy(), vector(3))
    assert written.t_start >= event.t_end
