"""The guide pages' Python blocks run, in order, in one namespace per page; a page checks itself with assertions."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = (
    "runtime",
    "runtime_tt_mlir",
    "runtime_xtc",
    "runtime_iree",
    "first_steps",
    "port_a_kernel",
    "own_chips",
    "sweeps",
)
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.M | re.S)


@pytest.mark.parametrize("page", PAGES)
def test_the_blocks_of_a_page_run(page, tmp_path, monkeypatch):
    path = DOCS / f"{page}.md"
    text = path.read_text()
    blocks = list(BLOCK.finditer(text))
    assert blocks and "assert " in text
    monkeypatch.chdir(tmp_path)
    source = ["\n"] * text.count("\n")
    for block in blocks:  # at their own lines, so that errors and kernels name lines of the page
        first = text[: block.start(1)].count("\n")
        lines = block[1].splitlines(keepends=True)
        source[first : first + len(lines)] = lines
    script = tmp_path / f"{page}.py"  # kernels need a file that their text can be read from
    script.write_text("".join(source))
    namespace = {"__name__": page, "__file__": str(script)}
    exec(compile(script.read_text(), str(script), "exec"), namespace)
