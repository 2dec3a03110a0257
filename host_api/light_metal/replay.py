"""Replay: the records of a Light Metal binary, handed to an executor as the live program handed them."""

import os
from dataclasses import dataclass, field, replace

import numpy as np

from tensim.light_metal.binary import verified
from tensim.light_metal.comparison import compare
from tensim.light_metal.library_kernels import UNNAMED_CHIP, find_kernel
from tensim.metal_trace import new_trace_id
from tensim.sim.arch import load_arch
from tensim.sim.errors import BinaryError, TensimError, UsageError
from tensim.sim.host import commands as c
from tensim.sim.host.executor import Simulation, new_id
from tensim.traces.light_metal.read import Decoder, Names, device_record
from tensim.traces.light_metal.system import restore_system

TAKING_AWAY = ("BufferDeallocateCommand", "BufferDeleteCommand", "ProgramDeleteCommand")
# Environment variables of tt-metal's replay (docs/hardware/light_metal.md#replay-step-by-step)
SHOW_READS, DISABLE_CHECKING = "TT_LIGHT_METAL_SHOW_READS", "TT_LIGHT_METAL_DISABLE_CHECKING"


@dataclass
class ReplayOptions:
    """How to replay.

    `arch`, `device` (a spec), `overrides`: another chip or other parameters; `bind`: {buffer name or id: bytes} in place of
    what was captured; `save`: (buffer, numpy file) pairs for final contents; `launch`: programs to launch at the end;
    `kernel_path`: folders with kernels by file name; `check`: whether comparisons count; `log`: record the timeline;
    `max_cycles`: a run past this cycle is an error; `check_kernels`: look for mistakes of kernels (docs/checks.md).
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


class Replay:
    """Replays a binary on a device that it opens itself, or on `device`.

    `binary`: LightMetalBinary, bytes or a file name.  `find_function(name, parameters, buffers)`: what a queue calls for a
    function that the binary names (`buffers`: pairs of device and buffer); `find_chip(spec)`: the chip of `options.device`,
    with `load(overrides)` -> Arch and `device_options()` -> fields of its CreateDevice record.  Afterwards `compares` holds
    the comparisons' results, `reads` the bytes of every read in order, `error` what stopped the replay.
    """

    def __init__(self, binary, device=None, options=None, *, find_function, find_chip=None):
        self.options, self.device = options or ReplayOptions(), device
        self.find_function, self.find_chip = find_function, find_chip
        self.checks = self.options.check and not os.environ.get(DISABLE_CHECKING)
        self.binary = verified(binary)
        self.system = Simulation() if device is None else device.system
        self.names = Names(new_id, new_trace_id)
        self.decoder = Decoder(self.binary, self.names, self._find_kernel, None if device is None else device.id)
        self.compares, self.reads, self.devices, self.warnings, self.error = [], [], [], [], None
        self.buffers, self.saved = set(), {}  # global ids of buffers; name -> final bytes
        self.retimed, self.moved, self.differs = False, {}, []  # moved: captured address -> global id

    # --- running

    def _bound(self, node):
        """Bytes that the user gave in place of those a write holds, or None."""
        for name in (str(node.buffer_global_id), self.binary.buffer_names.get(node.buffer_global_id)):
            if name in self.options.bind:
                return self.options.bind[name]
        return None

    def run(self):
        """Execute the binary; True when it ran to its end and every comparison passed.  Errors are in `error`."""
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
        """Execute the binary; raises what a live program would raise.  The devices stay open until `close`."""
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
            decoder.created_as(node, result)
            if node.table == "BufferCreateCommand":
                self._check_placement(node, result)
        if launch_at is None:
            self._launch()

    def _carry_out(self, index, record):
        """What the executor returns for the record of command `index`."""
        handler = HANDLERS.get(type(record))
        try:
            return self.system.executor.submit(record) if handler is None else handler(self, record)
        except OverflowError as error:
            where = {"offset": self.node.position, "field": f"commands[{index}]"}
            raise BinaryError("the simulated time exceeds the range of the clock", where=where) from error

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
        return c.WriteBuffer(**{**vars(record), "data": data})

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
                raise UsageError(f"the binary has no buffer {name!r}", hint="tensim inspect --buffers lists them")
            if not any(self.names.get(number) == buffer.id for number in written):
                executor.submit(c.WriteBuffer(buffer.device, 0, buffer.id, data, 0, True))

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
                if self._wanted(name) not in self.system.executor.buffers:
                    raise UsageError(f"the binary has no buffer {name!r}", hint="tensim inspect --buffers lists them")
                self._save(self._wanted(name))
            np.save(file, np.frombuffer(self.saved[name], np.uint8))

    def _check_placement(self, node, buffer):
        """On the captured chip the allocator must choose the captured address: programs may depend on it."""
        if not node.has_chosen_address or buffer.address == node.chosen_address:
            return
        if not self.retimed:
            raise TensimError(
                f"buffer {node.global_id} lies at {buffer.address:#x}; when it was captured it lay at "
                f"{node.chosen_address:#x}",
                kind="placement",
                hint="the binary was changed, or captured by a tensim that allocates buffers differently",
            )
        self.moved[node.chosen_address] = node.global_id

    def _open_devices(self):
        if self.device is not None:
            return
        root = self.binary.root
        described = root.devices or ()
        self._restore_system()
        for node in root.host_devices or ():
            self.system.executor.submit(c.CreateHostDevice(node.device_id, node.num_queues))
        for node in described:
            self._open(device_record(node))
        if not described and not root.chips:
            self._open(c.CreateDevice(0, 1, 0, 0, UNNAMED_CHIP, "fast", "packet", None, 0))
        host = self.system.host
        host.now_fs = max(host.now_fs, self.binary.root.host_start_fs)

    def _restore_system(self):
        restore_system(self.binary.root, self.system)

    def _open(self, record):
        options = self.options
        name, overrides = record.arch
        if options.arch is not None:
            name, overrides = options.arch, {}
        arch = load_arch(name, {**overrides, **options.overrides})
        if options.device is not None:
            chosen = self.find_chip(options.device)
            arch, record = chosen.load(options.overrides), replace(record, **chosen.device_options())
        if record.arch != UNNAMED_CHIP:
            self._note_differences(load_arch(*record.arch), arch)
        numerics = options.numerics or record.numerics
        limit = options.max_cycles or record.max_cycles
        chosen = {"arch": arch, "numerics": numerics, "max_cycles": limit, "check": options.check_kernels}
        record = c.CreateDevice(**{**vars(record), **chosen})
        device = self.system.executor.submit(record)
        if options.log:
            device.chip.enable_log()
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
        """Close the devices that the replay opened."""
        for device in self.devices:
            if device.id in self.system.executor.devices and self.device is None:
                self.system.executor.submit(c.CloseDevice(device.id))

    # --- records that are not handed on as they are

    def _with_references(self, record):
        """Arguments that stand for something of the chip get their values here."""
        common = isinstance(record, c.SetCommonRuntimeArgs)
        args = [list(words) for words in ([record.args] if common else record.args)]
        if self.retimed:
            self._refuse_raw_addresses(record, args)
        for core, index, kind, key in record.references:
            if core >= len(args) or index >= len(args[core]):
                raise UsageError(f"the reference to argument {index} of core {core} does not point to an argument")
            args[core][index] = self._value(kind, key, args[core][index])
        words = tuple(args[0]) if common else tuple(map(tuple, args))
        return self.system.executor.submit(type(record)(**{**vars(record), "args": words}))

    def _refuse_raw_addresses(self, record, args):
        """A plain number that is the captured address of a buffer which has moved would be wrong on this chip.

        A list that also holds the buffer as a reference is given the benefit of the doubt: the number may be a count.
        """
        for core, words in enumerate(args):
            referenced = {key for place, _, _, key in record.references if place == core}
            plain = set(range(len(words))) - {index for place, index, _, _ in record.references if place == core}
            for index in sorted(plain):
                moved = self.moved.get(words[index])
                if moved is not None and self.names[moved] not in referenced:
                    raise UsageError(
                        f"runtime argument {index} of kernel {record.kernel} is the raw address {words[index]:#x} of "
                        f"buffer {moved}, which lies elsewhere on this chip",
                        hint="capture with the buffer itself, or its .address, as the argument",
                    )

    def _value(self, kind, key, captured):
        executor = self.system.executor
        if kind == c.Reference.BUFFER_ADDRESS and key in executor.buffers:
            return executor.buffers[key].address
        if kind == c.Reference.GLOBAL_SEMAPHORE_ADDRESS and key in executor.global_semaphores:
            return executor.global_semaphores[key].address
        if kind in (c.Reference.WORKER_X, c.Reference.WORKER_Y):
            device = next(iter(executor.devices.values()))
            return device.arch.worker_coords[device.worker((key & 0xFFFF, key >> 16))][kind - c.Reference.WORKER_X]
        return captured

    def _read(self, record):
        if record.size == 0:  # the files of other writers read whole buffers
            size = self.system.executor.buffer(record.buffer).size
            record = c.ReadBuffer(**{**vars(record), "size": size})
        item = self.system.executor.submit(record)
        self.reads.append(item)
        if os.environ.get(SHOW_READS) and record.blocking:
            print(f"read of buffer {record.buffer}: {np.frombuffer(item.result[:64], '<u4').tolist()} ...")
        return item

    def _compare(self, record):
        item = self.system.executor.submit(record)
        self.compares.append(compare(record, item.result))
        return item

    def _load_trace(self, record):
        """The host's time for making the trace is that of the capture, unless this is another chip."""
        host = self.system.host
        if not self.retimed:
            host.now_fs = max(host.now_fs, self.node.host_at_fs)
        return self.system.executor.submit(record)

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


def _nothing():
    """A function without buffers: only its time passes."""


HANDLERS = {
    c.CreateDevice: Replay._create_device,
    c.SetRuntimeArgs: Replay._with_references,
    c.SetCommonRuntimeArgs: Replay._with_references,
    c.ReadBuffer: Replay._read,
    c.CompareBuffer: Replay._compare,
    c.LoadTrace: Replay._load_trace,
    c.EnqueueFunction: Replay._function,
}
