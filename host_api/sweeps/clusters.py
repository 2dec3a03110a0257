"""Executors of other machines, by a text: dask://HOST:PORT (dask.distributed), slurm://PARTITION (submitit)."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from urllib.parse import SplitResult, parse_qsl, urlsplit

from tensim.sim.errors import UsageError

CONNECT_SECONDS = 10
FORMS = "dask://HOST:PORT, or slurm://PARTITION?timeout_min=60&folder=logs"


@contextmanager
def cluster(address: str) -> Iterator[Executor]:
    """The executor of an address, for a block.

    UsageError for another form, a package that is not installed and a scheduler that is not there.
    """
    parts = urlsplit(address)
    opened = {"dask": _dask, "slurm": _slurm}.get(parts.scheme)
    if opened is None:
        raise UsageError(f"{address!r} is no cluster", hint=FORMS)
    with opened(parts) as executor:
        yield executor


@contextmanager
def _dask(parts: SplitResult) -> Iterator[Executor]:
    """Of a dask scheduler, whose workers have tensim installed."""
    try:
        from distributed import Client
    except ImportError as error:
        raise _missing("dask.distributed", "dask") from error
    if not parts.netloc:
        raise UsageError(f"the address {parts.geturl()!r} names no scheduler", hint="dask://HOST:PORT")
    try:
        client = Client(f"tcp://{parts.netloc}", timeout=CONNECT_SECONDS)
    except (OSError, ValueError) as error:
        raise UsageError(f"there is no dask scheduler at {parts.netloc}: {error}") from error
    with client, client.get_executor() as executor:
        yield executor


@contextmanager
def _slurm(parts: SplitResult) -> Iterator[Executor]:
    """Of SLURM jobs, an array of them at a time."""
    try:
        import submitit
    except ImportError as error:
        raise _missing("submitit", "slurm") from error
    options = dict(parse_qsl(parts.query))
    executor = submitit.AutoExecutor(folder=options.pop("folder", "tensim_slurm"))
    numbers = {name: int(value) if value.isdecimal() else value for name, value in options.items()}
    executor.update_parameters(**({"slurm_partition": parts.netloc} if parts.netloc else {}), **numbers)
    yield executor  # type: ignore[misc]  # it has what is called of one


def _missing(package: str, extra: str) -> UsageError:
    return UsageError(f"{package} is not installed", hint=f"pip install tensim[{extra}]")
