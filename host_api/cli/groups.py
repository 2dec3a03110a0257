"""Groups of commands: how they report errors, what `--json` refers to, and commands that are imported when they are used."""

from __future__ import annotations

import errno
import importlib
import os
import resource
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

import click

from tensim.cli.output import TO_STDOUT, open_closed_streams, report_error, use_plain_characters
from tensim.sim.errors import TensimError, UsageError

# Threads of numpy's BLAS wait for the next product with their processor busy for a tenth of a second: here none comes
BLAS_SLEEPS = "OPENBLAS_THREAD_TIMEOUT", "4"
FULL = (errno.ENOSPC, errno.EDQUOT)
FULL_HINT = "standard output or the folder of compiled code is full; TENSIM_CACHE_DIR names another folder"
PASSED_ON = ("ttnn",)  # commands whose arguments are for a program


class Commands(click.Group):
    """A command group that reports tensim's errors as docs/design.md#9-machine-readable-output says."""

    def main(self, args: Sequence[str] | None = None, **kwargs: Any) -> NoReturn:  # type: ignore[override]  # it always leaves
        """As click's, with the project's errors and exit codes."""
        os.environ.setdefault(*BLAS_SLEEPS)
        open_closed_streams()
        args, json_to = explicit_json(sys.argv[1:] if args is None else list(args))
        kwargs["standalone_mode"] = False
        use_plain_characters()
        try:
            sys.exit(super().main(args, **kwargs) or 0)
        except click.exceptions.Exit as end:
            sys.exit(end.exit_code)
        except click.ClickException as error:
            context = getattr(error, "ctx", None)
            path = context.command_path if context else "tensim"
            hint = _misnamed_json(args) or f"see {path} --help"
            report_error(UsageError(error.format_message(), hint=hint), json_to)
        except (click.Abort, KeyboardInterrupt) as error:
            told = str(error) or str(error.__cause__ or "")  # click raises an Abort from the interrupt
            report_error(TensimError(told or "interrupted", kind="interrupted"), json_to)
        except TensimError as error:
            report_error(error, json_to)
        except BrokenPipeError:  # whoever read standard output has enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(1)
        except OSError as error:
            unnamed = error.errno is None and _is_limited()  # a library that cannot be mapped, as llvmlite says it
            if unnamed or error.errno == errno.ENOMEM:
                report_error(_too_little_memory(error), json_to)
            full = FULL_HINT if error.errno in FULL else None
            text = f"{error.strerror}: {error.filename}" if error.filename else str(error.strerror or error)
            report_error(UsageError(text, hint=full), json_to)
        except MemoryError as error:
            report_error(_too_little_memory(error), json_to)
        except (ImportError, RuntimeError) as error:
            if not _is_limited():
                raise
            report_error(_too_little_memory(error), json_to)


def _misnamed_json(arguments: Sequence[str]) -> str | None:
    """What to say when a word too much stands behind --json: it is no file for it, unless its name says so."""
    after = [arguments[i + 1] for i, word in enumerate(arguments[:-1]) if word == f"--json={TO_STDOUT}"]
    named = [word for word in after if "." in word and not word.startswith("-") and not os.path.exists(word)]
    return f"--json takes a FILE whose name ends in .json, as {named[0]} does not" if named else None


def _is_limited() -> bool:
    return resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY


def _too_little_memory(error: Exception) -> TensimError:
    """The error of a process that gets no memory; a limit of its own is named."""
    said = str(error).split("\n")[0]
    limit = resource.getrlimit(resource.RLIMIT_AS)[0] >> 20
    hint = f"the process may have {limit:,} MB of addresses (ulimit -v)" if _is_limited() else "close other programs"
    return TensimError(f"too little memory{f': {said}' if said else ''}", hint=hint, kind="memory")


class LazyCommand(click.Command):
    """Name and first sentence of the help of a command in a module that is not imported yet."""

    def __init__(self, name: str, module: str, help: str) -> None:
        super().__init__(name, help=help)
        self.module, self.attribute, self.line = module, name.replace("-", "_"), (name, help)

    def load(self) -> click.Command:
        """The command itself; its module defines it under its name, with _ for -."""
        return getattr(importlib.import_module(self.module), self.attribute)


class LazyCommands(Commands):
    """A group of `LazyCommand`: help and completion list them as they are, and only the one that runs is imported.

    `sections`: {title: its commands}, as the help lists them.
    """

    def __init__(self, *args: Any, sections: dict[str, list[LazyCommand]], **kwargs: Any) -> None:
        kwargs["commands"] = [one for commands in sections.values() for one in commands]
        super().__init__(*args, **kwargs)
        self.sections = sections

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """A list for each section; sentences are wrapped, not cut."""
        for title, commands in self.sections.items():
            with formatter.section(title):
                formatter.write_dl([command.line for command in commands])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click's."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, command.load() if isinstance(command, LazyCommand) else command, rest


def explicit_json(arguments: list[str]) -> tuple[list[str], str | None]:
    """(arguments with the value of --json spelled out, that value or None): a following *.json names the file.

    What follows a command that runs a program with arguments of its own is left alone.
    """
    if arguments and arguments[0] in PASSED_ON:
        return arguments, None
    result, target, rest = [], None, iter(range(len(arguments)))
    for i in rest:
        argument = arguments[i]
        if argument == "--json":
            named = i + 1 < len(arguments) and arguments[i + 1].endswith(".json")
            argument = f"--json={arguments[next(rest)] if named else TO_STDOUT}"
        if argument.startswith("--json="):
            target = argument.removeprefix("--json=")
        result.append(argument)
    return result, target
