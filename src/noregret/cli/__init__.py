"""The command line. Bad input ends with one or two lines on standard error and exit code 2, never a traceback."""

import contextlib
import os
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module

from noregret.cli.interrupts import exit_code, handle_interrupts, was_interrupted
from noregret.cli.options import parse
from noregret.errors import Error

REFUSED = 2
CLOSED_PIPE = 141  # as of a program that SIGPIPE ends: whoever closes a pipe, as `head` does, has read enough


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    open_streams()
    try:
        handle_interrupts()
        args = parse(sys.argv[1:] if arguments is None else arguments)
        code = int(import_module(f"noregret.cli.{args.module}").run(args))
        sys.stdout.flush()
    except Error as error:
        return print_error(error)
    except KeyboardInterrupt:
        return print_error("stopped", exit_code())
    except SystemExit as ended:  # --help and --version
        return int(ended.code or 0)
    except BrokenPipeError:
        discard_output()
        return exit_code() if was_interrupted() else CLOSED_PIPE
    except OSError as error:
        discard_output()
        if was_interrupted():  # as when the terminal is gone
            return exit_code()
        return print_error(f"{error.filename or 'standard output'}: {error.strerror or error}")
    except MemoryError:
        return print_error("out of memory: use fewer learners, or fewer features (names instead of large numbers)")
    return code


def open_streams() -> None:
    """Replace standard streams that are closed, so that no file opened later takes their number; print any name."""
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
    warnings.showwarning = print_warning  # type: ignore[assignment]


def print_warning(message: Warning | str, *_: object) -> None:
    """Print a warning as one line, without the place in the code where it was raised."""
    print_error(f"warning: {message}")


def print_error(message: object, code: int = REFUSED) -> int:
    """Print one line on standard error; returns the exit code."""
    with contextlib.suppress(OSError):
        sys.stderr.write(f"noregret: {message}\n")
        sys.stderr.flush()
    return code


def discard_output() -> None:
    """Drop what is still buffered for a standard output that cannot be written, without another error."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
