"""Object files in ELF, checked before LLVM reads them: it ends the process where one is not sound.

Everything by which LLVM finds its way is checked: the headers, the bounds of sections, symbols and relocations, the
records of unwinding. The machine code itself is not: whoever could write it is trusted, see `cache.find_problem`.
"""

import platform
import struct
from collections.abc import Iterator
from typing import NamedTuple

IDENT = b"\x7fELF\x02\x01\x01"  # 64 bits, the lowest byte first, version 1
RELOCATABLE = 1
MACHINES = {"x86_64": 62, "AMD64": 62, "aarch64": 183}
NO_SECTION, PROGRAM, SYMBOLS, STRINGS, RELOCATIONS, EMPTY = 0, 1, 2, 3, 4, 8  # kinds of sections
OTHERS = {5, 6, 9, 10, 11, 14, 15, 16, 17, 18}  # further kinds that LLVM follows, and compilers of loops do not write
LOADED, BY_THREAD = 2, 0x400  # flags of a section: in memory when the code runs, one for every thread
ABSOLUTE, COMMON, RESERVED = 0xFFF1, 0xFFF2, 0xFF00  # numbers that stand for sections
X86_RELOCATIONS = {1, 2, 4, 9, 10, 11, 24, 41, 42}  # those that LLVM resolves
GLOBAL, OBJECT, FILE = 1, 1, 4  # kinds of symbols
LARGEST_COMMON = 1 << 12
SECTION, SYMBOL, RELOCATION = struct.Struct("<IIQQQQIIQQ"), struct.Struct("<IBBHQQ"), struct.Struct("<QIIq")


class Unsound(Exception):
    """An object file that LLVM must not see."""


class Section(NamedTuple):
    """The header of a section."""

    name: int
    kind: int
    flags: int
    address: int
    at: int
    size: int
    link: int
    info: int
    alignment: int
    entry_size: int


class Symbol(NamedTuple):
    """An entry of the symbol table: its name and section, and whether a place can be computed from it."""

    name: str
    section: int
    usable: bool


def undefined_symbols(code: bytes, name: str) -> list[str]:
    """The symbols that a sound object needs from elsewhere; Unsound if it is not, or does not define the name."""
    try:
        sections = read_sections(code)
        tables = [number for number, section in enumerate(sections) if section.kind == SYMBOLS]
        require(len(tables) == 1)
        symbols = list(read_symbols(code, sections, tables[0]))
        for section in sections:
            if section.kind == RELOCATIONS:
                require(section.link == tables[0])
                check_relocations(code, sections, section, symbols)
        check_unwinding(code, sections)
    except (struct.error, IndexError, ValueError, OverflowError):
        raise Unsound from None
    require(any(one.name == name and 0 < one.section < RESERVED for one in symbols))
    return [one.name for one in symbols if one.section == NO_SECTION and one.name]


def require(holds: bool) -> None:
    if not holds:
        raise Unsound


def is_alignment(number: int, most: int) -> bool:
    return 0 < number <= most and number & (number - 1) == 0


def read_sections(code: bytes) -> list[Section]:
    """The headers of all sections, which lie within the file."""
    require(code[:7] == IDENT)
    kind, machine, version = struct.unpack_from("<HHI", code, 16)
    at, _, _, _, _, size, count, names = struct.unpack_from("<QIHHHHHH", code, 40)
    require((kind, version, size) == (RELOCATABLE, 1, SECTION.size) and count > 0 and names < count)
    require(machine == MACHINES.get(platform.machine(), machine))
    sections = [Section(*SECTION.unpack_from(code, at + number * size)) for number in range(count)]
    letters = sections[names]
    require(letters.kind == STRINGS)
    for section in sections:
        require(section.kind not in OTHERS and not section.flags & BY_THREAD)
        require(section.kind in (NO_SECTION, EMPTY) or section.at + section.size <= len(code))
        require(section.kind != EMPTY or section.size <= LARGEST_COMMON)
        require(section.kind == NO_SECTION or is_alignment(section.alignment, 4096))
        require(section.name < max(letters.size, 1))
    require(code[letters.at + letters.size - 1 : letters.at + letters.size] == b"\0")
    return sections


def read_symbols(code: bytes, sections: list[Section], number: int) -> Iterator[Symbol]:
    """The symbols of a table, which lie within their sections."""
    table = sections[number]
    letters = sections[table.link]
    require(table.entry_size == SYMBOL.size and table.size % SYMBOL.size == 0 and letters.kind == STRINGS)
    text = code[letters.at : letters.at + letters.size]
    require(text[-1:] == b"\0" and table.info <= table.size // SYMBOL.size)
    for at in range(table.at, table.at + table.size, SYMBOL.size):
        name, kind, _, section, value, size = SYMBOL.unpack_from(code, at)
        require(name < len(text) and kind >> 4 <= GLOBAL and kind & 15 <= FILE)
        if section == COMMON:  # the value is an alignment
            require(kind & 15 == OBJECT and size <= LARGEST_COMMON and is_alignment(value, 64))
        elif section == ABSOLUTE:
            require(kind & 15 == FILE)
        elif section == NO_SECTION:
            require(at == table.at or kind == GLOBAL << 4)
        else:
            require(value + size <= sections[section].size and bool(sections[section].flags & LOADED))
        usable = at > table.at and section != ABSOLUTE
        yield Symbol(text[name : text.index(b"\0", name)].decode(), section, usable)


def check_relocations(code: bytes, sections: list[Section], own: Section, symbols: list[Symbol]) -> None:
    """Every relocation changes a place inside its section, by a symbol that has a place."""
    target = sections[own.info]
    require(own.entry_size == RELOCATION.size and own.size % RELOCATION.size == 0)
    require(target.kind not in (NO_SECTION, SYMBOLS, STRINGS, RELOCATIONS, EMPTY) and bool(target.flags & LOADED))
    for at in range(own.at, own.at + own.size, RELOCATION.size):
        place, kind, symbol, _ = RELOCATION.unpack_from(code, at)
        require(place + 8 <= target.size and symbols[symbol].usable)
        require(platform.machine() not in ("x86_64", "AMD64") or kind in X86_RELOCATIONS)


def check_unwinding(code: bytes, sections: list[Section]) -> None:
    """The records by which exceptions unwind follow one another and refer to one before them."""
    for section in sections:
        letters = sections[struct.unpack_from("<H", code, 62)[0]]
        first = letters.at + section.name
        if section.size and code[first : code.index(b"\0", first)] == b".eh_frame":
            at, end, heads = section.at, section.at + section.size, set()
            while at < end:
                (size,) = struct.unpack_from("<I", code, at)
                if size == 0:
                    break
                (refers,) = struct.unpack_from("<I", code, at + 4)
                require(4 <= size < 0xFFFFFFF0 and at + 4 + size <= end)
                if refers == 0:
                    heads.add(at)
                else:
                    require(at + 4 - refers in heads and size >= 20)
                at += 4 + size
