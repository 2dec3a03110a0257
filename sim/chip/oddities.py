"""What programs did on a chip that it lets pass, though it is hardly meant: by kernel line, for reports.

With checks on the first such thing stops the program instead (docs/checks.md#what-is-odd).
"""

import numpy as np

from tensim.sim.chip.failures import describe
from tensim.sim.chip.places import thread_place
from tensim.sim.cores import context as ctx
from tensim.sim.cores.faults import Fault
from tensim.sim.cores.oddities import ODDITY, PLACES
from tensim.sim.cores.slots import THREADS_PER_CORE

SHOWN = 8  # of them as warnings


class Oddities:
    """Those of `chip`, a `tensim.sim.chip.chip.Chip`: emptied from the machine's table, and put together by line."""

    def __init__(self, chip):
        self._chip = chip
        self._table = chip.arrays.place("oddities", np.zeros(PLACES, ODDITY))
        self._found = {}  # (kind, kernel, file, line, thread) -> [row of `rows`, cores]
        self._known = {}  # (kind, first row of the kernel in the line table, row, thread) -> its key in `_found`
        self._told = set()  # keys of those that a report has had

    def drain(self):
        """Take over what the machine has noted since the last time."""
        self._drain_contexts()
        if self._chip.machine["n_oddities"] == 0:
            return
        noted = self._table[self._table["code"] != 0]
        for one in np.sort(noted, order=("cycle", "thread", "line")).tolist():
            self._add(*one)
        self._table[:] = 0
        self._chip.machine["n_oddities"] = 0

    def _drain_contexts(self):
        """Runtime arguments that Python kernels have read and nobody had set: those count for themselves."""
        contexts, threads = self._chip.arrays["contexts"], self._chip.arrays["threads"]
        for thread in np.flatnonzero(contexts[:, ctx.UNSET_READS]).tolist():
            words = contexts[thread]
            given = int(words[ctx.N_ARGS]), int(words[ctx.N_COMMON_ARGS])
            self._add(
                int(Fault.ARGUMENT_UNSET), thread, int(words[ctx.UNSET_LINE]), int(threads[thread]["line_base"]),
                self._chip.cycle, int(words[ctx.UNSET_INDEX]), *given, int(words[ctx.UNSET_READS]),
            )  # fmt: skip
            words[ctx.UNSET_READS] = 0

    def _add(self, code, thread, line, line_base, cycle, a, b, c, count):
        known = code, line_base, line, thread
        if known not in self._known:
            place = thread_place(self._chip, thread, line, line_base) | {"cycle": cycle}
            key = code, place.get("kernel"), place.get("file"), place.get("line"), place["thread"]
            if key not in self._found:
                message = describe(self._chip, Fault(code), a, b, c)
                self._found[key] = {"kind": Fault(code).name.lower(), "message": message, "count": 0} | place, set()
            self._known[known] = key
        row, cores = self._found[self._known[known]]
        row["count"] += count
        cores.add(thread // THREADS_PER_CORE)

    def counts(self):
        """{key: count} as they stand, for `rows`."""
        self.drain()
        return {key: row["count"] for key, (row, _) in self._found.items()}

    def rows(self, before=()):
        """A dict per kind and kernel line: "kind", "message", "count", "cores" (number of them), the place of the first.

        `before`: `counts` of an earlier moment, which are left out.
        """
        self.drain()
        self._told |= self._found.keys()
        counts = {key: row["count"] - dict(before).get(key, 0) for key, (row, _) in self._found.items()}
        return [
            row | {"count": counts[key], "cores": len(cores)}
            for key, (row, cores) in self._found.items()
            if counts[key] > 0
        ]

    def untold(self):
        """Warnings of what no report has had, when the chip is closed."""
        return odd_warnings(
            [row | {"cores": len(cores)} for key, (row, cores) in self._found.items() if key not in self._told]
        )


def odd_warnings(rows):
    """What a report says of the rows of `Oddities`."""
    texts = [
        f"odd, but the chip goes on: {row['message']}; {row['count']:,} times on {_number(row['cores'], 'core')}, first at "
        f"{row.get('file', '')}:{row.get('line', '')} [core {row['core']}, thread {row['thread']}, cycle {row['cycle']}]"
        for row in rows[:SHOWN]
    ]
    if len(rows) > SHOWN:
        texts.append(f"{_number(len(rows) - SHOWN, 'more kind')} of what is odd at other lines: the JSON has all")
    return texts


def _number(count, what):
    return f"{count} {what}{'' if count == 1 else 's'}"
