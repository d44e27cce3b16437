"""The folder of compiled functions: where it is, what they are compiled with, how long was waited for them."""

import contextlib
import os
import stat
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
COMPILER = tuple(f"noregret.jit.{name}" for name in ("compiler", "overloads", "intrinsics", "layout", "row_cells"))

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
    python = (sys.implementation.cache_tag, getattr(sys, "abiflags", ""))
    versions = (python, np.__version__, version("numba"))  # llvmlite's is in a file's name
    return (options, versions, [digest_module(name) for name in COMPILER])


def is_writable(folder: Path) -> bool:
    """Whether compiled functions can be kept in a folder: it can be written, and by nobody else."""
    return find_problem(folder) is None


def find_problem(folder: Path) -> str | None:
    """Why compiled functions cannot be kept in a folder, or None. What is in it is run, so nobody else may write it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError:
        return "cannot be written"
    return find_writers(folder)


def find_writers(folder: Path) -> str | None:
    """Why others could put files into a folder, or put another one in its place; None if they cannot.

    Every folder on the way must belong to this user or to root. In one with the sticky bit, such as /tmp, others may
    make new entries, but they cannot replace one that is there.
    """
    if not hasattr(os, "geteuid"):
        return None
    try:
        place = Path(os.path.realpath(folder))
        for step in (place, *place.parents):
            status = os.lstat(step)
            if not stat.S_ISDIR(status.st_mode):
                return f"leads through {step}, which is no folder"
            if status.st_uid not in (0, os.geteuid()):
                return f"belongs to another user, or is in a folder that does ({step})"
            group = status.st_mode & stat.S_IWGRP and not is_own_group(status.st_gid)
            if (group or status.st_mode & stat.S_IWOTH) and not status.st_mode & stat.S_ISVTX:
                return f"can be written by others, or is in a folder that can ({step})"
    except OSError:
        return "cannot be read"
    return None


@cache
def is_own_group(number: int) -> bool:
    """Whether a group is the private group of this user, as many systems make one for each."""
    try:
        import grp
        import pwd

        user, group = pwd.getpwuid(os.geteuid()), grp.getgrgid(number)
    except (ImportError, KeyError, AttributeError):
        return False
    return group.gr_name == user.pw_name and user.pw_gid == number and set(group.gr_mem) <= {user.pw_name}


def open_regular(path: Path, flags: int) -> int | None:
    """Open a regular file; None for anything else: pipes, for which one would wait, links, devices, folders."""
    try:
        number = os.open(path, flags | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0), 0o600)
    except OSError:
        return None
    if stat.S_ISREG(os.fstat(number).st_mode):
        return number
    os.close(number)
    return None


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
