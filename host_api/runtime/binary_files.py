"""Binaries in files: the Light Metal format with the programs' signatures beside the commands that build them.

Each variant with kernels is built once over placeholder buffers on a scratch device of every architecture asked for; its
command records stand in the file.  A loaded variant hands them to the executor again, with the real buffers in the places
of the placeholders.  Variants in numpy are stored by the name that `host_function` gave them.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, NoReturn, cast

import numpy as np

import tensim.device as metal
from tensim.light_metal.binary import WRITER, LightMetalBinary, verified
from tensim.program import Program
from tensim.runtime.dtypes import DType
from tensim.runtime.functions import array_function, describe_layout, dtype_named, layout_of, name_of
from tensim.runtime.layouts import TensorDesc
from tensim.runtime.placement import Optimal, Promise
from tensim.runtime.program_info import ProgramInfo, TensorInfo, Variant
from tensim.runtime.trial_builds import TrialBuild
from tensim.sim.arch.loader import load_arch
from tensim.sim.errors import BinaryError, TensimError, UsageError
from tensim.sim.host import commands as c
from tensim.sim.host.executor import new_id
from tensim.sim.host.references import WITH_REFERENCES, argument_lists, resolved
from tensim.traces.flatbuffers.schema import light_metal_schema_bytes
from tensim.traces.flatbuffers.tables import Node
from tensim.traces.light_metal.read import Decoder, Names
from tensim.traces.light_metal.write import BinaryWriter, device_description

if TYPE_CHECKING:
    from tensim.buffer import Buffer
    from tensim.runtime.binaries import Binary
    from tensim.runtime.devices import MetalDevice
    from tensim.runtime.placement import Placement
    from tensim.runtime.trial_builds import Built
    from tensim.sim.arch.loader import Arch
    from tensim.traces.light_metal.binary import Binary as BinaryFile

ARCHITECTURES = ("wormhole_b0",)  # that variants for any chip are built for, unless others are asked for
BUILDING_TABLES = {
    "ProgramConstructorCommand", "CreateKernelCommand", "SetRuntimeArgsUint32Command",
    "SetRuntimeArgsUint32VecPerCoreCommand", "SetRuntimeArgsCommand", "SetCommonRuntimeArgsCommand",
    "UpdateRuntimeArgCommand", "CreateCircularBufferCommand", "UpdateCircularBufferCommand", "CreateSemaphoreCommand",
    "AssignBufferToProgramCommand",
}  # fmt: skip


@functools.cache
def schema_hash() -> str:
    """SHA-256 (hex) of the schema of the files that `save` writes and `load` reads."""
    return hashlib.sha256(light_metal_schema_bytes()).hexdigest()


# --- saving


def save(binary: Binary, path: str | PathLike[str], architectures: Iterable[str] = ARCHITECTURES) -> None:
    """Write a binary to a file.

    `architectures`: for which variants without one are built.  UsageError for a numpy variant without a registered name, a
    cost that is no number, an Affinity (devices have no meaning in a file), and a build that does more than make a program
    or that hides a buffer's address in a plain number.
    """
    saver = _Saver(architectures)
    programs = [saver.program(info) for info in binary.programs]
    description = {"version": binary.version, "build_id": binary.build_id, "programs": programs}
    if binary.system_desc is not None:
        description["system_json"] = json.dumps(binary.system_desc)
    saver.writer.further = {"binary": Node("BinaryDescription", description)}
    LightMetalBinary(saver.writer.finish(0, 0, WRITER)).save_to_file(path)


class _Saver:
    """Builds the variants of a binary and collects their commands."""

    def __init__(self, architectures: Iterable[str]) -> None:
        self.architectures, self.writer = architectures, BinaryWriter()
        self.devices = {}  # architecture -> number of its scratch device in the file

    def program(self, info: ProgramInfo) -> Node:
        variants = [node for variant in info.variants for node in self._variants(info, variant)]
        goldens = [self._golden(name, np.asarray(values)) for name, values in info.goldens.items()]
        return Node("ProgramDescription", {
            "name": info.name, "inputs": [_tensor(tensor) for tensor in info.inputs], "goldens": goldens,
            "outputs": [_tensor(tensor) for tensor in info.outputs], "variants": variants, "is_private": info.private,
            "mesh_rows": info.mesh_shape[0], "mesh_columns": info.mesh_shape[1],
            "placement_json": _placement(info.placement, info.name),
        })  # fmt: skip

    def _golden(self, name: str, values: np.ndarray) -> Node:
        bits = values.view(np.uint16) if values.dtype == DType.BF16.numpy else values
        dtype = "bf16" if values.dtype == DType.BF16.numpy else values.dtype.str
        return Node("GoldenDescription", {
            "name": name, "dtype": dtype, "shape": values.shape,
            "payload": self.writer.payload(np.ascontiguousarray(bits).tobytes()),
        })  # fmt: skip

    def _variants(self, info: ProgramInfo, variant: Variant) -> list[Node]:
        if callable(variant.cost_ns):
            raise UsageError(
                f"a variant of program {info.name} computes its cost at run time, which a file cannot store",
                hint="cost_ns=NUMBER",
            )
        fields = {"target": variant.target, "cost_ns": float(variant.cost_ns)}
        if variant.function is not None:
            fields["function"] = name_of(variant.function)
            if fields["function"] is None:
                raise UsageError(
                    f"the numpy function of program {info.name} has no name, so a file cannot refer to it",
                    hint='decorate it with @host_function("NAME")',
                )
        if variant.build is None:
            return [Node("VariantDescription", fields)]
        scheme, _, arch = variant.target.partition("://")
        archs = [load_arch(chip) for chip in ([arch] if arch else self.architectures)]
        return [
            Node(
                "VariantDescription", fields | {"target": f"{scheme}://{chip.name}"} | self._built(info, variant, chip)
            )
            for chip in archs
        ]

    def _built(self, info: ProgramInfo, variant: Variant, arch: Arch) -> dict[str, Node]:
        """Fields `build` and `rebind` of a variant for an architecture."""
        first, second = (TrialBuild(arch, info, variant, padding) for padding in (0, 1))
        _check_addresses(info, first, second)
        device = self._device(first)
        fields = {"build": self._recipe(first.build, first.program, device)}
        self._name_placeholders(info, first)
        if variant.rebind is not None:
            fields["rebind"] = self._recipe(first.rebind, first.program, device)
        return fields

    def _name_placeholders(self, info: ProgramInfo, scratch: TrialBuild) -> None:
        inputs, outputs, _ = scratch.build
        for tensor, (record, _) in zip((*info.inputs, *info.outputs), inputs + outputs, strict=True):
            self.writer.names[f"{info.name}/{tensor.name}@{scratch.arch.name}"] = self.writer.id(
                "buffer", record.buffer
            )

    def _device(self, scratch: TrialBuild) -> int:
        if scratch.arch.name not in self.devices:
            number = self.devices[scratch.arch.name] = len(self.devices)
            record = c.CreateDevice(number, 1, 0, 0, scratch.arch, "off", "packet", None, 0)
            self.writer.devices.append(device_description(record, scratch.arch, scratch.arch.clock_mhz))
        return self.devices[scratch.arch.name]

    def _recipe(self, built: Built, program: int | None, device: int) -> Node:
        """The BuildDescription of (input buffers, output buffers, [(record, result)])."""
        inputs, outputs, records = built
        for record, result in inputs + outputs:
            self.writer.add(c.CreateBuffer(**{**vars(record), "device": device}), result)
        first = len(self.writer.commands)
        for record, result in records:
            self.writer.add(record, result)
        ids = [[self.writer.id("buffer", record.buffer) for record, _ in side] for side in (inputs, outputs)]
        return Node("BuildDescription", {
            "first": first, "count": len(records), "program": self.writer.id("program", program), "inputs": ids[0],
            "outputs": ids[1],
        })  # fmt: skip


def _check_addresses(info: ProgramInfo, first: TrialBuild, second: TrialBuild) -> None:
    """Two builds over buffers at other addresses differ in references only."""
    for (a, _), (b, _) in zip(first.build[2], second.build[2], strict=True):
        if isinstance(a, WITH_REFERENCES) and _plain(a) != _plain(b):
            raise UsageError(
                f"program {info.name} passes a buffer's address as a plain number, which a file cannot correct",
                hint="pass the buffer or its .address unchanged as an argument; kernels can compute with it",
            )


def _plain(record: Any) -> list[int]:
    """Arguments that stand for nothing, by place."""
    lists, known = argument_lists(record), {(core, index) for core, index, _, _ in record.references}
    if isinstance(record, c.UpdateRuntimeArg):  # its list has one argument, whatever its index
        return [] if known else lists[0]
    return [w for core, words in enumerate(lists) for index, w in enumerate(words) if (core, index) not in known]


def _tensor(info: TensorInfo) -> Node:
    return Node("TensorDescription", {
        "name": info.name, "shape": info.desc.shape, "dtype": info.desc.dtype.value, "strides": info.desc.strides,
        "layout_json": json.dumps(describe_layout(info.layout)), "const": info.const,
        "placement_json": _placement(info.placement, info.name),
        "aliases_output": -1 if info.aliases_output is None else info.aliases_output,
    })  # fmt: skip


def _placement(place: Placement, what: str) -> str | None:
    """A placement as JSON, None for none."""
    return None if place is None else json.dumps(_plain_placement(place, what))


def _plain_placement(place: Placement, what: str) -> dict[str, Any]:
    if isinstance(place, Promise):
        return {"promise": place.name, "queues": place.queues}
    if isinstance(place, Optimal) and not callable(place.policy):
        return {"optimal": [_plain_placement(choice, what) for choice in place.choices], "policy": place.policy}
    raise UsageError(
        f"{what} is placed by a device or a function, which a file cannot store", hint="place it on a Promise"
    )


# --- loading


def load(source: str | PathLike[str] | bytes | BinaryFile) -> tuple[list[ProgramInfo], str, str, dict[str, Any] | None]:
    """(programs, version, build id, system description) of a file name or of bytes, verified; see `Binary.load`."""
    file = verified(source)
    node = file.reader.root("binary").binary
    if node is None:
        raise BinaryError(
            "the file holds commands, but no binary", hint="Binary.save writes one; replay(path) replays others"
        )
    try:
        programs = [_program(file, program) for program in node.programs or ()]
        system_desc = None if node.system_json is None else json.loads(node.system_json)
    except TensimError:
        raise
    except (LookupError, ValueError, TypeError, AttributeError, OverflowError) as error:
        where = {"offset": node.position, "field": "binary"}
        raise BinaryError(
            f"the description of the binary contains an invalid value: {error}",
            hint="the file is damaged: save it again",
            where=where,
        ) from error
    return programs, node.version or "", node.build_id or "", system_desc


def _program(file: Any, node: Any) -> ProgramInfo:
    inputs, outputs = (tuple(_tensor_info(tensor) for tensor in side or ()) for side in (node.inputs, node.outputs))
    variants = tuple(_variant(file, variant, len(inputs), len(outputs)) for variant in node.variants or ())
    goldens = {golden.name: _golden_values(file, golden) for golden in node.goldens or ()}
    mesh, place = (node.mesh_rows, node.mesh_columns), _placement_of(node.placement_json)
    return ProgramInfo(node.name or "", inputs, outputs, variants, node.is_private, mesh, place, goldens)


def _tensor_info(node: Any) -> TensorInfo:
    strides = None if node.strides is None else tuple(node.strides.tolist())
    desc = TensorDesc(tuple(node.shape.tolist()), dtype_named(node.dtype), strides)
    layout, alias = layout_of(json.loads(node.layout_json)), node.aliases_output
    place = _placement_of(node.placement_json)
    return TensorInfo(node.name or "", desc, layout, place, node.const, None if alias < 0 else alias)


def _placement_of(text: str | None) -> Promise | Optimal | None:
    return None if text is None else _plain_to_placement(json.loads(text))


def _plain_to_placement(plain: dict[str, Any]) -> Promise | Optimal:
    if "promise" in plain:
        return Promise(plain["promise"], plain["queues"])
    return Optimal(tuple(cast(Promise, _plain_to_placement(place)) for place in plain["optimal"]), plain["policy"])


def _golden_values(file: Any, node: Any) -> np.ndarray:
    dtype = np.dtype(np.uint16) if node.dtype == "bf16" else np.dtype(node.dtype)
    if dtype.hasobject or not 1 <= node.payload <= len(file.reader.root("payloads").payloads or ()):
        raise ValueError(f"golden {node.name!r} contains no numeric data")
    values = np.frombuffer(file.payload(node.payload), dtype).reshape(tuple(node.shape.tolist()))
    return values.view(DType.BF16.numpy) if node.dtype == "bf16" else values


def _variant(file: Any, node: Any, inputs: int, outputs: int) -> Variant:
    function = None if node.function is None else array_function(node.function)
    if node.build is None:
        return Variant(node.target, function=function, cost_ns=node.cost_ns)
    recipe = _Recipe(file, node.build, inputs, outputs)
    rebind = None if node.rebind is None else recipe.rebinder(node.rebind)
    return Variant(node.target, recipe.build, rebind, function, node.cost_ns)


class _Recipe:
    """The commands that build a program, over other buffers each time."""

    def __init__(self, file: Any, node: Any, inputs: int, outputs: int) -> None:
        self.file, self.node, self.counts = file, node, (inputs, outputs)
        self._check(node, programs=1)

    def _check(self, node: Any, programs: int) -> None:
        """ValueError for commands that do other than make so many programs."""
        if node.first + node.count > len(self.file):
            raise ValueError(f"commands {node.first} to {node.first + node.count} of {len(self.file)}")
        if tuple(len(_ids(side)) for side in (node.inputs, node.outputs)) != self.counts:
            raise ValueError("a build names a different number of buffers than its program has")
        tables = [self.file.command(index).table for index in range(node.first, node.first + node.count)]
        for index, table in enumerate(tables, node.first):
            if table not in BUILDING_TABLES:
                raise ValueError(f"command {index}, {table}, does not build a program")
        made = tables.count("ProgramConstructorCommand")
        if made != programs:
            raise ValueError(f"commands {node.first} to {node.first + node.count} make {made} programs, not {programs}")

    def build(self, device: MetalDevice, inputs: Sequence[Buffer], outputs: Sequence[Buffer]) -> Program:
        """See Variant.build."""
        names = Names(new_id)
        decoder = Decoder(self.file, names, _no_kernel)
        program: Any = None
        for node in self._nodes(self.node, names, inputs, outputs):
            if node.table == "ProgramConstructorCommand":
                program = Program()
                names.set(node.global_id, program.id)
            else:
                _submit(decoder, node, device)
        program.decoder, program.built_on = decoder, device  # for rebinding: it knows the names of its kernels
        return program

    def rebinder(self, node: Any) -> Callable[..., None]:
        """See Variant.rebind."""
        self._check(node, programs=0)

        def rebind(program: Any, inputs: Sequence[Buffer], outputs: Sequence[Buffer]) -> None:
            for command in self._nodes(node, program.decoder.names, inputs, outputs):
                _submit(program.decoder, command, program.built_on)

        return rebind

    def _nodes(self, node: Any, names: Names, inputs: Sequence[Buffer], outputs: Sequence[Buffer]) -> Iterator[Any]:
        """The commands, with placeholders standing for these buffers."""
        for ids, buffers in ((node.inputs, inputs), (node.outputs, outputs)):
            for number, buffer in zip(_ids(ids), buffers, strict=True):
                names.set(number, buffer.unique_id)
        return (self.file.command(index) for index in range(node.first, node.first + node.count))


def _ids(vector: Any) -> Sequence[int]:
    return () if vector is None else vector.tolist()


def _no_kernel(file_name: str) -> NoReturn:
    raise BinaryError(
        f"the binary does not contain the source of kernel {file_name}",
        hint="save the binary again, from the program that has the kernel",
    )


def _submit(decoder: Decoder, node: Any, device: MetalDevice) -> None:
    """Carry out a command with the addresses that its references have now."""
    try:
        record = decoder.record(node)
    except LookupError as error:
        where = {"offset": node.position, "field": "binary"}
        raise BinaryError(
            f"a build uses object {error}, which it did not create",
            hint="the file is damaged: save it again",
            where=where,
        ) from error
    if isinstance(record, WITH_REFERENCES):
        value_of = metal.current_system().executor.value_of
        record = resolved(record, lambda *reference: value_of(device._state, *reference))
    decoder.created_as(node, metal.submit(record))
