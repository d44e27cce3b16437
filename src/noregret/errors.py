"""Every error a user can meet. Each message says what was found, where, and what to do."""

import sys
from collections.abc import Iterable
from importlib import import_module
from itertools import takewhile
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


LARGEST_WHOLE = 1 << 1023  # about what a float can be; numbers of thousands of digits cannot be written to a file


def check_digits(name: Any, what: str, row: int | None = None, hint: str = "give it as a text") -> None:
    """Refuse a whole number of so many digits that it could not be saved."""
    if isinstance(name, int) and abs(name) >= LARGEST_WHOLE:
        where = "" if row is None else f"row {row}: "
        raise BadValue(f"{where}{what} is a whole number of hundreds of digits, which cannot be saved; {hint}", row)


def shown(value: Any) -> str:
    """What was found, on one line and not too long."""
    try:
        text = " ".join(repr(value).split())
    except ValueError:  # Python writes no number of thousands of digits
        digits = "a number of thousands of digits"
        return f"<{digits}>" if isinstance(value, int) else f"<{type(value).__name__} with {digits}>"
    return text if len(text) <= 80 else f"{text[:77]}..."


def find_closest(given: object, known: Iterable[str]) -> str | None:
    """The name that was probably meant; None where none is close. Capital letters make no difference."""
    from difflib import SequenceMatcher  # only needed for errors

    word, best, score = str(given).lower().strip("-_"), None, 0.0
    for name in known:
        one = name.lower().strip("-_")
        ratio = SequenceMatcher(None, word, one).ratio()
        if ratio > score and (ratio >= ALIKE or is_close(word, one)):
            best, score = name, ratio
    return best


ALIKE, SHORT = 0.8, 3


def is_close(word: str, name: str) -> bool:
    """Whether one begins with the other, or they differ by one letter or by two letters that changed places."""
    if min(len(word), len(name)) >= SHORT and (name.startswith(word) or word.startswith(name)):
        return True
    if max(len(word), len(name)) < SHORT:
        return False
    same = count_same(word, name)
    a, b = word[same:], name[same:]
    same = count_same(a[::-1], b[::-1])
    a, b = a[: len(a) - same], b[: len(b) - same]
    return max(len(a), len(b)) <= 1 or (len(a) == 2 and a == b[::-1])


def count_same(a: str, b: str) -> int:
    """The number of letters with which both begin."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(a, b, strict=False)))


def import_extra(module: str, extra: str, work: str) -> Any:
    """Import a module that only some work needs; where its package is not installed, say how to get it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        if (error.name or "").partition(".")[0] != package:
            raise
        name = {"sklearn": "scikit-learn", "PIL": "pillow"}.get(package, package)
        raise Error(f"{work} needs {name}, which is not installed: pip install 'noregret[{extra}]'") from None
