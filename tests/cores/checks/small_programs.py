"""Small programs on a device with checks: what planted bugs and tricky legal programs are made of."""

import numpy as np

import tensim as tt
from tensim.kernel_api import *  # noqa: F403

# ruff: noqa: F405
FIRST, SECOND, THIRD, FOURTH = (tt.CoreCoord(x, 0) for x in range(4))
BRISC, NCRISC = tt.WriterDataMovementConfig, tt.ReaderDataMovementConfig
ON_NOC_0 = tt.DataMovementConfig(processor=tt.DataMovementProcessor.RISCV_1, noc=tt.NOC.NOC_0)
PAGE, PAGES = 2048, 8
DRAM, L1 = tt.BufferType.DRAM, tt.BufferType.L1
DATA = np.random.default_rng(1).integers(0, 2**31, PAGES * PAGE // 4, dtype=np.uint32)


class Device:
    """A device with checks and two queues; `case.program` is built by the next calls until `run`."""

    def __init__(self, device):
        self.device, self.program, self.kept = device, tt.create_program(), []

    def buffer(self, data=DATA, pages=PAGES, page=PAGE, memory=DRAM, queue=0):
        """A buffer; `data` None: nobody has written it."""
        config = tt.InterleavedBufferConfig(self.device, pages * page, page, memory)
        made = tt.create_buffer(config)
        self.kept.append(made)
        if data is not None:
            tt.enqueue_write_buffer(
                self.queue(queue), made, np.resize(data, pages * page // 4).tobytes(), blocking=True
            )
        return made

    def circular_buffer(self, index, pages=2, cores=FIRST, page=PAGE):
        config = tt.CircularBufferConfig(pages * page, {index: tt.DataFormat.UInt32}).set_page_size(index, page)
        tt.create_circular_buffer(self.program, cores, config)

    def semaphores(self, count, cores):
        for _ in range(count):
            tt.create_semaphore(self.program, [cores], 0)

    def kernel(self, core, config, function, *args, compile_args=()):
        config = config() if callable(config) else config
        if compile_args:
            config.compile_args = list(compile_args)
        make = tt.create_kernel_from_string if isinstance(function, str) else tt.create_kernel
        handle = make(self.program, function, core, config)
        tt.set_runtime_args(self.program, handle, core, list(args))
        return handle

    def queue(self, number=0):
        return self.device.command_queue(number)

    def enqueue(self, queue=0):
        """Enqueue what has been built, and begin anew."""
        tt.enqueue_program(self.queue(queue), self.program, blocking=False)
        self.program = tt.create_program()

    def run(self):
        """The same, until it has ended."""
        self.enqueue()
        tt.finish(self.queue())

    def read(self, buffer, queue=0):
        return np.frombuffer(bytes(tt.enqueue_read_buffer(self.queue(queue), buffer, blocking=True)), np.uint32)

    def place(self, core):
        """NoC coordinates of a core."""
        found = self.device.worker_core_from_logical_core(core)
        return found.x, found.y

    def copy(self, source, target, core=FIRST, queue=0, count=PAGES):
        """Enqueue a program that copies pages of a buffer."""
        self.circular_buffer(0, cores=core)
        self.kernel(core, NCRISC, read_pages, source, count)
        self.kernel(core, BRISC, write_pages, target, count)
        self.enqueue(queue)


def checked(case):
    """Build and run what `case` says on a device with checks."""
    with tt.create_device(0, arch="wormhole_b0", check=True, num_hw_cqs=2, max_cycles=3_000_000) as device:
        case(Device(device))


@kernel
def read_pages(address, count):
    source = InterleavedAddrGen(address, page_size=2048, dram=True)
    for page in range(count):
        cb_reserve_back(0, 1)
        noc_async_read_page(page, source, get_write_ptr(0))
        noc_async_read_barrier()
        cb_push_back(0, 1)


@kernel
def write_pages(address, count):
    target = InterleavedAddrGen(address, page_size=2048, dram=True)
    for page in range(count):
        cb_wait_front(0, 1)
        noc_async_write_page(page, target, get_read_ptr(0))
        noc_async_write_barrier()
        cb_pop_front(0, 1)


@kernel
def write_one(address, page):
    """What lies in scratch memory becomes a page."""
    target = InterleavedAddrGen(address, page_size=2048, dram=True)
    noc_async_write_page(page, target, get_write_ptr(0))
    noc_async_write_barrier()


@kernel
def read_one(address):
    source = InterleavedAddrGen(address, page_size=2048, dram=True)
    noc_async_read_page(0, source, get_write_ptr(0))
    noc_async_read_barrier()
