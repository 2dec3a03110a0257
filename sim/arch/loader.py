"""Architectures: parameters by dotted key, from the project's YAML files or a user's own.

Every leaf of a YAML file is `{value, unit, conf, src}`, or the plain value.  `load_arch` resolves the board (which rows and
columns are worker cores), applies overrides and returns an `Arch`.  A user's file may say `extends: wormhole_b0` and change
what it likes.  What values may be is declared once: by unit in units.json, narrower as `range` in the `MODEL`'s file.
Everything that does not come with tensim goes through `check_leaves`, and as a whole chip through `check_relations`.
"""

import difflib
import functools
import hashlib
import json
import re
from pathlib import Path

from tensim.sim.arch import vector_costs
from tensim.sim.errors import UsageError

DIRECTORY = Path(__file__).parent
LEAF_KEYS = {"value", "unit", "conf", "src"}
DECLARED = ("range", "only")  # further entries of the model's leaves: what values may be, what alone uses them
OVERRIDE = "override"  # the source of a value that no file gave
LEAF_HINT = "a parameter is a value or {value, unit, conf, src}"
AGAIN_HINT = "put both parts of a section below one key"
USERS = {
    "dram": "the memory's commands are modelled by `tensim dram` alone",
    "exact": "only numerics exact has it",
    "replay-noc": "only replays of NoC events use it",
    "several chips": "only programs on several chips use it",
    "ttnn": "only programs of ttnn and what re-creates them use it",
    "validate compute": "only `tensim validate compute` uses it",
    "validate gemm": "only `tensim validate gemm` uses it",
    "validate noc": "only `tensim validate noc` uses it",
    "validate streaming": "only `tensim validate streaming` uses it",
}  # what alone uses a parameter, by the entry `only` of its leaf
NOC_COORDINATES = 64  # of an axis, that a NoC address can name
BOARD_UNITS = {"columns": "x", "rows": "y", "dram_channels": "channels"}
PRODUCT = re.compile(r"(.*\d)[a-z]")  # name of a card: its letter says how it is cooled, docs/hardware/chips.md
MODEL = "wormhole_b0"  # the architecture whose parameters a whole file of a user must have
OPTIONAL = "ethernet."  # a section that a chip may lack as a whole: Grayskull has no ethernet
# Costs of the vector unit's functions that a chip does not take from `vector_costs`
OPERATIONS = tuple(f"tensix.sfpu_cycles{form}." for form in ("", "_approximate", "_unclamped"))
OPERATION = {"unit": "cycles/tile", "range": [0, 1000000]}
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
        for axis, places, size in (("columns", columns, width), ("rows", rows, height)):
            if max(places) >= size:
                key = f"boards.{board}.{axis}"
                raise self.wrong(key, f"{key}: {max(places)} is outside the {width}x{height} NoC grid")
        self.grid = (len(columns), len(rows))
        self.worker_coords = [(x, y) for y in rows for x in columns]
        self.kernel_coords = self._translated(columns, rows)
        self.dram_channels = self._channels()
        self.dram_endpoints = self._endpoints(width, height)
        self.dram_tiles = self._dram_tiles()
        text = json.dumps({key: leaf["value"] for key, leaf in leaves.items()}, sort_keys=True)
        self.digest = hashlib.sha256(f"{board} {text}".encode()).hexdigest()

    def _translated(self, columns, rows):
        """NoC coordinates of the workers that tt-metal hands to kernels: translated ones where the chip has them."""
        origin, named = self["noc.translated_workers"], self["noc.translated_columns"]
        if named:
            if len(named) < len(columns):
                key = "noc.translated_columns"
                raise self.wrong(key, f"{key} names {len(named)} columns; the grid has {len(columns)}")
            return [(x, y) for y in rows for x in named[: len(columns)]]
        if not origin:
            return self.worker_coords
        if max(origin[0] + len(columns), origin[1] + len(rows)) > NOC_COORDINATES:
            key = "noc.translated_workers"
            raise self.wrong(key, f"{key} is {origin}; a grid of {len(columns)}x{len(rows)} ends beyond coordinate 63")
        return [(origin[0] + i, origin[1] + j) for j in range(len(rows)) for i in range(len(columns))]

    def _channels(self):
        """Numbers of the DRAM channels that the board has, in the order of their banks: all, unless it says which."""
        count, key = self["dram.banks"] // self["dram.banks_per_tile"], f"boards.{self.board}.dram_channels"
        channels = self[key] if key in self else range(count)
        if max(channels) >= count:
            raise self.wrong(key, f"{key}: {max(channels)} is none of the {count} channels")
        return tuple(channels)

    def noc_axes(self):
        """(x, y): for each axis the physical coordinate behind each of the 64 that a NoC address can name, -1 for none."""
        axes = [[*range(size), *[-1] * (NOC_COORDINATES - size)] for size in self.noc_size]
        for named, place in zip(self.kernel_coords, self.worker_coords, strict=True):
            for axis in (0, 1):
                axes[axis][named[axis]] = place[axis]
        return axes

    def _endpoints(self, width, height):
        """For each NoC the (x, y, byte offset) of each DRAM bank: where tt-metal sends requests for it."""
        per_tile, size, result = self["dram.banks_per_tile"], self["dram.bank_bytes"], []
        second = "dram.endpoints_noc1" if self["dram.endpoints_noc1"] else "dram.endpoints"
        for key in ("dram.endpoints", second):
            result.append([])
            places = [self[key][channel * per_tile + i] for channel in self.dram_channels for i in range(per_tile)]
            for bank, text in enumerate(places):
                x, y = (int(part) for part in text.split("-"))
                if not (x < width and y < height):
                    raise self.wrong(key, f"{key} gives bank {bank} tile {text}, outside the {width}x{height} NoC grid")
                if (x, y) in self.worker_coords:
                    raise self.wrong(key, f"{key} gives bank {bank} tile {text}, which is a worker core")
                result[-1].append((x, y, bank % per_tile * size))
        return tuple(result)

    def _dram_tiles(self):
        """{(x, y) of a DRAM tile: its first bank}, the endpoints of both NoCs."""
        result = {}
        for key, places in zip(("dram.endpoints", "dram.endpoints_noc1"), self.dram_endpoints, strict=True):
            for bank, (x, y, _) in enumerate(places):
                first = bank - bank % self["dram.banks_per_tile"]
                if result.setdefault((x, y), first) != first:
                    raise self.wrong(
                        key,
                        f"{key} gives bank {bank} tile {x}-{y}, which is bank {result[x, y]}'s in dram.endpoints or "
                        "dram.endpoints_noc1",
                    )
        return result

    def with_workers(self, tiles):
        """The same chip with the rows and columns of `tiles` in its worker grid, less those that would cover DRAM.

        Parts differ in the rows or columns that are switched off; what ran on one part needs its grid.
        """
        columns, rows = ({*self[f"boards.{self.board}.{name}"]} for name in ("columns", "rows"))
        (width, height), found = self.noc_size, len(columns) + len(rows)
        for x, y in sorted(tiles):
            wider = columns | {x}, rows | {y}
            covers_dram = any(dx in wider[0] and dy in wider[1] for dx, dy in self.dram_tiles)
            if x < width and y < height and not covers_dram:
                columns, rows = wider
        if found == len(columns) + len(rows):
            return self
        leaves = dict(self._leaves)
        for name, values in (("columns", columns), ("rows", rows)):
            key = f"boards.{self.board}.{name}"
            leaves[key] = leaves[key] | {"value": sorted(values), "src": OVERRIDE}
        return Arch(self.name, self.path, self.board, leaves)

    def wrong(self, key, text):
        """A UsageError about a parameter, at its line if it stands in a user's file.

        What comes with tensim is right, so beside such a file an override is at fault.
        """
        path = None if Path(self.path).parent == DIRECTORY else self.path
        return _wrong(path, self._leaves[key], text)

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
        return {name: entry for name, entry in self._leaves[key].items() if name in LEAF_KEYS}

    def without_effect(self, numerics, among=None, chips=1):
        """What to tell the user of parameters that were changed although a program on so many chips does not use them.

        `among`: the keys that the user gave, if not all that were changed.
        """
        used = {None, numerics, *(["several chips"] if chips > 1 else [])}
        changed = (key for key, leaf in self._leaves.items() if leaf.get("changed") and (among is None or key in among))
        users = ((key, declaration(key).get("only")) for key in changed)
        return [f"{key} has no effect here: {USERS[only]}" for key, only in users if only not in used]

    @property
    def clock_mhz(self):
        return self["clock.aiclk_mhz"]

    @property
    def dram_banks(self):
        """Banks of the DRAM channels that the board has."""
        return len(self.dram_channels) * self["dram.banks_per_tile"]

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


def _unknown(key, owner, known):
    """UsageError for a key that is no parameter; `owner`: a text, or `where` of the error."""
    close = difflib.get_close_matches(key, known, 3, 0.5)
    hint = f"did you mean {', '.join(close)}?" if close else None
    if isinstance(owner, dict):
        return UsageError(f"there is no parameter {key!r}", where=owner, hint=hint)
    return UsageError(f"{owner} has no parameter {key!r}", hint=hint)


def _wrong(path, leaf, text, hint=None):
    """UsageError about a leaf, at its line if it stands in a user's file."""
    if "at" in leaf:
        return UsageError(text, where=leaf["at"], hint=hint)
    return UsageError(text if path is None else f"{path}: {text}", hint=hint)


def _flatten(node, path, lines, prefix=""):
    """{dotted key: leaf} of a file; `lines`: {dotted key: line} of a user's, whose leaves keep theirs `at`."""
    leaves = {}
    for key, value in node.items():
        dotted = f"{prefix}{key}"
        if dotted == "boards.default":
            continue
        at = {"at": {"file": path, "line": lines[dotted]}} if dotted in lines else {}
        if not isinstance(value, dict):
            leaves[dotted] = {"value": value, **at}
        elif "value" in value:
            unknown = {str(name) for name in value} - LEAF_KEYS - set(DECLARED)
            if unknown:
                raise _wrong(path, at, f"{dotted} has unknown entries {', '.join(sorted(unknown))}", LEAF_HINT)
            if value.get("conf", "assumed") not in CONFIDENCE:
                raise _wrong(path, at, f"{dotted}: confidence is one of {', '.join(CONFIDENCE)}")
            leaves[dotted] = {**value, **at}
        elif not value:
            raise _wrong(path, at, f"{dotted} is empty", LEAF_HINT)
        else:
            leaves |= _flatten(value, path, lines, f"{dotted}.")
    return leaves


@functools.cache
def _parse(path, changed):
    """(content of a file, lines of its keys); `changed`: its modification time, so that an edited file is read again.

    Only of a user's file the lines are looked up, and repeated keys, of which YAML keeps the last.
    """
    lines = {}
    if Path(path).parent == DIRECTORY:
        from tensim.sim.arch.kept_files import kept  # looks at all sources of compiled code

        data = kept(path, lambda: _construct(path))
    else:
        data = _construct(path, lines)
    if not isinstance(data, dict) or not isinstance(data.get("name"), str):
        raise UsageError(
            f"{path}: an architecture file is a mapping with a name", hint=f"begin it with name: {Path(path).stem}"
        )
    return data, lines


def _construct(path, lines=None):
    """What a YAML file holds; `lines`: a dict that gets those of its keys."""
    import yaml  # not for what is kept

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the C one is five times faster, where it was built
    try:
        loader = loader(Path(path).read_text())
        node = loader.get_single_node()
        if lines is not None:
            _mark(node, path, lines)
        return None if node is None else loader.construct_document(node)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1
        raise UsageError(f"not valid YAML: {error.problem}", where={"file": str(path), "line": line}) from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise UsageError(f"{path} is not valid YAML: {error}") from error


def _mark(node, path, lines, prefix="", inside=()):
    """Put the lines of a node's keys into `lines`; UsageError for a key that is there already."""
    if not hasattr(node, "value") or node.id != "mapping" or node in inside:
        return
    for key, value in node.value:
        dotted, line = f"{prefix}{key.value}", key.start_mark.line + 1
        if dotted in lines:
            where = {"file": path, "line": line}
            raise UsageError(f"{dotted} stands here again, first in line {lines[dotted]}", where=where, hint=AGAIN_HINT)
        lines[dotted] = line
        _mark(value, path, lines, f"{dotted}.", (*inside, node))


def _read(path, extending=()):
    """(name, default board, leaves) of a file; `extending`: files that extend it."""
    if path in extending:
        raise UsageError(f"{path}: extends itself, by way of {' and '.join(extending)}")
    try:
        data, lines = _parse(path, Path(path).stat().st_mtime_ns)
    except OSError as error:
        raise UsageError(f"cannot read architecture file {path}: {error.strerror}") from error
    leaves = _flatten({key: value for key, value in data.items() if key not in ("name", "extends")}, path, lines)
    boards = data.get("boards")
    board = boards.get("default") if isinstance(boards, dict) else None
    if "extends" in data:
        base = _locate(data["extends"], path)
        _, base_board, base_leaves = _read(base, (*extending, path))
        leaves, board = base_leaves | _changes(path, leaves, base_leaves), board or base_board
    elif Path(path).parent != DIRECTORY:
        leaves = _complete(path, leaves)
    return data["name"], board, leaves


def _changes(path, leaves, base_leaves):
    """The leaves of a file that extends another one, each with what it leaves out taken from there."""
    for key, leaf in leaves.items():
        _check_key(path, key, leaf, base_leaves)
    default = {"conf": "assumed", "src": path, "changed": True}
    return {key: base_leaves.get(key, {}) | default | leaf for key, leaf in check_leaves(leaves, path).items()}


def _check_key(path, key, leaf, known):
    """UsageError for the key of a user's leaf that is neither known nor a board's."""
    parts = key.split(".")
    if key in known or is_operation(key) or (parts[0] == "boards" and len(parts) == 3 and parts[2] in BOARD_UNITS):
        return
    sections = {one.rsplit(".", count)[0] for one in known for count in range(1, one.count(".") + 1)}
    if key in sections or key == "boards":
        raise _wrong(path, leaf, f"{key} must be a section, not {leaf['value']!r}")
    if parts[0] == "boards":
        raise _wrong(
            path,
            leaf,
            f"{key} is no part of a board",
            "boards: {default: NAME, NAME: {columns: [...], rows: [...], dram_channels: [...]}}",
        )
    owner = next((one for one in known if key.startswith(one + ".")), None)
    if owner:
        raise _wrong(path, leaf, f"{owner} has unknown entries {key[len(owner) + 1 :]}", LEAF_HINT)
    raise _unknown(key, leaf.get("at", path), [*known, *operations(), "name", "extends", "boards.default"])


def _complete(path, leaves):
    """The leaves of a chip that extends none, checked; UsageError when one is missing or unknown."""
    model, known = _read(_locate(MODEL))[2], set()
    for name in architectures():
        known |= {key for key in _read(_locate(name))[2] if not key.startswith("boards.")}
    for key, leaf in leaves.items():
        _check_key(path, key, leaf, known)
    left_out = ("boards.", *OPERATIONS)
    if not any(key.startswith(OPTIONAL) for key in leaves):
        left_out += (OPTIONAL,)
    missing = [key for key in model if not key.startswith(left_out) and key not in leaves]
    if missing:
        raise UsageError(
            f"{path}: no value for {missing[0]}, and {len(missing) - 1} others",
            hint=f"say 'extends: {MODEL}' to change some parameters of it",
        )
    return check_leaves(leaves, path)


def check_leaves(leaves, path=None):
    """{dotted key: leaf}, whole numbers as int, of leaves whose keys are known.

    UsageError for one with another unit than the model's, or with a value that is not of the declared type and range: it
    names file and line of a leaf that stands in a user's file, else `path`, if it is given.
    """
    from tensim.sim.arch.parameters import checked

    result = {}
    for key, leaf in leaves.items():
        declared = declaration(key)
        unit = declared["unit"]
        if leaf.get("unit", unit) != unit:
            raise _wrong(path, leaf, f"{key} has the unit {leaf['unit']!r}; it is in {unit!r}", "leave the unit out")
        for entry in DECLARED:
            if entry in leaf and leaf[entry] != declared.get(entry):
                raise _wrong(path, leaf, f"{key}: a file of your own cannot change {entry!r}", f"leave {entry!r} out")
        try:
            result[key] = leaf | {"value": checked(leaf["value"], unit, declared.get("range"))}
        except ValueError as error:
            raise _wrong(path, leaf, f"{key} {error}") from None
    return result


def check_relations(leaves, path):
    """UsageError when the values of a whole chip do not fit together; it names the place unless an override is at fault."""
    from tensim.sim.arch.parameters import contradiction

    found = contradiction({key: leaf["value"] for key, leaf in leaves.items()})
    if found:
        keys, text = found
        overridden = any(leaves[key].get("src") == OVERRIDE for key in keys)
        at = next((leaves[key] for key in keys if "at" in leaves[key] and not overridden), {})
        raise _wrong(None if overridden else path, at, text)


def declaration(key):
    """The model's leaf of a parameter; of a board, or of an operation that has a cost of its own, its unit."""
    if key.startswith("boards."):
        return {"unit": BOARD_UNITS[key.rsplit(".", 1)[1]]}
    return OPERATION if is_operation(key) else _read(_locate(MODEL))[2][key]


def is_operation(key):
    """Whether a parameter is the cost of a function of the vector unit: a chip has those that `vector_costs` is wrong about."""
    return key.startswith(OPERATIONS) and key.rpartition(".")[2] in vector_costs.names()


def operations():
    """Keys of all parameters that are costs of functions of the vector unit, whether a chip has them or not."""
    return [f"{section}{name}" for section in OPERATIONS for name in sorted(vector_costs.names())]


def _locate(name, extending=None):
    """Path of an architecture by name, in letters of any case, or path, relative to the file that extends it, if one does."""
    if str(name).endswith((".yaml", ".yml")):
        return str(name if extending is None else Path(extending).parent / name)
    known, plain = architectures(), str(name).lower()
    if plain not in known:
        near = "".join(f"; did you mean {one}?" for one in difflib.get_close_matches(plain, known, 1))
        raise UsageError(
            f"{f'{extending}: ' if extending else ''}unknown architecture {name!r}{near}",
            hint=f"one of {', '.join(known)}, or a path ending in .yaml",
        )
    return str(DIRECTORY / f"{plain}.yaml")


def load_arch(name_or_path, overrides=None):
    """Load an architecture.

    `name_or_path`: a name (`architectures()`) or a YAML path.  `overrides`: {dotted key: value}; the key `board` picks
    a board.  Raises UsageError for unknown names, keys, boards and for values that cannot be.
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
        for key, leaf in own.items():
            _check_key(path, key, leaf, leaves)
        leaves = leaves | check_leaves(own, path)
    else:
        path = f"the description of {name!r}"
        leaves = _complete(path, {key: {"value": v} for key, v in values.items() if key != "board"})
    return _resolved(path, name, values.get("board"), leaves, {**values, **(overrides or {})})


def _resolved(path, name, board, leaves, overrides):
    """The `Arch` of leaves with some values in place of theirs."""
    changes = {}
    for key, value in overrides.items():
        if key == "board":
            board = value
            continue
        if key not in leaves and not is_operation(key):
            raise _unknown(key, f"architecture {name} ({path})", [*leaves, *operations()])
        changes[key] = {"value": value}
    if changes:
        checked = check_leaves(changes)
        plain = {key: {k: v for k, v in leaves.get(key, OPERATION).items() if k != "at"} for key in checked}
        leaves = leaves | {key: plain[key] | leaf | {"src": OVERRIDE, "changed": True} for key, leaf in checked.items()}
    if changes or Path(path).parent != DIRECTORY:
        check_relations(leaves, path)
    product = PRODUCT.fullmatch(str(board))
    if product and f"boards.{board}.columns" not in leaves:
        board = product[1]
    if not {f"boards.{board}.columns", f"boards.{board}.rows"} <= leaves.keys():
        boards = sorted({key.split(".")[1] for key in leaves if key.startswith("boards.")})
        raise UsageError(
            f"{name} ({path}) has no board {board!r} with columns and rows", hint=f"one of {', '.join(boards)}"
        )
    return Arch(name, path, board, leaves)
