"""The memory that holds a tensor's bytes: of the host, or a buffer of a chip."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from tensim.runtime.queues import Uses

if TYPE_CHECKING:
    from tensim.buffer import Buffer
    from tensim.runtime.devices import SimAccelerator

Memory: TypeAlias = tuple[Callable[[], np.ndarray], Callable[[np.ndarray], object]]  # read, write (uint8)


class HostStorage:
    """Bytes in host memory (uint8), None until a download has brought them; `keeper`: the array that they belong to."""

    device = None

    def __init__(self, data: np.ndarray | None, what: str, keeper: np.ndarray | None = None) -> None:
        self.data, self.what, self.keeper, self.uses = data, what, keeper, Uses()

    def memory(self) -> Memory:
        """(read, write) of the bytes."""

        def write(data: np.ndarray) -> None:
            self.data = np.array(data, np.uint8)

        return lambda: cast(np.ndarray, self.data), write

    def free(self) -> None:
        """Nothing: the memory goes with the last command that uses it."""


class DeviceStorage:
    """A buffer of a chip."""

    def __init__(self, device: SimAccelerator, buffer: Buffer, what: str) -> None:
        self.device, self.buffer, self.what, self.uses = device, buffer, what, Uses()

    def memory(self) -> Memory:
        """(read, write) of the bytes, which stay valid for commands issued before the memory was freed."""
        device, buffer = self.device, self.buffer
        return lambda: device.peek(buffer), lambda data: device.poke(buffer, data)

    def free(self) -> None:
        """Give the memory back."""
        self.device.free_buffer(self.buffer, self.uses)
        self.buffer = None  # type: ignore[assignment]


Storage: TypeAlias = HostStorage | DeviceStorage


def buffers_of(storages: Iterable[Storage]) -> tuple[int, ...]:
    """Ids of the buffers of storages; host memory has none."""
    return tuple(storage.buffer.unique_id for storage in storages if isinstance(storage, DeviceStorage))
