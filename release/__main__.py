"""`python -m release [FOLDER]`: a wheel with the engine's machine code, in `dist` if not said otherwise (a minute or two)."""

import click

from release.wheel import release
from tensim.sim.errors import UsageError


@click.command()
@click.argument("folder", default="dist")
def main(folder):
    """Build the wheel into FOLDER, with the engine's machine code for x86-64-v3."""
    try:
        wheel, count = release(folder)
    except UsageError as error:
        raise click.ClickException(str(error)) from None
    click.echo(f"{wheel}: {wheel.stat().st_size / 1e6:.1f} MB, machine code of {count} functions")


main()
