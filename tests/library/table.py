"""The table of docs/library.md: which cases of `cases.py` hold, by release and chip.

`python -m tests.library.table RELEASE CHIP REPORT` writes a column from a report of `cases.py`; `column` reads one.
"""

import json
import sys
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs/library.md"
BEGIN, END = "<!-- cases -->\n", "<!-- end of cases -->\n"
CHIPS = {"wormhole_b0": "Wormhole", "blackhole": "Blackhole"}
MARKS = {True: "yes", False: "no"}


def heading(release, chip):
    return f"{'.'.join(release.split('.')[:2])} {CHIPS[chip]}"


def table():
    """{case: {heading: mark}} of the page."""
    text = PAGE.read_text().partition(BEGIN)[2].partition(END)[0]
    lines = [
        [cell.strip() for cell in line.strip("|\n").split("|")] for line in text.splitlines() if line.startswith("|")
    ]
    if not lines:
        return {}
    return {row[0].strip("`"): dict(zip(lines[0][1:], row[1:], strict=True)) for row in lines[2:]}


def column(release, chip):
    """{case: whether the page says that it holds}."""
    return {case: marks[heading(release, chip)] == "yes" for case, marks in table().items()}


def held(report):
    """{case: whether it held} of a report's lines."""
    return {line["name"]: line["held"] for line in map(json.loads, Path(report).read_text().splitlines())}


def write(release, chip, report):
    found, rows = held(report), table()
    for case, mark in found.items():
        rows.setdefault(case, {})[heading(release, chip)] = MARKS[mark]
    headings = sorted(
        {name for marks in rows.values() for name in marks}, key=lambda name: (name.split()[0], name[::-1])
    )
    lines = [["case", *headings], ["---"] * (1 + len(headings))]
    lines += [[f"`{case}`", *(rows[case].get(name, "-") for name in headings)] for case in rows]
    made = "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
    before, _, rest = PAGE.read_text().partition(BEGIN)
    PAGE.write_text(before + BEGIN + made + END + rest.partition(END)[2])


if __name__ == "__main__":
    write(*sys.argv[1:])
