"""`tensim validate numerics DIR`: both layouts of golden cases, made here with the second reference."""

import functools
import json

import numpy as np
import pytest

import tensim as tt
from tensim.sim.cores.numerics.tile_order import tilize
from tensim.validation.numerics import rows as numerics
from tests.commands import exit_code
from tests.cores.numerics import reference_tiles
from tests.cores.numerics.reference import Unit, packed

SIDE = 32
RNG_SEED = 7


def bf16(rng, shape):
    """Random bf16 patterns."""
    return (rng.standard_normal(shape, dtype=np.float32).view(np.uint32) >> 16).astype(np.uint16)


def wide_words(bits):
    return bits.astype(np.uint32) << 16


@pytest.fixture
def single(tmp_path):
    """A folder of the tile_ops layout: one product with a 32-bit Dst, one sum."""
    rng, records = np.random.default_rng(RNG_SEED), []
    for op, wide in (("mm", True), ("add", False)):
        a, b = bf16(rng, (1, SIDE, SIDE)), bf16(rng, (1, SIDE, SIDE))
        if op == "mm":
            zero = np.zeros((SIDE, SIDE), np.uint32)
            dst = reference_tiles.matmul(wide_words(a[0]), wide_words(b[0]), zero, 2, False, True, False)
            out = dst
        else:
            unit = Unit()
            pairs = zip(wide_words(a[0]).ravel(), wide_words(b[0]).ravel(), strict=True)
            dst = np.array([unit.plus(int(x), int(y)) >> 16 for x, y in pairs], np.uint32).reshape(SIDE, SIDE)
            out = dst.astype(np.uint16)
        name = f"case_{op}"
        for end, array in (("in0", a), ("in1", b), ("dst", dst), ("out", out)):
            np.save(tmp_path / f"{name}.{end}.npy", array)
        records.append(
            {
                "name": name, "arch": "bh", "op": op, "in_format": "bf16", "src_reg_format": "bf16", "fidelity": "HiFi2",
                "phases": 2, "dst_fp32": wide, "out_format": "fp32" if wide else "bf16", "k_tiles": 1,
            }
        )  # fmt: skip
    (tmp_path / "index.json").write_text(json.dumps(records))
    return tmp_path


@pytest.fixture
def whole(tmp_path):
    """A folder of the ops layout: tilize, a change to bfp8, a broadcast difference, and an operation nobody knows."""
    rng, shape = np.random.default_rng(RNG_SEED), (64, 32)
    a, column = bf16(rng, shape), bf16(rng, (64, 1))
    blocks = [packed([*map(int, row)], "bfp8", precise=True) for row in wide_words(tilize(a, *a.shape)).reshape(-1, 16)]
    tiles = []
    for first in (0, 64):
        exponents, datums = zip(*blocks[first : first + 64], strict=True)
        tiles += [*exponents, *(datum for row in datums for datum in row)]
    unit = Unit(quirk=True)
    differences = [
        [unit.plus(int(x), int(y[0]), subtract=True) >> 16 for x in row]
        for row, y in zip(wide_words(a), wide_words(column), strict=True)
    ]
    arrays = {
        "tilize": {"a": a, "out": a},
        "clone": {"a": a, "out": a},
        "subtract": {"a": a, "b_f32": wide_words(column).view(np.float32), "out": np.array(differences, np.uint16)},
        "typecast": {"a": a, "out": np.array(tiles, np.uint8)},
        "sort": {"a": a, "out": a},
    }
    stored, records = {}, []
    for op, named in arrays.items():
        out = "bfp8" if op == "typecast" else "bf16"
        keys = {name: {"key": f"{op}/{name}"} for name in named}
        stored |= {f"{op}/{name}": array for name, array in named.items()}
        records.append(
            {
                "id": f"{op}_case", "op": op, "a": "bf16", "b": "bf16", "out": out, "shape": [*shape], "bcast": "col",
                "out_dtype": out, "out_padded_shape": [*shape], "out_shape": [*shape], "out_layout": "Layout.TILE",
                "file": "cases.npz", "arrays": keys, "cls": "normal",
            }
        )  # fmt: skip
    np.savez(tmp_path / "cases.npz", **stored)
    (tmp_path / "index.json").write_text(json.dumps(records))
    return tmp_path


def validate(capsys, *folders):
    """(exit code, standard output) of the command."""
    code = exit_code("validate", "numerics", *map(str, folders), "--json")
    return code, capsys.readouterr().out


def compared(capsys, *folders):
    code, out = validate(capsys, *folders)
    assert code == 0
    return json.loads(out)


@pytest.mark.parametrize("layout", ["single", "whole"])
def test_kernels_of_all_cases_make_no_mistakes(layout, request, monkeypatch):
    monkeypatch.setattr(tt, "create_device", functools.partial(tt.create_device, check=True))
    result = numerics.validate_folder(request.getfixturevalue(layout), lambda share: None)
    assert result["n"] >= 2 and (result["failed"], result["failures"]) == (0, [])


def test_single_tiles(capsys, single):
    result = compared(capsys, single)
    assert (result["n"], result["failed"], result["skipped"]) == (2, 0, [])
    assert {"name": "case_mm", "op": "mm", "mismatching": 0, "total": 2048} in [
        {key: row[key] for key in ("name", "op", "mismatching", "total")} for row in result["rows"]
    ]


def test_a_wrong_datum_is_counted(capsys, single):
    path = single / "case_add.out.npy"
    out = np.load(path)
    out[3, 4] ^= 1
    np.save(path, out)
    result = compared(capsys, single)
    assert result["failed"] == 1 and [row["mismatching"] for row in result["rows"]] == [0, 1]


def test_an_output_of_another_size_has_no_right_datum(capsys, single):
    path = single / "case_add.out.npy"
    twice = np.concatenate([np.load(path)] * 2)
    np.save(path, twice)
    result = compared(capsys, single)
    assert result["failed"] == 1 and result["skipped"] == []
    assert [row["mismatching"] for row in result["rows"]] == [0, twice.size]


def test_whole_operations(capsys, whole):
    """What cannot be run is skipped with its reason."""
    result = compared(capsys, whole)
    assert [item["id"] for item in result["skipped"]] == ["sort_case"] and "sort" in result["skipped"][0]["why"]
    mismatching = {row["op"]: row["mismatching"] for row in result["rows"]}
    assert mismatching == {"tilize": 0, "clone": 0, "subtract": 0, "typecast": 0}


def test_several_folders_are_one_report(capsys, single):
    assert compared(capsys, single, single)["n"] == 4


def test_folder_without_cases(tmp_path, capsys):
    (tmp_path / "index.json").write_text("{}")
    code, out = validate(capsys, tmp_path)
    assert code == 2 and "not a list of golden cases" in out
