"""The library's calls of sub-device managers, for slow dispatch, where it refuses to load one: the whole chip is one sub-device.

Programs that name sub-device 0 need no more than that.  This file is run by the library's Python, in the program's process, without
tensim: it imports nothing but the standard library.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class SubDeviceCalls:
    """`MeshDevice`'s methods of sub-device managers, of which those with one sub-device are loaded and cleared by doing nothing.

    The chip's only sub-device then has all workers: an operation beyond those of the program's, which a card refuses, runs.  A
    manager with several is the library's, which refuses to load it.
    """

    def __init__(self, device_class: Any) -> None:
        self._create, self._load = device_class.create_sub_device_manager, device_class.load_sub_device_manager
        self._single: list[Any] = []  # managers with one sub-device; objects that are equal to themselves alone

    def create(self, device: Any, sub_devices: Sequence[Any], local_l1_size: int) -> Any:
        """A manager as the library makes it."""
        manager = self._create(device, sub_devices, local_l1_size)
        if len(sub_devices) == 1:
            self._single.append(manager)
        return manager

    def load(self, device: Any, sub_device_manager_id: Any) -> None:
        """Load a manager."""
        if not any(manager is sub_device_manager_id for manager in self._single):
            self._load(device, sub_device_manager_id)

    def clear(self, device: Any) -> None:
        """Unload the manager that is loaded: none of the library's can be."""


def replace_calls(library: Any) -> None:
    """Put these methods in the place of those of `ttnn._ttnn`."""
    device_class = library.multi_device.MeshDevice
    calls = SubDeviceCalls(device_class)
    device_class.create_sub_device_manager = lambda self, sub_devices, local_l1_size: calls.create(
        self, sub_devices, local_l1_size
    )
    device_class.load_sub_device_manager = lambda self, sub_device_manager_id: calls.load(self, sub_device_manager_id)
    device_class.clear_loaded_sub_device_manager = lambda self: calls.clear(self)
