"""A lock between processes, so that two of them do not compile the same function.

All use one file of the cache folder, of which every name locks a byte of its own. The system releases a lock when its
process ends. Where files cannot be locked, or a lock is held for too long, work goes on without it: a function is then
compiled twice, and both results are right.
"""

import contextlib
import hashlib
import os
import time
from collections.abc import Callable, Iterator
from typing import BinaryIO

from noregret.jit.cache import cache_folder, find_writers, open_regular

PATIENCE = 120.0  # seconds; the slowest loops take about ten
PAUSE = 0.02  # seconds between attempts
LockByte = Callable[[BinaryIO, int, bool], None]


def find_lock() -> LockByte | None:
    """The function of this system that locks or unlocks a byte of a file; it raises OSError where another has it."""
    with contextlib.suppress(ImportError):
        import fcntl

        def lock_posix(file: BinaryIO, byte: int, lock: bool) -> None:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB if lock else fcntl.LOCK_UN, 1, byte)

        return lock_posix
    with contextlib.suppress(ImportError):
        import msvcrt

        def lock_windows(file: BinaryIO, byte: int, lock: bool) -> None:
            file.seek(byte)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK if lock else msvcrt.LK_UNLCK, 1)  # type: ignore[attr-defined,unused-ignore]

        return lock_windows
    return None


LOCK_BYTE = find_lock()


@contextlib.contextmanager
def exclusive(name: str, patience: float | None = None) -> Iterator[bool]:
    """Hold the lock of a name; False where it could not be had: then go on all the same.

    Only for one thread of a process at a time: POSIX gives all threads the same locks.
    """
    byte = int.from_bytes(hashlib.sha256(name.encode()).digest()[:3], "little")
    with contextlib.ExitStack() as stack:
        place = cache_folder() / "locks"
        number = (
            open_regular(place, os.O_WRONLY | os.O_CREAT | os.O_APPEND) if find_writers(place.parent) is None else None
        )
        if number is None:
            yield False
            return
        file = stack.enter_context(open(number, "ab", buffering=0))
        held = acquire(file, byte, PATIENCE if patience is None else patience)
        try:
            yield held
        finally:
            if held and LOCK_BYTE is not None:
                with contextlib.suppress(OSError):
                    LOCK_BYTE(file, byte, False)


def acquire(file: BinaryIO, byte: int, patience: float) -> bool:
    """Try to lock a byte of a file until patience runs out."""
    if LOCK_BYTE is None:
        return False
    end = time.monotonic() + patience
    while True:
        try:
            LOCK_BYTE(file, byte, True)
            return True
        except (BlockingIOError, PermissionError):  # another process has it
            if time.monotonic() >= end:
                return False
            time.sleep(PAUSE)
        except OSError:  # this file system has no locks
            return False
