"""What describes a program: kernels with their arguments and configurations, circular buffers, semaphores.

A ProgramDescriptor copies what it is given; `descriptor.kernels[0]` is the copy itself, so changing it changes the
program, while the list that `descriptor.kernels` returns is a new one each time.
"""

import copy
import os
from collections.abc import Iterable

from tensim.ttnn.cores import CoreCoord, CoreRangeSet, pair
from tensim.ttnn.enums import (
    NOC,
    NOC_MODE,
    CoreType,
    DataMovementProcessor,
    DataType,
    KernelBuildOptLevel,
    MathFidelity,
    SourceType,
    UnpackToDestMode,
)
from tensim.ttnn.errors import ArgumentError, ArgumentTypeError, check_type, unsigned
from tensim.ttnn.memory import FULL_TILE, Tile

FORMATS = {
    DataType.BFLOAT16: 5,
    DataType.FLOAT32: 0,
    DataType.UINT32: 24,
    DataType.BFLOAT8_B: 6,
    DataType.BFLOAT4_B: 7,
    DataType.UINT8: 30,
    DataType.UINT16: 9,
    DataType.INT32: 8,
    DataType.FP8_E4M3: 26,
    DataType.INT8: 14,
}  # fmt: skip  the chip's number of each DataType


class VectorUInt32(list):
    """A list of unsigned 32-bit numbers; TypeError for anything else."""

    def __init__(self, values=()):
        super().__init__(_word(value) for value in values)

    def append(self, value):
        super().append(_word(value))

    def extend(self, values):
        super().extend(_word(value) for value in values)

    def insert(self, index, value):
        super().insert(index, _word(value))

    def __setitem__(self, index, value):
        super().__setitem__(index, [_word(item) for item in value] if isinstance(index, slice) else _word(value))

    def __repr__(self):
        return f"VectorUInt32({super().__repr__()})"


def _word(value):
    if isinstance(value, int) and 0 <= value < 1 << 32:
        return int(value) if isinstance(value, bool) else value  # an address stays what it stands for
    return unsigned("VectorUInt32", "an element", value)


def _words(owner, field, values):
    if isinstance(values, VectorUInt32):
        return values
    try:
        values = list(values)
    except TypeError:
        raise ArgumentTypeError(f"{owner}: {field} takes a list of numbers, not {type(values).__name__}") from None
    try:
        return VectorUInt32(values)
    except ArgumentTypeError as error:
        raise ArgumentTypeError(error.message.replace("VectorUInt32: an element", f"{owner}: {field}")) from None


def _pairs(owner, field, values, kind):
    """List of (name, value); dicts and other kinds of values are refused."""
    if isinstance(values, dict | str) or not hasattr(values, "__iter__"):
        raise ArgumentTypeError(f"{owner}: {field} takes a list of (name, value), not {type(values).__name__}")
    result = []
    for item in values:
        if not isinstance(item, tuple | list) or len(item) != 2 or not isinstance(item[0], str):
            raise ArgumentTypeError(f"{owner}: {field} takes (name, value), not {item!r}")
        name, value = item
        value = check_type(owner, field, value, str) if kind is str else unsigned(owner, field, value)
        result.append((name, value))
    return result


# --- runtime arguments


class RuntimeArgs:
    """Words per core: args[x][y] = [...], the first index is x; append(core, words) adds another entry."""

    def __init__(self):
        self._entries, self._places = [], {}

    def __getitem__(self, x):
        return _Column(self, x)

    def append(self, core, values):
        """Add an entry."""
        place = pair(core)
        self._places.setdefault(place, len(self._entries))
        self._entries.append((CoreCoord(place), _words("RuntimeArgs", "words", values)))

    def get(self, index):
        """(core, words) of an entry."""
        return self._entries[index]

    def to_list(self):
        """The entries as (core, list of words)."""
        return [(core, list(words)) for core, words in self._entries]

    def clear(self):
        """Forget all."""
        self._entries.clear()
        self._places.clear()

    def words(self, place):
        """The words of a core; IndexError when it has none."""
        if place not in self._places:
            raise IndexError(f"RuntimeArgs: core {place[0]}-{place[1]} has no arguments")
        return self._entries[self._places[place]][1]

    def put(self, place, values):
        """Set the words of a core."""
        if place in self._places:
            self._entries[self._places[place]] = (CoreCoord(place), _words("RuntimeArgs", "words", values))
        else:
            self.append(place, values)

    def __len__(self):
        return len(self._entries)

    def __iter__(self):
        return iter(list(self._entries))

    def __repr__(self):
        return f"RuntimeArgs({self.to_list()})"

    @classmethod
    def of(cls, given):
        """A copy of RuntimeArgs, or of a list of (core, words); RuntimeError for anything else."""
        result = cls()
        if not isinstance(given, RuntimeArgs | list | tuple):
            raise ArgumentError(f"KernelDescriptor: runtime_args takes a list of (core, words), not {given!r}")
        for item in given:
            if not isinstance(item, tuple | list) or len(item) != 2 or not isinstance(item[0], CoreCoord | tuple):
                raise ArgumentError(f"KernelDescriptor: runtime_args takes (core, words), not {item!r}")
            result.append(*item)
        return result


RuntimeArgsView = RuntimeArgs


class _Column:
    """The arguments of the cores of one column."""

    __slots__ = ("_args", "_x")

    def __init__(self, args, x):
        self._args, self._x = args, x

    def __getitem__(self, y):
        return self._args.words((self._x, y))

    def __setitem__(self, y, values):
        self._args.put((self._x, y), values)

    def append(self, y, value):
        """Add a word to a core's."""
        self._all(y).append(value)

    def extend(self, y, values):
        """Add words to a core's."""
        self._all(y).extend(values)

    def _all(self, y):
        if (self._x, y) not in self._args._places:
            self._args.append((self._x, y), [])
        return self._args.words((self._x, y))


# --- configurations of kernels


class ReaderConfigDescriptor:
    """A kernel on NCRISC that uses NoC 0."""

    processor, noc, noc_mode = DataMovementProcessor.RISCV_1, NOC.NOC_0, NOC_MODE.DM_DEDICATED_NOC


class WriterConfigDescriptor:
    """A kernel on BRISC that uses NoC 1."""

    processor, noc, noc_mode = DataMovementProcessor.RISCV_0, NOC.NOC_1, NOC_MODE.DM_DEDICATED_NOC


class DataMovementConfigDescriptor:
    """A kernel on one of the data-movement processors, with the NoC of its choice."""

    def __init__(self, processor=DataMovementProcessor.RISCV_0, noc=NOC.RISCV_0_default,
                 noc_mode=NOC_MODE.DM_DEDICATED_NOC):  # fmt: skip
        what = "DataMovementConfigDescriptor"
        self.processor = check_type(what, "processor", processor, DataMovementProcessor)
        self.noc = check_type(what, "noc", noc, NOC)
        self.noc_mode = check_type(what, "noc_mode", noc_mode, NOC_MODE)


class ComputeConfigDescriptor:
    """A kernel on the three compute processors."""

    def __init__(self, math_fidelity=MathFidelity.HiFi4, math_approx_mode=False, fp32_dest_acc_en=False,
                 dst_full_sync_en=False, bfp8_pack_precise=False):  # fmt: skip
        self.math_fidelity = check_type("ComputeConfigDescriptor", "math_fidelity", math_fidelity, MathFidelity)
        self.math_approx_mode, self.fp32_dest_acc_en = bool(math_approx_mode), bool(fp32_dest_acc_en)
        self.dst_full_sync_en, self.bfp8_pack_precise = bool(dst_full_sync_en), bool(bfp8_pack_precise)
        self._unpack_to_dest_mode, self.enable_trisc2_rvv = [], False

    @property
    def unpack_to_dest_mode(self):
        """UnpackToDestMode by circular buffer index; a copy, assign a list to change it."""
        return list(self._unpack_to_dest_mode)

    @unpack_to_dest_mode.setter
    def unpack_to_dest_mode(self, modes):
        what = "ComputeConfigDescriptor"
        self._unpack_to_dest_mode = [check_type(what, "unpack_to_dest_mode", item, UnpackToDestMode) for item in modes]


VectorUnpackToDestMode = list
CONFIGS = (ReaderConfigDescriptor, WriterConfigDescriptor, DataMovementConfigDescriptor, ComputeConfigDescriptor)


class KernelDescriptor:
    """A kernel: its source (a file, or the text with SOURCE_CODE), cores, arguments, defines and configuration."""

    SourceType = SourceType

    def __init__(self, kernel_source=None, source_type=None, core_ranges=None, compile_time_args=(),
                 named_compile_time_args=(), defines=(), runtime_args=(), common_runtime_args=(), opt_level=None,
                 config=None, compiler_include_paths=(), *, blaze_named_compile_time_args=()):  # fmt: skip
        empty = kernel_source is core_ranges is config is None
        self._values = {}
        for name in ("blaze_named_common_runtime_args", "blaze_named_per_core_runtime_args",
                     "blaze_named_common_runtime_arg_arrays", "blaze_named_per_core_runtime_arg_arrays"):  # fmt: skip
            setattr(self, name, [])
        self.kernel_source = "" if empty else kernel_source
        self.source_type = source_type or self.SourceType.FILE_PATH
        self.core_ranges = CoreRangeSet([]) if empty else core_ranges
        self.compile_time_args, self.common_runtime_args = compile_time_args, common_runtime_args
        self.named_compile_time_args, self.defines = named_compile_time_args, defines
        self.blaze_named_compile_time_args = blaze_named_compile_time_args
        self.runtime_args, self.opt_level = list(runtime_args) if runtime_args == () else runtime_args, opt_level
        self.config = ReaderConfigDescriptor() if empty else config
        self.compiler_include_paths = compiler_include_paths

    def clear_runtime_args(self):
        """Forget all runtime arguments."""
        self.runtime_args.clear()

    def append_runtime_args_from(self, other):
        """Append another kernel's arguments, core by core, behind zeros up to the longest list of this one's."""
        mine, theirs = self.runtime_args, other.runtime_args
        if not len(mine):
            for place in _columns(self.core_ranges):
                mine.append(place, [])
        longest = max((len(words) for _, words in mine), default=0)
        for core, words in mine:
            words.extend([0] * (longest - len(words)))
            if pair(core) in theirs._places:
                words.extend(theirs.words(pair(core)))

    def extend_runtime_args_uniform(self, values):
        """Append the same words on every core."""
        if not len(self.runtime_args):
            for place in _columns(self.core_ranges):
                self.runtime_args.append(place, [])
        for _, words in self.runtime_args:
            words.extend(values)

    def append_common_runtime_args_from(self, other):
        """Append another kernel's common arguments."""
        self.common_runtime_args.extend(other.common_runtime_args)

    def __copy__(self):
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin._values = dict(self._values)
        twin._values["compile_time_args"] = VectorUInt32(self.compile_time_args)
        twin._values["common_runtime_args"] = VectorUInt32(self.common_runtime_args)
        twin._values["runtime_args"] = RuntimeArgs.of(self.runtime_args)
        twin._values["config"] = copy.copy(self.config)
        return twin

    def __repr__(self):
        source = self.kernel_source if self.source_type == self.SourceType.FILE_PATH else "source code"
        return f"KernelDescriptor({source}, {self.core_ranges}, {type(self.config).__name__})"


def _columns(grid):
    """Cores range by range, x by x."""
    return [
        (x, y)
        for item in grid.ranges()
        for x in range(item.start.x, item.end.x + 1)
        for y in range(item.start.y, item.end.y + 1)
    ]


def _checked(owner, name, convert):
    """A property whose values pass through `convert(owner, name, value)`."""

    def read(self):
        return self._values[name]

    def write(self, value):
        self._values[name] = convert(owner, name, value)

    return property(read, write)


def _of_type(*types):
    return lambda owner, name, value: check_type(owner, name, value, types)


def _paths(owner, name, values):
    return [os.fspath(value) for value in values]


_KERNEL_FIELDS = {
    "kernel_source": _of_type(str),
    "core_ranges": _of_type(CoreRangeSet),
    "compile_time_args": _words,
    "common_runtime_args": _words,
    "named_compile_time_args": lambda owner, name, values: _pairs(owner, name, values, int),
    "blaze_named_compile_time_args": lambda owner, name, values: _pairs(owner, name, values, int),
    "defines": lambda owner, name, values: _pairs(owner, name, values, str),
    "runtime_args": lambda owner, name, values: RuntimeArgs.of(values),
    "opt_level": _of_type(KernelBuildOptLevel, type(None)),
    "config": _of_type(*CONFIGS),
    "compiler_include_paths": _paths,
}
for _name, _convert in _KERNEL_FIELDS.items():
    setattr(KernelDescriptor, _name, _checked("KernelDescriptor", _name, _convert))


# --- circular buffers and semaphores


class TileDescriptor:
    """Shape of a tile: (height, width, transpose=False), a Tile, another descriptor, or 32x32."""

    def __init__(self, height=None, width=None, transpose=False):
        if isinstance(height, Tile):
            height, width, transpose = *height.tile_shape, height.transpose_of_faces
        elif isinstance(height, TileDescriptor):
            height, width, transpose = height.height, height.width, height.transpose
        self.height = unsigned("TileDescriptor", "height", 32 if height is None else height)
        self.width = unsigned("TileDescriptor", "width", 32 if width is None else width)
        self.transpose = bool(transpose)

    def __eq__(self, other):
        return isinstance(other, TileDescriptor) and self.__dict__ == other.__dict__

    def __hash__(self):
        return hash((self.height, self.width, self.transpose))

    def __repr__(self):
        return f"TileDescriptor(height={self.height}, width={self.width}, transpose={self.transpose})"


class FaceGeometry:
    """Rows of a face and number of faces."""

    def __init__(self, face_r_dim=16, num_faces=4):
        self.face_r_dim, self.num_faces = face_r_dim, num_faces

    def __eq__(self, other):
        return isinstance(other, FaceGeometry) and self.__dict__ == other.__dict__

    def __hash__(self):
        return hash((self.face_r_dim, self.num_faces))


class CBFormatDescriptor:
    """One index of a circular buffer: its DataType, bytes of a page, and tile."""

    def __init__(self, buffer_index=0, data_format=None, page_size=0, tile=None):
        self.buffer_index = unsigned("CBFormatDescriptor", "buffer_index", buffer_index, 8)
        self.page_size = unsigned("CBFormatDescriptor", "page_size", page_size)
        self._data_format = check_type("CBFormatDescriptor", "data_format", data_format or DataType.BFLOAT16, DataType)
        if self._data_format not in FORMATS:
            raise ArgumentError(f"CBFormatDescriptor: data_format: {data_format} is no format of the chip")
        self.tile = TileDescriptor(tile) if isinstance(tile, Tile) else tile
        self.face_geometry = None

    @property
    def data_format(self):
        """Not readable, as in the library: see `data_format_as_uint8`."""
        raise ArgumentTypeError("CBFormatDescriptor: data_format cannot be read; data_format_as_uint8 can")

    @property
    def data_format_as_uint8(self):
        """The chip's number of the format."""
        return FORMATS[self._data_format]

    def __repr__(self):
        return f"CBFormatDescriptor({self.buffer_index}, {self._data_format}, {self.page_size})"


class CBDescriptor:
    """A circular buffer: bytes, cores, and the indices that share its addresses."""

    def __init__(self, total_size=0, core_ranges=None, format_descriptors=()):
        self.total_size = unsigned("CBDescriptor", "total_size", total_size)
        grid = CoreRangeSet([]) if core_ranges is None else core_ranges
        self.core_ranges = check_type("CBDescriptor", "core_ranges", grid, CoreRangeSet)
        self.format_descriptors = [
            check_type("CBDescriptor", "format_descriptors", descriptor, CBFormatDescriptor)
            for descriptor in format_descriptors
        ]
        self.remote_format_descriptors, self.address_offset, self._tensor = [], 0, None

    def has_buffer(self):
        """Whether it lies on a tensor's buffer."""
        return self._tensor is not None

    def buffer_address(self):
        """Address of that buffer, without the offset; None when there is none."""
        return None if self._tensor is None else int(self._tensor.buffer_address())

    def set_buffer_from_cb(self, other):
        """Lay it on the buffer of another descriptor."""
        self._tensor = other._tensor

    def has_global_circular_buffer(self):
        """Whether it lies on a global circular buffer: tensim.ttnn has none."""
        return False

    def set_global_circular_buffer(self, buffer):
        """Refused: tensim.ttnn has no global circular buffers."""
        raise ArgumentError("CBDescriptor: global circular buffers are not available")

    def __copy__(self):
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin.format_descriptors = [copy.copy(descriptor) for descriptor in self.format_descriptors]
        return twin

    def __repr__(self):
        return f"CBDescriptor({self.total_size} B, {self.core_ranges}, {self.format_descriptors})"


def cb_descriptor_from_sharded_tensor(cb_index, tensor, address_offset=0, total_size=0, core_ranges=None):
    """A circular buffer that is a tensor's shard in L1: bytes of a bank, pages and cores of the tensor unless given."""
    state = tensor.device_buffer("cb_descriptor_from_sharded_tensor")
    if state.shard is None or state.in_dram:
        raise ArgumentError("cb_descriptor_from_sharded_tensor: tensor: it needs shards in L1")
    config = tensor.memory_config()
    grid = (config.shard_spec or config.nd_shard_spec).grid
    tile = tensor.tile if tensor.spec.is_tiled else FULL_TILE
    size = total_size or state.size_per_bank
    if total_size and address_offset + total_size > state.size_per_bank:
        raise ArgumentError(
            f"cb_descriptor_from_sharded_tensor: total_size: {address_offset} + {total_size} B are more than the "
            f"{state.size_per_bank} B of a core's shards"
        )
    one = CBFormatDescriptor(cb_index, tensor.dtype, state.aligned_page_size, TileDescriptor(tile))
    result = CBDescriptor(size, grid if core_ranges is None else core_ranges, [one])
    result.address_offset = unsigned("cb_descriptor_from_sharded_tensor", "address_offset", address_offset)
    result._tensor = tensor
    return result


def get_cb_address(descriptor):
    """Address of a circular buffer's start: that of its buffer plus the offset, or the offset."""
    return (descriptor.buffer_address() or 0) + descriptor.address_offset


class SemaphoreDescriptor:
    """A semaphore: its id, cores, and the value at every start."""

    def __init__(self, id=None, core_type=CoreType.WORKER, core_ranges=None, initial_value=0):
        if id is None and core_ranges is None:
            id, core_ranges = 0, CoreRangeSet([])
        self._id = unsigned("SemaphoreDescriptor", "id", id)
        self.core_type = check_type("SemaphoreDescriptor", "core_type", core_type, CoreType)
        self.core_ranges = check_type("SemaphoreDescriptor", "core_ranges", core_ranges, CoreRangeSet)
        self.initial_value = unsigned("SemaphoreDescriptor", "initial_value", initial_value)

    @property
    def id(self):
        return self._id

    def __repr__(self):
        return f"SemaphoreDescriptor({self.id}, {self.core_ranges}, {self.initial_value})"


# --- programs


class ProgramDescriptor:
    """Kernels, semaphores and circular buffers, copied from what is given."""

    def __init__(self, kernels=(), semaphores=(), cbs=()):
        self.kernels, self.semaphores, self.cbs = kernels, semaphores, cbs
        self._hash, self.reload_table_addr, self.reload_core_ranges = None, None, None

    @property
    def kernels(self):
        return list(self._kernels)

    @kernels.setter
    def kernels(self, given):
        self._kernels = _copies("kernels", given, KernelDescriptor, self.__dict__.get("_kernels", ()))

    @property
    def semaphores(self):
        return list(self._semaphores)

    @semaphores.setter
    def semaphores(self, given):
        self._semaphores = _copies("semaphores", given, SemaphoreDescriptor, self.__dict__.get("_semaphores", ()))

    @property
    def cbs(self):
        return list(self._cbs)

    @cbs.setter
    def cbs(self, given):
        self._cbs = _copies("cbs", given, CBDescriptor, self.__dict__.get("_cbs", ()))

    @property
    def custom_program_hash(self):
        """A number that takes the place of the program's description in the program cache, or None."""
        return self._hash

    @custom_program_hash.setter
    def custom_program_hash(self, value):
        self._hash = None if value is None else unsigned("ProgramDescriptor", "custom_program_hash", value, 64)

    def __repr__(self):
        return f"ProgramDescriptor({self._kernels}, {self._semaphores}, {self._cbs})"


def _copies(field, given, kind, own):
    """Copies of descriptors; those that are the program's own already stay themselves."""
    if not isinstance(given, Iterable):
        raise ArgumentTypeError(
            f"ProgramDescriptor: {field} takes a list of {kind.__name__}, not {type(given).__name__}"
        )
    mine = {id(item) for item in own}
    checked = [check_type("ProgramDescriptor", field, item, kind) for item in given]
    return [item if id(item) in mine else copy.copy(item) for item in checked]


class MeshProgramDescriptor:
    """Programs by the MeshCoordinateRange that runs them."""

    def __init__(self, mesh_programs=None):
        self._programs = list((mesh_programs or {}).items())

    @property
    def mesh_programs(self):
        return dict(self._programs)

    def __setitem__(self, where, program):
        check_type("MeshProgramDescriptor", "a program", program, ProgramDescriptor)
        self._programs.append((where, program))

    def __getitem__(self, where):
        for one, program in self._programs:
            if one == where:
                return program
        raise KeyError(where)

    def __contains__(self, where):
        return any(one == where for one, _ in self._programs)

    def __iter__(self):
        return iter(list(self._programs))

    def __len__(self):
        return len(self._programs)


def merge_program_descriptors(descriptors):
    """One program of several, whose kernels run on different cores."""
    taken = set()
    for descriptor in descriptors:
        cores = {core for kernel in descriptor.kernels for core in kernel.core_ranges.cores()}
        if taken & cores:
            raise ArgumentError(f"merge_program_descriptors: core {min(taken & cores)} runs kernels of two programs")
        taken |= cores
    return ProgramDescriptor(
        [kernel for descriptor in descriptors for kernel in descriptor.kernels],
        [semaphore for descriptor in descriptors for semaphore in descriptor.semaphores],
        [cb for descriptor in descriptors for cb in descriptor.cbs],
    )
