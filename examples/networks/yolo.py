"""A detector of the YOLO class (v8's smallest: 16 to 256 channels) on images of 640 x 640.

What is there: a backbone of strided convolutions and blocks of split bottlenecks, pyramid pooling, a neck that goes up and down
again over three scales, and the heads' convolutions for boxes and classes.  Convolutions have folded batch norms and fused SiLU;
their results lie in DRAM between them.  Decoding boxes and suppressing the lesser ones is the host's.  `--layers` is the number of
bottlenecks in a block.
"""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
import ttnn
from common import BF16, BFP8, DRAM, ROWS, main, parser

COLOURS = 3
BOXES, CLASSES = 64, 80  # channels of a head: four sides with sixteen bins, and scores
SILU = ttnn.UnaryWithParam(ttnn.UnaryOpType.SILU)
HEIGHT, BLOCK = ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.TensorMemoryLayout.BLOCK_SHARDED
BY_HEIGHT_FROM = 40  # rows of an image: smaller ones are sharded by blocks


@dataclass
class Image:
    """An image of the device, rows of channels, and of torch (None if nothing is compared)."""

    on_device: ttnn.Tensor
    size: int
    channels: int
    expected: torch.Tensor | None


def convolve(session, x, outputs, kernel=3, stride=1, active=True):
    """A convolution with random weights and SiLU."""
    weights = torch.randn(outputs, x.channels, kernel, kernel) / math.sqrt(x.channels * kernel**2)
    biases = torch.randn(outputs) * 0.1
    shards = HEIGHT if x.size // stride >= BY_HEIGHT_FROM else BLOCK
    plan = ttnn.Conv2dConfig(weights_dtype=BFP8, activation=SILU if active else None, shard_layout=shards)
    found, (size, _) = ttnn.conv2d(
        input_tensor=x.on_device, device=session.device, in_channels=x.channels, out_channels=outputs, batch_size=1,
        weight_tensor=ttnn.from_torch(weights, dtype=ttnn.float32),
        bias_tensor=ttnn.from_torch(biases.reshape(1, 1, 1, -1), dtype=ttnn.float32),
        input_height=x.size, input_width=x.size, kernel_size=(kernel, kernel), stride=(stride, stride),
        padding=(kernel // 2, kernel // 2), conv_config=plan, compute_config=session.compute(), dtype=BF16, return_output_dim=True,
    )  # fmt: skip
    expected = None
    if x.expected is not None:
        expected = F.conv2d(x.expected, weights, biases, stride, kernel // 2)
        expected = F.silu(expected) if active else expected
    return Image(ttnn.to_memory_config(found, DRAM), size, outputs, expected)


def join(*images):
    """Images of one size, their channels one behind the other."""
    expected = None if images[0].expected is None else torch.cat([one.expected for one in images], 1)
    found = ttnn.concat([one.on_device for one in images], dim=3)
    return Image(found, images[0].size, sum(one.channels for one in images), expected)


def split(x):
    """The two halves of an image's channels."""
    half, rows = x.channels // 2, x.size**2
    return [
        Image(
            ttnn.slice(x.on_device, [0, 0, 0, first], [1, 1, rows, first + half]), x.size, half,
            None if x.expected is None else x.expected[:, first : first + half],
        )
        for first in (0, half)
    ]  # fmt: skip


def bottleneck(session, x, shortcut):
    """Two convolutions, and the sum with the input."""
    y = convolve(session, convolve(session, x, x.channels), x.channels)
    if not shortcut:
        return y
    return Image(
        ttnn.add(x.on_device, y.on_device), x.size, x.channels, None if x.expected is None else x.expected + y.expected
    )


def block(session, x, outputs, shortcut):
    """Half the channels go through bottlenecks, each of whose results is kept; all are joined and mixed."""
    kept = split(convolve(session, x, outputs, kernel=1))
    for _ in range(session.options.layers):
        kept.append(bottleneck(session, kept[-1], shortcut))
    return convolve(session, join(*kept), outputs, kernel=1)


def pool(x):
    """The largest of 5 x 5 places round each."""
    rows = ttnn.to_layout(x.on_device, ROWS)
    found = ttnn.max_pool2d(rows, 1, x.size, x.size, x.channels, [5, 5], [1, 1], [2, 2], [1, 1])
    found = ttnn.to_layout(ttnn.to_memory_config(found, DRAM), ttnn.TILE_LAYOUT)
    return Image(found, x.size, x.channels, None if x.expected is None else F.max_pool2d(x.expected, 5, 1, 2))


def pyramid(session, x):
    """Pools of three sizes, each on the one before, joined and mixed."""
    kept = [convolve(session, x, x.channels // 2, kernel=1)]
    for _ in range(3):
        kept.append(pool(kept[-1]))
    return convolve(session, join(*kept), x.channels, kernel=1)


def enlarge(x):
    """Each place four times."""
    image = ttnn.reshape(ttnn.to_layout(x.on_device, ROWS), (1, x.size, x.size, x.channels))
    found = ttnn.reshape(ttnn.upsample(image, 2), (1, 1, 4 * x.size**2, x.channels))
    expected = None if x.expected is None else F.interpolate(x.expected, scale_factor=2)
    return Image(ttnn.to_layout(found, ttnn.TILE_LAYOUT), 2 * x.size, x.channels, expected)


def backbone(session, x, base):
    """The images at an eighth, a sixteenth and a thirty-second of the size."""
    x = convolve(session, x, base, stride=2)
    found = []
    for channels in (2 * base, 4 * base, 8 * base, 16 * base):
        x = block(session, convolve(session, x, channels, stride=2), channels, shortcut=True)
        found.append(x)
    return found[1], found[2], pyramid(session, x)


def neck(session, fine, middle, coarse):
    """Up from the coarsest scale and down again; the images for the heads."""
    up = block(session, join(enlarge(coarse), middle), middle.channels, shortcut=False)
    first = block(session, join(enlarge(up), fine), fine.channels, shortcut=False)
    down = convolve(session, first, fine.channels, stride=2)
    second = block(session, join(down, up), middle.channels, shortcut=False)
    down = convolve(session, second, middle.channels, stride=2)
    return first, second, block(session, join(down, coarse), coarse.channels, shortcut=False)


def head(session, x, outputs, inner):
    """Two convolutions and a mix, for boxes or for classes."""
    y = convolve(session, convolve(session, x, inner), inner)
    return convolve(session, y, outputs, kernel=1, active=False)


def run(session):
    """The network on a random image."""
    options = session.options
    pixels = torch.rand(1, COLOURS, options.size, options.size)
    rows = session.put(pixels.permute(0, 2, 3, 1).reshape(1, 1, -1, COLOURS), layout=ROWS)
    image = Image(rows, options.size, COLOURS, pixels if options.compare else None)
    for scale, x in enumerate(neck(session, *backbone(session, image, options.channels)), 3):
        for name, outputs in (("boxes", BOXES), ("classes", CLASSES)):
            found = head(session, x, outputs, max(outputs, 4 * options.channels))
            session.check(f"{name} of P{scale}", found.on_device, lambda y=found: y.expected.permute(0, 2, 3, 1))


if __name__ == "__main__":
    command_line = parser(__doc__, layers=1, batch=1)
    command_line.add_argument("--size", type=int, default=640, help="rows and columns of an image, default %(default)s")
    command_line.add_argument("--channels", type=int, default=16, help="of the first convolution, default %(default)s")
    main(run, command_line.parse_args())
