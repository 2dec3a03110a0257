"""Commands in this process."""

import pytest

from tensim.cli.main import main


def exit_code(*arguments):
    """The exit code of a command."""
    with pytest.raises(SystemExit) as end:
        main([str(argument) for argument in arguments])
    return end.value.code


def tensim(capsys, *arguments):
    """(exit code, standard output, standard error) of a command."""
    code = exit_code(*arguments)
    return code, *capsys.readouterr()
