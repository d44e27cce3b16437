"""What the compiler puts in place of a verb, a helper or a hook; importing this registers all of them."""

from collections import namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, overload

from noregret.algebra.examples import fetch_ahead, read_once
from noregret.algebra.exponential import power_of_two
from noregret.algebra.lanes import divide_four
from noregret.algebra.verbs import HELPERS, REASSOCIATED, VERBS, Verb
from noregret.jit.cache import INNER, LEAN
from noregret.jit.intrinsics import set_exponent
from noregret.rules.row_size import follows_rows, with_size
from noregret.tasks import hooks

ANY_ORDER = {"reassoc", "contract", "nsz"}
AHEAD = 384  # values that are prefetched before they are read: longer than it takes to fetch them
LINE = 16  # indices in a line of the cache


registered: set[Callable[..., Any]] = set()


def register_helpers() -> None:
    """Register the helpers that came since the last time, such as kernels that a caller gave."""
    for function in HELPERS:
        if function not in registered:
            registered.add(function)
            overload(function, jit_options=INNER, strict=False)(always(function))


def register() -> None:
    """Register all verbs, helpers and hooks with the compiler."""
    for verb in VERBS:
        overload(verb, jit_options=INNER, strict=False)(choose_by_type(verb))
    register_helpers()
    for function in REASSOCIATED:
        overload(function, jit_options={**INNER, "fastmath": ANY_ORDER}, strict=False)(always(function))
    overload(read_once, jit_options=INNER, strict=False)(lambda idx, i: lambda idx, i: load_once(idx, i))
    overload(fetch_ahead, jit_options=INNER, strict=False)(
        lambda idx, val, first, last: lambda idx, val, first, last: prefetch_values(idx, val, first, last)
    )
    overload(power_of_two, jit_options=INNER, strict=False)(lambda k: lambda k: set_exponent(k))
    overload(divide_four, jit_options=INNER, strict=False)(lambda a, b: lambda a, b: divide_lanes(a, b))
    overload(hooks.weighed, jit_options=LEAN, strict=False)(choose_weighed)
    overload(follows_rows, jit_options=INNER, strict=False)(lambda p: lambda p: is_one_zero(p))
    overload(with_size, jit_options=INNER, strict=False)(lambda p, size: lambda p, size: divide_shares(p, size))
    overload(hooks.still, jit_options=INNER, strict=False)(choose_still)


def python_type(kind: Any) -> type:
    """The Python type a compiled value stands for: what the verb tables are keyed by."""
    if isinstance(kind, types.Array):
        return np.ndarray
    return getattr(kind, "instance_class", None) or object


def choose_by_type(verb: Verb) -> Callable[..., Any]:
    def choose(*kinds: Any) -> Any:
        return verb.find(tuple(map(python_type, kinds)))

    return choose


def always(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *kinds: function


def choose_weighed(p: Any, h: Any) -> Any:
    if p.instance_class.weight_place is None:
        return lambda p, h: p
    return lambda p, h: with_weight(p, h)


def choose_still(s: Any) -> Any:
    if any(name.startswith("_") for name in s.types[-1].fields):  # no tuple has such names
        return lambda s: s
    return lambda s: with_counters_read(s)


@intrinsic  # type: ignore[untyped-decorator]
def load_once(context: Any, idx: Any, i: Any) -> Any:
    """An element that is loaded once: an atomic load is never repeated, however the code is optimized."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(idx)(context, builder, arguments[0])
        place = builder.gep(array.data, [arguments[1]], inbounds=True)
        return builder.load_atomic(place, "unordered", idx.dtype.bitwidth // 8)

    return idx.dtype(idx, types.int64), codegen


@intrinsic  # type: ignore[untyped-decorator]
def prefetch_values(context: Any, idx: Any, val: Any, first: Any, last: Any) -> Any:
    """Prefetch the indices and values that come AHEAD places after some, as far as there are so many.

    A prefetch for data that are read once: they do not push others out of the larger caches.
    """

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        numbers = [
            context.make_array(kind)(context, builder, it) for kind, it in zip((idx, val), arguments, strict=False)
        ]
        byte, half, word = ir.IntType(8).as_pointer(), ir.IntType(32), ir.IntType(64)
        kind = ir.FunctionType(ir.VoidType(), [byte, half, half, half])
        prefetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        begin, end = (builder.add(place, word(AHEAD)) for place in arguments[2:])
        there = builder.icmp_signed("<=", end, builder.extract_value(numbers[1].shape, 0))
        with builder.if_then(there), cgutils.for_range_slice(builder, begin, end, word(LINE), word) as (i, _):
            for array, offset in ((numbers[0], 0), (numbers[1], 0), (numbers[1], LINE // 2)):
                place = builder.gep(array.data, [builder.add(i, word(offset))])
                builder.call(prefetch, [builder.bitcast(place, byte), half(0), half(0), half(1)])
        return context.get_dummy_value()

    return types.void(idx, val, types.int64, types.int64), codegen


@intrinsic  # type: ignore[untyped-decorator]
def divide_lanes(context: Any, a: Any, b: Any) -> Any:
    """The quotients of two tuples of numbers, as one division of vectors."""
    size, width = len(a), 2

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        half, kind = ir.IntType(32), ir.VectorType(ir.DoubleType(), width)
        lanes = []
        for first in range(0, size, width):
            vectors = []
            for argument in arguments:
                vector = ir.Constant(kind, ir.Undefined)
                for lane in range(width):
                    vector = builder.insert_element(vector, builder.extract_value(argument, first + lane), half(lane))
                vectors.append(vector)
            quotients = builder.fdiv(*vectors)
            lanes += [builder.extract_element(quotients, half(lane)) for lane in range(width)]
        return context.make_tuple(builder, signature.return_type, lanes)

    return a(a, b), codegen


@intrinsic  # type: ignore[untyped-decorator]
def with_weight(context: Any, p: Any, h: Any) -> Any:
    """The parameters with the one that an importance weight scales multiplied or divided by it."""
    where, power = p.instance_class.weight_place

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        fields, weight = arguments
        old = builder.extract_value(fields, where)
        new = builder.fmul(old, weight) if power > 0 else builder.fdiv(old, weight)
        return builder.insert_value(fields, new, where)

    return p(p, h), codegen


@intrinsic  # type: ignore[untyped-decorator]
def is_one_zero(context: Any, p: Any) -> Any:
    """Whether a parameter that follows the rows where it is 0 is 0."""
    places = p.instance_class.size_places

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        found = cgutils.false_bit
        for where, _ in places:
            number = builder.extract_value(arguments[0], where)
            found = builder.or_(found, builder.fcmp_ordered("==", number, ir.Constant(number.type, 0.0)))
        return found

    return types.boolean(p), codegen


@intrinsic  # type: ignore[untyped-decorator]
def divide_shares(context: Any, p: Any, size: Any) -> Any:
    """The parameters with those that are 0 and follow the rows as shares of 1 / size."""
    places = p.instance_class.size_places

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        fields, size = arguments
        for where, share in places:
            old = builder.extract_value(fields, where)
            follows = builder.fcmp_ordered("==", old, ir.Constant(old.type, 0.0))
            new = builder.fdiv(ir.Constant(old.type, share), size)
            fields = builder.insert_value(fields, builder.select(follows, new, old), where)
        return fields

    return p(p, size), codegen


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


register()
