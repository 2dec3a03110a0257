"""Kernels of `tensim validate fabric`: a worker that sends packet after packet, and the two sides of a round trip."""
# ruff: noqa: F403, F405

from tensim.fabric_api import *
from tensim.kernel_api import *

HEADER_BYTES, HEADERS_APART = 64, 0x400  # from one header to the next, from one flow to the next


@device_function
def send_one(place, first, last, slot_bytes, bell, credits, needed, source, header, size, flush):
    """A packet into a slot; returns the next one.

    `place`, `first`, `last`: NoC addresses of slots; `bell`: that of the word which counts packets; `needed`: credits without which
    there is no slot.
    """
    if needed > 0:
        noc_semaphore_wait_min(credits, needed)
    noc_async_write(source, place + FABRIC_HEADER_BYTES, size)
    noc_async_write(header, place, FABRIC_HEADER_BYTES)
    noc_semaphore_inc(bell, 1)
    if flush:
        noc_async_writes_flushed()
    return first if place == last else place + slot_bytes


@device_function
def send_turn(place, first, last, slot_bytes, bell, credits, needed, source, header, packets, size, flush):
    """The packets of one flow in a turn, each with the next header; returns the slot behind them."""
    place = send_one(place, first, last, slot_bytes, bell, credits, needed, source, header, size, flush)
    if packets > 1:
        for number in range(1, packets):
            place = send_one(
                place, first, last, slot_bytes, bell, credits, needed + number, source, header + HEADER_BYTES * number,
                size, flush,
            )  # fmt: skip
    return place


@kernel
def send_packets(
    first_slot, slot_bytes, slots, notified, credits_at, source, header_0, size, turns, flush, start, flows
):
    """Send packets of `size` bytes over each of up to four links in turn, from cycle `start` of the chip on.

    Runtime arguments behind these, of each flow: x and y of the link's router and how many packets it sends in a turn, each with a
    header of its own.  Headers of a flow lie HEADER_BYTES apart, those of the next one HEADERS_APART behind.  `flush`: wait after
    each packet until it has left; else the next one follows at once.
    """
    credits_0, credits_1, credits_2, credits_3 = get_semaphore(0), get_semaphore(1), get_semaphore(2), get_semaphore(3)
    router_0 = fabric_open(get_arg_val(12), get_arg_val(13), credits_at, credits_0)
    n_0, n_1, n_2, n_3 = get_arg_val(14), 0, 0, 0
    router_1, router_2, router_3 = router_0, router_0, router_0
    if flows > 1:
        router_1, n_1 = fabric_open(get_arg_val(15), get_arg_val(16), credits_at, credits_1), get_arg_val(17)
    if flows > 2:
        router_2, n_2 = fabric_open(get_arg_val(18), get_arg_val(19), credits_at, credits_2), get_arg_val(20)
    if flows > 3:
        router_3, n_3 = fabric_open(get_arg_val(21), get_arg_val(22), credits_at, credits_3), get_arg_val(23)
    first_0, first_1 = router_0 + first_slot, router_1 + first_slot
    first_2, first_3 = router_2 + first_slot, router_3 + first_slot
    span = (slots - 1) * slot_bytes
    last_0, last_1, last_2, last_3 = first_0 + span, first_1 + span, first_2 + span, first_3 + span
    bell_0, bell_1, bell_2, bell_3 = router_0 + notified, router_1 + notified, router_2 + notified, router_3 + notified
    header_1, header_2, header_3 = header_0 + HEADERS_APART, header_0 + 2 * HEADERS_APART, header_0 + 3 * HEADERS_APART
    place_0, place_1, place_2, place_3 = first_0, first_1, first_2, first_3
    needed_0, needed_1, needed_2, needed_3 = 1 - slots, 1 - slots, 1 - slots, 1 - slots
    riscv_wait(start - get_timestamp())
    for _ in range(turns):
        place_0 = send_turn(
            place_0, first_0, last_0, slot_bytes, bell_0, credits_0, needed_0, source, header_0, n_0, size, flush
        )
        needed_0 += n_0
        if flows > 1:
            place_1 = send_turn(
                place_1, first_1, last_1, slot_bytes, bell_1, credits_1, needed_1, source, header_1, n_1, size, flush
            )
            needed_1 += n_1
            if flows > 2:
                place_2 = send_turn(
                    place_2,
                    first_2,
                    last_2,
                    slot_bytes,
                    bell_2,
                    credits_2,
                    needed_2,
                    source,
                    header_2,
                    n_2,
                    size,
                    flush,
                )
                needed_2 += n_2
                if flows > 3:
                    place_3 = send_turn(
                        place_3, first_3, last_3, slot_bytes, bell_3, credits_3, needed_3, source, header_3, n_3, size,
                        flush,
                    )  # fmt: skip
                    needed_3 += n_3
    fabric_close(credits_0, turns * n_0)
    if flows > 1:
        fabric_close(credits_1, turns * n_1)
    if flows > 2:
        fabric_close(credits_2, turns * n_2)
    if flows > 3:
        fabric_close(credits_3, turns * n_3)


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
        riscv_wait(1 + sent * 151 % 397)  # so that routers are met at all points of their turns
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
    """Send each packet that comes back; cycles from its arrival until the answer is on its way go to `times`: what follows delays
    nothing that is measured.
    """
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
        spans[sent] = get_timestamp() - begin
        noc_async_writes_flushed()
        slot = first_slot if slot == last else slot + slot_bytes
    fabric_close(credits, rounds)
