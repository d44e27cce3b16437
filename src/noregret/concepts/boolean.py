"""Boolean functions as linear threshold functions: x1 & x2 & !x3 is x1 + x2 - x3 >= 2."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.errors import BadValue, shown

Feature = str | int


@dataclass(frozen=True)
class Threshold:
    """A Boolean function that is true if the weighted sum of its features is at least theta.

    Features have names, or are column numbers. Call it with a dict, a list of dicts, a row or a matrix of zeros and
    ones; features that are not in a dict are 0.
    """

    weights: Mapping[Feature, float]
    theta: float

    def __post_init__(self) -> None:
        if not isinstance(self.weights, Mapping):
            raise BadValue(f"Threshold: weights must map features to numbers, not {shown(self.weights)}")
        for feature in self.weights:
            check_feature(feature)
        if len({type(feature) for feature in self.weights}) > 1:
            raise BadValue("Threshold: give all features by name or all by number, not some of each")
        for name, value in (("theta", self.theta), *self.weights.items()):
            if not is_finite(value):
                raise BadValue(f"Threshold: {name!r} must be a finite number, not {shown(value)}")
        object.__setattr__(self, "weights", dict(self.weights))

    def __call__(self, rows: Any, columns: Sequence[str] | None = None) -> Any:
        """True or False for one row, an array of these for many; `columns` names the columns of a matrix."""
        if isinstance(rows, Mapping):
            return bool(self.evaluate(self.from_dicts([rows]))[0])
        if isinstance(rows, (list, tuple)) and rows and isinstance(rows[0], Mapping):
            return self.evaluate(self.from_dicts(rows))
        values = self.from_matrix(rows, columns)
        return self.evaluate(values) if values.ndim == 2 else bool(self.evaluate(values[None, :])[0])

    def evaluate(self, values: NDArray[np.float64]) -> NDArray[np.bool_]:
        """The value for every row; the columns are the features of this function."""
        wrong = np.argwhere((values != 0.0) & (values != 1.0))
        if wrong.size:
            row, column = (int(at) for at in wrong[0])
            name = list(self.weights)[column]
            raise BadValue(f"row {row}, feature {name!r}: must be 0 or 1, not {values[row, column]:g}", row)
        return np.asarray(values @ np.array(list(self.weights.values()), np.float64) >= self.theta)

    def from_dicts(self, rows: Sequence[Mapping[Any, Any]]) -> NDArray[np.float64]:
        """The features of this function in rows given as dicts, one column each."""
        try:
            values = [[float(row.get(feature, 0.0)) for feature in self.weights] for row in rows]
        except (AttributeError, TypeError, ValueError):
            raise BadValue("rows must be dicts of features that are 0 or 1") from None
        return np.array(values, np.float64).reshape(len(rows), len(self.weights))

    def from_matrix(self, rows: Any, columns: Sequence[str] | None) -> NDArray[np.float64]:
        """The features of this function in a row or a matrix."""
        table = rows.tocsc() if hasattr(rows, "tocsc") else np.asarray(rows)
        if table.ndim not in (1, 2) or table.dtype.kind not in "fiub":
            raise BadValue(f"rows must be a dict, a list of dicts or a matrix of 0 and 1, not {shown(rows)}")
        known = list(range(table.shape[-1])) if columns is None else list(columns)
        if len(known) != table.shape[-1]:
            raise BadValue(f"columns has {len(known)} names for {table.shape[-1]} columns; they must match")
        chosen = table[..., self.find_columns(known)] if table.ndim == 1 else table[:, self.find_columns(known)]
        return np.asarray(chosen.toarray() if hasattr(chosen, "toarray") else chosen, np.float64)

    def find_columns(self, known: Sequence[Feature]) -> NDArray[np.int64]:
        """The column of every feature of this function."""
        place = {feature: number for number, feature in enumerate(known)}
        for feature in self.weights:
            if feature not in place:
                hint = "; name the columns with columns=" if isinstance(feature, str) and 0 in place else ""
                raise BadValue(f"there is no feature {feature!r} among the {len(place)} given{hint}")
        return np.array([place[feature] for feature in self.weights], np.int64)

    def __invert__(self) -> "Threshold":
        """The negation: true exactly where this function is false."""
        weights = {feature: -weight for feature, weight in self.weights.items()}
        if all(float(weight).is_integer() for weight in weights.values()):
            return Threshold(weights, 1 - math.ceil(self.theta))
        return Threshold(weights, float(np.nextafter(-self.theta, np.inf)))

    def draw(
        self, rows: int, features: int | Sequence[str], *, on: float = 0.5, seed: int = 0
    ) -> tuple[Any, NDArray[np.int64]]:
        """Random rows and their labels, -1 or +1, balanced if the function takes both values.

        `features` is the number of columns of a matrix, or the names of features for rows as dicts. Every feature is 1
        with probability `on`. Then a label is drawn for every row, each with probability 1/2, and features of this
        function are changed in random order until the row has this label.
        """
        if isinstance(features, str):
            raise BadValue(f"features must be a number of columns or a list of names, not {shown(features)}")
        names: list[Any] = list(range(features)) if isinstance(features, int) else list(features)
        if not 0.0 <= on <= 1.0:
            raise BadValue(f"on must be a probability, at least 0 and at most 1, not {shown(on)}")
        if type(rows) is not int or rows < 0 or type(seed) is not int or seed < 0:
            raise BadValue(f"rows and seed must be whole numbers that are not negative, not {rows!r} and {seed!r}")
        rng, at = np.random.default_rng(seed), self.find_columns(names)
        X = rng.random((rows, len(names))) < on
        X[:, at] = self.enforce(X[:, at], rng.random(rows) < 0.5, rng)
        y = np.where(self.evaluate(X[:, at].astype(np.float64)), 1, -1)
        if isinstance(features, int):
            return X.astype(np.float64), y
        return [{names[j]: 1.0 for j in np.flatnonzero(row)} for row in X], y

    def enforce(
        self, values: NDArray[np.bool_], wanted: NDArray[np.bool_], rng: np.random.Generator
    ) -> NDArray[np.bool_]:
        """Rows changed, feature by feature in random order, until the function has the wanted value, if it can."""
        weights = np.array(list(self.weights.values()), np.float64)
        order = rng.permuted(np.tile(np.arange(weights.size), (len(values), 1)), axis=1)
        target = np.where(wanted[:, None], weights > 0.0, weights < 0.0)
        gains = np.take_along_axis((target.astype(np.float64) - values) * weights, order, axis=1)
        start = (values @ weights)[:, None]
        sums = np.concatenate((start, start + np.cumsum(gains, axis=1)), axis=1)
        needed = np.argmax((sums >= self.theta) == wanted[:, None], axis=1)
        rank = np.argsort(order, axis=1)
        return np.where(rank < needed[:, None], target, values)

    def __str__(self) -> str:
        sum_of = "".join(term(feature, weight) for feature, weight in self.weights.items() if weight) or "0"
        sum_of = "-" + sum_of[3:] if sum_of.startswith(" - ") else sum_of.removeprefix(" + ")
        return f"{sum_of} >= {self.theta:g}"


def term(feature: Feature, weight: float) -> str:
    name = feature if isinstance(feature, str) else f"[{feature}]"
    size = "" if abs(weight) == 1 else f"{abs(weight):g} "
    return f" {'-' if weight < 0 else '+'} {size}{name}"


def is_finite(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def check_feature(feature: Any) -> None:
    if isinstance(feature, bool) or not isinstance(feature, (str, int)) or (isinstance(feature, int) and feature < 0):
        raise BadValue(f"a feature is a name or the number of a column, not {shown(feature)}")


def literal(given: Any) -> Threshold:
    """A feature, or its negation written as "!x" or `negation(x)`, as a threshold function of that feature alone."""
    if isinstance(given, Threshold):
        if [(weight, given.theta) for weight in given.weights.values()] in ([(1, 1)], [(-1, 0)]):
            return given
        raise BadValue(f"a literal is a feature or its negation, not the function {given}")
    check_feature(given)
    if isinstance(given, str) and given.startswith("!"):
        return Threshold({given[1:]: -1}, 0)
    return Threshold({given: 1}, 1)


def at_least(m: int, *literals: Any) -> Threshold:
    """True if at least m of the literals are true; a negated literal contributes -x and lowers theta by 1."""
    if type(m) is not int or m < 0:
        raise BadValue(f"at_least: m must be a whole number that is not negative, not {shown(m)}")
    weights: dict[Feature, float] = {}
    theta: float = m
    for one in map(literal, literals):
        for feature, weight in one.weights.items():
            weights[feature] = weights.get(feature, 0) + weight
        theta += one.theta - 1
    return Threshold(weights, theta)


def all_of(*literals: Any) -> Threshold:
    """The conjunction: true if all literals are, as in all_of("x1", "x2", "!x3")."""
    return at_least(len(literals), *literals)


def any_of(*literals: Any) -> Threshold:
    """The disjunction: true if at least one literal is."""
    return at_least(1, *literals)


def none_of(*literals: Any) -> Threshold:
    """True if no literal is."""
    return all_of(*map(negation, literals))


def negation(what: Any) -> Threshold:
    """The negation of a literal or of a function; negation(3) is that of the feature in column 3."""
    return ~(what if isinstance(what, Threshold) else literal(what))
