"""A gather between two chips as a program on each: cores under or beside Ethernet tiles send, others may copy the own part.

Each chip has a part of a tensor in its DRAM, and both have all of it in the end.  The rows' report is not at hand; what their names
leave open is assumed: links and copying cores share the part equally, blocks are as large as packets, `BLOCKS` of them have room
on a core, and a sender waits behind each packet until it has left.
"""

import tensim as tt
from tensim.sim.chip import statistics
from tensim.validation.fabric.gather_kernels import IN_FLIGHT, read_blocks, send_blocks, write_blocks
from tensim.validation.fabric.traffic import HEADERS

PAGE = 2048  # a tile of 16-bit numbers
WAYS = ("south", "north")  # from the first chip to the second, and back
BLOCKS = 2 * IN_FLIGHT
COPY_ROW = 4  # of the cores that copy


def duration(mesh, held, cores, routes, size, runs, own, copies):
    """ns of the longer of both chips' programs.

    `held`: of each chip, its part and the whole (`tensors`); `cores`, `routes`: the logical core of each link's sender, and the
    route of its packets; `size`: bytes of the longest packet, in whole pages; `runs`: packets are pages of one bank, else single
    pages; `own`: the NoC on which senders write the own part (of `gather_kernels`), 0 where `copies` further cores do.
    """
    for chip in range(len(WAYS)):
        _launch(mesh, chip, held[chip], cores[chip], routes[chip], size // PAGE, runs, own, copies)
    longest = 0.0
    for device in mesh.devices:
        tt.finish(device.command_queue())
        longest = max(longest, statistics.program_cycles(device.chip) * 1000 / device.arch.clock_mhz)
    return longest


def tensors(mesh, pages):
    """(buffer of its part, of `pages` pages, buffer of the whole) of each chip."""
    counts = (pages, len(mesh.devices) * pages)
    return [tuple(_tensor(device, count) for count in counts) for device in mesh.devices]


def _launch(mesh, chip, held, cores, route, step, runs, own, copies):
    device, program = mesh.devices[chip], tt.create_program()
    banks = device.num_banks(tt.BufferType.DRAM)
    source, target = (buffer.address for buffer in held)
    pages = held[0].size // PAGE
    mine = chip * pages
    for link, core in enumerate(cores):
        where, part = tt.CoreCoord(*core), _part(pages, banks, step, runs, len(cores), link)
        _read(program, where, source, step, part)
        tt.create_semaphore(program, where, 0)
        args = (*mesh.connection(chip, WAYS[chip], link).args, HEADERS, route, own, target, *part[:-1], mine + part[-1])
        _kernel(program, send_blocks, where, tt.WriterDataMovementConfig(), args)
    for copy in range(copies):
        where, part = tt.CoreCoord(copy, COPY_ROW), _part(pages, banks, step, runs, copies, copy)
        _read(program, where, source, step, part)
        _kernel(program, write_blocks, where, tt.WriterDataMovementConfig(), (target, *part[:-1], mine + part[-1]))
    tt.enqueue_program(device.command_queue(), program, False)


def _part(pages, banks, step, runs, parts, number):
    """The arguments of one of equal parts: (page, step, runs, rows, columns, stride, jump, last, first).

    Runs need as many pages in each bank.
    """
    columns, stride = (banks, 1) if runs else (1, step)
    width = columns * step
    rows = -(-pages // width)
    begin, end = rows * number // parts, rows * (number + 1) // parts
    last = (pages - (rows - 1) * width) // columns if end == rows else step
    return PAGE, step, int(runs), end - begin, columns, stride, width - columns * stride, last, begin * width


def _read(program, core, source, step, part):
    """The kernel that reads a part into the core's circular buffer."""
    config = tt.CircularBufferConfig(BLOCKS * step * PAGE, {0: tt.DataFormat.UInt32}).set_page_size(0, step * PAGE)
    tt.create_circular_buffer(program, core, config)
    _kernel(program, read_blocks, core, tt.ReaderDataMovementConfig(), (source, BLOCKS, *part))


def _tensor(device, pages):
    config = tt.InterleavedBufferConfig(
        device=device, size=PAGE * pages, page_size=PAGE, buffer_type=tt.BufferType.DRAM
    )
    return tt.create_buffer(config)


def _kernel(program, function, core, config, args):
    handle = tt.create_kernel(program, function, core, config)
    tt.set_runtime_args(program, handle, core, [int(value) for value in args])
