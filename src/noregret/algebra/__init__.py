"""The algebra: how vectors and examples are stored, and the verbs rules are written in."""

from noregret.algebra import covariance, examples, reference  # each registers its implementations
from noregret.algebra import kernel as kernels
from noregret.algebra import vectors as vectors
from noregret.algebra.verbs import (
    Plain,
    add,
    at,
    dot,
    dots,
    extent,
    foresee,
    image,
    inner,
    multiply,
    norm,
    scale,
    sharpen,
    sqnorm,
)

__all__ = [
    "TYPES",
    "add",
    "at",
    "dot",
    "dots",
    "extent",
    "foresee",
    "image",
    "inner",
    "multiply",
    "norm",
    "scale",
    "sharpen",
    "sqnorm",
]


def types_of(module: object) -> set[type]:
    return {kind for kind in vars(module).values() if isinstance(kind, type) and hasattr(kind, "_fields")}


SPARSE = {examples.Sparse, examples.SparseBlocks, examples.SparseRows, examples.SparsePart}
DENSE = {examples.Dense, examples.DenseBlocks, examples.DenseRows, examples.DensePart}
TYPES: dict[str, frozenset[type]] = {
    "sparse": frozenset(SPARSE | types_of(covariance) - DENSE | {Plain}),
    "dense": frozenset(DENSE | types_of(covariance) - SPARSE | {Plain}),
    "kernel": frozenset(types_of(kernels)),
    "reference": frozenset(types_of(reference)),
}
