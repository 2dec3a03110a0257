"""The image of a convolution, from what its row does say: sticks of its padded input, weights, sticks of its output, cores.

A convolution reads its input with a halo: each core holds the sticks (one pixel's channels) between the first and the last that its
outputs need, as many as the core that needs most of them.  How many that are depends on the image's width, the window, its stride
and its dilation (docs of the library: sliding window operations); in nearly all rows one image alone fits.
"""

import math
from typing import NamedTuple

from tensim.validation.rows import Skip

TILE = 32
STRIDES, DILATIONS = (1, 2), (1, 2, 4, 6, 8, 12, 16, 18, 24)
WIDEST = 8  # widths over heights that images have


class Window(NamedTuple):
    """An image of `height` x `width` outputs on `cores`, and the window: a square of `size` pixels."""

    height: int
    width: int
    size: int
    stride: int
    dilation: int
    cores: int

    @property
    def padding(self):
        return self.dilation * (self.size - 1) // 2

    def sticks(self, outputs):
        """Most sticks that a core holds, with so many outputs a core."""
        row, reach = self.width * self.stride + 2 * self.padding, (self.size - 1) * self.dilation
        most, image = 0, self.height * self.width
        for first in range(0, image, outputs):
            last = min(first + outputs, image) - 1
            span = (last // self.width - first // self.width) * self.stride * row
            span += (last % self.width - first % self.width) * self.stride
            most = max(most, span + reach * (row + 1) + 1)
        return most


def window_of(sticks, outputs, size, cores, unit=TILE):
    """The `Window` of a convolution with `sticks` in all and `outputs`, which may hold some of the last tile's padding; `cores`:
    numbers of cores that may share them, the most likely first; `unit`: outputs that stay on a core.  Raises `Skip`."""
    found = []
    for place, count in enumerate(cores):
        for height, width in _images(outputs) if sticks % count == 0 else ():
            for stride in STRIDES:
                for dilation in DILATIONS if size > 1 and stride == 1 else (1,):
                    window = Window(height, width, size, stride, dilation, count)
                    if window.sticks(share(outputs, count, unit)) == sticks // count:
                        unlikely = dilation, place, height * width < outputs, abs(math.log(width / height))
                        found.append((*unlikely, window))
    if not found:
        raise Skip("no image has so many sticks")
    return min(found)[-1]


def share(outputs, cores, unit):
    """Outputs of a core: whole tiles of a convolution, and of a pool where it writes tiles."""
    return math.ceil(outputs / cores / unit) * unit


def _images(outputs):
    """(height, width) of images of so many pixels, or of up to a tile less, in which rows are not much longer than columns."""
    for pixels in range(outputs, outputs - TILE, -1):
        for height in range(1, pixels + 1):
            width, rest = divmod(pixels, height)
            if rest == 0 and height <= WIDEST * width and width <= WIDEST * height:
                yield height, width
