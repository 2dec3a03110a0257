"""Running a program under a debugger."""

from tensim.debugger.session import Left, Session
from tensim.running.programs import run_program


def debug_program(settings, driver, trace=None, stops_at_start=True, on_progress=lambda text: None):
    """(how it ended, its `Result` or None, the error or None) of a program that `driver` leads from stop to stop.

    It has "ended", "failed", or the driver has "left" it.  `settings`: `tensim.running.programs.Settings`.
    """
    session = driver.session = Session(driver, trace, stops_at_start)
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
