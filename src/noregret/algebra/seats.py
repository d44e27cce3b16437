"""A row in the block of one class."""

from typing import Any, NamedTuple

import numpy as np

from noregret.algebra.examples import Dense, DenseBlocks, Sparse, SparseBlocks
from noregret.algebra.verbs import VERBS, seat, stretch


class SparseSeat(NamedTuple):
    """A sparse x in the block of one class: as SparseBlocks, with one sign and one class."""

    idx: np.ndarray
    val: np.ndarray
    signs: tuple[float, ...]
    classes: tuple[int, ...]
    stride: int
    sq: float


class DenseSeat(NamedTuple):
    """A dense x in the block of one class: as DenseBlocks, with one sign and one class."""

    val: np.ndarray
    signs: tuple[float, ...]
    classes: tuple[int, ...]
    stride: int
    sq: float


@seat.on(Sparse)
def seat_sparse(x: Any, c: Any, stride: Any) -> Any:
    return SparseSeat(x.idx, x.val, (x.sign,), (c,), stride, x.sq)


@stretch.on(SparseSeat)
def stretch_sparse_seat(z: Any, a: Any) -> Any:
    n = z.idx.size if a != 0.0 else 0
    return SparseSeat(z.idx[:n], z.val[:n], (z.signs[0] * a,), z.classes, z.stride, z.sq)


@seat.on(Dense)
def seat_dense(x: Any, c: Any, stride: Any) -> Any:
    return DenseSeat(x.val, (x.sign,), (c,), stride, x.sq)


@stretch.on(DenseSeat)
def stretch_dense_seat(z: Any, a: Any) -> Any:
    n = z.val.size if a != 0.0 else 0
    return DenseSeat(z.val[:n], (z.signs[0] * a,), z.classes, z.stride, z.sq)


def serve_alike(kind: type, other: type) -> None:
    """Whatever is there for one type of example serves another of the same fields, unless it has its own."""
    for verb in VERBS:
        for pattern, implementation in list(verb.table.items()):
            if kind in pattern:
                verb.table.setdefault(tuple(other if one is kind else one for one in pattern), implementation)


def serve_seats() -> None:
    """Once all implementations are there: what serves two blocks serves one."""
    serve_alike(SparseBlocks, SparseSeat)
    serve_alike(DenseBlocks, DenseSeat)
