"""The folder of compiled functions: where it is, what they are compiled with, how long was waited for them."""

import contextlib
import os
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from noregret.jit.fingerprint import digest_module

BOUNDS = bool(os.environ.get("NOREGRET_BOUNDS_CHECK"))
OPTIONS: dict[str, Any] = {"error_model": "numpy", "boundscheck": BOUNDS}
# Compiled functions own no memory, so no references are counted in them: a rule makes no arrays of its own.
LEAN: dict[str, Any] = {**OPTIONS, "no_cpython_wrapper": True, "no_cfunc_wrapper": True, "_nrt": False}
FOR_C: dict[str, Any] = {**LEAN, "no_cfunc_wrapper": False}
INNER: dict[str, Any] = {**LEAN, "forceinline": True}
COMPILER = tuple(f"noregret.jit.{name}" for name in ("compiler", "overloads", "intrinsics", "layout"))

_waited = threading.local()


def cache_folder() -> Path:
    """The folder in which compiled functions are kept: NOREGRET_CACHE, or the user's cache folder."""
    if "NOREGRET_CACHE" in os.environ:
        return Path(os.environ["NOREGRET_CACHE"])
    import platformdirs

    return Path(platformdirs.user_cache_dir("noregret"))


@cache
def describe_compiler() -> tuple[object, ...]:
    """What every compiled function depends on: options, versions and the modules that compile."""
    options = [sorted(options.items()) for options in (LEAN, FOR_C, INNER)]
    versions = (sys.implementation.cache_tag, np.__version__, version("numba"))  # llvmlite's is in a file's name
    return (options, versions, [digest_module(name) for name in COMPILER])


def is_writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def discard(folder: Path, symbol: str) -> bool:
    """Remove the files that the compiler's own cache has of a function; returns whether there were any."""
    files = list(folder.glob(f"*/*.{symbol}-*"))
    for file in files:
        with contextlib.suppress(OSError):
            file.unlink()
    return bool(files)


def seconds_waited() -> float:
    """The seconds this thread has waited for functions to be compiled or loaded; they are not running time."""
    return float(getattr(_waited, "seconds", 0.0))


@contextlib.contextmanager
def count_waiting() -> Iterator[None]:
    began = time.perf_counter()
    try:
        yield
    finally:
        _waited.seconds = seconds_waited() + time.perf_counter() - began
