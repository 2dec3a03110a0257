"""The `tensim` command: its commands by name, each imported when it is used."""

import click

from tensim import __version__
from tensim.cli.groups import LazyCommand, LazyCommands

# name: (module, first sentence of its help)
COMMANDS = {
    "advise": ("advise", "Say what bounds a program (NAME or FILE, as for run) and what changes would bring."),
    "capture": ("light_metal_runs", "Run an example by NAME, or a program FILE, and save what it asks of the device."),
    "check": ("systems", "Check whether a saved binary FILE fits a device."),
    "compare": ("compare", "Compare two results: what `--json FILE` wrote, saved results, or run folders."),
    "coverage": (
        "coverage",
        "Compile every C++ kernel below FOLDERS with stand-ins for what its host program would give.",
    ),
    "diff": ("light_metal_files", "Compare two Light Metal binaries: commands, payloads, and the cycles of both."),
    "disassemble": (
        "disassemble",
        "Run PROGRAM (an example's name or a FILE) and show the instructions of its C++ KERNEL with their cycles.",
    ),
    "dram": (
        "dram",
        "Serve the requests of TRACES (lines: R|W ADDRESS [BYTES]) from the memory of a chip, at command level.",
    ),
    "examples": ("programs", "List the example programs."),
    "inspect": ("light_metal_files", "Show what Light Metal binaries contain."),
    "query": ("systems", "List the devices of a system whose specs match a shell PATTERN, and its links."),
    "replay": (
        "light_metal_runs",
        "Replay Light Metal binaries: captured runs as they were, binaries of programs one program after the other.",
    ),
    "replay-noc": (
        "noc_replay",
        "Replay the NoC event traces FILES (the vendor's JSON) and compare the cycles; see docs/noc_traces.md.",
    ),
    "run": ("programs", "Run an example by NAME, or a program FILE with a `run` function like the examples'."),
    "survey": (
        "survey",
        "Run a selection of the pytest files below FOLDER with the vendor's library: how many pass, family by family.",
    ),
    "sweep": ("sweep", "Run a program at many points, and write a table with a row for each."),
    "ttnn": ("ttnn", "Run a ttnn program on a simulated chip and list its operations."),
    "validate": (
        "validate",
        "Re-create measured rows of FILES as programs, simulate them and compare; KIND is what was measured.",
    ),
    "verify": (
        "light_metal_files",
        "Check Light Metal binaries: their structure, and whether their programs fit a chip.",
    ),
}


@click.group(
    cls=LazyCommands,
    commands=[LazyCommand(name, f"tensim.cli.{module}", help) for name, (module, help) in COMMANDS.items()],
)
@click.version_option(__version__)
def main():
    """Simulate programs for Tenstorrent-class chips, cycle by cycle."""
