"""The packets of a transaction: how long they are, what their flits cost, and what a DRAM channel at the target takes.

Source: docs/hardware/noc.md#packets.
"""

from tensim.sim.cores.niu.transactions import TO_SOURCE
from tensim.sim.dram.channel import dram_access, fragments_ticks, queue_ticks
from tensim.sim.engine.compiled import compiled
from tensim.sim.noc.packet import prepare
from tensim.sim.noc.packet_state import FLIT_COST, REQUEST, RESPONSE
from tensim.sim.state import (
    READ,
    TILE_DRAM,
    WRITE,
    bank_of,
    banks_of,
    channels_of,
    dram_params_of,
    noc_params_of,
    packets_of,
    ports_of,
    tiles_of,
    transactions_of,
)


@compiled(inline="always")
def data_flits(m, size):
    """Flits of a packet with `size` bytes of data behind its header."""
    return 1 + (size + m.flit_bytes - 1) // m.flit_bytes


@compiled(inline="always")
def emission_cost(p, x, cost):
    """`occupancy` cost of a flit that leaves L1: what a tile sends to itself is read from and written to the same L1."""
    return max(cost, p.loopback_cost) if x.source == x.target else cost


@compiled()
def prepare_request(m, index, flits):
    """Make the packet of a transaction's request, whose virtual channel is chosen, ready to leave the source."""
    x, packet, p = transactions_of(m)[index], packets_of(m)[index], noc_params_of(m)[0]
    prepare(p, packet, x.noc, x.source, x.target, flits, REQUEST, emission_cost(p, x, p.write_cost))
    packet.awaits_response = 1 if x.kind == READ else 0
    if x.kind == WRITE and tiles_of(m)[x.target].kind == TILE_DRAM:
        dram = dram_params_of(m)[0]
        packet.dram_queue = m.n_tiles + bank_of(m, x.target, x.address)
        packet.dram_queue_ticks, packet.dram_queue_room = queue_ticks(dram, x.size)
        packet.fragments_ticks = fragments_ticks(dram, x.size) if packet.dynamic != 0 else 0


@compiled()
def prepare_response(m, index):
    """Make the packet of a transaction's data or acknowledgement ready to leave the target."""
    x, p = transactions_of(m)[index], noc_params_of(m)[0]
    flits, cost = 1, FLIT_COST
    if x.kind == READ:
        flits, cost = data_flits(m, x.size), emission_cost(p, x, p.read_cost)
        if tiles_of(m)[x.target].kind == TILE_DRAM:  # the first chunk is there as a whole
            chunk = min(flits, p.chunk_flits)
            cost = (chunk * FLIT_COST + (flits - chunk) * p.dram_cost) // flits
    x.stage = TO_SOURCE
    prepare(p, packets_of(m)[index], x.noc, x.target, x.source, flits, RESPONSE, cost)


@compiled()
def access_dram(m, index, bank, now):
    """A transaction's request is at a DRAM bank.  Returns the cycle at which the response can leave."""
    x, packet = transactions_of(m)[index], packets_of(m)[index]
    done = dram_access(
        channels_of(m), banks_of(m), dram_params_of(m)[0], bank, x.address % m.bank_bytes, x.size, x.kind != READ, now,
        x.noc, packet.mixed, x.thread,
    )  # fmt: skip
    ports_of(m)[m.n_tiles + bank] = max(ports_of(m)[m.n_tiles + bank], channels_of(m)[bank].drained)
    if x.kind == READ:
        packet.supplied = channels_of(m)[bank].supplied
    return done
