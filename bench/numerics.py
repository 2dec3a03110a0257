"""Speed of `numerics=exact`: tile products of a whole program on one core, and conversions of formats from numpy."""

import time

import numpy as np

import tensim as tt
from tensim.running.options import Options
from tensim.running.runnable import find_program
from tensim.sim.cores.numerics.data_format import DataFormat
from tensim.sim.cores.numerics.host_formats import decode, encode

EDGE = 20  # tiles
DATUMS = 1 << 22
REPEATS = 3


def products_per_second(fidelity):
    """Tile products per second of host time of a bf16 matmul on one core, data movement and upload included."""
    device = tt.create_device(0, numerics="exact")
    try:
        shape = "x".join([str(32 * EDGE)] * 3)
        best = min(_seconds(device, Options(shape, "bf16", fidelity, "1x1")) for _ in range(REPEATS))
    finally:
        tt.close_device(device)
    return EDGE**3 / best


def _seconds(device, options):
    begun = time.perf_counter()
    find_program("matmul_single_core").run_on(device, options)
    return time.perf_counter() - begun


def conversions_per_second(data_format):
    """(encoded, decoded) datums per second between row-major numpy arrays and tiles."""
    side = int(DATUMS**0.5)
    values = np.random.default_rng(0).standard_normal((side, side), dtype=np.float32)
    data = encode(values, data_format)
    into = min(_time(lambda: encode(values, data_format)) for _ in range(REPEATS))
    back = min(_time(lambda: decode(data, data_format, values.shape)) for _ in range(REPEATS))
    return DATUMS / into, DATUMS / back


def _time(action):
    begun = time.perf_counter()
    action()
    return time.perf_counter() - begun


def figures():
    """[(name, value per second, least value)] of everything measured here."""
    rows = [
        ("exact numerics: bf16 tile products, HiFi4", products_per_second("HiFi4"), 8_000),
        ("exact numerics: bf16 tile products, LoFi", products_per_second("LoFi"), 25_000),
    ]
    for name, code, least in (("bf16", DataFormat.Float16_b, 500e6), ("bfp8", DataFormat.Bfp8_b, 100e6)):
        encoded, decoded = conversions_per_second(code)
        rows.append((f"formats: float32 to {name} tiles, datums", encoded, least))
        rows.append((f"formats: {name} tiles to float32, datums", decoded, least))
    return rows


if __name__ == "__main__":
    for name, value, least in figures():
        print(f"{name}: {value:,.0f}/s (at least {least:,.0f})")
