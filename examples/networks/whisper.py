"""A Whisper-class encoder and decoder (default: the sizes of Whisper base), from a spectrogram to scores of the next token.

What is there: two convolutions over time, encoder layers over all frames, decoder layers over the tokens so far with causal
self-attention and cross-attention to the encoder's result, and the product with the vocabulary.  `--layers` is the number in the
encoder and in the decoder.  Attention is flash attention, GELU is part of the products, all layers of a kind use one random set.
"""

import torch
import torch.nn.functional as F
import ttnn
from common import BF16, BFP8, L1, ROWS, bias, main, matrix, parser, scale

MELS = 80
EPSILON = 1e-5


def attention_parameters(width, kind):
    """Random parameters of an attention; queries, keys and values are products of their own."""
    made = {f"{kind}_{part}": matrix(width, width) for part in ("query", "key", "value", "out")}
    return made | {f"{kind}_{part}_bias": bias(width) for part in ("query", "key", "value", "out")}


def parameters(width, kinds):
    """Random parameters of a layer with the attentions `kinds` and a feed-forward network, each behind a norm."""
    made = {
        "up": matrix(width, 4 * width),
        "up_bias": bias(4 * width),
        "down": matrix(4 * width, width),
        "down_bias": bias(width),
    }
    for kind in (*kinds, "inner"):
        made |= {f"{kind}_norm": scale(width), f"{kind}_norm_bias": bias(width)}
    for kind in kinds:
        made |= attention_parameters(width, kind)
    return made


# --- on the device


def product(session, x, p, name, **settings):
    """`x` times weights plus bias, in L1."""
    return ttnn.linear(
        x, p[name], bias=p[f"{name}_bias"], memory_config=L1, core_grid=session.grid(), compute_kernel_config=session.compute(),
        **settings,
    )  # fmt: skip


def attention(session, x, source, p, kind, heads):
    """Attention of `x` to `source`, both 1 x 1 x tokens x width; causal where it is the decoder's to itself."""
    query, key, value = (
        ttnn.experimental.nlp_create_qkv_heads(
            product(session, tokens, p, f"{kind}_{part}"), num_heads=heads, num_kv_heads=0, transpose_k_heads=False
        )[0]
        for part, tokens in (("query", x), ("key", source), ("value", source))
    )
    mixed = ttnn.transformer.scaled_dot_product_attention(query, key, value, is_causal=kind == "causal")
    return product(session, ttnn.experimental.nlp_concat_heads(mixed), p, f"{kind}_out")


def norm(x, p, name):
    """Layer norm with weights."""
    return ttnn.layer_norm(x, weight=p[f"{name}_norm"], bias=p[f"{name}_norm_bias"], epsilon=EPSILON, memory_config=L1)


def layer(session, x, p, heads, kinds, encoded=None):
    """A layer of the encoder, or of the decoder with the attentions `kinds`."""
    for kind in kinds:
        y = norm(x, p, kind)
        x = ttnn.add(x, attention(session, y, encoded if kind == "cross" else y, p, kind, heads), memory_config=L1)
    y = product(session, norm(x, p, "inner"), p, "up", activation="gelu")
    return ttnn.add(x, product(session, y, p, "down"), memory_config=L1)


def convolve(session, x, weights, biases, length, stride):
    """A convolution over time with GELU, on rows of channels; 1 x 1 x frames x channels."""
    outputs, inputs, kernel = weights.shape
    found, frames = ttnn.conv1d(
        input_tensor=x, weight_tensor=ttnn.from_torch(weights, dtype=ttnn.float32),
        bias_tensor=ttnn.from_torch(biases.reshape(1, 1, 1, -1), dtype=ttnn.float32), device=session.device,
        in_channels=inputs, out_channels=outputs, batch_size=1, input_length=length, kernel_size=kernel, stride=stride,
        padding=kernel // 2, compute_config=session.compute(), dtype=BF16, return_output_dim=True,
    )  # fmt: skip
    if found.is_sharded():
        found = ttnn.sharded_to_interleaved(found, L1)
    return ttnn.gelu(ttnn.reshape(ttnn.to_layout(found, ttnn.TILE_LAYOUT), (1, 1, frames, outputs))), frames


def listen(session, spectrogram, first, second, places):
    """The two convolutions and the places' embedding."""
    rows = session.put(spectrogram.T[None].contiguous(), layout=ROWS)
    x, frames = convolve(session, rows, *first, spectrogram.shape[1], 1)
    x = ttnn.to_layout(ttnn.reshape(x, (1, frames, x.shape[-1])), ROWS)
    x, frames = convolve(session, x, *second, frames, 2)
    return ttnn.add(x, session.put(places[None, None]), memory_config=L1)


# --- with torch


def reference_attention(x, source, p, kind, heads):
    """The same attention; tokens x width."""
    query, key, value = (
        (tokens @ p[f"{kind}_{part}"] + p[f"{kind}_{part}_bias"]).reshape(len(tokens), heads, -1).transpose(0, 1)[None]
        for part, tokens in (("query", x), ("key", source), ("value", source))
    )
    mixed = F.scaled_dot_product_attention(query, key, value, is_causal=kind == "causal")[0].transpose(0, 1)
    return mixed.reshape(x.shape) @ p[f"{kind}_out"] + p[f"{kind}_out_bias"]


def reference_layer(x, p, heads, kinds, encoded=None):
    """The same layer; tokens x width."""

    def normed(name):
        return F.layer_norm(x, x.shape[-1:], p[f"{name}_norm"][0], p[f"{name}_norm_bias"][0], EPSILON)

    for kind in kinds:
        y = normed(kind)
        x = x + reference_attention(y, encoded if kind == "cross" else y, p, kind, heads)
    return x + F.gelu(normed("inner") @ p["up"] + p["up_bias"]) @ p["down"] + p["down_bias"]


def reference_listen(spectrogram, first, second, places):
    """The same convolutions."""
    x = F.gelu(F.conv1d(spectrogram[None], *first, padding=1))
    return F.gelu(F.conv1d(x, *second, stride=2, padding=1))[0].T + places


def run(session):
    """Frames through the encoder, tokens through the decoder."""
    options = session.options
    width, heads, frames = options.width, options.heads, options.frames
    first = torch.randn(width, MELS, 3) / (3 * MELS) ** 0.5, torch.randn(width) * 0.1
    second = torch.randn(width, width, 3) / (3 * width) ** 0.5, torch.randn(width) * 0.1
    places, tokens = torch.randn(frames, width), torch.randn(options.tokens, width)
    spectrogram, words = torch.randn(MELS, 2 * frames), matrix(width, options.vocabulary)
    parts = {"encoder": ("self",), "decoder": ("causal", "cross")}
    p = {part: parameters(width, kinds) for part, kinds in parts.items()}
    on_device = {part: session.put_all(one) for part, one in p.items()}
    encoded, hidden = listen(session, spectrogram, first, second, places), session.put(tokens[None, None], memory=L1)
    for _ in range(options.layers):
        encoded = layer(session, encoded, on_device["encoder"], heads, parts["encoder"])
    for _ in range(options.layers):
        hidden = layer(session, hidden, on_device["decoder"], heads, parts["decoder"], encoded)
    scores = ttnn.linear(hidden, session.put(words, BFP8), compute_kernel_config=session.compute())

    def expected():
        x, y = reference_listen(spectrogram, first, second, places), tokens
        for _ in range(options.layers):
            x = reference_layer(x, p["encoder"], heads, parts["encoder"])
        for _ in range(options.layers):
            y = reference_layer(y, p["decoder"], heads, parts["decoder"], x)
        return y @ words

    session.check("scores", scores, expected)


if __name__ == "__main__":
    command_line = parser(__doc__, layers=6, batch=1)
    command_line.add_argument("--frames", type=int, default=1500, help="that the encoder sees, default %(default)s")
    command_line.add_argument("--tokens", type=int, default=32, help="that the decoder sees, default %(default)s")
    command_line.add_argument("--width", type=int, default=512, help="default %(default)s")
    command_line.add_argument("--heads", type=int, default=8, help="default %(default)s")
    command_line.add_argument("--vocabulary", type=int, default=51865, help="default %(default)s")
    main(run, command_line.parse_args())
