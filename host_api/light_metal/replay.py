"""Replay: the records of a Light Metal binary, handed to an executor as the live program handed them."""

import os
import warnings
import weakref
from dataclasses import dataclass, field, replace

import numpy as np

from tensim.light_metal.binary import verified
from tensim.light_metal.comparison import compare, unfinished
from tensim.light_metal.library_kernels import find_kernel
from tensim.metal_trace import new_trace_id
from tensim.sim.arch import Arch, load_arch
from tensim.sim.errors import BinaryError, SimulatorError, TensimError, TensimWarning, UsageError
from tensim.sim.host import commands as c
from tensim.sim.host.buffer_commands import look_at_buffer
from tensim.sim.host.executor import Simulation, new_id
from tensim.sim.host.metal_trace import relocated
from tensim.sim.output_files import write_array
from tensim.traces.light_metal.read import UNNAMED_CHIP, Decoder, Names, described_chip, device_record
from tensim.traces.light_metal.system import restore_system

TAKING_AWAY = ("BufferDeallocateCommand", "BufferDeleteCommand", "ProgramDeleteCommand")
KEPT_READS = 1 << 30  # bytes of reads that a replay keeps for whoever asks for them
# Environment variables of tt-metal's replay (docs/hardware/light_metal.md#replay-step-by-step)
SHOW_READS, DISABLE_CHECKING = "TT_LIGHT_METAL_SHOW_READS", "TT_LIGHT_METAL_DISABLE_CHECKING"


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
    overrides: dict = field(default_factory=dict)
    numerics: str | None = None
    bind: dict = field(default_factory=dict)
    save: tuple = ()
    launch: tuple = ()
    kernel_path: tuple = ()
    check: bool = True
    log: bool = False
    max_cycles: int | None = None
    check_kernels: bool = False
    kept_reads: int = KEPT_READS


class _Made:
    """What a replay has made on a device that it was given, with the records that take it away again."""

    def __init__(self, executor, device):
        self.executor, self.device, self.removals = executor, device, {}

    def note(self, record):
        """A record was carried out."""
        if type(record) in REMOVALS:
            removal = REMOVALS[type(record)](record)
            self.removals[repr(removal)] = removal
        else:
            self.removals.pop(repr(record), None)

    def release(self):
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

    def __init__(self, binary, device=None, options=None, *, find_function, find_chip=None):
        self.options, self.device = options or ReplayOptions(), device
        self.find_function, self.find_chip = find_function, find_chip
        self.checks = self.options.check and not os.environ.get(DISABLE_CHECKING)
        self.binary, self._finalizer = verified(binary), None
        self._begin()

    def _begin(self):
        """The state before the first command."""
        device = self.device
        self.system = Simulation() if device is None else device.system
        self.names = Names(new_id, new_trace_id)
        self.decoder = Decoder(self.binary, self.names, self._find_kernel, None if device is None else device.id)
        self.compares, self.reads, self.devices, self.warnings, self.error = [], [], [], [], None
        self.buffers, self.saved = set(), {}  # global ids of buffers; name -> final bytes
        self.retimed, self.moved, self.differs = False, {}, []  # moved: captured address -> global id
        self.begun, self.kept, self.looks = (
            False,
            0,
            [],
        )  # kept: bytes in `reads`; looks: (device, event) of comparisons
        self.made = None
        if device is not None:
            self.made = _Made(self.system.executor, device)
            self._finalizer = weakref.finalize(self, self.made.release)

    def _warn(self, text):
        """Tell the user."""
        self.warnings.append(text)
        warnings.warn(text, TensimWarning, stacklevel=4)

    # --- running

    def _bound(self, node):
        """Bytes that the user gave in place of those a write holds, or None."""
        for name in (str(node.buffer_global_id), self.binary.buffer_names.get(node.buffer_global_id)):
            if name in self.options.bind:
                return _bytes_of(self.options.bind[name])
        return None

    def _check_names(self):
        """UsageError, before anything runs, for buffers that the user named and the binary does not have."""
        wanted = [("bind", name) for name in self.options.bind] + [("save", name) for name, _ in self.options.save]
        if not wanted:
            return
        nodes = (node for node in self.binary.nodes() if node is not None and node.table == "BufferCreateCommand")
        names = sorted(self.binary.buffer_names.values())
        known = {*names, *(str(node.global_id) for node in nodes)}
        for what, name in wanted:
            if name not in known:
                hint = f"its names: {', '.join(names) or 'none'}; tensim inspect --buffers lists the numbers"
                raise UsageError(f"{what}: the binary has no buffer {name!r}", hint=hint)

    def run(self):
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

    def execute(self):
        """Execute the binary; raises what a live program would raise.  Devices and buffers stay until `close`."""
        if self.begun:
            self.close()
            self._begin()
        self.begun = True
        self._check_names()
        self._open_devices()
        decoder = self.decoder
        launch_at = self._launch_point()
        for index, node in enumerate(self.binary.nodes()):
            if index == launch_at:
                self._launch()
            if node is None:
                continue
            if node.table == "BufferCreateCommand":
                self.buffers.add(node.global_id)
            record = self._record(index, node)
            if isinstance(record, c.WriteBuffer):
                record = self._with_binding(node, record)
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
            self._launch()
        for device, event in self.looks:
            if not event.processed:
                self.system.executor.wait(device, event)

    def _carry_out(self, index, record):
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

    def _record(self, index, node):
        """The record of a command; BinaryError for values that no command of tensim has."""
        try:
            return self.decoder.record(node)
        except TensimError:
            raise
        except (ValueError, LookupError, TypeError, AttributeError, OverflowError) as error:
            where = {"offset": node.position, "field": f"commands[{index}]"}
            name = node.table.removesuffix("Command")
            raise BinaryError(f"{name}, command {index}, contains an invalid value: {error}", where=where) from error

    def _with_binding(self, node, record):
        data = self._bound(node)
        if data is None:
            return record
        if len(data) != len(record.data):
            raise UsageError(
                f"buffer {node.buffer_global_id} takes {len(record.data)} B, the data bound to it has {len(data)} B"
            )
        return replace(record, data=data)

    def _launch_point(self):
        """Command before which the programs of `options.launch` run: the first that takes a buffer or program away when
        nothing more is said about them; None: at the end.
        """
        wanted = {int(name) for name in self.options.launch if name.isdigit()}
        if not wanted:
            return None
        last, point, kernels = -1, None, set()
        for index, node in enumerate(self.binary.nodes()):
            fields = {} if node is None else node.fields
            mine = fields.get("program_global_id") in wanted or fields.get("kernel_global_id") in kernels
            if mine:
                last, point = index, None
                if node.table == "CreateKernelCommand":
                    kernels.add(node.global_id)
            elif last >= 0 and point is None and node is not None and node.table in TAKING_AWAY:
                point = index
        return point

    def _write_bound(self):
        """Write the data that is bound to buffers which no command of the file writes."""
        executor, written = self.system.executor, set()
        if self.options.bind:
            writes = (node for node in self.binary.nodes() if node is not None)
            written = {node.buffer_global_id for node in writes if node.table == "EnqueueWriteBufferCommand"}
        for name, data in self.options.bind.items():
            buffer = executor.buffers.get(self._wanted(name))
            if buffer is None:
                raise UsageError(f"buffer {name} is gone when the programs are launched")
            if not any(self.names.get(number) == buffer.id for number in written):
                executor.submit(c.WriteBuffer(buffer.device, 0, buffer.id, _bytes_of(data), 0, True))

    def _launch(self):
        """Launch the programs that the user asked for, for files that hold no launches."""
        if self.options.launch:
            self._write_bound()
        for name in self.options.launch:
            program = self.names.get(int(name)) if name.isdigit() else None
            if program is None or program not in self.system.executor.programs:
                raise UsageError(f"the binary has no program {name}", hint="tensim inspect lists them")
            device = next(iter(self.system.executor.devices))
            self.system.executor.submit(c.EnqueueProgram(device, 0, program, True))

    def _save(self, buffer):
        """Keep the bytes of a buffer that is about to go, if the user asked for them."""
        executor = self.system.executor
        for name, _ in self.options.save:
            if self._wanted(name) == buffer and executor.buffers.get(buffer) and executor.buffers[buffer].allocated:
                self.saved[name] = executor.submit(c.ReadDirect(buffer))

    def _wanted(self, name):
        """Record id of a buffer by global id or name, or None."""
        named = {text: key for key, text in self.binary.buffer_names.items()}
        number = named.get(name, int(name) if name.isdigit() else None)
        return self.names.get(number) if number in self.buffers else None

    def save_buffers(self):
        """Write the final bytes of the buffers that `options.save` names to their numpy files."""
        for name, file in self.options.save:
            if name not in self.saved:
                self._save(self._wanted(name))
            write_array(file, np.frombuffer(self.saved[name], np.uint8))

    def _check_placement(self, node, buffer):
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
    def elsewhere(self):
        """Whether the captured addresses need not be those here: another chip, or one that others use too."""
        return self.retimed or self.device is not None

    def _open_devices(self):
        root = self.binary.root
        described = root.devices or ()
        if self.device is not None:
            for node in described[:1]:
                self._note_differences(described_chip(node).load(), self.device.arch)
            self._warn_of_another_chip(described)
            return
        self._restore_system()
        for node in root.host_devices or ():
            self.system.executor.submit(c.CreateHostDevice(node.device_id, node.num_queues))
        for node in described:
            self.node = node
            self._open(device_record(node))
        if self.binary.is_of_one_chip:
            self._open(c.CreateDevice(0, 1, 0, 0, UNNAMED_CHIP, "fast", "packet", None, 0))
        host = self.system.host
        host.now_fs = max(host.now_fs, self.binary.root.host_start_fs)

    def _warn_of_another_chip(self, described):
        """The user gave a device: say what it has not in common with those of the capture."""
        captured, here = [node.arch_name for node in described], self.device.arch.name
        if len(captured) > 1:
            self._warn(
                f"the binary was captured on {len(captured)} devices; device {self.device.id} takes the part of all"
            )
        elif self.differs:
            names = [item["parameter"] for item in self.differs]
            what = f"on {captured[0]}" if captured[0] != here else "with other parameters"
            shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
            self._warn(f"the binary was captured {what}, device {self.device.id} is a {here}: {shown} differ")

    def _restore_system(self):
        restore_system(self.binary.root, self.system)

    def _open(self, record):
        options, captured = self.options, record.arch
        if options.device is not None:
            chosen = self.find_chip(options.device)
            arch, record = chosen.load(options.overrides), replace(record, **chosen.device_options())
        elif options.arch is not None:
            arch = load_arch(options.arch, options.overrides)
        else:
            arch = captured if isinstance(captured, Arch) else captured.load(options.overrides)
        if captured is not UNNAMED_CHIP:
            self._note_differences(captured if isinstance(captured, Arch) else captured.load(), arch)
        numerics = options.numerics or record.numerics
        limit = options.max_cycles or record.max_cycles
        record = replace(record, arch=arch, numerics=numerics, max_cycles=limit, check=options.check_kernels)
        try:
            device = self.system.executor.submit(record)
        except (ArithmeticError, ValueError, LookupError, TypeError) as error:
            where = {"offset": getattr(captured, "position", None), "field": "devices.parameters"}
            raise BinaryError(f"the chip cannot be simulated: {error}", where=where) from error
        captured_chip = options.device is None and options.arch is None
        for text in arch.without_effect(numerics, options.overrides if captured_chip else None):
            self._warn(text)
        if options.log:
            device.chip.recordings.enable_log()
        self.devices.append(device)
        return device

    def _note_differences(self, captured, arch):
        """What of the chip is not as it was captured."""
        old, new = ({"name": chip.name, **chip.values()} for chip in (captured, arch))
        changed = [key for key in new if new[key] != old.get(key)] + [key for key in old if key not in new]
        self.retimed = self.retimed or bool(changed)
        self.differs += [
            {"parameter": key, "captured": old.get(key), "replayed": new.get(key)} for key in sorted(changed)
        ]

    def close(self):
        """Close the devices that the replay opened; take away what it made on a device that it was given."""
        if self._finalizer is not None:
            self._finalizer()
        for device in self.devices:
            if self.system.executor.devices.get(device.id) is device:
                self.system.executor.submit(c.CloseDevice(device.id))

    # --- records that are not handed on as they are

    def _with_references(self, record):
        """Arguments that stand for something of the chip get their values here."""
        common = isinstance(record, c.SetCommonRuntimeArgs)
        args = [list(words) for words in ([record.args] if common else record.args)]
        for core, words in enumerate(args):
            known = {index: key for place, index, _, key in record.references if place == core}
            self._refuse_raw_addresses(record.kernel, dict(enumerate(words)), known)
        for core, index, kind, key in record.references:
            if core >= len(args) or index >= len(args[core]):
                raise UsageError(f"the reference to argument {index} of core {core} does not point to an argument")
            args[core][index] = self._value(kind, key, args[core][index])
        words = tuple(args[0]) if common else tuple(map(tuple, args))
        return self.system.executor.submit(replace(record, args=words))

    def _update_arg(self, record):
        known = self.system.executor.program(record.program).kernel(record.kernel).references.get(record.core, ())
        others = {index: key for index, _, key in known if index != record.index}
        self._refuse_raw_addresses(record.kernel, {} if record.references else {record.index: record.value}, others)
        for _, _, kind, key in record.references:
            record = replace(record, value=self._value(kind, key, record.value))
        return self.system.executor.submit(record)

    def _create_kernel(self, record):
        compile_args = list(record.config.compile_args)
        for _, index, kind, key in record.references:
            compile_args[index] = self._value(kind, key, compile_args[index])
        config = replace(record.config, compile_args=tuple(compile_args))
        return self.system.executor.submit(replace(record, config=config))

    def _refuse_raw_addresses(self, kernel, words, known):
        """A plain number that is the captured address of a buffer which has moved would be wrong on this chip.

        `words`: {index: number}; `known`: {index: what it stands for} of the words that are references.  A list that also
        holds the buffer as a reference is given the benefit of the doubt: the number may be a count.
        """
        if not self.moved:
            return
        for index, word in words.items():
            moved = self.moved.get(word) if index not in known else None
            if moved is not None and self.names[moved] not in known.values():
                raise UsageError(
                    f"runtime argument {index} of kernel {kernel} is the raw address {word:#x} of buffer {moved}, which "
                    "lies elsewhere on this chip",
                    hint="capture with the buffer itself, or its .address, as the argument",
                )

    def _value(self, kind, key, captured):
        executor = self.system.executor
        return executor.value_of(next(iter(executor.devices.values()), None), kind, key, captured)

    def _read(self, record):
        """Bytes beyond `options.kept_reads` would fill the host's memory: those reads take their time only."""
        if record.size == 0:  # the files of other writers read whole buffers
            record = replace(record, size=self.system.executor.buffer(record.buffer).size)
        fetch = self.kept + record.size <= self.options.kept_reads
        if fetch:
            self.kept += record.size
        elif all("are not kept" not in text for text in self.warnings):
            self._warn(f"reads beyond {self.options.kept_reads:,} B are not kept: their results are None")
        item = self.system.executor.submit(replace(record, fetch=fetch))
        self.reads.append(item)
        if os.environ.get(SHOW_READS) and record.blocking and fetch:
            print(f"read of buffer {record.buffer}: {np.frombuffer(item.result[:64], '<u4').tolist()} ...")
        return item

    def _compare(self, record):
        """Golden data was compared with nothing when it was captured, so looking at the buffer takes no time here either."""
        if not self.node.is_user_data:
            item = self.system.executor.submit(record)
            self.compares.append(compare(record, item.result))
            return item
        executor, place = self.system.executor, len(self.compares)
        self.compares.append(unfinished(record))
        event = look_at_buffer(executor, record.buffer, record.queue)
        event.callbacks.append(lambda event: self.compares.__setitem__(place, compare(record, event.value)))
        self.looks.append((executor.device(record.device), event))
        return None

    def _load_trace(self, record):
        """The host's time for making the trace is that of the capture, unless this is another chip; then the trace is laid
        out anew.
        """
        host, executor = self.system.host, self.system.executor
        if not self.retimed:
            host.now_fs = max(host.now_fs, self.node.host_at_fs)
        if self.elsewhere:
            for program in record.descriptor.programs:
                for kernel in program.kernels:
                    known = dict(kernel.references)
                    for core, words in (*kernel.args, (None, kernel.common_args)):
                        standing = {index: key for index, _, key in known.get(core, ())}
                        self._refuse_raw_addresses(kernel.kernel.name, dict(enumerate(words)), standing)
            device = executor.device(record.device)
            record = replace(record, descriptor=relocated(executor, device, record.descriptor))
        return executor.submit(record)

    def _create_device(self, record):
        return self._open(record)

    def _function(self, record):
        """Functions are in this process, by their names; without buffers of devices only their time counts."""
        executor, function = self.system.executor, _nothing
        if record.buffers:
            buffers = [(executor.device(b.device), b) for b in map(executor.buffer, record.buffers)]
            function = self.find_function(record.name, record.parameters, buffers)
        return executor.submit(replace(record, function=function))

    def _find_kernel(self, file_name):
        """A kernel that the binary names by file only."""
        return find_kernel(file_name, self.options.kernel_path)[1]

    # --- afterwards

    @property
    def chips(self):
        """The chips that the replay ran on."""
        return [device.chip for device in self.devices] if self.device is None else [self.device.chip]


def _bytes_of(data):
    """The bytes of what a user bound to a buffer."""
    return np.ascontiguousarray(data).tobytes() if isinstance(data, np.ndarray) else bytes(data)


def _nothing():
    """A function without buffers: only its time passes."""


HANDLERS = {
    c.CreateDevice: Replay._create_device,
    c.SetRuntimeArgs: Replay._with_references,
    c.SetCommonRuntimeArgs: Replay._with_references,
    c.UpdateRuntimeArg: Replay._update_arg,
    c.CreateKernel: Replay._create_kernel,
    c.ReadBuffer: Replay._read,
    c.CompareBuffer: Replay._compare,
    c.LoadTrace: Replay._load_trace,
    c.EnqueueFunction: Replay._function,
}
