"""A program of the vendor's library, as it stands: sums and products on a device that it opens and closes."""

import numpy as np
import ttnn

values = (np.arange(64 * 64, dtype=np.float32) % 128).reshape(1, 1, 64, 64)
device = ttnn.open_device(device_id=0)
x = ttnn.Tensor(values.flatten().tolist(), list(values.shape), ttnn.bfloat16, ttnn.TILE_LAYOUT).to(device)
sums, products = (np.array(y.cpu().to_list()).reshape(values.shape) for y in (ttnn.add(x, x), ttnn.multiply(x, x)))
print("sums", np.array_equal(sums, values + values), "products", np.abs(products - values**2).max() <= 64)
ttnn.close_device(device)
