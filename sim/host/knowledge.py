"""What the host, a queue or an event knows to be over, for the checks of kernels.

Programs of one queue run one after the other; those of two queues of a device come in any order, unless the host has waited
for the one before it issued the other, or an event is between them.  That the workers were busy, or that a transfer took longer,
says nothing: the next run may do it the other way round.
"""

from weakref import WeakKeyDictionary

import numpy as np


class Knowledge:
    """Clocks up to which all is known to be over: a row for each chip that has a checker and several queues.

    A row is int32 of the clocks of `tensim.sim.chip.checks.Checks.clocks_now`; a chip without one has no checker, or one queue.
    """

    def __init__(self):
        self._rows = WeakKeyDictionary()

    def of(self, checks):
        """The row for a chip's checks, which may be changed."""
        if checks not in self._rows:
            self._rows[checks] = np.zeros(checks.n_clocks, np.int32)
        return self._rows[checks]

    def join(self, other):
        """All that another one knows is known here, too."""
        if other is not None and other._rows:
            for checks, row in other._rows.items():
                np.maximum(self.of(checks), row, out=self.of(checks))

    def copy(self):
        """The same, as it is now."""
        made = Knowledge()
        made.join(self)
        return made
