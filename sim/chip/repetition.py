"""Programs that run again and again: the clock that power management leaves under their load, and the gap between two.

One run is simulated at the full clock, as a chip begins.  In loops of milliseconds (n150) to seconds (p150) the clock falls
with what the units of the Tensix engines do: with each of three (unpackers, math, packers) that all cores keep busy by
`clock.load_drop`, after `clock.full_clock_ms`.  Traced operations follow each other after `dispatch.op_gap_ns`.
"""

from tensim.sim.chip import statistics


def load(chip, cycles):
    """How many units of a core are busy, 0 to 3: unpackers, math (matrix or vector unit), packers, mean of all cores."""
    busy = statistics.unit_utilization(chip, cycles)
    used = len(chip.compute_cores) / len(chip.arch.worker_coords)
    return used * sum(busy[unit] for unit in ("unpack", "fpu", "sfpu", "pack"))


def lasting_mhz(arch, busy_units):
    """The clock under a load that lasts; `busy_units`: of `load`."""
    return arch.clock_mhz * (1 - arch["clock.load_drop"] * busy_units)


def run_ns(arch, program_ns, busy_units, runs):
    """Mean ns of a program in a loop of `runs`; `program_ns`: of one at the full clock, without the gap."""
    slow = arch.clock_mhz / lasting_mhz(arch, busy_units)
    full_ns = min(program_ns, arch["clock.full_clock_ms"] * 1e6 / runs)
    return full_ns + (program_ns - full_ns) * slow


def lasting(chip, cycles):
    """{"load", "clock_mhz", "device_seconds", "op_gap_seconds"}: what `cycles` of programs take under lasting load, and the
    time between two operations of a trace, which comes on top.
    """
    busy_units = load(chip, cycles)
    mhz = lasting_mhz(chip.arch, busy_units)
    return {
        "load": busy_units,
        "clock_mhz": mhz,
        "device_seconds": cycles / (mhz * 1e6),
        "op_gap_seconds": chip.arch["dispatch.op_gap_ns"] * 1e-9,
    }
