"""`python -m tensim`: the `tensim` command."""

from tensim.cli.command import command

command()
