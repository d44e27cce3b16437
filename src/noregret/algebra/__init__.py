"""The algebra: how vectors and examples are stored, and the verbs rules are written in."""

from noregret.algebra import (  # each registers its implementations
    averaged,
    centre,
    class_blocks,
    covariance,
    examples,
    grouped,
    lazy,
    lazy_groups,
    log_weights,
    reference,
    reference_sigma,
    reservoir,
    scaled,
    snapshot,
    top_k,
)
from noregret.algebra import kernel as kernels
from noregret.algebra import links as links
from noregret.algebra import partial_features as glimpses
from noregret.algebra import projections as projections
from noregret.algebra import row_differences as row_differences
from noregret.algebra import supports as supports
from noregret.algebra import vectors as vectors
from noregret.algebra.partial_features import Draw, coprime, next_random
from noregret.algebra.verbs import (
    Plain,
    add,
    append,
    apportion,
    at,
    breadth,
    clip,
    clip_peaks,
    contract,
    count_correct,
    dot,
    dots,
    extent,
    flush,
    group_norm,
    group_size,
    image,
    inner,
    keep,
    linked,
    mean_dot,
    multiply,
    norm,
    partial_features,
    posterior_image,
    prune,
    put,
    remember,
    remembered,
    remove_coefficients,
    remove_support,
    scale,
    share,
    shared,
    sharpen,
    shorten,
    shrink,
    side,
    snapshot_at,
    snapshot_dot,
    sqnorm,
    sqsource,
    swelled,
    swelled_total,
    take_snapshot,
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
    "posterior_image",
    "partial_features",
    "group_norm",
    "group_size",
    "snapshot_at",
    "snapshot_dot",
    "take_snapshot",
    "image",
    "inner",
    "keep",
    "linked",
    "clip_peaks",
    "mean_dot",
    "multiply",
    "next_random",
    "norm",
    "flush",
    "prune",
    "put",
    "remember",
    "remembered",
    "remove_coefficients",
    "remove_support",
    "count_correct",
    "scale",
    "share",
    "shared",
    "sharpen",
    "shorten",
    "side",
    "shrink",
    "sqnorm",
    "swelled",
    "swelled_total",
    "sqsource",
    "total",
    "votes",
]


def types_of(module: object) -> set[type]:
    return {kind for kind in vars(module).values() if isinstance(kind, type) and hasattr(kind, "_fields")}


class_blocks.serve_seats()

SPARSE = {
    examples.Sparse,
    examples.SparseBlocks,
    class_blocks.SparseClassBlock,
    examples.SparseRows,
    examples.SparsePart,
} | types_of(glimpses)
DENSE = {
    examples.Dense,
    examples.DenseBlocks,
    class_blocks.DenseClassBlock,
    examples.DenseRows,
    examples.DensePart,
} | types_of(glimpses)
CENTRES = {centre.Centre, centre.Toward}
VECTORS = {
    Plain,
    scaled.Scaled,
    lazy.Lazy,
    top_k.TopK,
    snapshot.Snapshot,
    log_weights.LogWeights,
    averaged.Averaged,
} | CENTRES
GROUPS = {grouped.Grouped, lazy_groups.LazyGroups}
TYPES: dict[str, frozenset[type]] = {
    "sparse": frozenset(SPARSE | types_of(covariance) - DENSE | VECTORS | GROUPS | {reservoir.Reservoir}),
    "dense": frozenset(DENSE | types_of(covariance) - SPARSE | VECTORS | GROUPS | {reservoir.Reservoir}),
    "kernel": frozenset(types_of(kernels) | {scaled.Scaled, averaged.Averaged} | CENTRES),
    "reference": frozenset(
        types_of(reference) | types_of(reference_sigma) | {averaged.Averaged, reservoir.Reservoir} | CENTRES
    ),
}
