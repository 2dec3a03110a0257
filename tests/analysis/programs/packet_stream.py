"""A stream of packets from one chip to its neighbour: what bounds it depends on their size."""
# ruff: noqa: F403, F405

import numpy as np

import tensim as tt
from tensim.examples import ExampleResult
from tensim.fabric_api import *

AXES = "NB"  # packets, bytes of each
SHAPE = "200x14336"
MESH = {"board": "p150_x2", "links": 1, "packet_bytes": 14336}
SOURCE, TARGET, HEADER, ARRIVED = 0x60000, 0x70000, 0x50000, 0x58000


@kernel
def send(x, y, first_slot, slot_bytes, slots, notified, credits_at, route, to_x, to_y, packets, size):
    """Send packets, each of which adds one to a word of the receiver behind its payload."""
    credits = get_semaphore(0)
    router = fabric_open(x, y, credits_at, credits)
    fabric_set_fused_atomic_inc(HEADER, route, to_x, to_y, TARGET, size, ARRIVED, 1, 0)
    slot, last = first_slot, first_slot + (slots - 1) * slot_bytes
    for sent in range(packets):
        fabric_wait_for_empty_write_slot(slots, credits, sent)
        fabric_send_payload(router, slot, SOURCE, size)
        fabric_send_header(router, slot, HEADER, notified)
        slot = first_slot if slot == last else slot + slot_bytes
    fabric_close(credits, packets)


@kernel
def receive(packets):
    noc_semaphore_wait_min(ARRIVED, packets)


def run(mesh, *, shape, dtype, fidelity, grid, rng):
    packets, size = shape
    core = tt.CoreCoord(0, 0)
    data = rng.integers(0, 256, size).astype(np.uint8)
    sender, receiver = mesh.devices
    sender.chip.memory.write_l1(0, SOURCE, data.tobytes())
    place = receiver.worker_core_from_logical_core(core)
    for device in (receiver, sender):
        program = tt.create_program()
        tt.create_semaphore(program, tt.CoreRange(core, core), 0)
        kernel = tt.create_kernel(program, send if device is sender else receive, core, tt.WriterDataMovementConfig())
        args = [*mesh.connection(0, "east").args, mesh.line_route(1), place.x, place.y, packets, size]
        tt.set_runtime_args(program, kernel, core, args if device is sender else [packets])
        tt.enqueue_program(device.command_queue(), program, False)
    for device in mesh.devices:
        tt.finish(device.command_queue())
    found = np.frombuffer(receiver.chip.memory.read_l1(0, TARGET, size), np.uint8)
    return ExampleResult(data, found, 0.0, 0, packets * size, "packets to the neighbour")
