"""Images: batch, height, width, channels."""

import numpy as np
import ttnn
from case_groups.tools import case, device, get, put, values


def image(size, channels):
    return values(1, size, size, channels)


def rows_of(x):
    """An image as the library wants it: a row of channels for each place."""
    return put(x.reshape(1, 1, -1, x.shape[-1]), layout=ttnn.ROW_MAJOR_LAYOUT)


def windows(x, size, step, padding, filler=0.0):
    """[height, width, size, size, channels] of the first image."""
    padded = np.pad(x[0], [(padding, padding)] * 2 + [(0, 0)], constant_values=filler)
    cut = np.lib.stride_tricks.sliding_window_view(padded, (size, size), (0, 1))
    return cut[::step, ::step].transpose(0, 1, 3, 4, 2)


@case()
def conv2d():
    x, weights = image(14, 32), values(32, 32, 3, 3, seed=1) / 16
    made = ttnn.Tensor(weights.ravel().tolist(), [32, 32, 3, 3], ttnn.float32, ttnn.ROW_MAJOR_LAYOUT)
    found = ttnn.conv2d(
        input_tensor=rows_of(x), weight_tensor=made, in_channels=32, out_channels=32, device=device, kernel_size=(3, 3),
        stride=(1, 1), padding=(1, 1), dilation=(1, 1), groups=1, batch_size=1, input_height=14, input_width=14,
    )  # fmt: skip
    return get(found).reshape(14, 14, 32), np.einsum("yxijc,ocij->yxo", windows(x, 3, 1, 1), weights)


@case(0)
def max_pool2d():
    x = image(16, 32)
    found = ttnn.max_pool2d(rows_of(x), 1, 16, 16, 32, [3, 3], [2, 2], [1, 1], [1, 1])
    return get(found).reshape(8, 8, 32), windows(x, 3, 2, 1, -np.inf).max((2, 3))


@case()
def avg_pool2d():
    x = image(16, 32)
    found = ttnn.avg_pool2d(
        input_tensor=rows_of(x), batch_size=1, input_h=16, input_w=16, channels=32, kernel_size=[2, 2], stride=[2, 2],
        padding=[0, 0],
    )  # fmt: skip
    return get(found).reshape(8, 8, 32), windows(x, 2, 2, 0).mean((2, 3))


def between(x, at_y, at_x):
    """Bilinear values of an image at places [height, width]; outside it is 0."""
    padded, y, z = np.pad(x[0], [(1, 1)] * 2 + [(0, 0)]), at_y + 1, at_x + 1
    low_y, low_x = np.floor(y).astype(int), np.floor(z).astype(int)
    part_y, part_x = (y - low_y)[..., None], (z - low_x)[..., None]
    upper = padded[low_y, low_x] * (1 - part_x) + padded[low_y, low_x + 1] * part_x
    lower = padded[low_y + 1, low_x] * (1 - part_x) + padded[low_y + 1, low_x + 1] * part_x
    return upper * (1 - part_y) + lower * part_y


@case()
def grid_sample():
    x, grid = image(8, 32), values(1, 4, 4, 2, seed=1)
    rows = ttnn.ROW_MAJOR_LAYOUT
    found = ttnn.grid_sample(put(x, layout=rows), put(grid, layout=rows))
    at = (grid[0].astype(np.float64) + 1) * 4 - 0.5
    return found, between(x, at[..., 1], at[..., 0])[None]


@case()
def upsample_bilinear():
    x = image(8, 32)
    at = ((np.arange(16) + 0.5) / 2 - 0.5).clip(0, 7)
    found = ttnn.upsample(put(x, layout=ttnn.ROW_MAJOR_LAYOUT), 2, mode="bilinear")
    return found, between(x, *np.meshgrid(at, at, indexing="ij"))[None]
