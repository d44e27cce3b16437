"""The algebra: how vectors and examples are stored, and the verbs rules are written in."""

from noregret.algebra import (  # each registers its implementations
    averaged,
    covariance,
    examples,
    exponents,
    grouped,
    kept,
    lazy,
    lazy_groups,
    reference,
    scaled,
)
from noregret.algebra import glimpse as glimpses
from noregret.algebra import kernel as kernels
from noregret.algebra import vectors as vectors
from noregret.algebra.glimpse import Draw, coprime, next_random
from noregret.algebra.verbs import (
    Plain,
    add,
    at,
    breadth,
    dot,
    dots,
    extent,
    foresee,
    glimpse,
    group_norm,
    group_size,
    image,
    inner,
    keep,
    level,
    mean_dot,
    multiply,
    norm,
    pour,
    put,
    scale,
    share,
    sharpen,
    shorten,
    soften,
    sqnorm,
    total,
)

__all__ = [
    "TYPES",
    "Draw",
    "add",
    "at",
    "breadth",
    "coprime",
    "dot",
    "dots",
    "extent",
    "foresee",
    "glimpse",
    "group_norm",
    "group_size",
    "image",
    "inner",
    "keep",
    "level",
    "mean_dot",
    "multiply",
    "next_random",
    "norm",
    "pour",
    "put",
    "scale",
    "share",
    "sharpen",
    "shorten",
    "soften",
    "sqnorm",
    "total",
]


def types_of(module: object) -> set[type]:
    return {kind for kind in vars(module).values() if isinstance(kind, type) and hasattr(kind, "_fields")}


SPARSE = {
    examples.Sparse,
    examples.SparseBlocks,
    examples.SparseRows,
    examples.SparsePart,
    glimpses.Glimpse,
    glimpses.GlimpsePart,
}
DENSE = {
    examples.Dense,
    examples.DenseBlocks,
    examples.DenseRows,
    examples.DensePart,
    glimpses.Glimpse,
    glimpses.GlimpsePart,
}
VECTORS = {Plain, scaled.Scaled, lazy.Lazy, kept.Kept, exponents.Exponents, averaged.Averaged}
GROUPS = {grouped.Grouped, lazy_groups.LazyGroups}
TYPES: dict[str, frozenset[type]] = {
    "sparse": frozenset(SPARSE | types_of(covariance) - DENSE | VECTORS | GROUPS),
    "dense": frozenset(DENSE | types_of(covariance) - SPARSE | VECTORS | GROUPS),
    "kernel": frozenset(types_of(kernels) | {scaled.Scaled, averaged.Averaged}),
    "reference": frozenset(types_of(reference) | {averaged.Averaged}),
}
