"""What becomes of a transaction: on its way, at its target, where memory is accessed, and when its response is home."""

from tensim.sim.cores.barriers import transaction_returned
from tensim.sim.cores.niu.command_buffers import left_command_buffer, tail_left
from tensim.sim.cores.niu.payloads import (
    NO_SLOT,
    put_in_bank,
    put_in_l1,
    release_staging,
    remember_l1,
    take_from_bank,
    take_from_l1,
)
from tensim.sim.cores.niu.transactions import (
    IN_TARGET,
    TO_TARGET,
    access_dram,
    free_transaction,
    log_bytes,
    prepare_response,
)
from tensim.sim.cores.noc_record import record_arrival
from tensim.sim.cores.semaphores import l1_changed
from tensim.sim.cores.transfer_checks import close_write
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.memory import call_model, count_bits, load_u32, store_8, store_32
from tensim.sim.noc.packet import head_event
from tensim.sim.state import (
    ATOMIC,
    DRAM_READS,
    DRAM_WRITES,
    L1_READS,
    L1_WRITES,
    LOG_DRAM,
    LOG_NOC,
    LOG_TRANSFER,
    READ,
    TILE_DRAM,
    WRITE,
    bank_of,
    links_of,
    noc_counters_of,
    noc_params_of,
    packets_of,
    ports_of,
    schedule,
    threads_of,
    tiles_of,
    touched_of,
    traffic_of,
    transactions_of,
    vcs_of,
)


@compiled()
def note_touched(m, bank, address, size):
    """Count what nobody has read of a DRAM bank before, in grains of 1 << `touched_shift` bytes."""
    touched = touched_of(m)
    grain, last = address >> m.touched_shift, (address + size - 1) >> m.touched_shift
    while grain <= last:
        end = min(last, grain | 63)
        count = end - grain + 1
        mask = -1 if count == 64 else ((1 << count) - 1) << (grain & 63)
        word = bank * m.touched_words + (grain >> 6)
        new = mask & ~touched[word]
        if new != 0:
            touched[word] |= new
            m.first_reads += count_bits(new)
        grain = end + 1


@compiled()
def count_transfer(m, index, now):
    """A read or write is complete: count it for its thread, and log it."""
    x = transactions_of(m)[index]
    if x.target < 0 or (x.kind != READ and x.kind != WRITE):
        return
    is_dram = tiles_of(m)[x.target].kind == TILE_DRAM
    traffic = traffic_of(m)[x.thread]
    if x.kind == READ:
        column = DRAM_READS if is_dram else L1_READS
        traffic.reads_out -= 1
        if traffic.reads_out == 0:
            traffic.reading += now - traffic.reading_since
    else:
        column = DRAM_WRITES if is_dram else L1_WRITES
    traffic.transfers[column] += 1
    traffic.bytes[column] += x.size
    traffic.cycles[column] += now - x.issued
    if m.log_on != 0:
        target = m.n_tiles + bank_of(m, x.target, x.address) if is_dram else x.target
        log_bytes(m, x.thread, LOG_TRANSFER + x.noc, x.issued, now, x.size, x.kind, target)


@compiled()
def access_memory(m, index, now):
    """The request is at its target: read or write the memory there.  Returns the cycle at which the response can leave."""
    x = transactions_of(m)[index]
    target = tiles_of(m)[x.target]
    if target.kind == TILE_DRAM:
        bank, inside = bank_of(m, x.target, x.address), x.address % m.bank_bytes
        done = access_dram(m, index, bank, now)
        end = packets_of(m)[index].supplied if x.kind == READ else done
        log_bytes(m, x.thread, LOG_DRAM + bank, now, end, x.size, x.kind, x.target)
        if x.kind == READ:
            x.staging = take_from_bank(m, bank, inside, x.size)
            note_touched(m, bank, inside, x.size)
        else:
            put_in_bank(m, x.staging, bank, inside, x.size, x.local)
        return done
    core = target.index
    host = m.l1_at + core * m.l1_size + x.address
    if x.kind == READ:
        x.staging = take_from_l1(m, host, x.size, 1)
        return now + m.l1_noc_latency
    if x.kind == WRITE:
        put_in_l1(m, x.staging, host, x.size, x.local)
    elif x.kind == ATOMIC:
        store_32(host, load_u32(host) + x.value)
    else:
        for i in range(4):
            if (x.value >> (32 + i)) & 1:
                store_8(host + i, (x.value >> (8 * i)) & 255)
        if (x.value >> 32) & 15 == 15:
            remember_l1(m, host, x.size)
    l1_changed(m, core, x.address, x.size, now, x.thread)
    return now + m.l1_noc_write_latency


@compiled()
def move_packet(m, index, now):
    """The head of a transaction's packet reaches its next link; returns the cycle of the packet's next event, or -1.

    In the flit model the packet is handed to its NIU as a whole.
    """
    if m.flit_model_at != 0:
        return call_model(m.flit_model_at, m.self_at, index, now)
    packets, p = packets_of(m), noc_params_of(m)[0]
    time = head_event(links_of(m), vcs_of(m), ports_of(m), p, packets, index, now)
    if packets[index].hop == 1 and time >= 0:
        left_command_buffer(m, index, now)
    other = p.granted
    while other >= 0:
        schedule(m, packets[other].time, transactions_of(m)[other].key, other)
        if packets[other].hop == 1 and packets[other].waits == 0:
            left_command_buffer(m, other, now)
        other = packets[other].next_granted
    other = p.tail_sent
    while other >= 0:
        tail_left(m, other, now)
        other = packets[other].next_tail_sent
    return time


@compiled()
def send_response(m, index, now):
    """Data or acknowledgement starts on its way back; returns the cycle of the packet's next event, or -1."""
    x = transactions_of(m)[index]
    log_bytes(m, x.thread, LOG_NOC + x.noc, x.issued, now, x.size, x.kind, x.target)
    prepare_response(m, index)
    return move_packet(m, index, now)


@compiled()
def transaction_event(m, index, now):
    """A packet of a transaction moves, or one of its stages ends; returns the cycle of its next event, or -1."""
    x = transactions_of(m)[index]
    if packets_of(m)[index].delivered == 0:
        return move_packet(m, index, now)
    if m.checker_at != 0 and x.stage != IN_TARGET:
        call_model(m.checker_at, m.self_at, index, now)
    if x.stage == TO_TARGET:
        response_at = access_memory(m, index, now)
        if x.kind != READ:
            if m.record_on != 0:
                record_arrival(m, index, now)
            if x.kind != ATOMIC:
                close_write(m, index)
            release_staging(m, x.staging)
            x.staging = NO_SLOT
            if x.posted != 0:
                count_transfer(m, index, now)
                free_transaction(m, index)
                return -1
        x.stage = IN_TARGET
        return max(response_at, now + 1)
    if x.stage == IN_TARGET:
        return send_response(m, index, now)
    transaction_home(m, index, now)
    return -1


@compiled()
def transaction_home(m, index, now):
    """Data or acknowledgement is back at the core that asked."""
    x = transactions_of(m)[index]
    thread = x.thread
    t = threads_of(m)[thread]
    counters = noc_counters_of(m, thread, x.noc)
    count_transfer(m, index, now)
    if x.kind == READ:
        put_in_l1(m, x.staging, m.l1_at + t.core * m.l1_size + x.local, x.size, x.address)
        release_staging(m, x.staging)
        counters.reads_out -= 1
        if x.trid >= 0:
            counters.trid_reads[x.trid] -= 1
        l1_changed(m, t.core, x.local, x.size, now, thread)
        if m.record_on != 0:
            record_arrival(m, index, now)
    elif x.kind == ATOMIC:
        counters.atomics_out -= 1
    else:
        counters.writes_out -= 1
        if x.trid >= 0:
            counters.trid_writes[x.trid] -= 1
    free_transaction(m, index)
    transaction_returned(m, thread, now)
