"""A program that ends in the middle of its work, by the status that its argument names."""

import os
import sys

import ttnn

device = ttnn.open_device(device_id=0)
x = ttnn.Tensor([1.0] * 1024, [1, 1, 32, 32], ttnn.bfloat16, ttnn.TILE_LAYOUT).to(device)
ttnn.add(x, x)
os._exit(int(sys.argv[1]))
