"""Specialize functions and compile them with numba. `compiled` decides when, and keeps what is compiled."""

import contextlib
import logging
import re
import threading
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any

import numba
from numba import _dynfunc
from numba.core import codegen, cpu, types
from numba.core.errors import NumbaError, UnsupportedBytecodeError

from noregret.algebra.verbs import REASSOCIATED
from noregret.errors import Error
from noregret.jit import objects
from noregret.jit import overloads as overloads  # registers the verbs
from noregret.jit.cache import FOR_C, INNER, LEAN, cache_folder, discard, is_writable
from noregret.jit.cache import OPTIONS as OPTIONS
from noregret.jit.compiled import Function, MachineCode, Places
from noregret.jit.intrinsics import INTRINSICS, TABLE, make_reader
from noregret.jit.layout import Layout
from noregret.jit.row_cells import IN_PLACE, ON_COPIES
from noregret.rules.own_functions import OwnFunction
from noregret.rules.specialize import rebind
from noregret.tasks import hooks
from noregret.tasks.assemble import Plan, assemble
from noregret.tasks.entry import entry

log = logging.getLogger("noregret")
CANNOT = (NumbaError, UnsupportedBytecodeError)
HIGHLIGHT = re.compile(r"\x1b\[[0-9;]*m")  # numba colours its errors where colorama is installed


@contextlib.contextmanager
def only_the_entry(symbol: str) -> Iterator[None]:
    """While an entry is compiled, leave the functions inlined into it as intermediate code.

    Numba turns every inner function into optimised machine code of its own, which is never called; leaving that out
    saves a third of the time. Other threads that compile with numba meanwhile are not affected.
    """
    finalize, executable = codegen.CPUCodeLibrary.finalize, cpu.CPUContext.get_executable
    me = threading.get_ident()

    def is_inner(library: Any) -> bool:
        return threading.get_ident() == me and not library.name.startswith(symbol)

    def link_only(library: Any) -> None:
        if not is_inner(library):
            finalize(library)
            return
        for linked in dict.fromkeys(library._linking_libraries):
            library._reload_init.update(linked._reload_init)
            library._final_module.link_in(linked._get_module_for_linking(), preserve=True)
        library._finalize_dynamic_globals()
        library._finalized = True

    def never_called(context: Any, library: Any, function: Any, environment: Any) -> Any:
        if not is_inner(library):
            return executable(context, library, function, environment)
        library._ensure_finalized()
        return _dynfunc.make_function(function.lookup_module(), function.qualname, "", 1, environment, (library,))

    codegen.CPUCodeLibrary.finalize, cpu.CPUContext.get_executable = link_only, never_called
    try:
        yield
    finally:
        codegen.CPUCodeLibrary.finalize, cpu.CPUContext.get_executable = finalize, executable


def run_numba(function: Function, symbol: str, kinds: tuple[Any, ...], options: Mapping[str, Any]) -> Any:
    """Compile an entry; or, where entries are not saved as object files, take it from the compiler's own cache.

    Statements that do the same to neighbours, such as partial sums, become operations on vectors: with the same bits.
    """
    folder = cache_folder()
    cached = not objects.supported() and is_writable(folder)
    previous = numba.config.CACHE_DIR, numba.config.SLP_VECTORIZE
    numba.config.CACHE_DIR, numba.config.SLP_VECTORIZE = str(folder), 1
    try:
        with only_the_entry(symbol):
            compiler = numba.njit(types.int64(*kinds), cache=cached, **options)
            try:
                return compiler(function)
            except Exception as error:
                if isinstance(error, CANNOT) or not cached or not discard(folder, symbol):
                    raise
                log.warning("the cached %s cannot be read (%s); compiled anew", symbol, type(error).__name__)
                return compiler(function)
    finally:
        numba.config.CACHE_DIR, numba.config.SLP_VECTORIZE = previous


def compile_entry(function: Function, symbol: str, bindings: Mapping[str, Any]) -> MachineCode:
    """Compile a function with its names bound. One argument is a table; with several it is called as a C function."""
    words = function.__code__.co_argcount
    kinds = (TABLE,) if words == 1 else (types.int64,) * words
    made = run_numba(rebind(function, symbol, bindings), symbol, kinds, LEAN if words == 1 else FOR_C)
    one = made.overloads[kinds]
    name = one.fndesc.llvm_func_name if words == 1 else one.fndesc.llvm_cfunc_wrapper_name
    where = int(one.library.get_pointer_to_function(name))
    code = bytes(one.library._compiled_object or b"")
    return MachineCode(where, name, code, made, bool(sum(made.stats.cache_hits.values())))


def specialize(function: Function, name: str, bindings: Mapping[str, Any]) -> Any:
    """A copy of a function with its names bound, to be inlined into an entry."""
    copy = rebind(function, name, bindings)
    copy.__module__ = entry.__module__  # looked up when a loop comes from the disk; a user's file may be gone by then
    options = {**INNER, "fastmath": overloads.ANY_ORDER} if function in REASSOCIATED else INNER
    return numba.njit(**options)(copy)


# ---- loops ------------------------------------------------------------------------------------------------------


def compile_loop(plan: Plan, layout: Layout, symbol: str) -> MachineCode:
    """The loop of a plan, over a table of this layout."""
    for function in plan.card.functions():
        if "print" in function.__code__.co_names:
            where = f"{function.__code__.co_filename}:{function.__code__.co_firstlineno}"
            raise Error(f"{where}: rule {plan.card.name} prints; to watch it, make the learner with native=False")
    overloads.register_helpers()
    bound: dict[str, Any] = {}
    for name, first, example in layout.places():
        bound[f"read_{name}"] = make_reader(numba.typeof(example), first)
    try:
        try:
            return compile_entry(entry, symbol, bound | assemble_loops(plan, ON_COPIES))
        except CANNOT:
            if plan.card.kind != "coordinate" and plan.card.weight is None:
                raise
            return compile_entry(entry, symbol, bound | assemble_loops(plan, IN_PLACE))
    except Exception as error:
        raise Error(explain(plan, error)) from (None if isinstance(error, CANNOT) else error)


def assemble_loops(plan: Plan, cells: Mapping[str, Any]) -> dict[str, Any]:
    """The loops of a plan, with the functions that `cells` puts in place of those of `tasks.row_cells`."""

    def copy(function: Function, name: str, bindings: Mapping[str, Any]) -> Any:
        return specialize(function, name, {**cells, **bindings} if function.__module__ == hooks.__name__ else bindings)

    return dict(zip(("play", "score_rows"), assemble(plan, copy), strict=True))


def explain(plan: Plan, error: Exception) -> str:
    """One or two lines that name the rule's file and line."""
    own = [option.function.__code__ for _, option in plan.choices if isinstance(option, OwnFunction)]
    code = plan.card.rule.__code__
    lines = [line.strip() for line in HIGHLIGHT.sub("", str(error)).splitlines() if line.strip()]
    matches = [re.match(r'File "(.*)", line (\d+)|.*Raised from (.*) \((\d+)\)$', line) for line in lines]
    places = [(one[1] or one[3], one[2] or one[4]) for one in matches if one is not None]
    where = f"{code.co_filename}:{code.co_firstlineno}"
    for one in (code, *own):
        numbers = [number for file, number in places if Path(file).resolve() == Path(one.co_filename).resolve()]
        where = f"{one.co_filename}:{numbers[-1]}" if numbers else where
    noise = ("Failed in", "File", "-", "During", "Overload", "There are", "- Of")
    reason = next((line for line in lines if not line.startswith(noise)), "it uses something that cannot be compiled")
    reason = re.sub(r"\.* Raised from .*", "", reason)
    called = re.match(r"No implementation of function Function\(<(?:verb|function|built-in function) (\w+)", reason)
    if called is not None:
        reason = f"{called[1]} has no meaning for what it is given there"
    return f"{where}: rule {plan.card.name} cannot be compiled: {reason[:200]}"


# ---- functions over arrays ----------------------------------------------------------------------------------------


def compile_function(function: Function, symbol: str, places: Places, replaced: Mapping[str, Function]) -> MachineCode:
    """A function with readers of its values, the intrinsics, and all plain functions that it calls."""
    bound = {f"read_{name}": make_reader(numba.typeof(example), first) for name, (first, example) in places.items()}
    specialized = {name: specialize(one, name, bind_callees(one, dict(INTRINSICS))) for name, one in replaced.items()}
    return compile_entry(function, symbol, bind_callees(function, {**INTRINSICS, **bound, **specialized}))


def bind_callees(function: Function, bound: dict[str, Any]) -> dict[str, Any]:
    """Specialize the plain functions that a function calls; names that are bound already stay as they are.

    A function that reaches nothing bound but intrinsics is compiled once for all that call it.
    """
    for name in function.__code__.co_names:
        callee = function.__globals__.get(name)
        if name not in bound and isinstance(callee, FunctionType):
            if bound.keys() & reached_names(callee) <= INTRINSICS.keys():
                bound[name] = share(callee)
            else:
                bound[name] = specialize(callee, name, bind_callees(callee, bound))
    return bound


@cache
def reached_names(function: FunctionType) -> frozenset[str]:
    """The names that a function uses, or that the plain functions it calls use."""
    names, todo = set[str](), [function]
    seen = {function}
    while todo:
        code, space = todo[-1].__code__, todo.pop().__globals__
        names.update(code.co_names)
        for called in map(space.get, code.co_names):
            if isinstance(called, FunctionType) and called not in seen:
                todo.append(called)
                seen.add(called)
    return frozenset(names)


@cache
def share(function: FunctionType) -> Any:
    """A function that reads no table, with the functions it calls, for every function that calls it."""
    space, own = function.__globals__, dict[str, Any](INTRINSICS)
    for name in function.__code__.co_names:
        if name not in INTRINSICS and isinstance(space.get(name), FunctionType):
            own[name] = share(space[name])
    return specialize(function, function.__name__, own)
