"""A direction of a link between two Ethernet tiles at register level: when what a transmit queue sends is there.

Payloads go in frames at the line's rate, a word in a frame of its own, by the parameters of the model of packets (`ethernet` in
sim/arch, docs/fabric.md#the-link): a payload is seen `line_latency` cycles after its last bit, a word `signal_latency`, but not
before a payload ahead of it in its queue.  A word of another queue goes behind the payload on the line.
"""

import math

from tensim.sim.register_level.tile import RegisterTile


class Link:
    """From `place` of the chip `source` to `target`, a place of the chip `peer` (`tensim.sim.register_level.chip.RegisterChip`).

    `packets`, `bytes`: payloads so far and what they hold.
    """

    def __init__(self, source, place, peer, target):
        self._source, self._place, self._peer, self._target = source, place, peer, target
        arch = source.arch
        self._byte_cycles = arch.clock_mhz / 1000 / arch["ethernet.line_bytes_per_ns"]
        self._frame, self._overhead = arch["ethernet.frame_bytes"], arch["ethernet.frame_overhead"]
        self._latency, self._signal = arch["ethernet.line_latency"], arch["ethernet.signal"]
        self._signal_latency = arch["ethernet.signal_latency"]
        self._is_queued = bool(arch["ethernet.queued"])
        self._line_free = 0  # cycle from which the line is
        self._last_begin = 0  # when the last payload that a queue got begins
        self._queue_free = {}  # the same behind what a queue has
        self._seen = {}  # cycle at which the last payload of a queue is seen
        self.packets = self.bytes = 0

    def send(self, tile, sending, now):
        """Take a command of the source's tile at a cycle."""
        tile.ethernet.count(sending.queue)
        if not sending.size:
            self._send_word(sending, now)
            return
        begin = max(now, self._line_free)
        frames = math.ceil(sending.size / self._frame)
        end = begin + math.ceil((sending.size + frames * self._overhead) * self._byte_cycles)
        self._line_free = self._queue_free[sending.queue] = end
        self._seen[sending.queue] = end + self._latency
        self._last_begin = begin
        self.packets += 1
        self.bytes += sending.size
        ready = begin if self._is_queued else end
        if ready > now:
            tile.ethernet.set_busy(sending.queue, True)
            self._source.network.effects.at(
                self._place, ready, lambda cycle: self._take_more(tile, sending.queue, cycle)
            )
        self._source.network.effects.at(self._place, begin, lambda _: self._leave(tile, sending, end + self._latency))

    def _take_more(self, tile, queue, cycle):
        tile.ethernet.set_busy(queue, False)
        tile.changed(cycle)

    def _leave(self, tile, sending, arrival):
        """The payload is read as it leaves."""
        content = bytes(tile.read(sending.source, sending.size))
        self._arrive(sending.target, content, arrival)

    def _send_word(self, sending, now):
        line = self._last_begin if now < self._last_begin else self._line_free
        begin = max(now, line, self._queue_free.get(sending.queue, 0))
        end = begin + self._signal
        self._queue_free[sending.queue] = end
        self._line_free = max(now, self._line_free) + self._signal
        behind = self._seen.get(sending.queue, 0) + self._signal
        arrival = max(end + self._signal_latency, behind)
        self._arrive(sending.target, sending.value.to_bytes(4, "little"), arrival)

    def _arrive(self, address, content, arrival):
        peer, target = self._peer, self._target

        def take(cycle):
            tile = peer.tile(*target)
            assert isinstance(tile, RegisterTile)
            tile.take(address, content, cycle)

        peer.network.effects.at(target, arrival, take)
