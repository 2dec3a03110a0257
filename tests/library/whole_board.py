"""Reaches every worker and every DRAM bank of a board through the vendor's library; prints what the library sees."""

import numpy as np
import ttnn


def get(tensor):
    return np.array(tensor.cpu().to(ttnn.ROW_MAJOR_LAYOUT).to_list())


def main():
    device = ttnn.open_device(device_id=0)
    grid = device.compute_with_storage_grid_size()
    last = ttnn.CoreCoord(grid.x - 1, grid.y - 1)
    cores = ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(0, 0), last)])
    values = np.random.default_rng(0).integers(-64, 64, (1, 1, 32 * grid.y, 96 * grid.x)).astype(np.float32)
    spec = ttnn.ShardSpec(cores, [32, 96], ttnn.ShardOrientation.ROW_MAJOR)
    sharded = ttnn.MemoryConfig(ttnn.TensorMemoryLayout.BLOCK_SHARDED, ttnn.BufferType.L1, spec)
    first = ttnn.Tensor(values.reshape(-1).tolist(), list(values.shape), ttnn.bfloat16, ttnn.TILE_LAYOUT).to(device)
    for memory in (ttnn.DRAM_MEMORY_CONFIG, ttnn.L1_MEMORY_CONFIG, sharded):
        tensor = ttnn.to_memory_config(first, memory)
        assert np.array_equal(get(tensor).reshape(values.shape), values), memory
        assert np.array_equal(get(ttnn.add(tensor, tensor)).reshape(values.shape), 2 * values), memory
    print("sees", grid.x, grid.y, device.dram_grid_size().x)
    ttnn.close_device(device)


main()
