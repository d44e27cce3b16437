"""A row in the block of one class."""

from typing import Any, NamedTuple

import numpy as np

from noregret.algebra.examples import Dense, DenseBlocks, Sparse, SparseBlocks
from noregret.algebra.verbs import VERBS, class_block, scaled_by


class SparseClassBlock(NamedTuple):
    """A sparse x in the block of one class: as SparseBlocks, with one sign and one class."""

    idx: np.ndarray
    val: np.ndarray
    signs: tuple[float, ...]
    classes: tuple[int, ...]
    stride: int
    sq: float


class DenseClassBlock(NamedTuple):
    """A dense x in the block of one class: as DenseBlocks, with one sign and one class."""

    val: np.ndarray
    signs: tuple[float, ...]
    classes: tuple[int, ...]
    stride: int
    sq: float


@class_block.on(Sparse)
def seat_sparse(x: Any, c: Any, stride: Any) -> Any:
    return SparseClassBlock(x.idx, x.val, (x.sign,), (c,), stride, x.sq)


@scaled_by.on(SparseClassBlock)
def stretch_sparse_seat(z: Any, a: Any) -> Any:
    n = z.idx.size if a != 0.0 else 0
    return SparseClassBlock(z.idx[:n], z.val[:n], (z.signs[0] * a,), z.classes, z.stride, z.sq)


@class_block.on(Dense)
def seat_dense(x: Any, c: Any, stride: Any) -> Any:
    return DenseClassBlock(x.val, (x.sign,), (c,), stride, x.sq)


@scaled_by.on(DenseClassBlock)
def stretch_dense_seat(z: Any, a: Any) -> Any:
    n = z.val.size if a != 0.0 else 0
    return DenseClassBlock(z.val[:n], (z.signs[0] * a,), z.classes, z.stride, z.sq)


def serve_alike(kind: type, other: type) -> None:
    """Whatever is there for one type of example serves another of the same fields, unless it has its own."""
    for verb in VERBS:
        for pattern, implementation in list(verb.table.items()):
            if kind in pattern:
                verb.table.setdefault(tuple(other if one is kind else one for one in pattern), implementation)


def serve_seats() -> None:
    """Once all implementations are there: what serves two blocks serves one."""
    serve_alike(SparseBlocks, SparseClassBlock)
    serve_alike(DenseBlocks, DenseClassBlock)
