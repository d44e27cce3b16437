"""The learning curve is what fresh learners of nested prefixes would show."""

from typing import Any

import numpy as np
import pytest

import noregret as nr

rng = np.random.default_rng(2)
X = rng.normal(size=(200, 4))
Y = np.where(X @ rng.normal(size=4) + 0.5 * rng.normal(size=200) > 0.0, "yes", "no")
TRAIN, TEST = (X[:150], Y[:150]), (X[150:], Y[150:])
PLAIN: dict[str, Any] = {"native": False}


def errors(rows: int, **options: Any) -> int:
    learner = nr.make("pa1", **PLAIN).learn(X[:rows], Y[:rows])
    return int(np.sum(learner.predict(TEST[0]) != TEST[1]))


def test_points_are_those_of_learners_of_their_own() -> None:
    learner = nr.make("pa1", **PLAIN)
    points = nr.learning_curve(TRAIN, learner, TEST)
    assert [point.rows for point in points] == [16, 32, 64, 128, 150]
    assert [point.report["mistakes"] for point in points] == [errors(point.rows) for point in points]
    assert learner.rounds == 150
    chosen = nr.learning_curve(TRAIN, nr.make("pa1", **PLAIN), TEST, sizes=[100, 10, 150])
    assert [(point.rows, point.report["mistakes"]) for point in chosen] == [(n, errors(n)) for n in (10, 100, 150)]


def test_the_test_rows_are_neither_learned_nor_shuffled() -> None:
    a, b = (nr.make("pa1", **PLAIN) for _ in range(2))
    points = nr.learning_curve(TRAIN, a, TEST, shuffle=3)
    nr.play(TRAIN, b, shuffle=3)
    assert a.scores(X).tolist() == b.scores(X).tolist()
    assert points[-1].report["rows"] == 50


@pytest.mark.parametrize("sizes", [[], [0], [1.5], ["a"]])
def test_sizes_that_are_none_are_refused(sizes: Any) -> None:
    with pytest.raises(nr.BadValue, match="sizes must be"):
        nr.learning_curve(TRAIN, nr.make("pa1", **PLAIN), TEST, sizes=sizes)


def test_what_cannot_be_learned_is_refused() -> None:
    with pytest.raises(nr.BadValue, match="needs a learner"):
        nr.learning_curve(TRAIN, "pa1", TEST)  # type: ignore[arg-type]
    with pytest.raises(nr.BadValue, match="no rows"):
        nr.learning_curve((X[:0], Y[:0]), nr.make("pa1", **PLAIN), TEST)
