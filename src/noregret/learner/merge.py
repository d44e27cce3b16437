"""Merge two models of one rule into one, as far as the card's merge law goes."""

from dataclasses import replace
from typing import Any

import numpy as np

from noregret.errors import BadValue
from noregret.features.hashing import HashedNames
from noregret.learner.config import Config
from noregret.learner.model import Model
from noregret.learner.recent_scores import RecentScores
from noregret.rules.row_size import ROW_SUMS, pool_sizes
from noregret.state.align import rearrange, share_supports
from noregret.state.class_changes import mirror, split
from noregret.state.growth import grow, parts, settle
from noregret.state.space import enlarge
from noregret.state.stores.covariance import symmetrize
from noregret.tasks.binary import Binary
from noregret.tasks.regression import Regression
from noregret.tasks.task import Task


def merge_models(a: Model, b: Model, order: list[int] | None = None) -> Model:
    """Both models pooled. The two given are used up: pass copies.

    Features are matched by name, or by number; with `order`, feature j of the second is feature order[j] of the first.
    """
    if a.card.merge.law == "none":
        raise BadValue(f"{a.card.name} cannot be merged: {a.card.merge.how}")
    if any(field.kind == "reservoir" for field in a.card.state.values()):
        raise BadValue(f"{a.card.name} cannot be merged: each learner remembers a sample of the rows it saw")
    same = (
        a.card.name == b.card.name and same_options(a.config, b.config) and a.config.covariance == b.config.covariance
    )
    same = same and (a.config.kernel, a.config.kernel_params) == (b.config.kernel, b.config.kernel_params)
    same = same and (a.config.average, a.config.groups) == (b.config.average, b.config.groups)
    same = same and (a.config.bias, a.config.scale) == (b.config.bias, b.config.scale)
    same = same and a.config.bias_value == b.config.bias_value
    same = same and a.config.transforms == b.config.transforms
    same = same and (a.config.class_weight, a.task.cost) == (b.config.class_weight, b.task.cost)
    if not same or family(a.task) != family(b.task):
        raise BadValue(
            f"only learners of one rule, one task and the same parameters can be merged, not {a.label} and {b.label}"
        )
    if a.constant != b.constant and a.constant and b.constant:
        raise BadValue(
            f"the constant feature is {a.constant:g} in one learner and {b.constant:g} in the other; "
            "make both with the same number, as in bias=1.0"
        )
    if a.gamma != b.gamma and a.gamma and b.gamma:
        raise BadValue(f"gamma is {a.gamma:g} in one learner and {b.gamma:g} in the other, by the first row of each; "
                       "give the same gamma= to both")  # fmt: skip
    if a.config.budget.size:
        raise BadValue("learners with a budget cannot be merged: together they have more supports than it allows")
    a.constant, a.columns = a.constant or b.constant, a.columns or b.columns
    a.gamma = a.gamma or b.gamma
    if a.space is not None:
        a.space = replace(a.space, shape=a.kernel_params)
    if a.config.average is not None:
        raise BadValue(f"{a.card.name} cannot be merged while it is averaged: each mean is over rounds of its own")
    if a.config.weight_decay is not None:
        raise BadValue(f"{a.card.name} cannot be merged with weight_decay: what decays depends on the order of rounds")
    if isinstance(a.task, Regression) and a.task.scales_targets:
        raise BadValue("learners that scale their targets cannot be merged: each goes by what it saw. Make them with "
                       "scale_target=False")  # fmt: skip
    if a.config.numbers.get("random_start", 0.0) > 0.0 and a.card.merge.method != "mix":
        raise BadValue(f"{a.card.name} cannot be merged with random_start: what adds up begins at zero")
    if a.config.numbers.get("random_start", 0.0) > 0.0 and a.card.shrinks_start(dict(a.config.choices)):
        raise BadValue(f"{a.card.name} cannot be merged with random_start: the starts of the two have shrunk apart")
    keeping = next((one for one in a.transforms if one.has_state and not one.merges), None)
    if keeping is not None:
        steps = "scale" if keeping.name == "scale" else f"transform by {keeping.name}"
        raise BadValue(f"learners that {steps} cannot be merged: each goes by what it saw. Do it before you learn")
    if b.arrays is None:
        return a
    if a.arrays is None:
        return b
    if a.algebra != b.algebra:
        raise BadValue(f"a learner in the {a.algebra} algebra cannot be merged with one in the {b.algebra} algebra")
    if a.names.mode != b.names.mode:
        raise BadValue("one learner knows its features by name, the other by column number; they cannot be merged")
    if a.config.bits != b.config.bits:
        raise BadValue(f"one learner has {a.config.bits} bits, the other {b.config.bits}; they cannot be merged")
    if isinstance(a.names, HashedNames) and isinstance(b.names, HashedNames):
        a.names.absorb(b.names)
    settle(a.arrays), settle(b.arrays)
    align(a, b, order)
    merge_transforms(a, b, order)
    combine(a, b)
    settle(a.arrays)
    a.totals += b.totals
    if a.recent is not None:  # neither window has scores of the merged weights
        a.recent = RecentScores(lost=True)
        a.recent.prepare(a.task, a.labels)
    return a


def same_options(a: Config, b: Config) -> bool:
    """Whether two learners have the same parameters of rule and task."""
    return (a.numbers, a.choices, a.task.numbers, a.task.chosen) == (
        b.numbers,
        b.choices,
        b.task.numbers,
        b.task.chosen,
    )


def family(task: Task) -> type[Task]:
    """The task, where binary and multiclass are one: the first may become the other."""
    return type(task.to_multiclass() if isinstance(task, Binary) else task)


def merge_transforms(a: Model, b: Model, order: list[int] | None) -> None:
    """Put the statistics of the transforms together; the features are aligned already."""
    if order is None and a.names.mode == "names" and not isinstance(a.names, HashedNames):
        order = [a.names.known[name] for name in b.names.as_list()]
    for mine, other in zip(a.transforms, b.transforms, strict=True):
        if mine.has_state:
            places = np.arange(other.width) if order is None else np.array(order[: other.width], np.int64)
            mine.absorb(other, places)


def align(a: Model, b: Model, order: list[int] | None = None) -> None:
    """Give both learners the same classes and features in the same order."""
    if a.task.labelled:
        for label in b.labels.order:
            a.labels.code[label]
        if a.labels.fixed and a.labels.order != list(a.config.classes or ()):
            raise BadValue(f"the learners were made for different classes: {a.config.classes} and {b.labels.order}")
        task = a.task.merge_with(b.task, a.labels)
        for model in (a, b):
            if task.many and not model.task.many:
                to_multiclass(model, task)
        if not task.many:
            for model in (a, b):
                if sign_of_first(model, model.labels.committed) != sign_of_first(a, len(a.labels), model):
                    mirror(model.shape, model.arrays, model.known_space, model.card.signed_counters)
    names = a.names.known
    bias = int(a.config.bias)
    features = max(a.known_space.features, b.known_space.features, *(place + 1 for place in order or ()))
    if order is None and a.names.mode == "names":
        order = [*range(bias), *(names[name] + bias for name in b.names.as_list())]
        features = len(names) + bias
    classes = a.task.blocks(len(a.labels))
    if a.class_counts.size or b.class_counts.size:
        a.class_counts = add_class_counts(a, b)
    ahead = a.task.first_block
    codes = [*range(ahead), *(ahead + a.labels.code[label] for label in b.labels.order)] if a.task.many else [0]
    move_cells(a, features, classes, list(range(a.known_space.classes)), None)
    move_cells(b, features, classes, codes, order)
    a.labels.committed = len(a.labels)


def add_class_counts(a: Model, b: Model) -> np.ndarray:
    """How many rounds of every class both learners saw, where they balance classes."""
    class_counts = np.zeros(len(a.labels), np.int64)
    class_counts[: a.class_counts.size] += a.class_counts
    class_counts[[a.labels.code[label] for label in b.labels.order[: b.class_counts.size]]] += b.class_counts
    return class_counts


def sign_of_first(model: Model, known: int, of: Model | None = None) -> float:
    """The sign that the first label of a learner has, as it sees it or as another does."""
    label = (of or model).labels.order[0]
    return float(model.labels.signs(known)[model.labels.code[label]])


def to_multiclass(model: Model, task: Task) -> None:
    """The state of two classes as one of many."""
    signs = model.labels.signs(model.labels.committed)
    first = 0 if signs[0] < 0 else 1
    shape, space = model.shape, model.known_space
    wide = enlarge(space, space.features, 2)
    model.arrays = grow(shape, model.arrays, space, wide)
    split(shape, model.arrays, wide, first, 1 - first)
    model.space, model.task = wide, task


def move_cells(model: Model, features: int, classes: int, codes: list[int], order: list[int] | None) -> None:
    """Move the cells of a learner to the classes and features of the merged one."""
    old = model.known_space
    new = enlarge(old, features, classes)
    model.arrays, model.space = rearrange(model.shape, model.arrays, old, new, codes, order), new


def combine(a: Model, b: Model) -> None:
    shape, by = a.shape, a.card.merge.method
    ta, tb = float(a.arrays.n.t), float(b.arrays.n.t)
    if a.algebra == "kernel":
        a.arrays, b.arrays, space = share_supports(shape, a.arrays, b.arrays, (a.known_space, b.known_space))
        a.space = b.space = space
    size = int(a.bank.n[0]) if a.algebra == "kernel" else a.known_space.features
    used = (slice(a.known_space.classes), slice(size), slice(size))  # the room beyond may differ
    mine = {name: (field, array[used[: array.ndim]]) for name, field, array in parts(shape, a.arrays, a.known_space)}
    theirs = {name: array[used[: array.ndim]] for name, _, array in parts(shape, b.arrays, b.known_space)}
    share = ta / max(ta + tb, 1.0)
    if by == "accumulate":
        sums = sum_of_weights(mine["w"][1], mine["u"][1], ta) + sum_of_weights(theirs["w"], theirs["u"], tb)
        mine["w"][1][...] = share * mine["w"][1] + (1.0 - share) * theirs["w"]
        mine["u"][1][...] = (ta + tb + 1.0) * mine["w"][1] - sums
    elif by == "pool":
        pool_gaussians(mine, theirs)
    else:
        for name, (field, array) in mine.items():
            if field.law == "copy":
                array[...] = add_precisions(array, theirs[name], field.start)
            elif by == "mix":
                array[...] = share * array + (1.0 - share) * theirs[name]
            elif field.law == "multiply":
                array[...] = array * theirs[name] / field.start
            else:
                array[...] = array + theirs[name] - field.start
    if "reach" in a.arrays.n.dtype.names:
        raise_centres(a.arrays.n, b.arrays.n)
    for name in a.arrays.n.dtype.names:
        ours, others = float(a.arrays.n[name]), float(b.arrays.n[name])
        total = ours + others if name == "t" or name in ROW_SUMS else max(ours, others)
        mixes = name == "w_height" or name in a.card.counter_laws
        a.arrays.n[name] = share * ours + (1.0 - share) * others if mixes else total
    if "row_size" in a.arrays.n.dtype.names:
        pool_sizes(a.arrays.n)


def raise_centres(a: Any, b: Any) -> None:
    """Let the balls of both one-class learners reach equally far, with the radius that each has among the rows."""
    reach = max(float(a.reach), float(b.reach))
    for n in (a, b):
        n.w_height = np.sqrt(n.w_height**2 + (reach - n.reach) * (reach + n.reach))
        n.reach = reach


def sum_of_weights(w: np.ndarray, u: np.ndarray, t: float) -> np.ndarray:
    """The sum of all weight vectors that an averaged learner went through."""
    return np.asarray((t + 1.0) * w - u)


def add_precisions(a: np.ndarray, b: np.ndarray, start: float) -> np.ndarray:
    """Sigma^-1 = A^-1 + B^-1 - I / start, cell by cell or matrix by matrix."""
    if a.ndim == 2:
        return np.asarray(1.0 / (1.0 / a + 1.0 / b - 1.0 / start))
    fixed = np.eye(a.shape[1]) / start
    return np.asarray(np.linalg.inv(np.linalg.inv(symmetrize(a)) + np.linalg.inv(symmetrize(b)) - fixed))


def pool_gaussians(mine: dict[str, Any], theirs: dict[str, np.ndarray]) -> None:
    """Precisions add, and so does precision times weights."""
    (_, w), (field, sigma) = mine["w"], mine["sigma"]
    if sigma.ndim == 2:
        theta = w / sigma + theirs["w"] / theirs["sigma"]
        sigma[...] = add_precisions(sigma, theirs["sigma"], field.start)
        w[...] = sigma * theta
        return
    a, b = np.linalg.inv(symmetrize(sigma)), np.linalg.inv(symmetrize(theirs["sigma"]))
    theta = np.einsum("cij,cj->ci", a, w) + np.einsum("cij,cj->ci", b, theirs["w"])
    sigma[...] = np.linalg.inv(a + b - np.eye(sigma.shape[1]) / field.start)
    w[...] = np.einsum("cij,cj->ci", sigma, theta)
