"""Kernels that the caller gives: a function of two dense rows, or the matrix of all values.

A function of the caller gets a type of its own, for which the verbs of kernels are registered; so it is compiled into
loops as if it came with the library. Of a matrix, rows are the numbers of objects.
"""

import types
from collections import namedtuple
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from noregret.algebra.arrays import Floats
from noregret.algebra.banks import DenseBank, SlotBank, clear_row, slot_size, spread_row
from noregret.algebra.internal_verbs import common, kernel_sum, kernel_with_itself, kernels, measure, own
from noregret.algebra.kernel_functions import kernels_linear, product_of_values, square_of_value
from noregret.algebra.verbs import helper, unbound

given_function = unbound


class Gram:
    """A matrix of kernel values of a list of objects; equal only to itself."""

    def __init__(self, matrix: Floats) -> None:
        self.matrix = np.ascontiguousarray(matrix, np.float64)

    def __repr__(self) -> str:
        return f"a matrix of {self.objects} objects"

    @property
    def objects(self) -> int:
        return int(self.matrix.shape[0])


class Precomputed(NamedTuple):
    """k(i, j) = gram[i * objects + j]; shape: the number of objects."""

    shape: Floats
    gram: Floats


@measure.on(SlotBank, Precomputed)
def measure_precomputed(bank: Any, k: Any, idx: Any, val: Any, xx: float, out: Any) -> Any:
    objects = int(k.shape[0])
    slot = slot_size(bank)
    for i in range(bank.n[0]):
        out[i] = k.gram[bank.idx[i * slot] * objects + idx[0]]


@kernel_with_itself.on(object, Precomputed)
def kernel_with_itself_precomputed(bank: Any, k: Any, idx: Any, val: Any, xx: float) -> Any:
    return k.gram[idx[0] * int(k.shape[0]) + idx[0]]


def call_given(k: Any, a: Any, b: Any) -> Any:
    return given_function(a, b)


def call_given_with_itself(bank: Any, k: Any, idx: Any, val: Any, xx: float) -> Any:
    spread_row(bank.scratch, idx, val)
    found = kernel_sum(k, bank.scratch, bank.scratch)
    clear_row(bank.scratch, idx)
    return found


def register_parts(kind: type) -> None:
    """Register what every kernel that the caller gives has in common."""
    common.on(kind)(product_of_values)
    own.on(kind)(square_of_value)
    kernels.on(kind)(kernels_linear)


register_parts(Precomputed)


@cache
def kernel_type(function: Callable[..., Any]) -> Any:
    """The type of the kernel that a function of the caller is."""
    kind = namedtuple(f"Given_{function.__name__}", ["shape"])  # type: ignore[misc]
    helper(function)
    register_parts(kind)
    names = {**call_given.__globals__, "given_function": function}
    kernel_sum.on(kind)(types.FunctionType(call_given.__code__, names, f"call_{function.__name__}"))
    kernel_with_itself.on(DenseBank, kind)(call_given_with_itself)
    return kind
