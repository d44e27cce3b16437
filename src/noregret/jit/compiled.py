"""Compiled entries: from memory, from an object file on disk, or from the compiler, which is loaded only for that.

A compiled entry is one plain function, `status entry(table)`. The table holds addresses and sizes: parameters, state,
rows, outcomes. So a loop has one signature for ever, whatever arrays it is given, and one round costs one foreign call.
"""

import ctypes
import hashlib
import logging
import os
import threading
import warnings
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from types import FunctionType, MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from noregret.algebra.verbs import unbound as unbound
from noregret.jit import dict_reader, objects
from noregret.jit.cache import MADE_WITH, files_hash, source_hash, waiting, writable
from noregret.jit.layout import Layout, address, cache_folder, fill
from noregret.state import guarded_round as guard
from noregret.tasks.assemble import Plan, fingerprint

log = logging.getLogger("noregret")
Bindings = Callable[[Any], Mapping[str, Any]]


class Made(NamedTuple):
    """What the compiler made: the entry's address, its name and its code, and what keeps it alive."""

    address: int
    name: str
    code: bytes
    keeper: Any
    found: bool  # in the compiler's own cache


class Entry:
    """A compiled function over a table, callable without Python's help: other threads go on meanwhile."""

    def __init__(self, symbol: str, where: int, keeper: Any = None) -> None:
        self.symbol, self.address, self.keeper = symbol, where, keeper
        signature = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
        self.call = signature(self.address)
        self._result, self._exception = ctypes.c_int64(), ctypes.c_void_p()
        self.result, self.exception = ctypes.addressof(self._result), ctypes.addressof(self._exception)

    def run(self, table: int) -> int:
        """0 when it came to its end, otherwise something in it raised an error."""
        return int(self.call(self.result, self.exception, table))


_made: dict[Any, Entry] = {}
_lock = threading.Lock()


def once(key: Any, make: Callable[[], Entry]) -> Entry:
    found = _made.get(key)
    if found is None:
        with waiting(), _lock:
            found = _made.get(key) or make()
            _made[key] = found
    return found


def fetched(symbol: str, compile_it: Callable[[Any], Made]) -> Entry:
    """An entry from its object file; or compiled, and its object file kept."""
    where = objects.load(symbol)
    if where is not None:
        return Entry(symbol, where)
    complain_if_not_kept()
    compiler = import_module("noregret.jit.compiler")
    where = objects.load(symbol)  # the compiler may have brought what the file needs
    if where is not None:
        return Entry(symbol, where)
    made = compile_it(compiler)
    if not made.found:
        log.info("compiled %s", symbol)
        objects.keep(symbol, made.name, made.code)
    return Entry(symbol, made.address, made.keeper)


_complained: set[Path] = set()


def complain_if_not_kept() -> None:
    """A folder that cannot be written is said so, once."""
    folder = cache_folder()
    if folder not in _complained and not writable(folder):
        _complained.add(folder)
        warnings.warn(
            f"the cache folder {folder} cannot be written: loops are compiled anew in every process; "
            "set NOREGRET_CACHE to a folder that can",
            RuntimeWarning,
            stacklevel=2,
        )


# ---- loops ------------------------------------------------------------------------------------------------------


def loop(plan: Plan, layout: Layout) -> Entry:
    """The loop of a plan, compiled once and kept on disk between processes."""

    def make() -> Entry:
        texts = fingerprint(plan) + source_hash(plan.task, MADE_WITH) + repr(layout.key)
        symbol = f"{plan.name}_{hashlib.sha256(texts.encode()).hexdigest()[:16]}"
        return fetched(symbol, lambda compiler: compiler.compiled_loop(plan, layout, symbol))

    return once((plan, layout.key), make)


# ---- tools that serve every loop --------------------------------------------------------------------------------


def called(function: Callable[..., Any], seen: dict[str, Any] | None = None) -> list[Callable[..., Any]]:
    """The plain functions that a text calls, and those that they call."""
    seen = {} if seen is None else seen
    for name in function.__code__.co_names:
        one = function.__globals__.get(name)
        if isinstance(one, FunctionType) and name not in seen:
            seen[name] = one
            called(one, seen)
    return list(seen.values())


def symbol_of(text: Callable[..., Any], replaced: Mapping[str, Any]) -> str:
    """What the cache knows a text by: its name, and all the files it is made from."""
    here = [Path(__file__).with_name(name) for name in ("compiler.py", "machine.py", "layout.py")]
    files = [*here, *sorted({Path(one.__code__.co_filename) for one in [text, *replaced.values(), *called(text)]})]
    return f"{text.__name__}_{files_hash(files, MADE_WITH)[:16]}"


def is_kept(text: Callable[..., Any], replaced: Mapping[str, Any] = MappingProxyType({})) -> bool:
    """Whether a text is there without compiling, as far as object files tell."""
    return text in _made or not objects.supported() or os.path.exists(objects.place(symbol_of(text, replaced)))


def tool(text: Callable[..., Any], bindings: Bindings, replaced: Mapping[str, Any] = MappingProxyType({})) -> Entry:
    """A small compiled function, kept like a loop; its bindings are asked for only when it is compiled."""

    def make() -> Entry:
        symbol = symbol_of(text, replaced)
        return fetched(symbol, lambda compiler: compiler.compiled(text, symbol, bindings(compiler)))

    return once(text, make)


def undo_log() -> Entry:
    """The compiled undo of the cells that a few rows touch."""
    return tool(guard.undo_log_cells, lambda compiler: compiler.undo_log_bindings())


def guarded() -> Entry:
    """One round of any loop, with its undo, in one foreign call."""
    return tool(guard.guarded_round, lambda compiler: compiler.guarded_bindings())


def dict_round() -> Entry:
    """One round of any loop from a dict, to be called as a function of C is."""
    return tool(dict_reader.take_round, lambda compiler: compiler.dict_bindings())


class Definition(ctypes.Structure):
    """How Python knows a built-in function: its name, its address, how it takes its arguments, its documentation."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("told", ctypes.c_char_p),
    )


FAST = 0x80  # arguments come as an array and their number


@cache
def definition(where: int) -> Definition:
    """TopK until the process ends: Python looks at it when the last of its functions goes, whatever has gone before."""
    made = Definition(b"take_round", where, FAST, None)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(made))
    return made


def built_in(entry: Entry, owner: Any) -> Any:
    """The function of C at an entry as a function of Python, which hands it the owner and its arguments."""
    make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    function = make(("PyCFunction_NewEx", ctypes.pythonapi))
    return function(ctypes.addressof(definition(entry.address)), owner, None)


def over_arrays(
    text: Callable[..., Any],
    places: Mapping[str, tuple[int, Any]],
    replaced: Mapping[str, Callable[..., Any]] = MappingProxyType({}),
) -> Callable[..., None]:
    """A compiled text over arrays: called with its table and the values that stand there.

    `places` gives, for each of the text's `read_` functions, a slot of the table and an example of the value;
    `replaced`, functions that stand for those of their name wherever the text, or what it calls, calls them.
    """
    compiled = tool(text, lambda compiler: compiler.text_bindings(text, places, replaced), replaced)

    def run(table: np.ndarray, *values: Any) -> None:
        for (first, _), value in zip(places.values(), values, strict=True):
            fill(table, first, value)
        if compiled.run(address(table)) != 0:
            raise IndexError(f"{text.__name__} reached out of its arrays")

    return run
