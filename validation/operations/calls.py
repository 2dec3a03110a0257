"""Calls operations that a JSON file lists; started by the library's Python below `tensim ttnn --library`.

A `neg` of one tile stands before each, so that a reader of the report can tell them apart; the call's own program is the last
before the next one.  What the library refuses is written to standard output as a line of JSON with the call's place.
"""

import json
import math
import re
import sys

import torch
import ttnn

DTYPES = {
    "BFLOAT16": ttnn.bfloat16, "BFLOAT8_B": ttnn.bfloat8_b, "BFLOAT4_B": ttnn.bfloat4_b, "FLOAT32": ttnn.float32,
    "UINT32": ttnn.uint32,
}  # fmt: skip
LAYOUTS = {"TILE": ttnn.TILE_LAYOUT, "ROW_MAJOR": ttnn.ROW_MAJOR_LAYOUT}
INTERLEAVED = {"DRAM_INTERLEAVED": ttnn.DRAM_MEMORY_CONFIG, "L1_INTERLEAVED": ttnn.L1_MEMORY_CONFIG}
TILE, SCALE = 32, 1.5
TABLES = 32768  # bytes of a core's L1 for the tables of convolutions


def rounded_up(value, unit):
    return -(-value // unit) * unit


def memory_of(tensor, one):
    """Memory configuration of a tensor: shards over its own cores or the row's, in rows of the network's grid."""
    if tensor["memory"] in INTERLEAVED:
        return INTERLEAVED[tensor["memory"]]
    unit = TILE if tensor["layout"] == "TILE" else 1
    rows, columns, cores = math.prod(tensor["shape"][:-1]), tensor["shape"][-1], tensor.get("cores", one["cores"])
    kind = tensor["memory"].removeprefix("L1_").removesuffix("_SHARDED")
    layout = getattr(ttnn.TensorMemoryLayout, f"{kind}_SHARDED")
    orientation = ttnn.ShardOrientation.ROW_MAJOR
    if kind == "BLOCK":
        width, height, turned = block_grid(rows, columns, cores, one["grid"], unit)
        grid = rectangle(width, height)
        down, across = (width, height) if turned else (height, width)
        shape = [rounded_up(-(-rows // down), unit), rounded_up(-(-columns // across), unit)]
        if turned:
            orientation = ttnn.ShardOrientation.COL_MAJOR
    else:
        grid = ttnn.num_cores_to_corerangeset(cores, ttnn.CoreCoord(*one["grid"]), True)
        high = kind == "HEIGHT"
        shape = (
            [rounded_up(-(-rows // cores), unit), columns] if high else [rows, rounded_up(-(-columns // cores), unit)]
        )
    return ttnn.MemoryConfig(layout, ttnn.BufferType.L1, ttnn.ShardSpec(grid, shape, orientation))


def rectangle(width, height):
    return ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(width - 1, height - 1))})


def block_grid(rows, columns, cores, grid, unit):
    """(width, height, whether columns of the tensor go down the grid) of a rectangle of cores that divides a tensor evenly."""
    sizes = [(x, cores // x) for x in range(grid[0], 0, -1) if cores % x == 0 and cores // x <= grid[1]]
    ways = [(x, y, turned) for x, y in sizes for turned in (False, True)]
    for x, y, turned in ways:
        down, across = (x, y) if turned else (y, x)
        if rows % (down * unit) == 0 and columns % across == 0 and columns // across % 16 == 0:
            return x, y, turned
    return ways[0]


def put(device, tensor, one, shape=None):
    """A tensor with values on the device."""
    shape = shape or tensor["shape"]
    values = torch.randint(0, 16, shape, dtype=torch.int32) if tensor["dtype"] == "UINT32" else torch.rand(shape)
    host = ttnn.from_torch(values, dtype=DTYPES[tensor["dtype"]], layout=LAYOUTS[tensor["layout"]])
    return host.to(device, memory_of(tensor, one))


def product_config(text):
    """A program configuration as the row prints it; None: the library chooses."""
    if "MultiCast" not in (text or ""):
        return None
    value = dict(re.findall(r"(\w+)=(\w+)", text))
    names = (
        "in0_block_w",
        "out_subblock_h",
        "out_subblock_w",
        "out_block_h",
        "out_block_w",
        "per_core_M",
        "per_core_N",
    )
    x, y = re.search(r"x=(\d+);y=(\d+)", text).groups()
    settings = {name: int(value[name]) for name in names} | {
        "compute_with_storage_grid_size": ttnn.CoreCoord(int(x), int(y)), "fuse_batch": value["fuse_batch"] == "1",
        "fused_activation": ttnn.UnaryWithParam(ttnn.UnaryOpType.RELU) if "RELU" in text else None,
    }  # fmt: skip
    if "1DProgram" in text:
        return ttnn.MatmulMultiCoreReuseMultiCast1DProgramConfig(mcast_in0=value["mcast_in0"] == "1", **settings)
    return ttnn.MatmulMultiCoreReuseMultiCastProgramConfig(transpose_mcast=value["transpose_mcast"] == "1", **settings)


class Operands:
    """What a call works on; `run` makes it.  `one`: a description of `tensim.validation.operations.descriptions`."""

    def __init__(self, device):
        self.device = device
        size = device.compute_with_storage_grid_size()
        self.size = size.x, size.y

    def run(self, one):
        self.inputs, self.output = one["inputs"], one["output"]
        self.memory = memory_of(self.output, one)
        self.dtype = DTYPES[self.output["dtype"]]
        part = tuple(one["grid"]) != self.size and "SHARDED" not in self.inputs[0]["memory"]
        self.cores = {"sub_core_grids": rectangle(*one["grid"])} if part else {}
        return getattr(self, one["call"])(one)

    def operand(self, one, place=0, shape=None):
        return put(self.device, self.inputs[place], one, shape)


class DataMovement(Operands):
    """The library's calls by name that move data."""

    def tilize(self, one):
        return ttnn.tilize(self.operand(one), memory_config=self.memory, dtype=self.dtype, **self.cores)

    def tilize_padded(self, one):
        return ttnn.tilize_with_val_padding(
            self.operand(one), self.output["shape"], 0.0, memory_config=self.memory, dtype=self.dtype,
            use_multicore=one["cores"] > 1,
        )  # fmt: skip

    def untilize(self, one):
        return ttnn.untilize(self.operand(one), memory_config=self.memory, use_multicore=True, **self.cores)

    def untilize_cut(self, one):
        last = [size - 1 for size in self.output["shape"]]
        return ttnn.untilize_with_unpadding(
            self.operand(one), last, memory_config=self.memory, use_multicore=one["cores"] > 1, **self.cores
        )

    def to_sharded(self, one):
        return ttnn.interleaved_to_sharded(self.operand(one), self.memory)

    def to_interleaved(self, one):
        return ttnn.sharded_to_interleaved(self.operand(one), self.memory)

    def reshard(self, one):
        return ttnn.reshard(self.operand(one), self.memory)

    def move(self, one):
        """Into the hole that a freed tensor leaves."""
        hole = put(self.device, one["hole"], one)
        x = self.operand(one)
        ttnn.deallocate(hole)
        return ttnn.move(x)

    def reshape(self, one):
        return ttnn.reshape(self.operand(one), self.output["shape"])

    def concat(self, one):
        shape = self.output["shape"]
        axis = next(i for i in range(4) if self.inputs[0]["shape"][i] != shape[i])
        parts = [self.operand(one, place) for place in range(len(self.inputs))]
        while sum(part.shape[axis] for part in parts) < shape[axis]:
            parts.append(self.operand(one, len(self.inputs) - 1))  # the row lists four operands at most
        return ttnn.concat(parts, dim=axis, memory_config=self.memory)

    def slice(self, one):
        return ttnn.slice(self.operand(one), [0, 0, 0, 0], self.output["shape"], memory_config=self.memory)

    def permute(self, one):
        shape, wanted, order = self.inputs[0]["shape"], self.output["shape"], []
        for size in wanted:
            order.append(next(i for i in range(4) if shape[i] == size and i not in order))
        return ttnn.permute(self.operand(one), order, memory_config=self.memory)

    def transpose(self, one):
        return ttnn.transpose(self.operand(one), -2, -1, memory_config=self.memory)

    def upsample(self, one):
        shape, wanted = self.inputs[0]["shape"], self.output["shape"]
        return ttnn.upsample(self.operand(one), [wanted[1] // shape[1], wanted[2] // shape[2]])


class Calls(DataMovement):
    """All of the library's calls by name."""

    def relu(self, one):
        x = self.operand(one)
        return ttnn.relu(x, output_tensor=x) if one["inplace"] else ttnn.relu(x, memory_config=self.memory)

    def scale(self, one):
        return ttnn.multiply(self.operand(one), SCALE, memory_config=self.memory)

    def add(self, one):
        x, shape = self.operand(one), self.inputs[1]["shape"]
        row = shape[-2] == TILE < self.inputs[0]["shape"][-2]  # of padding, but for its first row
        y = self.operand(one, 1, [*shape[:-2], 1, shape[-1]] if row else None)
        if len(self.inputs) == 3:
            return ttnn.add(x, y, output_tensor=x if one["inplace"] else self.operand(one, 2))
        return ttnn.add(x, y, memory_config=self.memory)

    def typecast(self, one):
        return ttnn.typecast(self.operand(one), self.dtype, memory_config=self.memory, **self.cores)

    def engine(self, one):
        return ttnn.init_device_compute_kernel_config(
            self.device.arch(), math_fidelity=getattr(ttnn.MathFidelity, one["fidelity"] or "HiFi4"),
            math_approx_mode=False, fp32_dest_acc_en=False, packer_l1_acc=one["sums_in_l1"],
        )  # fmt: skip

    def matmul(self, one):
        settings = {
            "program_config": product_config(one["config"]), "memory_config": self.memory, "dtype": self.dtype,
            "compute_kernel_config": self.engine(one),
        }  # fmt: skip
        a, b = self.operand(one), self.operand(one, 1)
        if len(self.inputs) == 2:
            return ttnn.matmul(a, b, **settings)
        return ttnn.linear(a, b, bias=self.operand(one, 2, [1, 1, 1, self.inputs[2]["shape"][-1]]), **settings)

    def minimal_matmul(self, one):
        bias = self.operand(one, 2, [1, 1, 1, self.inputs[2]["shape"][-1]]) if len(self.inputs) > 2 else None
        return ttnn.experimental.minimal_matmul(
            self.operand(one), self.operand(one, 1), bias_tensor=bias, compute_kernel_config=self.engine(one)
        )

    def image(self, one):
        """(height, width) of the image that a window moves over."""
        window = one["window"]
        return window["lines"], window["width"] * window["stride"]

    def pixels(self, one, inputs):
        """The sharded image, in whole tiles a core."""
        cores = one["cores"] if "BLOCK" in inputs["memory"] else one["window"]["cores"]
        interleaved = put(self.device, inputs | {"memory": "DRAM_INTERLEAVED"}, one)
        return ttnn.interleaved_to_sharded(interleaved, memory_of(inputs | {"layout": "TILE"}, one | {"cores": cores}))

    def conv(self, one, inputs=None, outputs=None):
        window, (height, width) = one["window"], self.image(one)
        channels, outputs = self.inputs[0]["shape"][-1], outputs or self.output["shape"][-1]
        block = "BLOCK" in self.inputs[0]["memory"]
        twice = block and one["double_buffered"]
        x = self.pixels(one, inputs or self.inputs[0] | {"shape": [1, 1, height * width, channels], "layout": "TILE"})
        size = (window["size"],) * 2
        bias = torch.rand(1, 1, 1, outputs) if len(self.inputs) > 2 else None
        settings = ttnn.Conv2dConfig(
            weights_dtype=DTYPES[self.inputs[1]["dtype"]] if len(self.inputs) > 1 else ttnn.bfloat8_b,
            activation=ttnn.UnaryWithParam(ttnn.UnaryOpType.RELU) if one["relu"] else None,
            shard_layout=getattr(ttnn.TensorMemoryLayout, "BLOCK_SHARDED" if block else "HEIGHT_SHARDED"),
            deallocate_activation=True, reallocate_halo_output=True, output_layout=LAYOUTS[self.output["layout"]],
            enable_act_double_buffer=twice, enable_weights_double_buffer=twice,
        )  # fmt: skip
        engine = ttnn.init_device_compute_kernel_config(
            self.device.arch(), math_fidelity=getattr(ttnn.MathFidelity, one["fidelity"] or "HiFi4")
        )
        return ttnn.conv2d(
            input_tensor=x, weight_tensor=ttnn.from_torch(torch.rand(outputs, channels, *size), dtype=ttnn.float32),
            bias_tensor=None if bias is None else ttnn.from_torch(bias, dtype=ttnn.float32), in_channels=channels,
            out_channels=outputs, device=self.device, kernel_size=size, stride=(window["stride"],) * 2,
            padding=window["pads"], dilation=(window["dilation"],) * 2, batch_size=1, input_height=height,
            input_width=width, conv_config=settings, compute_config=engine, dtype=self.dtype,
        )  # fmt: skip

    def halo(self, one):
        """The halo of a pool, or of a convolution with few outputs."""
        if not one["pool"]:
            return self.conv(one, self.inputs[0], TILE)
        window, (height, width) = one["window"], self.image(one)
        channels = self.inputs[0]["shape"][-1]
        x = self.pixels(one, self.inputs[0] | {"shape": [1, 1, height * width, channels]})
        return ttnn.max_pool2d(
            input_tensor=x, batch_size=1, input_h=height, input_w=width, channels=channels,
            kernel_size=[window["size"]] * 2, stride=[window["stride"]] * 2, padding=window["pads"],
            dilation=[window["dilation"]] * 2,
        )  # fmt: skip

    def group_norm(self, one):
        channels, groups = self.inputs[0]["shape"][-1], self.inputs[3]["shape"][1]
        x = self.operand(one)
        shards = x.memory_config().shard_spec
        across = shards.grid.bounding_box().grid_size().x if "BLOCK" in self.inputs[0]["memory"] else 1
        mask = ttnn.create_group_norm_input_mask(channels, groups, across, ttnn.bfloat16)
        scale = ttnn.create_group_norm_weight_bias_rm(torch.rand(channels), channels, across)
        weight, bias = (
            ttnn.from_torch(scale, dtype=ttnn.bfloat16, layout=ttnn.ROW_MAJOR_LAYOUT).to(self.device) for _ in range(2)
        )
        return ttnn.group_norm(
            x, num_groups=groups, input_mask=mask.to(self.device), weight=weight, bias=bias, memory_config=x.memory_config(),
            core_grid=ttnn.CoreGrid(x=one["grid"][0], y=one["grid"][1]), epsilon=1e-5,
            inplace=self.inputs[0]["layout"] == "ROW_MAJOR", output_layout=LAYOUTS[self.output["layout"]],
        )  # fmt: skip


def main(path):
    listed = json.load(open(path))
    tables = {"l1_small_size": TABLES} if any("window" in one for one in listed) else {}
    device = ttnn.open_device(device_id=0, **tables)
    calls = Calls(device)
    tile = ttnn.from_torch(torch.zeros(1, 1, TILE, TILE), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT).to(device)
    for place, one in enumerate(listed):
        mark = ttnn.neg(tile)
        try:
            result = calls.run(one)
            ttnn.synchronize_device(device)
            ttnn.deallocate(result)
        except Exception as error:
            print(json.dumps({"place": place, "why": str(error).splitlines()[0][:200]}), flush=True)
        ttnn.deallocate(mark)
    ttnn.close_device(device)


if __name__ == "__main__":
    main(sys.argv[1])
