"""What random streams have found, each as plain as it can be."""

from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.learner.model_file import pack
from tests.conformance.plays import near, state

BOTH = pytest.mark.parametrize("algebra", ["sparse", "reference"])


@BOTH
@pytest.mark.parametrize("label", [-1, 1])
def test_one_feature_has_the_whole_of_eg_however_far_it_went(label: int, algebra: str) -> None:
    learner = nr.make("eg", task="binary", loss="hinge", eta=0.1, algebra=algebra, native=False).learn(
        np.array([[-label * 1e9], [-label * 1e9]]), [label] * 2
    )
    assert learner.scores(np.array([[1.0]])).tolist() == [1.0]


@BOTH
@pytest.mark.parametrize(("name", "left"), [("eg", 0.5), ("eg_signed", 0.0)])
def test_exponents_that_return_to_zero_share_the_whole_again(name: str, left: float, algebra: str) -> None:
    learner = nr.make(name, task="regression", scale_target=False, algebra=algebra, native=False)
    learner.learn(np.array([[1e9, -1e9], [1e9, -1e9]]), [-1.0, -1.0])  # there and back
    assert learner.scores(np.eye(2)).tolist() == [left, left]


@BOTH
def test_small_steps_of_signed_eg_keep_their_digits(algebra: str) -> None:
    X = np.array([[1e-9, 3e-9]])
    learner = nr.make("eg_signed", eta=0.1, U=1.0, features=2, algebra=algebra, native=False).learn(X, [1])
    near(learner.scores(np.eye(2)), 0.1 * X[0] / 2.0)  # sinh(eta x) / (2 cosh), to first order


@BOTH
@pytest.mark.parametrize("onto", ["l1", "simplex"])
@pytest.mark.parametrize("far", [1e3, 1e9, 1e20, 1e30])
def test_a_projection_from_far_away_lands_on_the_set(onto: str, far: float, algebra: str) -> None:
    X = far * np.array([[1.0, 1.0, -2.0], [0.5, 0.25, 1.0]])
    learner = nr.make("ogd", eta0=2.0, onto=onto, radius=0.7, algebra=algebra, native=False).learn(X[:1], [1])
    for _ in range(2):
        w = learner.scores(np.eye(3))
        assert np.abs(w).sum() == pytest.approx(0.7, rel=1e-12)
        learner.learn(X[1:], [-1])


@BOTH
@pytest.mark.parametrize("name", ["arow", "nherd", "sop", "cw", "scw1"])
@pytest.mark.parametrize("size", [1e8, 1e9, 1e15])
def test_no_variance_is_rounded_to_zero(name: str, size: float, algebra: str) -> None:
    learner = nr.make(name, covariance="drop", algebra=algebra, native=False)
    learner.learn(np.array([[size, 0.0], [size, 1.0], [-size, 2.0]]), [1, -1, 1])
    diagonal = state(learner)["sigma"]
    assert ((np.einsum("cii->ci", diagonal) if diagonal.ndim == 3 else diagonal) > 0.0).all()


def test_what_is_left_of_one_variance_is_what_the_precision_says() -> None:
    dropped, diagonal = (
        nr.make("arow", covariance=kind, native=False).learn(np.array([[1e9]]), [1]) for kind in ("drop", "diagonal")
    )
    near(state(dropped)["sigma"], state(diagonal)["sigma"])


@BOTH
def test_ftrl_with_nothing_to_divide_by_stays_at_zero(algebra: str) -> None:
    learner = nr.make("ftrl", beta=0.0, l1=0.0, l2=0.0, algebra=algebra, native=False)
    learner.learn(np.array([[1e-200], [1e-200]]), [1, -1])  # the squares of these gradients are zero
    assert learner.scores(np.array([[1.0]])).tolist() == [0.0]


@BOTH
def test_a_length_is_right_after_almost_all_of_it_is_gone(algebra: str) -> None:
    told = {"eta0": 1.0, "lam": 1e-4, "schedule": "constant", "loss": "perceptron"}
    learner = nr.make("fobos_l2", algebra=algebra, native=False, **told)
    learner.learn(np.array([[1e9, 0.0], [1e9, 1e-3]]), [1, -1])
    rest = np.array([-1e-4, -1e-3])  # the penalty of the first round, and the second feature of the second
    near(learner.scores(np.eye(2)), rest * (1.0 - 1e-4 / np.linalg.norm(rest)), tolerance=1e-2)


@BOTH
def test_the_link_of_a_p_norm_is_right_after_almost_all_of_the_sum_is_gone(algebra: str) -> None:
    learner = nr.make("p_norm", p=3.5, algebra=algebra, native=False)
    learner.learn(np.array([[1e3, 1.0], [1e3, 1.0], [1.0, 0.0]]), [1, -1, 1])
    near(learner.scores(np.eye(2)), [1.0, 0.0])


@pytest.mark.parametrize("name", ["narow", "fobos_group", "eg", "ogd", "winnow"])
def test_the_reference_plays_rounds_without_features(name: str) -> None:
    told: dict[str, Any] = {"onto": "simplex"} if name == "ogd" else {}
    learner = nr.make(name, task="binary", algebra="reference", native=False, **told)
    empty: list[dict[str, float]] = [{}, {}]
    assert np.isfinite(learner.play(empty, [1, -1]).scores).all()
    assert learner.learn([{"a": 1.0}], [1]).rounds == 3


def test_a_row_with_an_infinite_score_is_refused_without_a_warning() -> None:
    learner = nr.make("perceptron", native=False).learn(np.array([[1e200, 1.0]]), [1])
    with pytest.raises(nr.BadValue, match="the score is not finite"):
        learner.explain_one({0: 1e200, 1: 2.0})


def test_lengths_in_the_reference_do_not_depend_on_room_for_more_features() -> None:
    rng = np.random.default_rng(5)
    numbers, values = rng.integers(30, size=(40, 6)).tolist(), rng.normal(size=(40, 6)).tolist()
    rows = [dict(zip(*row, strict=True)) for row in zip(numbers, values, strict=True)]
    y = rng.choice([-1, 1], size=40).tolist()
    whole = nr.make("alma", p=2.0, algebra="reference", native=False).learn(rows, y)
    parts = nr.make("alma", p=2.0, algebra="reference", native=False)
    for row, label in zip(rows, y, strict=True):
        parts.learn_one(row, label)
    assert pack(parts) == pack(whole)
