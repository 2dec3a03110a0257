"""What the dispatcher hands to a chip: one program, resolved to cores, addresses and values."""

import functools
from dataclasses import field
from typing import Any

import numpy as np

from tensim.sim.engine.limits import N_CIRCULAR_BUFFERS
from tensim.sim.lazy_dataclass import dataclass


@dataclass(frozen=True)
class ComputeSettings:
    """The parts of a ComputeConfig that the machine reads (tt-metal's ComputeConfig)."""

    math_fidelity: int = 4  # 0 LoFi, 2 HiFi2, 3 HiFi3, 4 HiFi4
    fp32_dest_acc_en: bool = False
    dst_full_sync_en: bool = False
    math_approx_mode: bool = False
    unpack_to_dest_mode: tuple[int, ...] = ()
    bfp8_pack_precise: bool = False


@dataclass
class KernelLaunch:
    """One kernel on its cores.  `slot`: BRISC or NCRISC; None for a compute kernel, which takes TRISC0..2."""

    compiled: Any  # tensim.sim.cores.kernels.compiler.CompiledKernel
    slot: int | None
    noc: int
    cores: list[int]  # worker indices
    args: dict[int, list[int]] = field(default_factory=dict)  # unique runtime arguments by worker index
    common_args: list[int] = field(default_factory=list)
    compile_args: list[int] = field(default_factory=list)
    compute: ComputeSettings | None = None
    suspects: dict[int, list] = field(default_factory=dict)  # for checks: rows of `SUSPECT` by worker index


@dataclass
class CircularBufferLaunch:
    """One circular buffer index on its cores; `address` and `size` in bytes of L1."""

    cores: list[int]
    index: int
    address: int
    size: int
    page_size: int
    data_format: int
    tile: tuple[int, int] = (32, 32)  # height, width
    on_buffer: bool = False  # it lies on an L1 buffer of the host


@dataclass
class SemaphoreLaunch:
    """One program semaphore; its word is written on every core of `cores` before the kernels start."""

    cores: list[int]
    id: int
    initial: int


@dataclass(eq=False)
class Launch:
    """A program ready to start; the same one may be started any number of times, one after the other."""

    name: str
    kernels: list[KernelLaunch]
    circular_buffers: list[CircularBufferLaunch] = field(default_factory=list)
    semaphores: list[SemaphoreLaunch] = field(default_factory=list)
    sub_device_origin: tuple[int, int] = (0, 0)
    dram_buffers: list[tuple] = field(default_factory=list)  # for checks: `tensim.sim.cores.checks.shadow.DRAM_BUFFER`
    # for checks: (address, end, bytes on each worker) of L1 buffers; `tensim.sim.cores.checks.shadow.UNORDERED`
    l1_buffers: list[tuple] = field(default_factory=list)
    unordered_buffers: list[tuple] = field(default_factory=list)

    @functools.cached_property
    def buffer_cores(self):
        """{index of a circular buffer: workers that have it}."""
        cores = {}
        for one in self.circular_buffers:
            cores.setdefault(one.index, []).extend(one.cores)
        return {index: np.array(mine) for index, mine in cores.items()}

    @functools.cached_property
    def buffer_rows(self):
        """Rows of these buffers in the machine's table, index by index."""
        rows = [cores * N_CIRCULAR_BUFFERS + index for index, cores in self.buffer_cores.items()]
        return np.concatenate(rows) if rows else np.zeros(0, np.int64)
