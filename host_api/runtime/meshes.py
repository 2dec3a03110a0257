"""Meshes of chips and tensors spread over them (docs/hardware/runtime.md#transfers-and-meshes)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NoReturn, Self, TypeAlias, cast

import numpy as np

from tensim.runtime.arguments import tensor_of
from tensim.runtime.conversion import to_layout
from tensim.runtime.errors import LayoutMismatch
from tensim.runtime.layouts import MemSpace, TensorDesc
from tensim.runtime.placement import ANY
from tensim.runtime.sync import Event
from tensim.runtime.sync import wait as host_wait
from tensim.runtime.tensors import Tensor
from tensim.sim.errors import UsageError

if TYPE_CHECKING:
    from tensim.runtime.binaries import Binary
    from tensim.runtime.bound_programs import BoundBinary
    from tensim.runtime.devices import SimAccelerator
    from tensim.runtime.layouts import Layout
    from tensim.runtime.placement import Queues
    from tensim.runtime.program_info import TensorInfo
    from tensim.runtime.queues import Queue
    from tensim.runtime.sync import Waitable


@dataclass(frozen=True)
class Replicate:
    """Every chip along this mesh axis holds the whole."""


@dataclass(frozen=True)
class Shard:
    """The chips along this mesh axis hold slices of dimension `dim`; `pad`: an uneven dimension is filled up with zeros."""

    dim: int
    pad: bool = False


Spread: TypeAlias = Replicate | Shard  # along one axis of a mesh


class MeshQueue:
    """One queue of every chip of a mesh, with one number."""

    def __init__(self, mesh: MeshDevice, number: int) -> None:
        self.device, self.id = mesh, number

    @property
    def members(self) -> list[Queue]:
        """The queues of the chips, row-major."""
        return [device.queues[self.id] for device in self.device.devices]

    def record(self) -> Event:
        """The event of everything issued here so far, on all chips."""
        return Event.all_of(*[queue.record() for queue in self.members])

    def barrier(self) -> Event:
        """An event behind everything here."""
        return Event.all_of(*[queue.barrier() for queue in self.members])

    def wait_for(self, event: Event) -> None:
        """The queues of all chips stall until `event`; the host goes on."""
        for queue in self.members:
            queue.wait_for(event)


class MeshDevice:
    """Chips in a grid.  `shape`: (rows, columns); `devices`: row-major; `info`: of the first chip.

    A program that is submitted to a mesh runs on every chip, on its parts of the tensors that `distribute` spread.
    """

    scheme = "mesh"

    def __init__(
        self, shape: tuple[int, int], devices: Sequence[SimAccelerator], parent: MeshDevice | None = None
    ) -> None:
        if math.prod(shape) != len(devices):
            raise UsageError(
                f"a mesh of {shape[0]}x{shape[1]} needs {math.prod(shape)} chips, there are {len(devices)}",
                hint="one chip per place, row after row",
            )
        self.shape = cast("tuple[int, int]", tuple(shape))
        self.devices, self.parent, self.submeshes = list(devices), parent, []
        self.system, self.info = devices[0].system, devices[0].info
        self.loaded = {}  # binary id -> BoundBinary
        self.queues = [MeshQueue(self, number) for number in range(min(len(device.queues) for device in devices))]
        self.name = f"mesh {shape[0]}x{shape[1]} of {devices[0].name}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close(force=True)

    def home_of(self, layout: Layout) -> NoReturn:
        """UsageError: no tensor as a whole lies on a mesh."""
        raise UsageError(
            f"{self.name} holds tensors in parts only",
            hint="distribute(tensor, mesh, [Replicate(), Shard(0)]) spreads one",
        )

    def load(self, binary: Binary) -> BoundBinary:
        """Bind a binary to this mesh and keep it loaded."""
        return self.loaded.setdefault(binary.id, binary.bind(self))

    def unload(self, binary: Binary) -> None:
        """Forget a loaded binary; UsageError when it is not loaded."""
        if self.loaded.pop(binary.id, None) is None:
            raise UsageError(f"binary {binary.id} is not loaded on {self.name}", hint="load(binary) loads it")

    def record_event(self, queue: Queues = ANY) -> Event:
        """The event of everything issued so far, to a queue of each chip."""
        return Event.all_of(*[device.record_event(queue) for device in self.devices])

    def synchronize(self) -> None:
        """The host waits for all queues of all chips."""
        host_wait([queue.record() for device in self.devices for queue in device.queues])

    def memory_view(self) -> dict[str, dict[str, dict[str, int]]]:
        """{name of a chip: its memory view}."""
        return {device.name: device.memory_view() for device in self.devices}

    def axes(self) -> list[str]:
        """What each axis can be used as: disabled, line or ring."""
        return self.system.topology.classify(self.shape, [device.state.place for device in self.devices])

    def submesh(self, shape: tuple[int, int], offset: tuple[int, int] = (0, 0)) -> MeshDevice:
        """A part of the mesh; a context manager that releases it."""
        if any(n < 1 or o < 0 or o + n > have for n, o, have in zip(shape, offset, self.shape, strict=True)):
            raise UsageError(
                f"a submesh of {shape} at {offset} is outside the mesh of {self.shape}",
                hint="(rows, columns) and (row, column) within the mesh",
            )
        rows = range(offset[0], offset[0] + shape[0])
        columns = range(offset[1], offset[1] + shape[1])
        part = MeshDevice(shape, [self.devices[r * self.shape[1] + c] for r in rows for c in columns], self)
        self.submeshes.append(part)
        return part

    def close(self, *, force: bool = False) -> None:
        """Close the chips; of a submesh: release it.  UsageError while submeshes live, unless forced."""
        if self.submeshes and not force:
            raise UsageError(f"{self.name} has {len(self.submeshes)} living submeshes", hint="close(force=True)")
        if self.parent is not None:
            self.parent.submeshes = [submesh for submesh in self.parent.submeshes if submesh is not self]
            return
        for device in self.devices:
            device.close(force=force)


class ShardedTensor:
    """A tensor spread over a mesh.  `desc`: of the whole; `shards`: one tensor per chip, row-major; `placements`: by axis."""

    def __init__(self, desc: TensorDesc, mesh: MeshDevice, placements: Iterable[Spread], shards: list[Tensor]) -> None:
        self.desc, self.mesh, self.placements, self.shards = desc, mesh, tuple(placements), shards
        self.system = mesh.system

    def numpy(self) -> np.ndarray:
        """The whole as an array."""
        return gather(self).numpy()

    @property
    def event(self) -> list[Event]:
        """The events of all shards."""
        return [shard.event for shard in self.shards]


def distribute(
    tensor: Tensor,
    mesh: MeshDevice,
    placements: Iterable[Spread],
    *,
    layout: Layout | None = None,
    wait: Waitable = (),
    queue: Queues = ANY,
    label: str = "",
) -> ShardedTensor:
    """A host tensor over a mesh: one placement (Replicate or Shard) per mesh axis.  LayoutMismatch for an uneven dimension."""
    tensor_of(tensor, "distribute")
    placements = tuple(placements)
    if len(placements) != len(mesh.shape):
        raise UsageError(
            f"{len(placements)} placements for a mesh of {len(mesh.shape)} axes",
            hint="one Replicate() or Shard(dim) per axis",
        )
    values = _padded(tensor.numpy(), mesh.shape, placements)
    layout = layout or replace(tensor.layout, space=MemSpace.DRAM)
    shards = []
    for position, device in enumerate(mesh.devices):
        part = values[_slices(values.shape, mesh.shape, placements, divmod(position, mesh.shape[1]))]
        host = Tensor.from_numpy(part, system=mesh.system, name=f"{tensor.name}[{position}]")
        shards.append(to_layout(host, layout, device, wait=wait, queue=queue, label=label))
    return ShardedTensor(tensor.desc, mesh, placements, shards)


def gather(
    tensor: ShardedTensor, *, dims: Iterable[int | None] | None = None, wait: Waitable = (), label: str = ""
) -> Tensor:
    """The whole host tensor of a ShardedTensor.  `dims`: the dimension that each mesh axis was sharded in (None: as it was)."""
    mesh, placements = tensor.mesh, tensor.placements
    if dims is not None and tuple(dims) != tuple(getattr(p, "dim", None) for p in placements):
        raise LayoutMismatch(
            f"gather over dims {tuple(dims)}: the tensor is spread as {placements}",
            hint="leave dims out, or name these",
        )
    host_wait(wait)
    parts = [shard.to_host(label=label) for shard in tensor.shards]
    host_wait([part.event for part in parts])
    rows, columns = mesh.shape
    arrays = np.empty((rows, columns), object)
    for position, part in enumerate(parts):
        arrays[divmod(position, columns)] = part.numpy()
    lines = [_joined([arrays[r, c] for c in range(columns)], placements[1]) for r in range(rows)]
    whole = _joined(lines, placements[0])[tuple(slice(n) for n in tensor.desc.shape)]
    return Tensor.from_numpy(whole, system=mesh.system)


def spread_alike(
    info: TensorInfo, inputs: Sequence[ShardedTensor], mesh: MeshDevice
) -> tuple[TensorDesc, tuple[Spread, ...]]:
    """(description of the whole, placements) of an output of a program that ran on every chip on parts of `inputs`.

    It is spread as the first input that is cut up, if their parts have one shape; everywhere the same, if no input is cut
    up.  UsageError when it cannot be told.
    """
    cut = next((x for x in inputs if any(isinstance(placement, Shard) for placement in x.placements)), None)
    if cut is None:
        return info.desc, (Replicate(),) * len(mesh.shape)
    if cut.shards[0].desc.shape == info.desc.shape:
        return TensorDesc(cut.desc.shape, info.desc.dtype), cut.placements
    raise UsageError(
        f"output {info.name} has the shape {info.desc.shape} on each chip, the parts of its input "
        f"{cut.shards[0].desc.shape}: what the whole is cannot be told",
        hint="give outputs=[ShardedTensor(desc, mesh, placements, shards)]",
    )


def _padded(values: np.ndarray, shape: tuple[int, int], placements: Sequence[Spread]) -> np.ndarray:
    """The array with uneven dimensions filled up, where the placements allow it."""
    widths = [(0, 0)] * values.ndim
    for dim, pieces, pad in _pieces(values.ndim, shape, placements):
        short = -values.shape[dim] % pieces
        if short and not pad:
            raise LayoutMismatch(
                f"dimension {dim} of {values.shape} cannot be cut into {pieces} equal parts",
                hint="Shard(dim, pad=True) fills it up with zeros",
            )
        widths[dim] = (0, short)
    return np.pad(values, widths) if any(after for _, after in widths) else values


def _pieces(ndim: int, shape: tuple[int, int], placements: Sequence[Spread]) -> list[tuple[int, int, bool]]:
    """(dimension, number of parts, whether padding is allowed) of each sharded dimension."""
    parts = {}
    for count, placement in zip(shape, placements, strict=True):
        if isinstance(placement, Shard):
            if not -ndim <= placement.dim < ndim:
                raise UsageError(
                    f"{placement}: the tensor has {ndim} dimensions", hint=f"dim from {-ndim} to {ndim - 1}"
                )
            dim = placement.dim % ndim
            pieces, pad = parts.get(dim, (1, True))
            parts[dim] = pieces * count, pad and placement.pad
    return [(dim, *rest) for dim, rest in parts.items()]


def _slices(
    shape: tuple[int, ...], mesh_shape: tuple[int, int], placements: Sequence[Spread], position: tuple[int, int]
) -> tuple[slice, ...]:
    """The part of an array that the chip at a mesh position holds."""
    ranges = [(0, n) for n in shape]
    for axis, placement in enumerate(placements):
        if isinstance(placement, Shard):
            dim = placement.dim % len(shape)
            start, end = ranges[dim]
            step = (end - start) // mesh_shape[axis]
            ranges[dim] = start + position[axis] * step, start + (position[axis] + 1) * step
    return tuple(slice(*pair) for pair in ranges)


def _joined(parts: Sequence[np.ndarray], placement: Spread) -> np.ndarray:
    return np.concatenate(parts, axis=placement.dim) if isinstance(placement, Shard) else parts[0]
