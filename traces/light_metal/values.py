"""Values that several commands of a Light Metal file hold: optional numbers, cores, settings of kernels."""

from tensim.sim.host import commands as c


def place_of(node, field):
    """Where a field of a node stands, as errors say it."""
    return {"offset": node.position, "field": f"{node.table}.{field}"}


def value(table):
    """The number in an optional table, or None."""
    return None if table is None else table.value


def corners(node):
    return (node.start.x, node.start.y, node.end.x, node.end.y)


def ranges(node):
    """Core ranges of a CoreSpec member."""
    if node.table == "CoreCoord":
        return ((node.x, node.y, node.x, node.y),)
    if node.table == "CoreRange":
        return (corners(node),)
    return tuple(corners(core_range) for core_range in node.ranges or ())


def cores_of(node):
    """Cores of a CoreSpec member, row by row."""
    return tuple((x, y) for x0, y0, x1, y1 in ranges(node) for y in range(y0, y1 + 1) for x in range(x0, x1 + 1))


def integers(vector):
    return () if vector is None else tuple(vector.tolist())


def kernel_config(node):
    """The settings record of a KernelConfig member."""
    common = {
        "compile_args": integers(node.compile_args),
        "defines": tuple((define.key, define.value) for define in node.defines or ()),
        "named_compile_args": tuple((arg.name, arg.value) for arg in node.named_compile_args or ()),
    }
    if node.opt_level:
        common["opt_level"] = node.opt_level
    if node.table == "DataMovementConfig":
        return c.DataMovementParameters(node.processor, node.noc, node.noc_mode, **common)
    return c.ComputeParameters(
        node.math_fidelity, node.fp32_dest_acc_en, node.dst_full_sync_en, node.math_approx_mode,
        node.bfp8_pack_precise, integers(node.unpack_to_dest_mode), **common,
    )  # fmt: skip


def circular_buffer_tables(config):
    """(index, data format) pairs, (index, page size) pairs and (index, tile height, tile width) of a CircularBufferConfig."""
    formats, pages = (
        () if vector is None else tuple(map(tuple, vector.tolist()))
        for vector in (config.data_formats, config.page_sizes)
    )
    tiles = () if config.tiles is None else config.tiles.tolist()
    return formats, pages, tuple((index, *map(int, shape)) for index, (shape, _) in tiles)
