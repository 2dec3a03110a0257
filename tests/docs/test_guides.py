"""The Python blocks of the runtime's guide pages run as they stand."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ("runtime.md", "runtime_tt_mlir.md", "runtime_xtc.md", "runtime_iree.md")


@pytest.mark.parametrize("page", PAGES)
def test_a_guide_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(), re.S)
    assert blocks
    source = "\n".join(blocks)
    file = tmp_path / "guide.py"  # kernels are read from their source file
    file.write_text(source)
    exec(compile(source, str(file), "exec"), {"__name__": "guide", "__file__": str(file)})
