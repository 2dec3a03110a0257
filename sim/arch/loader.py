"""Architectures: parameters by dotted key, from the project's YAML files or a user's own.

Every leaf of a YAML file is `{value, unit, conf, src}`.  `load_arch` resolves the board (which rows and columns are worker
cores), applies overrides and returns an `Arch`.  A user's file may say `extends: wormhole_b0` and change what it likes.
"""

import difflib
import functools
import hashlib
import json
import re
from pathlib import Path

import yaml

from tensim.sim.errors import UsageError

DIRECTORY = Path(__file__).parent
LEAF_KEYS = {"value", "unit", "conf", "src"}
MODEL = "wormhole_b0"  # the architecture whose parameters a whole file of a user must have
OPTIONAL = "ethernet."  # a section that a chip may lack as a whole: Grayskull has no ethernet
OPERATIONS = "tensix.sfpu_cycles."  # the vector unit's operations, of which chips have different ones
CONFIDENCE = ("documented", "measured", "derived", "fitted", "assumed")


def architectures():
    """Names of the architectures that come with tensim."""
    return sorted(path.stem for path in DIRECTORY.glob("*.yaml"))


class Arch:
    """A resolved architecture: `arch["noc.hop_cycles"]` is the plain value of a parameter."""

    def __init__(self, name, path, board, leaves):
        self.name, self.path, self.board, self._leaves = name, str(path), board, leaves
        if len(self["chip.noc_grid"]) != 2:
            raise UsageError(f"{self.path}: chip.noc_grid is (columns, rows), not {self['chip.noc_grid']}")
        width, height = self["chip.noc_grid"]
        self.noc_size = (width, height)
        columns, rows = self[f"boards.{board}.columns"], self[f"boards.{board}.rows"]
        if not columns or not rows or not set(columns) <= set(range(width)) or not set(rows) <= set(range(height)):
            raise UsageError(f"{self.path}: boards.{board} names columns or rows outside the {width}x{height} NoC grid")
        self.grid = (len(columns), len(rows))
        self.worker_coords = [(x, y) for y in rows for x in columns]
        self.kernel_coords = self._translated(columns, rows)
        self.dram_endpoints = self._endpoints(width, height)
        text = json.dumps({key: leaf["value"] for key, leaf in leaves.items()}, sort_keys=True)
        self.digest = hashlib.sha256(f"{board} {text}".encode()).hexdigest()

    def _translated(self, columns, rows):
        """NoC coordinates of the workers that tt-metal hands to kernels: translated ones where the chip has them."""
        origin = self["noc.translated_workers"]
        if not origin:
            return self.worker_coords
        return [(origin[0] + i, origin[1] + j) for j in range(len(rows)) for i in range(len(columns))]

    def noc_axes(self):
        """(x, y): for each axis the physical coordinate behind each of the 64 that a NoC address can name, -1 for none."""
        axes = [[*range(size), *[-1] * (64 - size)] for size in self.noc_size]
        for named, place in zip(self.kernel_coords, self.worker_coords, strict=True):
            for axis in (0, 1):
                axes[axis][named[axis]] = place[axis]
        return axes

    def _endpoints(self, width, height):
        per_tile, size, result = self["dram.banks_per_tile"], self["dram.bank_bytes"], []
        endpoints = self["dram.endpoints"]
        if len(endpoints) != self["dram.banks"]:
            raise UsageError(f"{self.path}: dram.endpoints lists {len(endpoints)} tiles for {self['dram.banks']} banks")
        for bank, text in enumerate(endpoints):
            if not re.fullmatch(r"\d+-\d+", str(text)):
                raise UsageError(f"{self.path}: dram.endpoints: {text!r} is not a NoC coordinate 'x-y'")
            x, y = (int(part) for part in text.split("-"))
            if not (x < width and y < height) or (x, y) in self.worker_coords:
                raise UsageError(f"{self.path}: DRAM endpoint {text} is outside the grid or a worker core")
            result.append((x, y, bank % per_tile * size))
        return result

    def with_workers(self, tiles):
        """The same chip with the rows and columns of `tiles` in its worker grid, less those that would cover DRAM.

        Parts differ in the rows or columns that are switched off; what ran on one part needs its grid.
        """
        columns, rows = ({*self[f"boards.{self.board}.{name}"]} for name in ("columns", "rows"))
        (width, height), found = self.noc_size, len(columns) + len(rows)
        for x, y in sorted(tiles):
            wider = columns | {x}, rows | {y}
            covers_dram = any(dx in wider[0] and dy in wider[1] for dx, dy, _ in self.dram_endpoints)
            if x < width and y < height and not covers_dram:
                columns, rows = wider
        if found == len(columns) + len(rows):
            return self
        leaves = dict(self._leaves)
        for name, values in (("columns", columns), ("rows", rows)):
            key = f"boards.{self.board}.{name}"
            leaves[key] = leaves[key] | {"value": sorted(values), "src": "override"}
        return Arch(self.name, self.path, self.board, leaves)

    def __getitem__(self, key):
        leaf = self._leaves.get(key)
        if leaf is None:
            raise _unknown(key, f"architecture {self.name} ({self.path})", self._leaves)
        return leaf["value"]

    def __contains__(self, key):
        return key in self._leaves

    def section(self, prefix):
        """{rest of the key: value} of every parameter below a dotted prefix."""
        start = prefix + "."
        return {key[len(start) :]: leaf["value"] for key, leaf in self._leaves.items() if key.startswith(start)}

    def values(self):
        """{dotted key: plain value} of every parameter."""
        return {key: leaf["value"] for key, leaf in self._leaves.items()}

    def describe(self, key):
        """The whole leaf of a parameter: value, unit, conf, src."""
        self[key]
        return dict(self._leaves[key])

    @property
    def clock_mhz(self):
        return self["clock.aiclk_mhz"]

    @property
    def dram_banks(self):
        return self["dram.banks"]

    @property
    def dram_bank_bytes(self):
        return self["dram.bank_bytes"]

    @property
    def l1_size(self):
        return self["l1.size"]

    @property
    def l1_user_base(self):
        return self["l1.user_base"]

    @property
    def l1_alignment(self):
        return self["alignment.l1_page"]

    @property
    def dram_alignment(self):
        return self["alignment.dram_page"]


def _unknown(key, owner, leaves):
    close = difflib.get_close_matches(key, leaves, 3, 0.5)
    return UsageError(f"{owner} has no parameter {key!r}", hint=f"did you mean {', '.join(close)}?" if close else None)


def _flatten(node, path, prefix=""):
    leaves = {}
    for key, value in node.items():
        dotted = f"{prefix}{key}"
        if dotted == "boards.default":
            continue
        if not isinstance(value, dict):
            raise UsageError(f"{path}: {dotted} must be a section or a leaf {{value, unit, conf, src}}")
        if "value" in value:
            unknown = set(value) - LEAF_KEYS
            if unknown:
                raise UsageError(f"{path}: {dotted} has unknown entries {', '.join(sorted(unknown))}")
            if value.get("conf", "assumed") not in CONFIDENCE:
                raise UsageError(f"{path}: {dotted}: confidence is one of {', '.join(CONFIDENCE)}")
            leaves[dotted] = value
        else:
            leaves |= _flatten(value, path, f"{dotted}.")
    return leaves


LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the C one is five times faster, where it was built


@functools.cache
def _parse(path, changed):
    """Content of a file; `changed`: its modification time, so that an edited file is read again."""
    try:
        data = yaml.load(Path(path).read_text(), LOADER)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is not valid YAML: {error}") from error
    if not isinstance(data, dict) or not isinstance(data.get("name"), str):
        raise UsageError(f"{path}: an architecture file is a mapping with a name")
    return data


def _read(path, extending=()):
    """(name, default board, leaves) of a file; `extending`: files that extend it."""
    if path in extending:
        raise UsageError(f"{path}: extends itself, by way of {' and '.join(extending)}")
    try:
        data = _parse(path, Path(path).stat().st_mtime_ns)
    except OSError as error:
        raise UsageError(f"cannot read architecture file {path}: {error.strerror}") from error
    leaves = _flatten({key: value for key, value in data.items() if key not in ("name", "extends")}, path)
    board = data.get("boards", {}).get("default")
    if "extends" in data:
        base = _locate(data["extends"], path)
        _, base_board, base_leaves = _read(base, (*extending, path))
        leaves, board = base_leaves | _changes(path, leaves, base, base_leaves), board or base_board
    elif Path(path).parent != DIRECTORY:
        _check_complete(path, leaves)
    for key in leaves:
        if key.startswith("boards."):
            _check_kind(f"{path}: {key}", [0], leaves[key]["value"])
    return data["name"], board, leaves


def _changes(path, leaves, base, base_leaves):
    """The leaves of a file that extends another one, each with what it leaves out taken from there."""
    result = {}
    for key, leaf in leaves.items():
        if key.startswith("boards."):
            result[key] = leaf
            continue
        if key not in base_leaves:
            raise _unknown(key, f"{path}: {base}", base_leaves)
        old = base_leaves[key]
        _check_kind(f"{path}: {key}", old["value"], leaf["value"])
        result[key] = old | {"conf": "assumed", "src": path} | leaf
    return result


def _check_complete(path, leaves):
    """UsageError when a file that extends nothing lacks a parameter, or gives one another kind, than the default."""
    model = _read(_locate(MODEL))[2]
    left_out = ("boards.", OPERATIONS)
    if not any(key.startswith(OPTIONAL) for key in leaves):
        left_out += (OPTIONAL,)
    expected = {key: leaf for key, leaf in model.items() if not key.startswith(left_out)}
    missing = [key for key in expected if key not in leaves]
    if missing:
        raise UsageError(
            f"{path}: no value for {missing[0]}, and {len(missing) - 1} others",
            hint=f"say 'extends: {MODEL}' to change some parameters of it",
        )
    for key in expected:
        _check_kind(f"{path}: {key}", expected[key]["value"], leaves[key]["value"])


def _locate(name, extending=None):
    """Path of an architecture by name or path; a path is relative to the file that extends it, if one does."""
    if str(name).endswith((".yaml", ".yml")):
        return str(name if extending is None else Path(extending).parent / name)
    if name not in architectures():
        raise UsageError(
            f"{extending}: unknown architecture {name!r}" if extending else f"unknown architecture {name!r}",
            hint=f"one of {', '.join(architectures())}, or a path ending in .yaml",
        )
    return str(DIRECTORY / f"{name}.yaml")


def _same_kind(old, new):
    number = (int, float)
    if isinstance(old, bool) or isinstance(new, bool):
        return isinstance(old, bool) and isinstance(new, bool)
    if isinstance(old, list):
        return isinstance(new, list) and (not old or all(_same_kind(old[0], item) for item in new))
    return isinstance(new, number) if isinstance(old, number) else isinstance(new, type(old))


def _check_kind(where, old, new):
    if not _same_kind(old, new):
        raise UsageError(f"{where}: {new!r} does not have the type of {old!r}")


def load_arch(name_or_path, overrides=None):
    """Load an architecture.

    `name_or_path`: a name (`architectures()`) or a YAML path.  `overrides`: {dotted key: value}; the key `board` picks
    a board.  Raises UsageError for unknown names, keys, boards and values of another kind.
    """
    path = _locate(name_or_path)
    return _resolved(path, *_read(path), overrides or {})


def described_arch(name, values, overrides=None):
    """The chip that a saved binary describes; its name opens no file.

    `values`: {dotted key: value} of what differs from the architecture of that name, with the whole board if the board is
    not one of its own; of a chip of one's own every parameter.  UsageError as `load_arch`.
    """
    if name in architectures():
        path, (_, board, leaves) = name, _read(_locate(name))
        values = {**values, "board": values.get("board", board)}
        own = {
            key: {"value": value} for key, value in values.items() if key.startswith("boards.") and key not in leaves
        }
        leaves = leaves | own
    else:
        path, leaves = (
            f"the description of {name!r}",
            {key: {"value": v} for key, v in values.items() if key != "board"},
        )
        _check_complete(path, leaves)
    for key in leaves:
        if key.startswith("boards."):
            _check_kind(f"{path}: {key}", [0], leaves[key]["value"])
    return _resolved(path, name, values.get("board"), leaves, {**values, **(overrides or {})})


def _resolved(path, name, board, leaves, overrides):
    """The `Arch` of leaves with some values in place of theirs."""
    leaves = dict(leaves)
    for key, value in overrides.items():
        if key == "board":
            board = value
            continue
        if key not in leaves:
            raise _unknown(key, f"architecture {name} ({path})", leaves)
        _check_kind(key, leaves[key]["value"], value)
        leaves[key] = leaves[key] | {"value": value, "src": "override"}
    if not {f"boards.{board}.columns", f"boards.{board}.rows"} <= leaves.keys():
        boards = sorted({key.split(".")[1] for key in leaves if key.startswith("boards.")})
        raise UsageError(
            f"{name} ({path}) has no board {board!r} with columns and rows", hint=f"one of {', '.join(boards)}"
        )
    return Arch(name, path, board, leaves)
