"""Compiled functions: from memory, from an object file on disk, or from the compiler, which is imported only for that.

A compiled function is one C function, `status function(table)`. The table holds addresses and lengths: parameters,
state, rows, results. So a loop has one signature, whatever arrays it is given, and one round costs one foreign call.
"""

import contextlib
import ctypes
import gc
import logging
import os
import threading
import warnings
from collections.abc import Callable, Hashable, Iterator, Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

import numpy as np

from noregret.algebra import TYPES
from noregret.algebra.verbs import unbound as unbound
from noregret.errors import Error
from noregret.jit import objects
from noregret.jit.cache import cache_folder, count_waiting, describe_compiler, find_problem
from noregret.jit.fingerprint import fingerprint
from noregret.jit.layout import Layout, Table, address, describe, fill
from noregret.jit.lock import exclusive
from noregret.rules.specialize import rebind
from noregret.state import guarded_round as rounds
from noregret.tasks.assemble import Plan, assemble
from noregret.tasks.entry import entry

log = logging.getLogger("noregret")
Function = Callable[..., Any]
Places = Mapping[str, tuple[int, Any]]  # for each value a function reads: its slot, and an example of it
NOTHING: Mapping[str, Function] = MappingProxyType({})
HELD = ctypes.PYFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)  # keeps Python's lock


class MachineCode(NamedTuple):
    """What the compiler returns: the function's address, its name and object code, and what owns its memory."""

    address: int
    name: str
    code: bytes
    owner: object
    cached: bool  # found in the compiler's own cache


class Compiler(Protocol):
    """The module `noregret.jit.compiler`, which imports numba."""

    def compile_loop(self, plan: Plan, layout: Layout, symbol: str) -> MachineCode: ...

    def compile_function(
        self, function: Function, symbol: str, places: Places, replaced: Mapping[str, Function]
    ) -> MachineCode: ...


class Entry:
    """A compiled function over a table. While it runs, other threads of Python run too."""

    def __init__(self, symbol: str, where: int, owner: object = None) -> None:
        self.symbol, self.address, self.owner = symbol, where, owner
        signature = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
        self.call = signature(self.address)
        self._result, self._exception = ctypes.c_int64(), ctypes.c_void_p()
        self.result, self.exception = ctypes.addressof(self._result), ctypes.addressof(self._exception)

    def run(self, table: int) -> int:
        """0 when it came to its end; anything else when it raised an error."""
        return int(self.call(self.result, self.exception, table))

    def held(self, table: int) -> Callable[[], int]:
        """`run` on this table without letting other threads run meanwhile: none can see, or fork, what is half done."""
        return partial(HELD(self.address), self.result, self.exception, table)


# ---- from memory, from disk, or compiled --------------------------------------------------------------------------

_entries: dict[Hashable, Entry] = {}
_lock = threading.Lock()
_holder: int | None = None  # the thread that compiles or loads


def _renew_lock() -> None:
    """In the child of a fork no other thread runs that could release the lock."""
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


@contextlib.contextmanager
def one_at_a_time() -> Iterator[None]:
    """Compile or load one function at a time; a signal handler that interrupted this very thread is refused."""
    global _holder
    if _holder == threading.get_ident() and _lock.locked():
        raise Error("a loop is being compiled by the code that was interrupted; call a learner after it has finished")
    with _lock:
        _holder = threading.get_ident()
        try:
            yield
        finally:
            _holder = None


def get_entry(key: Hashable, make: Callable[[], Entry]) -> Entry:
    """The compiled function of a key, made at its first use in this process."""
    known = _entries.get(key)
    if known is None:
        with count_waiting(), one_at_a_time():
            known = _entries.get(key) or make()
            _entries[key] = known
    return known


def load_or_compile(symbol: str, compile_it: Callable[[Compiler], MachineCode]) -> Entry:
    """Load a function from its object file; else compile it and save the file, unless another process just does."""
    where = objects.load(symbol)
    if where is not None:
        return Entry(symbol, where)
    warn_if_unwritable()
    with exclusive(symbol):
        where = objects.load(symbol)  # the process that had the lock may have saved it
        if where is not None:
            return Entry(symbol, where)
        compiler: Compiler = import_module("noregret.jit.compiler")
        where = objects.load(symbol)  # importing the compiler may have brought a symbol that the file needs
        if where is not None:
            return Entry(symbol, where)
        with without_garbage_collection():
            machine_code = compile_it(compiler)
        if not machine_code.cached:
            log.info("compiled %s", symbol)
            objects.save(symbol, machine_code.name, machine_code.code)
        return Entry(symbol, machine_code.address, machine_code.owner)


@contextlib.contextmanager
def without_garbage_collection() -> Iterator[None]:
    """Pause garbage collection: looking through the compiler's many objects costs an eighth of its time."""
    enabled = gc.isenabled()
    try:
        gc.disable()
        yield
    finally:
        if enabled:
            gc.enable()


_warned: set[Path] = set()


def warn_if_unwritable() -> None:
    """Warn, once, about a cache folder that cannot be used."""
    folder = cache_folder()
    problem = None if folder in _warned else find_problem(folder)
    if problem is not None:
        _warned.add(folder)
        other = "a folder that can" if problem == "cannot be written" else "a folder of your own"
        warnings.warn(
            f"the cache folder {folder} {problem}: loops are compiled anew in every process; "
            f"set NOREGRET_CACHE to {other}",
            RuntimeWarning,
            stacklevel=2,
        )


# ---- loops ------------------------------------------------------------------------------------------------------


def get_loop(plan: Plan, layout: Layout) -> Entry:
    """The loop of a plan, compiled once and kept on disk between processes."""

    def make() -> Entry:
        symbol = symbol_of_loop(plan, layout)
        return load_or_compile(symbol, lambda compiler: compiler.compile_loop(plan, layout, symbol))

    return get_entry((plan, layout.key), make)


def fingerprint_plan(plan: Plan) -> str:
    """A hash of the code of a loop, whatever its layout: what is known before there is a state."""
    return fingerprint([entry, *assemble(plan, rebind)], TYPES[plan.algebra], (plan.name, describe_compiler()))


def symbol_of_loop(plan: Plan, layout: Layout) -> str:
    """The name a loop is cached by: its plan's, and a hash of all it is compiled from."""
    options = (plan.name, describe_compiler(), layout.key)
    mark = fingerprint([entry, *assemble(plan, rebind)], layout.types(), options)
    return f"{plan.name}_{mark[:16]}"


# ---- functions over arrays ----------------------------------------------------------------------------------------


def get_function(function: Function, places: Places, replaced: Mapping[str, Function] = NOTHING) -> Entry:
    """A compiled function that reads its values from a table; `replaced` as in `compile_function`."""

    def make() -> Entry:
        symbol = symbol_of(function, places, replaced)
        return load_or_compile(symbol, lambda it: it.compile_function(function, symbol, places, replaced))

    return get_entry(function, make)


def symbol_of(function: Function, places: Places, replaced: Mapping[str, Function] = NOTHING) -> str:
    """The name a function is cached by."""
    described = [(name, slot, describe(example)) for name, (slot, example) in places.items()]
    mark = fingerprint([function], (), (describe_compiler(), described, sorted(replaced)), replaced)
    return f"{function.__name__}_{mark[:16]}"


def is_cached(function: Function, places: Places, replaced: Mapping[str, Function] = NOTHING) -> bool:
    """Whether a function can be had without compiling, as far as object files tell."""
    if function in _entries or not objects.supported():
        return True
    return any(map(os.path.exists, objects.paths_of(symbol_of(function, places, replaced))))


def compile_function(
    function: Function, places: Places, replaced: Mapping[str, Function] = NOTHING
) -> Callable[..., None]:
    """Compile a function over arrays; the result is called with its table and the values that stand there.

    `places` gives, for each of the function's `read_` functions, a slot of the table and an example of the value;
    `replaced`, functions that stand for those of their name wherever the function, or what it calls, calls them.
    """
    compiled = get_function(function, places, replaced)

    def run(table: Table, *values: Any) -> None:
        for (first, _), value in zip(places.values(), values, strict=True):
            fill(table, first, value)
        if compiled.run(address(table)) != 0:
            raise IndexError(f"{function.__name__} reached out of its arrays")

    return run


# ---- functions that serve every loop ------------------------------------------------------------------------------


def vectors(arrays: Mapping[str, tuple[int, type[np.generic]]]) -> Places:
    """Places of one-dimensional arrays, by slot and dtype."""
    return {name: (slot, np.zeros(1, kind)) for name, (slot, kind) in arrays.items()}


def get_undo_log() -> Entry:
    """The compiled undo of the cells that a few rows touch."""
    return get_function(rounds.undo_log_cells, vectors(rounds.UNDO_ARRAYS))


def get_guarded_round() -> Entry:
    """One round of any loop, with its undo, in one foreign call."""
    return get_function(rounds.guarded_round, vectors(rounds.ROUND_ARRAYS))
