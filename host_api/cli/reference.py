"""The `tensim` command with all of its commands imported, for the page that lists their options (docs/commands.md)."""

import click

from tensim.cli.main import main as lazy

main = click.Group(
    lazy.name, commands=[one.load() for commands in lazy.sections.values() for one in commands], help=lazy.help
)
