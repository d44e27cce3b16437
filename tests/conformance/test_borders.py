"""On the border itself: a margin of exactly one or zero, found to the last bit."""

import numpy as np
import pytest

import noregret as nr

STAY = ["arow", "duol", "narow", "nherd", "norma", "pa", "pa1", "pa2", "perceptron_margin", "romma_aggressive"]
MOVE = ["ofs"]
TOLD = {
    "norma": {"lam": 0.0},
    "ofs": {"lam": 0.0},
    "perceptron_margin": {"b": 1.0},
}  # ofs otherwise shrinks on every round
FIRST = (1.0, 0.5, 0.75, 0.3, 1.7, 0.9, 2.3)


def row_of_margin_one(learner: nr.RuleLearner) -> float | None:
    """A row of one feature whose score is exactly one, if bisection comes upon it."""
    low, high = 0.0, 1.0
    while learner.scores(np.array([[high]]))[0] < 1.0 and high < 1e6:
        high *= 2.0
    for _ in range(1100):
        middle = 0.5 * (low + high)
        score = float(learner.scores(np.array([[middle]]))[0])
        if score == 1.0:
            return middle
        if middle in (low, high):
            break
        low, high = (middle, high) if score < 1.0 else (low, middle)
    return high if learner.scores(np.array([[high]]))[0] == 1.0 else None


@pytest.mark.parametrize("name", [*STAY, *MOVE])
def test_a_margin_of_exactly_one(name: str) -> None:
    tried = 0
    for x in FIRST:
        learner = nr.make(name, native=False, **TOLD.get(name, {})).learn(np.array([[x]]), [1])
        row = row_of_margin_one(learner)
        if row is not None:
            tried += 1
            assert learner.play(np.array([[row]]), [1]).updated.tolist() == [name in MOVE]
    assert tried > 0


@pytest.mark.parametrize("name", ["perceptron_margin"])
def test_without_a_margin_to_ask_for_a_score_of_zero_still_moves(name: str) -> None:
    assert nr.make(name, b=0.0, native=False).play(np.array([[1.0]]), [1]).updated.tolist() == [True]


@pytest.mark.parametrize("name", ["alma"])
def test_with_all_of_the_margin_to_be_missed_a_score_of_zero_still_moves(name: str) -> None:
    assert nr.make(name, alpha=1.0, native=False).play(np.array([[1.0]]), [1]).updated.tolist() == [True]
