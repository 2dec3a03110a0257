"""Commands on events, and those that wait.

The functions named like commands are handlers of the executor: they take it and a record.
"""

from simpy.core import EmptySchedule

from tensim.sim.errors import CommandFault, EndlessWaitError, UsageError
from tensim.sim.host.knowledge import Knowledge
from tensim.sim.host.queue import failure_of, turn


class RecordedEvent:
    """An event of the host API; `done`: SimPy event of its last recording, None before the first.

    `time`: femtosecond at which it happened; `error`: what it reports as failed; `needs`: events that it fails with;
    `signalled`: the host has seen to it that it happens; `known`: what is over for who waits for it.
    """

    __slots__ = ("device", "queue", "number", "done", "time", "error", "needs", "signalled", "known")

    def __init__(self):
        self.device, self.queue, self.number, self.done = None, None, 0, None
        self.time, self.error, self.needs, self.signalled, self.known = None, None, (), False, None

    def happen(self, time, error=None):
        """It happens now, at `time`."""
        self.time, self.error = time, error
        self.done.succeed()


def record_event(executor, r):
    device, queue = executor.queue(r)
    queue.refuse_capture("an event")
    group = device.check_sub_devices(r.sub_devices)
    event = executor.events.setdefault(r.event, RecordedEvent())
    executor.host.charge("enqueue_event")
    done = event.done = executor.env.event()
    event.time, event.error, event.needs = None, None, ()
    event.device, event.queue, event.number = device.id, queue.index, queue.next_event_id
    queue.next_event_id += 1

    def work(queue):
        yield from queue.wait_programs(group)
        yield executor.env.timeout(device.costs["event"])
        error, queue.failure = queue.failure or failure_of(event.needs), None
        if event.done is done:
            event.known = queue.known.copy()
            event.happen(executor.env.now, error)
        else:  # recorded once more since
            done.succeed()

    executor.issue(device, queue, work, marks=True)
    return event


def wait_for_event(executor, r):
    """The queue goes on behind the event, whether that failed or not: commands name what they need themselves."""
    device, queue = executor.queue(r)
    queue.refuse_capture("an event")
    event = executor.event(r.event)
    done = event.done
    executor.host.charge("enqueue_event")

    def work(queue):
        if not done.processed:
            yield done
        queue.known.join(event.known)

    executor.issue(device, queue, work)


def synchronize_event(executor, r):
    event = executor.event(r.event)
    device = executor.device(event.device)
    device.queues[event.queue].refuse_capture("waiting for an event")
    executor.wait(device, event.done)
    executor.host.known.join(event.known)
    if event.error is not None:
        raise event.error


def query_event(executor, r):
    event = executor.event(r.event)
    executor.host.charge("poll")
    executor.catch_up()
    if event.done.processed:
        executor.host.known.join(event.known)
    return event.done.processed


def create_event(executor, r):
    parts = [executor.event(number) for number in r.of]
    event = executor.events[r.event] = RecordedEvent()
    event.done = executor.env.event()
    if parts:
        event.signalled = True
        executor.env.process(_follow(executor, event, parts, r.any))
    return event


def _follow(executor, event, parts, first):
    """The event happens with the first or the last of its parts, and fails as those that it needs do."""
    ends = [part.done for part in parts]
    yield executor.env.any_of(ends) if first else executor.env.all_of(ends)
    # a part that has been recorded once more since has another time, or none yet: what ended then ends now
    times = {part: part.time if part.done is done else executor.env.now for part, done in zip(parts, ends, strict=True)}
    over = sorted((part for part, done in zip(parts, ends, strict=True) if done.processed), key=times.__getitem__)
    event.known = Knowledge()
    for part in over[:1] if first else over:
        event.known.join(part.known)
    event.happen(times[over[0 if first else -1]], failure_of(over[:1] if first else over))


def signal_event(executor, r):
    event = executor.event(r.event)
    if event.device is not None or event.signalled:
        raise UsageError("an event is signalled once: by the host, by the queue that recorded it, or by its parts")
    event.signalled = True
    executor.host.charge("call")
    error, event.known = CommandFault(r.error) if r.error else None, executor.known_now()
    at = turn(executor.env, executor.host.now_fs)
    at.callbacks.append(lambda _: event.happen(executor.env.now, error))


def wait_events(executor, r):
    """Returns whether what was waited for has happened by the time limit.  EndlessWaitError when it never can."""
    ends = [executor.event(number).done for number in r.events]
    awaited = executor.env.any_of(ends) if r.any else executor.env.all_of(ends)
    if r.timeout_fs is not None:
        limit = executor.env.timeout(executor.host.now_fs + r.timeout_fs - executor.env.now)
        awaited = executor.env.any_of([awaited, limit])
    try:
        executor.env.run_until(awaited)
    except EmptySchedule:
        executor.host.reach(executor.env.now)
        raise EndlessWaitError(f"deadlock: {_wait_graph(executor)}") from None
    except BaseException as error:
        executor.mark_failed(error)
        raise
    happened = [end.processed for end in ends]
    for number, over in zip(r.events, happened, strict=True):
        executor.host.known.join(executor.event(number).known if over else None)
    executor.host.wait_until(executor.env.now)
    return any(happened) if r.any else all(happened)


def _wait_graph(executor):
    waiting = [
        f"queue {queue.index} of device {device.id} holds {len(queue.pending)} commands"
        for device in executor.devices.values()
        for queue in device.queues
        if queue.retire() is None and queue.pending
    ]
    return "; ".join(waiting) or "no command is running, so nothing can end the wait"


def host_work(executor, r):
    executor.host.work(r.duration_fs)


def finish_queues(executor, r):
    device = executor.device(r.device)
    group = device.check_sub_devices(r.sub_devices)
    queues = device.queues if r.queue is None else [executor.queue(r)[1]]
    for queue in queues:
        queue.refuse_capture("waiting for the queue (finish)")
    for queue in queues:
        executor.finish(device, queue, group)
