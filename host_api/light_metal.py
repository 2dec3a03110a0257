"""Light Metal: record every host call that reaches a device in a binary, and replay such a binary.

Capture observes the executor's command records; a replay hands the same records to an executor of its own.  There is no
second way to run a workload, so a replay with the same device parameters takes the same cycles and leaves the same bytes.
"""

import contextlib
import os
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from host_api.device import current_system, submit
from sim import commands as c
from sim.arch import load_arch
from sim.cores.data_format import DataFormat
from sim.cores.host_formats import decode
from sim.errors import TensimError, UsageError
from sim.executor import System, new_id
from traces.light_metal_read import Binary, Decoder, Names, device_record
from traces.light_metal_write import BinaryWriter, device_description

WRITER = "tensim"
SHOWN_DIFFERENCES = 8
# Environment variables of tt-metal's replay (reference section 3.9)
SHOW_READS, DISABLE_CHECKING = "TT_LIGHT_METAL_SHOW_READS", "TT_LIGHT_METAL_DISABLE_CHECKING"


class LightMetalBinary:
    """The bytes of a Light Metal file."""

    def __init__(self, data=b""):
        self._data = data

    def get_data(self):
        return self._data

    def size(self):
        return len(self._data)

    def is_empty(self):
        return len(self._data) == 0

    def save_to_file(self, path):
        """Write the file; UsageError when that fails or there is nothing to save."""
        if self.is_empty():
            raise UsageError("the Light Metal binary is empty")
        try:
            Path(path).write_bytes(self._data)
        except OSError as error:
            raise UsageError(f"cannot write {path}: {error.strerror}") from error

    @classmethod
    def load_from_file(cls, path):
        """Map a file into memory; UsageError when it cannot be read or is empty."""
        data = Binary.open(path)
        if len(data) == 0:
            raise UsageError(f"{path} is empty")
        return cls(data)


# --- capture


class Capture:
    """Observes the records of a system and writes those that belong to the captured workload."""

    def __init__(self, system):
        self.writer, self.system = BinaryWriter(), system
        self.host_start = system.host.now
        for device in system.executor.devices.values():
            record = device.opened_with
            self.writer.devices.append(device_description(record, device.arch, device.arch.clock_mhz))
        system.executor.observers.append(self._observe)

    def _observe(self, record, result):
        self.writer.add(record, result)

    def stop(self):
        self.system.executor.observers.remove(self._observe)

    def finish(self):
        """The bytes of the file."""
        return self.writer.finish(self.host_start, WRITER)


_capture = None


def light_metal_begin_capture():
    """Record every call from now on.  Open the devices first.  UsageError while another capture is going on."""
    global _capture
    if _capture is not None:
        raise UsageError("a Light Metal capture is going on already", hint="light_metal_end_capture ends it")
    _capture = Capture(current_system())


def light_metal_end_capture():
    """Stop recording; returns the `LightMetalBinary`.  UsageError when no capture is going on."""
    global _capture
    if _capture is None:
        raise UsageError("no Light Metal capture is going on")
    capture, _capture = _capture, None
    capture.stop()
    return LightMetalBinary(capture.finish())


@contextlib.contextmanager
def light_metal_capture():
    """Capture what happens in a `with` block: `with light_metal_capture() as captured: ...; captured.binary`."""
    light_metal_begin_capture()
    captured = Captured()
    try:
        yield captured
    except BaseException:
        light_metal_end_capture()
        raise
    captured.binary = light_metal_end_capture()


class Captured:
    """What `light_metal_capture` gives: `binary` after the block."""

    binary = None


def light_metal_compare_to_capture(queue, buffer, dst=None, *, name=""):
    """Read a buffer now, blocking, and let every replay compare what it reads with that.  Returns the bytes.

    `dst`: a bytearray that gets the bytes, too.
    """
    item = submit(c.CompareBuffer(queue.device.id, queue.id, buffer.unique_id, None, name))
    if dst is not None:
        dst[:] = item.result
    return item.result


def light_metal_compare_to_golden(queue, buffer, golden, *, name="", rtol=0.0, atol=0.0, data_format=None):
    """Let every replay compare a buffer with `golden` (bytes-like of the buffer's size).

    With `data_format` and a tolerance the values may differ by atol + rtol * |golden|.  Nothing is read now.
    """
    golden = bytes(np.ascontiguousarray(golden).view(np.uint8)) if isinstance(golden, np.ndarray) else bytes(golden)
    if len(golden) != buffer.size:
        raise UsageError(f"golden data of {len(golden)} B for a buffer of {buffer.size} B")
    code = int(DataFormat.Invalid if data_format is None else data_format)
    record = c.CompareBuffer(queue.device.id, queue.id, buffer.unique_id, golden, name, float(rtol), float(atol), code)
    if _capture is not None:
        _capture.writer.add(record, None)


# --- comparison


def compare(record, actual):
    """What a comparison found: {"name", "passed", "mismatches", "total", "first", "pcc", "max_abs_error", "ulp_histogram"}.

    Without a format bytes are compared as 32-bit words; `first`: the first differences as (index, expected, actual).
    """
    expected = record.golden
    found = {"name": record.name, "passed": False, "mismatches": 0, "total": 0, "first": []}
    if len(actual) != len(expected):
        return found | {"mismatches": abs(len(actual) - len(expected)), "why": "sizes differ"}
    if record.format == DataFormat.Invalid:
        dtype = "<u4" if len(actual) % 4 == 0 else "u1"
        got, want = np.frombuffer(actual, dtype), np.frombuffer(expected, dtype)
        wrong = got != want
    else:
        got, want = (decode(data, DataFormat(record.format), (32, -1)).ravel() for data in (actual, expected))
        wrong = ~np.isclose(got, want, rtol=record.rtol, atol=record.atol, equal_nan=True)
        found |= _float_figures(got, want)
    places = np.flatnonzero(wrong)
    first = [[int(i), want[i].item(), got[i].item()] for i in places[:SHOWN_DIFFERENCES]]
    return found | {"passed": len(places) == 0, "mismatches": len(places), "total": len(got), "first": first}


def _float_figures(got, want):
    """Correlation, largest error and the histogram of distances in units in the last place (of float32)."""
    finite = np.isfinite(got) & np.isfinite(want)
    got, want = got[finite].astype(np.float64), want[finite].astype(np.float64)
    if len(got) == 0:
        return {"pcc": None, "max_abs_error": None, "ulp_histogram": {}}
    constant = got.std() == 0 or want.std() == 0
    pcc = float(np.array_equal(got, want)) if constant else float(np.corrcoef(got, want)[0, 1])
    distance = np.abs(got - want) / np.spacing(np.maximum(np.abs(want), np.finfo(np.float32).tiny).astype(np.float32))
    edges = [0, 1, 2, 4, 16, 256, np.inf]
    counts, _ = np.histogram(distance, [*edges[:-1], np.inf])
    names = ["0", "1", "2-3", "4-15", "16-255", "256-"]
    return {
        "pcc": pcc, "max_abs_error": float(np.abs(got - want).max()),
        "ulp_histogram": {name: int(count) for name, count in zip(names, counts, strict=True)},
    }  # fmt: skip


# --- replay


@dataclass
class ReplayOptions:
    """How to replay.  `arch`, `overrides`: another chip or other parameters; `bind`: {buffer name or id: bytes} in place
    of what was captured; `save`: buffers whose last contents are kept; `kernel_path`: folders with kernels by file name;
    `check`: whether comparisons count; `log`: record the timeline.
    """

    arch: str | None = None
    overrides: dict = field(default_factory=dict)
    numerics: str | None = None
    bind: dict = field(default_factory=dict)
    save: tuple = ()
    kernel_path: tuple = ()
    check: bool = True
    log: bool = False


class LightMetalReplay:
    """Replays a binary on a device that it opens itself, or on `device`.

    `binary`: LightMetalBinary, bytes or a file name.  Afterwards `compares` holds the comparisons' results, `reads` the
    bytes of every read in order, `error` what stopped the replay.
    """

    def __init__(self, binary, device=None, options=None):
        if isinstance(binary, str | os.PathLike):
            binary = LightMetalBinary.load_from_file(binary)
        data = binary.get_data() if isinstance(binary, LightMetalBinary) else binary
        self.options, self.device = options or ReplayOptions(), device
        if not self.options.check or os.environ.get(DISABLE_CHECKING):
            self.options.check = False
        self.binary = Binary(data)
        self.system = System() if device is None else device.system
        self.names = Names(new_id)
        self.decoder = Decoder(self.binary, self.names, self._find_kernel)
        self.compares, self.reads, self.saved, self.devices, self.error = [], [], {}, [], None

    # --- running

    def run(self):
        """Execute the binary; True when it ran to its end and every comparison passed.  Errors are in `error`."""
        if len(self.binary) == 0:
            self.error = UsageError("the binary holds no commands")
            return False
        try:
            self.execute()
        except TensimError as error:
            self.error = error
            return False
        finally:
            self.close()
        return all(one["passed"] for one in self.compares) or not self.options.check

    def execute(self):
        """Execute the binary; raises what a live program would raise.  The devices stay open until `close`."""
        self._open_devices()
        executor, decoder = self.system.executor, self.decoder
        for node in self.binary.nodes():
            if node is None:
                continue
            record = decoder.record(node)
            handler = HANDLERS.get(type(record))
            result = executor.submit(record) if handler is None else handler(self, record)
            decoder.created_as(node, result)

    def _open_devices(self):
        if self.device is not None:
            return
        for node in self.binary.root.devices or ():
            self._open(device_record(node))
        host = self.system.host
        host.now = max(host.now, self.binary.root.host_start_fs)

    def _open(self, record):
        options = self.options
        name, overrides = record.arch
        if options.arch is not None:
            name, overrides = options.arch, {}
        arch = load_arch(name, {**overrides, **options.overrides})
        numerics = options.numerics or record.numerics
        record = c.CreateDevice(**{**vars(record), "arch": arch, "numerics": numerics})
        device = self.system.executor.submit(record)
        if options.log:
            device.chip.enable_log()
        self.devices.append(device)
        return device

    def close(self):
        """Close the devices that the replay opened."""
        for device in self.devices:
            if device.id in self.system.executor.devices and self.device is None:
                self.system.executor.submit(c.CloseDevice(device.id))

    # --- records that are not handed on as they are

    def _with_references(self, record):
        """Arguments that stand for something of the chip get their values here."""
        args = [list(words) for words in getattr(record, "args", ())]
        common = isinstance(record, c.SetCommonRuntimeArgs)
        if common:
            args = [list(record.args)]
        for core, index, kind, key in record.references:
            args[core][index] = self._value(kind, key, args[core][index])
        words = tuple(args[0]) if common else tuple(map(tuple, args))
        return self.system.executor.submit(type(record)(**{**vars(record), "args": words}))

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

    def _create_device(self, record):
        return self._open(record)

    def _find_kernel(self, file_name):
        """A kernel that the binary names by file only, from the search path."""
        from sim.cores.kernel_compiler import kernel_from_file

        tried = [Path(folder) / file_name for folder in (*self.options.kernel_path, ".")]
        for path in tried:
            if path.suffix == ".py" and path.is_file():
                return kernel_from_file(path)
        hint = "tried " + ", ".join(map(str, tried))
        if not file_name.endswith(".py"):
            hint += "; a C++ kernel needs its Python counterpart under the same name with .py"
        raise UsageError(f"the binary holds no text of kernel {file_name}", hint=hint)

    # --- afterwards

    @property
    def chips(self):
        """The chips that the replay ran on."""
        return [device.chip for device in self.devices] if self.device is None else [self.device.chip]


HANDLERS = {
    c.CreateDevice: LightMetalReplay._create_device,
    c.SetRuntimeArgs: LightMetalReplay._with_references,
    c.SetCommonRuntimeArgs: LightMetalReplay._with_references,
    c.ReadBuffer: LightMetalReplay._read,
    c.CompareBuffer: LightMetalReplay._compare,
}
