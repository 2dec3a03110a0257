"""Whether a Light Metal binary may be used: its structure and references (`verifier`), its hash, and whether it fits a chip."""

import hashlib
import re

from tensim.sim.arch import load_arch
from tensim.sim.engine.limits import MAX_RUNTIME_ARGS
from tensim.sim.errors import BinaryError, UsageError
from tensim.traces.flatbuffers.schema import light_metal_schema
from tensim.traces.light_metal.binary import Binary
from tensim.traces.light_metal.kernels import check_source
from tensim.traces.light_metal.read import UNNAMED_CHIP, described_chip, refuse_unsupported
from tensim.traces.light_metal.values import cores_of, value
from tensim.traces.light_metal.write import HASH_BYTES, SCHEMA_VERSION, hash_place

MAX_INDEX = 32  # circular buffers of a core
DRAM, L1 = 0, 1


def open_verified(data, numbering=None):
    """The `Binary` in the bytes of a file.  BinaryError with offset, field and reason when it may not be used."""
    # here, because the compiled functions take a tenth of a second to load, which most programs need not spend
    from tensim.traces.light_metal.verifier import detect_numbering, verify_content, verify_structure

    numbering = numbering or detect_numbering(data)
    problem = verify_structure(data, numbering)
    if problem is not None:
        raise problem.error()
    _check_hash(data)
    problems = verify_content(data, numbering)
    if problems:
        raise problems[0].error()
    binary = Binary(data, numbering)
    _check_identifier(binary)
    if binary.root.schema_version > SCHEMA_VERSION:
        where = {"offset": binary.root.position, "field": "schema_version"}
        message = f"the file has schema version {binary.root.schema_version}; this tensim reads up to {SCHEMA_VERSION}"
        raise BinaryError(message, where=where, hint="use a newer tensim")
    return binary


def _check_identifier(binary):
    """A file with fields that only tensim writes carries tensim's identifier."""
    root = binary.reader.root("schema_version", "content_hash")
    identifier = light_metal_schema().identifier
    if (root.schema_version or root.content_hash is not None) and bytes(binary.data[4:8]) != identifier:
        found = bytes(binary.data[4:8])
        raise BinaryError(
            f"the file identifier is {found!r}; a file with tensim's fields has {identifier!r}",
            where={"offset": 4, "field": "file identifier"},
        )


def _check_hash(data):
    """Files that carry a content hash must agree with it."""
    place = hash_place(data)
    if place is None:
        return
    digest = hashlib.sha256(memoryview(data)[:place])
    digest.update(bytes(HASH_BYTES))
    digest.update(memoryview(data)[place + HASH_BYTES :])
    if digest.digest() != bytes(data[place : place + HASH_BYTES]):
        where = {"offset": place, "field": "content_hash"}
        raise BinaryError("the content does not match its hash: the file was changed", where=where)


def problems_of(data, numbering=None, arch=None, grid=None):
    """Everything wrong with a file: [{"offset", "field", "why"}].  `arch`, `grid`: the chip to check against."""
    try:
        return fit_problems(open_verified(data, numbering), arch, _grid(grid))
    except BinaryError as error:
        return [{"offset": error.where.get("offset"), "field": error.where.get("field"), "why": error.message}]


def _grid(text):
    if text is None:
        return None
    if not re.fullmatch(r"[1-9]\d*x[1-9]\d*", text):
        raise UsageError(f"grid {text!r} is not of the form 8x9")
    return tuple(int(part) for part in text.split("x"))


def fit_problems(binary, arch=None, grid=None):
    """Where the commands ask more of a chip than it has."""
    devices = binary.root.devices or ()
    if arch is None:
        chip = (described_chip(devices[0]) if devices else UNNAMED_CHIP).load()
    else:
        chip = load_arch(arch)
    return list(_Fit(chip, grid or chip.grid).check(binary))


class _Fit:
    """One walk over the commands with what the chip still has."""

    def __init__(self, arch, grid):
        self.arch, self.grid = arch, grid
        self.buffers, self.l1, self.indices, self.processors = {}, {}, {}, {}

    def check(self, binary):
        for i, node in enumerate(binary.nodes()):
            checker = getattr(self, f"_{node.table}", None) if node is not None else None
            for field, why in checker(node) if checker else ():
                yield {"offset": node.position, "field": f"commands[{i}].{field}", "why": why}

    def _cores(self, spec, field):
        """Problems of cores outside the grid."""
        width, height = self.grid
        outside = [core for core in cores_of(spec) if not (0 <= core[0] < width and 0 <= core[1] < height)]
        if outside:
            yield field, f"core {outside[0]} is outside the {width}x{height} worker grid"

    def _BufferCreateCommand(self, node):  # noqa: N802  named after the table
        size = node.large_size or node.size
        banks = self.arch.dram_banks if node.buffer_type == DRAM else self.grid[0] * self.grid[1]
        room = self.arch.dram_bank_bytes if node.buffer_type == DRAM else self.arch.l1_size
        address = value(node.address)
        if node.buffer_type in (DRAM, L1) and size > banks * room:
            yield "size", f"{size} B do not fit {banks} banks of {room} B"
        if node.buffer_type == L1 and address is not None and address >= room:
            yield "address", f"{address:#x} lies outside a bank of {room} B"

    def _CreateKernelCommand(self, node):  # noqa: N802
        yield from self._cores(node.core_spec, "core_spec")
        try:
            check_source(node)
        except BinaryError as error:
            yield "source_hash", error.message
        if node.kernel_config.table == "EthernetConfig":
            yield "kernel_config", "a kernel for ethernet cores; the chip has none"
            return
        unit = (
            f"RISCV_{node.kernel_config.processor}" if node.kernel_config.table == "DataMovementConfig" else "compute"
        )
        for core in cores_of(node.core_spec):
            taken = self.processors.setdefault((node.program_global_id, core), {})
            if unit in taken:
                yield "core_spec", f"core {core} already runs kernel {taken[unit]} on {unit}"
                return
            taken[unit] = node.global_id

    def _CreateCircularBufferCommand(self, node):  # noqa: N802
        yield from self._cores(node.core_spec, "core_spec")
        try:
            refuse_unsupported(node)
        except BinaryError as error:
            yield "config", error.message
        config = node.config
        formats = [] if config.data_formats is None else config.data_formats["index"].tolist()
        if any(index >= MAX_INDEX for index in formats):
            yield "config.data_formats", f"circular-buffer index {max(formats)}; a core has {MAX_INDEX}"
        globally = config.dynamic_cb or config.globally_allocated_address is not None
        for core in cores_of(node.core_spec):
            place = (node.program_global_id, core)
            taken = self.indices.setdefault(place, set())
            again = taken & set(formats)
            taken |= set(formats)
            if again:
                yield "config.data_formats", f"circular-buffer index {min(again)} is used twice on core {core}"
                return
            used = self.l1[place] = self.l1.get(place, 0) + (0 if globally else config.total_size)
            room = self.arch.l1_size - self.arch.l1_user_base
            if used > room:
                yield "config.total_size", f"circular buffers take {used} B of core {core}; L1 has room for {room} B"
                return

    def _args(self, count):
        if count > MAX_RUNTIME_ARGS:
            yield "args", f"{count} runtime arguments; a kernel has at most {MAX_RUNTIME_ARGS}"

    def _SetRuntimeArgsUint32Command(self, node):  # noqa: N802
        yield from self._cores(node.core_spec, "core_spec")
        yield from self._args(0 if node.args is None else len(node.args))

    def _SetRuntimeArgsCommand(self, node):  # noqa: N802
        yield from self._cores(node.core_spec, "core_spec")
        yield from self._args(len(node.args or ()))

    def _SetRuntimeArgsUint32VecPerCoreCommand(self, node):  # noqa: N802
        for words in node.args or ():
            yield from self._args(0 if words.values is None else len(words.values))
