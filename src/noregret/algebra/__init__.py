"""The algebra: how vectors and examples are stored, and the verbs rules are written in."""

from noregret.algebra import (  # each registers its implementations
    averaged,
    covariance,
    examples,
    exponents,
    grouped,
    kept,
    lazy,
    reference,
    scaled,
)
from noregret.algebra import kernel as kernels
from noregret.algebra import projections as projections
from noregret.algebra import vectors as vectors
from noregret.algebra.verbs import (
    Plain,
    add,
    apportion,
    at,
    breadth,
    clip,
    contract,
    dot,
    dots,
    extent,
    foresee,
    group_norm,
    group_size,
    image,
    inner,
    keep,
    mean_dot,
    multiply,
    norm,
    pour,
    put,
    scale,
    share,
    sharpen,
    soften,
    sqnorm,
    sqsource,
    total,
)

__all__ = [
    "TYPES",
    "add",
    "apportion",
    "at",
    "breadth",
    "clip",
    "contract",
    "dot",
    "dots",
    "extent",
    "foresee",
    "group_norm",
    "group_size",
    "image",
    "inner",
    "keep",
    "mean_dot",
    "multiply",
    "norm",
    "pour",
    "put",
    "scale",
    "share",
    "sharpen",
    "soften",
    "sqnorm",
    "sqsource",
    "total",
]


def types_of(module: object) -> set[type]:
    return {kind for kind in vars(module).values() if isinstance(kind, type) and hasattr(kind, "_fields")}


SPARSE = {examples.Sparse, examples.SparseBlocks, examples.SparseRows, examples.SparsePart}
DENSE = {examples.Dense, examples.DenseBlocks, examples.DenseRows, examples.DensePart}
VECTORS = {Plain, scaled.Scaled, lazy.Lazy, kept.Kept, exponents.Exponents, grouped.Grouped, averaged.Averaged}
TYPES: dict[str, frozenset[type]] = {
    "sparse": frozenset(SPARSE | types_of(covariance) - DENSE | VECTORS),
    "dense": frozenset(DENSE | types_of(covariance) - SPARSE | VECTORS),
    "kernel": frozenset(types_of(kernels) | {scaled.Scaled, averaged.Averaged}),
    "reference": frozenset(types_of(reference) | {averaged.Averaged}),
}
