"""Library operations around a program of one's own: conversions, shapes, and arithmetic for checks.

They work on the host: a device tensor is fetched, and its result is put on the device again.  What has no such plain
meaning raises `NotAnOperation`, which names the way out.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from tensim.ttnn import arrays
from tensim.ttnn._names import PIPES
from tensim.ttnn.devices import GetDefaultDevice
from tensim.ttnn.enums import DataType, Layout
from tensim.ttnn.errors import ArgumentError, NotAnOperation
from tensim.ttnn.memory import DRAM_MEMORY_CONFIG, MemoryConfig, TensorSpec, with_config
from tensim.ttnn.shapes import BLOCK_FLOATS
from tensim.ttnn.tensors import Operand, Tensor, computed, each_chip, host_tensor, placed_like

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tensim.ttnn.devices import MeshDevice
    from tensim.ttnn.shapes import Shape


@contextlib.contextmanager
def _refusals() -> Iterator[None]:
    """What numpy refuses is an ArgumentError: a RuntimeError, as in the library."""
    try:
        yield
    except (ValueError, IndexError, ZeroDivisionError, OverflowError, MemoryError) as error:
        raise ArgumentError(str(error) or type(error).__name__) from error


# --- conversions


def to_layout(
    tensor: Tensor,
    layout: Layout,
    dtype: DataType | None = None,
    memory_config: MemoryConfig | None = None,
    sub_core_grids: object = None,
    pad_value: float = 0.0,
    **ignored: object,
) -> Tensor:
    """The tensor in another Layout, where it is."""
    return _converted(tensor, layout, dtype or tensor.dtype, memory_config, pad_value)


def tilize(
    input_tensor: Tensor, *, memory_config: MemoryConfig | None = None, dtype: DataType | None = None, **ignored: object
) -> Tensor:
    """The tensor in tiles."""
    return _converted(input_tensor, Layout.TILE, dtype or input_tensor.dtype, memory_config)


def untilize(input_tensor: Tensor, *, memory_config: MemoryConfig | None = None, **ignored: object) -> Tensor:
    """The tensor in rows; block floats become bfloat16."""
    dtype = DataType.BFLOAT16 if input_tensor.dtype in BLOCK_FLOATS else input_tensor.dtype
    return _converted(input_tensor, Layout.ROW_MAJOR, dtype, memory_config)


def tilize_with_val_padding(
    input_tensor: Tensor,
    output_tensor_shape: object,
    pad_value: float,
    *,
    memory_config: MemoryConfig | None = None,
    dtype: DataType | None = None,
    **ignored: object,
) -> Tensor:
    """The tensor in tiles, with a value around it."""
    return _converted(input_tensor, Layout.TILE, dtype or input_tensor.dtype, memory_config, pad_value)


tilize_with_zero_padding = tilize


def untilize_with_unpadding(
    input_tensor: Tensor,
    output_tensor_end: Iterable[int],
    *,
    memory_config: MemoryConfig | None = None,
    **ignored: object,
) -> Tensor:
    """The tensor in rows, up to a corner (inclusive)."""
    part = host_tensor(input_tensor.values()[tuple(np.s_[: n + 1] for n in output_tensor_end)], input_tensor.dtype)
    return placed_like(part, input_tensor, memory_config)


def to_dtype(tensor: Tensor, dtype: DataType) -> Tensor:
    """The tensor as elements of another DataType."""
    return _converted(tensor, tensor.layout, dtype, None)


def typecast(
    input_tensor: Tensor, dtype: DataType, *, memory_config: MemoryConfig | None = None, **ignored: object
) -> Tensor:
    """The tensor as elements of another DataType."""
    return _converted(input_tensor, input_tensor.layout, dtype, memory_config)


def to_memory_config(
    tensor: Tensor, memory_config: MemoryConfig, dtype: DataType | None = None, output_tensor: object = None
) -> Tensor:
    """The tensor in another memory or cut otherwise."""
    return _converted(tensor, tensor.layout, dtype or tensor.dtype, memory_config)


def interleaved_to_sharded(
    input_tensor: Tensor, sharded_memory_config: MemoryConfig, *args: object, **ignored: object
) -> Tensor:
    """The tensor in shards."""
    return to_memory_config(input_tensor, sharded_memory_config)


def sharded_to_interleaved(
    input_tensor: Tensor, memory_config: MemoryConfig | None = None, **ignored: object
) -> Tensor:
    """The tensor interleaved over all banks."""
    return to_memory_config(input_tensor, memory_config or DRAM_MEMORY_CONFIG)


reshard = interleaved_to_sharded


def clone(
    input_tensor: Tensor, *, memory_config: MemoryConfig | None = None, dtype: DataType | None = None, **ignored: object
) -> Tensor:
    """A copy."""
    return _converted(input_tensor, input_tensor.layout, dtype or input_tensor.dtype, memory_config)


identity = clone


def copy(input_a: Tensor, input_b: Tensor) -> Tensor:
    """Write a tensor's values into another one."""
    assign_to(input_b, _converted(input_a, input_b.layout, input_b.dtype, None).cpu())
    return input_b


def assign_to(target: Tensor, source: Tensor) -> None:
    """Give a tensor the values of a host tensor of its shape; one with parts on several chips those of the parts."""
    given = source.parts()
    for index, part in enumerate(target.parts()):
        values = given[index % len(given)]
        if part.device() is None:
            part._values = values._values
        else:
            part.write(Tensor._of(with_config(values.spec, part.memory_config()), values._values))


def _converted(
    tensor: Tensor, layout: Layout, dtype: DataType, memory_config: MemoryConfig | None, pad_value: float = 0
) -> Tensor:
    return each_chip(lambda part: _converted_part(part, layout, dtype, memory_config, pad_value), tensor)


def _converted_part(
    tensor: Tensor, layout: Layout, dtype: DataType, memory_config: MemoryConfig | None, pad_value: float
) -> Tensor:
    if layout == Layout.ROW_MAJOR and dtype in BLOCK_FLOATS:
        dtype = DataType.BFLOAT16
    host = tensor.cpu()
    spec = TensorSpec(tensor.shape, dtype, layout, tile=tensor.tile)
    values = arrays.cast(host._values, dtype, tensor.tile.tile_shape)
    return placed_like(Tensor._of(spec, values, pad_value), tensor, memory_config)


# --- shapes


def _shaped(change: Callable[..., NDArray[Any]], *tensors: Tensor, memory_config: MemoryConfig | None = None) -> Tensor:
    """What a function makes of the values of tensors, where the first of them is; of a mesh, chip by chip."""

    def part(*given: Tensor) -> Tensor:
        like, values = given[0], change(*(one.values() for one in given))
        host = host_tensor(np.ascontiguousarray(values), like.dtype, like.layout, like.tile)
        return placed_like(host, like, memory_config)

    with _refusals():
        return each_chip(part, *tensors)


def reshape(input_tensor: Tensor, *shape: Any, memory_config: MemoryConfig | None = None, **ignored: object) -> Tensor:
    """The values in another shape."""
    sizes = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
    try:
        return _shaped(lambda values: values.reshape(tuple(sizes)), input_tensor, memory_config=memory_config)
    except ArgumentError:
        raise ArgumentError(f"reshape: {input_tensor.shape} has no form {list(sizes)}") from None


view = reshape


def pad(
    input_tensor: Tensor,
    padding: Iterable[Sequence[int]],
    value: float = 0.0,
    *,
    memory_config: MemoryConfig | None = None,
    **ignored: object,
) -> Tensor:
    """The values with more around them: (before, after) per dimension, the last ones if fewer."""
    widths = [tuple(item) for item in padding]
    widths = [(0, 0)] * (input_tensor.shape.rank - len(widths)) + widths
    return _shaped(
        lambda values: np.pad(values, widths, constant_values=value), input_tensor, memory_config=memory_config
    )


def slice(
    input_tensor: Tensor,
    slice_start: Sequence[int],
    slice_end: Sequence[int],
    slice_step: Sequence[int] | None = None,
    *,
    memory_config: MemoryConfig | None = None,
    **ignored: object,
) -> Tensor:  # noqa: A001
    """The values between two corners, the second exclusive."""
    steps = slice_step or [1] * len(slice_start)
    given = {len(input_tensor.shape), len(slice_start), len(slice_end), len(steps)}
    if len(given) > 1:
        raise ArgumentError(f"slice: corners and steps of {sorted(given)} places for {input_tensor.shape}")
    for size, begin, end, step in zip(input_tensor.shape, slice_start, slice_end, steps, strict=True):
        first, last = (place + size if place < 0 else place for place in (begin, end))  # some count from the end
        if not 0 <= first <= last <= size or step < 1:
            raise ArgumentError(f"slice: from {begin} to {end} by {step} of {size} values")
    region = tuple(np.s_[a:b:c] for a, b, c in zip(slice_start, slice_end, steps, strict=True))
    return _shaped(lambda values: values[region], input_tensor, memory_config=memory_config)


def squeeze(input_tensor: Tensor, dim: int | tuple[int, ...] | None = None) -> Tensor:
    """Without dimensions of size 1."""
    return _shaped(lambda values: np.squeeze(values, dim), input_tensor)


def unsqueeze(input_tensor: Tensor, dim: int) -> Tensor:
    """With another dimension of size 1."""
    return _shaped(lambda values: np.expand_dims(values, dim), input_tensor)


def unsqueeze_to_4D(tensor: Tensor) -> Tensor:
    """With leading sizes of 1 up to four dimensions."""
    return _shaped(lambda values: values.reshape((1,) * (4 - values.ndim) + values.shape), tensor)


def permute(
    input_tensor: Tensor, dims: Iterable[int], *, memory_config: MemoryConfig | None = None, **ignored: object
) -> Tensor:
    """With the dimensions in another order."""
    order = tuple(dims)
    return _shaped(lambda values: values.transpose(order), input_tensor, memory_config=memory_config)


def transpose(
    input_tensor: Tensor, dim1: int, dim2: int, *, memory_config: MemoryConfig | None = None, **ignored: object
) -> Tensor:
    """With two dimensions exchanged."""
    return _shaped(lambda values: np.swapaxes(values, dim1, dim2), input_tensor, memory_config=memory_config)


def repeat(
    input_tensor: Tensor, repetition_vector: Iterable[int], *, memory_config: MemoryConfig | None = None
) -> Tensor:
    """The values repeated along each dimension."""
    times = tuple(repetition_vector)
    return _shaped(lambda values: np.tile(values, times), input_tensor, memory_config=memory_config)


def concat(
    tensors: Sequence[Tensor], dim: int = 0, *, memory_config: MemoryConfig | None = None, **ignored: object
) -> Tensor:
    """The tensors one after the other along a dimension."""
    if not tensors:
        raise ArgumentError("concat: no tensors")
    return _shaped(lambda *values: np.concatenate(values, dim), *tensors, memory_config=memory_config)


# --- tensors from nothing


def _filled(
    values: NDArray[Any],
    dtype: DataType,
    layout: Layout | None,
    device: MeshDevice | None,
    memory_config: MemoryConfig | None,
    optional_tensor: Tensor | None = None,
) -> Tensor:
    host = host_tensor(values, dtype, layout or Layout.ROW_MAJOR)
    if optional_tensor is not None:
        assign_to(optional_tensor, _converted(host, optional_tensor.layout, optional_tensor.dtype, None))
        return optional_tensor
    return host if device is None else host.to(device, memory_config or DRAM_MEMORY_CONFIG)


def full(
    shape: Iterable[int],
    fill_value: float,
    dtype: DataType | None = DataType.BFLOAT16,
    layout: Layout | None = None,
    device: MeshDevice | None = None,
    memory_config: MemoryConfig | None = None,
    optional_tensor: Tensor | None = None,
) -> Tensor:
    """A tensor of one value."""
    with _refusals():
        values = np.full(tuple(shape), fill_value, np.float64 if isinstance(fill_value, float) else np.int64)
    return _filled(values, dtype or DataType.BFLOAT16, layout, device, memory_config, optional_tensor)


def zeros(
    shape: Iterable[int],
    dtype: DataType | None = DataType.BFLOAT16,
    layout: Layout | None = None,
    device: MeshDevice | None = None,
    memory_config: MemoryConfig | None = None,
    **ignored: object,
) -> Tensor:
    """A tensor of zeros."""
    return full(shape, 0, dtype, layout, device, memory_config)


def ones(
    shape: Iterable[int],
    dtype: DataType | None = DataType.BFLOAT16,
    layout: Layout | None = None,
    device: MeshDevice | None = None,
    memory_config: MemoryConfig | None = None,
    **ignored: object,
) -> Tensor:
    """A tensor of ones."""
    return full(shape, 1, dtype, layout, device, memory_config)


def full_like(
    tensor: Tensor,
    fill_value: float,
    *,
    dtype: DataType | None = None,
    layout: Layout | None = None,
    device: MeshDevice | None = None,
    memory_config: MemoryConfig | None = None,
    optional_tensor: Tensor | None = None,
) -> Tensor:
    """A tensor of one value, otherwise as another one."""
    like = tensor.memory_config() if tensor.device() is not None else None
    return full(tensor.shape, fill_value, dtype or tensor.dtype, layout or tensor.layout, device or tensor.device(),
                memory_config or like, optional_tensor)  # fmt: skip


def zeros_like(tensor: Tensor, **changes: Any) -> Tensor:
    """A tensor of zeros, otherwise as another one."""
    return full_like(tensor, 0, **changes)


def ones_like(tensor: Tensor, **changes: Any) -> Tensor:
    """A tensor of ones, otherwise as another one."""
    return full_like(tensor, 1, **changes)


def empty(
    shape: Sequence[int] | Shape,
    dtype: DataType = DataType.BFLOAT16,
    layout: Layout = Layout.ROW_MAJOR,
    device: MeshDevice | None = None,
    memory_config: MemoryConfig = DRAM_MEMORY_CONFIG,
) -> Tensor:
    """A device tensor of undefined contents."""
    from tensim.ttnn.tensors import allocate

    if device is None:
        raise ArgumentError("empty: device: it needs one")
    return allocate(with_config(TensorSpec(shape, dtype, layout), memory_config), device)


def empty_like(
    tensor: Tensor,
    *,
    dtype: DataType | None = None,
    layout: Layout | None = None,
    device: MeshDevice | None = None,
    memory_config: MemoryConfig | None = None,
) -> Tensor:
    """A device tensor of undefined contents, otherwise as another one."""
    return empty(tensor.shape, dtype or tensor.dtype, layout or tensor.layout, device or tensor.device(),
                 memory_config or tensor.memory_config())  # fmt: skip


def arange(
    start: int,
    end: int | None = None,
    step: int = 1,
    dtype: DataType = DataType.BFLOAT16,
    layout: Layout = Layout.ROW_MAJOR,
    device: MeshDevice | None = None,
    memory_config: MemoryConfig = DRAM_MEMORY_CONFIG,
) -> Tensor:
    """Numbers from start (0) up to end, exclusive."""
    with _refusals():
        values = np.arange(start) if end is None else np.arange(start, end, step)
    return _filled(values, dtype, layout, device, memory_config)


def rand(
    shape: Iterable[int],
    device: MeshDevice | None = None,
    *,
    dtype: DataType = DataType.BFLOAT16,
    layout: Layout = Layout.TILE,
    memory_config: MemoryConfig = DRAM_MEMORY_CONFIG,
    low: float = 0.0,
    high: float = 1.0,
    seed: int = 0,
    mesh_mapper: object = None,
) -> Tensor:
    """Uniform random numbers from low to high (of numpy's generator: other numbers than the chip's)."""
    values = np.random.default_rng(seed or None).uniform(low, high, tuple(shape))
    return _filled(values.astype(np.float32), dtype, layout, device or GetDefaultDevice(), memory_config)


# --- arithmetic, in float32 and rounded once


def _computed(
    function: Callable[..., Any],
    operands: Sequence[Operand],
    memory_config: MemoryConfig | None,
    dtype: DataType | None,
    output_tensor: Tensor | None,
) -> Tensor:
    if output_tensor is None:
        with _refusals():
            return each_chip(lambda *given: placed_like(*computed(function, given, dtype), memory_config), *operands)
    with _refusals():
        host = each_chip(lambda *given: computed(function, given, dtype)[0], *operands)
    assign_to(output_tensor, _converted(host, output_tensor.layout, output_tensor.dtype, None))
    return output_tensor


def _operation(name: str, function: Callable[..., Any], sentence: str) -> Callable[..., Tensor]:
    def operation(
        *operands: Operand,
        memory_config: MemoryConfig | None = None,
        dtype: DataType | None = None,
        output_tensor: Tensor | None = None,
        optional_output_tensor: Tensor | None = None,
        **ignored: object,
    ) -> Tensor:
        return _computed(function, operands, memory_config, dtype, output_tensor or optional_output_tensor)

    operation.__name__ = operation.__qualname__ = name
    operation.__doc__ = f"{sentence}, computed on the host."
    return operation


def _sigmoid(x: NDArray[Any]) -> NDArray[Any]:
    return 1 / (1 + np.exp(-x))


add = _operation("add", np.add, "a + b")
subtract = sub = _operation("subtract", np.subtract, "a - b")
multiply = mul = _operation("multiply", np.multiply, "a * b")
divide = div = _operation("divide", np.divide, "a / b")
maximum = _operation("maximum", np.maximum, "The larger of a and b")
minimum = _operation("minimum", np.minimum, "The smaller of a and b")
relu = _operation("relu", lambda x: np.maximum(x, 0), "x where positive, else 0")
neg = _operation("neg", np.negative, "-x")
abs = _operation("abs", np.abs, "|x|")  # noqa: A001
exp = _operation("exp", np.exp, "e to the x")
sqrt = _operation("sqrt", np.sqrt, "The square root of x")
rsqrt = _operation("rsqrt", lambda x: 1 / np.sqrt(x), "1 / sqrt(x)")
reciprocal = _operation("reciprocal", lambda x: 1 / x, "1 / x")
square = _operation("square", np.square, "x squared")
sigmoid = _operation("sigmoid", _sigmoid, "1 / (1 + e to the -x)")
silu = _operation("silu", lambda x: x * _sigmoid(x), "x sigmoid(x)")
tanh = _operation("tanh", np.tanh, "The hyperbolic tangent of x")


# --- what is not here


def refused(name: str) -> NoReturn:
    """NotAnOperation for a name of the library."""
    if name.split(".")[0] in PIPES:
        raise NotAnOperation(
            f"ttnn.{name} prepares the multicast pipes or reduction plans of kernel_lib, which tensim does not have",
            hint="send with noc_async_write_multicast and semaphores in kernels of your own; their rectangle comes from "
            "device.worker_core_from_logical_core",
        )
    raise NotAnOperation(
        f"ttnn.{name} runs kernels of the vendor's library, which tensim does not have",
        hint="write it as a program of your own (ttnn.generic_op with C++ kernels), or compute it with torch or numpy on "
        "ttnn.to_torch(tensor)",
    )


class Refused:
    """A library operation, or a group of them, that explains itself when it is used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self, *args: object, **named: object) -> NoReturn:
        refused(self._name)

    def __getattr__(self, inner: str) -> Refused:
        if inner.startswith("__"):
            raise AttributeError(inner)
        return Refused(f"{self._name}.{inner}")

    def __repr__(self) -> str:
        return f"<ttnn.{self._name}: not available>"
