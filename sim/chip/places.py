"""Names of cores and formats, and where threads stand, for messages."""

from tensim.sim.cores.numerics.data_format import DataFormat
from tensim.sim.cores.slots import THREAD_NAMES

FORMAT_NAMES = {int(one): one.name for one in DataFormat}


def core_name(chip, core):
    """Logical coordinates of a worker core, for messages."""
    return f"({core % chip.arch.grid[0]},{core // chip.arch.grid[0]})"


def format_name(code):
    """A data format by its code, or the code that is none."""
    return FORMAT_NAMES.get(code, str(code))


def thread_place(chip, index, line=None, line_base=None):
    """Where a thread stands, or was at a row `line`: core, thread, kernel file and line, for messages.

    `line_base`: of the lines of the kernel that it ran then.
    """
    t = chip.arrays["threads"][index]
    if t["core"] >= chip.n_workers:
        return {"core": chip.routers.name(int(t["core"])), "thread": "router", "cycle": chip.cycle}
    place = {"core": core_name(chip, int(t["core"])), "thread": THREAD_NAMES[int(t["slot"])], "cycle": chip.cycle}
    program = chip.line_programs.get(int(t["line_base"]) if line_base is None else line_base)
    if program is not None:
        place |= {"kernel": program.name} | program.place(int(t["line"]) if line is None else line)
    return place
