"""What kernels print, as records of which Python makes text (`tensim.sim.chip.prints`)."""

import re
import string
import struct

import numpy as np

from tensim.sim.cores.threads import argument
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.memory import store_64
from tensim.sim.engine.tables import table
from tensim.sim.state import threads_of

# Of a C++ kernel: the arguments of `tensim.sim.cores.riscv.traps.Service.DPRINT`, and TEXT_PIECE bytes of a text in local memory,
# of which a long one has several.  Of a Python kernel: kind LINE, as value the number of its text, in `text` the values (int64).
TEXT_PIECE = 64
PRINT = np.dtype(
    [(name, np.int64) for name in "thread time kind value extra".split()] + [("text", np.uint8, TEXT_PIECE)], align=True
)
PRINT_BYTES = PRINT.itemsize
TEXT_FROM_END = TEXT_PIECE  # it is the last field
MORE, LINE = -1, -2  # kinds: the rest of a text; a line of a Python kernel
MAX_VALUES = TEXT_PIECE // 8  # of a line

print_table = table(PRINT)


@compiled()
def print_line(m, thread, now):
    """Append a line that a Python kernel prints to the log; the loop leaves before that is full."""
    t, entry = threads_of(m)[thread], print_table(m.prints_at)[m.n_prints]
    entry.thread, entry.time, entry.kind, entry.value, entry.extra = thread, now, LINE, argument(t, 0), 0
    m.n_prints += 1
    values = m.prints_at + m.n_prints * PRINT_BYTES - TEXT_FROM_END
    for i in range(MAX_VALUES):
        store_64(values + 8 * i, argument(t, 1 + i))


# Of a field's format; whatever the value, it fits and is short: texts come from files of somebody else's, too
_FORMAT = re.compile(r"(?:.?[<>=^])?[-+ ]?#?0?\d{0,2}[,_]?[bdoxX]?|f32|bf16")


class Values(string.Formatter):
    """`str.format` for words of a kernel: `{}` as an integer, any of Python's formats of integers, `{:f32}` and `{:bf16}` as the
    number whose bits they are."""

    def format_field(self, value, format_spec):
        """As Python's."""
        if format_spec in ("f32", "bf16"):
            bits = value << 16 if format_spec == "bf16" else value
            return f"{struct.unpack('<f', struct.pack('<I', bits & 0xFFFFFFFF))[0]:g}"
        return super().format_field(value, format_spec)


def check_text(text, count):
    """ValueError, IndexError or KeyError for a text of a Python kernel that `count` values do not fit."""
    for _, field, form, conversion in string.Formatter().parse(text):
        if field is not None and (conversion or not re.fullmatch(r"\d{0,2}", field)):
            raise ValueError(f"field {field!r} is not a value by its place")
        if form and not _FORMAT.fullmatch(form):
            raise ValueError(f"format {form!r} is none of an integer up to 99 wide, f32 or bf16")
    formatted(text, [65] * count)


def formatted(text, values):
    """A line of a Python kernel, whose text is right (`check_text`)."""
    return Values().vformat(text, values, {}).removesuffix("\n")
