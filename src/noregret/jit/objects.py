"""Compiled entries as object files: a later process loads them with llvmlite alone, in a tenth of a second.

What an entry needs from outside (a function of the C library, say) must be there before it is loaded: LLVM ends the
process otherwise. Where object files are of another kind than here, the compiler keeps its own cache instead.
"""

import contextlib
import hashlib
import os
import secrets
import struct
import sys
from functools import cache
from pathlib import Path
from typing import Any

from noregret.jit.layout import cache_folder

SYMBOL_TABLE = 2  # the kind of section, in an ELF file, that lists symbols


def supported() -> bool:
    """ELF files of 64 bits, the lowest byte first, are read here."""
    return sys.platform == "linux" and sys.maxsize > 2**32 and sys.byteorder == "little"


@cache
def engine() -> tuple[Any, str]:
    """What loads object files, for the life of the process; and a mark of the processor they were made for."""
    import llvmlite
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine(jit=True)
    traits = (llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten(), machine.triple, llvmlite.__version__)
    mark = hashlib.sha256(repr(traits).encode()).hexdigest()[:16]
    return llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine), mark


def place(symbol: str) -> Path:
    return cache_folder() / "objects" / f"{symbol}-{engine()[1]}.o"


def load(symbol: str) -> int | None:
    """The address of an entry from its file; None if it is not there, not whole, or needs what is not there."""
    if not supported():
        return None
    try:
        content = place(symbol).read_bytes()
    except OSError:
        return None
    seal, (size,), rest = content[:32], struct.unpack("<H", content[32:34].rjust(2, b"\0")), content[34:]
    if hashlib.sha256(content[32:]).digest() != seal:
        return None
    name, code = rest[:size].decode(), rest[size:]

    import llvmlite.binding as llvm

    if any(llvm.address_of_symbol(needed) is None for needed in undefined(code)):
        return None
    loader = engine()[0]
    loader.add_object_file(llvm.ObjectFileRef.from_data(code))
    loader.finalize_object()
    return int(loader.get_function_address(name)) or None


def keep(symbol: str, name: str, code: bytes) -> None:
    """Write an entry's file whole or not at all."""
    if not supported():
        return
    body = struct.pack("<H", len(name.encode())) + name.encode() + code
    target = place(symbol)
    temporary = target.with_suffix(f".{secrets.token_hex(8)}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_bytes(hashlib.sha256(body).digest() + body)
        os.replace(temporary, target)
    except OSError:
        with contextlib.suppress(OSError):
            temporary.unlink()


def undefined(code: bytes) -> list[str]:
    """The symbols an ELF object needs from elsewhere."""
    sections_at, _, _, _, _, size, count, _ = struct.unpack_from("<QIHHHHHH", code, 40)
    sections = [struct.unpack_from("<IIQQQQIIQQ", code, sections_at + number * size) for number in range(count)]
    found = []
    for kind, at, length, names in ((one[1], one[4], one[5], one[6]) for one in sections):
        if kind != SYMBOL_TABLE:
            continue
        letters = sections[names][4]
        for entry in range(at, at + length, 24):
            name, _, _, section = struct.unpack_from("<IBBH", code, entry)
            if section == 0 and name:
                first = letters + name
                found.append(code[first : code.index(b"\0", first)].decode())
    return found
