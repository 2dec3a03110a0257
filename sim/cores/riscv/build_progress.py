"""What users see while C++ kernels are built: a line on standard error once that lasts, nothing where it is no terminal."""

import sys
from contextlib import contextmanager
from contextvars import ContextVar

AFTER = 0.5  # seconds from which on it lasts: what comes from the cache never does
EVERY = 0.1  # seconds between two looks at what is ready
SHOWN = 3  # names of kernels in the line
_told = ContextVar("told", default=None)


@contextmanager
def progress_told_to(on_progress):
    """Builds inside tell `on_progress(text)`, which has a line of its own, instead of showing one."""
    token = _told.set(on_progress)
    try:
        yield
    finally:
        _told.reset(token)


def told_line():
    """The function that shows a text in a progress line of the terminal, or None where there is none."""
    return _told.get() if sys.stderr.isatty() else None


def wait_for(title, work):
    """Wait until all of `work`, [(name, future)], is done, and say meanwhile what is not."""
    from concurrent.futures import wait

    waiting = wait([future for _, future in work], AFTER).not_done
    if not waiting:
        return
    with _line() as show:
        while waiting:
            show(_text(title, work))
            waiting = wait(waiting, EVERY).not_done


def _text(title, work):
    left = [name for name, future in work if not future.done()]
    names = list(dict.fromkeys(left))
    more = ", ..." if len(names) > SHOWN else ""
    return f"{title}: {len(work) - len(left)} of {len(work)} built, left {', '.join(names[:SHOWN])}{more}"


@contextmanager
def _line():
    """A function that shows a text, until the end of the block."""
    if (told := _told.get()) is not None:
        yield told
    elif not sys.stderr.isatty():
        yield lambda text: None
    else:
        from rich.console import Console
        from rich.markup import escape

        console = Console(stderr=True)
        with console.status("C++ kernels") as status:
            yield lambda text: status.update(escape(text))
