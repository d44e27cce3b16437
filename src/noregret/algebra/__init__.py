"""The algebra: how vectors and examples are stored, and the verbs that rules are written in."""

from noregret.algebra import (  # each registers its implementations
    averaged,
    banks,
    basis,
    centre,
    class_blocks,
    covariance,
    decayed,
    examples,
    full_covariance,
    given_kernels,
    grouped,
    kernel_differences,
    kernel_functions,
    lazy,
    lazy_groups,
    log_weights,
    mixtures,
    reference,
    reference_sigma,
    reservoir,
    scaled,
    snapshot,
    top_k,
)
from noregret.algebra import example_sizes as example_sizes
from noregret.algebra import kernel as kernels
from noregret.algebra import links as links
from noregret.algebra import part_sums as part_sums
from noregret.algebra import partial_features as partial_examples
from noregret.algebra import projections as projections
from noregret.algebra import reference_vectors as reference_vectors
from noregret.algebra import row_differences as row_differences
from noregret.algebra import support_verbs as support_verbs
from noregret.algebra import vectors as vectors
from noregret.algebra.kernel_verbs import (
    add_projection,
    append,
    coefficient,
    distance,
    drop,
    extend,
    fill_distances,
    fill_kernel_row,
    independent,
    kernel_row,
    near,
    oldest,
    project,
    remove_coefficients,
    remove_support,
    set_coefficient,
    substitute,
    supports,
    votes,
)
from noregret.algebra.partial_features import Draw, coprime, next_random
from noregret.algebra.verbs import (
    Plain,
    add,
    apportion,
    at,
    breadth,
    clip,
    clip_peaks,
    contract,
    count_correct,
    dot,
    exp_dot,
    exp_total,
    extent,
    group_norm,
    group_size,
    image,
    inner,
    keep,
    link_dot,
    move_and_sharpen,
    multiply,
    norm,
    partial_features,
    peak,
    posterior_image,
    prune,
    put,
    remember,
    sample_size,
    scale,
    share_dot,
    sharpen,
    shorten,
    shrink,
    side,
    snapshot_at,
    snapshot_dot,
    sqnorm,
    sqsource,
    take_snapshot,
)

__all__ = [
    "coefficient",
    "fill_kernel_row",
    "kernel_row",
    "near",
    "oldest",
    "set_coefficient",
    "supports",
    "TYPES",
    "Draw",
    "coprime",
    "next_random",
    "add",
    "add_projection",
    "append",
    "apportion",
    "at",
    "breadth",
    "clip",
    "clip_peaks",
    "contract",
    "count_correct",
    "distance",
    "dot",
    "drop",
    "exp_dot",
    "exp_total",
    "extend",
    "extent",
    "fill_distances",
    "group_norm",
    "group_size",
    "image",
    "independent",
    "inner",
    "keep",
    "link_dot",
    "move_and_sharpen",
    "multiply",
    "norm",
    "partial_features",
    "peak",
    "posterior_image",
    "project",
    "prune",
    "put",
    "remember",
    "remove_coefficients",
    "remove_support",
    "sample_size",
    "scale",
    "share_dot",
    "sharpen",
    "shorten",
    "shrink",
    "side",
    "snapshot_at",
    "snapshot_dot",
    "sqnorm",
    "sqsource",
    "substitute",
    "take_snapshot",
    "votes",
]


def types_of(module: object) -> set[type]:
    return {kind for kind in vars(module).values() if isinstance(kind, type) and hasattr(kind, "_fields")}


class_blocks.register_class_blocks()
mixtures.register_mixtures()

SPARSE = {
    examples.Sparse,
    examples.SparseBlocks,
    class_blocks.SparseClassBlock,
    mixtures.SparseMixture,
    examples.SparseRows,
    examples.SparsePart,
} | types_of(partial_examples)
DENSE = {
    examples.Dense,
    examples.DenseBlocks,
    class_blocks.DenseClassBlock,
    mixtures.DenseMixture,
    examples.DenseRows,
    examples.DensePart,
} | types_of(partial_examples)
CENTRES = {centre.Centre, centre.Toward}
VECTORS = {
    Plain,
    scaled.Scaled,
    scaled.Unmeasured,
    lazy.Lazy,
    top_k.TopK,
    snapshot.Snapshot,
    log_weights.LogWeights,
    averaged.Averaged,
    decayed.Decayed,
} | CENTRES
GROUPS = {grouped.Grouped, lazy_groups.LazyGroups}
SIGMA = types_of(covariance) | types_of(full_covariance)
TYPES: dict[str, frozenset[type]] = {
    "sparse": frozenset(SPARSE | SIGMA - DENSE | VECTORS | GROUPS | {reservoir.Reservoir}),
    "dense": frozenset(DENSE | SIGMA - SPARSE | VECTORS | GROUPS | {reservoir.Reservoir}),
    "kernel": frozenset(
        types_of(kernels)
        | types_of(kernel_differences)
        | {mixtures.KernelMixture}
        | types_of(banks)
        | types_of(kernel_functions)
        | types_of(given_kernels)
        | {scaled.Scaled, averaged.Averaged, basis.Basis}
        | CENTRES
    ),
    "reference": frozenset(
        types_of(reference)
        | types_of(reference_sigma)
        | {averaged.Averaged, decayed.Decayed, reservoir.Reservoir}
        | CENTRES
    ),
}
