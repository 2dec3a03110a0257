"""Runs RISC-V test programs on a chip: one kernel on one or more cores, without host, dispatcher or compiler."""

from tensim.sim.arch import load_arch
from tensim.sim.chip.chip import Chip
from tensim.sim.chip.launch import KernelLaunch, Launch
from tensim.sim.cores.riscv.program import RiscvKernel
from tensim.sim.cores.slots import BRISC, TRISC0

OUT = 0x20000  # L1 address where test programs leave results
NO_LIMIT = 1 << 60


def launch_of(arch, kernels, **options):
    """A program of `kernels`: {(slot or None, core): ELF, or the ELFs of TRISC0 to 2}."""
    launches = []
    for (slot, core), raw in kernels.items():
        elves = {slot: raw} if slot is not None else {TRISC0 + i: one for i, one in enumerate(raw)}
        kernel = RiscvKernel("kernel", "kernel.cpp", elves, arch)
        compute = options.get("compute")
        launches.append(KernelLaunch(kernel, slot, 0, [core], args={core: options.get("args", [])}, compute=compute))
    buffers, semaphores = options.get("circular_buffers", []), options.get("semaphores", [])
    return Launch("test", launches, circular_buffers=buffers, semaphores=semaphores)


def finish(chip, limit=NO_LIMIT):
    """Run a chip until its program has ended."""
    while not chip.advance(limit):
        pass


def run(raw, arch="wormhole_b0", overrides=None, **options):
    """The chip after one ELF (or a dict as of `launch_of`) has run on BRISC of core 0."""
    arch = load_arch(arch, overrides)
    chip = Chip(arch, **{name: options.pop(name) for name in ("numerics", "max_cycles") if name in options})
    chip.machine["l1_posted"] = options.pop("posted", 0)
    kernels = raw if isinstance(raw, dict) else {(BRISC, 0): raw}
    chip.launch(launch_of(arch, kernels, **options), 0)
    finish(chip)
    return chip


def cycles(chip, thread=BRISC):
    """Cycles from start to end of a thread."""
    t = chip.arrays["threads"][thread]
    return int(t["ended"] - t["started"])


def words(chip, count, core=0, address=OUT):
    """uint32 words that a program has left in L1."""
    return chip.l1[core, address : address + 4 * count].view("uint32").tolist()
