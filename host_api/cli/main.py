"""The `tensim` command: its commands by name, each imported when it is used."""

from __future__ import annotations

import click

from tensim import __version__
from tensim.cli.groups import LazyCommand, LazyCommands

# {section of the help: {name: (module, first sentence of its help)}}
SECTIONS = {
    "Programs": {
        "run": ("programs", "Run an example by NAME, or a program FILE with a `run` function like the examples'."),
        "examples": ("programs", "List the example programs."),
        "advise": ("advise", "Say what bounds a program (NAME or FILE, as for run) and what changes would bring."),
        "compare": ("compare", "Compare two results: what `--json FILE` wrote, saved results, or run folders."),
        "debug": ("debug", "Run an example by NAME, or a program FILE, under a debugger (docs/debugging.md)."),
        "sweep": ("sweep", "Run a program at many points, and write a table with a row for each."),
        "disassemble": (
            "disassemble",
            "Run PROGRAM (an example's name or a FILE) and show the instructions of its C++ KERNEL with their cycles.",
        ),
    },
    "Programs of other libraries": {
        "ttnn": ("ttnn", "Run a ttnn program on a simulated chip and list its operations."),
        "device": ("device", "Run COMMAND with a simulated chip in the place of a card."),
        "survey": (
            "survey",
            "Run a selection of the pytest files below FOLDER with the vendor's library: how many pass, family by family.",
        ),
        "coverage": (
            "coverage",
            "Compile every C++ kernel below FOLDERS with stand-ins for what its host program would give.",
        ),
    },
    "Saved binaries": {
        "capture": (
            "light_metal_runs",
            "Run an example by NAME, or a program FILE, and save what it asks of the device.",
        ),
        "replay": (
            "light_metal_runs",
            "Replay Light Metal binaries: captured runs as they were, binaries of programs one program after the other.",
        ),
        "inspect": ("light_metal_files", "Show what Light Metal binaries contain."),
        "verify": (
            "light_metal_files",
            "Check Light Metal binaries: their structure, and whether their programs fit a chip.",
        ),
        "diff": ("light_metal_files", "Compare two Light Metal binaries: commands, payloads, and the cycles of both."),
        "check": ("systems", "Check whether a saved binary FILE fits a device."),
    },
    "Traces": {
        "replay-noc": (
            "noc_replay",
            "Replay the NoC event traces FILES (the vendor's JSON) and compare the cycles; see docs/noc_traces.md.",
        ),
        "dram": (
            "dram",
            "Serve the requests of TRACES (lines: R|W ADDRESS [BYTES]) from the memory of a chip, at command level.",
        ),
    },
    "Chips and this machine": {
        "query": ("systems", "List the devices of a system whose specs match a shell PATTERN, and its links."),
        "validate": (
            "validate",
            "Re-create measured rows of FILES as programs, simulate them and compare; KIND is what was measured.",
        ),
        "cache": ("cache", "Show, prune or clear the folder of compiled code (TENSIM_CACHE_DIR)."),
    },
}

EXAMPLES = """Examples:

\b
  tensim run eltwise_add                          an example, with a report
  tensim run my_program.py --shape 64x64          a program of your own
  tensim advise my_program.py                     what bounds it, and what would help
  tensim run my_program.py --json before.json     its result, to compare with a later one
  tensim compare before.json after.json --fail-above 1%

`tensim COMMAND --help` lists the options of a command."""


@click.group(
    cls=LazyCommands,
    sections={
        title: [LazyCommand(name, f"tensim.cli.{module}", help) for name, (module, help) in commands.items()]
        for title, commands in SECTIONS.items()
    },
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=EXAMPLES,
)
@click.version_option(__version__)
def main() -> None:
    """Simulate programs for Tenstorrent-class chips, cycle by cycle."""
