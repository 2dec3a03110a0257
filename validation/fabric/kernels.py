"""Kernels of `tensim validate fabric`: a worker that sends packet after packet, and the two sides of a round trip."""
# ruff: noqa: F403, F405

from tensim.fabric_api import *


@kernel
def send_packets(x, y, first_slot, slot_bytes, slots, notified, credits_at, source, headers, n_headers, size, packets, flush):
    """Send `packets` packets of `size` bytes, with the headers in L1 (64 bytes apart) in turn.

    `flush`: wait after each until it has left; else as soon as its slot is empty the next one follows.
    """
    credits = get_semaphore(0)
    fabric_open(x, y, notified, credits_at, credits)
    slot, last = first_slot, first_slot + (slots - 1) * slot_bytes
    header, last_header = headers, headers + (n_headers - 1) * 64
    for sent in range(packets):
        fabric_wait_for_empty_write_slot(slots, credits, sent)
        if size > 0:
            fabric_send_payload(x, y, slot, source, size)
        fabric_send_header(x, y, slot, header, notified)
        if flush:
            noc_async_writes_flushed()
        slot = first_slot if slot == last else slot + slot_bytes
        header = headers if header == last_header else header + 64
    fabric_close(credits, packets)


@kernel
def ping(x, y, first_slot, slot_bytes, slots, notified, credits_at, source, header, size, rounds, arrival, times):
    """Send a packet, wait for the one that comes back; cycles of each round trip go to `times`.

    The last word of a payload counts rounds; `arrival`: where that of the answer comes to lie.
    """
    credits = get_semaphore(0)
    fabric_open(x, y, notified, credits_at, credits)
    slot, last = first_slot, first_slot + (slots - 1) * slot_bytes
    tail, spans = l1_ptr(source + size - 4, uint32), l1_ptr(times, uint32)
    for sent in range(rounds):
        tail[0] = sent + 1
        begin = get_timestamp()
        fabric_wait_for_empty_write_slot(slots, credits, sent)
        fabric_send_payload(x, y, slot, source, size)
        fabric_send_header(x, y, slot, header, notified)
        noc_async_writes_flushed()
        noc_semaphore_wait_min(arrival, sent + 1)
        spans[sent] = get_timestamp() - begin
        slot = first_slot if slot == last else slot + slot_bytes
    fabric_close(credits, rounds)


@kernel
def pong(x, y, first_slot, slot_bytes, slots, notified, credits_at, source, header, size, rounds, arrival, times):
    """Send each packet that comes back; cycles from its arrival until the answer has been handed over go to `times`."""
    credits = get_semaphore(0)
    fabric_open(x, y, notified, credits_at, credits)
    slot, last = first_slot, first_slot + (slots - 1) * slot_bytes
    tail, spans = l1_ptr(source + size - 4, uint32), l1_ptr(times, uint32)
    for sent in range(rounds):
        noc_semaphore_wait_min(arrival, sent + 1)
        begin = get_timestamp()
        tail[0] = sent + 1
        fabric_wait_for_empty_write_slot(slots, credits, sent)
        fabric_send_payload(x, y, slot, source, size)
        fabric_send_header(x, y, slot, header, notified)
        noc_async_writes_flushed()
        spans[sent] = get_timestamp() - begin
        slot = first_slot if slot == last else slot + slot_bytes
    fabric_close(credits, rounds)
