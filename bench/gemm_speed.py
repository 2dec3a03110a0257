"""Host speed of matrix products, timing only: simulated core-cycles per second of processor time.

`python -m bench.gemm_speed FILE.csv [LARGEST]` runs the distinct programs of `tensim validate gemm`, those of at most
LARGEST multiply-adds, one after the other, and prints the rate of each; then the time of 4096^3 and 16384^3.
"""

import resource
import time

import click

from tensim.sim.arch import load_arch
from tensim.sim.cores.numerics.data_format import DataFormat
from tensim.validation.gemm import blocks as gemm_blocks
from tensim.validation.gemm import rows as gemm
from tensim.validation.rows import cases_of, read_rows

N150 = ("wormhole_b0", "n150", (8, 8))
CUBE_SECONDS, LARGE_CUBE_SECONDS, LARGE_CUBE_BYTES, CORE_CYCLES = 6, 300, 6e9, 150e6


def run(spec):
    """(core-cycles, seconds of processor time) of one program."""
    begun = time.process_time()
    cycles, *_ = gemm.simulate(spec)
    return cycles * spec[2][0] * spec[2][1], time.process_time() - begun


def cube(size):
    """Seconds of processor time for a size^3 bf16 HiFi4 product on a full n150, operands in DRAM."""
    blocks = gemm_blocks.tuned((size,) * 3, N150[2], DataFormat.Float16_b, load_arch(N150[0]), False, False)
    spec = (
        *N150, (size,) * 3, int(DataFormat.Float16_b), "HiFi4", False, False, "rows_columns", tuple(blocks.items()), True
    )  # fmt: skip
    return run(spec)[1]


def specs(path, largest):
    """Distinct programs of a file, the smallest first."""
    rows, layout = read_rows(path, gemm.COLUMNS)
    cases, _, _ = cases_of(rows, layout, gemm.read_host)
    work = {case.spec: case.work for _, case in cases if case.work <= largest}
    return sorted(work, key=work.get)


@click.command(help=__doc__)
@click.argument("path", metavar="FILE.csv", type=click.Path(exists=True, dir_okay=False))
@click.argument("largest", type=float, default=float("inf"))
def main(path, largest):
    cube(512)  # loads the compiled simulator
    total = [0, 0.0]
    for spec in specs(path, largest):
        cycles, seconds = run(spec)
        total = [total[0] + cycles, total[1] + seconds]
        name = f"{spec[1]:10} {'x'.join(map(str, spec[3])):17} {DataFormat(spec[4]).name:9} {spec[5]:5}"
        print(f"{name} {seconds:8.2f} s {cycles / seconds / 1e6:7.1f} M core-cycles/s", flush=True)
    print(f"all: {total[0] / total[1] / 1e6:.1f} M core-cycles/s, goal {CORE_CYCLES / 1e6:.0f}")
    print(f"4096^3: {cube(4096):.1f} s, goal {CUBE_SECONDS}")
    large = cube(16384)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(
        f"16384^3: {large:.0f} s, goal {LARGE_CUBE_SECONDS}; {memory / 1e9:.1f} GB, goal {LARGE_CUBE_BYTES / 1e9:.0f}"
    )


if __name__ == "__main__":
    main()
