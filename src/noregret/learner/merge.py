"""Merging: two learners of one rule become one, as far as the card's merge law goes."""

from typing import TYPE_CHECKING, Any

import numpy as np

from noregret.errors import BadValue
from noregret.features.hashing import HashedNames
from noregret.state.growth import at_rest, bank_of, enlarged, grown, make, mirror, parts, split
from noregret.tasks.regression import scales

if TYPE_CHECKING:
    from noregret.learner.rule_learner import Learner


def merged(a: "Learner", b: "Learner") -> "Learner":
    """Both learners pooled. The two given are used up: pass copies."""
    if a.card.merge.law == "none":
        raise BadValue(f"{a.card.name} cannot be merged: {a.card.merge.how}")
    if any(field.kind == "reservoir" for field in a.card.state.values()):
        raise BadValue(f"{a.card.name} cannot be merged: each learner remembers a sample of the rows it saw")
    same = a.card.name == b.card.name and a.params == b.params and a.settings.covariance == b.settings.covariance
    same = same and (a.settings.kernel, a.settings.shape) == (b.settings.kernel, b.settings.shape)
    same = same and (a.settings.average, a.settings.groups) == (b.settings.average, b.settings.groups)
    same = same and (a.settings.bias, a.settings.scale) == (b.settings.bias, b.settings.scale)
    same = same and a.settings.transforms == b.settings.transforms
    same = same and (a.settings.class_weight, a.settings.cost) == (b.settings.class_weight, b.settings.cost)
    if not same or kind_of(a) != kind_of(b):
        raise BadValue(f"only learners of one rule, one task and the same parameters can be merged, not {a} and {b}")
    if a.settings.average is not None:
        raise BadValue(f"{a.card.name} cannot be merged while it is averaged: each mean is over rounds of its own")
    if scales(a):
        raise BadValue("learners that scale their targets cannot be merged: each goes by what it saw. Make them with "
                       "scale_target=False")  # fmt: skip
    keeping = next((one for one in a.transforms if one.has_state), None)
    if keeping is not None:
        steps = "scale" if keeping.name == "scale" else f"transform by {keeping.name}"
        raise BadValue(f"learners that {steps} cannot be merged: each goes by what it saw. Do it before you learn")
    if b.state is None:
        return a
    if a.state is None:
        return b
    if a.algebra != b.algebra:
        raise BadValue(f"a learner in the {a.algebra} algebra cannot be merged with one in the {b.algebra} algebra")
    if a.names.mode != b.names.mode:
        raise BadValue("one learner knows its features by name, the other by column number; they cannot be merged")
    if a.settings.bits != b.settings.bits:
        raise BadValue(f"one learner has {a.settings.bits} bits, the other {b.settings.bits}; they cannot be merged")
    if isinstance(a.names, HashedNames) and isinstance(b.names, HashedNames):
        a.names.absorb(b.names)
    at_rest(a.state), at_rest(b.state)
    seat_alike(a, b)
    combine(a, b)
    at_rest(a.state)
    a.totals += b.totals
    a.source = None
    a.rebind()
    return a


def kind_of(learner: "Learner") -> str:
    """The task, where two classes and many are one: either may become the other."""
    return "multiclass" if learner.task == "binary" else learner.task


def seat_alike(a: "Learner", b: "Learner") -> None:
    """Give both learners the same classes and features in the same order."""
    if a.task_object.labelled:
        for label in b.labels.order:
            a.labels.code[label]
        if a.labels.fixed and a.labels.order != list(a.settings.classes or ()):
            raise BadValue(f"the learners were made for different classes: {a.settings.classes} and {b.labels.order}")
        many = len(a.labels) > 2 or {a.task, b.task} != {"binary"}
        for learner in (a, b):
            own = learner.classes_before
            if many and learner.task == "binary":
                to_multiclass(learner, own)
        if not many:
            for learner in (a, b):
                if sign_of_first(learner, learner.classes_before) != sign_of_first(a, len(a.labels), learner):
                    mirror(learner.shape, learner.state, learner.space)  # type: ignore[arg-type]
    names = a.names.known
    bias = int(a.settings.bias)
    order = None
    if a.names.mode == "names":
        order = [*range(bias), *(names[name] + bias for name in b.names.as_list())]
    features = len(names) + bias if order is not None else max(a.space.features, b.space.features)  # type: ignore[union-attr]
    classes = a.task_object.blocks(len(a.labels))
    if a.class_counts.size or b.class_counts.size:
        a.class_counts = pooled_counts(a, b)
    ahead = a.task_object.ahead
    codes = [*range(ahead), *(ahead + a.labels.code[label] for label in b.labels.order)] if a.task_object.many else [0]
    place(a, features, classes, list(range(a.space.classes)), None)  # type: ignore[union-attr]
    place(b, features, classes, codes, order)
    a.classes_before = len(a.labels)


def pooled_counts(a: "Learner", b: "Learner") -> np.ndarray:
    """How many rounds of every class both learners class_counts, where they balance classes."""
    class_counts = np.zeros(len(a.labels), np.int64)
    class_counts[: a.class_counts.size] += a.class_counts
    class_counts[[a.labels.code[label] for label in b.labels.order[: b.class_counts.size]]] += b.class_counts
    return class_counts


def sign_of_first(learner: "Learner", known: int, of: "Learner | None" = None) -> float:
    """The sign that the first label of a learner has, as it sees it or as another does."""
    label = (of or learner).labels.order[0]
    return float(learner.labels.signs(known)[learner.labels.code[label]])


def to_multiclass(learner: "Learner", own: int) -> None:
    signs = learner.labels.signs(own)
    first = 0 if signs[0] < 0 else 1
    shape, space = learner.shape, learner.space
    assert space is not None
    wide = enlarged(space, space.features, 2)
    learner.state = grown(shape, learner.state, space, wide)
    split(shape, learner.state, wide, first, 1 - first)
    learner.space, learner.task = wide, "multiclass"


def place(learner: "Learner", features: int, classes: int, codes: list[int], order: list[int] | None) -> None:
    """Move the cells of a learner to the classes and features of the merged one."""
    shape, old = learner.shape, learner.space
    assert old is not None
    new = enlarged(old, features, classes)
    state = make(shape, new)
    rows = np.array(codes, dtype=np.int64)
    columns = np.arange(old.features) if order is None else np.array(order, dtype=np.int64)
    for (_, _, source), (_, _, target) in zip(parts(shape, learner.state, old), parts(shape, state, new), strict=True):
        if old.algebra == "kernel":
            target[codes, : source.shape[1]] = source[: len(codes)]
        elif source.ndim == 3:
            target[np.ix_(rows, columns, columns)] = symmetric(source[: len(codes), : old.features, : old.features])
        else:
            target[np.ix_(rows, columns)] = source[: len(codes), : old.features]
    if old.algebra == "kernel":
        before, after = bank_of(learner.state), bank_of(state)
        for mine, fresh in zip(before[:5], after[:5], strict=True):
            fresh[: mine.size] = mine
        if order is not None:
            held = int(before.start[before.n[0]])
            after.idx[:held] = columns[before.idx[:held]]
        after.n[:] = before.n
    for name in state.n.dtype.names:
        state.n[name] = learner.state.n[name]
    learner.state, learner.space = state, new


def combine(a: "Learner", b: "Learner") -> None:
    shape, by = a.shape, a.card.merge.by
    ta, tb = float(a.state.n.t), float(b.state.n.t)
    if a.algebra == "kernel":
        append_supports(a, b)
    assert a.space is not None
    assert b.space is not None
    size = int(a.bank.n[0]) if a.algebra == "kernel" else a.space.features
    used = (slice(a.space.classes), slice(size), slice(size))  # the room beyond may differ
    mine = {name: (field, array[used[: array.ndim]]) for name, field, array in parts(shape, a.state, a.space)}
    theirs = {name: array[used[: array.ndim]] for name, _, array in parts(shape, b.state, b.space)}
    share = ta / max(ta + tb, 1.0)
    if by == "accumulate":
        sums = sum_of_all(mine["w"][1], mine["u"][1], ta) + sum_of_all(theirs["w"], theirs["u"], tb)
        mine["w"][1][...] = share * mine["w"][1] + (1.0 - share) * theirs["w"]
        mine["u"][1][...] = (ta + tb + 1.0) * mine["w"][1] - sums
    elif by == "pool":
        pool(mine, theirs)
    else:
        for name, (field, array) in mine.items():
            if field.law == "copy":
                array[...] = added_precisions(array, theirs[name], field.start)
            elif by == "mix":
                array[...] = share * array + (1.0 - share) * theirs[name]
            elif field.law == "multiply":
                array[...] = array * theirs[name] / field.start
            else:
                array[...] = array + theirs[name] - field.start
    for name in a.state.n.dtype.names:
        ours, others = float(a.state.n[name]), float(b.state.n[name])
        total = ta + tb if name == "t" else max(ours, others)
        a.state.n[name] = share * ours + (1.0 - share) * others if name == "w_height" else total


def sum_of_all(w: np.ndarray, u: np.ndarray, t: float) -> np.ndarray:
    """The sum of all weight vectors that an averaged learner went through."""
    return np.asarray((t + 1.0) * w - u)


def added_precisions(a: np.ndarray, b: np.ndarray, start: float) -> np.ndarray:
    """Sigma^-1 = A^-1 + B^-1 - I / start, cell by cell or matrix by matrix."""
    if a.ndim == 2:
        return np.asarray(1.0 / (1.0 / a + 1.0 / b - 1.0 / start))
    fixed = np.eye(a.shape[1]) / start
    return np.asarray(np.linalg.inv(np.linalg.inv(symmetric(a)) + np.linalg.inv(symmetric(b)) - fixed))


def symmetric(lower: np.ndarray) -> np.ndarray:
    """Matrices of which only the lower triangle is kept, in full."""
    below = np.tril(lower, -1)
    return np.asarray(np.tril(lower) + np.swapaxes(below, 1, 2))


def pool(mine: dict[str, Any], theirs: dict[str, np.ndarray]) -> None:
    """Precisions add, and so does precision times weights."""
    (_, w), (field, sigma) = mine["w"], mine["sigma"]
    if sigma.ndim == 2:
        theta = w / sigma + theirs["w"] / theirs["sigma"]
        sigma[...] = added_precisions(sigma, theirs["sigma"], field.start)
        w[...] = sigma * theta
        return
    a, b = np.linalg.inv(symmetric(sigma)), np.linalg.inv(symmetric(theirs["sigma"]))
    theta = np.einsum("cij,cj->ci", a, w) + np.einsum("cij,cj->ci", b, theirs["w"])
    sigma[...] = np.linalg.inv(a + b - np.eye(sigma.shape[1]) / field.start)
    w[...] = np.einsum("cij,cj->ci", sigma, theta)


def append_supports(a: "Learner", b: "Learner") -> None:
    """Both learners get the supports of both, in the same places; those of the other have coefficient zero."""
    first, second = bank_of(a.state), bank_of(b.state)
    na, nb = int(first.n[0]), int(second.n[0])
    held_a, held_b = int(first.start[na]), int(second.start[nb])
    shape = a.shape
    assert a.space is not None
    assert b.space is not None
    space = enlarged(a.space, a.space.features, a.space.classes, na + nb, held_a + held_b)
    old_b = [array[:, :nb].copy() for _, _, array in parts(shape, b.state, b.space)]
    a.state, a.space = grown(shape, a.state, a.space, space), space
    bank = bank_of(a.state)
    bank.idx[held_a : held_a + held_b] = second.idx[:held_b]
    bank.val[held_a : held_a + held_b] = second.val[:held_b]
    bank.sq[na : na + nb] = second.sq[:nb]
    bank.start[na : na + nb + 1] = second.start[: nb + 1] + held_a
    bank.n[0] = na + nb
    counters = b.state.n
    b.state, b.space = make(shape, space), space
    for (_, _, array), coefficients in zip(parts(shape, b.state, space), old_b, strict=True):
        array[:, na : na + nb] = coefficients[: array.shape[0]]
    for name in counters.dtype.names:
        b.state.n[name] = counters[name]
