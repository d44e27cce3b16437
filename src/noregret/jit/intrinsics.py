"""Functions for compiled code that are single instructions: memory at an address, foreign calls, words and vectors.

Each stands for the plain function, or the placeholder, of its name where a function is specialized.
"""

import sys
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic
from numba.np import arrayobj

from noregret.algebra.exponential import ROUND

TABLE = types.CPointer(types.int64)
BIT, BYTE, HALF, WORD = ir.IntType(1), ir.IntType(8), ir.IntType(32), ir.IntType(64)

# ---- words and vectors ------------------------------------------------------------------------------------------


@intrinsic  # type: ignore[untyped-decorator]
def load_word(typing_context: Any, buffer: Any, i: Any) -> Any:
    """Eight bytes of a buffer from any place on, the first one lowest."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(buffer)(context, builder, arguments[0])
        place = builder.bitcast(builder.gep(array.data, [arguments[1]]), WORD.as_pointer())
        word = builder.load(place)
        word.align = 1
        return word if sys.byteorder == "little" else builder.bswap(word)

    return types.uint64(buffer, types.int64), codegen


@intrinsic  # type: ignore[untyped-decorator]
def trailing_zeros(typing_context: Any, word: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(BIT, 0))

    return types.int64(types.uint64), codegen


@intrinsic  # type: ignore[untyped-decorator]
def fused(typing_context: Any, a: Any, b: Any, c: Any) -> Any:
    """a b + c, rounded once."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.fma(*arguments)

    return types.float64(types.float64, types.float64, types.float64), codegen


@intrinsic  # type: ignore[untyped-decorator]
def set_exponent(context: Any, k: Any) -> Any:
    """2^k for a whole number k: the lowest bits of k + 1.5 2^52, which are those of k, become an exponent."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word, number = ir.IntType(64), ir.DoubleType()
        bits = builder.bitcast(builder.fadd(arguments[0], ir.Constant(number, ROUND + 1023.0)), word)
        return builder.bitcast(builder.shl(bits, ir.Constant(word, 52)), number)

    return types.float64(types.float64), codegen


@intrinsic  # type: ignore[untyped-decorator]
def fetch(typing_context: Any, array: Any, i: Any) -> Any:
    """Prefetch a value of an array into the cache."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        values = context.make_array(array)(context, builder, arguments[0])
        byte = BYTE.as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [byte, HALF, HALF, HALF])
        prefetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        place = builder.bitcast(builder.gep(values.data, [arguments[1]]), byte)
        builder.call(prefetch, [place, HALF(0), HALF(3), HALF(1)])
        return context.get_dummy_value()

    return types.void(array, types.uint64), codegen


def broadcast(builder: Any, value: Any, kind: Any) -> Any:
    """A vector that holds a value in all its places."""
    alone = builder.insert_element(ir.Constant(kind, ir.Undefined), value, HALF(0))
    return builder.shuffle_vector(alone, alone, ir.Constant(ir.VectorType(HALF, kind.count), [0] * kind.count))


@intrinsic  # type: ignore[untyped-decorator]
def bytes_before(typing_context: Any, buffer: Any, i: Any, least: Any, one: Any, other: Any) -> Any:
    """How many of sixteen bytes stand before the first that is at most `least`, or one of two others."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(buffer)(context, builder, arguments[0])
        kind = ir.VectorType(BYTE, 16)
        some = builder.load(builder.bitcast(builder.gep(array.data, [arguments[1]]), kind.as_pointer()))
        some.align = 1
        bounds = [broadcast(builder, builder.trunc(bound, BYTE), kind) for bound in arguments[2:]]
        ends = builder.icmp_unsigned("<=", some, bounds[0])
        for bound in bounds[1:]:
            ends = builder.or_(ends, builder.icmp_unsigned("==", some, bound))
        bits = builder.bitcast(ends, ir.IntType(16))
        bits = bits if sys.byteorder == "little" else builder.bitreverse(bits)
        first = builder.cttz(builder.or_(builder.zext(bits, HALF), HALF(1 << 16)), ir.Constant(BIT, 1))
        return builder.zext(first, WORD)

    return types.int64(buffer, types.int64, types.int64, types.int64, types.int64), codegen


@intrinsic  # type: ignore[untyped-decorator]
def smaller(typing_context: Any, array: Any, i: Any, number: Any) -> Any:
    """How many of sixteen whole numbers, from a place on, are below a number: all compared at once."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        values = context.make_array(array)(context, builder, arguments[0])
        kind = ir.VectorType(HALF, 16)
        some = builder.load(builder.bitcast(builder.gep(values.data, [arguments[1]]), kind.as_pointer()))
        some.align = 4
        below = builder.icmp_signed("<", some, broadcast(builder, arguments[2], kind))
        return builder.zext(builder.ctpop(builder.bitcast(below, ir.IntType(16))), WORD)

    return types.int64(array, types.int64, types.int32), codegen


# ---- values from a table of addresses ---------------------------------------------------------------------------


def build_value(context: Any, builder: Any, kind: Any, load: Callable[[], Any]) -> Any:
    """Code that makes a value of this type from the next words of the table."""
    if isinstance(kind, types.BaseTuple):
        return context.make_tuple(builder, kind, [build_value(context, builder, item, load) for item in kind.types])
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


def make_reader(kind: Any, first: int) -> Any:
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

            return build_value(context, builder, kind, load)

        return kind(table), codegen

    return read


# ---- memory and functions at an address -------------------------------------------------------------------------


@intrinsic  # type: ignore[untyped-decorator]
def array_at(typing_context: Any, address: Any, size: Any) -> Any:
    """A float64 array over memory that Python owns."""
    kind = types.Array(types.float64, 1, "C")

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        words = iter(arguments)
        return build_value(context, builder, kind, lambda: next(words))

    return kind(address, size), codegen


@intrinsic  # type: ignore[untyped-decorator]
def table_at(typing_context: Any, address: Any) -> Any:
    """A table at an address."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], context.get_value_type(TABLE))

    return TABLE(address), codegen


def load_from(kind: Any) -> Any:
    """A function for compiled code that reads the value at an address."""

    @intrinsic  # type: ignore[untyped-decorator]
    def load(typing_context: Any, address: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.load(builder.inttoptr(arguments[0], context.get_value_type(kind).as_pointer()))

        return kind(address), codegen

    return load


@intrinsic  # type: ignore[untyped-decorator]
def call_loop(typing_context: Any, loop_address: Any, table_address: Any) -> Any:
    """Run the loop at an address on the table at another; 1 when it raised an error, else 0."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word, status = context.get_value_type(types.int64), context.get_value_type(types.int32)
        result, exception = cgutils.alloca_once(builder, word), cgutils.alloca_once(builder, word)
        slots = context.get_value_type(TABLE)
        kind = ir.FunctionType(status, [result.type, exception.type, slots])
        function = builder.inttoptr(arguments[0], kind.as_pointer())
        code = builder.call(function, [result, exception, builder.inttoptr(arguments[1], slots)])
        return builder.zext(builder.icmp_signed("!=", code, status(0)), word)

    return types.int64(loop_address, table_address), codegen


def foreign_call(result: Any) -> Any:
    """A function for compiled code that calls the C function at an address with a tuple of arguments."""

    @intrinsic  # type: ignore[untyped-decorator]
    def call(typing_context: Any, function: Any, arguments: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            words = [builder.extract_value(values[1], at) for at in range(len(arguments))]
            returned = ir.VoidType() if result is types.void else context.get_value_type(result)
            kind = ir.FunctionType(returned, [word.type for word in words])
            value = builder.call(builder.inttoptr(values[0], kind.as_pointer()), words)
            return context.get_dummy_value() if result is types.void else value

        return result(function, arguments), codegen

    return call


INTRINSICS: dict[str, Any] = {
    "load_word": load_word,
    "trailing_zeros": trailing_zeros,
    "fused": fused,
    "fetch": fetch,
    "power_of_two": set_exponent,
    "smaller": smaller,
    "bytes_before": bytes_before,
    "array_at": array_at,
    "table_at": table_at,
    "word_at": load_from(types.int64),
    "double_at": load_from(types.float64),
    "call_loop": call_loop,
    "call_word": foreign_call(types.int64),
    "call_int": foreign_call(types.int32),
    "call_double": foreign_call(types.float64),
    "call_void": foreign_call(types.void),
}
