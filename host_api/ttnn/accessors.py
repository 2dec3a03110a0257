"""TensorAccessorArgs: the words that tell a C++ kernel's TensorAccessor how a tensor lies."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from tensim.sim.cores.tensor_accessors import pack_tensor_accessor_args

if TYPE_CHECKING:
    from tensim.ttnn.devices import MeshDevice
    from tensim.ttnn.tensors import Tensor


class TensorAccessorArgs:
    """Compile-time words of a device tensor; its common runtime words are none."""

    def __init__(self, tensor: Tensor) -> None:
        self._words = accessor_words(tensor)

    def get_compile_time_args(self) -> list[int]:
        """The words, for KernelDescriptor.compile_time_args."""
        return list(self._words)

    def get_common_runtime_args(self) -> list[int]:
        """The words, for KernelDescriptor.common_runtime_args: everything is known at compile time."""
        return []


def accessor_words(tensor: Tensor) -> list[int]:
    """The compile-time words of a device tensor; ArgumentError for a host tensor."""
    buffer = tensor.device_buffer("TensorAccessorArgs")
    if buffer.shard is None:
        return pack_tensor_accessor_args(buffer.in_dram, buffer.aligned_page_size)
    cores, device = tensor.spec_cores(), cast("MeshDevice", tensor.device())
    return pack_tensor_accessor_args(
        buffer.in_dram,
        buffer.aligned_page_size,
        tensor_pages=buffer.shard.tensor_pages,
        shard_pages=buffer.shard_pages,
        banks=cores if buffer.in_dram else [device.kernel_coordinate(core) for core in cores],
        contiguous=buffer.shard.contiguous,
    )
