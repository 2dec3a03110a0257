"""`tensim ttnn`: programs that say `import ttnn`."""

import click


@click.command(
    add_help_option=False, context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False}
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def ttnn(arguments):
    """Run a ttnn program on a simulated chip and list its operations."""
    from tensim.ttnn.runner import main

    main(list(arguments), "tensim ttnn")
