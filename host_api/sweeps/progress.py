"""How far a sweep is: points, failures, rate and remaining time."""

from __future__ import annotations

import time
from collections.abc import Callable


class Progress:
    """Tells `told(text)` after each point.

    `there`: how many of `total` points need not run; `dropped`: rows that no longer count.
    """

    def __init__(self, total: int, there: int, dropped: int, told: Callable[[str], object] | None) -> None:
        self.total, self.there, self.told = total, there, told or (lambda text: None)
        self.ran, self.failed, self.begun = 0, 0, time.perf_counter()
        if dropped:
            self.say(f"{dropped} rows are of other code and are simulated anew")
        if there:
            self.say("going on" if there < total else "all are in the table")

    def done(self, failed: bool) -> None:
        """A point has run."""
        self.ran += 1
        self.failed += failed
        seconds = time.perf_counter() - self.begun
        rate = self.ran / seconds
        left = (self.total - self.there - self.ran) / rate
        self.say(f"{rate:.2f}/s, {_duration(left)} left" if left else f"{_duration(seconds)}, {rate:.2f}/s")

    def say(self, text: str) -> None:
        """Tell the state and something else."""
        failures = f", {self.failed} failed" if self.failed else ""
        self.told(f"{self.there + self.ran} of {self.total} points{failures}: {text}")


def _duration(seconds: float) -> str:
    """A time in words: 45 s, 3 min 20 s, 2 h 5 min."""
    seconds = round(seconds)
    if seconds < 60:
        return f"{seconds} s"
    minutes, seconds = divmod(seconds, 60)
    return f"{minutes} min {seconds} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
