"""The rules of `handoff` as pure SimPy processes: what the compiled engine is measured and checked against.

Only SimPy and Python: a process per thread and per packet, an event per wait, the events of one cycle in the engine's order
(arrivals from the network first, then by core and thread).  It shares nothing with the engine but the architecture file.
"""

import time

import simpy

from bench.handoff import BARRIER_EVERY, BUFFERS, OVERRIDES, PAGE, PAGES, seeds
from tensim.sim.arch import load_arch

THREADS = range(5)
BRISC, NCRISC, UNPACK, MATH, PACK = THREADS
COMPUTE = (UNPACK, MATH, PACK)
THREAD_CLASS = 1 << 19  # behind every packet of the same cycle


class At(simpy.Event):
    """Happens `delay` cycles from now, before the events of its cycle with a larger key."""

    def __init__(self, env, delay, key):
        super().__init__(env)
        self.happen(delay, key)

    def happen(self, delay, key):
        self._ok, self._value = True, None
        self.env.schedule(self, key, delay)


class Waiting(At):
    """Happens when another process says so (`happen`)."""

    def __init__(self, env):
        simpy.Event.__init__(self, env)


class CircularBuffer:
    """Page counters, when they changed last, and the two threads that may wait: (event, thread) or None."""

    def __init__(self):
        self.used, self.consumer, self.producer = 0, None, None
        self.pushed_at = self.popped_at = 0


class Core:
    """One core: its buffers, its way into the NoC, its writes on the way."""

    def __init__(self, env, index, arch):
        self.env, self.index = env, index
        self.call, self.issue = arch["riscv.issue.cb_call"], arch["riscv.issue.write"]
        self.visible, self.issued = arch["tensix.cb_visible"], [0] * len(THREADS)
        self.poll, self.write_latency = arch["riscv.issue.barrier_poll"], arch["l1.noc_write_latency"]
        self.local = arch["noc.niu_to_router_cycles"] + arch["noc.router_to_niu_cycles"]
        self.flits = 1 + PAGE // arch["noc.flit_bytes"]
        self.link_clear = self.writes_out = self.sequence = self.operations = 0
        self.barrier = None
        self.produced, self.packed = CircularBuffer(), CircularBuffer()

    def key(self, thread):
        return THREAD_CLASS | self.index << 11 | thread << 8

    # --- what a thread does; each takes effect now and ends with the cycle at which the thread goes on

    def go_on(self, thread, cycles):
        """The operation takes `cycles`; a compute thread's next one also waits for its RISC-V core's own clock."""
        late = self.issued[thread] - self.env.now if thread in COMPUTE else 0
        return At(self.env, max(cycles, late), self.key(thread))

    def wait(self, thread, cycles):
        self.operations += 1
        if thread in COMPUTE:
            self.issued[thread] += cycles
            cycles = 0
        yield self.go_on(thread, cycles)

    def passed(self, thread, since):
        """A wait whose condition has held since a cycle (None: for long)."""
        if thread not in COMPUTE:
            return self.go_on(thread, self.call)
        if since is not None:
            self.issued[thread] = max(self.issued[thread], min(since + self.visible, self.env.now))
        self.issued[thread] += self.call
        return self.go_on(thread, 0)

    def wake(self, waiter):
        """The other side has changed the counter that a thread polls."""
        waiting, thread = waiter
        end = self.visible + self.call
        self.issued[thread] = max(self.issued[thread], self.env.now + end)
        waiting.happen(end, self.key(thread))

    def reserve(self, thread, cb):
        self.operations += 1
        if cb.used == PAGES:
            waiting = Waiting(self.env)
            cb.producer = waiting, thread
            yield waiting
        else:
            yield self.passed(thread, cb.popped_at if cb.used == PAGES - 1 else None)

    def push(self, thread, cb):
        self.operations += 1
        cb.used += 1
        cb.pushed_at = self.env.now
        if cb.consumer:
            waiter, cb.consumer = cb.consumer, None
            self.wake(waiter)
        yield self.go_on(thread, self.call)

    def front(self, thread, cb):
        self.operations += 1
        if cb.used == 0:
            waiting = Waiting(self.env)
            cb.consumer = waiting, thread
            yield waiting
        else:
            yield self.passed(thread, cb.pushed_at if cb.used == 1 else None)

    def pop(self, thread, cb):
        self.operations += 1
        cb.used -= 1
        cb.popped_at = self.env.now
        if cb.producer:
            waiter, cb.producer = cb.producer, None
            self.wake(waiter)
        yield self.go_on(thread, self.call)

    def write(self, thread):
        self.operations += 1
        self.sequence += 1
        self.writes_out += 1
        key = self.index << 11 | thread << 8 | self.sequence & 255
        self.env.process(self.packet(key))
        yield At(self.env, self.issue, self.key(thread))

    def packet(self, key):
        """A write to the core itself and its acknowledgement, which interleave on the link into the network.

        Writes are issued at longer intervals than they need to leave, so none waits for its virtual channel.
        """
        yield At(self.env, self.issue, key)
        self.link_clear = max(self.env.now, self.link_clear) + self.flits
        yield At(self.env, self.link_clear + self.local - 1 - self.env.now, key)
        yield At(self.env, self.write_latency, key)
        self.link_clear = max(self.env.now, self.link_clear) + 1
        yield At(self.env, self.local, key)
        self.writes_out -= 1
        if self.writes_out == 0 and self.barrier:
            waiting, cycles, thread = self.barrier
            self.barrier = None
            waiting.happen(cycles, self.key(thread))

    def write_barrier(self, thread):
        self.operations += 1
        yield from self.until_written(thread, self.poll, self.poll)

    def until_written(self, thread, cycles, cycles_waited):
        """Wait for the acknowledgement of every write."""
        if self.writes_out > 0:
            waiting = Waiting(self.env)
            self.barrier = waiting, cycles_waited, thread
            yield waiting
        elif cycles:
            yield At(self.env, cycles, self.key(thread))

    # --- the kernels of `handoff`

    def brisc(self, rounds, state):
        for i in range(rounds):
            state = following(state)
            yield from self.reserve(BRISC, self.produced)
            yield from self.write(BRISC)
            yield from self.wait(BRISC, 1 + (state >> 8) % 40)
            if i % BARRIER_EVERY == BARRIER_EVERY - 1:
                yield from self.write_barrier(BRISC)
            yield from self.push(BRISC, self.produced)
        yield from self.until_written(BRISC, 0, 1)

    def ncrisc(self, rounds, state):
        for _ in range(rounds):
            state = following(state)
            yield from self.front(NCRISC, self.produced)
            yield from self.wait(NCRISC, 1 + (state >> 8) % 30)
            yield from self.pop(NCRISC, self.produced)

    def unpack(self, rounds, state):
        for _ in range(rounds):
            state = following(state)
            yield from self.front(UNPACK, self.packed)
            yield from self.wait(UNPACK, 1 + (state >> 8) % 60)
            yield from self.pop(UNPACK, self.packed)

    def math(self, rounds, state):
        for _ in range(rounds):
            state = following(state)
            yield from self.wait(MATH, 1 + (state >> 8) % 60)

    def pack(self, rounds, state):
        for _ in range(rounds):
            state = following(state)
            yield from self.reserve(PACK, self.packed)
            yield from self.wait(PACK, 1 + (state >> 8) % 60)
            yield from self.push(PACK, self.packed)


def following(state):
    return (state * 1103515245 + 12345) & 0x7FFFFFFF


def run(rounds):
    """(operations, host seconds, cycles of the longest thread of each kind), as `handoff.run`."""
    arch, env = load_arch("wormhole_b0", OVERRIDES), simpy.Environment()
    longest, setup = [0] * len(THREADS), round(len(BUFFERS) * arch["dispatch.cb_setup_ns"] * arch.clock_mhz / 1000)

    def live(core, thread, kernel):
        begins = setup if thread == BRISC else 0  # it sets up the circular buffers before its own kernel
        yield At(env, begins, core.key(thread))
        yield from kernel
        longest[thread] = max(longest[thread], env.now - begins)

    cores = [Core(env, index, arch) for index in range(arch.grid[0] * arch.grid[1])]
    for core in cores:
        produce, consume, compute = seeds(core.index)
        kernels = (
            core.brisc(rounds, produce), core.ncrisc(rounds, consume),
            core.unpack(rounds, compute), core.math(rounds, compute), core.pack(rounds, compute),
        )  # fmt: skip
        for thread, kernel in enumerate(kernels):
            env.process(live(core, thread, kernel))
    begun = time.perf_counter()
    env.run()
    return sum(core.operations for core in cores), time.perf_counter() - begun, longest
