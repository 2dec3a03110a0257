"""Every block of README and of the guides is done in order, as a reader does it (`tests.docs.pages`)."""

import pytest

from tests.docs.pages import COMMAND, NOT_RUN, Reader, blocks, commands, kind_of, pages

ASKING = [page for page in pages() if any(kind_of(tag, text) for tag, text, _ in blocks(page))]


@pytest.mark.parametrize("page", ASKING, ids=lambda page: page.stem)
def test_a_page_does_what_it_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    reader = Reader(page, tmp_path)
    reader.follow()
    if reader.skipped:
        pytest.skip(f"without the vendor's library: {'; '.join(reader.skipped)}")


def test_nothing_that_asks_for_something_is_left_out():
    """Each exception is of a page; a command stands in a block that is run, not in one with another tag."""
    all_blocks = [(tag, text) for page in pages() for tag, text, _ in blocks(page)]
    lines = [line for tag, text in all_blocks if kind_of(tag, text) == "commands" for line in commands(text)]
    assert [start for start in NOT_RUN if not any(line.startswith(start) for line in lines)] == []
    assert [text.split("\n")[0] for tag, text in all_blocks if kind_of(tag, text) is None and COMMAND.match(text)] == []
