"""Compiled code for `tasks.row_cells`: memory on the stack, and copies from and to the vectors of a state.

The copies have a type of their own, which knows `at` and `put` alone, at a coordinate that only the loop can make. So a
rule that reads any other cell of its vectors does not compile with them, and is compiled without.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numba
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, overload
from numba.np import arrayobj

from noregret.algebra.internal_verbs import place, value
from noregret.algebra.verbs import at, put
from noregret.jit.cache import INNER
from noregret.tasks import row_cells
from noregret.tasks.row_cells import CELLS

LANES = 8  # the numbers of the longest vectors of a processor
VECTOR = types.Array(types.float64, 1, "C")


class Cells(NamedTuple):
    """Copies of the cells of some coordinates of a vector."""

    v: Any


class Coordinate(NamedTuple):
    """One of the coordinates whose cells were copied."""

    k: int


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
        memory = builder.alloca(ir.ArrayType(ir.DoubleType(), CELLS))
    array = arrayobj.make_array(VECTOR)(context, builder)
    size, step = context.get_constant(types.intp, CELLS), context.get_constant(types.intp, 8)
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


# ---- copies --------------------------------------------------------------------------------------------------------


def read_vector(vector: Any, cells: Any, q: Any, first: Any, n: Any) -> None:
    """Copy the cells of n coordinates, and the first one again up to a whole number of vectors."""
    for k in range(n):
        cells[k] = vector[place(q, first + k)]
    for k in range(n, (n + LANES - 1) // LANES * LANES):
        cells[k] = cells[0]


def write_vector(vector: Any, cells: Any, q: Any, first: Any, n: Any) -> None:
    for k in range(n):
        vector[place(q, first + k)] = cells[k]


def read_values(values: Any, q: Any, first: Any, n: Any) -> Any:
    """Copy the values of n coordinates, and add zeros up to a whole number of vectors; returns how many there are."""
    size = (n + LANES - 1) // LANES * LANES
    for k in range(n):
        values[k] = value(q, first + k)
    for k in range(n, size):
        values[k] = 0.0
    return size


def for_vectors(copy: Any, vectors: int) -> Callable[..., Any]:
    """A function that copies the cells of the first vectors of a state."""
    if vectors == 0:
        return lambda s, cells, q, first, n: None
    earlier, last = numba.njit(**INNER)(for_vectors(copy, vectors - 1)), vectors - 1

    def copy_all(s: Any, cells: Any, q: Any, first: Any, n: Any) -> None:
        earlier(s, cells, q, first, n)
        copy(s[last], cells[last].v, q, first, n)

    return copy_all


def choose_write(s: Any, cells: Any, q: Any, first: Any, n: Any) -> Any:
    return for_vectors(numba.njit(**INNER)(write_vector), len(s.types) - 1 if is_copied(s) else 0)


def choose_read(s: Any, cells: Any, values: Any, q: Any, first: Any, n: Any) -> Any:
    if not is_copied(s):
        return row_cells.read_cells
    read_all = numba.njit(**INNER)(for_vectors(numba.njit(**INNER)(read_vector), len(s.types) - 1))
    read_own = numba.njit(**INNER)(read_values)

    def read(s: Any, cells: Any, values: Any, q: Any, first: Any, n: Any) -> Any:
        read_all(s, cells, q, first, n)
        return read_own(values, q, first, n)

    return read


def choose_place(s: Any, q: Any, first: Any, k: Any) -> Any:
    if is_copied(s):
        return lambda s, q, first, k: Coordinate(k)
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
    "read_cells": stand_in(choose_read),
    "write_cells": stand_in(choose_write),
    "cell_place": stand_in(choose_place),
}
IN_PLACE: dict[str, Any] = {name: numba.njit(**INNER)(getattr(row_cells, name)) for name in ON_COPIES} | {
    "make_numbers": make_numbers,
    "make_cells": same_state,
}
