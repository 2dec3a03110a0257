"""Data in L1, and how kernels run on it, for the tests of data movement."""

import numpy as np

import tensim as tt

SOURCE, TARGET, NOTES = 0x40000, 0x80000, 0xC0000  # L1 addresses on every core that no allocator uses here
BYTES = 0x20000
GRID = (8, 8)
HOME = (1, 1)


def physical(device, core):
    return tuple(device.worker_core_from_logical_core(core))


def read(device, core, address, count):
    return np.frombuffer(device.chip.memory.read_l1(core[0] + core[1] * GRID[0], address, count), np.uint8)


def write(device, core, address, data):
    device.chip.memory.write_l1(core[0] + core[1] * GRID[0], address, np.asarray(data).tobytes())


def random_bytes(seed, count=BYTES):
    return np.random.default_rng(seed).integers(0, 256, count, np.uint8)


def run(device, *kernels):
    """Run one program of (kernel, cores, arguments[, compile-time arguments]): on RISCV_1 with NoC 0."""
    program = tt.create_program()
    for kernel_function, cores, args, *compile_args in kernels:
        config = tt.ReaderDataMovementConfig(compile_args=list(compile_args[0]) if compile_args else [])
        handle = tt.create_kernel(program, kernel_function, cores, config)
        tt.set_runtime_args(program, handle, cores, [int(arg) for arg in args])
    tt.enqueue_program(device.command_queue(), program, blocking=True)
