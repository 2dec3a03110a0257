"""Collective operations of the vendor's library on the mesh of the command line, against torch.

Arguments: fabric configuration, rows, columns, operations.
"""

import sys

import torch
import ttnn

ROWS, COLUMNS, NAMES = int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
CHIPS = ROWS * COLUMNS
ttnn.set_fabric_config(getattr(ttnn.FabricConfig, sys.argv[1]))
mesh = ttnn.open_mesh_device(ttnn.MeshShape(ROWS, COLUMNS))
torch.manual_seed(0)


def scattered(values, dim):
    """A tensor of which each chip has a part."""
    mapper = ttnn.ShardTensorToMesh(mesh, dim=dim)
    return ttnn.from_torch(values, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=mesh, mesh_mapper=mapper)


def parts(tensor):
    return [ttnn.to_torch(one) for one in ttnn.get_device_tensors(tensor)]


def numbers(*shape):
    return torch.randint(-8, 8, shape).bfloat16()


def all_gather():
    values = numbers(1, 1, 32 * CHIPS, 128)
    return all(torch.equal(one, values) for one in parts(ttnn.all_gather(scattered(values, 2), dim=2)))


def sum_of_parts(values):
    return sum(values.float().chunk(CHIPS, 2))


def reduce_scatter():
    values = numbers(1, 1, 32 * CHIPS, 128 * CHIPS)
    found = torch.cat(parts(ttnn.reduce_scatter(scattered(values, 2), dim=3)), 3)
    return torch.equal(found.float(), sum_of_parts(values))


def all_reduce():
    values = numbers(1, 1, 32 * CHIPS, 128)
    return all(torch.equal(one.float(), sum_of_parts(values)) for one in parts(ttnn.all_reduce(scattered(values, 2))))


def point_to_point():
    values, last = numbers(1, 1, 32 * CHIPS, 128), ttnn.MeshCoordinate(ROWS - 1, COLUMNS - 1)
    sent = ttnn.point_to_point(scattered(values, 2), ttnn.MeshCoordinate(0, 0), last, topology=ttnn.Topology.Linear)
    return torch.equal(parts(sent)[-1], values[:, :, :32])


def all_broadcast():
    values = numbers(1, 1, 32 * CHIPS, 128)
    return all(
        torch.equal(one, part)
        for tensor, part in zip(ttnn.all_broadcast(scattered(values, 2)), values.chunk(CHIPS, 2), strict=True)
        for one in parts(tensor)
    )


def all_to_all():
    values, rows = numbers(1, 1, 32 * CHIPS, 32 * CHIPS), 32 // CHIPS
    found = parts(ttnn.experimental.all_to_all_async_generic(scattered(values, 2), in_dim=3, out_dim=2))
    own = values.chunk(CHIPS, 2)
    return all(
        torch.equal(one, torch.cat([part[:, :, rows * i : rows * (i + 1)] for part in own], 3))
        for i, one in enumerate(found)
    )


def tensor_parallel_mlp():
    values, up, down = (torch.randn(1, 1, *shape).bfloat16() for shape in ((64, 128), (128, 256), (256, 128)))
    up, down = up / 11, down / 16
    everywhere = ttnn.from_torch(
        values, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=mesh, mesh_mapper=ttnn.ReplicateTensorToMesh(mesh)
    )
    hidden = ttnn.linear(everywhere, scattered(up, 3), activation="gelu")
    found = parts(ttnn.all_reduce(ttnn.linear(hidden, scattered(down, 2))))
    expected = torch.nn.functional.gelu(values.float() @ up.float()) @ down.float()
    return all(torch.corrcoef(torch.stack([one.float().flatten(), expected.flatten()]))[0, 1] > 0.999 for one in found)


def sockets():
    """Tensors through a ring buffer, from the first chip to the last one and back; the second one goes over its end."""
    first, last = (
        mesh.create_submesh(ttnn.MeshShape(1, 1), ttnn.MeshCoordinate(row, column))
        for row, column in ((0, 0), (ROWS - 1, COLUMNS - 1))
    )
    core = ttnn.MeshCoreCoord(ttnn.MeshCoordinate(0, 0), ttnn.CoreCoord(0, 0))
    memory = ttnn.SocketMemoryConfig(ttnn.BufferType.L1, 40960)
    values, right = numbers(1, 1, 32, 512), []
    for begin, end in ((first, last), (last, first)):
        sender, receiver = ttnn.create_socket_pair(
            begin, end, ttnn.SocketConfig([ttnn.SocketConnection(core, core)], memory)
        )
        sent = ttnn.from_torch(values, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=begin)
        found = ttnn.allocate_tensor_on_device(sent.spec, end)
        for _ in range(2):
            ttnn.experimental.send_async(sent, sender)
            ttnn.experimental.recv_async(found, receiver)
            right.append(torch.equal(ttnn.to_torch(found), values))
    return all(right)


for name in NAMES:
    print(name, globals()[name](), flush=True)
ttnn.close_mesh_device(mesh)
