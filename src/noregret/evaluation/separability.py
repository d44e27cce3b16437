"""Is there a vector u with u.z > 0 for every signed example z: the largest margin, or a proof that there is none.

Nothing is taken from a solver on trust. A separator is shown by its margins, with a bound on their rounding errors;
that there is none, by positive weights with which the signed examples sum to zero (the alternative of Gordan and
Farkas).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, diags

from noregret.evaluation.enclosure import encloses_zero
from noregret.evaluation.exact_arithmetic import (
    combine_exactly,
    exact_dot,
    find_zero_combination,
    norm_above,
)
from noregret.evaluation.min_norm_point import find_nearest_point

Floats = NDArray[np.float64]
ROUNDING, UNDERFLOW = 2.0**-53, 1e-320  # errors of one operation: relative, and of results next to 0
ROUGH = 1e-3  # a gap that is small enough for a comparator among others
DECIDING = 1e10  # operations for finding out whether something separates, before linear programs are asked
NOTHING = 1e-10  # margins of rows of length 1 below cannot be told from none by floats alone
PATIENCE = 60.0  # seconds for a linear program
MOST_CELLS = 500_000  # of a matrix that a dense solver, or exact arithmetic for a fiftieth of it, is used for
LEAST_WEIGHT = 1e-9  # of an example in a combination that a linear program finds
FEW = 1000  # margins that are computed exactly where rounding leaves their sign open


@dataclass(frozen=True, eq=False)
class Examples:
    """Signed examples z, one row each, sorted by round; with many classes, a round has one for every wrong class."""

    Z: Any  # csr_matrix
    round_of: NDArray[np.int64]
    rounds: int

    @property
    def sizes(self) -> Floats:
        """|z| of every example."""
        return np.asarray(np.sqrt(np.asarray(self.Z.multiply(self.Z).sum(axis=1)).ravel()))

    @property
    def radius(self) -> float:
        """R, the largest |z|."""
        return float(self.sizes.max(initial=0.0))


def sign_examples(X: Any, codes: NDArray[np.int64], signs: Floats | None, classes: int) -> Examples:
    """Signed examples of rows: y x with two classes (their signs given), x in two blocks of classes with many."""
    rows, width = X.shape
    if signs is not None:
        return Examples(csr_matrix(diags(signs[codes]) @ X), np.arange(rows), rows)
    rivals = np.array([[c for c in range(classes) if c != code] for code in codes.tolist()], np.int64)
    each = np.repeat(np.arange(rows), classes - 1)
    X = csr_matrix(X)
    repeated = X[each]
    counts = np.diff(repeated.indptr)
    own = np.repeat(codes[each] * width, counts) + repeated.indices
    other = np.repeat(rivals.ravel() * width, counts) + repeated.indices
    place = np.repeat(np.arange(each.size), counts)
    values = np.concatenate([repeated.data, -repeated.data])
    where = (np.concatenate([place, place]), np.concatenate([own, other]))
    return Examples(csr_matrix((values, where), shape=(each.size, classes * width)), each, rows)


@dataclass(frozen=True, eq=False)
class Separability:
    """What is known about separators of some signed examples, and how it was shown.

    `separable` is None where floats cannot decide it. `weights` is the best separator found, of norm 1, whose margin is
    at least `margin`; no unit vector has a margin above `margin_limit`, by the combination of `rows` with `parts`.
    `exact` says that this combination is exactly zero, or that margins were computed exactly where rounding left them
    open.
    """

    separable: bool | None
    weights: Floats | None
    margin: float
    margin_limit: float
    rows: NDArray[np.int64]
    parts: Sequence[Fraction]
    exact: bool
    scaled_weights: Floats | None = None  # the separator of the largest margin relative to |z|
    enclosed: bool = False  # whether weights next to `parts` are proved to give exactly 0, with bounds on rounding

    @property
    def gap(self) -> float:
        """How far the margin may be from the largest one, as a share of the latter."""
        return 1.0 - self.margin / self.margin_limit if self.margin_limit > 0.0 else 0.0


def balance(Z: Any) -> tuple[Any, Floats]:
    """Rows with every column divided by a power of two near its largest value, and what the columns were multiplied by.

    This changes neither which rows are separable nor any sum of losses, only the weights that show it, and is exact.
    """
    largest = np.asarray(abs(Z).max(axis=0).todense()).ravel()
    factors = np.where(largest > 0.0, np.exp2(-np.clip(np.frexp(largest)[1], -900, 900)), 1.0)
    return csr_matrix(Z @ diags(factors)), factors


def find_separator(examples: Examples) -> Separability:
    """The separator of largest margin, or the combination that shows that there is none."""
    simple = find_contradiction(examples.Z)
    if simple is not None:
        return Separability(False, None, 0.0, 0.0, *simple, True)
    Z, factors = balance(examples.Z)
    sizes = Examples(Z, examples.round_of, examples.rounds).sizes
    unit = csr_matrix(diags(1.0 / sizes) @ Z)
    nearest = find_nearest_point(unit, gap=1.0, work=DECIDING)
    if smallest_margin(examples.Z, nearest.point * factors)[0] > 0.0:
        return widen(examples, nearest.point * factors)
    weights = np.zeros(len(sizes))
    weights[nearest.rows] = nearest.weights
    refuted = refute(examples, weights / sizes, is_nothing(unit, weights))
    if not refuted.exact and len(nearest.rows) and encloses_zero(Z, nearest.rows.tolist()):
        return replace(refuted, separable=False, enclosed=True)
    if not refuted.exact and (vertex := combine_by_program(unit)) is not None:
        again = refute(examples, vertex / sizes, is_nothing(unit, vertex))
        refuted = again if again.exact or refuted.separable is None else refuted
    if refuted.separable is False:
        return refuted
    found = separate_by_program(unit)
    if found is not None and smallest_margin(examples.Z, found * factors)[0] > 0.0:
        return widen(examples, found * factors)
    return refuted


def is_nothing(unit: Any, weights: Floats) -> bool:
    """Whether a convex combination of rows of length 1 is 0 as far as floats can tell."""
    return bool(np.linalg.norm(unit.T @ weights) <= NOTHING * weights.sum())


def find_contradiction(Z: Any) -> tuple[NDArray[np.int64], list[Fraction]] | None:
    """An example that is 0, or two that sum to 0, as equal rows with different labels do; None where there is none."""
    seen: dict[tuple[bytes, bytes], int] = {}
    for row in range(Z.shape[0]):
        start, stop = int(Z.indptr[row]), int(Z.indptr[row + 1])
        used = Z.data[start:stop] != 0.0
        places, values = Z.indices[start:stop][used], Z.data[start:stop][used]
        if not values.size:
            return np.array([row]), [Fraction(1)]
        order = np.argsort(places, kind="stable")
        key = places[order].tobytes()
        other = seen.get((key, (-values[order]).tobytes()))
        if other is not None:
            return np.array([other, row]), [Fraction(1, 2), Fraction(1, 2)]
        seen[key, values[order].tobytes()] = row
    return None


def widen(examples: Examples, direction: Floats) -> Separability:
    """The separator of largest margin of examples that this vector separates."""
    nearest = find_nearest_point(csr_matrix(examples.Z / examples.radius))
    limit = limit_margin(examples.Z, nearest.rows, nearest.weights)
    scaled, equal = separate_unit_rows(examples), equalize_margins(examples.Z[nearest.rows])
    candidates = [unit_vector(one) for one in (direction, scaled, nearest.point, equal) if one is not None]
    margins = [smallest_margin(examples.Z, one) for one in candidates]
    best = max(range(len(candidates)), key=lambda place: margins[place][0])
    margin, exact = margins[best]
    parts = exact_parts(nearest.weights)
    return Separability(True, candidates[best], margin, max(limit, margin), nearest.rows, parts, exact, scaled)


def equalize_margins(Z: Any) -> Floats | None:
    """The shortest weights with z.w = 1 for some rows: of support vectors, the separator of largest margin.

    It has more digits than the combination of the rows where the margin is far smaller than the rows.
    """
    if Z.shape[0] * Z.shape[1] > MOST_CELLS:
        return None
    w = np.linalg.lstsq(Z.toarray(), np.ones(Z.shape[0]), rcond=None)[0]
    return np.asarray(w) if np.isfinite(w).all() else None


def separate_unit_rows(examples: Examples) -> Floats:
    """The weights of largest margin relative to |z|."""
    point = find_nearest_point(csr_matrix(diags(1.0 / examples.sizes) @ examples.Z), gap=ROUGH).point
    return unit_vector(point)


def unit_vector(w: Floats) -> Floats:
    """A vector of length 1 in the same direction; 0 stays 0. Squares neither overflow nor underflow on the way."""
    largest = float(np.abs(w).max(initial=0.0))
    return np.asarray(w / largest / np.linalg.norm(w / largest)) if largest > 0.0 else w


def refute(examples: Examples, weights: Floats, near: bool) -> Separability:
    """The proof that nothing separates the examples, from weights whose combination is 0, or so near as floats get."""
    kept = np.flatnonzero(weights > 0.0)
    exactly = find_zero_combination(examples.Z, kept.tolist())
    if exactly is not None:
        return Separability(False, None, 0.0, 0.0, kept, exactly, True)
    positive = weights[weights > 0.0]
    limit = limit_margin(examples.Z, kept, positive)
    return Separability(False if near else None, None, 0.0, limit, kept, exact_parts(positive), limit == 0.0)


def limit_margin(Z: Any, rows: NDArray[np.int64], weights: Floats) -> float:
    """An upper bound on the length of a convex combination of rows, and so on every margin: exact where it is cheap."""
    chosen = Z[rows]
    if chosen.nnz <= MOST_CELLS // 50:
        return norm_above(combine_exactly(Z, rows.tolist(), exact_parts(weights)))
    point, sizes = chosen.T @ weights, abs(chosen).T @ weights
    rounding = (len(rows) + 2) * ROUNDING * float(np.linalg.norm(sizes))
    return (float(np.linalg.norm(point)) * (1.0 + 1e-12) + rounding) / math.fsum(weights) * (1.0 + 1e-12)


def exact_parts(weights: Floats) -> list[Fraction]:
    """Weights as rational numbers that sum to exactly 1."""
    parts = [Fraction(float(weight)) for weight in weights]
    total = sum(parts, Fraction(0))
    return [part / total for part in parts]


def smallest_margin(Z: Any, w: Floats) -> tuple[float, bool]:
    """A lower bound on min z.w / |w| that rounding cannot break, and whether exact arithmetic was needed for it."""
    if not np.any(w):
        return 0.0, False
    w = np.ldexp(w, -int(np.frexp(np.abs(w).max())[1]))  # a power of two changes no digit
    norm = float(np.linalg.norm(w)) * (1.0 + 1e-14)
    counts = np.diff(Z.indptr)
    products, error = Z @ w, (counts + 2) * (ROUNDING * (abs(Z) @ np.abs(w)) + UNDERFLOW)
    low = products - error
    unsure = np.flatnonzero(low <= 0.0)
    if 0 < unsure.size <= FEW and not (products + error < 0.0).any():  # else w separates nothing, for sure
        for row in unsure[np.argsort(products[unsure])].tolist():
            value = exact_dot(Z, row, w)
            low[row] = float(value) * (1.0 - 1e-15) if value > 0 else float(value)
            if value <= 0:
                break
    return float(low.min(initial=np.inf)) / norm, bool(unsure.size)


def combine_by_program(Z: Any) -> Floats | None:
    """Weights of a vertex of all convex combinations that are 0, by linear programming; None where it finds none."""
    from scipy.optimize import linprog
    from scipy.sparse import vstack

    rows, width = Z.shape
    matrix: Any = vstack([Z.T, csr_matrix(np.ones((1, rows)))])
    right = np.concatenate([np.zeros(width), [1.0]])
    found = linprog(np.zeros(rows), A_eq=matrix, b_eq=right, method="highs-ds", options={"time_limit": PATIENCE})
    return None if found.x is None else np.where(found.x > LEAST_WEIGHT, found.x, 0.0)


def separate_by_program(Z: Any) -> Floats | None:
    """A separator by linear programming: max s with z.w >= s for all z and -1 <= w <= 1; None where it finds none."""
    from scipy.optimize import linprog
    from scipy.sparse import hstack

    rows, width = Z.shape
    cost = np.zeros(width + 1)
    cost[-1] = -1.0
    limits: Any = [(-1.0, 1.0)] * width + [(None, None)]
    matrix: Any = hstack([-Z, csr_matrix(np.ones((rows, 1)))])
    found = linprog(cost, A_ub=matrix, b_ub=np.zeros(rows), bounds=limits, method="highs",
                    options={"time_limit": PATIENCE})  # fmt: skip
    if found.x is None or not np.any(found.x[:-1]):
        return None
    return unit_vector(np.asarray(found.x[:-1]))
