"""What calls take for devices, tensors and layouts: an error with a hint for what only looks like one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, cast

import numpy as np

from tensim.runtime.layouts import Layout
from tensim.runtime.placement import Promise
from tensim.sim.errors import UsageError

if TYPE_CHECKING:
    from tensim.runtime.devices import AnyDevice
    from tensim.runtime.sync import Event
    from tensim.runtime.system import System
    from tensim.runtime.tensors import Tensor


def device_of(x: object, call: str) -> AnyDevice:
    """`x`, which must be an open device or mesh; UsageError for its name, a promise of it, or anything else."""
    if hasattr(x, "scheme"):
        return cast("AnyDevice", x)
    if isinstance(x, str | Promise):
        name = x if isinstance(x, str) else x.name
        raise UsageError(
            f"{call} takes a device, and {name!r} is the name of one",
            hint="system.open(spec) gives a device, a DeviceMap the device of a name",
        )
    raise UsageError(f"{call} takes a device, not {_kind(x)}", hint="system.open(spec) gives one")


def tensor_of(x: object, call: str) -> Tensor:
    """`x`, which must be a tensor; UsageError for an array or anything else."""
    if hasattr(x, "desc") and hasattr(x, "layout"):
        return cast("Tensor", x)
    if isinstance(x, np.ndarray | np.generic | list | tuple | int | float):
        raise UsageError(f"{call} takes a tensor, not {_kind(x)}", hint="Tensor.from_numpy(array) makes a tensor of it")
    if hasattr(x, "shards"):
        raise UsageError(
            f"{call} takes a tensor of one device, not one spread over a mesh", hint="its .shards are such"
        )
    raise UsageError(f"{call} takes a tensor, not {_kind(x)}", hint="Tensor.from_numpy and to_layout give tensors")


def layout_of(x: object, call: str) -> Layout:
    """`x`, which must be a Layout; UsageError for the name of a memory or anything else."""
    if isinstance(x, Layout):
        return x
    raise UsageError(f"{call} takes a Layout, not {_kind(x)}", hint="Layout(MemSpace.DRAM) is rows in DRAM")


def of_system(system: System, things: Iterable[Tensor | Event | AnyDevice], call: str) -> None:
    """UsageError when a tensor, event or device among `things` belongs to another system: the two have two clocks."""
    for thing in things:
        if thing.system is not system:
            raise UsageError(
                f"{call}: {thing!r} belongs to another System, which has a clock of its own",
                hint="Tensor.from_numpy(array, system=device.system) makes a tensor of the system that is meant; between "
                "systems only arrays can go",
            )


def _kind(x: object) -> str:
    article = "an" if type(x).__name__[0].lower() in "aeiou" else "a"
    return f"{article} {type(x).__name__}"
