"""The size of the rows: the geometric mean, so far, of their squared norms.

It is the unit of parameters that fit rows of any scale: where a card says so, a parameter of 0 stands for a value in
this unit. A geometric mean is that of a typical row: a few long rows hardly change it, unlike a mean or a maximum, and
neither do the first rows for long. Row t changes it by at most |x|^2 / t, so that rates over it grow and fall little
by little, as proofs need. Any other value of a parameter is used as it is.
"""

import math
from typing import Any

ROW_COUNTERS = {"rows": 0.0, "row_logs": 0.0, "row_squares": 0.0, "row_size": 0.0}
ROW_SUMS = ("rows", "row_logs", "row_squares")  # what a merged learner has of both
LEAST = 1e-300  # of a squared norm that is divided by


def count_row(s: Any, square: float) -> float:
    """Count a row by its squared norm; the size of the rows, this one included. Rows of zeros do not count."""
    if goes_on_by_largest_mean(s):
        s.n.rows += 1.0
        s.n.row_squares += square
        s.n.row_size = max(s.n.row_size, s.n.row_squares / s.n.rows)
    elif square > 0.0:
        s.n.rows += 1.0
        s.n.row_logs += math.log(square)
        s.n.row_size = math.exp(s.n.row_logs / s.n.rows)
    return row_size(s)


def row_size(s: Any) -> float:
    """The size of the rows counted so far."""
    return float(max(s.n.row_size, LEAST))


def follows_rows(p: Any) -> bool:
    """Whether a parameter that follows the rows where it is 0 is 0."""
    return any(p[where] == 0.0 for where, _ in type(p).size_places)


def with_size(p: Any, size: float) -> Any:
    """The parameters with those that are 0 and follow the rows as their shares of 1 / size."""
    shares = {p._fields[where]: share / size for where, share in type(p).size_places if p[where] == 0.0}
    return p._replace(**shares)


def goes_on_by_largest_mean(s: Any) -> bool:
    """Whether it is a model of an earlier version, in which the size was the largest mean of all |x|^2 so far."""
    return bool(s.n.row_squares > 0.0)


def unit_of_weights(s: Any) -> float:
    """1 / sqrt(S), the unit of weights where their step sizes follow the rows; 1 before any row has a value.

    Models of earlier versions go on with weights measured in ones.
    """
    if goes_on_by_largest_mean(s) or s.n.row_size <= 0.0:
        return 1.0
    return 1.0 / math.sqrt(row_size(s))


def pool_sizes(n: Any) -> None:
    """Give a merged learner the size of the rows of both, whose sums it has."""
    if n.rows > 0.0 and n.row_squares == 0.0:
        n.row_size = math.exp(n.row_logs / n.rows)
