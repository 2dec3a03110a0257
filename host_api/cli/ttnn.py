"""`tensim ttnn`: programs that say `import ttnn`, on tensim.ttnn or on the vendor's own library."""

from __future__ import annotations

from argparse import ArgumentTypeError
from dataclasses import replace

import click


@click.command(
    add_help_option=False, context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False}
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def ttnn(arguments: tuple[str, ...]) -> None:
    """Run a ttnn program on a simulated chip and list its operations."""
    from tensim.library.sampling import OCCURRENCES
    from tensim.sim.host.wiring import BOARDS
    from tensim.ttnn.runner import execute, options, request_of

    parser = options("tensim ttnn")
    parser.add_argument("--library", action="store_true",
                        help="run the vendor's own library instead of tensim.ttnn (docs/library.md)")  # fmt: skip
    parser.add_argument("--python", metavar="PATH", help="with --library: an interpreter that has ttnn")
    parser.add_argument("--sample", action="store_true",
                        help="with --library: simulate the first launches of each kind, and let others take their time; "
                        "timing only, --numerics off if not said otherwise (docs/library.md#sampling)")  # fmt: skip
    parser.add_argument("--occurrences", metavar="N", type=int, default=OCCURRENCES,
                        help=f"with --sample: launches of each kind that are simulated; default {OCCURRENCES}")  # fmt: skip
    parser.add_argument("--items", metavar="N:NAME", type=_items,
                        help="with --library: what the program works on (16:images), for the report's rates")  # fmt: skip
    parser.set_defaults(numerics=None)
    given = parser.parse_args(arguments)
    given.numerics = given.numerics or ("off" if given.sample else "fast")
    if given.sample and not given.library:
        parser.error("--sample goes with --library")
    if given.sample and given.occurrences < 1:
        parser.error("--occurrences: at least one launch of a kind is simulated")
    if given.sample and (given.tt_report or given.timeline or given.speedscope):
        parser.error(
            "--sample simulates a part of the launches: --tt-report, --timeline and --speedscope would hold that part alone"
        )
    if given.items and not given.library:
        parser.error("--items goes with --library")
    if given.mesh is not None and given.sample:
        parser.error("--mesh does not go with --sample")
    request = replace(request_of(given, parser), items=given.items)
    if not given.library:
        execute(request)
        return
    from tensim.library.runner import main

    request = replace(request, settings=request.settings | {"board": None})  # it opens the mesh itself
    main(request, given.python, given.occurrences if given.sample else None, BOARDS.get(given.mesh))


def _items(text: str) -> tuple[int, str]:
    """(number, name) of N:NAME."""
    number, found, name = text.partition(":")
    if not (found and name and number.isascii() and number.isdigit() and int(number)):
        raise ArgumentTypeError(f"{text!r} is not of the form N:NAME, as 16:images")
    return int(number), name
