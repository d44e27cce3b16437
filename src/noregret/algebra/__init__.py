"""The algebra: how vectors and examples are stored, and the verbs rules are written in."""

from noregret.algebra import apart as apart
from noregret.algebra import (  # each registers its implementations
    averaged,
    centre,
    covariance,
    examples,
    exponents,
    grouped,
    held,
    kept,
    lazy,
    lazy_groups,
    reference,
    reference_sigma,
    reservoir,
    scaled,
    seats,
)
from noregret.algebra import glimpse as glimpses
from noregret.algebra import kernel as kernels
from noregret.algebra import links as links
from noregret.algebra import projections as projections
from noregret.algebra import vectors as vectors
from noregret.algebra.glimpse import Draw, coprime, next_random
from noregret.algebra.verbs import (
    Plain,
    add,
    append,
    apportion,
    at,
    breadth,
    clip,
    contract,
    dot,
    dots,
    extent,
    foresee,
    glimpse,
    group_norm,
    group_size,
    held_at,
    held_dot,
    hold,
    image,
    inner,
    keep,
    level,
    linked,
    mean_dot,
    multiply,
    norm,
    pour,
    prune,
    put,
    remember,
    remembered,
    rights,
    scale,
    share,
    shared,
    sharpen,
    shorten,
    side,
    soften,
    sqnorm,
    sqsource,
    swelled,
    swelled_total,
    total,
    votes,
)

__all__ = [
    "TYPES",
    "Draw",
    "add",
    "apportion",
    "append",
    "at",
    "breadth",
    "clip",
    "contract",
    "coprime",
    "dot",
    "dots",
    "extent",
    "foresee",
    "glimpse",
    "group_norm",
    "group_size",
    "held_at",
    "held_dot",
    "hold",
    "image",
    "inner",
    "keep",
    "linked",
    "level",
    "mean_dot",
    "multiply",
    "next_random",
    "norm",
    "pour",
    "prune",
    "put",
    "remember",
    "remembered",
    "rights",
    "scale",
    "share",
    "shared",
    "sharpen",
    "shorten",
    "side",
    "soften",
    "sqnorm",
    "swelled",
    "swelled_total",
    "sqsource",
    "total",
    "votes",
]


def types_of(module: object) -> set[type]:
    return {kind for kind in vars(module).values() if isinstance(kind, type) and hasattr(kind, "_fields")}


seats.serve_seats()

SPARSE = {
    examples.Sparse,
    examples.SparseBlocks,
    seats.SparseSeat,
    examples.SparseRows,
    examples.SparsePart,
} | types_of(glimpses)
DENSE = {examples.Dense, examples.DenseBlocks, seats.DenseSeat, examples.DenseRows, examples.DensePart} | types_of(
    glimpses
)
CENTRES = {centre.Centre, centre.Toward}
VECTORS = {Plain, scaled.Scaled, lazy.Lazy, kept.Kept, held.Held, exponents.Exponents, averaged.Averaged} | CENTRES
GROUPS = {grouped.Grouped, lazy_groups.LazyGroups}
TYPES: dict[str, frozenset[type]] = {
    "sparse": frozenset(SPARSE | types_of(covariance) - DENSE | VECTORS | GROUPS | {reservoir.Reservoir}),
    "dense": frozenset(DENSE | types_of(covariance) - SPARSE | VECTORS | GROUPS | {reservoir.Reservoir}),
    "kernel": frozenset(types_of(kernels) | {scaled.Scaled, averaged.Averaged} | CENTRES),
    "reference": frozenset(
        types_of(reference) | types_of(reference_sigma) | {averaged.Averaged, reservoir.Reservoir} | CENTRES
    ),
}
