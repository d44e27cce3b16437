"""Compiled code for `tasks.row_cells`: memory on the stack, and copies from and to the vectors of a state.

The copies have a type of their own, which knows `at` and `put` alone, at a coordinate that only the loop can make. So a
rule that reads any other cell of its vectors does not compile with them, and is compiled without.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, overload
from numba.np import arrayobj

from noregret.algebra.examples import Dense, DensePart
from noregret.algebra.internal_verbs import place, value
from noregret.algebra.verbs import at, put
from noregret.jit.cache import INNER
from noregret.jit.intrinsics import broadcast
from noregret.jit.overloads import python_type
from noregret.tasks import row_cells
from noregret.tasks.row_cells import CELLS, LANES

VECTOR = types.Array(types.float64, 1, "C")


class Cells(NamedTuple):
    """Copies of the cells of some coordinates of a vector."""

    v: Any


class Coordinate(NamedTuple):
    """One of the coordinates whose cells were copied."""

    k: Any  # unsigned: not to be tested for a negative one


COPIES = types.NamedTuple([VECTOR], Cells)


@at.on(Cells, Coordinate)
def at_cells(cells: Any, j: Any) -> Any:
    return cells.v[j.k]


@put.on(Cells, Coordinate)
def put_cells(cells: Any, j: Any, a: float) -> None:
    cells.v[j.k] = a


def is_copied(s: Any) -> bool:
    """Whether all vectors of a state are plain."""
    return all(kind == VECTOR for kind in s.types[:-1])


# ---- memory of the function that calls these; it must not return it -------------------------------------------------


def build_numbers(context: Any, builder: Any) -> Any:
    with builder.goto_entry_block():  # not `alloca_once`, which would write zeros in every round
        memory = builder.alloca(ir.ArrayType(ir.DoubleType(), CELLS + LANES))
    array = arrayobj.make_array(VECTOR)(context, builder)
    size, step = context.get_constant(types.intp, CELLS + LANES), context.get_constant(types.intp, 8)
    arrayobj.populate_array(
        array,
        data=builder.bitcast(memory, ir.DoubleType().as_pointer()),
        shape=cgutils.pack_array(builder, [size]),
        strides=cgutils.pack_array(builder, [step]),
        itemsize=step,
        meminfo=None,
    )
    return array._getvalue()


@intrinsic  # type: ignore[untyped-decorator]
def make_numbers(typing_context: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return build_numbers(context, builder)

    return VECTOR(), codegen


@intrinsic  # type: ignore[untyped-decorator]
def make_cells(typing_context: Any, s: Any) -> Any:
    vectors = len(s.types) - 1
    copied = types.NamedTuple([COPIES] * vectors + [s.types[-1]], s.instance_class) if is_copied(s) else s

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if copied is s:
            return arguments[0]
        cells = [context.make_tuple(builder, COPIES, [build_numbers(context, builder)]) for _ in range(vectors)]
        return context.make_tuple(builder, copied, [*cells, builder.extract_value(arguments[0], vectors)])

    return copied(s), codegen


@intrinsic  # type: ignore[untyped-decorator]
def same_state(typing_context: Any, s: Any) -> Any:
    """s itself: no compiled function can return a state."""
    return s(s), lambda context, builder, signature, arguments: arguments[0]


@intrinsic  # type: ignore[untyped-decorator]
def fill_lanes(typing_context: Any, numbers: Any, first: Any, a: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(numbers)(context, builder, arguments[0])
        kind = ir.VectorType(ir.DoubleType(), LANES)
        place = builder.bitcast(builder.gep(array.data, [arguments[1]]), kind.as_pointer())
        builder.store(broadcast(builder, arguments[2], kind), place).align = 8
        return context.get_dummy_value()

    return types.void(numbers, types.int64, types.float64), codegen


@intrinsic  # type: ignore[untyped-decorator]
def add_terms(typing_context: Any, sums: Any, terms: Any, n: Any) -> Any:
    """The four sums are the places of one vector."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(terms)(context, builder, arguments[1])
        kind, four = ir.VectorType(ir.DoubleType(), 4), context.get_constant(types.intp, 4)
        total = ir.Constant(kind, ir.Undefined)
        for lane in range(4):
            total = builder.insert_element(total, builder.extract_value(arguments[0], lane), ir.IntType(32)(lane))
        where = cgutils.alloca_once_value(builder, total)
        begin = context.get_constant(types.intp, 0)
        with cgutils.for_range_slice(builder, begin, arguments[2], four, begin.type) as (k, _):
            some = builder.load(builder.bitcast(builder.gep(array.data, [k]), kind.as_pointer()))
            some.align = 8
            builder.store(builder.fadd(builder.load(where), some), where)
        total = builder.load(where)
        lanes = [builder.extract_element(total, ir.IntType(32)(lane)) for lane in range(4)]
        return context.make_tuple(builder, sums, lanes)

    return sums(sums, terms, types.int64), codegen


# ---- copies --------------------------------------------------------------------------------------------------------


@intrinsic  # type: ignore[untyped-decorator]
def load_alone(typing_context: Any, vector: Any, j: Any) -> Any:
    """One cell, never gathered with others into a vector by the optimizer: on many processors that takes longer."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(vector)(context, builder, arguments[0])
        return builder.load_atomic(builder.gep(array.data, [arguments[1]]), "monotonic", 8)

    return types.float64(vector, types.int64), codegen


@numba.njit(**INNER)  # type: ignore[untyped-decorator]
def read_neighbours(vector: Any, cells: Any, q: Any, first: Any, n: Any) -> None:
    for k in range(n):
        cells[k] = vector[place(q, first + k)]


@numba.njit(**INNER)  # type: ignore[untyped-decorator]
def read_scattered(vector: Any, cells: Any, q: Any, first: Any, n: Any) -> None:
    whole = n - n % 4
    for k in range(0, whole, 4):
        cells[k] = load_alone(vector, np.int64(place(q, first + k)))
        cells[k + 1] = load_alone(vector, np.int64(place(q, first + k + 1)))
        cells[k + 2] = load_alone(vector, np.int64(place(q, first + k + 2)))
        cells[k + 3] = load_alone(vector, np.int64(place(q, first + k + 3)))
    for k in range(whole, n):
        cells[k] = load_alone(vector, np.int64(place(q, first + k)))
    fill_lanes(cells, n, cells[0])


@numba.njit(**INNER)  # type: ignore[untyped-decorator]
def write_vector(vector: Any, cells: Any, q: Any, first: Any, n: Any) -> None:
    for k in range(n):
        vector[place(q, first + k)] = cells[k]


@cache
def for_vectors(copy: Any, vectors: int) -> Callable[..., Any]:
    """A function that copies the cells of the first vectors of a state."""
    if vectors == 0:
        return lambda s, cells, q, first, n: None
    last = vectors - 1
    if last == 0:
        return lambda s, cells, q, first, n: copy(s[last], cells[last].v, q, first, n)
    earlier = numba.njit(**INNER)(for_vectors(copy, last))

    def copy_all(s: Any, cells: Any, q: Any, first: Any, n: Any) -> None:
        earlier(s, cells, q, first, n)
        copy(s[last], cells[last].v, q, first, n)

    return copy_all


@cache
def dense_reader(vectors: int) -> Callable[..., Any]:
    """`read_cells` for dense rows, which are long, and a state of so many vectors."""
    read_vectors = numba.njit(**INNER)(for_vectors(read_neighbours, vectors))

    def read(s: Any, cells: Any, values: Any, q: Any, first: Any, n: Any) -> Any:
        read_vectors(s, cells, q, first, n)
        return n

    return read


@cache
def sparse_reader(vectors: int) -> Callable[..., Any]:
    """`read_cells` for sparse rows."""
    read_vectors = numba.njit(**INNER)(for_vectors(read_scattered, vectors))

    def read(s: Any, cells: Any, values: Any, q: Any, first: Any, n: Any) -> Any:
        read_vectors(s, cells, q, first, n)
        for k in range(n):
            values[k] = value(q, first + k)
        fill_lanes(values, n, 0.0)
        return (n + LANES - 1) // LANES * LANES

    return read


def is_dense(q: Any) -> bool:
    return python_type(q) in (Dense, DensePart)


def choose_read(s: Any, cells: Any, values: Any, q: Any, first: Any, n: Any) -> Any:
    if not is_copied(s):
        return row_cells.read_cells
    return (dense_reader if is_dense(q) else sparse_reader)(len(s.types) - 1)


def value_of_copy(s: Any, values: Any, q: Any, first: Any, k: Any) -> Any:
    return values[np.uint64(k)]


def choose_value(s: Any, values: Any, q: Any, first: Any, k: Any) -> Any:
    return row_cells.cell_value if is_dense(q) or not is_copied(s) else value_of_copy


def choose_write(s: Any, cells: Any, q: Any, first: Any, n: Any) -> Any:
    return for_vectors(write_vector, len(s.types) - 1 if is_copied(s) else 0)


def choose_place(s: Any, q: Any, first: Any, k: Any) -> Any:
    if is_copied(s):
        return lambda s, q, first, k: Coordinate(np.uint64(k))
    return lambda s, q, first, k: place(q, first + k)


def stand_in(choose: Callable[..., Any]) -> Callable[..., Any]:
    """A function for compiled code whose text is chosen by the types of its arguments."""

    def chosen(*arguments: Any) -> Any:
        raise NotImplementedError

    overload(chosen, jit_options=INNER, strict=False)(choose)
    return chosen


# What the functions of `tasks.row_cells` are in a compiled loop: on copies, or where the cells are.
ON_COPIES: dict[str, Any] = {
    "make_numbers": make_numbers,
    "make_cells": make_cells,
    "fill_lanes": fill_lanes,
    "add_terms": add_terms,
    "read_cells": stand_in(choose_read),
    "write_cells": stand_in(choose_write),
    "cell_place": stand_in(choose_place),
    "cell_value": stand_in(choose_value),
}
IN_PLACE: dict[str, Any] = {name: numba.njit(**INNER)(getattr(row_cells, name)) for name in ON_COPIES} | {
    "make_numbers": make_numbers,
    "make_cells": same_state,
    "fill_lanes": fill_lanes,
    "add_terms": add_terms,
}
