"""ResNet-50 on images of 224 x 224, from pixels to classes.

What is there: the stem (7 x 7 convolution and max pool), the sixteen bottlenecks in four stages, global average pool and the
classifier.  Convolutions have folded batch norms (a bias) and fused ReLU, bfloat8_b weights and activations in sharded L1:
by height in the first two stages, by blocks in the last two.  `--layers` is the number of bottlenecks.
"""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
import ttnn
from common import BF16, BFP8, DRAM, L1, ROWS, main, matrix, parser

STAGES = ((3, 64, 1), (4, 128, 2), (6, 256, 2), (3, 512, 2))  # bottlenecks, middle channels, stride of the first
EXPANSION = 4  # output channels of a bottleneck per middle channel
BY_HEIGHT_FROM = 28  # rows of an image: smaller ones are sharded by blocks
ROOMY = 512  # input channels from which a core's L1 holds no second buffer
CLASSES = 1000
RELU = ttnn.UnaryWithParam(ttnn.UnaryOpType.RELU)
HEIGHT, BLOCK = ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.TensorMemoryLayout.BLOCK_SHARDED


@dataclass
class Images:
    """A batch of square images, of the device and of torch: rows of channels, and batch x channels x size x size."""

    on_device: ttnn.Tensor
    size: int
    channels: int
    batch: int
    expected: torch.Tensor = None


@dataclass(frozen=True)
class Convolution:
    """What a convolution is: channels, kernel size, stride, and whether ReLU follows."""

    inputs: int
    outputs: int
    kernel: int = 1
    stride: int = 1
    relu: bool = True


def convolve(session, images, what, format=BFP8):
    """A convolution with random weights, on the device and (unless nothing is compared) with torch."""
    weights = torch.randn(what.outputs, what.inputs, what.kernel, what.kernel) / math.sqrt(what.inputs * what.kernel**2)
    biases = torch.randn(what.outputs) * 0.1
    padding = what.kernel // 2
    found, (size, _) = ttnn.conv2d(
        input_tensor=images.on_device, device=session.device, batch_size=images.batch,
        weight_tensor=ttnn.from_torch(weights, dtype=ttnn.float32),
        bias_tensor=ttnn.from_torch(biases.reshape(1, 1, 1, -1), dtype=ttnn.float32),
        in_channels=what.inputs, out_channels=what.outputs, input_height=images.size, input_width=images.size,
        kernel_size=(what.kernel, what.kernel), stride=(what.stride, what.stride), padding=(padding, padding),
        conv_config=configuration(images, what), compute_config=session.compute(ttnn.MathFidelity.LoFi), dtype=format,
        return_output_dim=True,
    )  # fmt: skip
    expected = None
    if session.options.compare:
        expected = F.conv2d(images.expected, weights, biases, what.stride, padding)
        expected = F.relu(expected) if what.relu else expected
    return Images(found, size, what.outputs, images.batch, expected)


def configuration(images, what):
    """How the library lays out a convolution: the shape of shards by the size of its result; double buffers where L1 has room."""
    by_height = images.size // what.stride >= BY_HEIGHT_FROM
    return ttnn.Conv2dConfig(
        weights_dtype=BFP8,
        shard_layout=HEIGHT if by_height else BLOCK,
        activation=RELU if what.relu else None,
        reshard_if_not_optimal=True,  # else an input's shards decide over `shard_layout`
        enable_act_double_buffer=what.inputs < ROOMY,
        enable_weights_double_buffer=what.inputs < ROOMY,
    )


def stem(session, images):
    """The first convolution, on rows of pixels, and the max pool behind it."""
    x = convolve(session, images, Convolution(3, 64, kernel=7, stride=2), format=BF16)
    pooled = ttnn.max_pool2d(x.on_device, x.batch, x.size, x.size, 64, [3, 3], [2, 2], [1, 1], [1, 1])
    expected = F.max_pool2d(x.expected, 3, 2, 1) if session.options.compare else None
    pooled = ttnn.to_layout(ttnn.to_memory_config(pooled, L1), ttnn.TILE_LAYOUT)  # shards need not be of whole tiles
    return Images(pooled, x.size // 2, 64, x.batch, expected)


def bottleneck(session, x, middle, stride):
    """1 x 1, 3 x 3, 1 x 1, and the sum with the input, which a convolution adapts where its shape changes."""
    outputs = EXPANSION * middle
    y = convolve(session, x, Convolution(x.channels, middle))
    y = convolve(session, y, Convolution(middle, middle, kernel=3, stride=stride))
    y = convolve(session, y, Convolution(middle, outputs, relu=False))
    shortcut = x
    if stride > 1 or x.channels != outputs:
        shortcut = convolve(session, x, Convolution(x.channels, outputs, stride=stride, relu=False))
    other, layout = shortcut.on_device, y.on_device.memory_config()
    if other.memory_config() != layout:
        other = ttnn.to_memory_config(other, layout)
    total = ttnn.add(y.on_device, other, activations=[RELU])
    expected = F.relu(y.expected + shortcut.expected) if session.options.compare else None
    return Images(total, y.size, outputs, x.batch, expected)


def classify(session, x):
    """Global average pool and the classifier's product."""
    weights = matrix(x.channels, CLASSES)
    rows = ttnn.to_memory_config(x.on_device, L1)
    rows = ttnn.reshape(rows, (x.batch, 1, x.size * x.size, x.channels))
    pooled = ttnn.mean(rows, dim=2, keepdim=True)
    pooled = ttnn.reshape(pooled, (1, 1, x.batch, x.channels))
    scores = ttnn.linear(pooled, session.put(weights, BFP8), memory_config=L1, compute_kernel_config=session.compute())
    session.check("classes", scores, lambda: x.expected.mean((2, 3)) @ weights)


def run(session):
    """The network on random images."""
    options = session.options
    pixels = torch.randn(options.batch, 3, options.size, options.size)
    rows = pixels.permute(0, 2, 3, 1).reshape(1, 1, -1, 3)
    x = stem(session, Images(session.put(rows, layout=ROWS, memory=DRAM), options.size, 3, options.batch, pixels))
    plan = [(middle, first if index == 0 else 1) for count, middle, first in STAGES for index in range(count)]
    for middle, stride in plan[: options.layers]:
        x = bottleneck(session, x, middle, stride)
    classify(session, x)


if __name__ == "__main__":
    command_line = parser(__doc__, layers=16, batch=1)
    command_line.add_argument("--size", type=int, default=224, help="rows and columns of an image, default %(default)s")
    main(run, command_line.parse_args())
