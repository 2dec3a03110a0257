"""Latency and rate of packets from one end of a line of chips to the other, on whatever device the library finds.

Arguments: chips, largest payload of the fabric, then sizes of payloads.  Prints a line of JSON for each size: cycles there and back
without the other worker's, cycles a packet when one chip sends and when both do, whether the bytes are right.
"""

import json
import statistics
import sys
from pathlib import Path

import torch
import ttnn

KERNEL = Path(__file__).parent / "kernels" / "fabric_worker.cpp"
PING, PONG, STREAM, SINK = range(4)
ROUNDS, PACKETS = 20, 128
# Words of a worker's memory; where cycles of rounds, the payload and what arrives begin
WORDS, TIMES, SOURCE, ARRIVALS = 12 * 1024, 64, 256, 256 + 4 * 1024

chips, largest, *sizes = map(int, sys.argv[1:])
last = chips - 1
settings = ttnn.FabricRouterConfig()
settings.max_packet_payload_size_bytes = largest
ttnn.set_fabric_config(ttnn.FabricConfig.FABRIC_1D, router_config=settings)
mesh = ttnn.open_mesh_device(ttnn.MeshShape(1, chips))
core = ttnn.CoreCoord(0, 0)
cores = ttnn.CoreRangeSet([ttnn.CoreRange(core, core)])
shard = ttnn.ShardSpec(cores, [1, WORDS], ttnn.ShardOrientation.ROW_MAJOR)
memory_config = ttnn.MemoryConfig(ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.BufferType.L1, shard)
place = mesh.worker_core_from_logical_core(core)


def memory():
    """A worker's memory on each chip: a payload that differs from word to word, else zeros."""
    words = torch.zeros(1, WORDS, dtype=torch.int32)
    words[0, SOURCE:ARRIVALS] = torch.arange(SOURCE, ARRIVALS)
    return ttnn.from_torch(
        words, dtype=ttnn.uint32, layout=ttnn.ROW_MAJOR_LAYOUT, device=mesh, memory_config=memory_config,
        mesh_mapper=ttnn.ReplicateTensorToMesh(mesh),
    )  # fmt: skip


def run(roles, size, rounds):
    """Words of all chips' memories after some workers, {chip: role}, have done their rounds."""
    tensors, program = (memory(), memory()), ttnn.MeshProgramDescriptor()
    for chip, role in roles.items():
        here, there = (ttnn.MeshCoordinate(0, one) for one in (chip, 1 if chip == 0 else chip - 1))
        one = ttnn.ProgramDescriptor(kernels=[], semaphores=[], cbs=[])
        nodes = mesh.get_fabric_node_id(here), mesh.get_fabric_node_id(there)
        connection = ttnn.setup_fabric_connection(*nodes, 0, one, core)
        arguments = [tensors[0].buffer_address(), size, rounds, place.x, place.y, role, last, *connection]
        one.kernels = [
            ttnn.KernelDescriptor(
                kernel_source=str(KERNEL), core_ranges=cores, compile_time_args=[], runtime_args=[(core, arguments)],
                config=ttnn.WriterConfigDescriptor(),
            )
        ]  # fmt: skip
        program[ttnn.MeshCoordinateRange(here, here)] = one
    ttnn.generic_op(list(tensors), program)
    return [ttnn.to_torch(one).flatten().tolist() for one in ttnn.get_device_tensors(tensors[0])]


def cycles_of_packets(words):
    """Of the second half of a stream, when slots of both routers are in use."""
    times = words[TIMES : TIMES + PACKETS]
    return (times[-1] - times[PACKETS // 2]) / (PACKETS - 1 - PACKETS // 2)


for size in sizes:
    ping, *_, pong = (words[TIMES : TIMES + ROUNDS] for words in run({0: PING, last: PONG}, size, ROUNDS))
    trip = statistics.median(there - here for there, here in zip(ping, pong, strict=True))
    sender, *_, receiver = run({0: STREAM, last: SINK}, size, PACKETS)
    payload = sender[SOURCE : SOURCE + size // 4]
    right = receiver[ARRIVALS : ARRIVALS + size // 4] == payload and payload[-1] == PACKETS
    one, *_, other = run({0: STREAM, last: STREAM}, size, PACKETS)
    both = max(cycles_of_packets(one), cycles_of_packets(other))
    found = {"size": size, "round_trip": trip, "packet": cycles_of_packets(sender), "both": both, "right": right}
    print(json.dumps(found), flush=True)
ttnn.close_mesh_device(mesh)
