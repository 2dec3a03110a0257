"""How busy links and DRAM channels are over time: counters of the engine, looked at in windows of a run.

A recorder keeps at most `MOST_WINDOWS` windows; when they are full it joins them by twos, so that a run of any length costs
the same few looks.  What the engine has booked ahead counts from the window in which it was booked; `shares` moves it to
those in which it is served.
"""

import numpy as np

MOST_WINDOWS = 32
FIRST_WINDOW = 2048  # cycles
NEVER = 1 << 62
COUNTERS = (("links", "flits"), ("links", "stall"), ("channels", "busy"), ("channels", "waited"))


class OccupancyRecorder:
    """Counters of `arrays` (`tensim.sim.chip.arrays.MachineArrays`) at equal distances from the start of the first program on.

    `next`: the cycle at which `look` is due.
    """

    def __init__(self, arrays):
        self._arrays = arrays
        self.forget()

    def forget(self):
        """Nothing has run."""
        self.start, self.width, self.next, self._looks = None, FIRST_WINDOW, NEVER, []

    def begin(self, cycle):
        """A program starts at `cycle`."""
        if self.start is None:
            self.start, self.next = cycle, cycle + self.width
            self._looks = [self._counters()]

    def _counters(self):
        return [self._arrays[table][counter].copy() for table, counter in COUNTERS]

    def look(self, cycle):
        """The chip has done everything before `cycle`, which is `next` or later."""
        counters = self._counters()
        while self.next <= cycle:
            self._looks.append(counters)
            if len(self._looks) > MOST_WINDOWS:
                self._looks, self.width = self._looks[::2], 2 * self.width
            self.next = self.start + len(self._looks) * self.width

    def windows(self, end):
        """(first cycles and last one of the windows up to cycle `end`, {(table, counter): array (windows, entries)})."""
        edges = [self.start + number * self.width for number in range(len(self._looks))]
        looks = self._looks + [self._counters()] if end > edges[-1] else self._looks
        edges += [end] if end > edges[-1] else []
        moved = {name: np.diff([look[place] for look in looks], axis=0) for place, name in enumerate(COUNTERS)}
        return np.array(edges), moved


def shares(booked, widths):
    """Shares of windows (windows, entries) for which links or channels are busy, of cycles of work booked in them.

    What does not fit into a window is served in the next ones.
    """
    left, found = np.zeros(booked.shape[1:]), np.zeros(booked.shape)
    for number, width in enumerate(widths):
        left = left + booked[number]
        served = np.minimum(left, width)
        found[number], left = served / width, left - served
    return found
