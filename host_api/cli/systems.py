"""The commands of `tensim` that deal with systems of devices: `query` and `check`."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NoReturn

import click

from tensim.cli.options import json_option
from tensim.cli.output import TO_STDOUT, progress_bar, report_console, require_writable, write_json
from tensim.sim.errors import UsageError

if TYPE_CHECKING:
    from tensim.runtime.description import CompatReport
    from tensim.runtime.selection import DeviceInfo, Selection
    from tensim.runtime.system import System
    from tensim.traces.light_metal.binary import Binary

SYSTEM_HELP = "Boards and architectures that the system has, e.g. n300 or wormhole_b0,blackhole."


@click.command()
@click.argument("pattern", default="*")
@click.option("--system", "boards", help=f"{SYSTEM_HELP}  [default: one chip of every architecture]")
@click.option("--explain", metavar="SPEC", help="Also say what a device spec selects, and why, term by term.")
@json_option
def query(pattern: str, boards: str | None, explain: str | None, json_to: str | None) -> None:
    """List the devices of a system whose specs match a shell PATTERN, and its links.

    A spec of the list opens the device: `run --device SPEC`, `System.open(SPEC)`.
    """
    from tensim.running.device_choice import boards_for, declared

    require_writable(json_to)
    with progress_bar() as on_progress:
        on_progress("reading the parameters of the chips")
        with declared(boards or boards_for(explain)) as system:
            result = _query(system, pattern, explain)
    result = {"system": boards or ",".join(dict.fromkeys(chip["arch"] for chip in result["chips"])), **result}
    if json_to:
        write_json(result, json_to)
    if json_to != TO_STDOUT:
        _print_query(result)


def _query(system: System, pattern: str, explain: str | None) -> dict[str, Any]:
    return {
        **system.describe(),
        "devices": [dataclasses.asdict(info) for info in system.list_devices(pattern)],
        "selection": None if explain is None else _selection(system.explain(explain)),
    }


def _selection(selection: Selection) -> dict[str, Any]:
    """The verdicts on a spec: {"default", "devices": [{"name", "device", "params", "terms": [{"term", "verdict"}]}]}."""
    rows = [
        {
            "name": choice.name,
            "device": None if choice.info is None else choice.info.spec,
            "params": choice.params,
            "terms": [{"term": str(term), "verdict": verdict} for term, verdict in choice.reasons],
        }
        for choice in selection.values()
    ]
    return {"default": selection.default, "devices": rows}


def _print_query(result: dict[str, Any]) -> None:
    from rich.markup import escape
    from rich.table import Table

    console = report_console()
    table = Table(show_edge=False, pad_edge=False)
    for column in ("#", "spec", "mesh", "queues", "MHz", "worker grid", "reached by"):
        table.add_column(column, no_wrap=column == "spec")
    for device in result["devices"]:
        by = "itself" if device["scheme"] == "host" else "PCIe" if device["mmio"] else f"chip {device['remote_of']}"
        mesh, grid = (f"{a}x{b}" if a else "" for a, b in (device["mesh_shape"], device["grid"]))
        row = (device["id"], device["spec"], mesh, device["queues"], device["clock_mhz"] or "", grid, by)
        table.add_row(*(escape(str(cell)) for cell in row))
    console.print(table)
    for link in result["links"]:
        console.print(
            f"{link['src']} -> {link['dst']}: {link['kind']}, {link['lanes']} x {link['bytes_per_ns']:g} GB/s, "
            f"{link['latency_ns']:g} ns",
            highlight=False,
        )  # fmt: skip
    for choice in (result["selection"] or {}).get("devices", ()):
        console.print(f"{choice['name']}: {escape(choice['device'] or 'none')}", highlight=False)
        for term in choice["terms"]:
            console.print(f"  {escape(term['term'])}: {escape(term['verdict'])}", highlight=False)


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@click.option("--device", "spec", metavar="SPEC", help="Check against the device that a spec selects.")
@click.option("--system", "boards", help=f"Check against a whole system. {SYSTEM_HELP}")
@click.option("--exact", is_flag=True, help="The system must equal the one that the file was made for.")
@json_option
def check(file: str, spec: str | None, boards: str | None, exact: bool, json_to: str | None) -> NoReturn:
    """Check whether a saved binary FILE fits a device.

    A binary of programs is compared in what its programs use, a captured run in what its commands ask of the chip.
    Exit code 1 when it does not fit.
    """
    require_writable(json_to)
    if (spec is None) == (boards is None):
        raise UsageError("check needs a target", hint="either --device SPEC or --system NAME")
    with progress_bar() as on_progress:
        on_progress(f"checking {file}")
        report = _check(file, spec, boards, "exact" if exact else "compatible")
    result = {
        "file": file, "target": spec or boards, "mode": report.mode, "ok": report.ok, "problems": list(report.problems),
        "diff": report.diff,
    }  # fmt: skip
    if json_to:
        write_json(result, json_to)
    if json_to != TO_STDOUT:
        click.echo(f"{file}: {'fits' if report.ok else 'DOES NOT FIT'} {result['target']}\n{report}")
    raise SystemExit(0 if report.ok else 1)


def _check(file: str, spec: str | None, boards: str | None, mode: str) -> CompatReport:
    from tensim.light_metal.binary import verified
    from tensim.running.device_choice import boards_for, declared
    from tensim.runtime.binaries import Binary
    from tensim.runtime.description import check, describe_declared

    opened = verified(file)
    with declared(boards or boards_for(spec)) as system:
        infos = system.inventory if spec is None else [_one(system.explain(spec), spec)]
        if opened.reader.root("binary").binary is None:
            return _check_capture(opened, system, infos, mode)
        return check(Binary.load(opened), system if spec is None else describe_declared(system, infos[0]), mode)


def _one(selection: Selection, spec: str) -> DeviceInfo:
    choices = list(selection.values())
    if len(choices) != 1 or choices[0].info is None:
        raise UsageError(
            f"--device {spec!r} does not select exactly one device", hint="--system checks against several"
        )
    return choices[0].info


def _check_capture(opened: Binary, system: System, infos: Iterable[DeviceInfo], mode: str) -> CompatReport:
    """A captured run against the chip that it fits best."""
    from tensim.runtime.description import CompatReport, unified_diff
    from tensim.traces.light_metal.read import described_chip
    from tensim.traces.light_metal.verify import fit_problems

    reports = []
    for info in infos:
        if info.scheme != "sim":
            continue
        found = fit_problems(opened, info.arch)
        problems = [
            {"program": None, "field": p["field"], "expected": "what the chip has", "found": p["why"]} for p in found
        ]
        diff = ""
        if mode == "exact":
            arch = system.archs[system.inventory.chip_of(info)]
            made_for = [described_chip(item).load() for item in opened.root.devices or ()]
            diff = unified_diff([item.values() for item in made_for], [arch.values()] * max(len(made_for), 1))
        if diff:
            problems.append({"program": None, "field": "chip", "expected": "equal parameters", "found": info.spec})
        reports.append(CompatReport(mode, tuple(problems), diff))
    if not reports:
        raise UsageError("a captured run needs a simulated chip", hint="--device sim://wormhole_b0")
    return min(reports, key=lambda report: len(report.problems))
