"""Online feature selection (Wang, Zhao, Hoi and Jin 2014)."""

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import noregret as nr
from tests.learners.reading import after_each_round, steps, weights
from tests.naive import streams
from tests.naive.rules import Array


def largest(w: Array, B: int) -> Array:
    """w with all but its B largest sizes set to zero."""
    left = np.zeros_like(w)
    stay = np.argsort(-np.abs(w), kind="stable")[:B]
    left[stay] = w[stay]
    return left


@pytest.mark.parametrize("lam", [0.01, 3.0])
def test_a_round_shrinks_steps_stays_in_its_ball_and_keeps_the_largest(lam: float) -> None:
    X, y = streams.sparse(80, 12, density=0.4, seed=1)
    learner, cut, capped = nr.make("ofs", B=4, lam=lam, native=False), 0, 0
    for t, before, after, said in steps(learner, X, y, 60):
        w = (1.0 - 0.2 * lam) * before
        if y[t] * said.scores[0] <= 1.0:
            w = w + 0.2 * y[t] * X[t]
            capped += int(np.linalg.norm(w) > 1.0 / np.sqrt(lam))
            w = largest(w * min(1.0, 1.0 / (np.sqrt(lam) * np.linalg.norm(w))), 4)
            cut += int(np.count_nonzero(after) == 4)
        np.testing.assert_allclose(after, w, rtol=0.0, atol=1e-13)
    assert cut > 20
    assert (capped > 0) == (lam == 3.0)


@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize("lam", [0.05, 1.0])
def test_no_more_than_B_weights_and_no_longer_than_allowed(lam: float, native: bool) -> None:
    X, y = streams.sparse(150, 30, density=0.2, seed=2)
    told: dict[str, Any] = {"B": 5, "lam": lam, "eta": 0.7, "native": native}
    path = after_each_round(nr.make("ofs", algebra="sparse", **told), X, y)
    guarantee = nr.learners()["ofs"].guarantee
    assert guarantee is not None
    assert np.count_nonzero(path, axis=1).max() == 5
    lengths = np.linalg.norm(path, axis=1)
    assert lengths.max() <= guarantee.bound(lam) * (1.0 + 1e-12)
    assert lengths.max() > 0.5 * guarantee.bound(lam)


def test_of_equal_weights_the_lower_feature_stays() -> None:
    X = np.array([[1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 2.0, 0.0]])
    for name in ("ofs", "perceptron_truncated"):
        learner = nr.make(name, B=2, native=False).learn(X[:1], [1.0])
        assert np.flatnonzero(weights(learner, 4)).tolist() == [0, 1]
        learner.learn(X[1:], [1.0])
        assert np.flatnonzero(weights(learner, 4)).tolist() == [0, 2]


def test_the_truncated_perceptron_adds_and_cuts() -> None:
    X, y = streams.sparse(80, 12, density=0.4, seed=3)
    learner, moved = nr.make("perceptron_truncated", B=3, native=False), 0
    for t, before, after, said in steps(learner, X, y, 60):
        wrong = y[t] * said.scores[0] <= 0.0 and X[t].any()
        expected = largest(before + y[t] * X[t], 3) if wrong else before
        np.testing.assert_allclose(after, expected, rtol=0.0, atol=1e-13)
        moved += int(wrong)
    assert moved > 20


@pytest.mark.parametrize("seed", range(3))
def test_with_few_features_it_is_the_perceptron_and_keeps_its_bound(seed: int) -> None:
    X, y, _ = streams.separable(300, 5, 0.1, seed)
    told = nr.make("perceptron_truncated", B=5, native=False).play(X, y)
    assert told.scores.tolist() == nr.make("perceptron", native=False).play(X, y).scores.tolist()
    guarantee = nr.learners()["perceptron_truncated"].guarantee
    assert guarantee is not None
    longest = float(np.linalg.norm(X, axis=1).max())
    assert 0 < told.updated.sum() <= guarantee.bound(longest, 0.1)


def test_it_finds_the_features_that_matter() -> None:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(2000, 100)) * (rng.random((2000, 100)) < 0.3)
    y = np.where(X[:, :5] @ np.array([2.0, -2.0, 2.0, -2.0, 2.0]) >= 0.0, 1, -1)
    learner = nr.make("ofs", B=5, algebra="sparse").learn(csr_array(X), y)
    assert np.flatnonzero(weights(learner, 100)).tolist() == [0, 1, 2, 3, 4]
    assert learner.nonzeros == 5


def test_room_for_more_than_there_is_and_no_shrinking() -> None:
    X, y = streams.sparse(60, 8, density=0.4, seed=5)
    learner = nr.make("ofs", B=1e6, lam=0.0, eta=0.1, native=False)
    said = learner.play(X, y)
    w = np.zeros(8)
    for t in range(60):
        assert said.scores[t] == pytest.approx(w @ X[t], abs=1e-13)
        w = w + 0.1 * y[t] * X[t] * (y[t] * said.scores[t] <= 1.0)
    assert said.updated.tolist() == [bool(X[t].any() and y[t] * said.scores[t] <= 1.0) for t in range(60)]


def test_refuses_to_shrink_by_more_than_everything() -> None:
    with pytest.raises(nr.BadValue, match="ofs: lam \\* eta must be below 1, not 2"):
        nr.make("ofs", lam=4.0, eta=0.5)
