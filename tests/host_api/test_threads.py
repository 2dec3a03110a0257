"""Threads of the host program: a process simulates the devices of one thread, and commands of several take turns."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

import tensim as tt
from tensim.sim.errors import UsageError
from tensim.sim.host import executor

PAGE = 64


def cycles_of_a_transfer(number):
    """Femtoseconds that a device has lived when it has taken 100 pages, alone in its process."""
    with tt.create_device(number) as device:
        buffer = tt.create_buffer(tt.InterleavedBufferConfig(device, 100 * PAGE, PAGE))
        for _ in range(20):
            tt.enqueue_write_buffer(device.command_queue(), buffer, bytes(100 * PAGE), blocking=True)
        return device.system.env.now


def test_a_thread_opens_no_device_while_another_has_one(fake):
    """Their calls would have no order, and cycles would differ from run to run.  The thread that was first is not disturbed."""
    alone = cycles_of_a_transfer(0)
    with ThreadPoolExecutor(1, thread_name_prefix="other") as other:
        with tt.create_device(0):
            with pytest.raises(
                UsageError, match="device 1 cannot be opened in other_0: MainThread has device 0 open"
            ) as error:
                other.submit(tt.create_device, 1).result(60)
            assert "multiprocessing" in error.value.hint
            tt.close_device(tt.create_device(1))
        assert other.submit(cycles_of_a_transfer, 1).result(60) == alone
    assert cycles_of_a_transfer(0) == alone


def test_a_device_that_a_thread_has_left_open_stops_nobody(fake):
    opened = []
    thread = threading.Thread(target=lambda: opened.append(tt.create_device(0)))
    thread.start()
    thread.join()
    with tt.create_device(1):
        assert tt.close_device(opened[0])


def test_threads_take_turns_on_a_device(two_queues):
    """Each with a queue of its own: what they write and read is theirs, whatever the order."""
    buffers = [tt.create_buffer(tt.InterleavedBufferConfig(two_queues, 16 * PAGE, PAGE)) for _ in range(2)]
    meet = threading.Barrier(2, timeout=60)

    def work(number):
        queue, found = two_queues.command_queue(number), []
        meet.wait()
        for turn in range(50):
            data = bytes([number, turn]) * (8 * PAGE)
            tt.enqueue_write_buffer(queue, buffers[number], data)
            found.append(bytes(tt.enqueue_read_buffer(queue, buffers[number])) == data)
        return all(found)

    with ThreadPoolExecutor(2) as threads:
        assert list(threads.map(work, range(2))) == [True, True]


def test_a_buffer_that_a_thread_lets_go_of_waits_for_nobody():
    """The garbage collector may run in a thread that the command of another one waits for, such as a compiler's."""
    device = tt.create_device(0)
    try:
        config = tt.InterleavedBufferConfig(device=device, size=2048, page_size=2048, buffer_type=tt.BufferType.DRAM)
        held = [tt.create_buffer(config)]
        address = held[0].address
        with executor._turns:  # a command is under way
            thread = threading.Thread(target=held.clear)
            thread.start()
            thread.join(30)
            assert not thread.is_alive() and not held
        assert tt.create_buffer(config).address != address  # the deletion follows the command behind it
        assert tt.create_buffer(config).address == address
    finally:
        tt.close_device(device)
