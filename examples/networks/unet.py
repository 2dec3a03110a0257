"""A block of Stable Diffusion's UNet (1.x, the first level down: 320 channels, 64 x 64 latents, 8 heads).

What is there: a residual block (group norm, SiLU and 3 x 3 convolution twice, time embedding added between) and a transformer
block (self-attention, cross-attention to a text of 77 tokens, feed-forward network gated by GELU), `--layers` times.  Group norms
and convolutions work on interleaved or block-sharded rows of channels, attention is flash attention.
"""

import math

import torch
import torch.nn.functional as F
import ttnn
from common import BF16, BFP8, bias, main, matrix, parser, scale

GROUPS = 32
TIME = 1280  # width of the time embedding
TEXT, TEXT_WIDTH = 77, 768
EPSILON = 1e-5
TILE = 32


def parameters(width):
    """Random parameters of a transformer block."""
    made = {f"norm{index}": scale(width) for index in (1, 2, 3)} | {
        f"norm{index}_bias": bias(width) for index in (1, 2, 3)
    }
    for kind, source in (("self", width), ("cross", TEXT_WIDTH)):
        made |= {
            f"{kind}_query": matrix(width, width),
            f"{kind}_out": matrix(width, width),
            f"{kind}_out_bias": bias(width),
        }
        made |= {f"{kind}_key": matrix(source, width), f"{kind}_value": matrix(source, width)}
    made |= {"inner": matrix(width, 4 * width), "gate": matrix(width, 4 * width), "down": matrix(4 * width, width)}
    return made | {"enter": matrix(width, width), "leave": matrix(width, width)}


# --- the residual block


def convolve(session, x, size, channels):
    """A 3 x 3 convolution of rows of channels; returns the device's result and weights and biases for torch."""
    weights, biases = torch.randn(channels, channels, 3, 3) / math.sqrt(9 * channels), torch.randn(channels) * 0.1
    plan = ttnn.Conv2dConfig(weights_dtype=BFP8, shard_layout=ttnn.TensorMemoryLayout.BLOCK_SHARDED)
    found = ttnn.conv2d(
        input_tensor=x, device=session.device, in_channels=channels, out_channels=channels, batch_size=session.options.batch,
        weight_tensor=ttnn.from_torch(weights, dtype=ttnn.float32),
        bias_tensor=ttnn.from_torch(biases.reshape(1, 1, 1, -1), dtype=ttnn.float32),
        input_height=size, input_width=size, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1), conv_config=plan,
        compute_config=session.compute(), dtype=BF16,
    )  # fmt: skip
    return ttnn.sharded_to_interleaved(found), weights, biases


def residual_block(session, x, expected, time, size):
    """Two convolutions behind group norm and SiLU, the time embedding between them, and the sum with the input."""
    channels = x.shape[-1]
    project = matrix(TIME, channels)
    y, z = x, expected
    for index in range(2):
        y = ttnn.silu(ttnn.group_norm(y, num_groups=GROUPS, epsilon=EPSILON, inplace=False))
        y, weights, biases = convolve(session, y, size, channels)
        z = (
            F.conv2d(F.silu(F.group_norm(z, GROUPS, eps=EPSILON)), weights, biases, padding=1)
            if session.options.compare
            else None
        )
        if index == 0:
            shift = ttnn.linear(
                ttnn.silu(session.put(time)), session.put(project, BFP8), compute_kernel_config=session.compute()
            )
            y = ttnn.add(y, shift)
            z = z + (F.silu(time) @ project).reshape(1, -1, 1, 1) if session.options.compare else None
    return ttnn.add(x, y), expected + z if session.options.compare else None


# --- the transformer block


def with_whole_tiles(p, heads):
    """Attention's parameters with zeros behind each head, up to whole tiles: the library moves heads by tiles."""
    made = dict(p)
    for name in p:
        if name.endswith(("_query", "_key", "_value")):
            rows, columns = p[name].shape
            made[name] = padded(p[name].reshape(rows, heads, columns // heads), 2).reshape(rows, -1)
        if name.endswith("_out"):
            rows, columns = p[name].shape
            made[name] = padded(p[name].reshape(heads, rows // heads, columns), 1).reshape(-1, columns)
    return made


def padded(tensor, axis):
    """A tensor of three axes with zeros behind it, up to whole tiles along one."""
    missing = -tensor.shape[axis] % TILE
    return F.pad(tensor, (0, missing) if axis == 2 else (0, 0, 0, missing))


def attention(session, x, source, p, kind, heads):
    """Attention of `x` to `source`, both rows of tokens."""
    settings = {"compute_kernel_config": session.compute()}
    query, key, value = (
        ttnn.experimental.nlp_create_qkv_heads(
            ttnn.linear(tokens, p[f"{kind}_{part}"], **settings),
            num_heads=heads,
            num_kv_heads=0,
            transpose_k_heads=False,
        )[0]
        for part, tokens in (("query", x), ("key", source), ("value", source))
    )
    scaled_by = (x.shape[-1] // heads) ** -0.5  # without the padding
    mixed = ttnn.transformer.scaled_dot_product_attention(query, key, value, is_causal=False, scale=scaled_by)
    joined = ttnn.experimental.nlp_concat_heads(mixed)
    return ttnn.linear(joined, p[f"{kind}_out"], bias=p[f"{kind}_out_bias"], **settings)


def transformer_block(session, x, text, p, heads):
    """Self-attention, cross-attention and feed-forward network between two products, on rows of channels."""
    settings = {"compute_kernel_config": session.compute()}
    y = ttnn.group_norm(x, num_groups=GROUPS, epsilon=EPSILON, inplace=False)
    y = ttnn.linear(y, p["enter"], **settings)
    for index, kind in ((1, "self"), (2, "cross")):
        z = ttnn.layer_norm(y, weight=p[f"norm{index}"], bias=p[f"norm{index}_bias"], epsilon=EPSILON)
        y = ttnn.add(y, attention(session, z, z if kind == "self" else text, p, kind, heads))
    z = ttnn.layer_norm(y, weight=p["norm3"], bias=p["norm3_bias"], epsilon=EPSILON)
    gate = ttnn.linear(z, p["gate"], activation="gelu", core_grid=session.grid(), **settings)
    inner = ttnn.mul(ttnn.linear(z, p["inner"], core_grid=session.grid(), **settings), gate)
    y = ttnn.add(y, ttnn.linear(inner, p["down"], **settings))
    return ttnn.add(x, ttnn.linear(y, p["leave"], **settings))


def reference_attention(x, source, p, kind, heads):
    """Attention with torch; tokens x width."""
    query, key, value = (
        (tokens @ p[f"{kind}_{part}"]).reshape(len(tokens), heads, -1).transpose(0, 1)
        for part, tokens in (("query", x), ("key", source), ("value", source))
    )
    mixed = F.scaled_dot_product_attention(query[None], key[None], value[None])[0].transpose(0, 1)
    return mixed.reshape(x.shape) @ p[f"{kind}_out"] + p[f"{kind}_out_bias"]


def reference_transformer(x, text, p, heads):
    """The transformer block with torch; `x`: 1 x channels x size x size."""
    width = x.shape[1]
    rows = F.group_norm(x, GROUPS, eps=EPSILON).flatten(2)[0].T
    y = rows @ p["enter"]
    for index, kind in ((1, "self"), (2, "cross")):
        z = F.layer_norm(y, (width,), p[f"norm{index}"][0], p[f"norm{index}_bias"][0], EPSILON)
        y = y + reference_attention(z, z if kind == "self" else text, p, kind, heads)
    z = F.layer_norm(y, (width,), p["norm3"][0], p["norm3_bias"][0], EPSILON)
    y = y + (F.gelu(z @ p["gate"]) * (z @ p["inner"])) @ p["down"]
    return x + (y @ p["leave"]).T.reshape(x.shape)


def run(session):
    """Blocks on a random latent, a time and a text."""
    options = session.options
    size, channels = options.size, options.channels
    latent, time, text = torch.randn(1, channels, size, size), torch.randn(1, 1, 1, TIME), torch.randn(TEXT, TEXT_WIDTH)
    x, expected = session.put(latent.flatten(2).transpose(1, 2)[None].contiguous()), latent
    words, p = session.put(text[None, None]), parameters(channels)
    on_device = session.put_all(with_whole_tiles(p, options.heads))
    for _ in range(options.layers):
        x, expected = residual_block(session, x, expected, time, size)
        x = transformer_block(session, x, words, on_device, options.heads)
        expected = reference_transformer(expected, text, p, options.heads) if options.compare else None
    session.check("latent", x, lambda: expected.flatten(2).transpose(1, 2))


if __name__ == "__main__":
    command_line = parser(__doc__, layers=2, batch=1)
    command_line.add_argument(
        "--size", type=int, default=64, help="rows and columns of the latent, default %(default)s"
    )
    command_line.add_argument("--channels", type=int, default=320, help="default %(default)s")
    command_line.add_argument("--heads", type=int, default=8, help="default %(default)s")
    main(run, command_line.parse_args())
