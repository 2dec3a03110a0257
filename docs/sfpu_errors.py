"""Measure the vector unit's functions against float64 and write the table of docs/numerics.md: python -m docs.sfpu_errors."""

from pathlib import Path

import numpy as np

from tensim.sim import state
from tensim.sim.cores.numerics.matrix_unit import WIDE
from tensim.sim.cores.numerics.sfpu_exact import sfpu_binary_exact, sfpu_unary_exact
from tensim.sim.cores.numerics.sfpu_functions import SfpuBinary, SfpuUnary
from tensim.sim.cores.numerics.tensix_exact import set_dst_kind
from tensim.sim.cores.operations import Approximation
from tests.cores.numerics.sfpu_definitions import BINARY, UNARY, A, B, C

PAGE = Path(__file__).with_name("numerics.md")
BEGIN, END = "<!-- sfpu errors: docs/sfpu_errors.py -->", "<!-- end -->"
TILE, TILES = 1024, 8
MANTISSA = {True: 23, False: 7}  # by width of Dst: float32, bf16
SMALLEST = -126


def bits(value):
    return int(np.float32(value).view(np.uint32))


def as_held(values, wide):
    """Values as Dst holds them."""
    words = np.asarray(values, np.float32).view(np.uint32)
    return (words if wide else words & 0xFFFF0000).view(np.float32)


def core(wide):
    record = np.zeros(1, state.CORE)
    record["fp32_dest"] = wide
    for tile in range(3):
        set_dst_kind(record[0], tile, WIDE)
    return record[0]


def unary(name, x, wide):
    """The function of every value of `x`, as left in Dst."""
    out = x.copy()
    for first in range(0, len(x), TILE):
        sfpu_unary_exact(
            core(wide),
            int(SfpuUnary[name.upper()]),
            int(Approximation.ACCURATE),
            out,
            first,
            0,
            bits(A),
            bits(B),
            bits(C),
        )
    return out


def binary(name, x, y, wide):
    out = []
    for first in range(0, len(x), TILE):
        dst = np.concatenate([x[first : first + TILE], y[first : first + TILE], np.zeros(TILE, np.float32)])
        sfpu_binary_exact(core(wide), int(SfpuBinary[name.upper()]), dst, 0, 0, 1, 2, 0)
        out.append(dst[2 * TILE :])
    return np.concatenate(out)


def largest_error(found, wanted, wide):
    """Largest |error| in units of the last place of the true value in Dst's format."""
    wanted = np.asarray(wanted, np.float64)
    exponents = np.maximum(np.frexp(wanted)[1] - 1, SMALLEST)
    return float((np.abs(found.astype(np.float64) - wanted) / 2.0 ** (exponents - MANTISSA[wide])).max())


def rows():
    """[(function, range, error with 32-bit Dst, error with 16-bit Dst)]."""
    for name, (definition, low, high) in UNARY.items():
        errors = []
        for wide in (True, False):
            x = as_held(np.linspace(low, high, TILE * TILES), wide)
            x = x[(x >= low) & (x <= high)]
            x = np.resize(x, TILE * TILES)
            errors.append(largest_error(unary(name, x, wide), [definition(float(v)) for v in x], wide))
        yield name, f"{low} .. {high}", *errors
    for name, definition in BINARY.items():
        errors = []
        for wide in (True, False):
            x = as_held(np.linspace(0.1, 4, TILE * TILES), wide)
            y = as_held(np.random.default_rng(0).permutation(x), wide)
            wanted = [definition(float(a), float(b)) for a, b in zip(x, y, strict=True)]
            errors.append(largest_error(binary(name, x, y, wide), wanted, wide))
        yield name, "0.1 .. 4 (both)", *errors


def main():
    lines = ["| function | range | 32-bit Dst, ulp of float32 | 16-bit Dst, ulp of bf16 |", "|---|---|--:|--:|"]
    lines += [f"| {name} | {where} | {wide:.2f} | {narrow:.2f} |" for name, where, wide, narrow in rows()]
    text = PAGE.read_text()
    before, after = text[: text.index(BEGIN) + len(BEGIN)], text[text.index(END) :]
    PAGE.write_text(f"{before}\n" + "\n".join(lines) + f"\n{after}")


if __name__ == "__main__":
    main()
