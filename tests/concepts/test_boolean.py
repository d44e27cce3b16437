"""A linear threshold says what the formula says, on every row of its truth table."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import noregret as nr
from tests.support import refusal

NAMES = ["x1", "x2", "x3", "x4", "x5"]
TABLE = np.array(list(itertools.product([0, 1], repeat=5)))
Formula = Callable[..., bool]
FORMULAS: dict[str, tuple[nr.Threshold, Formula]] = {
    "and": (nr.all_of("x1", "x2", "x3"), lambda a, b, c, d, e: a and b and c),
    "and with a negation": (nr.all_of("x1", "x2", "!x3"), lambda a, b, c, d, e: a and b and not c),
    "or": (nr.any_of("x1", "x2", "x3"), lambda a, b, c, d, e: a or b or c),
    "or of negations": (nr.any_of("!x4", "x2", "!x5"), lambda a, b, c, d, e: not d or b or not e),
    "nor": (nr.none_of("x1", "x5"), lambda a, b, c, d, e: not (a or e)),
    "nor with a negation": (nr.none_of("x1", "!x5"), lambda a, b, c, d, e: not (a or not e)),
    "majority": (nr.at_least(3, *NAMES), lambda *x: sum(x) >= 3),
    "two of four, mixed": (nr.at_least(2, "x1", "!x2", "x3", "!x4"), lambda a, b, c, d, e: a + c >= b + d),
    "not": (nr.negation("x2"), lambda a, b, c, d, e: not b),
    "not not": (nr.negation("!x2"), lambda a, b, c, d, e: bool(b)),
    "nand": (nr.negation(nr.all_of("x1", "!x2")), lambda a, b, c, d, e: not (a and not b)),
    "minority": (~nr.at_least(3, *NAMES), lambda *x: sum(x) < 3),
    "said twice": (nr.all_of("x1", "x1", "x2"), lambda a, b, c, d, e: a and b),
    "contradiction": (nr.all_of("x1", "!x1"), lambda *x: False),
    "tautology": (nr.any_of("x1", "!x1"), lambda *x: True),
    "all of nothing": (nr.all_of(), lambda *x: True),
    "any of nothing": (nr.any_of(), lambda *x: False),
    "more than there are": (nr.at_least(4, "x1", "x2", "x3"), lambda *x: False),
    "weights": (nr.Threshold({"x1": 3.0, "x3": -7.5, "x5": 9}, 4), lambda a, b, c, d, e: 3 * a - 7.5 * c + 9 * e >= 4),
    "not weights": (~nr.Threshold({"x1": 0.3, "x3": 0.7}, 0.7), lambda a, b, c, d, e: 0.3 * a + 0.7 * c < 0.7),
}  # fmt: skip


@pytest.mark.parametrize("name", FORMULAS)
def test_the_threshold_has_the_truth_table_of_the_formula(name: str) -> None:
    threshold, formula = FORMULAS[name]
    expected = [bool(formula(*map(int, row))) for row in TABLE]
    dicts = [dict(zip(NAMES, map(float, row), strict=True)) for row in TABLE]
    assert threshold(dicts).tolist() == expected
    assert [threshold(row) for row in dicts] == expected
    assert [threshold({name: 1 for name, value in row.items() if value}) for row in dicts] == expected
    assert threshold(TABLE, columns=NAMES).tolist() == expected
    assert threshold(sp.csr_array(TABLE), columns=NAMES).tolist() == expected
    assert [threshold(row, columns=NAMES) for row in TABLE] == expected


@pytest.mark.parametrize("name", FORMULAS)
def test_a_threshold_or_its_negation_holds_and_never_both(name: str) -> None:
    threshold, _ = FORMULAS[name]
    assert (threshold(TABLE, columns=NAMES) != (~threshold)(TABLE, columns=NAMES)).all()


def test_columns_are_features_by_number() -> None:
    threshold = nr.all_of(0, 2, nr.negation(4))
    expected = [bool(a and c and not e) for a, b, c, d, e in TABLE]
    assert threshold(TABLE).tolist() == expected
    assert threshold([dict(enumerate(row)) for row in TABLE.tolist()]).tolist() == expected


def test_the_encodings_are_those_of_the_textbook() -> None:
    assert nr.all_of("x1", "x2", "!x3") == nr.Threshold({"x1": 1, "x2": 1, "x3": -1}, 2)
    assert str(nr.all_of("x1", "x2", "!x3")) == "x1 + x2 - x3 >= 2"
    assert str(nr.none_of("x1", "x2")) == "-x1 - x2 >= 0"
    assert str(nr.at_least(3, *NAMES)) == "x1 + x2 + x3 + x4 + x5 >= 3"
    assert str(nr.Threshold({0: 2.5, 3: -1}, 1)) == "2.5 [0] - [3] >= 1"


# ---- streams to teach with ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "target", [nr.any_of(3, 60, 127), nr.all_of(0, 1, 2, 3, nr.negation(4)), nr.at_least(4, *range(12))]
)
@pytest.mark.parametrize("on", [0.02, 0.5])
def test_drawn_rows_are_labelled_by_the_function_and_about_half_are_true(target: nr.Threshold, on: float) -> None:
    X, y = target.draw(400, 128, on=on, seed=1)
    assert X.shape == (400, 128)
    assert set(np.unique(X)) == {0.0, 1.0}
    assert ((y == 1) == target(X)).all()
    assert 150 < (y == 1).sum() < 250
    again, labels = target.draw(400, 128, on=on, seed=1)
    assert (again == X).all()
    assert (labels == y).all()
    assert (target.draw(400, 128, on=on, seed=2)[0] != X).any()
    others = np.setdiff1d(np.arange(128), list(target.weights))
    assert X[:, others].mean() == pytest.approx(on, abs=0.02)


def test_rows_of_names_are_dicts_of_what_is_on() -> None:
    target = nr.any_of("a", "!b")
    X, y = target.draw(50, ["a", "b", "c"], seed=3)
    assert all(set(row) <= {"a", "b", "c"} and set(row.values()) <= {1.0} for row in X)
    assert ((y == 1) == target(X)).all()
    assert set(y) == {-1, 1}


def test_a_function_that_never_holds_is_drawn_false() -> None:
    assert set(nr.all_of(0, nr.negation(0)).draw(30, 2)[1]) == {-1}


@pytest.mark.thinned(3)
@pytest.mark.parametrize("seed", range(3))
def test_winnow_learns_a_drawn_disjunction_within_its_bound(seed: int) -> None:
    target = nr.any_of(5, 77, 200, 255)
    X, y = target.draw(1200, 256, on=0.02, seed=seed)
    learner = nr.make("winnow", alpha=2.0, theta=256.0, native=False)
    learner.learn(X, y)
    assert 0 < learner.mistakes < learner.card.bound(learner.params, features=256, relevant=4)
    fresh, labels = target.draw(500, 256, on=0.02, seed=seed + 100)
    assert (learner.predict(fresh) == labels).mean() > 0.99


def test_the_perceptron_converges_on_a_drawn_conjunction() -> None:
    target = nr.all_of("a", "b", "!c")
    X, y = target.draw(300, ["a", "b", "c", "d", "e"], seed=0)
    learner = nr.make("perceptron", bias=True, native=False)
    assert nr.epochs(learner, X, y).stopped == "no update"
    assert (learner.predict(X) == y).all()


# ---- refusals -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("action", "words"),
    [
        (lambda: nr.all_of("x", 3), "by name or all by number"),
        (lambda: nr.all_of(-1), "a name or the number of a column, not -1"),
        (lambda: nr.all_of(True), "not True"),
        (lambda: nr.all_of(nr.all_of("x", "y")), "a literal is a feature or its negation, not the function x + y >= 2"),
        (lambda: nr.at_least(-1, "x"), "m must be a whole number"),
        (lambda: nr.at_least(1.5, "x"), "m must be a whole number"),  # type: ignore[arg-type]
        (lambda: nr.Threshold({"x": float("nan")}, 1), "'x' must be a finite number"),
        (lambda: nr.Threshold({"x": 1}, float("inf")), "'theta' must be a finite number"),
        (lambda: nr.Threshold([1, 2], 1), "weights must map features"),  # type: ignore[arg-type]
        (lambda: nr.all_of("x", "y")([{"x": 1}, {"x": 1, "y": 2}]), "row 1, feature 'y': must be 0 or 1, not 2"),
        (lambda: nr.all_of("x")({"x": "yes"}), "0 or 1"),
        (lambda: nr.all_of("x")(np.eye(2)), "name the columns with columns="),
        (lambda: nr.all_of(5)(np.eye(2)), "no feature 5 among the 2"),
        (lambda: nr.all_of("x")(np.eye(2), columns=["x"]), "1 names for 2 columns"),
        (lambda: nr.all_of("x")("x"), "rows must be a dict"),
        (lambda: nr.all_of(5).draw(10, 3), "no feature 5 among the 3"),
        (lambda: nr.all_of("a").draw(10, "abc"), "a number of columns or a list of names"),
        (lambda: nr.all_of(0).draw(10, 3, on=1.5), "on must be a probability"),
        (lambda: nr.all_of(0).draw(-1, 3), "whole numbers"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(action: Callable[[], Any], words: str) -> None:
    assert words in refusal(action)
