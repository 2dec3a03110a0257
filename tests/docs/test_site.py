"""Every command of a page is one; the figures that the tuning guide quotes; the site builds."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

import tensim as tt
from tensim.cli.groups import explicit_json
from tensim.cli.main import main
from tests.imports.contracts import lay_out

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
VERSION = re.compile(r"^\| `(\w+)`(.*?) \| ([\d,]+) \| (\w+) of (?:the )?(\w+) \|", re.M)
SETTINGS = {"": {}, ", both reads at once": {"parameters": {"together": True}}}


TEXTS = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]
CALL = re.compile(r"^(?:\.venv/bin/)?tensim +(.*)$")


def calls(text):
    """The commands in the blocks of a page: lines that continue joined, comments and output left out."""
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.M | re.S)
    shells = "".join(content for language, content in blocks if language in ("", "sh", "bash", "console"))
    lines = shells.replace("\\\n", " ").splitlines()
    return [found[1] for line in lines if (found := CALL.match(line.strip()))]


@pytest.mark.parametrize("page", TEXTS, ids=lambda path: path.stem)
def test_every_command_of_a_page_is_one(page):
    """Also those that only show a form: names and options are parsed, and nothing runs."""
    for call in calls(page.read_text()):
        words = [word for word in shlex.split(call, comments=True) if word != "..."]
        name, *arguments = words
        command = main.commands[name].load()
        if name == "ttnn":  # its arguments are a program's
            continue
        arguments, _ = explicit_json(arguments)
        try:
            command.make_context(name, arguments, resilient_parsing=False)
        except click.UsageError as error:
            if "does not exist" in error.format_message():  # a folder of the reader's
                continue
            raise AssertionError(f"{page.name}: tensim {call}: {error.format_message()}") from None
        except click.exceptions.Exit:  # --help, --version
            pass


def test_the_tuning_guide_quotes_what_a_run_says():
    """Cycles within 5 %, for parameters are calibrated anew now and then; verdicts, and that each version is the faster one."""
    versions = VERSION.findall((DOCS / "tuning.md").read_text())
    assert len(versions) == 5
    before = None
    for name, what, cycles, kind, resource in versions:
        result = tt.run(name, shape=(512, 512, 512), numerics="off", **SETTINGS[what])
        assert result.cycles == pytest.approx(int(cycles.replace(",", "")), rel=0.05), (name, what)
        assert (result["verdict"]["kind"], result["verdict"]["resource"]) == (kind, resource.lower()), (name, what)
        assert before is None or result.cycles < before
        before = result.cycles


def test_every_page_is_in_the_navigation():
    named = set(re.findall(r"([\w/]+\.md)", (ROOT / "mkdocs.yml").read_text()))
    assert named == {str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md")}


def test_the_reference_has_every_command():
    from tensim.cli.main import main
    from tensim.cli.reference import main as reference

    assert reference.commands.keys() == main.commands.keys()
    assert all(command.params or command.name == "ttnn" for command in reference.commands.values())


@pytest.fixture
def site(tmp_path):
    """The folder of the site: what `make docs` has left, which is strict, too, unless something has changed since."""
    made = ROOT / "build" / "site"
    folders = ("docs", "host_api", "sim", "traces", "validation", "examples")
    sources = (path for folder in folders for kind in ("*.md", "*.py") for path in (ROOT / folder).rglob(kind))
    changed = max(path.stat().st_mtime for path in (ROOT / "mkdocs.yml", *sources))
    if (made / "index.html").exists() and (made / "index.html").stat().st_mtime > changed:
        return made
    pytest.importorskip("mkdocs")
    pytest.importorskip("material")
    for name in ("docs", "mkdocs.yml"):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, tmp_path / name)
    lay_out(tmp_path / "build" / "reference")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return tmp_path / "build" / "site"


def test_the_site_builds_with_strict_links(site):
    """Also offline: no page takes scripts, styles or fonts from elsewhere."""
    commands = (site / "commands" / "index.html").read_text()
    assert (site / "index.html").exists() and "tt-report" in commands and "Sentinel" not in commands
    api = (site / "api" / "index.html").read_text()
    assert "enqueue_program" in api
    fields = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", api))  # of dataclasses, with types and defaults
    assert "arch: str = &#39;wormhole_b0&#39;" in fields or "arch: str = 'wormhole_b0'" in fields
    for page in site.rglob("*.html"):
        loaded = re.findall(r'<(?:script|link|img)[^>]*(?:src|href)="(https?://[^"]+)"', page.read_text())
        assert [url for url in loaded if "tensim.example" not in url] == [], page
