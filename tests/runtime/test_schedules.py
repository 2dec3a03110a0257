"""The golden schedules G1-G6, G10 and G12 of docs/hardware/runtime.md#golden-schedules: exact simulated times.

Host, dispatch and PCIe overheads are nothing, so that only the work itself takes time: preparation P on the host, upload U
and readback D over PCIe, a program of R on the chip.
"""

import numpy as np
import pytest

import tensim as tt
from tensim.kernel_api import kernel, riscv_wait
from tensim.runtime import (
    Binary,
    DType,
    Layout,
    MemSpace,
    ProgramInfo,
    System,
    SystemConfig,
    Tensor,
    TensorDesc,
    TensorInfo,
    Variant,
    submit,
    to_layout_into,
    wait,
)

US = 1000  # ns
N = 8
P, U, R, D = 40, 30, 100, 20
ROWS, COLUMNS = 256, 1024
DESC = TensorDesc((ROWS, COLUMNS), DType.F32)
BYTES = DESC.nbytes
DRAM = Layout(MemSpace.DRAM)
QUEUE0, QUEUE1 = 1, 2


@kernel
def busy(cycles):
    riscv_wait(cycles)


def busy_program(cycles):
    def build(device, inputs, outputs):
        program = tt.create_program()
        reader = tt.create_kernel(program, busy, tt.CoreCoord(0, 0), tt.ReaderDataMovementConfig())
        tt.set_runtime_args(program, reader, tt.CoreCoord(0, 0), [cycles])
        return program

    return build


def pipeline(cycles, name="stage"):
    info = TensorInfo("x", DESC, DRAM)
    return Binary([ProgramInfo(name, (info,), (TensorInfo("y", DESC, DRAM),), (Variant("sim", busy_program(cycles)),))])


@pytest.fixture(scope="module")
def overhead():
    """Cycles that a program takes beyond its wait."""
    with ideal() as system:
        device = system.open("sim://wormhole_b0")
        done = run(device, pipeline(1000), device_tensor(device))
        wait(done)
        return round(done.event.t_end - done.event.t_start) - 1000


def ideal(upload=U, download=D, overheads=False):
    rates = {"pcie.write_bytes_per_ns": BYTES / (upload * US), "pcie.read_bytes_per_ns": BYTES / (download * US)}
    return System(SystemConfig(ideal=not overheads, overrides=rates))


def device_tensor(device):
    return Tensor.empty(DESC, DRAM, device)


def run(device, binary, x, y=None, queue=QUEUE0):
    return submit(device, binary, 0, [x], outputs=None if y is None else [y], queue=queue)


def upload(system, host, target, queue, prepare=P):
    system.timeline_host.compute(prepare * US)
    return to_layout_into(target, host, queue=queue)


def schedule(overhead, body, upload=U, download=D):
    """Simulated us from the first call to the end of all work."""
    with ideal(upload, download) as system:
        device = system.open("sim://wormhole_b0")
        host = Tensor.from_numpy(np.arange(ROWS * COLUMNS, dtype=np.float32).reshape(DESC.shape))
        binary, begun = pipeline(R * US - overhead), system.host_ns
        body(system, device, binary, host)
        system.drain()
        return (system.host_ns - begun) / US


def eager(system, device, binary, host):
    x, y = device_tensor(device), device_tensor(device)
    for _ in range(N):
        wait(upload(system, host, x, QUEUE0))
        wait(run(device, binary, x, y))
        wait(y.to_host(queue=QUEUE0))


def one_queue(system, device, binary, host):
    x, y = device_tensor(device), device_tensor(device)
    for _ in range(N):
        upload(system, host, x, QUEUE0)
        run(device, binary, x, y)
        y.to_host(queue=QUEUE0)


def test_waiting_after_every_step(overhead):  # G1
    assert schedule(overhead, eager) == N * (P + U + R + D) == 1520


def test_one_queue_hides_the_preparation(overhead):  # G2
    assert schedule(overhead, one_queue) == P + N * (U + R + D) == 1240


def two_queues(inputs, outputs, reads_on):
    """Queue 1 writes; queue 0 runs, and `reads_on` reads back.  The next write is enqueued before the read."""

    def body(system, device, binary, host):
        xs = [device_tensor(device) for _ in range(inputs)]
        ys = [device_tensor(device) for _ in range(outputs)]
        upload(system, host, xs[0], QUEUE1)
        for n in range(N):
            x, y = xs[n % inputs], ys[n % outputs]
            run(device, binary, x, y)
            if n + 1 < N and reads_on == QUEUE1:
                upload(system, host, xs[(n + 1) % inputs], QUEUE1)
            y.to_host(queue=reads_on)
            if n + 1 < N and reads_on == QUEUE0:
                upload(system, host, xs[(n + 1) % inputs], QUEUE1)

    return body


def test_writes_overlap_readbacks(overhead):  # G3
    expected = P + U + N * R + (N - 1) * max(U, D) + D
    assert schedule(overhead, two_queues(1, 1, QUEUE0)) == expected == 1100


def test_two_inputs_let_writes_overlap_programs(overhead):  # G4
    expected = P + U + N * max(P, U, R + D)
    assert schedule(overhead, two_queues(2, 1, QUEUE0)) == expected == 1030


def test_two_outputs_let_readbacks_overlap_programs(overhead):  # G5
    expected = P + U + N * max(P, R, U + D) + D
    assert schedule(overhead, two_queues(2, 2, QUEUE1)) == expected == 890


def test_with_one_input_and_output_the_overlap_is_lost(overhead):  # G6
    assert schedule(overhead, two_queues(1, 1, QUEUE1)) == 1240


def test_more_overlap_is_never_slower_with_overheads():  # T8
    def total(body):
        with ideal(80, 70, overheads=True) as system:  # above the cost of the pages, in the same order as U and D
            device = system.open("sim://wormhole_b0")
            host = Tensor.from_numpy(np.zeros(DESC.shape, np.float32))
            begun = system.host_ns
            body(system, device, pipeline(R * US), host)
            system.drain()
            return system.host_ns - begun

    g = [eager, one_queue, two_queues(1, 1, QUEUE0), two_queues(2, 1, QUEUE0), two_queues(2, 2, QUEUE1)]
    times = [total(body) for body in g]
    assert times == sorted(times, reverse=True) and len(set(times)) == len(times)


def test_uploads_share_a_direction_of_pcie(overhead):  # G10
    def together(system, device, binary, host):
        a, b = device_tensor(device), device_tensor(device)
        to_layout_into(a, host, queue=QUEUE0)
        to_layout_into(b, host, queue=QUEUE1)

    def opposite(system, device, binary, host):
        a, b = device_tensor(device), device_tensor(device)
        to_layout_into(a, host, queue=QUEUE0)
        b.to_host(queue=QUEUE1)

    assert schedule(overhead, together, 30, 30) == 60
    assert schedule(overhead, opposite, 30, 30) == 30


def test_resident_weights_are_uploaded_once(overhead):  # G12
    W = 60

    def rewritten(system, device, binary, host):
        weights = Tensor.from_numpy(np.zeros((2 * ROWS, COLUMNS), np.float32))
        w = Tensor.empty(weights.desc, DRAM, device)
        x, y = device_tensor(device), device_tensor(device)
        for n in range(N):
            if n == 0 or not body_is_resident:
                to_layout_into(w, weights, queue=QUEUE0)
            upload(system, host, x, QUEUE0, prepare=0)
            run(device, binary, x, y)
            y.to_host(queue=QUEUE0)

    body_is_resident = False
    assert schedule(overhead, rewritten) == N * (W + U + R + D) == 1680
    body_is_resident = True
    assert schedule(overhead, rewritten) == W + N * (U + R + D) == 1260
