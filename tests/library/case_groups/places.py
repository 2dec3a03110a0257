"""Operations that move values: layouts, shapes, memories, types."""

import numpy as np
import ttnn
from case_groups.tools import case, device, put, sharded, values


@case(0)
def transpose():
    x = values(1, 1, 64, 128)
    return ttnn.transpose(put(x), -2, -1), np.swapaxes(x, -2, -1)


@case(0)
def transpose_outer():
    x = values(1, 2, 64, 32)
    return ttnn.transpose(put(x), 1, 2), np.swapaxes(x, 1, 2)


@case(0)
def permute():
    x = values(1, 2, 64, 32)
    return ttnn.permute(put(x), (0, 2, 1, 3)), x.transpose(0, 2, 1, 3)


@case(0)
def permute_rows():
    x = values(1, 2, 64, 32)
    return ttnn.permute(put(x, layout=ttnn.ROW_MAJOR_LAYOUT), (0, 2, 1, 3)), x.transpose(0, 2, 1, 3)


@case(0)
def reshape():
    x = values(1, 1, 64, 128)
    return ttnn.reshape(put(x), (1, 2, 32, 128)), x.reshape(1, 2, 32, 128)


@case(0)
def reshape_across_tiles():
    x = values(1, 1, 64, 128)
    return ttnn.reshape(put(x), (1, 1, 128, 64)), x.reshape(1, 1, 128, 64)


@case(0)
def concat():
    x, y = values(1, 1, 64, 64), values(1, 1, 64, 64, seed=1)
    return ttnn.concat([put(x), put(y)], dim=-1), np.concatenate([x, y], -1)


@case(0)
def concat_rows():
    x, y = values(1, 1, 64, 64), values(1, 1, 32, 64, seed=1)
    return ttnn.concat([put(x), put(y)], dim=2), np.concatenate([x, y], 2)


@case(0)
def slice_tiles():
    x = values(1, 1, 128, 128)
    return ttnn.slice(put(x), (0, 0, 32, 32), (1, 1, 96, 128)), x[:, :, 32:96, 32:128]


@case(0)
def pad():
    x = values(1, 1, 64, 64)
    padded = ttnn.pad(put(x), [(0, 0), (0, 0), (0, 32), (0, 32)], 0.0)
    return padded, np.pad(x, [(0, 0), (0, 0), (0, 32), (0, 32)])


@case(0)
def tilize():
    x = values(1, 1, 64, 128)
    return ttnn.tilize(put(x, layout=ttnn.ROW_MAJOR_LAYOUT)), x


@case(0)
def untilize():
    x = values(1, 1, 64, 128)
    return ttnn.untilize(put(x)), x


@case(0)
def to_layout_padded():
    x = values(1, 1, 50, 60)
    return ttnn.to_layout(put(x, layout=ttnn.ROW_MAJOR_LAYOUT), ttnn.TILE_LAYOUT), x


@case(0)
def typecast_float32():
    x = values(1, 1, 64, 64)
    return ttnn.typecast(put(x), ttnn.float32), x


@case(0)
def typecast_bfloat16():
    x = values(1, 1, 64, 64)
    return ttnn.typecast(put(x, ttnn.float32), ttnn.bfloat16), x


@case(0.02)
def typecast_bfloat8():
    x = values(1, 1, 64, 64)
    return ttnn.typecast(ttnn.typecast(put(x), ttnn.bfloat8_b), ttnn.bfloat16), x


@case(0)
def embedding():
    table = values(128, 64)
    places = np.arange(32, dtype=np.uint32).reshape(1, 32) * 3 % 128
    rows = put(places, ttnn.uint32, ttnn.ROW_MAJOR_LAYOUT)
    return ttnn.embedding(rows, put(table, layout=ttnn.ROW_MAJOR_LAYOUT)), table[places]


@case(0)
def clone():
    x = values(1, 1, 64, 64)
    return ttnn.clone(put(x)), x


@case(0)
def interleaved_to_sharded():
    x = values(1, 1, 256, 64)
    return ttnn.to_memory_config(put(x), sharded(256, 64, (4, 2), ttnn.ShardStrategy.HEIGHT)), x


@case(0)
def sharded_to_interleaved():
    x = values(1, 1, 128, 256)
    memory = sharded(128, 256, (4, 2), ttnn.ShardStrategy.BLOCK)
    return ttnn.to_memory_config(put(x, memory=memory), ttnn.DRAM_MEMORY_CONFIG), x


@case(0)
def full():
    return ttnn.full((1, 1, 64, 64), 2.5, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device), np.full(
        (1, 1, 64, 64), 2.5
    )
