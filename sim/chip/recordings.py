"""What a chip records when it is asked to: spans of its threads, and their NoC calls."""

import numpy as np

from tensim.sim import state as st
from tensim.sim.cores.noc_record import ARRIVED

LOG_ENTRIES = 1 << 18


class Recordings:
    """The recorded spans and calls of `chip`, a `Chip`; its machine holds the last of them until it is full."""

    def __init__(self, chip):
        self._chip, self._spans, self._calls = chip, [], []

    def enable_log(self):
        """Record every span of every thread from now on (for the timeline)."""
        self._chip.arrays.place("log", np.zeros(LOG_ENTRIES, st.LOG), "log_capacity")
        self._chip.machine["log_on"], self._chip.host_log.on = 1, True

    def log(self):
        """The recorded spans (`state.LOG` records), in order."""
        self._chip.drain_logs()
        return np.concatenate(self._spans)

    def record_noc(self):
        """Record every NoC call of every data-movement thread from now on (for NoC event traces)."""
        self._chip.arrays.place("noc_calls", np.zeros(LOG_ENTRIES, st.NOC_CALL), "noc_calls_capacity")
        self._chip.machine["record_on"] = 1

    def noc_calls(self):
        """The recorded calls and zones (`state.NOC_CALL` records), in the order in which they were posted."""
        record = self.noc_record()
        return record[record["moment"] != ARRIVED]

    def noc_record(self):
        """The recorded calls, zones and arrivals (`tensim.sim.cores.noc_record`), in the order in which they were noted."""
        self._chip.drain_logs()
        return np.concatenate(self._calls)

    def drain(self):
        """Take what the machine has recorded, so that it has room."""
        arrays, machine = self._chip.arrays, self._chip.machine
        self._spans.append(arrays["log"][: int(machine["n_log"])].copy())
        self._calls.append(arrays["noc_calls"][: int(machine["n_noc_calls"])].copy())
        machine["n_log"] = machine["n_noc_calls"] = 0
