"""A frozen program on a device: the launch its chip starts, and what the dispatcher writes for it."""

from tensim.sim.chip.launch import CircularBufferLaunch, ComputeSettings, KernelLaunch, Launch, SemaphoreLaunch
from tensim.sim.cores.slots import BRISC, NCRISC
from tensim.sim.errors import ProgramError
from tensim.sim.host.address_generators import suspects
from tensim.sim.host.commands import DataMovementParameters, Reference
from tensim.sim.host.dispatch import ProgramCost
from tensim.sim.host.frozen_program import build_kernels, build_target
from tensim.sim.lazy_dataclass import dataclass

WORD = 4  # bytes of a runtime argument
TRISCS = 3  # binaries of a compute kernel
PROCESSOR_SLOTS = (BRISC, NCRISC)


@dataclass(frozen=True)
class BoundProgram:
    """What a command queue runs."""

    launch: Launch
    cost: ProgramCost
    sub_device: int


def bind(program, device):
    """A `FrozenProgram` for a device, under its active sub-device manager.  Raises KernelCompileError."""
    compiled = compile_kernels(program, device.arch)
    launch = _launch(program, compiled, device)
    return BoundProgram(launch, program_cost(program, compiled, device.arch), program.sub_device)


def compile_kernels(program, arch):
    """The kernels of a frozen program compiled for a chip, in their order.  Raises KernelCompileError."""
    buffers = program.circular_buffers
    return build_kernels([(one.kernel, one.parameters, build_target(one, buffers, arch)) for one in program.kernels])


def _launch(program, compiled, device):
    origin = device.manager.origins[program.sub_device]
    launch = Launch(f"program {program.program}", [], sub_device_origin=origin)
    launch.kernels += (
        _kernel_launch(kernel, binary, device.worker) for kernel, binary in zip(program.kernels, compiled, strict=True)
    )
    for cb in program.circular_buffers:
        launch.circular_buffers += _circular_buffer_launches(cb, device.worker)
    for semaphore in program.semaphores:
        workers = [device.worker(core) for core in semaphore.cores]
        launch.semaphores.append(SemaphoreLaunch(workers, semaphore.id, semaphore.initial))
    if device.chip.checks is not None:
        for kernel, binary in zip(program.kernels, compiled, strict=True):
            check_arguments(kernel, binary)
            check_freed(kernel, binary, device)
        for part, kernel in zip(launch.kernels, program.kernels, strict=True):
            part.suspects = {
                device.worker(core): rows for core, rows in suspects(kernel, program, device).items() if rows
            }
        buffers = [buffer for buffer in device.buffers.values() if buffer.size]
        launch.dram_buffers = [_extent(buffer) for buffer in buffers if buffer.in_dram]
        launch.l1_buffers = [
            (buffer.address, buffer.address + buffer.size_per_bank, buffer.bytes_in_banks(device.chip.n_workers))
            for buffer in buffers
            if not buffer.in_dram
        ]
        launch.unordered_buffers = [
            (buffer.in_dram, buffer.address, buffer.address + buffer.size_per_bank)
            for buffer in buffers
            if buffer.unordered
        ]
    return launch


def check_freed(kernel, compiled, device):
    """ProgramError for an argument that was given as a buffer, or its address, and that buffer has been deallocated since."""
    given, names = dict(kernel.args) | {None: kernel.common_args}, getattr(compiled, "arguments", None)
    lists = [(core, given.get(core, ()), references, "runtime") for core, references in kernel.references]
    lists.append((None, kernel.parameters.compile_args, kernel.compile_references, "compile-time"))
    for core, words, references, kind in lists:
        for index, stands_for, key in references:
            freed = device.freed.get(key) if stands_for == Reference.BUFFER_ADDRESS and index < len(words) else None
            if freed is not None and words[index] == freed:
                name = "" if core is None or names is None or index >= len(names.names) else f" ({names.names[index]})"
                raise ProgramError(
                    f"{kind} argument {index}{name} of kernel {compiled.name} is the address of buffer {key}, "
                    "which has been deallocated",
                    where={"kernel": compiled.name} | compiled.entry, kind="buffer_freed",
                    hint="deallocate the buffer behind the last program that uses it, or set the argument anew",
                )  # fmt: skip


def check_arguments(kernel, compiled):
    """ProgramError for unique runtime arguments that are missing on a core, or that the kernel never reads.

    Of a C++ kernel the second alone, as far as its text tells: a read of what is missing stops it when it runs.
    """
    if compiled.is_riscv:
        names, read = (), kernel.kernel.arguments_read
    else:
        reads = compiled.arguments
        names, read = reads.names, None if reads.any else reads.read
    given, named = dict(kernel.args), f" ({', '.join(names)})" if names else ""
    for core in kernel.cores:
        count = len(given.get(core, ()))
        where = {"core": f"({core[0]},{core[1]})", "kernel": compiled.name} | compiled.entry
        if count < len(names):
            raise ProgramError(
                f"kernel {compiled.name} takes {len(names)} runtime arguments{named}; {count} were set",
                where=where, kind="arguments_missing", hint="set_runtime_args(program, kernel, cores, [...]) with all of them",
            )  # fmt: skip
        unread = [i for i in range(count) if read is not None and i not in read and kernel.counted]
        if unread:
            name = f" ({names[unread[0]]})" if unread[0] < len(names) else ""
            needed = max(len(names), 1 + max(read, default=-1))
            raise ProgramError(
                f"kernel {compiled.name} never reads runtime argument {unread[0]}{name}; it takes {needed} and {count} were set",
                where=where, kind="arguments_unread",
                hint="leave it out, or look whether the arguments are in the order of the parameters; a name with _ is not read",
            )  # fmt: skip


def _extent(buffer):
    """(start, end, stride, pages, banks) of a DRAM buffer in every bank, 0 banks for a sharded one."""
    banks = 0 if buffer.shard else buffer.banks
    end = buffer.address + buffer.size_per_bank
    return buffer.address, end, buffer.aligned_page_size, buffer.num_pages, banks


def _kernel_launch(kernel, compiled, worker_of):
    parameters = kernel.parameters
    slot, noc, compute = None, 0, None
    if isinstance(parameters, DataMovementParameters):
        slot, noc = PROCESSOR_SLOTS[parameters.processor], parameters.noc
    else:
        compute = ComputeSettings(
            parameters.math_fidelity,
            parameters.fp32_dest_acc_en,
            parameters.dst_full_sync_en,
            parameters.math_approx_mode,
            parameters.unpack_to_dest_mode,
            parameters.bfp8_pack_precise,
        )
    return KernelLaunch(
        compiled,
        slot,
        noc,
        [worker_of(core) for core in kernel.cores],
        {worker_of(core): list(words) for core, words in kernel.args},
        list(kernel.common_args),
        list(parameters.compile_args),
        compute,
    )


def _circular_buffer_launches(cb, worker_of):
    """One launch record per index."""
    workers, page_sizes = [worker_of(core) for core in cb.cores], dict(cb.page_sizes)
    tiles = {index: (height, width) for index, height, width in cb.tiles}
    for index, data_format in cb.formats:
        tile = tiles.get(index, (32, 32))
        yield CircularBufferLaunch(
            workers, index, cb.address, cb.size, page_sizes[index], data_format, tile, cb.on_buffer
        )


# --- what the dispatcher writes


def program_cost(program, compiled, arch):
    """`ProgramCost` of a `FrozenProgram`; `compiled`: its kernels, compiled."""
    groups = {}
    for index, kernel in enumerate(program.kernels):
        for core in kernel.cores:
            groups.setdefault(core, []).append(index)
    kernel_groups = set(map(tuple, groups.values()))
    sizes = [_binary_bytes(*pair) for pair in zip(program.kernels, compiled, strict=True)]
    unique = dict.fromkeys(groups, 0)
    for kernel in program.kernels:
        for core, words in kernel.args:
            unique[core] += WORD * len(words)
    common = WORD * sum(len(kernel.common_args) for kernel in program.kernels)
    shared = _config_bytes(program, arch) + common
    binaries = {core: sum(sizes[i] for i in own) for core, own in groups.items()}
    ring = [size + unique[core] + shared for core, size in binaries.items()]
    return ProgramCost(
        program=program.program,
        binary_bytes=sum(sizes[index] for group in kernel_groups for index in group),
        kernel_groups=len(kernel_groups),
        argument_packets=len({tuple(groups[core]) for core, size in unique.items() if size}),
        argument_bytes=tuple(size for size in unique.values() if size),
        config_groups=len({frozenset(item.cores) for item in (*program.circular_buffers, *program.semaphores)}),
        config_cores=len(groups),
        config_bytes=shared,
        ring_bytes=max(ring, default=0),
        ring_binary_bytes=max(binaries.values(), default=0),
        ncrisc_bytes=max(
            (size for kernel, size in zip(program.kernels, sizes, strict=True) if _is_ncrisc(kernel)), default=0
        ),
    )


def _is_ncrisc(kernel):
    return not kernel.is_compute and PROCESSOR_SLOTS[kernel.parameters.processor] == NCRISC


def _binary_bytes(kernel, compiled):
    """Bytes of a kernel's binaries; a compute kernel is three, one per TRISC, of which those in Python are alike."""
    return compiled.text_bytes * (TRISCS if kernel.is_compute and not compiled.is_riscv else 1)


def _config_bytes(program, arch):
    indices = {index for cb in program.circular_buffers for index, _ in cb.formats}
    per_buffer, per_semaphore = arch["dispatch.circular_buffer_bytes"], arch["dispatch.semaphore_bytes"]
    return len(indices) * per_buffer + len({s.id for s in program.semaphores}) * per_semaphore
