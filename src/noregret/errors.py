"""Every error a user can meet. Each message says what was found, where, and what to do."""

import sys
from importlib import import_module
from typing import Any


class Error(Exception):
    """The root of all errors raised on purpose by noregret."""


class BadValue(Error, ValueError):
    """Something given to the library cannot be used: a label, a feature, a parameter, a file.

    `row` is the number of the row at fault in what was handed over, where one is.
    """

    def __init__(self, message: str = "", row: int | None = None) -> None:
        super().__init__(message)
        self.row = row


class NotLearned(Error):
    """A prediction was asked for before any label was seen."""


def is_quit(error: BaseException) -> bool:
    """Whether a person left the debugger: that ends the program, and is no error of a rule."""
    debugger = sys.modules.get("bdb")
    return debugger is not None and isinstance(error, debugger.BdbQuit)


def shown(value: Any) -> str:
    """What was found, on one line and not too long."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 80 else f"{text[:77]}..."


def import_extra(module: str, extra: str, work: str) -> Any:
    """Import a module that only some work needs; where its package is not installed, say how to get it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        if (error.name or "").partition(".")[0] != package:
            raise
        name = {"sklearn": "scikit-learn"}.get(package, package)
        raise Error(f"{work} needs {name}, which is not installed: pip install 'noregret[{extra}]'") from None
