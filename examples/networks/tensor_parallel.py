"""A transformer's layers, tensor-parallel over the chips of a mesh (`tensim ttnn --library --mesh ...`).

Every chip has its share of the heads and of the inner features: the first product of attention and of the MLP is split by columns,
the second one by rows, and what chips have of its results is added over the fabric (`all_reduce`).  Norms are done everywhere.
"""

import torch
import torch.nn.functional as F
import ttnn
from common import BF16, L1_SMALL, TILE, bias, main, matrix, parser, scale

EPSILON = 1e-5


class Mesh:
    """A line of `chips` chips, 0: of all that there are."""

    def __init__(self, chips):
        self.chips = chips or ttnn.get_num_devices()
        if self.chips > 1:
            ttnn.set_fabric_config(ttnn.FabricConfig.FABRIC_1D)
        self.device = ttnn.open_mesh_device(ttnn.MeshShape(1, self.chips), l1_small_size=L1_SMALL)

    def put(self, tensor, mapper):
        return ttnn.from_torch(tensor, dtype=BF16, layout=TILE, device=self.device, mesh_mapper=mapper)

    def everywhere(self, tensor):
        """A tensor that every chip has."""
        return self.put(tensor, ttnn.ReplicateTensorToMesh(self.device))

    def split(self, tensor, dim):
        """A tensor of which every chip has a part."""
        return self.put(tensor, ttnn.ShardTensorToMesh(self.device, dim=dim))


def parameters(width):
    """A layer's weights: torch tensors in float32."""
    matrices = {"query": (width, width), "key": (width, width), "value": (width, width), "out": (width, width)}
    matrices |= {"up": (width, 4 * width), "down": (4 * width, width)}
    found = {name: matrix(*shape) for name, shape in matrices.items()}
    return found | {"norm1": scale(width), "norm1_bias": bias(width), "norm2": scale(width), "norm2_bias": bias(width)}


def placed(mesh, p):
    """The same on the chips."""
    parts = zip(*(p[name].chunk(mesh.chips, 1) for name in ("query", "key", "value")), strict=True)
    qkv = torch.cat([torch.cat(part, 1) for part in parts], 1)  # of each chip side by side
    found = {"qkv": mesh.split(qkv, 1), "up": mesh.split(p["up"], 1)}
    found |= {name: mesh.split(p[name], 0) for name in ("out", "down")}
    return found | {name: mesh.everywhere(p[name]) for name in p if name.startswith("norm")}


def layer(x, p, heads):
    """A layer on the chips; `heads`: of one."""
    qkv = ttnn.linear(x, p["qkv"])
    query, key, value = ttnn.transformer.split_query_key_value_and_split_heads(qkv, num_heads=heads)
    shares = ttnn.transformer.attention_softmax(ttnn.matmul(query, key), head_size=query.shape[-1])
    mixed = ttnn.linear(ttnn.transformer.concatenate_heads(ttnn.matmul(shares, value)), p["out"])
    x = ttnn.layer_norm(
        summed(mixed), residual_input_tensor=x, weight=p["norm1"], bias=p["norm1_bias"], epsilon=EPSILON
    )
    inner = ttnn.linear(ttnn.linear(x, p["up"], activation="gelu"), p["down"])
    return ttnn.layer_norm(
        summed(inner), residual_input_tensor=x, weight=p["norm2"], bias=p["norm2_bias"], epsilon=EPSILON
    )


def summed(x):
    """The sum of all chips' parts of a tensor (batch, tokens, width), on every chip."""
    if ttnn.get_device_tensors(x)[1:]:
        batch, tokens, width = x.shape
        return ttnn.reshape(ttnn.all_reduce(ttnn.reshape(x, (1, batch, tokens, width))), (batch, tokens, width))
    return x


def reference(x, p, heads):
    """A layer with torch."""
    batch, tokens, width = x.shape
    query, key, value = (
        (x @ p[name]).reshape(batch, tokens, heads, -1).transpose(1, 2) for name in ("query", "key", "value")
    )
    mixed = F.scaled_dot_product_attention(query, key, value).transpose(1, 2).reshape(batch, tokens, width)
    x = F.layer_norm(x + mixed @ p["out"], (width,), p["norm1"][0], p["norm1_bias"][0], EPSILON)
    return F.layer_norm(x + F.gelu(x @ p["up"]) @ p["down"], (width,), p["norm2"][0], p["norm2_bias"][0], EPSILON)


def run(session):
    """The layers on the chips, and with torch."""
    options, mesh = session.options, session.options.mesh
    p, x = parameters(options.width), torch.randn(options.batch, options.tokens, options.width)
    on_chips, found = placed(mesh, p), mesh.everywhere(x)
    for _ in range(options.layers):
        found = layer(found, on_chips, options.heads // mesh.chips)

    def expected():
        y = x
        for _ in range(options.layers):
            y = reference(y, p, options.heads)
        return y

    for number, one in enumerate(ttnn.get_device_tensors(found)):
        session.check(f"chip {number}", one, expected)


if __name__ == "__main__":
    line = parser(__doc__, layers=2, batch=1)
    line.add_argument("--tokens", type=int, default=128, help="default %(default)s")
    line.add_argument("--width", type=int, default=1024, help="default %(default)s")
    line.add_argument("--heads", type=int, default=16, help="default %(default)s")
    line.add_argument("--chips", type=int, default=0, help="of a line, default: all")
    options = line.parse_args()
    options.mesh = Mesh(options.chips)
    main(run, options, options.mesh.device)
