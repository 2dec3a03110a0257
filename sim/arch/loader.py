"""Architectures: parameters by dotted key, from the project's YAML files or a user's own.

Every leaf of a YAML file is `{value, unit, conf, src}`.  `load_arch` resolves the board (which rows and columns are worker
cores), applies overrides and returns an `Arch`.  A user's file may say `extends: wormhole_b0` and change what it likes.
"""

import difflib
import functools
import hashlib
import json
from pathlib import Path

import yaml

from sim.errors import UsageError

DIRECTORY = Path(__file__).parent
LEAF_KEYS = {"value", "unit", "conf", "src"}
CONFIDENCE = ("documented", "measured", "derived", "fitted", "assumed")


def architectures():
    """Names of the architectures that come with tensim."""
    return sorted(path.stem for path in DIRECTORY.glob("*.yaml"))


class Arch:
    """A resolved architecture: `arch["noc.hop_cycles"]` is the plain value of a parameter."""

    def __init__(self, name, path, board, leaves):
        self.name, self.path, self.board, self._leaves = name, str(path), board, leaves
        width, height = self["chip.noc_grid"]
        self.noc_size = (width, height)
        columns, rows = self[f"boards.{board}.columns"], self[f"boards.{board}.rows"]
        if not columns or not rows or not set(columns) <= set(range(width)) or not set(rows) <= set(range(height)):
            raise UsageError(f"{self.path}: boards.{board} names columns or rows outside the {width}x{height} NoC grid")
        self.grid = (len(columns), len(rows))
        self.worker_coords = [(x, y) for y in rows for x in columns]
        self.dram_endpoints = self._endpoints(width, height)
        text = json.dumps({key: leaf["value"] for key, leaf in leaves.items()}, sort_keys=True)
        self.digest = hashlib.sha256(f"{board} {text}".encode()).hexdigest()

    def _endpoints(self, width, height):
        per_tile, size, result = self["dram.banks_per_tile"], self["dram.bank_bytes"], []
        endpoints = self["dram.endpoints"]
        if len(endpoints) != self["dram.banks"]:
            raise UsageError(f"{self.path}: dram.endpoints lists {len(endpoints)} tiles for {self['dram.banks']} banks")
        for bank, text in enumerate(endpoints):
            x, y = (int(part) for part in str(text).split("-"))
            if not (x < width and y < height) or (x, y) in self.worker_coords:
                raise UsageError(f"{self.path}: DRAM endpoint {text} is outside the grid or a worker core")
            result.append((x, y, bank % per_tile * size))
        return result

    def __getitem__(self, key):
        leaf = self._leaves.get(key)
        if leaf is None:
            close = difflib.get_close_matches(key, self._leaves, 3, 0.5)
            raise UsageError(
                f"architecture {self.name} has no parameter {key!r}",
                hint=f"did you mean {', '.join(close)}?" if close else f"see {self.path}",
            )
        return leaf["value"]

    def __contains__(self, key):
        return key in self._leaves

    def section(self, prefix):
        """{rest of the key: value} of every parameter below a dotted prefix."""
        start = prefix + "."
        return {key[len(start) :]: leaf["value"] for key, leaf in self._leaves.items() if key.startswith(start)}

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


def _flatten(node, path, prefix=""):
    leaves = {}
    for key, value in node.items():
        dotted = f"{prefix}{key}"
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
def _read(path):
    try:
        data = yaml.load(Path(path).read_text(), Loader=LOADER)
    except OSError as error:
        raise UsageError(f"cannot read architecture file {path}: {error.strerror}") from error
    except yaml.YAMLError as error:
        raise UsageError(f"{path} is not valid YAML: {error}") from error
    if not isinstance(data, dict) or "name" not in data:
        raise UsageError(f"{path}: an architecture file is a mapping with a name")
    head = {key: data.pop(key) for key in ("name", "extends") if key in data}
    default_board = data.get("boards", {}).pop("default", None)
    leaves = _flatten(data, path)
    if "extends" in head:
        _, base_board, base_leaves = _read(_locate(head["extends"], Path(path).parent))
        unknown = [key for key in leaves if key not in base_leaves and not key.startswith("boards.")]
        if unknown:
            raise UsageError(f"{path}: {head['extends']} has no parameter {unknown[0]!r}")
        leaves, default_board = base_leaves | leaves, default_board or base_board
    return head["name"], default_board, leaves


def _locate(name, directory=None):
    if str(name).endswith((".yaml", ".yml")):
        path = Path(name)
        return str(path if path.is_absolute() or directory is None else directory / path)
    if name not in architectures():
        raise UsageError(
            f"unknown architecture {name!r}",
            hint=f"one of {', '.join(architectures())}, or a path ending in .yaml",
        )
    return str(DIRECTORY / f"{name}.yaml")


def _same_kind(old, new):
    number = (int, float)
    if isinstance(old, bool) or isinstance(new, bool):
        return isinstance(old, bool) and isinstance(new, bool)
    return isinstance(new, number) if isinstance(old, number) else isinstance(new, type(old))


def load_arch(name_or_path, overrides=None):
    """Load an architecture.

    `name_or_path`: a name (`architectures()`) or a YAML path.  `overrides`: {dotted key: value}; the key `board` picks
    a board.  Raises UsageError for unknown names, keys, boards and values of another kind.
    """
    path = _locate(name_or_path)
    name, board, leaves = _read(path)
    leaves = dict(leaves)
    for key, value in (overrides or {}).items():
        if key == "board":
            board = value
            continue
        if key not in leaves:
            close = difflib.get_close_matches(key, leaves, 3, 0.5)
            raise UsageError(
                f"architecture {name} has no parameter {key!r}",
                hint=f"did you mean {', '.join(close)}?" if close else None,
            )
        if not _same_kind(leaves[key]["value"], value):
            raise UsageError(f"{key}: {value!r} is not of the kind of {leaves[key]['value']!r}")
        leaves[key] = leaves[key] | {"value": value, "src": "override"}
    if f"boards.{board}.columns" not in leaves:
        boards = sorted({key.split(".")[1] for key in leaves if key.startswith("boards.")})
        raise UsageError(f"{name} has no board {board!r}", hint=f"one of {', '.join(boards)}")
    return Arch(name, path, board, leaves)
