"""Tensors: a description, a layout, and the memory that holds the bytes (docs/hardware/runtime.md#layouts-and-tensors)."""

from __future__ import annotations

import typing
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from tensim.runtime.arguments import device_of, layout_of
from tensim.runtime.conversion import download, to_layout
from tensim.runtime.current_system import current
from tensim.runtime.dtypes import DType, cast, dtype_of
from tensim.runtime.encoding import decode
from tensim.runtime.errors import RetainedTensor, UseAfterFree
from tensim.runtime.layouts import Layout, MemSpace, TensorDesc
from tensim.runtime.storage import DeviceStorage, HostStorage
from tensim.runtime.sync import settle, wait
from tensim.sim.errors import UsageError
from tensim.sim.host import commands as c
from tensim.sim.input_files import read_arrays
from tensim.sim.output_files import write_arrays

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from tensim.runtime.devices import AnyDevice, SimAccelerator
    from tensim.runtime.placement import Affinity
    from tensim.runtime.storage import Storage
    from tensim.runtime.sync import Event
    from tensim.runtime.system import System
    from tensim.sim.errors import TensimError


class Tensor:
    """A tensor somewhere.  `version` grows with every write; `retain`: deallocate needs force; `name`: in messages.

    `device`: None for host memory.  `placement`: the affinity it was pinned to.
    """

    def __init__(
        self,
        system: System,
        desc: TensorDesc,
        layout: Layout,
        storage: Storage,
        *,
        name: str | None = None,
        device: SimAccelerator | None = None,
    ) -> None:
        self.id, self.system = system.next_tensor_id(), system
        self.desc, self.layout = desc, layout.resolved(desc)
        self._storage: Storage | None = storage
        self.device, self.retain, self.version = device, False, 0
        self.placement: Affinity | None = None
        self.name = name or f"tensor{self.id}"
        self.lost: TensimError | None = None  # the error of whoever uses it, once it is gone
        system.tensors[self.id] = self

    def __del__(self) -> None:
        storage = getattr(self, "_storage", None)
        if isinstance(storage, DeviceStorage):
            storage.free()  # commands under way keep their claim on the memory

    def __repr__(self) -> str:
        place = "host" if self.device is None else self.device.name
        layout = f"{self.layout.space.value} {self.layout.tiling}"
        return f"Tensor({self.name}, {self.desc.dtype} {self.desc.shape}, {layout} on {place})"

    # --- making

    @staticmethod
    def from_numpy(
        array: ArrayLike,
        *,
        copy: bool = True,
        allow_cast: bool = False,
        system: System | None = None,
        name: str | None = None,
    ) -> Tensor:
        """A row-major tensor in host memory.

        `copy=False` borrows the array, which stays alive with the tensor; `allow_cast` permits types that devices have not
        (float64, int64, ...).  LayoutUnsupported for other types and for arrays of no dimension.
        """
        array = np.asarray(array)
        dtype = dtype_of(array.dtype, allow_cast=allow_cast)
        desc = TensorDesc(array.shape, dtype)
        values = array if array.dtype == dtype.numpy else cast(array, dtype)
        if copy or not values.flags.c_contiguous:
            values = np.array(values, order="C")
        storage = HostStorage(values.reshape(-1).view(np.uint8), name or "host array", values)
        return Tensor(system or current(), desc, Layout(MemSpace.HOST), storage, name=name)

    @staticmethod
    def empty(
        desc: TensorDesc,
        layout: Layout,
        device: AnyDevice | None = None,
        *,
        name: str | None = None,
        system: System | None = None,
    ) -> Tensor:
        """A tensor of undefined contents.  OutOfDeviceMemory when it does not fit."""
        layout_of(layout, "Tensor.empty")
        owner = system or current()
        if device is not None:
            owner = device_of(device, "Tensor.empty").system
            layout, device = device.home_of(layout)
        layout = layout.resolved(desc)
        if layout.space.on_host:
            data = np.zeros(layout.nbytes(desc), np.uint8)
            return Tensor(owner, desc, layout, HostStorage(data, name or "host array"), name=name)
        if device is None:
            raise UsageError(
                f"a tensor in {layout.space.name} needs a device", hint="device=, or a layout in MemSpace.HOST"
            )
        chip = typing.cast("SimAccelerator", device)
        return Tensor(chip.system, desc, layout, chip.allocate(desc, layout, name), name=name, device=chip)

    def held_by(self, storage: Storage, layout: Layout) -> Tensor:
        """A host tensor of the same description and name over other bytes."""
        return Tensor(self.system, self.desc, layout, storage, name=self.name)

    @staticmethod
    def scalar(value: float, *, system: System | None = None) -> Tensor:
        """One number, packed into 32 bits: an argument of kernels."""
        kind = np.float32 if isinstance(value, float) else np.int32 if value < 0 else np.uint32
        return Tensor.from_numpy(np.array([value], kind), system=system, name=f"scalar {value}")

    # --- state

    @property
    def storage(self) -> Storage:
        """Where the bytes are; UseAfterFree or UseAfterDonate when they are gone."""
        if self._storage is None:
            raise typing.cast("TensimError", self.lost)
        return self._storage

    @property
    def is_allocated(self) -> bool:
        return self._storage is not None

    @property
    def event(self) -> Event:
        """The event of its last write."""
        written = self.storage.uses.last_write
        return self.system.origin if written is None else written

    @property
    def shape(self) -> tuple[int, ...]:
        return self.desc.shape

    @property
    def dtype(self) -> DType:
        """The stored type."""
        return typing.cast(DType, self.layout.dtype)

    @property
    def nbytes(self) -> int:
        """Bytes of all pages."""
        return self.layout.nbytes(self.desc)

    def written(self) -> None:
        """Its contents changed: what was made of the old ones is outdated."""
        self.version += 1

    def lose(self, error: TensimError) -> None:
        """Free the memory; `error` is what later users get."""
        storage, self._storage, self.lost = self.storage, None, error
        self.system.tensors.pop(self.id, None)
        storage.free()

    def deallocate(self, *, force: bool = False) -> None:
        """Free the memory, in host memory too.  RetainedTensor, unless forced; UseAfterFree the second time."""
        self.storage  # noqa: B018  raises when it is gone
        if self.retain and not force:
            raise RetainedTensor(
                f"{self.name} is retained", where={"tensor": self.id}, hint="deallocate(force=True), or retain = False"
            )
        now_ns = self.system.host_ns
        self.lose(
            UseAfterFree(
                f"{self.name} was freed at {now_ns:.0f} ns",
                hint="keep it as long as it is used; commands issued before may go on",
                where={"tensor": self.id, "freed_ns": now_ns},
            )
        )

    def release(self) -> None:
        """Free the memory once the commands issued so far are through with it: later tensors there come behind them."""
        self.lose(
            UseAfterFree(
                f"{self.name} was released by a conversion with retain=False",
                hint="leave retain out to keep the source",
                where={"tensor": self.id},
            )
        )

    # --- bytes

    def bytes_now(self) -> np.ndarray:
        """Its bytes (uint8) at the device's present time: a back door without cost."""
        return self.storage.memory()[0]()

    def overwrite(self, data: np.ndarray) -> None:
        """The host replaces the bytes of a tensor in host memory, once its users are through."""
        settle([self.event, *self.storage.uses.reads])
        self.poke(data)
        self.storage.uses.forget()
        self.written()

    def poke(self, data: np.ndarray) -> None:
        """Replace its bytes at the device's present time: a back door without cost."""
        storage, system = self.storage, self.system
        if isinstance(storage, DeviceStorage) and system.env.active_process is None:
            system.executor.submit(c.WriteDirect(storage.buffer.unique_id, np.ascontiguousarray(data).tobytes()))
            return
        if isinstance(storage, DeviceStorage) and system.recorder is not None:
            raise UsageError(
                f"{self.name} is overwritten while a command runs, which a recording cannot represent",
                hint="record without hooks and host calls that modify tensors",
            )
        storage.memory()[1](data)

    def numpy(self) -> np.ndarray:
        """Its values as an array: waits, downloads, untilizes, drops padding; block floats as float32."""
        if self.device is not None:
            here = download(self)
            wait(here.event)
            return decode(here.bytes_now(), here.desc, here.layout)
        wait(self.event)
        return decode(self.bytes_now(), self.desc, self.layout).copy()

    def to_host(self, *, untilize: bool = True, **async_kw: Any) -> Tensor:
        """A copy in host memory, not before the events in `wait`; returns at once."""
        if not untilize:
            return download(self, **async_kw)
        row = Layout(MemSpace.HOST, dtype=self.dtype if self.dtype.has_rows else DType.F32)
        return to_layout(self, row, **async_kw)

    @property
    def shards(self) -> list[Tensor]:
        """The tensors it is made of: itself."""
        return [self]

    def save(self, path: str | PathLike[str]) -> None:
        """Write values and description to an .npz file."""
        values = self.numpy()
        values = values.astype(np.float32) if self.dtype is DType.BF16 else values
        file = str(path) if str(path).endswith(".npz") else f"{path}.npz"
        write_arrays(file, values=values, dtype=str(self.dtype), tiling=self.layout.tiling, tile=self.layout.tile)

    @staticmethod
    def load(path: str | PathLike[str], *, system: System | None = None) -> Tensor:
        """The row-major host tensor of a file that `save` wrote."""
        name, values = read_arrays(path, "dtype", "values")
        dtype = DType(str(name))  # type: ignore[call-arg]
        if dtype.has_rows:
            values = cast(values, dtype)
        return Tensor.from_numpy(values, system=system)
