"""Commands on global semaphores.

The functions named like commands are handlers of the executor: they take it and a record.
"""

from tensim.sim.errors import UsageError
from tensim.sim.host import metal_trace
from tensim.sim.host.buffers import L1, L1_SMALL, expand
from tensim.sim.host.program import check_semaphore_value

SEMAPHORE_BYTES = 4


class GlobalSemaphore:
    """A semaphore that outlives programs: one word at the same L1 address of its cores."""

    def __init__(self, device, cores, address, buffer_type):
        self.device, self.cores, self.address, self.buffer_type = device, cores, address, buffer_type


def create_global_semaphore(executor, r):
    device, cores = executor.device(r.device), expand(r.cores)
    device.check_cores(cores, "global semaphore")
    if not cores or r.buffer_type not in (L1, L1_SMALL):
        raise UsageError("a global semaphore needs cores and lies in L1 or L1_SMALL")
    check_semaphore_value(r.initial)
    executor.host.charge("call")
    address = device.allocators[r.buffer_type].allocate(SEMAPHORE_BYTES)
    semaphore = executor.global_semaphores[r.semaphore] = GlobalSemaphore(device, cores, address, r.buffer_type)
    _write_semaphore(executor, semaphore, r.initial)
    metal_trace.warn_of_allocation(device, f"global semaphore {r.semaphore}")
    return semaphore


def reset_global_semaphore(executor, r):
    semaphore = executor.global_semaphores[r.semaphore]
    executor.device(semaphore.device.id)
    check_semaphore_value(r.value)
    executor.host.charge("enqueue_transfer")
    _write_semaphore(executor, semaphore, r.value)


def _write_semaphore(executor, semaphore, value):
    device = semaphore.device
    executor.catch_up(device)
    if device.follows_queues:
        device.chip.checks.host_signals()
    for core in semaphore.cores:
        device.write_l1(device.worker(core), semaphore.address, value.to_bytes(SEMAPHORE_BYTES, "little"))


def delete_global_semaphore(executor, r):
    semaphore = executor.global_semaphores.pop(r.semaphore, None)
    if semaphore is not None and executor.devices.get(semaphore.device.id) is semaphore.device:
        semaphore.device.allocators[semaphore.buffer_type].free(semaphore.address)
