"""A row in the block of one class."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from noregret.algebra.arrays import Floats, Indices
from noregret.algebra.examples import Dense, DenseBlocks, Sparse, SparseBlocks
from noregret.algebra.internal_verbs import class_block, scaled_by
from noregret.algebra.verbs import VERBS, Verb


class SparseClassBlock(NamedTuple):
    """A sparse x in the block of one class: as SparseBlocks, with one sign and one class."""

    idx: Indices
    val: Floats
    signs: tuple[float, ...]
    classes: tuple[int, ...]
    stride: int
    sq: float


class DenseClassBlock(NamedTuple):
    """A dense x in the block of one class: as DenseBlocks, with one sign and one class."""

    val: Floats
    signs: tuple[float, ...]
    classes: tuple[int, ...]
    stride: int
    sq: float


@class_block.on(Sparse)
def class_block_sparse(x: Any, c: Any, stride: int) -> Any:
    return SparseClassBlock(x.idx, x.val, (x.sign,), (c,), stride, x.sq)


@scaled_by.on(SparseClassBlock)
def scaled_by_sparse_class_block(z: Any, a: float) -> Any:
    n = z.idx.size if a != 0.0 else 0
    return SparseClassBlock(z.idx[:n], z.val[:n], (z.signs[0] * a,), z.classes, z.stride, z.sq)


@class_block.on(Dense)
def class_block_dense(x: Any, c: Any, stride: int) -> Any:
    return DenseClassBlock(x.val, (x.sign,), (c,), stride, x.sq)


@scaled_by.on(DenseClassBlock)
def scaled_by_dense_class_block(z: Any, a: float) -> Any:
    n = z.val.size if a != 0.0 else 0
    return DenseClassBlock(z.val[:n], (z.signs[0] * a,), z.classes, z.stride, z.sq)


def register_alike(kind: type, other: type, verbs: Iterable[Verb] = VERBS) -> None:
    """Use the implementations for one type of example for another with the same fields, unless it has its own."""
    for verb in verbs:
        for pattern, implementation in list(verb.table.items()):
            if kind in pattern:
                verb.table.setdefault(tuple(other if one is kind else one for one in pattern), implementation)


def register_class_blocks() -> None:
    """Use the implementations for two blocks for one; called when all of them are registered."""
    register_alike(SparseBlocks, SparseClassBlock)
    register_alike(DenseBlocks, DenseClassBlock)
