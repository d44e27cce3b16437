"""The command line. Bad input ends with one or two lines on standard error and exit code 2, never a traceback."""

import contextlib
import os
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from noregret.cli.interrupts import listen
from noregret.cli.options import parsed
from noregret.errors import Error

INTERRUPTED, REFUSED = 130, 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    open_streams()
    try:
        listen()
        told = parsed(sys.argv[1:] if arguments is None else arguments)
        code = int(import_module(f"noregret.cli.{told.module}").run(told))
        sys.stdout.flush()
    except Error as error:
        return complain(error)
    except KeyboardInterrupt:
        return complain("stopped", INTERRUPTED)
    except SystemExit as ended:  # --help and --version
        return int(ended.code or 0)
    except BrokenPipeError:
        muted()
        return complain("standard output was closed before everything was written")
    except OSError as error:
        muted()
        return complain(f"{error.filename or 'standard output'}: {error.strerror or error}")
    except MemoryError:
        return complain("out of memory: use fewer learners, or fewer features (names instead of large numbers)")
    return code


def open_streams() -> None:
    """Standard streams that were closed go nowhere, and no file takes their place; all can show any name."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    if sys.stdout is None or sys.stderr is None:
        nowhere = open(os.devnull, "w")  # noqa: SIM115 (kept for the life of the process)
        sys.stdout, sys.stderr = sys.stdout or nowhere, sys.stderr or nowhere
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    warnings.showwarning = warned  # type: ignore[assignment]


def warned(message: Warning | str, *_: Any) -> None:
    """A warning as a line for people, without the place in our code where it was raised."""
    complain(f"warning: {message}")


def complain(what: object, code: int = REFUSED) -> int:
    with contextlib.suppress(OSError):
        sys.stderr.write(f"noregret: {what}\n")
        sys.stderr.flush()
    return code


def muted() -> None:
    """Whatever is still waiting for a standard output that takes no more goes nowhere, without another error."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
