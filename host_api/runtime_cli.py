"""The commands of `tensim` that deal with devices and binaries of the runtime: `query` and `check`."""

import click
from rich.console import Console
from rich.table import Table

from host_api.command_line import TO_STDOUT, json_option, main, write_json

system_option = click.option(
    "--system", "system_name", default="n150", show_default=True, metavar="BOARDS",
    help="What there is: boards and architectures, e.g. n300 or wormhole_b0,blackhole.",
)  # fmt: skip


@main.command()
@click.argument("pattern", default="*")
@system_option
@click.option("--explain", metavar="SPEC", help="Which device a spec would get, and why not the others.")
@json_option
def query(pattern, system_name, explain, json_to):
    """List declared devices whose spec matches PATTERN; a listed spec opens its device."""
    from host_api.runtime import System

    with System(system_name) as system:
        result = system.describe()
        result["devices"] = [one for one in result["devices"] if one["spec"] in matching(system, pattern)]
        if explain:
            selection = system.explain(explain)
            result["explain"] = {
                name: {
                    "spec": None if choice.info is None else choice.info.spec,
                    "reasons": [{"term": str(term), "verdict": verdict} for term, verdict in choice.reasons],
                }
                for name, choice in selection.items()
            }
    if json_to:
        write_json(result, json_to)
    if json_to != TO_STDOUT:
        print_devices(result)
        if explain:
            click.echo(str(selection))


def matching(system, pattern):
    """Specs of the declared devices that match a shell pattern."""
    return {info.spec for info in system.list_devices(pattern)}


def print_devices(result):
    """Devices and links as tables."""
    table = Table(title="devices")
    for name in ("#", "spec", "grid", "clock (MHz)", "queues", "reached over"):
        table.add_column(name)
    for one in result["devices"]:
        over = "PCIe" if one["mmio"] else f"ethernet of chip {one['remote_of']}"
        if one["scheme"] == "host":
            over = "-"
        grid = "x".join(map(str, one["grid"])) if one["scheme"] != "host" else "-"
        table.add_row(str(one["id"]), one["spec"], grid, f"{one['clock_mhz']:g}", str(one["queues"]), over)
    console = Console()
    console.print(table)
    links = Table(title="links")
    for name in ("from", "to", "kind", "GB/s", "latency (ns)", "lanes"):
        links.add_column(name)
    for link in result["links"]:
        cells = (
            link["from"],
            link["to"],
            link["kind"],
            f"{link['bytes_per_ns']:g}",
            f"{link['latency_ns']:g}",
            str(link["lanes"]),
        )
        links.add_row(*cells)
    console.print(links)


@main.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@system_option
@click.option("--device", "spec", metavar="SPEC", help="Check against this device instead of every chip of the system.")
@click.option("--exact", is_flag=True, help="The system must equal the one that the binary was made for.")
@json_option
def check(file, system_name, spec, exact, json_to):
    """Whether a saved binary of the runtime can run on a system or device; exit code 1 when it cannot."""
    from host_api.runtime import Binary, System

    binary = Binary.load(file)
    with System(system_name) as system:
        target = system.open(spec) if spec else system.describe()
        report = binary.check(target, mode="exact" if exact else "compatible")
    if json_to:
        write_json(
            {"file": file, "programs": [program.name for program in binary.programs], **report.as_dict()}, json_to
        )
    if report.ok:
        if json_to != TO_STDOUT:
            click.echo(f"{file}: ok ({report.mode}), {len(binary.programs)} programs")
        return
    if json_to == TO_STDOUT:
        raise click.exceptions.Exit(1)
    report.require()
