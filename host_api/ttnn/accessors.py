"""TensorAccessorArgs: the words that tell a C++ kernel's TensorAccessor how a tensor lies."""

from tensim.sim.cores.tensor_accessors import pack_tensor_accessor_args


class TensorAccessorArgs:
    """Compile-time words of a device tensor; its common runtime words are none."""

    def __init__(self, tensor):
        self._words = accessor_words(tensor)

    def get_compile_time_args(self):
        """The words, for KernelDescriptor.compile_time_args."""
        return list(self._words)

    def get_common_runtime_args(self):
        """The words, for KernelDescriptor.common_runtime_args: everything is known at compile time."""
        return []


def accessor_words(tensor):
    """The compile-time words of a device tensor; ArgumentError for a host tensor."""
    buffer = tensor.device_buffer("TensorAccessorArgs")
    if buffer.shard is None:
        return pack_tensor_accessor_args(buffer.in_dram, buffer.aligned_page_size)
    cores = tensor.spec_cores()
    return pack_tensor_accessor_args(
        buffer.in_dram,
        buffer.aligned_page_size,
        tensor_pages=buffer.shard.tensor_pages,
        shard_pages=buffer.shard_pages,
        banks=cores if buffer.in_dram else [tensor.device().kernel_coordinate(core) for core in cores],
        contiguous=buffer.shard.contiguous,
    )
