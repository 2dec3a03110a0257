"""Reports of deadlocks: the cause first, and of circular buffers only the threads that use them."""
# ruff: noqa: F403, F405

import pytest

import tensim as tt
from tensim.kernel_api import *
from tensim.sim.errors import DeadlockError


@kernel
def push_pages(count):
    for _ in range(count):
        cb_reserve_back(0, 1)
        cb_push_back(0, 1)


@kernel
def pop_pages(count):
    for _ in range(count):
        cb_wait_front(0, 1)
        cb_pop_front(0, 1)


@kernel
def push_when_told(count):
    noc_semaphore_wait(l1_ptr(get_semaphore(0)), 1)
    for _ in range(count):
        cb_reserve_back(0, 1)
        cb_push_back(0, 1)


@kernel
def pass_pages(source, target, count):
    for _ in range(count):
        cb_wait_front(source, 1)
        cb_reserve_back(target, 1)
        cb_push_back(target, 1)
        cb_pop_front(source, 1)


@kernel
def only_computes():
    tile_regs_acquire()
    tile_regs_commit()
    tile_regs_wait()
    tile_regs_release()


@pytest.fixture
def device():
    device = tt.create_device(0, numerics="off")
    yield device
    tt.close_device(device)


def deadlock(device, reader, writer, buffers=(0,)):
    """The error of a program of two data-movement kernels, (kernel, arguments), and a compute kernel that uses no buffer."""
    program, core = tt.create_program(), tt.CoreCoord(2, 1)
    for index in buffers:
        config = tt.CircularBufferConfig(2 * 2048, {index: tt.DataFormat.Float16_b}).set_page_size(index, 2048)
        tt.create_circular_buffer(program, core, config)
    tt.create_semaphore(program, core, 0)
    for (function, arguments), config in (
        (reader, tt.ReaderDataMovementConfig()),
        (writer, tt.WriterDataMovementConfig()),
    ):
        tt.set_runtime_args(program, tt.create_kernel(program, function, core, config), core, arguments)
    tt.create_kernel(program, only_computes, core, tt.ComputeConfig())
    tt.enqueue_program(device.command_queue(), program)
    with pytest.raises(DeadlockError) as caught:
        tt.finish(device.command_queue())
    return caught.value


def test_a_producer_that_ended_is_the_cause(device):
    error = deadlock(device, (push_pages, [3]), (pop_pages, [4]))
    (node,) = error.where["waiting"]
    assert node["is_cause"] and node["could_come_from"] == ["NCRISC (ended)"]
    assert "core (2,1) BRISC waits" in error.message.split("\n")[0]
    assert "core (2,1) NCRISC has ended" in error.message.split("\n")[0]


def test_a_semaphore_that_nobody_increments_is_the_cause_of_what_waits_behind_it(device):
    error = deadlock(device, (push_when_told, [4]), (pop_pages, [4]))
    first, second = error.where["waiting"]
    assert (first["thread"], first["is_cause"], second["thread"], second["is_cause"]) == (
        "NCRISC",
        True,
        "BRISC",
        False,
    )
    assert (
        "semaphore 0 == 1: its value is 0, and no other thread has set or incremented it"
        in error.message.split("\n")[0]
    )


def test_only_threads_that_use_the_buffer_could_end_the_wait(device):
    """The compute kernel calls nothing of circular buffers: it is not named, though nobody has pushed yet."""
    error = deadlock(device, (push_when_told, [4]), (pop_pages, [4]))
    waits = {node["thread"]: node for node in error.where["waiting"]}
    assert waits["BRISC"]["could_come_from"] == ["NCRISC"] and waits["NCRISC"]["could_come_from"] == []
    assert "nobody has called cb_reserve_back or cb_push_back of it" in error.message


def test_a_circle_is_told_as_such(device):
    error = deadlock(device, (pass_pages, [0, 1, 1]), (pass_pages, [1, 0, 1]), buffers=(0, 1))
    assert "2 threads wait for each other in a circle" in error.message.split("\n")[0]
    assert all(node["is_cause"] for node in error.where["waiting"]) and len(error.where["waiting"]) == 2
