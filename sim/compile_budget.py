"""What the kernels of a file that somebody else wrote may take to compile, whatever their language."""

import threading

from tensim.sim.errors import KernelCompileError

FILE_SECONDS = 300  # of a processor, for all kernels of a file together


class CompileBudget:
    """What the kernels of one file may still take to compile.  `seconds`: of a processor."""

    def __init__(self, seconds=FILE_SECONDS):
        self.seconds, self._lock = seconds, threading.Lock()

    def spend(self, seconds):
        """Some seconds were taken, perhaps by one of several threads."""
        with self._lock:
            self.seconds -= seconds

    def refuse_spent(self, name, where):
        """KernelCompileError when nothing is left for the kernel `name`, which lies at `where`."""
        if self.seconds <= 0:
            raise KernelCompileError(
                f"the file's kernels take more than {FILE_SECONDS} s to compile, before kernel {name}",
                where=where, hint="give their texts by --kernel-path, or a file with fewer kernels",
            )  # fmt: skip
