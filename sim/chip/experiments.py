"""Changes to what kernels do, to learn how long programs would take: results are not those of the program."""

from tensim.sim.errors import UsageError


def wait_seldom(chip, periods):
    """Let only each n-th read barrier of a kernel wait, in programs from now on; {kernel: n}.

    For experiments: that is how long the program takes when it issues n times as many reads before each barrier; n
    `ONLY_FLUSHED`: when its write barriers wait for writes to leave.  UsageError with numerics on, where data would be used
    before it is there.
    """
    _require_no_data(chip, "barriers cannot be left out")
    chip.loader.barrier_periods = dict(periods)
    chip.loader.forget_images()


def rotate_banks(chip):
    """Let DRAM bank b of worker i be bank b + i, modulo their number, in programs from now on.

    For experiments: that is how long the program takes when each core begins at another bank.  UsageError with numerics on.
    """
    _require_no_data(chip, "banks cannot be exchanged")
    chip.loader.rotate_banks()


def turn_corners(chip):
    """Let a multicast's rectangle have its corners in either order, whichever its NoC goes.

    For experiments: kernels have been put on other NoCs, and their host program would have exchanged the corners.
    """
    chip.arrays.machine["turned_corners"] = 1


def _require_no_data(chip, what):
    if chip.numerics != "off":
        raise UsageError(f"{what} with numerics={chip.numerics}", hint="use numerics=off")
