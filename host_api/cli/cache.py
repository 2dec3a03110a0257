"""`tensim cache`: what lies in the folder of compiled code, and what of it can go."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path
from typing import Any

import click

from tensim.cli.options import json_option
from tensim.cli.output import TO_STDOUT, require_writable, write_json

ENGINE_DIGITS = 16  # of the name of an engine's folder: a hash of its sources, in hex
ROOMS = {"cpp": "C++ kernels and their runtime", "library": "kernels of the vendor's library"}
DAYS = 30
SECONDS_A_DAY = 86400


@click.command()
@click.argument("action", type=click.Choice(("show", "prune", "clear")), default="show")
@click.option(
    "--days",
    type=click.IntRange(0),
    default=DAYS,
    show_default=True,
    help="prune: kernels that were not used for so many days go.",
)
@json_option
def cache(action: str, days: int, json_to: str | None) -> None:
    """Show, prune or clear the folder of compiled code (TENSIM_CACHE_DIR).

    \b
    show   what it holds, and how much of it prune would remove
    prune  remove engines of other versions of tensim, and kernels that were not used for --days
    clear  remove all of it; the next run compiles anew

    A folder that was pruned is what CI should keep (docs/ci.md).
    """
    require_writable(json_to)
    from tensim.sim.engine.cache import DIRECTORY, cache_root

    root = cache_root()
    parts = _parts(root, DIRECTORY.name, days)
    removed = 0
    for part in parts:
        going = {"show": [], "prune": part["unused"], "clear": [part["path"]]}[action]
        for path in going:
            removed += _size(path)
            _remove(path)
    if json_to:
        rows = [{name: part[name] for name in ("name", "what", "bytes", "unused_bytes")} for part in parts]
        write_json({"folder": str(root), "action": action, "removed_bytes": removed, "parts": rows}, json_to)
    if json_to != TO_STDOUT:
        _report(root, parts, action, removed, days)


def _report(root: Path, parts: list[dict[str, Any]], action: str, removed: int, days: int) -> None:
    click.echo(f"{root}: {sum(part['bytes'] for part in parts) / 1e6:,.1f} MB")
    for part in parts:
        click.echo(f"  {part['bytes'] / 1e6:9,.1f} MB  {part['name']:{ENGINE_DIGITS}}  {part['what']}")
    if action != "show":
        click.echo(f"removed {removed / 1e6:,.1f} MB")
    elif unused := sum(part["unused_bytes"] for part in parts):
        click.echo(
            f"tensim cache prune removes {unused / 1e6:,.1f} MB: other engines, and what was unused for {days} days"
        )


def _parts(root: Path, engine: str, days: int) -> list[dict[str, Any]]:
    """What lies in the folder: {"name", "what", "path", "bytes", "unused" (paths), "unused_bytes"}.

    Only what tensim has put there: a folder that is shared with others keeps theirs.
    """
    found = []
    for path in sorted(root.iterdir()) if root.is_dir() else ():
        if path.name in ROOMS:
            what, unused = ROOMS[path.name], _old_files(path, time.time() - days * SECONDS_A_DAY)
        elif path.is_dir() and len(path.name) == ENGINE_DIGITS and not set(path.name) - set("0123456789abcdef"):
            own = path.name == engine
            what = "the engine of this tensim" if own else "an engine of another version of tensim, Python or numba"
            unused = [] if own else [path]
        else:
            continue
        found.append(
            {
                "name": path.name,
                "what": what,
                "path": path,
                "bytes": _size(path),
                "unused": unused,
                "unused_bytes": sum(map(_size, unused)),
            }
        )
    return found


def _old_files(folder: Path, before: float) -> list[Path]:
    """The files below a folder that were neither read nor written since a time."""
    return [path for path in _files(folder) if (about := _about(path)) and max(about.st_atime, about.st_mtime) < before]


def _files(path: Path) -> list[Path]:
    return [path] if path.is_symlink() or path.is_file() else [one for one in Path(path).rglob("*") if not one.is_dir()]


def _size(path: Path) -> int:
    return sum(about.st_size for one in _files(path) if (about := _about(one)))


def _about(path: Path) -> os.stat_result | None:
    """What the system knows of a file; None of one that another process has removed meanwhile."""
    try:
        return path.lstat()
    except FileNotFoundError:
        return None


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
