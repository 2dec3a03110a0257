"""What kernels of a worker find of the fabric in its L1: its chip's routers and where their slots lie, words and headers to use.

The area lies at the end of the space that a launch's configuration may take, on chips with routers alone.  In its place tt-metal
has the table of connections, the routing table and the pool of packet headers (its memory map); the layout here is tensim's own.
`tensim.sim.chip.routers` writes it, the headers of C++ kernels read it (include/tensim/fabric_area.h).
"""

BYTES = 0x1000
# Words of it: a bit for each Ethernet channel with a router, then what is the same of all routers, the shape of the mesh and the
# chip's place in it, row after row
CHANNELS, FIRST_SLOT, SLOT_BYTES, SLOTS, NOTIFIED, CREDITS_AT, MAX_PAYLOAD, ROWS, COLUMNS, CHIP = range(10)
# By channel, from byte ENTRIES on: the router's place (x | y << 16), the direction of its link in tt-metal's numbers, the word
# at which a worker counts its credits
ENTRIES, ENTRY_BYTES, MAX_CHANNELS = 0x40, 16, 16
PLACE, DIRECTION, CREDITS = range(3)
# Pairs of words that stand for the stream registers of a mux's channels, and headers for each processor
STREAMS, STREAM_BYTES, MAX_STREAMS = 0x140, 8, 64
HEADERS, HEADERS_EACH = 0x380, 28
# tt-metal's numbers of directions (hostdevcommon/fabric_common.h), by those of `layout`: north, south, east, west
DIRECTION_CODES = (2, 3, 0, 1)


def base_of(arch):
    """Where the area begins in a worker's L1."""
    return arch.l1_user_base - BYTES
