"""The command line. Bad input ends with one or two lines on standard error and exit code 2, never a traceback."""

import contextlib
import os
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from noregret.cli.options import parsed
from noregret.errors import Error

INTERRUPTED, REFUSED = 130, 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a name that the terminal cannot show is no reason to stop
            stream.reconfigure(errors="backslashreplace")
    warnings.showwarning = warned  # type: ignore[assignment]
    try:
        told = parsed(sys.argv[1:] if arguments is None else arguments)
        code = int(import_module(f"noregret.cli.{told.module}").run(told))
        sys.stdout.flush()
    except Error as error:
        return complain(error)
    except KeyboardInterrupt:
        return complain("stopped", INTERRUPTED)
    except BrokenPipeError:
        muted()
        return complain("standard output was closed before everything was written")
    except OSError as error:
        muted()
        return complain(f"{error.filename or 'standard output'}: {error.strerror or error}")
    except MemoryError:
        return complain("out of memory: use fewer learners, or fewer features (names instead of large numbers)")
    return code


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
