"""Running a program under a debugger."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tensim.debugger.session import Left, Session
from tensim.running.programs import run_program

if TYPE_CHECKING:
    from tensim.debugger.instruction_trace import InstructionTrace
    from tensim.results.result import Result
    from tensim.running.programs import Settings
    from tensim.sim.errors import TensimError


def debug_program(
    settings: Settings,
    driver: Any,
    trace: InstructionTrace | None = None,
    stops_at_start: bool = True,
    on_progress: Callable[[str], object] = lambda text: None,
    chip: int = 0,
) -> tuple[str, Result | None, TensimError | None]:
    """(how it ended, its `Result` or None, the error or None) of a program that `driver` leads from stop to stop.

    It has "ended", "failed", or the driver has "left" it.  `settings`: `tensim.running.programs.Settings`; `chip`: which one of a
    mesh the session is about.
    """
    session = driver.session = Session(driver, trace, stops_at_start, chip)
    try:
        return "ended", run_program(settings, on_progress, session), None
    except Left:
        return ("failed" if session.failure else "ended" if session.has_ended else "left"), None, session.failure
    except Exception as error:
        if error is not session.failure:
            raise
        return "failed", None, error
    finally:
        session.close()
