"""`python -m tensim`: the `tensim` command."""

from tensim.cli.main import main

main()
