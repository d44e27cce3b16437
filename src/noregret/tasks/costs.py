"""What mistakes cost: a table by labels, checked, and as the matrix of numbers that a task looks at."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from noregret.data.labels import check_label
from noregret.errors import BadValue, shown
from noregret.rules.parameters import Param

Costs = tuple[tuple[Any, Any, float], ...]
AT_LEAST_ZERO = Param(1.0, at_least=0.0)


def check_cost(given: Any, classes: Sequence[Any] | None) -> Costs | None:
    """(truth, predicted, cost) for every pair given; other mistakes cost 1."""
    if given is None:
        return None
    if isinstance(given, Mapping):
        return tuple(entry for pair in entries(given) for entry in check_entry(*pair, classes))
    rows = given.tolist() if hasattr(given, "tolist") else given
    if classes is None:
        raise BadValue("a cost matrix needs classes=[...], the labels of its rows and columns; or give costs as "
                       "{truth: {predicted: cost}}")  # fmt: skip
    size = len(classes)
    square = isinstance(rows, (list, tuple)) and all(isinstance(row, (list, tuple)) for row in rows)
    if not square or len(rows) != size or any(len(row) != size for row in rows):
        raise BadValue(f"cost must be a matrix of {size} rows and {size} columns, one for each of classes")
    return tuple(
        entry for truth, row in zip(classes, rows, strict=True) for other, cost in zip(classes, row, strict=True)
        for entry in check_entry(truth, other, cost, classes)
    )  # fmt: skip


def entries(given: Mapping[Any, Any]) -> list[tuple[Any, Any, Any]]:
    """The entries of {truth: {predicted: cost}} or {(truth, predicted): cost}."""
    found = []
    for key, value in given.items():
        if isinstance(value, Mapping):
            found += [(key, other, cost) for other, cost in value.items()]
        elif isinstance(key, tuple) and len(key) == 2:
            found.append((*key, value))
        else:
            raise BadValue(
                f"cost must be {{truth: {{predicted: cost}}}} or a matrix, not {{{shown(key)}: {shown(value)}}}"
            )
    return found


def check_entry(truth: Any, other: Any, cost: Any, classes: Sequence[Any] | None) -> list[tuple[Any, Any, float]]:
    """One entry, checked; nothing for a zero on the diagonal."""
    truth, other = check_label(truth), check_label(other)
    for label in (truth, other):
        if classes is not None and label not in classes:
            raise BadValue(f"cost names the class {label!r}, which is not one of classes {list(classes)}")
    value = AT_LEAST_ZERO.check("cost", f"of predicting {other!r} for {truth!r}", cost)
    if truth == other and value != 0.0:
        raise BadValue(f"cost of predicting {other!r} for {truth!r} must be 0, not {cost!r}: it is no mistake")
    return [] if truth == other else [(truth, other, value)]


def cost_matrix(costs: Costs | None, labels: Sequence[Any], room: int) -> np.ndarray:
    """The cost of predicting a column for a row, by the numbers of their classes."""
    found = 1.0 - np.eye(room)
    code = {label: number for number, label in enumerate(labels[:room])}
    for truth, other, cost in costs or ():
        if truth in code and other in code:
            found[code[truth], code[other]] = cost
    return found
