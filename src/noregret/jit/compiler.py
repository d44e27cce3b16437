"""Stamp and compile: the only file that imports numba. What is compiled is kept, and found again, by `compiled`."""

import contextlib
import logging
import threading
import types as plain
from collections import namedtuple
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import _dynfunc
from numba.core import cgutils, codegen, cpu, types
from numba.core.errors import NumbaError, UnsupportedBytecodeError
from numba.extending import intrinsic, overload
from numba.np import arrayobj

from noregret.algebra.verbs import HELPERS, REASSOCIATED, VERBS, Verb
from noregret.errors import Error
from noregret.jit import dict_reader, objects
from noregret.jit.cache import OPTIONS, discarded, explain, writable
from noregret.jit.compiled import Made
from noregret.jit.layout import Layout, cache_folder
from noregret.jit.machine import instructions
from noregret.rules.specialize import rebind
from noregret.state import guarded_round as guard
from noregret.tasks import hooks
from noregret.tasks.assemble import Plan, assemble
from noregret.tasks.entry import entry

log = logging.getLogger("noregret")
MACHINE = instructions(intrinsic, types, cgutils, ir)
TABLE = types.CPointer(types.int64)
# Loops own no memory, so no references are counted in them: a rule does not make arrays of its own.
LEAN: dict[str, Any] = {**OPTIONS, "no_cpython_wrapper": True, "no_cfunc_wrapper": True, "_nrt": False}
FOR_C: dict[str, Any] = {**LEAN, "no_cfunc_wrapper": False}
INNER: dict[str, Any] = {**LEAN, "forceinline": True}
CANNOT = (NumbaError, UnsupportedBytecodeError)
ANY_ORDER = {"reassoc", "contract", "nsz"}


# ---- verbs ------------------------------------------------------------------------------------------------------


def python_type(kind: Any) -> type:
    """The Python type a compiled value stands for: what the verb tables are keyed by."""
    if isinstance(kind, types.Array):
        return np.ndarray
    return getattr(kind, "instance_class", None) or object


def chooser(verb: Verb) -> Callable[..., Any]:
    def choose(*kinds: Any) -> Any:
        return verb.find(tuple(map(python_type, kinds)))

    return choose


def constant_chooser(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *kinds: function


for _verb in VERBS:
    overload(_verb, jit_options=INNER, strict=False)(chooser(_verb))
for _function in HELPERS:
    overload(_function, jit_options=INNER, strict=False)(constant_chooser(_function))
for _function in REASSOCIATED:
    overload(_function, jit_options={**INNER, "fastmath": ANY_ORDER}, strict=False)(constant_chooser(_function))


@intrinsic  # type: ignore[untyped-decorator]
def with_weight(context: Any, p: Any, h: Any) -> Any:
    """The parameters with the one that an importance weight moves multiplied or divided by it."""
    where, power = p.instance_class.weight_place

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        fields, weight = arguments
        old = builder.extract_value(fields, where)
        new = builder.fmul(old, weight) if power > 0 else builder.fdiv(old, weight)
        return builder.insert_value(fields, new, where)

    return p(p, h), codegen


@overload(hooks.weighed, jit_options=LEAN, strict=False)  # type: ignore[untyped-decorator]
def choose_weighed(p: Any, h: Any) -> Any:
    if p.instance_class.weight_place is None:
        return lambda p, h: p
    return lambda p, h: with_weight(p, h)


@intrinsic  # type: ignore[untyped-decorator]
def with_counters_read(context: Any, s: Any) -> Any:
    """The state with its counters as numbers of their own, which no write to an array can change."""
    *fields, record = s.types
    names = list(record.fields)
    kind = namedtuple("Counters", names, rename=True)  # type: ignore[misc]
    counters = types.NamedTuple([types.float64] * len(names), kind)
    whole = types.NamedTuple([*fields, counters], s.instance_class)

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        where = builder.extract_value(arguments[0], len(fields))
        number = context.get_data_type(types.float64)
        places = [cgutils.get_record_member(builder, where, record.offset(name), number) for name in names]
        parts = [builder.extract_value(arguments[0], i) for i in range(len(fields))]
        numbers = context.make_tuple(builder, counters, [builder.load(place) for place in places])
        return context.make_tuple(builder, whole, [*parts, numbers])

    return whole(s), codegen


@overload(hooks.still, jit_options=INNER, strict=False)  # type: ignore[untyped-decorator]
def choose_still(s: Any) -> Any:
    if any(name.startswith("_") for name in s.types[-1].fields):  # no tuple has such names
        return lambda s: s
    return lambda s: with_counters_read(s)


# ---- the table --------------------------------------------------------------------------------------------------


def build(context: Any, builder: Any, kind: Any, load: Callable[[], Any]) -> Any:
    """Code that makes a value of this type from the next slots of the table."""
    if isinstance(kind, types.BaseTuple):
        return context.make_tuple(builder, kind, [build(context, builder, item, load) for item in kind.types])
    if isinstance(kind, types.Float):
        return builder.bitcast(load(), context.get_value_type(kind))
    if isinstance(kind, types.Integer):
        return load()
    if isinstance(kind, types.Record):
        return builder.inttoptr(load(), context.get_value_type(kind))
    cell = context.get_data_type(kind.dtype)
    size = context.get_abi_sizeof(cell)
    data = builder.inttoptr(load(), cell.as_pointer())
    shape = [load() for _ in range(kind.ndim)]
    step = context.get_constant(types.intp, size)
    strides: list[Any] = []
    for length in reversed(shape):
        strides.insert(0, step)
        step = builder.mul(step, length)
    array = arrayobj.make_array(kind)(context, builder)
    arrayobj.populate_array(
        array,
        data=data,
        shape=cgutils.pack_array(builder, shape),
        strides=cgutils.pack_array(builder, strides),
        itemsize=context.get_constant(types.intp, size),
        meminfo=None,
    )
    return array._getvalue()


def reader(kind: Any, first: int) -> Any:
    """A function for compiled code that reads a value of this type from the table, starting at a slot."""

    @intrinsic  # type: ignore[untyped-decorator]
    def read(typing_context: Any, table: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            slot = first

            def load() -> Any:
                nonlocal slot
                pointer = cgutils.gep_inbounds(builder, arguments[0], slot)
                slot += 1
                return builder.load(pointer)

            return build(context, builder, kind, load)

        return kind(table), codegen

    return read


# ---- stamping and the cache -------------------------------------------------------------------------------------


@contextlib.contextmanager
def only_the_entry(symbol: str) -> Iterator[None]:
    """While an entry is compiled, leave the functions inlined into it as intermediate code.

    Numba turns every inner function into optimised machine code of its own, which nobody will call; leaving that out
    saves a third of the time. Other threads that compile with numba meanwhile are not touched.
    """
    finalize, executable = codegen.CPUCodeLibrary.finalize, cpu.CPUContext.get_executable
    me = threading.get_ident()

    def inner(library: Any) -> bool:
        return threading.get_ident() == me and not library.name.startswith(symbol)

    def link_only(library: Any) -> None:
        if not inner(library):
            finalize(library)
            return
        for linked in dict.fromkeys(library._linking_libraries):
            library._reload_init.update(linked._reload_init)
            library._final_module.link_in(linked._get_module_for_linking(), preserve=True)
        library._finalize_dynamic_globals()
        library._finalized = True

    def never_called(context: Any, library: Any, function: Any, environment: Any) -> Any:
        if not inner(library):
            return executable(context, library, function, environment)
        library._ensure_finalized()
        return _dynfunc.make_function(function.lookup_module(), function.qualname, "", 1, environment, (library,))

    codegen.CPUCodeLibrary.finalize, cpu.CPUContext.get_executable = link_only, never_called
    try:
        yield
    finally:
        codegen.CPUCodeLibrary.finalize, cpu.CPUContext.get_executable = finalize, executable


def disk_cached(text: Callable[..., Any], symbol: str, kinds: tuple[Any, ...], options: Mapping[str, Any]) -> Any:
    """Compile an entry; or, where entries are not kept as object files, take it from the compiler's own cache."""
    folder = cache_folder()
    cached = not objects.supported() and writable(folder)
    previous = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(folder)
    try:
        with only_the_entry(symbol):
            compiler = numba.njit(types.int64(*kinds), cache=cached, **options)
            try:
                return compiler(text)
            except Exception as error:
                if isinstance(error, CANNOT) or not cached or not discarded(folder, symbol):
                    raise
                log.warning("what the cache has of %s cannot be read (%s); compiled anew", symbol, type(error).__name__)
                return compiler(text)
    finally:
        numba.config.CACHE_DIR = previous


def compiled(text: Callable[..., Any], symbol: str, bindings: Mapping[str, Any]) -> Made:
    """A text with its names bound, as machine code."""
    words = text.__code__.co_argcount  # one is a table; a text over several words is called as a function of C is
    kinds = (TABLE,) if words == 1 else (types.int64,) * words
    function = disk_cached(rebind(text, symbol, bindings), symbol, kinds, LEAN if words == 1 else FOR_C)
    made = function.overloads[kinds]
    name = made.fndesc.llvm_func_name if words == 1 else made.fndesc.llvm_cfunc_wrapper_name
    where = int(made.library.get_pointer_to_function(name))
    code = bytes(made.library._compiled_object or b"")
    return Made(where, name, code, function, bool(sum(function.stats.cache_hits.values())))


# ---- loops ------------------------------------------------------------------------------------------------------


def stamp(function: Callable[..., Any], name: str, bindings: Mapping[str, Any]) -> Any:
    text = rebind(function, name, bindings)
    text.__module__ = entry.__module__  # looked up when a loop comes from the disk; a user's file may be gone by then
    return numba.njit(**INNER)(text)


def compiled_loop(plan: Plan, layout: Layout, symbol: str) -> Made:
    """The loop of a plan, over a table of this layout."""
    for function in plan.card.functions():
        if "print" in function.__code__.co_names:
            where = f"{function.__code__.co_filename}:{function.__code__.co_firstlineno}"
            raise Error(f"{where}: rule {plan.card.name} prints; to watch it, make the learner with native=False")
    bound: dict[str, Any] = {}
    for name, first, example in layout.places():
        bound[f"read_{name}"] = reader(numba.typeof(example), first)
    bound["play"], bound["score_rows"] = assemble(plan, stamp)
    try:
        return compiled(entry, symbol, bound)
    except Exception as error:
        raise Error(explain(plan, error)) from (None if isinstance(error, CANNOT) else error)


# ---- tools that serve every loop --------------------------------------------------------------------------------


@intrinsic  # type: ignore[untyped-decorator]
def array_at(typing_context: Any, address: Any, size: Any) -> Any:
    """A float64 array over memory that Python owns."""
    kind = types.Array(types.float64, 1, "C")

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        slots = iter(arguments)
        return build(context, builder, kind, lambda: next(slots))

    return kind(address, size), codegen


@intrinsic  # type: ignore[untyped-decorator]
def table_at(typing_context: Any, address: Any) -> Any:
    """A table at an address."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], context.get_value_type(TABLE))

    return TABLE(address), codegen


@intrinsic  # type: ignore[untyped-decorator]
def call_loop(typing_context: Any, loop_address: Any, table_address: Any) -> Any:
    """Run the loop at an address on the table at another; says whether it raised an error."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word, status = context.get_value_type(types.int64), context.get_value_type(types.int32)
        result, exception = cgutils.alloca_once(builder, word), cgutils.alloca_once(builder, word)
        slots = context.get_value_type(TABLE)
        kind = ir.FunctionType(status, [result.type, exception.type, slots])
        function = builder.inttoptr(arguments[0], kind.as_pointer())
        code = builder.call(function, [result, exception, builder.inttoptr(arguments[1], slots)])
        return builder.zext(builder.icmp_signed("!=", code, status(0)), word)

    return types.int64(loop_address, table_address), codegen


def vector(kind: Any) -> Any:
    return types.Array(kind, 1, "C")


def undo_log_bindings() -> dict[str, Any]:
    return {
        "cells": stamp(guard.cells, "cells", {"array_at": array_at}),
        "gathered": stamp(guard.gathered, "gathered", {}),
        "read_touched": reader(vector(types.int32), guard.TOUCHED),
        "read_met": reader(vector(types.int32), guard.MET),
        "read_lately": reader(vector(types.int32), guard.LATELY),
        "read_saved": reader(vector(types.float64), guard.SAVED),
    }


def guarded_bindings() -> dict[str, Any]:
    return {
        **undo_log_bindings(),
        "table_at": table_at,
        "call": call_loop,
        "read_scores": reader(vector(types.float64), guard.SCORES),
        "read_counters": reader(vector(types.float64), guard.COUNTERS),
        "read_truth": reader(vector(types.float64), guard.TRUTH),
        "read_updated": reader(vector(types.uint8), guard.UPDATED),
        "read_totals": reader(vector(types.int64), guard.TOTALS),
        "missed": stamp(guard.missed, "missed", {"largest": stamp(guard.largest, "largest", {})}),
    }


def foreign(result: Any) -> Any:
    """A call of the function at an address with a tuple of arguments, for what it returns."""

    @intrinsic  # type: ignore[untyped-decorator]
    def ask(typing_context: Any, function: Any, arguments: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            words = [builder.extract_value(values[1], at) for at in range(len(arguments))]
            back = ir.VoidType() if result is types.void else context.get_value_type(result)
            kind = ir.FunctionType(back, [word.type for word in words])
            found = builder.call(builder.inttoptr(values[0], kind.as_pointer()), words)
            return context.get_dummy_value() if result is types.void else found

        return result(function, arguments), codegen

    return ask


def content(kind: Any) -> Any:
    """What stands at an address."""

    @intrinsic  # type: ignore[untyped-decorator]
    def content_at(typing_context: Any, address: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.load(builder.inttoptr(arguments[0], context.get_value_type(kind).as_pointer()))

        return kind(address), codegen

    return content_at


def dict_bindings() -> dict[str, Any]:
    bound = {name: reader(vector(numba.from_dtype(kind)), first) for name, (first, kind) in dict_reader.ARRAYS.items()}
    bound |= {"word_at": content(types.int64), "double_at": content(types.float64), "table_at": table_at}
    bound |= {"ask": foreign(types.int64), "ask_int": foreign(types.int32), "ask_double": foreign(types.float64)}
    bound |= {"tell": foreign(types.void), "call": call_loop}
    return with_all_it_calls(dict_reader.take_round, bound)


# ---- texts over arrays --------------------------------------------------------------------------------------------


def with_all_it_calls(function: Callable[..., Any], bound: dict[str, Any]) -> dict[str, Any]:
    """The plain functions that a text calls, stamped; those that are bound already stay as they are."""
    for name in function.__code__.co_names:
        called = function.__globals__.get(name)
        if name not in bound and isinstance(called, plain.FunctionType):
            bound[name] = stamp(called, name, with_all_it_calls(called, bound))
    return bound


def text_bindings(
    text: Callable[..., Any], places: Mapping[str, tuple[int, Any]], replaced: Mapping[str, Callable[..., Any]]
) -> dict[str, Any]:
    """What a text over arrays needs: readers of its places, the functions of the machine, and all it calls."""
    bound = {f"read_{name}": reader(numba.typeof(example), first) for name, (first, example) in places.items()}
    stamped = {name: stamp(one, name, MACHINE) for name, one in replaced.items()}
    return with_all_it_calls(text, {**MACHINE, **bound, **stamped})
