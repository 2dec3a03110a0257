"""The device, the list of cases, and what cases are made of: values, tensors, memories, and formulas that several share."""

import numpy as np
import ttnn

# of which convolutions and pooling take their halos' tables
device = ttnn.open_device(device_id=0, l1_small_size=32768)
CASES = {}


def case(tolerance=0.02):
    """A case: it returns a tensor of the library, or an array made of some, and the array that it should hold."""

    def add(function):
        CASES[function.__name__] = function, tolerance
        return function

    return add


def values(*shape, low=-1.0, high=1.0, seed=0):
    """Random values that bfloat16 holds exactly."""
    drawn = np.random.default_rng(seed).uniform(low, high, shape).astype(np.float32)
    return (drawn.view(np.uint32) & 0xFFFF0000).view(np.float32)


def put(array, dtype=None, layout=None, memory=None):
    """A tensor on the device."""
    flat = array.reshape(-1).tolist()
    made = ttnn.Tensor(flat, list(array.shape), dtype or ttnn.bfloat16, layout or ttnn.TILE_LAYOUT)
    return made.to(device) if memory is None else made.to(device, memory)


def get(tensor):
    """The array that a tensor holds."""
    if isinstance(tensor, np.ndarray):
        return tensor.astype(np.float64)
    tensor = tensor.cpu()
    shape = [int(size) for size in tensor.shape]
    return np.array(tensor.to(ttnn.ROW_MAJOR_LAYOUT).to_list(), np.float64).reshape(shape)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def normalised(x, epsilon=1e-5):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + epsilon)


def sharded(height, width, cores, strategy):
    """Memory in L1, a shard for each of `cores` (columns, rows)."""
    return ttnn.create_sharded_memory_config(
        (1, 1, height, width), ttnn.CoreGrid(x=cores[0], y=cores[1]), strategy, ttnn.ShardOrientation.ROW_MAJOR
    )


def whole(array):
    """A tensor of integers in rows."""
    return put(np.asarray(array), ttnn.int32, ttnn.ROW_MAJOR_LAYOUT)
