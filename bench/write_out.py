"""Write-outs of matrix products to DRAM against silicon: what a traced run takes besides its longest TRISC1 kernel.

`python -m bench.write_out gemm.csv [REPORT]` takes the traced rows of a report (2026-07) whose output lies in DRAM, and prints
how long it takes from the last product to the last written tile here and on silicon: time per run less the gap between
operations and the TRISC1 cycles, which were measured at the full clock.  On silicon the run is taken at the clock that
lasting load leaves here.  Below a tenth of the run, or 1 MB, the difference of two long times says little: such rows are left
out, as are products of over 2e11 multiply-adds, which write for less than that.  Half a minute.
"""

import statistics

import click
from rich.progress import track

from tensim.sim.arch import load_arch
from tensim.sim.cores.numerics.data_format import DataFormat, tile_size
from tensim.validation.gemm import rows as gemm
from tensim.validation.rows import cases_of, read_rows

LEAST_SHARE, LEAST_BYTES, MOST_WORK = 0.1, 1e6, 2e11


def output_bytes(spec):
    """Bytes of the tiles that a product writes."""
    m, _, n = spec[3]
    return m * n // gemm.TILE**2 * tile_size(DataFormat(spec[4]))


def tails(spec, trisc1_cycles, run_ns):
    """(ns here, ns on silicon, share of the run here) of the write-out of one product, whose silicon times are given."""
    arch = load_arch(spec[0], {"board": spec[1]})
    gap_ns, ns_per_cycle = arch["dispatch.op_gap_ns"], 1000 / arch.clock_mhz
    cycles, lasting_ns, _, full_ns, _ = gemm.simulate(spec)
    here = full_ns - gap_ns - cycles * ns_per_cycle
    speed_up = (full_ns - gap_ns) / (lasting_ns - gap_ns)
    return here, (run_ns - gap_ns) * speed_up - trisc1_cycles * ns_per_cycle, here / full_ns


def measured(path, report):
    """[(spec, TRISC1 cycles, ns per run)] of the rows of a report that say something."""
    rows, layout = read_rows(path, gemm.COLUMNS)
    rows = [row for row in rows if row["report_generation"] == report and row["use_trace"] == "True"]
    cases, _, _ = cases_of(rows, layout, gemm.read_device)
    return [
        (case.spec, case.measured, gemm.read_host(row, layout).measured)
        for row, case in cases
        if row["out_memory"] == "DRAM" and output_bytes(case.spec) >= LEAST_BYTES and case.work <= MOST_WORK
    ]


@click.command(help=__doc__)
@click.argument("path", metavar="FILE.csv", type=click.Path(exists=True, dir_okay=False))
@click.argument("report", default="2026-07")
def main(path, report):
    ratios = {}
    for spec, trisc1_cycles, run_ns in track(measured(path, report), "products"):
        here, silicon, share = tails(spec, trisc1_cycles, run_ns)
        if share < LEAST_SHARE:
            continue
        ratios.setdefault(spec[0], []).append(here / silicon)
        name = f"{spec[1]:10} {'x'.join(map(str, spec[3])):15} {DataFormat(spec[4]).name:9} {spec[5]:5}"
        print(f"{name} {here / 1000:7.1f} us here, {silicon / 1000:7.1f} on silicon: {here / silicon:.2f}", flush=True)
    for arch, found in ratios.items():
        found.sort()
        tenth = len(found) // 10
        print(
            f"{arch}: {len(found)} rows, median {statistics.median(found):.2f} of silicon, "
            f"one of ten below {found[tenth]:.2f} and above {found[-1 - tenth]:.2f}"
        )


if __name__ == "__main__":
    main()
