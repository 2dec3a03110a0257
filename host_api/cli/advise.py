"""`tensim advise`: what bounds a program, and what each change would bring, found by running it again."""

from __future__ import annotations

from typing import Any

import click

from tensim.cli.options import html_option, json_option, program_options, program_settings
from tensim.cli.output import PAGES, Outputs, progress_bar, require_apart, require_writable


@click.command()
@program_options
@html_option
@json_option
def advise(html: str | None, json_to: str | None, **options: Any) -> None:
    """Say what bounds a program (NAME or FILE, as for run) and what changes would bring.

    It runs the program again with one resource free, or one thing changed, at a time (docs/verdicts.md).
    """
    from tensim.running.advising import advise_program

    require_writable(json_to, ())
    require_writable(html, PAGES)
    require_apart((json_to, html), (options["name"], options["program"]))
    with progress_bar() as on_progress:
        summary = advise_program(program_settings(**options), on_progress).to_dict()
    from tensim.cli.report import print_advice

    outputs = Outputs()
    if html:
        outputs.write_page(html, summary)
    outputs.finish(summary, json_to, print_advice)
