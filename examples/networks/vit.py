"""A vision transformer (default: ViT-Base of patches of 16 x 16) on images of 224 x 224, from pixels to classes.

What is there: the patches' embedding as a product, the class token, encoder layers with norms before their parts, the last norm and
the classifier.  Activations lie in L1 between operations, weights are bfloat8_b in DRAM, all layers use one random set.
"""

import torch
import torch.nn.functional as F
import ttnn
from bert import attention, feed_forward, parameters
from common import BFP8, L1, bias, main, matrix, parser, scale

EPSILON = 1e-12
PATCH = 16
CLASSES = 1000
TILE = 32


def patches(pixels):
    """batch x 3 x size x size as batch x patches x values of a patch."""
    return F.unfold(pixels, PATCH, stride=PATCH).transpose(1, 2).contiguous()


def embed(session, x, p):
    """Patches to tokens, behind a class token that fills a tile row with padding; places are added."""
    tokens = ttnn.linear(
        session.put(x), session.put(p["embed"], BFP8), memory_config=L1, compute_kernel_config=session.compute()
    )
    first = session.put(p["class"].expand(len(x), 1, -1).contiguous(), memory=L1)
    joined = ttnn.concat(
        [ttnn.to_layout(one, ttnn.ROW_MAJOR_LAYOUT) for one in (first, tokens)], dim=1, memory_config=L1
    )
    return ttnn.add(ttnn.to_layout(joined, ttnn.TILE_LAYOUT), session.put(p["places"]), memory_config=L1)


def reference_embed(x, p):
    """The same with torch."""
    return torch.cat([p["class"].expand(len(x), 1, -1), x @ p["embed"]], 1) + p["places"]


def encoder_layer(session, x, p, heads, mask):
    """A layer on the device: norms stand before attention and feed-forward network."""
    y = ttnn.layer_norm(x, weight=p["norm1"], bias=p["norm1_bias"], epsilon=EPSILON, memory_config=L1)
    x = ttnn.add(x, attention(session, y, p, heads, mask), memory_config=L1)
    y = ttnn.layer_norm(x, weight=p["norm2"], bias=p["norm2_bias"], epsilon=EPSILON, memory_config=L1)
    return ttnn.add(x, feed_forward(session, y, p), memory_config=L1)


def reference_layer(x, p, heads):
    """The same layer with torch."""
    batch, tokens, width = x.shape
    y = F.layer_norm(x, (width,), p["norm1"][0], p["norm1_bias"][0], EPSILON) @ p["qkv"] + p["qkv_bias"]
    query, key, value = (part.reshape(batch, tokens, heads, -1).transpose(1, 2) for part in y.chunk(3, -1))
    mixed = F.scaled_dot_product_attention(query, key, value).transpose(1, 2).reshape(batch, tokens, width)
    x = x + mixed @ p["out"] + p["out_bias"]
    y = F.layer_norm(x, (width,), p["norm2"][0], p["norm2_bias"][0], EPSILON)
    return x + F.gelu(y @ p["up"] + p["up_bias"]) @ p["down"] + p["down_bias"]


def classify(session, x, head):
    """The class token of each image through the last norm and the classifier."""
    first = ttnn.slice(x, [0, 0, 0], [x.shape[0], 1, x.shape[2]])
    y = ttnn.layer_norm(first, weight=session.put(head["norm"]), bias=session.put(head["norm_bias"]), epsilon=EPSILON)
    return ttnn.linear(
        y, session.put(head["classes"], BFP8), bias=session.put(head["bias"]), compute_kernel_config=session.compute()
    )


def run(session):
    """The network on random images."""
    options = session.options
    width, heads = options.width, options.heads
    x = patches(torch.randn(options.batch, 3, options.size, options.size))
    tokens = x.shape[1] + 1
    ends = {
        "embed": matrix(3 * PATCH**2, width),
        "class": torch.randn(1, 1, width),
        "places": torch.randn(1, tokens, width),
    }
    head = {"norm": scale(width), "norm_bias": bias(width), "classes": matrix(width, CLASSES), "bias": bias(CLASSES)}
    p = parameters(width, 4 * width)
    padded = -(-tokens // TILE) * TILE
    mask = torch.zeros(1, 1, 1, padded)
    mask[..., tokens:] = -1e4
    on_device, device_mask, hidden = session.put_all(p), session.put(mask), embed(session, x, ends)
    for _ in range(options.layers):
        hidden = encoder_layer(session, hidden, on_device, heads, device_mask)
    scores = classify(session, hidden, head)

    def expected():
        y = reference_embed(x, ends)
        for _ in range(options.layers):
            y = reference_layer(y, p, heads)
        return (
            F.layer_norm(y[:, 0], (width,), head["norm"][0], head["norm_bias"][0], EPSILON) @ head["classes"]
            + head["bias"]
        )

    session.check("classes", scores, expected)


if __name__ == "__main__":
    command_line = parser(__doc__, layers=12, batch=1)
    command_line.add_argument("--size", type=int, default=224, help="rows and columns of an image, default %(default)s")
    command_line.add_argument("--width", type=int, default=768, help="default %(default)s")
    command_line.add_argument("--heads", type=int, default=12, help="default %(default)s")
    main(run, command_line.parse_args())
