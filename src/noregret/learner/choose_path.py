"""Choose the fast path of a model: what learns and scores single rows in one call of a compiled function."""

from noregret.features.derived import DerivedTransform
from noregret.features.kernel_maps import KernelMap
from noregret.jit import dict_reader
from noregret.learner.change import Change
from noregret.learner.dense_path import DensePath
from noregret.learner.derived_path import DerivedPath
from noregret.learner.engine import Loops
from noregret.learner.fast_path import FastPath
from noregret.learner.hashed_path import HashedPath
from noregret.learner.mapped_path import choose_mapped
from noregret.learner.model import Model
from noregret.tasks.binary import Binary
from noregret.tasks.multiclass import Multiclass
from noregret.tasks.regression import Regression

SERVED = (Binary, Multiclass, Regression)  # the tasks whose labels and scores a fast path understands
KINDS: dict[tuple[str, str], type[FastPath]] = {
    ("sparse", "names"): FastPath,
    ("sparse", "columns"): FastPath,
    ("sparse", "hashed"): HashedPath,
    ("dense", "columns"): DensePath,
}  # by algebra, and by how features are named


def open_fast_path(model: Model, loops: Loops, change: Change) -> FastPath | None:
    """The fast path of a model; None where it has none."""
    kind = choose_kind(model, loops)
    return kind(model, loops, change) if kind is not None and kind.suits(model) else None


def choose_kind(model: Model, loops: Loops) -> type[FastPath] | None:
    """The kind of fast path that serves a model; None where none does."""
    engine, config = loops.engine, model.config
    fits = engine.native and engine.layout is not None and dict_reader.is_enabled()
    if not fits or model.full_covariance or model.card.ignores_features:
        return None
    if not isinstance(model.task, SERVED) or model.task.queries_labels:
        return None
    balanced = isinstance(config.class_weight, str)
    undecided = config.bias and config.bias_value is None and model.constant == 0.0
    if undecided or (balanced and model.class_counts.size != len(model.labels)):
        return None
    if any(isinstance(transform, KernelMap) for transform in model.transforms):
        return choose_mapped(model)
    kind = KINDS.get((str(model.algebra), str(model.names.mode)))
    if any(isinstance(transform, DerivedTransform) for transform in model.transforms):
        return DerivedPath if kind is FastPath and DerivedPath.serves(model) else None
    if any(transform.row_loops() is None for transform in model.transforms):
        return None
    if model.selectors.bits and kind is HashedPath:  # the groups of a cell depend on the names in the row
        return None
    return kind
