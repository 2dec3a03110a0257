"""What code, parameters and pages cite is there: sections of the pages of docs/, and links between pages."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = [
    path
    for folder in ("sim", "host_api", "traces", "validation", "examples", "bench", "tests", "docs", ".")
    for pattern in ("*.py", "*.yaml", "*.md", "*.fbs")
    for path in ((ROOT / folder).rglob(pattern) if folder != "." else ROOT.glob(pattern))
]
CITATION = re.compile(r"\bdocs/((?:hardware/)?\w+\.md)(?:#([\w-]+))?")
LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([\w-]+))?\)")
NAMED = re.compile(r"`((?:sim|host_api|traces|validation|examples|bench|tests|docs)/[\w./-]*)`")
WRITTEN = {"bench/out.json"}  # by a command
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def anchors(page):
    """The anchors that a page's headings get: lower case, punctuation dropped, blanks as hyphens, repetitions counted."""
    found, text = {}, re.sub(r"^```.*?^```", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    for heading in re.findall(r"^#+ +(.*?) *$", text, flags=re.MULTILINE):
        anchor = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        count = found[anchor] = found.get(anchor, -1) + 1
        if count:
            found[f"{anchor}-{count}"] = 0
    return set(found)


def test_every_citation_of_a_page_resolves():
    known = {str(page.relative_to(ROOT / "docs")): anchors(page) for page in (ROOT / "docs").rglob("*.md")}
    cited = [(path, match) for path in SOURCES for match in CITATION.findall(path.read_text(errors="replace"))]
    assert len(cited) > 300
    lost = {(str(path.relative_to(ROOT)), page, anchor) for path, (page, anchor) in cited
            if page not in known or (anchor and anchor not in known[page])}  # fmt: skip
    assert lost == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_pages_resolve(page):
    lost = []
    for target, anchor in LINK.findall(page.read_text()):
        file = page if not target else (page.parent / target).resolve()
        if not file.exists() or (anchor and anchor not in anchors(file)):
            lost.append(f"{target}#{anchor}")
    assert lost == []


@pytest.mark.parametrize("page", [page for page in PAGES if page.parent.name != "hardware"], ids=lambda page: page.stem)
def test_files_that_a_page_names_exist(page):
    """Folders and files of the project in code font; hardware pages name files of other projects."""
    named = set(NAMED.findall(page.read_text())) - WRITTEN
    assert sorted(name for name in named if not (ROOT / name).exists()) == []
