"""Compiled functions as object files: a later process loads them with llvmlite alone, in a tenth of a second.

LLVM ends the process when an object file is not sound or needs a symbol that is not there, so both are checked first
(`elf`). A file is loaded only when it is whole, was written for this function, and nobody but this user or root could
have written it or put it there (`cache.find_problem`); its machine code is then trusted. The seal protects from damage,
not from an attacker. Where object files are not ELF, the compiler's own cache is used instead.

A built wheel may carry object files as well (`make wheel`), in the folder PREBUILT of the package. They have the same
names, which tell all that they depend on, and are checked in the same way; only their processor is a baseline, whose
features this one must have.
"""

import contextlib
import hashlib
import os
import secrets
import stat
import struct
import sys
from functools import cache
from pathlib import Path
from typing import Protocol

from noregret.jit.cache import cache_folder, find_writers, open_regular
from noregret.jit.elf import Unsound, undefined_symbols
from noregret.jit.processor import find_baseline, find_target, has_features

SEAL = hashlib.sha256().digest_size
PREBUILT = Path(__file__).with_name("prebuilt")


class Linker(Protocol):
    """What llvmlite loads object files with."""

    def add_object_file(self, file: object) -> None: ...

    def finalize_object(self) -> None: ...

    def get_function_address(self, name: str) -> int: ...


def supported() -> bool:
    """ELF files of 64 bits, the lowest byte first, are read here."""
    return sys.platform == "linux" and sys.maxsize > 2**32 and sys.byteorder == "little"


@cache
def get_linker() -> tuple[Linker, str]:
    """What loads object files, for the life of the process; and a hash of the processor they were compiled for."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine(jit=True)
    return llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine), find_target().mark


@cache
def find_prebuilt() -> tuple[Path, str] | None:
    """The folder of object files that came with the package and can run here, and the mark of their processor."""
    if not supported() or os.environ.get("NOREGRET_PREBUILT") == "0" or "NUMBA_CPU_NAME" in os.environ:
        return None
    baseline = find_baseline()
    if baseline is None or not PREBUILT.is_dir() or not has_features(baseline):
        return None
    return PREBUILT, baseline.mark


def path_of(symbol: str) -> Path:
    return cache_folder() / "objects" / f"{symbol}-{get_linker()[1]}.o"


def paths_of(symbol: str) -> list[Path]:
    """Where the file of a function may be: in the cache folder, then in the package."""
    paths, prebuilt = [path_of(symbol)], find_prebuilt()
    if prebuilt is not None:
        folder, mark = prebuilt
        paths.append(folder / "objects" / f"{symbol}-{mark}.o")
    return paths


def load(symbol: str) -> int | None:
    """The address of a function from its file; None if it is not there, not whole, or needs what is not there."""
    if not supported():
        return None
    return next((where for path in paths_of(symbol) if (where := load_file(path, symbol)) is not None), None)


def load_file(path: Path, symbol: str) -> int | None:
    content = read_own(path)
    seal, body = content[:SEAL], content[SEAL:]
    if hashlib.sha256(symbol.encode() + body).digest() != seal:
        return None
    try:
        (size,) = struct.unpack_from("<H", body)
        name, code = body[2 : 2 + size].decode(), body[2 + size :]
        needs = undefined_symbols(code, name)
    except (Unsound, struct.error, UnicodeDecodeError):
        return None

    import llvmlite.binding as llvm

    if any(llvm.address_of_symbol(needed) is None for needed in needs):
        return None
    linker = get_linker()[0]
    linker.add_object_file(llvm.ObjectFileRef.from_data(code))
    linker.finalize_object()
    return int(linker.get_function_address(name)) or None


def read_own(path: Path) -> bytes:
    """The content of a file that only this user or root can write or replace; nothing of any other."""
    if find_writers(path.parent) is not None:
        return b""
    number = open_regular(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    if number is None:
        return b""
    try:
        with open(number, "rb") as file:
            status = os.fstat(number)
            if status.st_uid not in (0, os.geteuid()) or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
                return b""
            return file.read()
    except OSError:
        return b""


def save(symbol: str, name: str, code: bytes) -> None:
    """Write a function's file whole or not at all."""
    if not supported():
        return
    body = struct.pack("<H", len(name.encode())) + name.encode() + code
    target = path_of(symbol)
    temporary = target.with_suffix(f".{secrets.token_hex(8)}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if find_writers(target.parent) is not None:
            return
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(hashlib.sha256(symbol.encode() + body).digest() + body)
        os.replace(temporary, target)
    except OSError:
        with contextlib.suppress(OSError):
            temporary.unlink()
