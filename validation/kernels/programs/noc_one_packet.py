"""Small writes by the general call and by the call for one packet: `noc_one_packet`."""

import numpy as np

import tensim.ttnn as ttnn
from tensim.validation.kernels.columns import chip, number_in
from tensim.validation.kernels.programs import common
from tensim.validation.kernels.programs.measuring import KERNEL

VARIANTS = ("generic", "one_packet", "generic_runtime_size")
DESTINATIONS = {"single destination": False, "spread destinations": True}


def noc_one_packet(x, out, *, variant, num_cores, pages_per_core, kernel_iters=1, dest_spread=False):
    """Each core's pages of x to the next core's part of out, or page by page to the cores of the ring in turn."""
    device, page = x.device(), x.buffer_aligned_page_size()
    cores = [(i, 0) for i in range(num_cores)]
    words = [
        page, pages_per_core, kernel_iters, int(variant == "one_packet"), int(dest_spread), num_cores,
        int(variant == "generic_runtime_size"),
    ]  # fmt: skip
    arguments = [
        [
            x.buffer_address(), out.buffer_address(),
            *common.placed_words(device, cores[i + 1 :] + cores[: i + 1]), page,
        ]
        for i in range(num_cores)
    ]  # fmt: skip
    writer = common.kernel("noc_one_packet", "writer", cores, ttnn.WriterConfigDescriptor(), words, arguments)
    return ttnn.generic_op([x, out], ttnn.ProgramDescriptor(kernels=[writer], semaphores=[], cbs=[]))


def spec(row):
    variant, _, destinations = row["variant"].partition(", ")
    if variant not in VARIANTS or destinations not in DESTINATIONS:
        raise ValueError(f"column variant is {row['variant']!r}, not CALL, single|spread destination(s)")
    options = (
        ("page_bytes", row.integer("page_or_write_bytes")), ("variant", variant), ("num_cores", row.integer("cores")),
        ("pages_per_core", number_in(row, r"(\d+) pages")), ("dest_spread", DESTINATIONS[destinations]),
    )  # fmt: skip
    return chip(row), options, KERNEL


def _tensors(device, num_cores, pages, page_bytes):
    shape = (num_cores * pages, page_bytes // 2)
    config = common.sharded([(i, 0) for i in range(num_cores)], (pages, page_bytes // 2))
    x = common.random(device, shape, layout=ttnn.ROW_MAJOR_LAYOUT, memory_config=config)
    return x, common.output_like(x)


def prepared(device, page_bytes, **options):
    x, out = _tensors(device, options["num_cores"], options["pages_per_core"], page_bytes)
    return lambda: noc_one_packet(x, out, **options)


def check(device, page_bytes, **options):
    cores, pages = options["num_cores"], options["pages_per_core"]
    x, out = _tensors(device, cores, pages, page_bytes)
    got = common.numbers(noc_one_packet(x, out, **options)).reshape(cores, pages, -1)
    sent = common.numbers(x).reshape(cores, pages, -1)
    for sender in range(cores):
        for page in range(pages):
            receiver = (sender + 1 + (page % cores if options["dest_spread"] else 0)) % cores
            np.testing.assert_array_equal(got[receiver, page], sent[sender, page])
