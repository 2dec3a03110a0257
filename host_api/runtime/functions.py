"""Functions that queues carry out besides programs, by name, so that a recording can name them.

A function that changes memory is called with its parameters (plain JSON values) and the memories that it reads, then those
that it writes, each a pair (read() -> uint8 array, write(uint8 array)).  `host_function` registers one over numpy arrays.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from tensim.runtime.dtypes import DType, cast
from tensim.runtime.encoding import convert, decode, encode
from tensim.runtime.layouts import Interleaved, Layout, MemSpace, Sharded, TensorDesc
from tensim.sim.errors import CommandFault, UsageError
from tensim.sim.host.buffers import read_pages, write_pages
from tensim.types import CoreCoord, CoreRange, CoreRangeSet, ShardOrientation

if TYPE_CHECKING:
    from tensim.runtime.storage import Memory

CONVERT, COPY, FILL = "tensim.convert", "tensim.copy", "tensim.fill"
NOTHING = "tensim.nothing"  # takes its time and changes no memory
MemoryFunction: TypeAlias = Callable[..., Any]  # of parameters and memories
ArrayFunction: TypeAlias = Callable[..., Any]  # of numpy arrays
_registered: dict[str, MemoryFunction] = {}
_arrays: dict[str, ArrayFunction] = {}


def memory_function(name: str) -> Callable[[MemoryFunction], MemoryFunction]:
    """Register `function(parameters, memories)` under a name.  UsageError for a name in use."""

    def register(function: MemoryFunction) -> MemoryFunction:
        if name in _registered:
            raise UsageError(
                f"a host function named {name!r} already exists", hint="each name can be registered once per process"
            )
        _registered[name] = function
        return function

    return register


def host_function(name: str) -> Callable[[ArrayFunction], ArrayFunction]:
    """Decorator: register a numpy function `f(*arrays) -> arrays` of a Variant, so that recordings and saved binaries with
    it can be used in any process that imports it.  UsageError for a name in use.
    """

    def register(function: ArrayFunction) -> ArrayFunction:
        memory_function(name)(lambda parameters, memories: call_on_arrays(function, parameters, memories))
        _arrays[name] = function
        return function

    return register


def array_function(name: str) -> ArrayFunction:
    """The numpy function that `host_function` registered; UsageError when there is none."""
    if name not in _arrays:
        raise _missing(name, _arrays)
    return _arrays[name]


def name_of(function: Callable[..., Any]) -> str | None:
    """The name that a numpy function was registered under, or None."""
    return next((name for name, known in _arrays.items() if known is function), None)


def bound(name: str, parameters: Any, memories: Sequence[Memory]) -> Callable[[], Any]:
    """What the queue calls: the registered function with its arguments.  UsageError for an unknown name."""
    if name not in _registered:
        raise _missing(name, _registered)
    function = _registered[name]
    return lambda: function(parameters, memories)


def bound_to_buffers(name: str, parameters: str, buffers: Sequence[tuple[Any, Any]]) -> Callable[[], Any]:
    """As `bound`, for a command of a file: `parameters` as JSON, `buffers` as (device, buffer) of the simulator.

    UsageError when the buffers do not fit what the parameters say of them, or for an unknown name.
    """
    try:
        plain, found = json.loads(parameters), [buffer.size for _, buffer in buffers]
        sizes = _sizes(name, plain, found)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise UsageError(
            f"the parameters of host function {name!r} cannot be read: {error}",
            hint="the file is damaged, or of another version: record it again",
        ) from error
    if sizes != found:
        raise UsageError(
            f"host function {name!r} takes buffers of {sizes} B, but the file has buffers of {found} B",
            where={"expected": sizes, "found": found},
            hint="a tensor in host memory is not in the file: record with all its tensors on devices",
        )
    return bound(name, plain, [_memory(device, buffer) for device, buffer in buffers])


def _memory(device: Any, buffer: Any) -> Memory:
    def write(data: np.ndarray) -> None:
        write_pages(device, buffer, 0, np.ascontiguousarray(data).tobytes())

    return lambda: np.frombuffer(read_pages(device, buffer, 0, buffer.size), np.uint8), write


def _sizes(name: str, parameters: Any, found: list[int]) -> list[int]:
    """Bytes of the memories that a function takes with its parameters; `found`: those that the file gives it."""
    if name == NOTHING:
        return found
    if name == COPY:
        return [found[0]] * 2
    if name == FILL:
        nbytes, value = parameters["nbytes"], parameters["value"]
        if type(nbytes) is not int or type(value) is not int or not 0 <= value < 256:
            raise ValueError(f"{nbytes!r} bytes of value {value!r}")
        return [nbytes]
    if name == CONVERT:
        desc, before = tensor_of(parameters["before"])
        return [before.nbytes(desc), layout_of(parameters["after"]).resolved(desc).nbytes(desc)]
    tensors = [tensor_of(tensor) for side in ("inputs", "outputs") for tensor in parameters[side]]
    return [layout.nbytes(desc) for desc, layout in tensors]


def _missing(name: str, known: Iterable[str]) -> UsageError:
    return UsageError(
        f"the host function {name!r} is not registered in this process",
        where={"expected": name, "found": sorted(known)},
        hint=f'import the module that defines it with @host_function("{name}")',
    )


# --- tensors as JSON


def describe_layout(layout: Layout) -> dict[str, Any]:
    """Plain values of a Layout."""
    plain: dict[str, Any] = {
        "space": layout.space.value, "tiling": layout.tiling, "tile": list(layout.tile), "oob": layout.oob,
        "dtype": None if layout.dtype is None else str(layout.dtype.value),
    }  # fmt: skip
    if isinstance(layout.distribution, Sharded):
        sharded = layout.distribution
        plain["sharded"] = {
            "kind": sharded.kind, "ranges": [list(r) for r in sharded.ranges], "shape": list(sharded.shard_shape),
            "orientation": int(sharded.orientation), "axes": None if sharded.axes is None else list(sharded.axes),
        }  # fmt: skip
    return plain


def layout_of(plain: dict[str, Any]) -> Layout:
    """The Layout of `describe_layout`'s values; LookupError, ValueError, TypeError or UsageError for others."""
    distribution: Interleaved | Sharded = Interleaved()
    if "sharded" in plain:
        sharded = plain["sharded"]
        axes = None if sharded["axes"] is None else tuple(sharded["axes"])
        grid = _core_ranges(sharded["ranges"])
        distribution = Sharded(
            sharded["kind"], grid, tuple(sharded["shape"]), ShardOrientation(sharded["orientation"]), axes
        )
    dtype = None if plain["dtype"] is None else dtype_named(plain["dtype"])
    return Layout(MemSpace(plain["space"]), plain["tiling"], tuple(plain["tile"]), dtype, distribution, plain["oob"])


def dtype_named(name: str) -> DType:
    """The type of a name; ValueError for none."""
    return DType(name)  # type: ignore[call-arg]  # mypy looks at __new__ of the members


def _core_ranges(ranges: Iterable[Sequence[int]]) -> CoreRangeSet:
    return CoreRangeSet([CoreRange(CoreCoord(x0, y0), CoreCoord(x1, y1)) for x0, y0, x1, y1 in ranges])


def describe_tensor(desc: TensorDesc, layout: Layout) -> dict[str, Any]:
    """Plain values of a description with its layout."""
    strides = None if desc.strides is None else list(desc.strides)
    return {
        "shape": list(desc.shape),
        "dtype": str(desc.dtype.value),
        "strides": strides,
        "layout": describe_layout(layout),
    }


def tensor_of(plain: dict[str, Any]) -> tuple[TensorDesc, Layout]:
    """(TensorDesc, Layout) of `describe_tensor`'s values."""
    strides = None if plain["strides"] is None else tuple(plain["strides"])
    return TensorDesc(tuple(plain["shape"]), dtype_named(plain["dtype"]), strides), layout_of(plain["layout"])


# --- the functions of the runtime itself


def call_on_arrays(function: Callable[..., Any], parameters: Any, memories: Sequence[Memory]) -> None:
    """Decode the inputs, call a numpy function, encode what it returns."""
    inputs, outputs = ([tensor_of(tensor) for tensor in parameters[side]] for side in ("inputs", "outputs"))
    arrays = [decode(read(), *tensor) for (read, _), tensor in zip(memories, inputs, strict=False)]
    results = function(*arrays)
    results = [np.asarray(values) for values in (results if isinstance(results, tuple | list) else (results,))]
    expected, found = [desc.shape for desc, _ in outputs], [values.shape for values in results]
    if found != expected:
        raise CommandFault(f"the numpy function returned arrays of shapes {found}, the outputs have {expected}")
    for (_, write), (desc, layout), values in zip(memories[len(inputs) :], outputs, results, strict=True):
        write(encode(cast(values, desc.dtype), desc, layout))


@memory_function(NOTHING)
def _nothing(parameters: Any, memories: Sequence[Memory]) -> None:
    """Only time passes."""


@memory_function(CONVERT)
def _convert(parameters: Any, memories: Sequence[Memory]) -> None:
    """Another layout of the same tensor."""
    (read, _), (_, write) = memories
    desc, before = tensor_of(parameters["before"])
    write(convert(read(), desc, before, layout_of(parameters["after"])))


@memory_function(COPY)
def _copy(parameters: Any, memories: Sequence[Memory]) -> None:
    """The same bytes."""
    (read, _), (_, write) = memories
    write(read())


@memory_function(FILL)
def _fill(parameters: Any, memories: Sequence[Memory]) -> None:
    """One byte value everywhere."""
    ((_, write),) = memories
    write(np.full(parameters["nbytes"], parameters["value"], np.uint8))
