"""The fabric in Python kernels: `from tensim.fabric_api import *` beside `tensim.kernel_api`.

A worker writes packets into the slots of a router's channel and counts the credits that come back, as the vendor's
`WorkerToFabricEdmSender` does: open, wait for an empty slot, send payload and header, close.  What a sender object holds there are
variables of the kernel here: the runtime arguments x, y, first_slot, slot_bytes, slots, notified and credits_at come from
`tensim.sim.host.fabric.Connection.args`, `router` is what `fabric_open` returns, `credits` a semaphore of the worker, `sent` how
many packets it has sent since it opened.  Each function is plain kernel code over NoC writes and increments, and costs
what those cost (docs/fabric.md#kernels).
"""
# ruff: noqa: F403, F405

from tensim.kernel_api import *
from tensim.kernel_api import __all__ as _kernel_names  # type: ignore[attr-defined]  # made of tables

FABRIC_HEADER_BYTES = 48  # of a packet header in L1, 16-byte aligned
FABRIC_UNICAST_WRITE = 1
FABRIC_INLINE_WRITE = 2
FABRIC_ATOMIC_INC = 3
FABRIC_FUSED_ATOMIC_INC = 4
FABRIC_SCATTER_WRITE = 5
FABRIC_TWO_WRITES = 0x502  # chunks of a scatter write


@device_function
def fabric_open(x: int, y: int, credits_at: int, credits: int) -> int:
    """Tell the router at (x, y) where the worker counts credits; returns the NoC address of its L1.

    The first packet goes into the first slot.  One worker at a time has a router open.
    """
    router, mine = get_noc_addr(x, y, 0), get_noc_addr(credits)
    noc_semaphore_set(credits, 0)
    noc_inline_dw_write(router + credits_at, mine & 0xFFFFFFFF)
    noc_inline_dw_write(router + credits_at + 4, mine >> 32)
    noc_inline_dw_write(router + credits_at + 8, 1)
    noc_async_write_barrier()
    return router


@device_function
def fabric_wait_for_empty_write_slot(slots: int, credits: int, sent: int) -> None:
    """Wait until the router has a free slot for packet `sent`."""
    if sent >= slots:
        noc_semaphore_wait_min(credits, sent + 1 - slots)


@device_function
def fabric_send_payload(router: int, slot: int, source: int, size: int) -> None:
    """Write a payload into a slot, without waiting."""
    noc_async_write(source, router + slot + FABRIC_HEADER_BYTES, size)


@device_function
def fabric_send_header(router: int, slot: int, header: int, notified: int) -> None:
    """Write the header into a slot and tell the router that the packet is there."""
    noc_async_write(header, router + slot, FABRIC_HEADER_BYTES)
    noc_semaphore_inc(router + notified, 1)


@device_function
def fabric_close(credits: int, sent: int) -> None:
    """Wait until the router has given back the slots of all packets."""
    noc_semaphore_wait_min(credits, sent)
    noc_async_write_barrier()
    noc_async_atomic_barrier()


@device_function
def fabric_set_unicast_write(header: int, route: int, x: int, y: int, address: int, size: int) -> None:
    """Fill a header: `size` bytes of payload go to an L1 address of the core (x, y) of each chip that the route names."""
    words = l1_ptr(header, uint32)
    target = get_noc_addr(x, y, address)
    words[0] = target & 0xFFFFFFFF
    words[1] = target >> 32
    words[10] = size | FABRIC_UNICAST_WRITE << 16
    words[11] = route


@device_function
def fabric_set_atomic_inc(header: int, route: int, x: int, y: int, address: int, value: int) -> None:
    """Fill a header: add to a word of the core (x, y); does not wait for what packets before have written."""
    fabric_set_unicast_write(header, route, x, y, address, 0)
    words = l1_ptr(header, uint32)
    words[10] = FABRIC_ATOMIC_INC << 16
    words[4] = value
    words[5] = 0


@device_function
def fabric_set_inline_write(header: int, route: int, x: int, y: int, address: int, value: int) -> None:
    """Fill a header: write a word of the core (x, y)."""
    fabric_set_unicast_write(header, route, x, y, address, 0)
    words = l1_ptr(header, uint32)
    words[10] = FABRIC_INLINE_WRITE << 16
    words[4] = value


@device_function
def fabric_set_fused_atomic_inc(
    header: int, route: int, x: int, y: int, address: int, size: int, semaphore: int, value: int, flush: int
) -> None:
    """Fill a header: write a payload, then add to a word of the same core; `flush`: not before the payload has been written."""
    fabric_set_unicast_write(header, route, x, y, address, size)
    words = l1_ptr(header, uint32)
    target = get_noc_addr(x, y, semaphore)
    words[2] = target & 0xFFFFFFFF
    words[3] = target >> 32
    words[4] = value
    words[5] = flush
    words[10] = size | FABRIC_FUSED_ATOMIC_INC << 16


@device_function
def fabric_set_scatter_write(
    header: int, route: int, x: int, y: int, address: int, size: int, second: int, first_size: int
) -> None:
    """Fill a header: the first `first_size` bytes of a payload go to one address, the rest to `second`, of the same core."""
    fabric_set_unicast_write(header, route, x, y, address, size)
    words = l1_ptr(header, uint32)
    target = get_noc_addr(x, y, second)
    words[2] = target & 0xFFFFFFFF
    words[3] = target >> 32
    words[8] = first_size
    words[9] = FABRIC_TWO_WRITES << 16
    words[10] = size | FABRIC_SCATTER_WRITE << 16


_fabric_names = [name for name in list(globals()) if name.startswith(("fabric_", "FABRIC_"))]
__all__ = [*_kernel_names, *_fabric_names]
