"""Kernels of `tensim validate fabric`: a worker that sends packet after packet, and the two sides of a round trip."""
# ruff: noqa: F403, F405

from tensim.fabric_api import *
from tensim.kernel_api import *

HEADERS_APART = 0x400  # of two flows


@device_function
def send_one(router, slot, slots, notified, credits, sent, source, header, size, flush):
    """A packet of one flow."""
    fabric_wait_for_empty_write_slot(slots, credits, sent)
    if size > 0:
        fabric_send_payload(router, slot, source, size)
    fabric_send_header(router, slot, header, notified)
    if flush:
        noc_async_writes_flushed()


@kernel
def send_packets(
    first_slot, slot_bytes, slots, notified, credits_at, source, headers, n_headers, size, packets, flush, flows
):
    """Send `packets` packets of `size` bytes over each of up to four links, one after the other.

    Runtime arguments behind these: x and y of each link's router.  `headers`: 64 bytes apart, taken in turn, those of the next
    flow HEADERS_APART behind.  `flush`: wait after each packet until it has left; else the next one follows at once.
    """
    credits_0, credits_1, credits_2, credits_3 = get_semaphore(0), get_semaphore(1), get_semaphore(2), get_semaphore(3)
    router_0 = fabric_open(get_arg_val(12), get_arg_val(13), credits_at, credits_0)
    router_1, router_2, router_3 = router_0, router_0, router_0
    if flows > 1:
        router_1 = fabric_open(get_arg_val(14), get_arg_val(15), credits_at, credits_1)
    if flows > 2:
        router_2 = fabric_open(get_arg_val(16), get_arg_val(17), credits_at, credits_2)
    if flows > 3:
        router_3 = fabric_open(get_arg_val(18), get_arg_val(19), credits_at, credits_3)
    slot, last = first_slot, first_slot + (slots - 1) * slot_bytes
    header, last_header = headers, headers + (n_headers - 1) * 64
    for sent in range(packets):
        send_one(router_0, slot, slots, notified, credits_0, sent, source, header, size, flush)
        if flows > 1:
            send_one(router_1, slot, slots, notified, credits_1, sent, source, header + HEADERS_APART, size, flush)
        if flows > 2:
            send_one(router_2, slot, slots, notified, credits_2, sent, source, header + 2 * HEADERS_APART, size, flush)
        if flows > 3:
            send_one(router_3, slot, slots, notified, credits_3, sent, source, header + 3 * HEADERS_APART, size, flush)
        slot = first_slot if slot == last else slot + slot_bytes
        header = headers if header == last_header else header + 64
    fabric_close(credits_0, packets)
    if flows > 1:
        fabric_close(credits_1, packets)
    if flows > 2:
        fabric_close(credits_2, packets)
    if flows > 3:
        fabric_close(credits_3, packets)


@kernel
def ping(x, y, first_slot, slot_bytes, slots, notified, credits_at, source, header, size, rounds, arrival, times):
    """Send a packet, wait for the one that comes back; cycles of each round trip go to `times`.

    The last word of a payload counts rounds; `arrival`: where that of the answer comes to lie.
    """
    credits = get_semaphore(0)
    router = fabric_open(x, y, credits_at, credits)
    slot, last = first_slot, first_slot + (slots - 1) * slot_bytes
    tail, spans = l1_ptr(source + size - 4, uint32), l1_ptr(times, uint32)
    for sent in range(rounds):
        tail[0] = sent + 1
        riscv_wait(1 + sent * 37 % 139)  # so that routers are met at different points of their turns
        begin = get_timestamp()
        fabric_wait_for_empty_write_slot(slots, credits, sent)
        fabric_send_payload(router, slot, source, size)
        fabric_send_header(router, slot, header, notified)
        noc_async_writes_flushed()
        noc_semaphore_wait_min(arrival, sent + 1)
        spans[sent] = get_timestamp() - begin
        slot = first_slot if slot == last else slot + slot_bytes
    fabric_close(credits, rounds)


@kernel
def pong(x, y, first_slot, slot_bytes, slots, notified, credits_at, source, header, size, rounds, arrival, times):
    """Send each packet that comes back; cycles from its arrival until the answer has been handed over go to `times`."""
    credits = get_semaphore(0)
    router = fabric_open(x, y, credits_at, credits)
    slot, last = first_slot, first_slot + (slots - 1) * slot_bytes
    tail, spans = l1_ptr(source + size - 4, uint32), l1_ptr(times, uint32)
    for sent in range(rounds):
        noc_semaphore_wait_min(arrival, sent + 1)
        begin = get_timestamp()
        tail[0] = sent + 1
        fabric_wait_for_empty_write_slot(slots, credits, sent)
        fabric_send_payload(router, slot, source, size)
        fabric_send_header(router, slot, header, notified)
        noc_async_writes_flushed()
        spans[sent] = get_timestamp() - begin
        slot = first_slot if slot == last else slot + slot_bytes
    fabric_close(credits, rounds)
