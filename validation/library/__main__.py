"""Compare device times of the library's operations with silicon's: see `tensim.validation.library`."""

import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import click

from tensim.sim.output_files import write_output
from tensim.validation.figures import distribution, error_percent

OPERATIONS = Path(__file__).with_name("operations.py")
ARCHS = {"N150": "wormhole_b0", "P150": "blackhole", "wormhole_b0 n150": "wormhole_b0"}
BATCH = 60  # operations of one process of the library
DTYPES = {"bfloat16": "BFLOAT16", "bfloat8": "BFLOAT8_B", "float32": "FLOAT32", "uint32": "UINT32"}
NAMES = ("ttnn.matmul", "ttnn.exp")  # of the operations that are timed
EXP_BOARD = "n300"  # 8 x 7 cores, as the steps of the measured times tell
REPORTS = ("2026-07",)  # of gemm.csv: those with device times of the library's present programs
BLOCKS = {  # of a product: names of the program's configuration, and of the columns that state them
    "in0_block_w": "in0_block_w_tiles", "per_core_M": "per_core_M_tiles", "per_core_N": "per_core_N_tiles",
    "out_block_h": "out_block_h_tiles", "out_block_w": "out_block_w_tiles",
    "out_subblock_h": "out_subblock_h_tiles", "out_subblock_w": "out_subblock_w_tiles",
}  # fmt: skip


def matmul_rows(path, rows):
    """Products with a device time: out of box without a trace, and those with stated blocks, where it does not matter."""
    for number, row in enumerate(rows, 1):
        stated = row["config_mode"] == "manual" and all(row[column] for column in BLOCKS.values())
        plain = row["config_mode"] == "out_of_box" and row["use_trace"] == "False"
        if (stated or plain) and row["report_generation"] in REPORTS and row["derived_trisc1_kernel_cycles"]:
            arch = ARCHS[row["chip"]]
            yield {
                "id": f"{path.name}:{number}", "arch": arch,
                "group": f"{arch}/matmul/{'stated blocks' if stated else row['dtype']}",
                "board": None, "operation": "matmul", "shape": [int(row[name]) for name in "MKN"], "dtype": row["dtype"],
                "fidelity": row["math_fidelity"], "memory": [row[f"{name}_memory"] for name in ("in0", "in1", "out")],
                "blocks": {name: int(row[column]) for name, column in BLOCKS.items()} if stated else None,
                "grid": [int(row["grid_x"]), int(row["grid_y"])],
                "sharded": [row["in0_sharded"] == "True", row["out_sharded"] == "True"],
                "measured": float(row["derived_trisc1_kernel_cycles"]), "unit": "cycles",
            }  # fmt: skip


def exp_rows(path, rows):
    """Streams of exp: the median of samples of which half have their output in DRAM, half in L1, where it fits
    (`tensim.validation.streaming`)."""
    for number, row in enumerate(rows, 1):
        shape = [int(row[f"dim{i}"]) for i in range(4)]
        while shape[-1] == 0:
            shape.pop()
        if row["dtype"] in DTYPES and len(shape) > 1:
            arch = ARCHS[row["chip"]]
            yield {
                "id": f"{path.name}:{number}", "arch": arch, "group": f"{arch}/exp/{row['dtype']}/{row['input_memory']}",
                "board": EXP_BOARD, "operation": "exp", "shape": shape, "dtype": DTYPES[row["dtype"]],
                "memory": [row["input_memory"]], "outputs": ["DRAM", "L1"],
                "measured": float(row["median_ns"]), "unit": "ns",
            }  # fmt: skip


def read(path):
    """The rows of a file; UsageError of click for another one."""
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    if rows and "derived_trisc1_kernel_cycles" in rows[0]:
        return list(matmul_rows(path, rows))
    if rows and {"dim0", "input_memory"} <= rows[0].keys():
        return list(exp_rows(path, rows))
    raise click.UsageError(f"{path}: neither products of matrices nor streams of exp")


def simulate(rows, arch, board, python, compute):
    """Cycles or ns of each row of a chip, the mean over its outputs; None where the library refuses the operation."""
    calls = [(row, output) for row in rows for output in row.get("outputs", [None])]
    with tempfile.TemporaryDirectory() as folder:
        listed, report = Path(folder, "rows.json"), Path(folder, "report.json")
        listed.write_text(json.dumps([row | {"output": output} for row, output in calls]))
        command = [sys.executable, "-m", "tensim", "ttnn", "--library", "--arch", arch, "--numerics", "off"]
        command += ["--compute", compute]
        command += [*(("--set", f"board={board}") if board else ()), *(("--python", python) if python else ())]
        command += ["--json", str(report), str(OPERATIONS), str(listed)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise click.ClickException(
                done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "the library failed"
            )
        refused = {json.loads(line)["place"] for line in done.stdout.splitlines() if line.startswith('{"place"')}
        ran = [one for one in json.loads(report.read_text())["operations"] if one["name"].split(" ")[0] in NAMES]
    second, found = iter(ran[1::2]), {row["id"]: [] for row in rows}
    for place, (row, _) in enumerate(calls):
        if place not in refused:
            one = next(second)
            found[row["id"]].append(one["kernels"]["TRISC1"] if row["unit"] == "cycles" else one["ns"])
    return [sum(times) / len(times) if times else None for times in found.values()]


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--python", help="an interpreter that has the library")
@click.option("--compute", type=click.Choice(["operation", "instruction"]), default="operation", show_default=True)
@click.option("--every", type=click.IntRange(1), default=1, help="only every so many rows of a group")
@click.option("--json", "json_to", type=click.Path(), help="write rows and groups")
def main(files, python, compute, every, json_to):
    """Time operations of the vendor's library on simulated chips and compare them with the rows of FILES."""
    groups = {}
    for path in files:
        for row in read(path):
            groups.setdefault(row["group"], []).append(row)
    rows = [row for members in groups.values() for row in members[::every]]
    for arch, board in sorted({(row["arch"], row["board"]) for row in rows}, key=str):
        mine = [row for row in rows if (row["arch"], row["board"]) == (arch, board)]
        for first in range(0, len(mine), BATCH):
            some = mine[first : first + BATCH]
            for row, simulated in zip(some, simulate(some, arch, board, python, compute), strict=True):
                row["simulated"] = simulated
                row["err_pct"] = None if simulated is None else error_percent(simulated, row["measured"])
            click.echo(f"{arch}: {min(first + BATCH, len(mine))} of {len(mine)}", err=True)
    result = {"rows": rows, "groups": {}}
    for name in sorted(groups):
        mine = [row["err_pct"] for row in rows if row["group"] == name]
        result["groups"][name] = distribution(mine) | {"refused": mine.count(None)}
    everything = distribution([row["err_pct"] for row in rows])
    for name, one in [*result["groups"].items(), ("all", everything)]:
        if "median_abs_err_pct" in one:
            click.echo(
                f"{name:44} n {one['n']:4}  median {one['median_abs_err_pct']:5.1f} %  p90 {one['p90_abs_err_pct']:5.1f}  "
                f"worst {one['max_abs_err_pct']:6.1f}  bias {one['bias_pct']:+.1f}"
            )
    if json_to:
        write_output(json_to, json.dumps(result | {"all": everything}, indent=1) + "\n")


if __name__ == "__main__":
    main()
