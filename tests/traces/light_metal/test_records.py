"""Every command record through the file format and back."""

from types import SimpleNamespace

import pytest

from tensim.sim.cores.kernels.compiler import kernel_from_source
from tensim.sim.errors import BinaryError
from tensim.sim.host import commands as c
from tensim.traces.flatbuffers.tables import Node
from tensim.traces.light_metal.binary import Binary
from tensim.traces.light_metal.read import Decoder, Names, device_record
from tensim.traces.light_metal.write import COMMANDS, BinaryWriter

SOURCE = "@kernel\ndef nothing(a):\n    riscv_wait(a)\n"
KERNEL = kernel_from_source(SOURCE)
GRID = ((0, 0, 1, 0), (3, 4, 5, 6))
SHARD = c.ShardParameters(GRID, (64, 32), False, (32, 32), (4, 1))
SPREAD = c.ShardParameters(((0, 0, 0, 0), (2, 1, 2, 1)), (1, 2, 3), True, (1, 1, 1), (2, 4, 6), True)
DATA_MOVEMENT = c.DataMovementParameters(1, 1, 1, (1, 2**32 - 1), (("A", "1"), ("B", "")), (("n", -5),))
COMPUTE = c.ComputeParameters(2, True, False, True, True, (0, 1), (7,), (("X", "y"),), (("m", 2**40),))

# Records that must exist before others, then records whose round trip is tested.  Ids: 1 buffer, 2 program, 3 event,
# 4 global semaphore, 5 sub-device manager; kernel, circular buffer and semaphore 0 of program 2.
BASE = [
    c.CreateBuffer(0, 1, 4096, 64, 0, 0),
    c.CreateProgram(2),
    c.CreateKernel(2, KERNEL, GRID, DATA_MOVEMENT),
    c.CreateCircularBuffer(2, GRID, 4096, ((0, 5), (31, 24)), ((0, 2048), (31, 4096)), ((0, 32, 16),)),
    c.CreateSemaphore(2, GRID, 7),
    c.RecordEvent(0, 1, 3, (0, 2, 5)),
    c.CreateGlobalSemaphore(0, 4, GRID, 9, 1),
    c.CreateSubDeviceManager(0, 5, (GRID, ((7, 7, 7, 7),)), 4096),
]
RECORDS = [
    *BASE,
    c.CloseDevice(3),
    c.StartFabric((2, 2), "1d", (2, 4, 2), 2, False, True, False, 4096, False),
    c.StartFabric((1, 2), "2d", (1, 2, 4), 3, True, False, True, None, True),
    c.CreateBuffer(1, 6, 3 << 30, 1 << 31, 0, 0, None, 4096, True, 2),
    c.CreateBuffer(0, 6, 8192, 2048, 1, 2, SHARD, None, False, 0),
    c.CreateBuffer(0, 6, 8192, 2048, 1, 4, SPREAD),
    c.DeallocateBuffer(1),
    c.DeleteBuffer(1),
    c.WriteBuffer(0, 1, 1, bytes(range(64)), 128, True),
    c.WriteBuffer(0, 0, 1, b"odd", 0, False),
    c.WriteBuffer(0, 0, 1, b"", 0, False),
    c.ReadBuffer(0, 1, 1, 64, 128, False),
    c.WriteDirect(1, b"12345"),
    c.ReadDirect(1),
    c.DeleteProgram(2),
    c.CreateKernel(2, KERNEL, ((1, 2, 1, 2),), COMPUTE),
    c.CreateKernel(2, KERNEL, ((1, 2, 3, 4),), DATA_MOVEMENT, ((0, 1, 3, 4), (0, 0, 2, 5 | 6 << 16))),
    c.SetRuntimeArgs(2, 0, ((0, 0),), ((1, 2, 3),)),
    c.SetRuntimeArgs(2, 0, ((0, 0), (1, 0)), ((1, 2), (1, 2)), ((0, 1, 0, 1), (1, 1, 0, 1))),
    c.SetRuntimeArgs(2, 0, ((0, 0), (1, 0)), ((1,), (2,)), ((1, 0, 3, 4), (0, 0, 1, 5 | 6 << 16))),
    c.SetRuntimeArgs(2, 0, ((0, 0),), ((),)),
    c.UpdateRuntimeArg(2, 0, (3, 4), 1, 2**32 - 1),
    c.UpdateRuntimeArg(2, 0, None, 0, 5),
    c.UpdateRuntimeArg(2, 0, (3, 4), 1, 32, ((0, 1, 0, 1),)),
    c.SetRuntimeArgs(2, 0, ((0, 0), (1, 0)), ((32,), (32,)), ((1, 0, 0, 1),)),
    c.SetCommonRuntimeArgs(2, 0, (1, 2, 3), ((0, 2, 0, 1),)),
    c.CreateCircularBuffer(2, ((0, 0, 7, 7),), 2048, ((16, 6),), ((16, 1088),), (), 1),
    c.CreateCircularBuffer(2, ((0, 0, 7, 7),), 2048, ((16, 6),), ((16, 1088),), (), 1, 64),
    c.CreateSemaphore(2, GRID, 7, 3),
    c.UpdateCircularBuffer(2, 0, total_size=8192),
    c.UpdateCircularBuffer(2, 0, None, 0, 4096, 1),
    c.AssignBufferToProgram(2, 1),
    c.CompileProgram(0, 2),
    c.ResetGlobalSemaphore(4, 2**32 - 1),
    c.DeleteGlobalSemaphore(4),
    c.EnqueueProgram(0, 1, 2, True),
    c.EnqueueProgram(0, 0, 2, False, joined=True),
    c.WaitForEvent(0, 0, 3),
    c.SynchronizeEvent(3),
    c.QueryEvent(3),
    c.Finish(0, 1, (0, 2, 5)),
    c.Finish(0, None),
    c.LoadSubDeviceManager(0, 5),
    c.LoadSubDeviceManager(0, None),
    c.RemoveSubDeviceManager(0, 5),
    c.SetStallGroup(0, (1, 0)),
    c.SetStallGroup(0, None),
    c.CompareBuffer(0, 1, 1, bytes(64), "name", 0.5, 1e-3, 5),
    c.ReplayTrace(0, 1, 6, True),
    c.ReplayTrace(0, 0, 6, False, joined=True),
    c.ReleaseTrace(0, 6),
    c.CreateHostDevice(256, 4),
    c.CreateEvent(7),
    c.CreateEvent(7, (3,), True),
    c.SignalEvent(3),
    c.SignalEvent(3, "why"),
    c.WaitEvents((3,)),
    c.WaitEvents((3, 3), True, 0),
    c.HostWork(2**60),
    c.EnqueueFunction(0, 1, "convert", None, 12345, (1, 1), False, '{"a": 1}'),
    c.EnqueueFunction(0, 1, "nothing", None, 0),
    c.TransferBuffer(0, 1, 1, 1, "host"),
]


def round_trip(records):
    """Records written to a file and read from it, objects by the ids they had."""
    writer, known = BinaryWriter(), {}
    for record in records:
        result = SimpleNamespace(address=32) if isinstance(record, c.CreateBuffer) else 0
        before = set(writer.ids.items())
        writer.add(record, result)
        for (kind, key), number in set(writer.ids.items()) - before:
            if kind != "payload":
                known[number] = key[1] if isinstance(key, tuple) else key
    binary = Binary(bytes(writer.finish(0, 0, "test")))
    names = Names(None)
    names._known, names.create = {**known, ("trace", 6): 6}, lambda number: known[number]
    decoder, found = Decoder(binary, names, None), []
    decoder.device = None  # the file describes none; its device ids count all the same
    for node in binary.nodes():
        found.append(decoder.record(node))
        decoder.created_as(node, 0)
    return found


def same(a, b):
    """Equal records; kernels are the same text."""
    fields = vars(a) | {"kernel": None} if isinstance(a, c.CreateKernel) else vars(a)
    others = vars(b) | {"kernel": None} if isinstance(b, c.CreateKernel) else vars(b)
    kernels = isinstance(a, c.CreateKernel) and a.kernel.source != b.kernel.source
    return type(a) is type(b) and fields == others and not kernels


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: type(record).__name__)
def test_round_trip(record):
    found = round_trip([*BASE, record])[-1]
    assert same(found, record), f"{found} is not {record}"


def test_every_kind_of_record_is_tested():
    # the device: every capture of an example; loading a trace: tests of traces
    tested = {type(record) for record in RECORDS} | {c.CreateDevice, c.LoadTrace}
    assert set(COMMANDS) == tested


def test_every_record_of_the_executor_can_be_written():
    from tensim.sim.host.handlers import HANDLERS

    traces = {c.BeginTraceCapture, c.EndTraceCapture}  # the file holds the finished trace
    assert set(COMMANDS) == set(HANDLERS) - traces


def test_a_parameter_that_is_no_json_is_refused_by_its_place():
    parameter = Node("ArchParameter", {"key": "noc.hop_cycles", "value": "{3"}, 40)
    with pytest.raises(BinaryError, match="parameter 'noc.hop_cycles' has the value '{3', not JSON") as refused:
        device_record(Node("DeviceDescription", {"arch_name": "blackhole", "parameters": [parameter]}))
    assert refused.value.where == {"offset": 40, "field": "devices.parameters"}
