"""How the programs are measured: launches under the device profiler, read as the tests of the originals read them."""

import contextlib
import os

import tensim.ttnn as ttnn
from tensim.ttnn import devices
from tensim.ttnn.queues import PROFILER_VARIABLES

KERNEL = "DEVICE KERNEL DURATION [ns]"


@contextlib.contextmanager
def profiled_device(arch, numerics="off"):
    """A device of a chip, with the profiler on."""
    before = devices.configure(arch=arch, numerics=numerics)
    environment = {name: os.environ.get(name) for name in PROFILER_VARIABLES}
    os.environ.update(dict.fromkeys(PROFILER_VARIABLES, "1"))
    device = ttnn.open_device(device_id=0)
    try:
        yield device
    finally:
        ttnn.close_device(device)
        devices.configure(arch=before.arch, numerics=before.numerics)
        for name, value in environment.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def duration_ns(device, launch, metric=KERNEL):
    """Duration of one launch behind one that warms up."""
    launch()
    ttnn.ReadDeviceProfiler(device)
    launch()
    ttnn.ReadDeviceProfiler(device)
    (program,) = ttnn.get_latest_programs_perf_data()[device.get_device_ids()[0]]
    return float(program.program_analyses_results[metric].duration)
