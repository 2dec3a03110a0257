"""Commands on buffers: allocation, transfers by queues, and direct access of the host.

The functions named like commands are handlers of the executor: they take it and a record.
"""

from tensim.sim.errors import UsageError
from tensim.sim.host import commands as c
from tensim.sim.host import metal_trace
from tensim.sim.host.buffers import check_transfer, read_pages, write_pages


def check_region(buffer, offset, size):
    """UsageError for a region that is not made of whole pages inside the buffer."""
    page = max(buffer.page_size, 1)
    if offset % page or size % page:
        raise UsageError(
            f"region of {size} B at offset {offset} is not aligned to the page size {page} B of buffer {buffer.id}"
        )
    if offset < 0 or size < 0 or offset + size > buffer.size:
        raise UsageError(f"region of {size} B at offset {offset} is outside buffer {buffer.id} of {buffer.size} B")


def create_buffer(executor, r):
    device = executor.device(r.device)
    executor.host.charge("call")
    buffer = executor.buffers[r.buffer] = device.create_buffer(r)
    if buffer.owned:
        metal_trace.warn_of_allocation(device, f"buffer {r.buffer}")
    return buffer


def deallocate_buffer(executor, r):
    buffer = executor.buffers.get(r.buffer)
    if buffer is not None and buffer.device in executor.devices:
        executor.host.charge("call")
        executor.devices[buffer.device].free_buffer(buffer)


def delete_buffer(executor, r):
    buffer = executor.buffers.pop(r.buffer, None)
    if buffer is not None and buffer.device in executor.devices:
        executor.devices[buffer.device].free_buffer(buffer, dropped=True)


def _transfer_target(executor, r, offset, size):
    device, queue = executor.queue(r)
    queue.refuse_capture(f"a transfer of buffer {r.buffer}")
    buffer = executor.buffer(r.buffer)
    if buffer.device != device.id:
        raise UsageError(f"buffer {buffer.id} is on device {buffer.device}, the queue on device {device.id}")
    check_region(buffer, offset, size)
    return device, queue, buffer


def write_buffer(executor, r):
    device, queue, buffer = _transfer_target(executor, r, r.offset, len(r.data))
    executor.host.charge("enqueue_transfer")
    stamp = executor.host.copy(len(r.data), device.arch["dispatch.max_command_bytes"])
    group, pages = device.manager.stall_group, len(r.data) // max(buffer.page_size, 1)

    def work(queue):
        yield from queue.wait_programs(group)
        yield from queue.transfer(len(r.data), pages, write=True)
        check_transfer(device, queue, buffer, r.offset, len(r.data), writes=True)
        write_pages(device, buffer, r.offset, r.data)

    item = executor.issue(device, queue, work, len(r.data), stamp)
    if r.blocking:
        executor.finish(device, queue, group)
    return item


def read_buffer(executor, r):
    """Returns the queue item whose `result` is the bytes (None if they are not wanted) once it is done."""
    device, queue, buffer = _transfer_target(executor, r, r.offset, r.size)
    executor.host.charge("enqueue_transfer")
    group, pages = device.manager.stall_group, r.size // max(buffer.page_size, 1)

    def work(queue):
        yield from queue.wait_programs(group)
        yield from queue.transfer(r.size, pages, write=False)
        check_transfer(device, queue, buffer, r.offset, r.size, writes=False)
        return read_pages(device, buffer, r.offset, r.size) if r.fetch else None

    item = executor.issue(device, queue, work)
    if r.blocking:
        executor.finish(device, queue, group)
    return item


def look_at_buffer(executor, number, queue_number):
    """An event whose value is the bytes of a buffer when everything issued to a queue of its device so far has ended.

    That takes no time, neither the host's nor the device's.
    """
    buffer = executor.buffer(number)
    device = executor.device(buffer.device)
    queue, seen = device.queues[queue_number], executor.env.event()

    def look(programs):
        for program in programs:
            if not program.processed:
                yield program
        seen.succeed(read_pages(device, buffer, 0, buffer.size))

    def work(queue):
        queue.spawn(look(list(queue.programs.values())))
        yield from ()

    executor.issue(device, queue, work, marks=True)
    return seen


def transfer_buffer(executor, r):
    device, queue = executor.queue(r)
    queue.refuse_capture(f"a transfer of buffer {r.source}")
    source, target = executor.buffer(r.source), executor.buffer(r.target)
    if source.size != target.size:
        raise UsageError(f"buffer {source.id} has {source.size} B, buffer {target.id} {target.size} B")
    ends = executor.device(source.device), executor.device(target.device)
    route = executor.system.topology.route(ends[0].place, ends[1].place, r.via)
    executor.host.charge("enqueue_transfer")
    group = device.manager.stall_group

    def work(queue):
        yield from queue.wait_programs(group)
        yield from executor.system.topology.move(route, source.size, begin=queue.begin)
        check_transfer(ends[0], queue, source, 0, source.size, writes=False)
        check_transfer(ends[1], queue, target, 0, target.size, writes=True)
        write_pages(ends[1], target, 0, read_pages(ends[0], source, 0, source.size))

    return executor.issue(device, queue, work)


def compare_buffer(executor, r):
    """Read a whole buffer, blocking; returns the queue item with the bytes, who compares is the caller."""
    size = executor.buffer(r.buffer).size
    return read_buffer(executor, c.ReadBuffer(r.device, r.queue, r.buffer, 0, size, True))


def write_direct(executor, r):
    buffer = executor.buffer(r.buffer)
    check_region(buffer, 0, len(r.data))
    device = executor.device(buffer.device)
    executor.catch_up(device)
    write_pages(device, buffer, 0, r.data)


def read_direct(executor, r):
    buffer = executor.buffer(r.buffer)
    device = executor.device(buffer.device)
    executor.catch_up(device)
    return read_pages(device, buffer, 0, buffer.size)
