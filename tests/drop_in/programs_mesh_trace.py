"""An element-wise operation, a collective one and a trace of both on a line of chips, as a program of the vendor's library
uses them by fast dispatch.

Argument: chips.
"""

import sys

import torch
import ttnn

REPLAYS, CHIPS = 3, int(sys.argv[1])
ttnn.set_fabric_config(ttnn.FabricConfig.FABRIC_1D)
mesh = ttnn.open_mesh_device(ttnn.MeshShape(1, CHIPS), trace_region_size=1 << 20)
torch.manual_seed(0)
values = torch.randint(-8, 8, (1, 1, 32 * CHIPS, 64)).bfloat16()
mapper = ttnn.ShardTensorToMesh(mesh, dim=2)


def on_host(content):
    return ttnn.from_torch(content, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, mesh_mapper=mapper)


def right(tensor, expected):
    return all(torch.equal(ttnn.to_torch(one), expected) for one in ttnn.get_device_tensors(tensor))


def gathered_sums():
    return ttnn.all_gather(ttnn.add(x, x), dim=2)


x = on_host(values).to(mesh)
print("gathered sums", right(gathered_sums(), 2 * values), flush=True)
trace = ttnn.begin_trace_capture(mesh, cq_id=0)
y = gathered_sums()
ttnn.end_trace_capture(mesh, trace, cq_id=0)
replays = []
for replay in range(REPLAYS):
    ttnn.copy_host_to_device_tensor(on_host(values + replay), x)
    ttnn.execute_trace(mesh, trace, cq_id=0, blocking=False)
    replays.append(right(y, 2 * (values + replay)))
print("replays", replays, flush=True)
ttnn.release_trace(mesh, trace)
ttnn.close_mesh_device(mesh)
