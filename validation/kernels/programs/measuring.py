"""How the programs are measured: launches under the device profiler, read as the tests of the originals read them."""

import contextlib
import importlib
import os

import tensim.ttnn as ttnn
from tensim.ttnn import devices
from tensim.ttnn.queues import PROFILER_VARIABLES

KERNEL = "DEVICE KERNEL DURATION [ns]"
LAUNCHES = 3  # whose mean is taken, behind one that warms up: DRAM refreshes at other times in each


def time_ns(name, arch, options, metric):
    """ns that a row of the program of a module states; one launch does for a time of one of its many iterations."""
    program, named = importlib.import_module(f"tensim.validation.kernels.{name}"), dict(options)
    is_long = getattr(program, "PER_ITERATION", False)
    with profiled_device(arch, getattr(program, "NUMERICS", "off")) as device:
        launch = program.prepared(device, **named)
        if is_long:
            return _mean_ns(device, launch, 1, metric) / named["kernel_iters"]
        launch()
        return _mean_ns(device, launch, LAUNCHES, metric)


def _mean_ns(device, launch, launches, metric):
    ttnn.ReadDeviceProfiler(device)
    for _ in range(launches):
        launch()
    ttnn.ReadDeviceProfiler(device)
    ran = ttnn.get_latest_programs_perf_data()[device.get_device_ids()[0]]
    return sum(item.program_analyses_results[metric].duration for item in ran) / launches


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
