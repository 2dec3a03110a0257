"""Replay: the records of a Light Metal binary, handed to an executor as the live program handed them."""

from __future__ import annotations

import itertools
import os
import warnings
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tensim.light_metal.binary import verified
from tensim.light_metal.chosen_data import check_names, launch, launch_point, with_binding
from tensim.light_metal.library_kernels import find_kernel
from tensim.light_metal.replayed_records import HANDLERS
from tensim.metal_trace import new_trace_id
from tensim.sim.arch import Arch, load_arch
from tensim.sim.errors import BinaryError, SimulatorError, TensimError, TensimWarning, UsageError
from tensim.sim.host import commands as c
from tensim.sim.host.executor import Simulation, new_id
from tensim.sim.output_files import write_array
from tensim.traces.light_metal.read import UNNAMED_CHIP, Decoder, Names, described_chip, device_record
from tensim.traces.light_metal.system import restore_system

if TYPE_CHECKING:
    from tensim.device import Device
    from tensim.light_metal.binary import LightMetalBinary
    from tensim.sim.chip.chip import Chip
    from tensim.sim.host.device import Device as DeviceState
    from tensim.sim.host.executor import Executor
    from tensim.sim.host.fabric import Fabric
    from tensim.traces.flatbuffers.tables import Node
    from tensim.traces.light_metal.binary import Binary

KEPT_READS = 1 << 30  # bytes of reads that a replay keeps for whoever asks for them
# as in tt-metal (docs/hardware/light_metal.md#replay-step-by-step)
DISABLE_CHECKING = "TT_LIGHT_METAL_DISABLE_CHECKING"


@dataclass
class ReplayOptions:
    """How to replay.

    `arch`, `device` (a spec), `overrides`: another chip or other parameters; `bind`: {buffer name or id: bytes or array} in
    place of what was captured; `save`: (buffer, numpy file) pairs for final contents; `launch`: programs to launch at the
    end; `kernel_path`: folders with kernels by file name; `check`: whether comparisons count; `log`: record the timeline;
    `max_cycles`: a run past this cycle is an error; `check_kernels`: look for mistakes of kernels (docs/checks.md);
    `kept_reads`: bytes of reads that `reads` holds, later ones only take their time.
    """

    arch: str | None = None
    device: str | None = None
    overrides: dict[str, Any] = field(default_factory=dict)
    numerics: str | None = None
    bind: dict[str, Any] = field(default_factory=dict)
    save: tuple[tuple[str, str], ...] = ()
    launch: tuple[str, ...] = ()
    kernel_path: tuple[str, ...] = ()
    check: bool = True
    log: bool = False
    max_cycles: int | None = None
    check_kernels: bool = False
    kept_reads: int = KEPT_READS


class _Made:
    """What a replay has made on a device that it was given, with the records that take it away again."""

    def __init__(self, executor: Executor, device: Device) -> None:
        self.executor, self.device, self.removals = executor, device, {}

    def note(self, record: c.Command) -> None:
        """A record was carried out."""
        if type(record) in REMOVALS:
            removal = REMOVALS[type(record)](record)
            self.removals[repr(removal)] = removal
        else:
            self.removals.pop(repr(record), None)

    def release(self) -> None:
        """Take everything away that is still there, once nothing uses it any more."""
        removals, self.removals = list(self.removals.values()), {}
        state = self.executor.devices.get(self.device.id)
        if state is not self.device._state or state.failed is not None:
            return  # its memory went with it
        if removals and state.queues:
            self.executor.submit(c.Finish(self.device.id, None))
        if any(isinstance(removal, c.RemoveSubDeviceManager) for removal in removals) and state.manager.id is not None:
            self.executor.submit(c.LoadSubDeviceManager(self.device.id, None))
        for removal in reversed(removals):
            self.executor.submit(removal)


REMOVALS = {
    c.CreateBuffer: lambda r: c.DeleteBuffer(r.buffer),
    c.CreateProgram: lambda r: c.DeleteProgram(r.program),
    c.CreateGlobalSemaphore: lambda r: c.DeleteGlobalSemaphore(r.semaphore),
    c.LoadTrace: lambda r: c.ReleaseTrace(r.device, r.trace),
    c.CreateSubDeviceManager: lambda r: c.RemoveSubDeviceManager(r.device, r.manager),
}


class Replay:
    """Replays a binary on a device that it opens itself, or on `device`; as often as wanted.

    `binary`: LightMetalBinary, bytes or a file name.  `find_function(name, parameters, buffers)`: what a queue calls for a
    function that the binary names (`buffers`: pairs of device and buffer); `find_chip(spec)`: the chip of `options.device`,
    with `load(overrides)` -> Arch and `device_options()` -> fields of its CreateDevice record.  Afterwards `compares` holds
    the comparisons' results, `reads` the items of every read in order (`result`: its bytes), `error` what stopped the
    replay, `warnings` what its user should know.
    """

    def __init__(
        self,
        binary: LightMetalBinary | Binary | bytes | str | os.PathLike[str],
        device: Device | None = None,
        options: ReplayOptions | None = None,
        *,
        find_function: Callable[..., Any],
        find_chip: Callable[[str], Any] | None = None,
    ) -> None:
        self.options, self.device = options or ReplayOptions(), device
        self.find_function, self.find_chip = find_function, find_chip
        self.checks = self.options.check and not os.environ.get(DISABLE_CHECKING)
        self.binary = verified(binary)
        self._finalizer: weakref.finalize[[], Replay] | None = None
        self._begin()

    def _begin(self) -> None:
        """The state before the first command."""
        device = self.device
        self.system = Simulation() if device is None else device.system
        self.names = Names(new_id, new_trace_id)
        self.decoder = Decoder(self.binary, self.names, self._find_kernel, None if device is None else device.id)
        self.compares: list[dict[str, Any]] = []
        self.reads: list[Any] = []
        self.devices: list[DeviceState] = []
        self.opened: list[tuple[Arch, str, dict[str, Any] | None]] = []  # chips, numerics, overrides that count
        self.fabric: Fabric | None = None  # of a captured mesh
        self.warnings: list[str] = []
        self.error: TensimError | None = None
        self.buffers: set[int] = set()  # global ids
        self.saved: dict[str, bytes] = {}  # final bytes by name
        self.retimed = False
        self.moved: dict[int, int] = {}  # captured address -> global id
        self.differs: list[dict[str, Any]] = []
        self.begun, self.kept = False, 0  # kept: bytes in `reads`
        self.looks: list[tuple[DeviceState, Any]] = []  # device and event of comparisons
        self.made: _Made | None = None
        if device is not None:
            self.made = _Made(self.system.executor, device)
            self._finalizer = weakref.finalize(self, self.made.release)

    def warn(self, text: str) -> None:
        """Tell the user."""
        self.warnings.append(text)
        warnings.warn(text, TensimWarning, stacklevel=4)

    # --- running

    def run(self) -> bool:
        """Execute the binary; True when it ran to its end and every comparison passed.  Errors are in `error`.

        What it made on a device that it was given is gone afterwards.
        """
        if len(self.binary) == 0:
            self.error = UsageError("the binary holds no commands")
            return False
        try:
            try:
                self.execute()
            finally:
                self.close()  # what is still queued may fail, too
        except TensimError as error:
            self.error = error
            return False
        return not self.checks or all(found["passed"] for found in self.compares)

    def execute(self) -> None:
        """Execute the binary; raises what a live program would raise.  Devices and buffers stay until `close`."""
        if self.begun:
            self.close()
            self._begin()
        self.begun = True
        check_names(self)
        self._open_devices()
        decoder = self.decoder
        launch_at = launch_point(self)
        for index, node in enumerate(self.binary.nodes()):
            if index == launch_at:
                launch(self)
            if node is None:
                continue
            if node.table == "BufferCreateCommand":
                self.buffers.add(node.global_id)
            record = self._record(index, node)
            if isinstance(record, c.WriteBuffer):
                record = with_binding(self, node, record)
            elif isinstance(record, c.DeallocateBuffer | c.DeleteBuffer):
                self._save(record.buffer)
            self.node = node
            result = self._carry_out(index, record)
            if self.made is not None:
                self.made.note(record)
            decoder.created_as(node, result)
            if node.table == "BufferCreateCommand":
                self._check_placement(node, result)
        if launch_at is None:
            launch(self)
        for device, event in self.looks:
            if not event.processed:
                self.system.executor.wait(device, event)
        chips = len(self.opened)
        unused = (arch.without_effect(numerics, among, chips) for arch, numerics, among in self.opened)
        for text in dict.fromkeys(itertools.chain.from_iterable(unused)):
            self.warn(text)

    def _carry_out(self, index: int, record: c.Command) -> Any:
        """What the executor returns for the record of command `index`; BinaryError or SimulatorError with its place for
        values that nobody thought of.
        """
        handler = HANDLERS.get(type(record))
        where = {"offset": self.node.position, "field": f"commands[{index}]"}
        try:
            return self.system.executor.submit(record) if handler is None else handler(self, record)
        except TensimError as error:
            error.where = where | error.where
            raise
        except OverflowError as error:
            raise BinaryError("the simulated time exceeds the range of the clock", where=where) from error
        except MemoryError as error:
            raise TensimError("the host has too little memory", where=where, kind="out_of_memory") from error
        except Exception as error:
            name = self.node.table.removesuffix("Command")
            reason = f"{name}, command {index}, ended in {type(error).__name__}: {error}"
            raise SimulatorError(
                reason, where=where, hint="tensim verify says more of files that were changed"
            ) from error

    def _record(self, index: int, node: Node) -> c.Command:
        """The record of a command; BinaryError for values that no command of tensim has."""
        try:
            return self.decoder.record(node)
        except TensimError:
            raise
        except (ValueError, LookupError, TypeError, AttributeError, OverflowError) as error:
            where = {"offset": node.position, "field": f"commands[{index}]"}
            name = node.table.removesuffix("Command")
            raise BinaryError(f"{name}, command {index}, contains an invalid value: {error}", where=where) from error

    def _save(self, buffer: int | None) -> None:
        """Keep the bytes of a buffer that is about to go, if the user asked for them."""
        executor = self.system.executor
        for name, _ in self.options.save:
            found = executor.buffers.get(buffer)
            if buffer is not None and self.wanted(name) == buffer and found and found.allocated:
                self.saved[name] = executor.submit(c.ReadDirect(buffer))

    def wanted(self, name: str) -> int | None:
        """Record id of a buffer by global id or name, or None."""
        named = {text: key for key, text in self.binary.buffer_names.items()}
        number = named.get(name, int(name) if name.isdigit() else None)
        return self.names.get(number) if number in self.buffers else None

    def save_buffers(self) -> None:
        """Write the final bytes of the buffers that `options.save` names to their numpy files."""
        for name, file in self.options.save:
            if name not in self.saved:
                self._save(self.wanted(name))
            write_array(file, np.frombuffer(self.saved[name], np.uint8))

    def _check_placement(self, node: Node, buffer: Any) -> None:
        """On the captured chip the allocator must choose the captured address: programs may depend on it."""
        if not node.has_chosen_address or buffer.address == node.chosen_address:
            return
        if not self.elsewhere:
            raise TensimError(
                f"buffer {node.global_id} lies at {buffer.address:#x}; when it was captured it lay at "
                f"{node.chosen_address:#x}",
                kind="placement",
                hint="the binary was changed, or captured by a tensim that allocates buffers differently",
            )
        self.moved[node.chosen_address] = node.global_id

    @property
    def elsewhere(self) -> bool:
        """Whether the captured addresses need not be those here: another chip, or one that others use too."""
        return self.retimed or self.device is not None

    def _open_devices(self) -> None:
        root = self.binary.root
        described = root.devices or ()
        if self.device is not None:
            for node in described[:1]:
                self.note_differences(described_chip(node).load(), self.device.arch)
            self._warn_of_another_chip(self.device, described)
            return
        self._restore_system()
        for node in root.host_devices or ():
            self.system.executor.submit(c.CreateHostDevice(node.device_id, node.num_queues))
        for node in described:
            self.node = node
            self.open(device_record(node))
        if self.binary.is_of_one_chip:
            self.open(c.CreateDevice(0, 1, 0, 0, UNNAMED_CHIP, "fast", "packet", None, 0))
        host = self.system.host
        host.now_fs = max(host.now_fs, self.binary.root.host_start_fs)

    def _warn_of_another_chip(self, device: Device, described: Sequence[Node]) -> None:
        """The user gave a device: say what it has not in common with those of the capture."""
        captured, here = [node.arch_name for node in described], device.arch.name
        if len(captured) > 1:
            self.warn(f"the binary was captured on {len(captured)} devices; device {device.id} takes the part of all")
        elif self.differs:
            names = [item["parameter"] for item in self.differs]
            what = f"on {captured[0]}" if captured[0] != here else "with other parameters"
            shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
            self.warn(f"the binary was captured {what}, device {device.id} is a {here}: {shown} differ")

    def _restore_system(self) -> None:
        restore_system(self.binary.root, self.system)

    def open(self, record: c.CreateDevice) -> DeviceState:
        options = self.options
        captured: Any = record.arch
        if options.device is not None:
            assert self.find_chip is not None  # who names a device says how one is found
            chosen = self.find_chip(options.device)
            arch, record = chosen.load(options.overrides), replace(record, **chosen.device_options())
        elif options.arch is not None:
            arch = load_arch(options.arch, options.overrides)
        else:
            arch = captured if isinstance(captured, Arch) else captured.load(options.overrides)
        if captured is not UNNAMED_CHIP:
            self.note_differences(captured if isinstance(captured, Arch) else captured.load(), arch)
        numerics = options.numerics or record.numerics
        limit = options.max_cycles or record.max_cycles
        record = replace(record, arch=arch, numerics=numerics, max_cycles=limit, check=options.check_kernels)
        try:
            device = self.system.executor.submit(record)
        except (ArithmeticError, ValueError, LookupError, TypeError) as error:
            where = {"offset": getattr(captured, "position", None), "field": "devices.parameters"}
            raise BinaryError(f"the chip cannot be simulated: {error}", where=where) from error
        captured_chip = options.device is None and options.arch is None
        self.opened.append((arch, numerics, options.overrides if captured_chip else None))
        if options.log:
            device.chip.recordings.enable_log()
        self.devices.append(device)
        return device

    def note_differences(self, captured: Arch, arch: Arch) -> None:
        """What of the chip is not as it was captured."""
        old, new = ({"name": chip.name, **chip.values()} for chip in (captured, arch))
        changed = [key for key in new if new[key] != old.get(key)] + [key for key in old if key not in new]
        self.retimed = self.retimed or bool(changed)
        found = [{"parameter": key, "captured": old.get(key), "replayed": new.get(key)} for key in sorted(changed)]
        self.differs += [item for item in found if item not in self.differs]

    def close(self) -> None:
        """Close the devices that the replay opened; take away what it made on a device that it was given."""
        if self._finalizer is not None:
            self._finalizer()
        for device in self.devices:
            if self.system.executor.devices.get(device.id) is device:
                self.system.executor.submit(c.CloseDevice(device.id))

    def _find_kernel(self, file_name: str) -> Any:
        """A kernel that the binary names by file only."""
        return find_kernel(file_name, self.options.kernel_path)[1]

    # --- afterwards

    @property
    def chips(self) -> list[Chip]:
        """The chips that the replay ran on."""
        return [device.chip for device in self.devices] if self.device is None else [self.device.chip]
