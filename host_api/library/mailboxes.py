"""Where a release of the library keeps its mailboxes in the L1 of a worker core, and what a launch message says.

The release's own headers say where (`tensim.library.mailbox_layout`).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any, TypeAlias

Memory: TypeAlias = Any  # bytes, or an array of them: numpy's types say from Python 3.12 on that arrays are buffers
PROCESSORS = 5  # BRISC, NCRISC, TRISC0 to TRISC2
GO, DONE = 0x80, 0  # signal byte of a go word
SIGNAL = 3  # its place
CB_ENTRY = struct.Struct("<4I")  # address, bytes, pages, bytes of a page


@dataclass(frozen=True)
class Layout:
    """Mailboxes of a release on an architecture, in the order of mailbox_layout.cpp; addresses in L1, offsets in a launch
    message, in bytes.

    `go`, `ethernet_go`, `idle_ethernet_go`: addresses of go words, of a worker and of an Ethernet core with a link and without;
    `launch`, `ethernet_launch`: of the first launch message; `routing_table`: of a worker's, 0: none; `banks`: of the table of
    the NoC coordinates of DRAM and L1 banks (16 bits each, from bit `bank_shift` on x and y of 6), for NoC 0, then NoC 1.
    `mode`: says who launches, the host or a dispatcher.
    """

    launch: int
    launch_bytes: int
    go: int
    idle_ethernet_go: int
    semaphores: int
    circular_buffers: int
    arguments: int
    text: int
    mask: int
    mask_bytes: int
    host_id: int
    enables: int
    banks: int
    bank_shift: int
    ethernet_launch: int
    ethernet_go: int
    routing_table: int
    mode: int


def l1_banks(layout: Layout, memory: Memory, dram_banks: int, count: int) -> list[tuple[int, int]]:
    """The NoC-0 coordinates (x, y) of each L1 bank, from a core's configuration memory."""
    first = layout.banks + 2 * 2 * dram_banks  # behind the DRAM banks' for two NoCs
    words = struct.unpack_from(f"<{count}H", memory, first)
    return [(word >> layout.bank_shift & 63, word >> layout.bank_shift + 6) for word in words]


@dataclass(frozen=True)
class LaunchMessage:
    """What the library tells a core.  Addresses in L1; per processor `unique`, `common` (0: none) and `text` (address, bytes).

    Where `unique` and `common` are the same, the arguments there are of one of both kinds: on the chip both calls read them.

    `buffers`: {index of a circular buffer: address of its table entry}.
    """

    host_id: int
    enabled: tuple[int, ...]
    unique: tuple[int, ...]
    common: tuple[int, ...]
    text: tuple[int, ...]
    semaphores: int
    buffers: dict[int, int]
    bounds: tuple[int, ...]


def parse(layout: Layout, memory: Memory) -> LaunchMessage:
    """The `LaunchMessage` in a core's configuration memory (bytes from address 0 on)."""
    at = layout.launch

    def u16(offset: int) -> int:
        return struct.unpack_from("<H", memory, at + offset)[0]

    def u32(offset: int) -> int:
        return struct.unpack_from("<I", memory, at + offset)[0]

    base = u32(0)
    unique = [u16(layout.arguments + 4 * i) for i in range(PROCESSORS)]
    common = [u16(layout.arguments + 4 * i + 2) for i in range(PROCESSORS)]
    texts = [u32(layout.text + 4 * i) for i in range(PROCESSORS)]
    mask = int.from_bytes(memory[at + layout.mask : at + layout.mask + layout.mask_bytes], "little")
    enables, table = u32(layout.enables), u16(layout.circular_buffers)
    places = {u16(layout.semaphores), table, u16(layout.circular_buffers + 2), *unique, *common, *texts}
    return LaunchMessage(
        u32(layout.host_id), tuple(i for i in range(PROCESSORS) if enables >> i & 1),
        tuple(base + offset for offset in unique),
        tuple(base + offset if offset or not first else 0 for offset, first in zip(common, unique, strict=True)),
        tuple(base + offset for offset in texts), base + u16(layout.semaphores),
        {i: base + table + CB_ENTRY.size * i for i in range(8 * layout.mask_bytes) if mask >> i & 1},
        tuple(sorted(base + offset for offset in places)),
    )  # fmt: skip
