"""Constants that were uploaded once and stay on their devices."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, TypeAlias

from tensim.runtime.conversion import to_layout

if TYPE_CHECKING:
    from tensim.runtime.devices import OpenDevice
    from tensim.runtime.layouts import Layout
    from tensim.runtime.system import System
    from tensim.runtime.tensors import Tensor

Key: TypeAlias = "tuple[int, int, int, Layout]"  # tensor, its version, number of the device, layout there


class Residency:
    """Uploaded constants by (tensor, version, device, layout); the least recently used go first, pinned ones never."""

    def __init__(self, system: System, capacity: int = 64) -> None:
        self.system, self.capacity, self.entries, self.order, self.pinned = system, capacity, {}, deque(), set()

    def get(self, tensor: Tensor, device: OpenDevice, layout: Layout) -> Tensor:
        """The tensor on a device in a layout: the cached copy, or a new upload."""
        key = (tensor.id, tensor.version, device.number, layout.resolved(tensor.desc))
        found = self.entries.get(key)
        if found is not None and found.is_allocated:
            self.system.stats["residency.hits"] += 1
            self.order.remove(key)
        else:
            self.system.stats["residency.misses"] += 1
            self._drop_outdated(tensor)
            self._evict()
            found = self.entries[key] = to_layout(tensor, layout, device, label=f"upload {tensor.name}")
        self.order.append(key)
        return found

    def pin(self, tensor: Tensor) -> None:
        """Never evict what is cached of a tensor."""
        self.pinned.add(tensor.id)

    def forget(self, tensor: Tensor) -> None:
        """Free all copies of a tensor that is no longer needed, pinned or not."""
        for key in [key for key in self.order if key[0] == tensor.id]:
            self._drop(key)
        self.pinned.discard(tensor.id)

    def _drop_outdated(self, tensor: Tensor) -> None:
        for key in [key for key in self.order if key[0] == tensor.id and key[1] != tensor.version]:
            self._drop(key)

    def _evict(self) -> None:
        while len(self.entries) >= self.capacity:
            key = next((key for key in self.order if key[0] not in self.pinned), None)
            if key is None:
                return
            self._drop(key)

    def _drop(self, key: Key) -> None:
        self.order.remove(key)
        tensor = self.entries.pop(key)
        if tensor.is_allocated:
            tensor.deallocate(force=True)
