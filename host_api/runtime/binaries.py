"""Binaries: programs with described inputs and outputs, bound to devices and submitted
(docs/hardware/runtime.md#binaries-and-submit).

A program has variants: what builds its kernels for a chip, or a numpy function with its time for the host and for chips
opened with `timing=functional`.  Binding chooses one per device.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, cast

from tensim.runtime import binary_files
from tensim.runtime.arguments import device_of
from tensim.runtime.bound_programs import BoundBinary
from tensim.runtime.description import check
from tensim.runtime.placement import ANY, Promise
from tensim.runtime.tensors import Tensor
from tensim.sim.errors import UsageError

if TYPE_CHECKING:
    from tensim.runtime.bound_programs import Submission
    from tensim.runtime.description import CompatReport
    from tensim.runtime.devices import AnyDevice
    from tensim.runtime.hooks import Hooks
    from tensim.runtime.layouts import Layout
    from tensim.runtime.opening import DeviceMap
    from tensim.runtime.placement import Queues
    from tensim.runtime.program_info import ProgramInfo, TensorInfo
    from tensim.runtime.sync import Waitable
    from tensim.traces.light_metal.binary import Binary as BinaryFile

VERSION = "1.0"
_ids = itertools.count(1)


class Binary:
    """Programs that belong together.  `devices`: names of the promises that it needs."""

    def __init__(
        self, programs: Iterable[ProgramInfo], *, build_id: str = "", system_desc: dict[str, Any] | None = None
    ) -> None:
        self.id, self.version, self.build_id, self.system_desc = next(_ids), VERSION, build_id, system_desc
        self.programs = tuple(programs)
        names = [program.name for program in self.programs]
        if len(set(names)) < len(names):
            raise UsageError(
                f"two programs have one name: {', '.join(names)}",
                hint="a program is named by its name: give each one of its own",
            )

    @property
    def devices(self) -> tuple[str, ...]:
        """Names of the devices that its promises ask for."""
        places = [p.placement for p in self.programs]
        places += [info.placement for p in self.programs for info in (*p.inputs, *p.outputs)]
        members = [m for place in places for m in getattr(place, "choices", (place,))]
        return tuple(dict.fromkeys(m.name for m in members if isinstance(m, Promise)))

    @property
    def schema_hash(self) -> str:
        """Hash of the file format that `save` writes."""
        return binary_files.schema_hash()

    @classmethod
    def load(cls, source: str | PathLike[str] | bytes | BinaryFile) -> Binary:
        """The binary of a file name or of bytes, verified.  BinaryError when it may not be used; UsageError for one that
        needs a host function which is not registered here.
        """
        programs, version, build_id, system_desc = binary_files.load(source)
        binary = cls(programs, build_id=build_id, system_desc=system_desc)
        binary.version = version
        return binary

    def save(self, path: str | PathLike[str], **settings: Any) -> None:
        """Write it to a file in the Light Metal format; see `tensim.runtime.binary_files.save`."""
        binary_files.save(self, path, **settings)

    def index(self, program: int | str) -> int:
        """Position of a program by position or name; UsageError when there is none."""
        names = [program.name for program in self.programs]
        if isinstance(program, str) and program in names:
            return names.index(program)
        if isinstance(program, int) and not isinstance(program, bool) and 0 <= program < len(names):
            return program
        raise UsageError(
            f"the binary has no program {program!r}",
            where={"programs": names},
            hint=f"0 to {len(names) - 1}, or {', '.join(names)}",
        )

    def layout(self, program: int | str, index: int, kind: str = "input") -> Layout:
        """What a program wants for an input, or gives as an output, with its stored type named."""
        return self._info(program, index, kind).wanted

    def _info(self, program: int | str, index: int, kind: str = "input") -> TensorInfo:
        infos = getattr(self.programs[self.index(program)], f"{kind}s", None)
        if infos is None:
            raise UsageError(f"kind is {kind!r}", hint="'input' or 'output'")
        if not 0 <= index < len(infos):
            raise UsageError(
                f"program {program!r} has {len(infos)} {kind}s, no {kind} {index}", hint=f"{kind}s are counted from 0"
            )
        return infos[index]

    def check(self, target: Any, *, mode: str = "compatible") -> CompatReport:
        """`CompatReport` against a device or a system description; see `tensim.runtime.description`."""
        return check(self, target, mode)

    def bind(self, devices: AnyDevice | DeviceMap, *, max_in_flight: int | None = None) -> BoundBinary:
        """A BoundBinary on a device or DeviceMap.  UnresolvedPromise, NoVariant, BinaryIncompatible."""
        return BoundBinary(self, devices, max_in_flight)


def allocate_input_tensor(
    binary: Binary | BoundBinary, program: int | str, index: int, *, device: AnyDevice | None = None
) -> Tensor:
    """An empty tensor as a program wants its input.  OutOfDeviceMemory when it does not fit."""
    return _allocate(binary, program, index, device, "input")


def allocate_output_tensor(
    binary: Binary | BoundBinary, program: int | str, index: int, *, device: AnyDevice | None = None
) -> Tensor:
    """An empty tensor as a program gives its output.  OutOfDeviceMemory when it does not fit."""
    return _allocate(binary, program, index, device, "output")


def _allocate(
    binary: Binary | BoundBinary, program: int | str, index: int, device: AnyDevice | None, kind: str
) -> Tensor:
    bound = binary if isinstance(binary, BoundBinary) else None
    info = (bound.binary if bound else cast(Binary, binary))._info(program, index, kind)
    if device is None and bound is not None:
        device = bound.home(info, bound.place_of(bound.binary.index(program)).device)
    if device is None and not info.layout.space.on_host:
        raise UsageError(f"{kind} {index} ({info.name}) lives on a device", hint="give device=, or a bound binary")
    return Tensor.empty(info.desc, info.layout, device, name=info.name)


def submit(
    device: AnyDevice | DeviceMap | None,
    binary: Binary | BoundBinary,
    program: int | str,
    inputs: Sequence[Any],
    *,
    outputs: Sequence[Any] | None = None,
    donate: Iterable[int | str] = (),
    layouts: str = "strict",
    hooks: Hooks | None = None,
    wait: Waitable = (),
    queue: Queues = ANY,
    label: str = "",
) -> Submission:
    """Run a program of a binary on tensors; returns a Submission at once.

    `device`: a device or DeviceMap that the binary is bound to (kept for later submits), or None for a BoundBinary.
    `strict`: an input that is not as described raises LayoutMismatch; `convert`: it is converted first.  `outputs`: written
    in place; `donate`: inputs that the program may free or reuse.
    """
    bound: Any = binary
    if isinstance(binary, Binary):
        owner = device_of(device.default if isinstance(device, Mapping) else device, "submit")
        bound = (
            owner.loaded.get(binary.id) or owner.load(binary)
            if owner is device
            else binary.bind(cast("DeviceMap", device))
        )
    return bound.submit(
        program, inputs, outputs=outputs, donate=donate, layouts=layouts, wait=wait, queue=queue, label=label,
        hooks=hooks,
    )  # fmt: skip
