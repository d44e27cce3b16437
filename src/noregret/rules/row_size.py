"""The size of the rows: the largest mean, so far, of their squared norms.

It is the unit of parameters that fit rows of any scale: where a card says so, a parameter of 0 stands for a value in
this unit. A mean is not led astray by a few long rows; the largest of all means never falls, so rates over it never
grow, as proofs need. Any other value of a parameter is used as it is.
"""

from typing import Any

ROW_COUNTERS = {"rows": 0.0, "row_squares": 0.0, "row_size": 0.0}
ROW_SUMS = ("rows", "row_squares")  # what a merged learner has of both
LEAST = 1e-300  # of a squared norm that is divided by


def count_row(s: Any, square: float) -> float:
    """Count a row by its squared norm; the size of the rows, this one included."""
    s.n.rows += 1.0
    s.n.row_squares += square
    s.n.row_size = max(s.n.row_size, s.n.row_squares / s.n.rows)
    return row_size(s)


def row_size(s: Any) -> float:
    """The size of the rows counted so far."""
    return float(max(s.n.row_size, LEAST))
