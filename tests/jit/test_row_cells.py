"""Loops over coordinates run on copies of the cells of a row: with the same bits, and only where they can."""

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import noregret as nr
from noregret.algebra import at, norm, put
from noregret.rules.rule_card import P, S
from noregret.tasks.row_cells import CELLS

pytestmark = pytest.mark.compiles
SIZES = (0, 1, 7, CELLS - 1, CELLS, CELLS + 1, 2 * CELLS, 3 * CELLS + 5)
MINE = "a rule of my own"


def long_rows(classes: int) -> tuple[Any, np.ndarray]:
    """Rows with fewer and with more non-zeros than are copied at a time."""
    rng = np.random.default_rng(3)
    X = np.zeros((8 * len(SIZES), 400))
    for t, row in enumerate(X):
        chosen = rng.choice(400, SIZES[t % len(SIZES)], replace=False)
        row[chosen] = rng.normal(size=chosen.size)
    return csr_array(X), rng.integers(classes, size=len(X))


def leaning_weight(p: P, s: S, j: int) -> float:
    return float(at(s.w, j) + 0.5 * at(s.w, 0))


@nr.coordinate_rule(paper=MINE, state={"w": nr.plain}, weight=leaning_weight)
def leaning(p: P, s: S, j: int, g: float) -> None:
    """Every weight leans on that of the first feature."""
    put(s.w, j, at(s.w, j) - 0.1 * g)


@nr.coordinate_rule(paper=MINE, state={"w": nr.plain})
def shortened(p: P, s: S, j: int, g: float) -> None:
    """Steps are the shorter, the longer all weights are."""
    put(s.w, j, at(s.w, j) - g / (1.0 + norm(s.w, 2.0)))


@pytest.mark.parametrize(("rule", "classes"), [("ftrl", 2), ("ftrl", 3), ("rda", 2), ("adadelta", 2)])
def test_rows_of_any_length_give_the_bits_of_plain_python(rule: str, classes: int) -> None:
    X, y = long_rows(classes)
    compiled, plain = (nr.make(rule, algebra="sparse", native=native) for native in (True, False))
    np.testing.assert_array_equal(compiled.play(X, y).scores, plain.play(X, y).scores)
    np.testing.assert_array_equal(compiled.scores(X), plain.scores(X))


def test_dense_rows_of_any_length_give_the_numbers_of_plain_python() -> None:
    X, y = long_rows(2)
    compiled, plain = (nr.make("ftrl", algebra="dense", native=native) for native in (True, False))
    for learner in (compiled, plain):
        learner.learn(X.toarray(), y)
    np.testing.assert_allclose(compiled.scores(X.toarray()), plain.scores(X.toarray()), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("rule", [leaning, shortened])
def test_a_rule_that_reads_cells_of_other_features_uses_them_where_they_are(rule: Any) -> None:
    X, y = long_rows(2)
    compiled, plain = (nr.make(rule, algebra="sparse", native=native).learn(X, y) for native in (True, False))
    np.testing.assert_array_equal(compiled.scores(X), plain.scores(X))
    assert compiled.scores(X).any()
