"""Write the table of docs/parameters.md from sim/arch/*.yaml: python -m docs.write_parameters."""

import re
from collections import Counter
from pathlib import Path

from tensim.sim.arch import architectures, load_arch
from tensim.sim.arch.loader import CONFIDENCE

PAGE = Path(__file__).with_name("parameters.md")
BEGIN, END = "<!-- counts: docs/write_parameters.py -->", "<!-- end -->"
BETWEEN = re.compile(f"{re.escape(BEGIN)}.*{re.escape(END)}", re.DOTALL)


def counts(chip):
    """{confidence: number of parameters} of a chip."""
    arch = load_arch(chip)
    return Counter(arch.describe(key)["conf"] for key in arch.values())


def table():
    """The table, a row per chip."""
    lines = [f"| chip | {' | '.join(CONFIDENCE)} | all |", f"|---|{'--:|' * (len(CONFIDENCE) + 1)}"]
    for chip in sorted(architectures(), reverse=True):
        found = counts(chip)
        cells = [*(found[confidence] for confidence in CONFIDENCE), found.total()]
        lines.append(f"| {chip} | {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def replaced(page):
    """The text of the page with the table as it is now."""
    return BETWEEN.sub(f"{BEGIN}\n{table()}\n{END}", page)


if __name__ == "__main__":
    PAGE.write_text(replaced(PAGE.read_text()))
