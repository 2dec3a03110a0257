"""`tensim ttnn`: programs that say `import ttnn`, on tensim.ttnn or on the vendor's own library."""

import click


@click.command(
    add_help_option=False, context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False}
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def ttnn(arguments):
    """Run a ttnn program on a simulated chip and list its operations."""
    from tensim.ttnn.runner import execute, options, request_of

    parser = options("tensim ttnn")
    parser.add_argument("--library", action="store_true",
                        help="run the vendor's own library instead of tensim.ttnn (docs/library.md)")  # fmt: skip
    parser.add_argument("--python", metavar="PATH", help="with --library: an interpreter that has ttnn")
    given = parser.parse_args(arguments)
    request = request_of(given, parser)
    if not given.library:
        execute(request)
        return
    from tensim.library.runner import main

    main(request, given.python)
