"""A device that is the host itself: queues that carry out functions, without a chip behind them."""

from tensim.sim.host.queue import Queue

NO_LIMIT = 1 << 62  # bytes: host memory holds every queue


class HostQueue(Queue):
    """A queue of host functions.  Programs and transfers do not exist here."""

    def __init__(self, device, index):
        super().__init__(device, index, device.env)
        self.capacity, self.next_event_id = NO_LIMIT, 1

    def refuse_capture(self, what):
        """A host queue captures no traces."""

    def wait_programs(self, sub_devices):
        """Functions end before the next command begins."""
        return ()

    def run_function(self, function, duration, exclusive=True):
        """Let the queue be busy for `duration` femtoseconds, then call `function`."""
        self.begin()
        yield self.env.timeout(duration)
        return function()


class HostDevice:
    """What the executor keeps of a host device."""

    chip = None
    costs = {"event": 0}

    def __init__(self, number, num_queues, env):
        self.id, self.env, self.failed = number, env, None
        self.queues = [HostQueue(self, index) for index in range(num_queues)]

    def check_sub_devices(self, sub_devices):
        """There are none."""
        return ()

    def fault(self, begun, ended):
        """The host does not fail."""
        return None

    def stop(self):
        """Drop everything that is queued."""
        for queue in self.queues:
            queue.stop()
