"""Transforms, the obvious way: each is a function of all rows before and of the row itself, both plain dicts."""

import math
import statistics
from collections.abc import Callable, Iterable, Mapping
from itertools import combinations, permutations
from typing import Any

from tests.naive.scaling import measure

Row = Mapping[Any, float]
Step = Callable[[list[Row], Row], dict[Any, float]]


def transformed(steps: Iterable[Step], rows: Iterable[Row]) -> list[dict[Any, float]]:
    """Every row through all steps, each of which knows what reached it of the rows before."""
    chain = [(step, []) for step in steps]  # type: ignore[var-annotated]
    found = []
    for row in rows:
        now = dict(row)
        for step, past in chain:
            after = step(past, now)
            past.append(now)
            now = after
        found.append(now)
    return found


def before(past: list[Row], name: Any) -> list[float]:
    return [row[name] for row in past if name in row and not math.isnan(row[name])]


def scale(past: list[Row], row: Row) -> dict[Any, float]:
    return {name: measure(value, before(past, name)) for name, value in row.items()}


def min_max(past: list[Row], row: Row) -> dict[Any, float]:
    return {name: place(value, before(past, name)) for name, value in row.items()}


def place(value: float, values: list[float]) -> float:
    if not values or value <= min(values):
        return 0.0
    if value >= max(values):
        return 1.0
    return (value - min(values)) / (max(values) - min(values))


def unit_norm(p: float) -> Step:
    def step(past: list[Row], row: Row) -> dict[Any, float]:
        length = sum(abs(value) ** p for value in row.values()) ** (1.0 / p)
        return {name: value / length if length else 0.0 for name, value in row.items()}

    return step


def clip(limit: float) -> Step:
    return lambda past, row: {name: sorted((-limit, value, limit))[1] for name, value in row.items()}


def log1p(past: list[Row], row: Row) -> dict[Any, float]:
    return {name: math.log(1.0 + value) if value >= 0 else -math.log(1.0 - value) for name, value in row.items()}


def tf_idf(sublinear: bool) -> Step:
    def step(past: list[Row], row: Row) -> dict[Any, float]:
        found = {}
        for name, value in row.items():
            having = sum(1 for one in past if one.get(name, 0.0) != 0.0)
            tf = 1.0 + math.log(value) if sublinear and value > 0.0 else value
            found[name] = tf * (math.log((1 + len(past)) / (1 + having)) + 1.0)
        return found

    return step


def missing_zero(past: list[Row], row: Row) -> dict[Any, float]:
    return {name: 0.0 if math.isnan(value) else value for name, value in row.items()}


def missing_mean(past: list[Row], row: Row) -> dict[Any, float]:
    means = {name: statistics.fmean(before(past, name) or [0.0]) for name in row}
    return {name: means[name] if math.isnan(value) else value for name, value in row.items()}


def missing_indicator(past: list[Row], row: Row) -> dict[Any, float]:
    found: dict[Any, float] = {}
    for name, value in row.items():
        found |= {f"{name} is missing": 1.0} if math.isnan(value) else {name: value}
    return found


def squares(past: list[Row], row: Row) -> dict[Any, float]:
    found: dict[Any, float] = {}
    for name, value in row.items():
        found |= {name: value, f"{name}^2": value * value}
    return found


def ranks(past: list[Row], row: Row) -> list[Any]:
    """Names in the order in which they appeared; columns by number."""
    seen = list(dict.fromkeys(name for one in [*past, row] for name in one))
    return sorted(seen) if all(isinstance(name, int) for name in seen) else seen


def in_order(past: list[Row], row: Row) -> dict[Any, float]:
    return {name: row[name] for name in sorted(row, key=ranks(past, row).index)}


def pairs(past: list[Row], row: Row) -> dict[Any, float]:
    """Of two features the one that appeared first, or has the lower column, is named first."""
    order = ranks(past, row)
    found = dict(row)
    for two in combinations(row, 2):
        a, b = sorted(two, key=order.index)
        found[f"{a}*{b}"] = row[a] * row[b]
    return found


def conjunctions(order: int, negate: list[Any], only: list[Any] | None = None) -> Step:
    """Products of features that are true, named in the order of `pairs`; negated features come after all others."""

    def step(past: list[Row], row: Row) -> dict[Any, float]:
        order_of = ranks(past, row)
        chosen = [name for name in row if only is None or any(belongs(name, group) for group in only)]
        literals = {name: row[name] for name in sorted(chosen, key=order_of.index) if row[name] != 0.0}
        false = [group for group in negate if not any(row[name] != 0.0 and belongs(name, group) for name in row)]
        negated = {f"not {group}": 1.0 for group in false}
        found = {**row, **negated}
        for factors in range(2, order + 1):
            for some in combinations({**literals, **negated}.items(), factors):
                found["*".join(str(name) for name, _ in some)] = math.prod(value for _, value in some)
        return found

    return step


def belongs(name: Any, group: Any) -> bool:
    """Whether a feature is of a column or namespace; a product, named a*b, is of none."""
    text = str(name).replace(" is missing", "")
    return "*" not in text and (text == str(group) or text.startswith((f"{group}=", f"{group}^")))


def only(groups: list[Any], step: Step) -> Step:
    """A step for some features; the others pass it by."""

    def some(row: Row, chosen: bool) -> dict[Any, float]:
        return {name: value for name, value in row.items() if any(belongs(name, one) for one in groups) == chosen}

    return lambda past, row: {**some(row, False), **step([some(one, True) for one in past], some(row, True))}


def between(groups: list[tuple[Any, Any]]) -> Step:
    """Products of features of two groups, named in the order of the groups, or as `pairs` does where both fit both."""

    def step(past: list[Row], row: Row) -> dict[Any, float]:
        found = dict(row)
        for product, value in pairs(past, row).items():
            if product in row:
                continue
            a, b = next(two for two in permutations(row, 2) if f"{two[0]}*{two[1]}" == product)
            for one, other in groups:
                forward, backward = (belongs(x, one) and belongs(z, other) for x, z in ((a, b), (b, a)))
                if forward or backward:
                    found[f"{a}*{b}" if forward else f"{b}*{a}"] = value
                    break
        return found

    return step


def one_hot(past: list[Row], row: Row) -> dict[Any, float]:
    return {f"{name}={int(value) if value == int(value) else value}": 1.0 for name, value in row.items()}
