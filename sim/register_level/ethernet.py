"""An Ethernet tile's registers: transmit queues, the settings of both directions, and what they say of the link.

Addresses and commands: tt_eth_ss_regs.h, tunneling.h, fabric_txq_setup.h and eth_fw_api.h of ttnn 0.81.1.  A write to a queue's
command register sends what its other registers name: bytes of L1 to the peer's L1, or a word to one of the peer's addresses.
When they leave and arrive is the link's to say (`tensim.sim.register_level.link`).
"""

from dataclasses import dataclass

import numpy as np

from tensim.sim.cores.coprocessor.tile_registers import ETHERNET, ETHERNET_BYTES

QUEUES = {"wormhole_b0": 2, "blackhole": 3}
QUEUE_BYTES = 0x1000  # of a queue's registers
COMMAND, STATUS = 0x4, 0x8  # places in a queue's registers
SOURCE, SIZE, TARGET, SENT, VALUE = 0x14, 0x18, 0x1C, 0x30, 0x44
DATA, REGISTER = 2, 4  # commands
ONGOING = 1 << 16  # of STATUS: the queue takes no command; COMMAND reads as one, too
WORD_BYTES = 16  # of which payloads are whole numbers
LINK_STATUS = {"blackhole": 0xFFB9800C}  # reads as one while the link is up


@dataclass(frozen=True)
class Sending:
    """A command of a queue.  `size`: bytes of L1 from `source` on, 0 where the word `value` goes; `target`: where at the peer."""

    queue: int
    source: int
    target: int
    size: int
    value: int


class EthernetRegisters:
    """Those of a tile of a chip (`arch`)."""

    def __init__(self, arch):
        self.words = np.zeros(ETHERNET_BYTES // 4, np.uint32)
        self._queues = QUEUES[arch.name]
        self._link_status = LINK_STATUS.get(arch.name)

    def _at(self, queue, place):
        return (queue * QUEUE_BYTES + place) // 4

    def written(self, address):
        """What a core's write to a command register sends: a `Sending`, text that says why it sends nothing, or None."""
        queue, place = divmod(address - ETHERNET, QUEUE_BYTES)
        if queue >= self._queues or place != COMMAND:
            return None
        source, size, target, value, command = (
            int(self.words[self._at(queue, one)]) for one in (SOURCE, SIZE, TARGET, VALUE, COMMAND)
        )
        self.words[self._at(queue, COMMAND)] = 0
        if command == REGISTER:
            return Sending(queue, 0, target & ~3, 0, value)
        if command != DATA or (source | size | target) % WORD_BYTES or not size:
            return f"command {command} of transmit queue {queue} with {size} bytes from {source:#x} to {target:#x}"
        return Sending(queue, source, target, size, 0)

    def set_busy(self, queue, busy):
        """Does a queue take commands?"""
        self.words[self._at(queue, COMMAND)] = int(busy)
        self.words[self._at(queue, STATUS)] = ONGOING if busy else 0

    def count(self, queue):
        """A queue has sent something."""
        self.words[self._at(queue, SENT)] += np.uint32(1)

    def link_up(self):
        """The link is trained."""
        if self._link_status is not None:
            self.words[(self._link_status - ETHERNET) // 4] = 1
