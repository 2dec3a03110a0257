"""`from loguru import logger`: messages on standard error."""

from __future__ import annotations

import os
import sys
import time
import traceback
from collections.abc import Callable

LEVELS = {"TRACE": 5, "DEBUG": 10, "INFO": 20, "SUCCESS": 25, "WARNING": 30, "ERROR": 40, "CRITICAL": 50}


class Logger:
    """Formats messages with str.format and prints those of the level of LOGURU_LEVEL and above."""

    def log(self, level: str, message: object, *args: object, **named: object) -> None:
        """Print a message."""
        if LEVELS.get(level, 20) < LEVELS.get(os.environ.get("LOGURU_LEVEL", "DEBUG").upper(), 10):
            return
        text = str(message).format(*args, **named) if args or named else str(message)
        print(f"{time.strftime('%H:%M:%S')} | {level:8} | {text}", file=sys.stderr)

    def exception(self, message: object, *args: object, **named: object) -> None:
        """Print a message and the exception that is handled."""
        self.log("ERROR", message, *args, **named)
        traceback.print_exc()

    def opt(self, **settings: object) -> Logger:
        """The logger itself."""
        return self

    bind = patch = opt

    def add(self, *args: object, **settings: object) -> int:
        """Nothing is added; returns a number as loguru does."""
        return 0

    def remove(self, handler: object = None) -> None:
        """Nothing is removed."""

    def configure(self, **settings: object) -> None:
        """Nothing is configured."""

    def level(self, name: str, *args: object, **settings: object) -> str:
        """The name of a level."""
        return name


def _at(level: str) -> Callable[..., None]:
    def message(self: Logger, text: object, *args: object, **named: object) -> None:
        self.log(level, text, *args, **named)

    message.__name__, message.__doc__ = level.lower(), f"Print a message of level {level}."
    return message


for _level in LEVELS:
    setattr(Logger, _level.lower(), _at(_level))
logger = Logger()
