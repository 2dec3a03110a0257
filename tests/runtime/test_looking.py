"""Looking at a device (`query`, `run_until`, `wait`) changes no time of any command (I2 of docs/hardware/runtime.md#invariants)."""

import numpy as np
import pytest

from tensim.runtime import Event, System, SystemConfig, Tensor, evaluate, submit, to_layout, wait
from tests.runtime.programs import DRAM, adder, ideal, vector
from tests.runtime.test_failures import numpy_program


def upload(device, queue, values=None):
    values = np.zeros(1000, np.uint8) if values is None else values
    return to_layout(Tensor.from_numpy(values, system=device.system), DRAM, device, queue=1 << queue)


@pytest.mark.parametrize(
    "order", [[(0, 0), (0, 1)], [(0, 1), (0, 0)], [(0, 0), (1, 0)], [(1, 0), (0, 0)], [(0, 1), (1, 0)]]
)
def test_commands_of_one_instant_start_in_the_order_of_issue(order):
    def times(look):
        with System(SystemConfig.named("n300", ideal=True)) as system:
            chips, events = [system.open(f"sim://wormhole_b0[{n}]?cqs=2") for n in range(2)], []
            for chip, queue in order:
                events.append(upload(chips[chip], queue).event)
                if look:
                    events[-1].query()
            wait(events)
            return [(event.t_start, event.t_end) for event in events]

    assert times(False) == times(True)
    assert times(False)[0][0] == 0


def test_signals_of_one_instant_keep_their_place():
    def times(look):
        with ideal() as system:
            device, go = system.open("sim://wormhole_b0?cqs=2"), system.new_timeline()
            device.queues[1].wait_for(go.at(1))
            held, free = upload(device, 1), upload(device, 0)
            if look:
                free.event.query()
            go.signal(1)
            wait([held, free])
            return [(x.event.t_start, x.event.t_end) for x in (held, free)]

    assert times(False) == times(True)


@pytest.mark.parametrize(
    "look", [lambda system, x: system.run_until(system.host_ns), lambda system, x: x.event.query()]
)
def test_freed_memory_is_taken_over_the_same_way(look):
    def times(look):
        with System("n150") as system:
            device = system.open("sim://wormhole_b0?cqs=2")
            x = upload(device, 0)
            system.timeline_host.compute(1_000_000)  # it is long over
            begun = system.host_ns
            look(system, x)
            looked = system.host_ns - begun
            x.deallocate()
            y = upload(device, 1)
            wait(y)
            return y.event.t_start - looked, y.event.t_end - looked

    assert times(lambda system, x: None) == pytest.approx(times(look))


def test_events_combined_after_their_parts_happened():
    def times(look):
        with ideal() as system:
            device = system.open("sim://wormhole_b0?cqs=2")
            parts = [upload(device, queue).event for queue in range(2)]
            system.timeline_host.compute(1_000_000)
            if look:
                parts[0].query()
            both, first = Event.all_of(*parts), Event.any_of(*parts)
            wait([both, first])
            assert (first.t_end, both.t_end) == (parts[0].t_end, parts[1].t_end)
            return first.t_end, both.t_end

    assert times(False) == times(True)


@pytest.mark.parametrize("spec", ["local", "sim://wormhole_b0?timing=functional"])
@pytest.mark.parametrize("ns", [0, 100, 1000, 10_000])
def test_a_command_takes_its_own_time_without_that_of_its_event(spec, ns):
    with System("n150") as system:
        device = system.open(spec)
        x = Tensor.from_numpy(vector(0))
        x = x if device.scheme == "host" else to_layout(x, DRAM, device)
        wait(x)
        binary = numpy_program(lambda x: x, ns)
        event = submit(device, binary, 0, [x]).event
        wait(event)
        assert event.t_end - event.t_start == pytest.approx(ns)
        assert evaluate((device.load(binary), 0), [x]).seconds == [pytest.approx(ns * 1e-9)]


def test_a_wait_ends_when_the_event_is_recorded():
    with System("n150") as system:
        device = system.open("#0")
        x, y = upload(device, 0, vector(0)), upload(device, 0, vector(1))
        event = submit(device, adder(), 0, [x, y]).event
        wait(event)
        assert system.host_ns > event.t_end
