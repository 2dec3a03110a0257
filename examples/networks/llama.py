"""Llama 3.2 1B and 3.1 8B (`--size`): decoding one token of each user, or a prompt's prefill.

What is there: the decoder layers with grouped-query attention, rotary embeddings, a paged cache of keys and values, gated
feed-forward network, the last norm and the product with the vocabulary.  Decoding keeps activations sharded by width in L1 and
streams weights from DRAM, where they are sharded over its banks; prefilling is on interleaved tensors, with flash attention.  All
layers use one random set of weights.  The embedding and the choice of the next token are the host's.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
import ttnn
from common import BF16, BFP8, DRAM, L1, ROWS, add_replays, main, matrix, parser, scale

EPSILON = 1e-5
ROPE_BASE = 500000.0
TILE = 32
PAGE = 32  # tokens in a page of the cache
VOCABULARY = 128256


@dataclass(frozen=True)
class Shape:
    """Sizes of a model: width, heads of queries, heads of keys and values, width of a head and of the feed-forward network."""

    width: int
    heads: int
    groups: int
    head: int
    inner: int
    layers: int

    @property
    def qkv(self):
        """Columns of the fused product of queries, keys and values."""
        return (self.heads + 2 * self.groups) * self.head


SIZES = {"1b": Shape(2048, 32, 8, 64, 8192, 16), "8b": Shape(4096, 32, 8, 128, 14336, 32)}


def parameters(shape):
    """Random parameters of a layer."""
    return {
        "norm1": scale(shape.width), "qkv": matrix(shape.width, shape.qkv), "out": matrix(shape.heads * shape.head, shape.width),
        "norm2": scale(shape.width), "gate": matrix(shape.width, shape.inner), "up": matrix(shape.width, shape.inner),
        "down": matrix(shape.inner, shape.width),
    }  # fmt: skip


# --- rotary embeddings


def rotation(shape, positions):
    """(cosines, sines) of positions, each positions x head, neighbours in pairs."""
    angles = positions[:, None] / ROPE_BASE ** (torch.arange(0, shape.head, 2) / shape.head)
    return angles.cos().repeat_interleave(2, -1), angles.sin().repeat_interleave(2, -1)


def swap_matrix():
    """The tile that turns neighbours (a, b) into (-b, a)."""
    swapped, even = torch.zeros(1, 1, TILE, TILE), torch.arange(0, TILE, 2)
    swapped[..., even, even + 1], swapped[..., even + 1, even] = 1, -1
    return swapped


def rotated(x, cosines, sines):
    """Rotary embedding with torch."""
    return x * cosines + torch.stack([-x[..., 1::2], x[..., 0::2]], -1).flatten(-2) * sines


# --- decoding


class Decoder:
    """Decoding on the device: layouts, weights over DRAM's banks and the paged cache."""

    def __init__(self, session, shape, p, context):
        self.session, self.shape, self.users = session, shape, session.options.batch
        self.cores = session.grid(8, 4)
        self.weights = {name: self.over_banks(one) for name, one in p.items() if not name.startswith("norm")}
        self.norms = {
            name: session.put(one.reshape(1, 1, -1, TILE), layout=ROWS) for name, one in p.items() if "norm" in name
        }
        self.pages = context // PAGE
        table = torch.arange(self.users * self.pages, dtype=torch.int32).reshape(self.users, self.pages)
        self.table = session.put(table, ttnn.int32, ROWS)

    def over_banks(self, weights):
        """A matrix sharded by columns over DRAM's banks, padded to whole tiles in each."""
        banks = self.session.device.dram_grid_size().x
        rows, columns = weights.shape
        width = -(-columns // (TILE * banks)) * TILE
        cores = ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(banks - 1, 0))})
        shards = ttnn.ShardSpec(cores, [rows, width], ttnn.ShardOrientation.ROW_MAJOR)
        memory = ttnn.MemoryConfig(ttnn.TensorMemoryLayout.WIDTH_SHARDED, ttnn.BufferType.DRAM, shards)
        return self.session.put(weights, BFP8, memory=memory)

    def by_width(self, columns):
        """A tile row of activations of `columns`, sharded by width over the decoder's cores."""
        return ttnn.create_sharded_memory_config(
            (TILE, columns // self.cores.num_cores), self.cores, ttnn.ShardStrategy.WIDTH,
            use_height_and_width_as_shard_shape=True,
        )  # fmt: skip

    def by_user(self, columns, cores):
        """A tile row of heads per user, sharded over the users' cores."""
        return ttnn.create_sharded_memory_config(
            (TILE, columns), cores, ttnn.ShardStrategy.HEIGHT, use_height_and_width_as_shard_shape=True
        )  # fmt: skip

    def product(self, x, name, fused_activation=None):
        """`x` times weights streamed from the banks, by width in L1."""
        inner, columns = x.shape[-1] // TILE, self.weights[name].shape[-1] // TILE
        count = self.cores.num_cores
        blocks = ttnn.MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig(
            in0_block_w=largest_divisor(inner // count, 8), per_core_M=1, per_core_N=-(-columns // count),
            fused_activation=fused_activation,
        )  # fmt: skip
        return ttnn.linear(
            x, self.weights[name], program_config=blocks, memory_config=ttnn.L1_WIDTH_SHARDED_MEMORY_CONFIG, dtype=BF16,
            compute_kernel_config=self.session.compute(),
        )  # fmt: skip

    def norm(self, x, name):
        """RMS norm of sharded activations."""
        width = x.shape[-1] // TILE // self.cores.num_cores
        blocks = ttnn.LayerNormShardedMultiCoreProgramConfig(
            compute_with_storage_grid_size=[self.cores.x, self.cores.y], subblock_w=largest_divisor(width, 4), block_h=1,
            block_w=width, inplace=False,
        )  # fmt: skip
        return ttnn.rms_norm(
            x, weight=self.norms[name], epsilon=EPSILON, program_config=blocks, memory_config=x.memory_config()
        )  # fmt: skip

    def attention(self, x, cache, positions, turns):
        """Grouped-query attention of a token of each user over its pages."""
        shape = self.shape
        qkv = ttnn.sharded_to_interleaved(self.product(x, "qkv"), L1)
        query, key, value = ttnn.experimental.nlp_create_qkv_heads_decode(
            qkv, num_heads=shape.heads, num_kv_heads=shape.groups, memory_config=ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG
        )
        per_user = query.memory_config().shard_spec.grid
        if not turns:
            turns += self.turns(positions, per_user)
        query = ttnn.experimental.rotary_embedding_llama(query, *turns, is_decode_mode=True)
        key = ttnn.experimental.rotary_embedding_llama(key, *turns, is_decode_mode=True)
        keys, values, index = cache
        ttnn.experimental.paged_update_cache(keys, key, update_idxs_tensor=index, page_table=self.table)
        ttnn.experimental.paged_update_cache(values, value, update_idxs_tensor=index, page_table=self.table)
        mixed = ttnn.transformer.paged_scaled_dot_product_attention_decode(
            query, keys, values, self.table, cur_pos_tensor=index, scale=shape.head**-0.5, memory_config=DRAM
        )
        rectangle = ttnn.CoreGrid(x=8, y=4)  # the library joins heads of no other form
        mixed = ttnn.to_memory_config(mixed, self.by_user(shape.head, rectangle))
        joined = ttnn.experimental.nlp_concat_heads_decode(mixed, num_heads=shape.heads)
        return self.product(ttnn.to_memory_config(joined, self.by_width(shape.width)), "out")

    def turns(self, positions, cores):
        """[cosines, sines, swap matrix] of the users' positions, on the users' cores."""
        put = self.session.put
        rows = [put(one.reshape(1, self.users, 1, -1), memory=self.by_user(self.shape.head, cores))
                for one in rotation(self.shape, positions)]  # fmt: skip
        return [*rows, put(swap_matrix().repeat(1, 1, self.users, 1), memory=self.by_user(TILE, cores))]

    def layer(self, x, cache, positions, turns):
        """A decoder layer."""
        mixed = self.attention(self.norm(x, "norm1"), cache, positions, turns)
        x = self.sum(x, mixed)
        y = self.norm(x, "norm2")
        gated = ttnn.mul(
            self.product(y, "gate"), self.product(y, "up"), input_tensor_a_activations=[ttnn.UnaryOpType.SILU],
            memory_config=ttnn.L1_WIDTH_SHARDED_MEMORY_CONFIG,
        )  # fmt: skip
        return self.sum(x, self.product(gated, "down"))

    def sum(self, x, y):
        """`x` + `y` in the layout of `x`."""
        if y.memory_config() != x.memory_config():
            y = ttnn.to_memory_config(y, x.memory_config())
        return ttnn.add(x, y, memory_config=x.memory_config())


def largest_divisor(number, limit):
    """The largest divisor of a number that is not above the limit."""
    return next(one for one in range(min(number, limit), 0, -1) if number % one == 0)


def decode(session, shape, p):
    """A token of each user through the layers, behind a context of random keys and values."""
    options, users = session.options, session.options.batch
    if users != TILE:
        raise SystemExit(f"llama: the library joins the heads of {TILE} users, not of {users}")
    context = -(-(options.tokens + 1) // PAGE) * PAGE
    positions = torch.full((users,), options.tokens)
    x = torch.randn(1, 1, users, shape.width)
    past = [torch.randn(users, shape.groups, context, shape.head) for _ in range(2)]
    decoder = Decoder(session, shape, p, context)
    index = session.put(positions.to(torch.int32), ttnn.int32, ROWS)
    cache = [session.put(as_pages(one), BFP8) for one in past] + [index]
    begin, turns = session.put(x, memory=decoder.by_width(shape.width)), []

    def step():
        hidden = begin
        for _ in range(options.layers):
            hidden = decoder.layer(hidden, cache, positions, turns)
        return hidden

    hidden = session.repeated(step)

    def expected():
        y, (keys, values) = x[0, 0], past
        for _ in range(options.layers):
            y = reference_layer(y[:, None], p, shape, positions[:1], (keys, values))[:, 0]
        return y

    session.check("hidden states", hidden, expected)
    return ttnn.sharded_to_interleaved(hidden, L1)


def as_pages(cache):
    """users x groups x tokens x head as pages x groups x `PAGE` x head."""
    users, groups, tokens, head = cache.shape
    pages = cache.reshape(users, groups, tokens // PAGE, PAGE, head).transpose(1, 2)
    return pages.reshape(-1, groups, PAGE, head)


# --- prefilling


def prefill_layer(session, x, p, shape, cache, turns):
    """A layer over a prompt; its keys and values go to the cache's pages."""
    compute = session.compute()
    y = ttnn.rms_norm(x, weight=p["norm1"], epsilon=EPSILON)
    qkv = ttnn.linear(y, p["qkv"], compute_kernel_config=compute)
    query, key, value = ttnn.experimental.nlp_create_qkv_heads(
        qkv, num_heads=shape.heads, num_kv_heads=shape.groups, transpose_k_heads=False, memory_config=DRAM
    )
    query = ttnn.experimental.rotary_embedding_llama(query, *turns, is_decode_mode=False)
    key = ttnn.experimental.rotary_embedding_llama(key, *turns, is_decode_mode=False)
    keys, values, table = cache
    ttnn.experimental.paged_fill_cache(keys, ttnn.typecast(key, BFP8), table, batch_idx=0)
    ttnn.experimental.paged_fill_cache(values, ttnn.typecast(value, BFP8), table, batch_idx=0)
    mixed = ttnn.transformer.scaled_dot_product_attention(query, key, value, is_causal=True)
    joined = ttnn.experimental.nlp_concat_heads(mixed)
    x = ttnn.add(x, ttnn.linear(joined, p["out"], compute_kernel_config=compute))
    y = ttnn.rms_norm(x, weight=p["norm2"], epsilon=EPSILON)
    gate, up = (ttnn.linear(y, p[name], compute_kernel_config=compute) for name in ("gate", "up"))
    gated = ttnn.mul(gate, up, input_tensor_a_activations=[ttnn.UnaryOpType.SILU])
    return ttnn.add(x, ttnn.linear(gated, p["down"], compute_kernel_config=compute))


def prefill(session, shape, p):
    """A prompt of one user through the layers."""
    tokens = session.options.tokens
    x, positions = torch.randn(1, 1, tokens, shape.width), torch.arange(tokens)
    on_device = session.put_all(p)
    turns = [session.put(one.reshape(1, 1, tokens, -1)) for one in rotation(shape, positions)] + [
        session.put(swap_matrix())
    ]
    pages = torch.zeros(tokens // PAGE, shape.groups, PAGE, shape.head)
    table = session.put(torch.arange(len(pages), dtype=torch.int32).reshape(1, -1), ttnn.int32, ROWS)
    cache, begin = (session.put(pages, BFP8), session.put(pages, BFP8), table), session.put(x)

    def step():
        hidden = begin
        for _ in range(session.options.layers):
            hidden = prefill_layer(session, hidden, on_device, shape, cache, turns)
        return hidden

    hidden = session.repeated(step)

    def expected():
        y = x[0]
        for _ in range(session.options.layers):
            y = reference_layer(y, p, shape, positions)
        return y

    session.check("hidden states", hidden, expected)
    return ttnn.slice(hidden, [0, 0, tokens - TILE, 0], [1, 1, tokens, shape.width])


# --- both


def reference_layer(x, p, shape, positions, past=None):
    """A layer with torch; `x`: sequences x tokens x width, `past`: caches whose entry at the position is the token's own."""
    batch, tokens, _ = x.shape
    y = F.rms_norm(x, (shape.width,), p["norm1"][0], EPSILON) @ p["qkv"]
    parts = y.split([shape.heads * shape.head, shape.groups * shape.head, shape.groups * shape.head], -1)
    query, key, value = (one.reshape(batch, tokens, -1, shape.head).transpose(1, 2) for one in parts)
    query, key = (rotated(one, *rotation(shape, positions)) for one in (query, key))
    if past is not None:
        before = int(positions[0])
        key, value = (torch.cat([old[:, :, :before], new], 2) for old, new in zip(past, (key, value), strict=True))
    mixed = F.scaled_dot_product_attention(query, key, value, is_causal=past is None, enable_gqa=True)
    x = x + mixed.transpose(1, 2).reshape(batch, tokens, -1) @ p["out"]
    y = F.rms_norm(x, (shape.width,), p["norm2"][0], EPSILON)
    return x + (F.silu(y @ p["gate"]) * (y @ p["up"])) @ p["down"]


def vocabulary_scores(session, hidden, width):
    """The last norm, and the product with the vocabulary in two halves."""
    options = session.options
    norm, half = scale(width), options.vocabulary // 2
    weights = matrix(width, options.vocabulary)
    x = ttnn.rms_norm(hidden, weight=session.put(norm), epsilon=EPSILON)
    parts = [
        ttnn.linear(x, session.put(part, BFP8), compute_kernel_config=session.compute()) for part in weights.split(half, -1)
    ]  # fmt: skip
    scores = ttnn.concat(parts, dim=-1)
    rows = ttnn.to_torch(hidden).float() if options.compare else None
    session.check("scores", scores, lambda: F.rms_norm(rows, (width,), norm[0], EPSILON) @ weights)


def run(session):
    """The model; `--layers 0` is all of them."""
    options = session.options
    shape = SIZES[options.size]
    options.layers = options.layers or shape.layers
    step = prefill if options.prefill else decode
    vocabulary_scores(session, step(session, shape, parameters(shape)), shape.width)


if __name__ == "__main__":
    command_line = parser(__doc__, layers=0, batch=32)
    command_line.add_argument("--size", choices=SIZES, default="1b", help="default %(default)s")
    command_line.add_argument("--prefill", action="store_true", help="a prompt of --tokens, of one user")
    command_line.add_argument(
        "--tokens", type=int, default=128, help="in a prompt, or before decoding; default %(default)s"
    )
    command_line.add_argument("--vocabulary", type=int, default=VOCABULARY, help="default %(default)s")
    add_replays(command_line)
    main(run, command_line.parse_args())
