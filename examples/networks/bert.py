"""BERT's encoder (default: BERT-large, 1024 wide, 16 heads) on sentences of 384 tokens.

What is there: the encoder layers, each with fused query-key-value product, scaled and masked softmax, feed-forward
network with GELU in the product, and layer norms that add the residual.  Activations lie in L1 between operations, weights are
bfloat8_b in DRAM, all layers use one random set.  Embedding and the heads for tasks are not there.
"""

import torch
import torch.nn.functional as F
import ttnn
from common import BFP8, L1, add_replays, bias, main, matrix, parser, scale

EPSILON = 1e-12
MASKED = 60  # tokens of padding at a sentence's end


def parameters(width, inner):
    """Random parameters of an encoder layer."""
    return {
        "qkv": matrix(width, 3 * width), "qkv_bias": bias(3 * width), "out": matrix(width, width), "out_bias": bias(width),
        "norm1": scale(width), "norm1_bias": bias(width), "up": matrix(width, inner), "up_bias": bias(inner),
        "down": matrix(inner, width), "down_bias": bias(width), "norm2": scale(width), "norm2_bias": bias(width),
    }  # fmt: skip


def attention(session, x, p, heads, mask):
    """Multi-head self-attention of `x`, batch x tokens x width, up to the product behind the heads."""
    grid, compute, width = session.grid(), session.compute(), x.shape[-1]
    qkv = ttnn.linear(
        x, p["qkv"], bias=p["qkv_bias"], memory_config=L1, dtype=BFP8, core_grid=grid, compute_kernel_config=compute
    )
    query, key, value = ttnn.transformer.split_query_key_value_and_split_heads(qkv, num_heads=heads, memory_config=L1)
    ttnn.deallocate(qkv)
    scores = ttnn.matmul(query, key, memory_config=L1, dtype=BFP8, core_grid=grid, compute_kernel_config=compute)
    shares = ttnn.transformer.attention_softmax_(scores, attention_mask=mask, head_size=width // heads)
    mixed = ttnn.matmul(shares, value, memory_config=L1, dtype=BFP8, core_grid=grid, compute_kernel_config=compute)
    joined = ttnn.transformer.concatenate_heads(mixed, memory_config=L1)
    return ttnn.linear(
        joined, p["out"], bias=p["out_bias"], memory_config=L1, core_grid=grid, compute_kernel_config=compute
    )


def feed_forward(session, x, p):
    """Two products with GELU between them."""
    settings = {"memory_config": L1, "core_grid": session.grid(), "compute_kernel_config": session.compute()}
    up = ttnn.linear(x, p["up"], bias=p["up_bias"], activation="gelu", dtype=BFP8, **settings)
    return ttnn.linear(up, p["down"], bias=p["down_bias"], **settings)


def encoder_layer(session, x, p, heads, mask):
    """A layer on the device; both norms add the residual."""
    mixed = attention(session, x, p, heads, mask)
    x = ttnn.layer_norm(
        mixed, residual_input_tensor=x, weight=p["norm1"], bias=p["norm1_bias"], epsilon=EPSILON, memory_config=L1
    )
    inner = feed_forward(session, x, p)
    return ttnn.layer_norm(
        inner, residual_input_tensor=x, weight=p["norm2"], bias=p["norm2_bias"], epsilon=EPSILON, memory_config=L1
    )


def reference_layer(x, p, heads, mask):
    """The same layer with torch."""
    batch, tokens, width = x.shape
    query, key, value = (
        part.reshape(batch, tokens, heads, -1).transpose(1, 2) for part in (x @ p["qkv"] + p["qkv_bias"]).chunk(3, -1)
    )
    mixed = (
        F.scaled_dot_product_attention(query, key, value, attn_mask=mask).transpose(1, 2).reshape(batch, tokens, width)
    )
    x = F.layer_norm(x + mixed @ p["out"] + p["out_bias"], (width,), p["norm1"][0], p["norm1_bias"][0], EPSILON)
    inner = F.gelu(x @ p["up"] + p["up_bias"]) @ p["down"] + p["down_bias"]
    return F.layer_norm(x + inner, (width,), p["norm2"][0], p["norm2_bias"][0], EPSILON)


def run(session):
    """The encoder on the device, and with torch."""
    options = session.options
    p = parameters(options.width, 4 * options.width)
    x = torch.randn(options.batch, options.tokens, options.width)
    mask = torch.zeros(options.batch, 1, 1, options.tokens)
    mask[..., options.tokens - MASKED :] = -1e4
    on_device, begin, device_mask = session.put_all(p), session.put(x, memory=L1), session.put(mask)

    def step():
        hidden = begin
        for _ in range(options.layers):
            hidden = encoder_layer(session, hidden, on_device, options.heads, device_mask)
        return hidden

    hidden = session.repeated(step)

    def expected():
        y = x
        for _ in range(options.layers):
            y = reference_layer(y, p, options.heads, mask)
        return y

    session.check("hidden states", hidden, expected)


if __name__ == "__main__":
    command_line = parser(__doc__, layers=24, batch=1)
    command_line.add_argument("--tokens", type=int, default=384, help="default %(default)s")
    command_line.add_argument("--width", type=int, default=1024, help="default %(default)s")
    command_line.add_argument("--heads", type=int, default=16, help="default %(default)s")
    add_replays(command_line)
    main(run, command_line.parse_args())
