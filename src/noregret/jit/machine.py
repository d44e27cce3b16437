"""Instructions of the machine: functions that stand for the plain ones of their names where a text is compiled.

The compiler's tools are handed over by `native`, which alone imports it.
"""

import sys
from typing import Any


def instructions(intrinsic: Any, types: Any, cgutils: Any, ir: Any) -> dict[str, Any]:
    """Every instruction by the name of the plain function it stands for."""

    @intrinsic  # type: ignore[untyped-decorator]
    def load_word(typing_context: Any, buffer: Any, i: Any) -> Any:
        """Eight bytes of a buffer from any place on, the first one lowest."""

        def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            array = context.make_array(buffer)(context, builder, arguments[0])
            place = builder.bitcast(builder.gep(array.data, [arguments[1]]), ir.IntType(64).as_pointer())
            word = builder.load(place)
            word.align = 1
            return word if sys.byteorder == "little" else builder.bswap(word)

        return types.uint64(buffer, types.int64), codegen

    @intrinsic  # type: ignore[untyped-decorator]
    def trailing_zeros(typing_context: Any, word: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))

        return types.int64(types.uint64), codegen

    @intrinsic  # type: ignore[untyped-decorator]
    def fused(typing_context: Any, a: Any, b: Any, c: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.fma(*arguments)

        return types.float64(types.float64, types.float64, types.float64), codegen

    @intrinsic  # type: ignore[untyped-decorator]
    def fetch(typing_context: Any, array: Any, i: Any) -> Any:
        """Have a value of an array brought near, without waiting for it."""

        def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            made = context.make_array(array)(context, builder, arguments[0])
            byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
            kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
            prefetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
            place = builder.bitcast(builder.gep(made.data, [arguments[1]]), byte)
            builder.call(prefetch, [place, number(0), number(3), number(1)])
            return context.get_dummy_value()

        return types.void(array, types.uint64), codegen

    def everywhere(builder: Any, value: Any, kind: Any) -> Any:
        """A vector that holds a value in all its places."""
        alone = builder.insert_element(ir.Constant(kind, ir.Undefined), value, ir.IntType(32)(0))
        return builder.shuffle_vector(
            alone, alone, ir.Constant(ir.VectorType(ir.IntType(32), kind.count), [0] * kind.count)
        )

    @intrinsic  # type: ignore[untyped-decorator]
    def bytes_before(typing_context: Any, buffer: Any, i: Any, least: Any, one: Any, other: Any) -> Any:
        """How many of sixteen bytes stand before the first that is at most `least`, or one of two others."""

        def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            array = context.make_array(buffer)(context, builder, arguments[0])
            byte, word = ir.IntType(8), ir.IntType(32)
            kind = ir.VectorType(byte, 16)
            some = builder.load(builder.bitcast(builder.gep(array.data, [arguments[1]]), kind.as_pointer()))
            some.align = 1
            bounds = [everywhere(builder, builder.trunc(bound, byte), kind) for bound in arguments[2:]]
            ends = builder.icmp_unsigned("<=", some, bounds[0])
            for bound in bounds[1:]:
                ends = builder.or_(ends, builder.icmp_unsigned("==", some, bound))
            bits = builder.bitcast(ends, ir.IntType(16))
            bits = bits if sys.byteorder == "little" else builder.bitreverse(bits)
            found = builder.cttz(builder.or_(builder.zext(bits, word), word(1 << 16)), ir.Constant(ir.IntType(1), 1))
            return builder.zext(found, ir.IntType(64))

        return types.int64(buffer, types.int64, types.int64, types.int64, types.int64), codegen

    @intrinsic  # type: ignore[untyped-decorator]
    def smaller(typing_context: Any, array: Any, i: Any, number: Any) -> Any:
        """How many of sixteen whole numbers, from a place on, are below a number: all compared at once."""

        def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            made = context.make_array(array)(context, builder, arguments[0])
            kind = ir.VectorType(ir.IntType(32), 16)
            some = builder.load(builder.bitcast(builder.gep(made.data, [arguments[1]]), kind.as_pointer()))
            some.align = 4
            below = builder.icmp_signed("<", some, everywhere(builder, arguments[2], kind))
            return builder.zext(builder.ctpop(builder.bitcast(below, ir.IntType(16))), ir.IntType(64))

        return types.int64(array, types.int64, types.int32), codegen

    return {
        "load_word": load_word, "trailing_zeros": trailing_zeros, "fused": fused, "fetch": fetch, "smaller": smaller,
        "bytes_before": bytes_before,
    }  # fmt: skip
