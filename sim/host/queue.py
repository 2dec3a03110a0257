"""An in-order queue of commands: a SimPy process that starts each one after the one before it, at its time stamp at the earliest.

A command may fail without stopping its device (an injected fault, a function that raises, or something that it needs and
that failed): what follows in the queue up to the next recorded event is then skipped, and that event carries the failure on.

Commands that could start at one time start in the order of issue, after all else that happens then: whether the host
looked at the device between two of them has no influence.
"""

import itertools
from collections import deque
from dataclasses import dataclass
from typing import Any

import simpy
from simpy.events import NORMAL

from tensim.sim.errors import CommandFault, TensimError
from tensim.sim.host.knowledge import Knowledge

_order = itertools.count(NORMAL + 1)  # of what the host issues, behind all else at its time


def turn(env, time, order=None):
    """A SimPy event at a time (now, if that is over), or at its turn among those of other commands then."""
    event = env.event()
    event._ok, event._value = True, None
    env.schedule(event, next(_order) if order is None else order, max(time - env.now, 0))
    return event


def failure_of(events):
    """The error of the first of some recorded events that failed, or None."""
    return next((event.error for event in events if event.error is not None), None)


@dataclass(slots=True)
class Item:
    """A command in a queue: what to run (a generator function, until it runs), when it was issued (a time, and its place
    among all commands), how much queue memory it takes.

    `begun`, `ended`: femtoseconds at which it began to use the device and was over; None before.
    `marks`: it runs although something before it in the queue failed.  `handed_over`: it goes on when the queue is done
    with it.  `needs`: recorded events whose commands must not have failed.  `error`: why it was skipped or failed.
    `before`, `after`: called when it begins and ends, if they are set.  `known`: what the host knew when it issued the command,
    at its end what the queue knows.
    """

    work: Any
    stamp: int
    order: int
    queue_bytes: int
    done: Any
    marks: bool = False
    handed_over: bool = False
    needs: tuple = ()
    result: Any = None
    begun: int | None = None
    ended: int | None = None
    error: object = None
    known: Knowledge | None = None
    before: object = None
    after: object = None

    def begin(self, now_fs):
        """It begins to use the device, if it has not yet."""
        if self.begun is None:
            self.begun = now_fs
            if self.before is not None:
                self.before()

    def end(self, now_fs):
        """It is over."""
        self.ended = now_fs
        if self.after is not None:
            self.after()


class Queue:
    """Commands in order.  `device` needs `failed` (set to the error that stops it) and `fault(begun, ended)`.

    `capacity`: bytes of commands that may be outstanding.
    """

    def __init__(self, device, index, env):
        self.device, self.index, self.env = device, index, env
        self.items, self._idle = deque(), None  # commands not begun; what wakes the process when there are none
        self.pending = deque()  # items whose end the host has not seen
        self.outstanding_bytes, self.capacity = 0, 0
        self.serving = None  # the item that is carried out now
        self.failure = None  # why items are skipped up to the next recorded event
        self.known = Knowledge()  # what is over for the commands that it carries out
        self._processes = [env.process(self._stoppable(self._serve()))]

    def put(self, work, stamp, queue_bytes=0, marks=False):
        """Issue a command; returns its `Item`, whose `done` event succeeds at its end."""
        item = Item(work, stamp, next(_order), queue_bytes, self.env.event(), marks)
        self.pending.append(item)
        self.outstanding_bytes += queue_bytes
        self.items.append(item)
        if self._idle is not None:
            self._idle.succeed()
            self._idle = None
        return item

    def retire(self):
        """Forget commands that have ended."""
        while self.pending and self.pending[0].done.processed:
            self.outstanding_bytes -= self.pending.popleft().queue_bytes

    def stop(self):
        """Drop everything that is queued or under way: the device has failed."""
        for process in self._processes:
            if process.is_alive:
                process.interrupt()
        self.items.clear()
        self._idle = None

    def begin(self):
        """The command that is carried out now begins to use the device."""
        self.serving.begin(self.env.now)

    @staticmethod
    def _stoppable(work):
        try:
            yield from work
        except simpy.Interrupt:
            pass  # `stop`: what the process would have done next does not happen

    def _serve(self):
        while True:
            while not self.items:
                self._idle = self.env.event()
                yield self._idle
            item = self.items.popleft()
            yield turn(self.env, item.stamp, item.order)
            self.known.join(item.known)
            self.failure = self.failure or failure_of(item.needs)
            if self.failure is not None and not item.marks:
                item.error = self.failure
            else:
                yield from self._run(item)
            item.known = self.known.copy()
            item.done.succeed(item.result)

    def _run(self, item):
        self.serving, entered = item, self.env.now
        try:
            work, item.work = item.work, None  # what it holds on to is not needed any more, the item may be for long
            item.result = yield from work(self)
            if not item.handed_over:
                uses_device = item.begun is not None  # else it only waits or records: no fault can strike it
                item.begun = item.begun if uses_device else entered
                item.end(self.env.now)
                if uses_device:
                    self.check_fault(item)
        except CommandFault as fault:
            item.error = self.failure = fault
        except TensimError as error:
            self.device.failed = error
            raise

    def check_fault(self, item):
        """Raise the fault that was injected into the time of a command."""
        fault = self.device.fault(item.begun, item.ended)
        if fault is not None:
            raise fault
