"""The library's call of a row, as `tensim.validation.operations.calls` makes it, from the row's columns and its neighbours."""

import math
import re

from tensim.validation.operations.convolutions import TILE, share, window_of
from tensim.validation.operations.networks import network_of
from tensim.validation.rows import Skip

SHARED_BY = re.compile(r"(Device)?(Operation|Op)?$")
LARGEST = 10_000_000  # elements of a tensor
SHORTEST_ROW = 16  # elements: narrower rows of pixels are padded by rules that no column states
MEMORY = ("DRAM_INTERLEAVED", "L1_INTERLEAVED", "L1_HEIGHT_SHARDED", "L1_BLOCK_SHARDED", "L1_WIDTH_SHARDED")
# The library's call of an operation; what is left out has no call that its columns determine.
CALL_OF = {
    "Unary": "relu", "BinaryNg": "add", "Binary": "add", "Tilize": "tilize", "TilizeWithValPadding": "tilize_padded",
    "Untilize": "untilize", "UntilizeWithUnpadding": "untilize_cut", "Typecast": "typecast",
    "InterleavedToSharded": "to_sharded", "ShardedToInterleaved": "to_interleaved", "Reshard": "reshard", "Matmul": "matmul",
    "Concat": "concat", "Slice": "slice", "Permute": "permute", "Transpose": "transpose", "Upsample": "upsample",
    "Move": "move", "Conv2d": "conv", "OptimizedConvNew": "conv", "Halo": "halo", "GroupNorm": "group_norm",
    "Reshape": "reshape", "MinimalMatmul": "minimal_matmul",
}  # fmt: skip
ON_A_GRID = ("untilize", "tilize", "typecast", "untilize_cut")  # calls that can be told which cores to take
# calls whose time depends on shapes without padding
UNPADDED = ("transpose", "slice", "concat", "permute", "upsample", "reshape")
POOLS = {"Pool2D": (3, 2)}  # sizes of the window that a pool may have


def description(row):
    """{"call", "inputs", "output", "cores", "grid", ...} of a row (`tensim.validation.rows.Row`).  Raises `Skip`."""
    network, call = network_of(row["trace"], row["arch"]), CALL_OF.get(_operation(row))
    if call is None:
        raise Skip("no call that its columns determine")
    inputs, output = _tensors(row, "inputs"), _tensors(row, "outputs")[0]
    made = {
        "call": call, "inputs": inputs, "output": output, "cores": row.integer("core_count"), "grid": list(network.grid),
        "fidelity": row["math_fidelity"], "config": row["matmul_program_config"], "sums_in_l1": network.sums_in_l1,
        "inplace": False,
    }  # fmt: skip
    _refuse(made, network)
    if call == "reshard":
        inputs[0]["cores"] = _cores_before(row, made)
    elif call == "add":
        made["inplace"] = _operation(row) == "BinaryNg" and len(inputs) == 3
        made["call"] = "add" if len(inputs) > 1 else "scale"
    elif call == "relu":
        made["inplace"] = len(inputs) == 2
    elif call == "move":
        made["hole"] = _tensors(_writer(row), "inputs")[0]
    elif call in ("conv", "halo"):
        reader = row if call == "conv" else _reader(row)
        window = _window(reader)
        made["window"] = _slice(row, window) if call == "halo" else _whole(window)
        made["double_buffered"] = network.double_buffered
        made["relu"], made["pool"] = network.relu, _operation(reader) in POOLS
    return made


def _operation(row):
    return SHARED_BY.sub("", row["op"])


def _tensors(row, side):
    return [_tensor(one) for one in row[f"{side}_shape_dtype_layout_memory"].split("|")]


def _tensor(text):
    parts = text.strip().split(":")
    if len(parts) != 4:
        raise ValueError(f"{text.strip()!r} is no tensor: SHAPE:DTYPE:LAYOUT:MEMORY")
    shape, dtype, layout, memory = parts
    if memory not in MEMORY:
        raise Skip("a tensor's memory is not understood")
    return {"shape": [int(one) for one in shape.split("x")], "dtype": dtype, "layout": layout, "memory": memory}


def _window(row):
    """The window that a convolution, or a pool, moves over its padded input."""
    inputs, output, cores = _tensors(row, "inputs"), _tensors(row, "outputs")[0], row.integer("core_count")
    *_, sticks, channels = inputs[0]["shape"]
    if "BLOCK" in inputs[0]["memory"]:
        sharing = [count for count in range(cores, 0, -1) if cores % count == 0]  # rows of the grid
    else:
        # the last row may be idle
        sharing = range(cores, max(0, cores - network_of(row["trace"], row["arch"]).grid[0]), -1)
    sizes = POOLS.get(_operation(row)) or (math.isqrt(inputs[1]["shape"][-2] // channels),)
    for size in sizes:
        try:
            unit = TILE if output["layout"] == "TILE" or _operation(row) not in POOLS else 1
            return window_of(sticks, output["shape"][-2], size, sharing, unit)
        except Skip as why:
            found = why
    raise found


def _whole(window):
    """A window over a whole image: `lines` of its input, and `pads` above, below, left and right of it."""
    return {**window._asdict(), "lines": window.height * window.stride, "pads": [window.padding] * 4}


def _slice(row, window):
    """The window of a halo, which may be that of a slice: a convolution of an image in DRAM takes some lines of it at a time, with
    padding above the first ones, below the last ones, and none of either at others.  Slices have the width and the channels of an
    image that the network slices; those of strided convolutions are not told apart."""
    written, (*_, sticks, channels) = _first(row, "outputs"), _tensors(row, "inputs")[0]["shape"]
    sources = [
        _tensors(other, "inputs")[0]["shape"] for other in _same_network(row) if _operation(other) == "PaddedSlice"
    ]
    lines, rest = divmod(sticks, window.width)
    if (
        rest
        or window.stride > 1
        or not any(
            depth == channels and height > lines and 0 <= width - window.width < TILE
            for _, height, width, depth in sources
        )
    ):
        return _whole(window)
    for padded in (window.padding, 0):
        one = window._replace(height=lines + padded - 2 * window.padding)
        if one.sticks(share(one.height * one.width, one.cores, TILE)) == window.sticks(
            share(window.height * window.width, window.cores, TILE)
        ):
            earlier = any(other.line < row.line and _first(other, "outputs") == written for other in _same_network(row))
            above, below = (0, padded) if earlier else (padded, 0)
            return {**one._asdict(), "lines": lines, "pads": [above, below, window.padding, window.padding]}
    return _whole(window)


def _reader(row):
    """The convolution or pool that reads what a halo operation writes."""
    written = _first(row, "outputs")
    for other in _same_network(row):
        if _first(other, "inputs") == written and (
            CALL_OF.get(_operation(other)) == "conv" or _operation(other) in POOLS
        ):
            return other
    raise Skip("a halo whose convolution is not among the rows")


def _writer(row):
    """The halo operation whose output is moved, over its own freed input: how far a tensor moves decides the size of its steps."""
    moved = _first(row, "inputs")
    for other in _same_network(row):
        if _first(other, "outputs") == moved and CALL_OF.get(_operation(other)) == "halo":
            return other
    raise Skip("how far the tensor moves")


def _cores_before(row, made):
    """Cores of a tensor that is moved to others: of the last row before that writes it, for a row's own count is of the result's.

    Without such a row it is taken to stay on its cores, where at least their order or its shards are others.
    """
    before = [other for other in _same_network(row) if other.line < row.line and other["op"] != row["op"]]
    writers = [other for other in before if _first(other, "outputs") == _first(row, "inputs")]
    if writers:
        return writers[-1].integer("core_count")
    if made["inputs"][0]["memory"] == made["output"]["memory"]:
        raise Skip("which cores its input is on")
    return made["cores"]


def _same_network(row):
    return (other for other in row.file if other["trace"] == row["trace"])


def _first(row, side):
    return row[f"{side}_shape_dtype_layout_memory"].split("|")[0].strip()


def _refuse(made, network):
    """Raise `Skip` for a row whose columns do not say all that its time depends on."""
    call, tensors, output = made["call"], made["inputs"], made["output"]
    sharded = "SHARDED" in tensors[0]["memory"]
    if any(math.prod(tensor["shape"]) > LARGEST for tensor in [*tensors, output]):
        raise Skip("too large")
    if any(tensor["shape"][-1] < SHORTEST_ROW for tensor in tensors):
        raise Skip("narrow rows")
    if call == "relu" and (network.arch == "wormhole_b0" or tensors[0]["memory"] == "L1_INTERLEAVED"):
        raise Skip("which function it is")
    if call == "to_sharded" and len(tensors) == 1 and tensors[0]["shape"] != output["shape"]:
        raise Skip("how it pads")
    if call in UNPADDED and network.arch == "wormhole_b0":
        raise Skip("shapes without their padding")
    if call == "group_norm" and not sharded:
        raise Skip("how the library splits it")
    part_of_chip = network.grid == (5, 4)
    told = sharded or "SHARDED" in output["memory"] or call in ON_A_GRID or "MultiCast" in (made["config"] or "")
    if part_of_chip and not told:
        raise Skip("which cores of a larger chip it takes")
