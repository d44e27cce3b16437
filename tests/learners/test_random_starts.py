"""Random initial weights: for every rule whose weights begin at zero and move by steps or shrink one by one."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from tests.conformance.plays import EVERY, rows_of, same_bits, stream
from tests.learners.reading import weights
from tests.naive.rules import first_weights

ABLE = [card.name for card in EVERY if "random_start" in card.numbers]
UNABLE = [card.name for card in EVERY if "random_start" not in card.numbers]
OF_TWO = [name for name in ABLE if "binary" in nr.learners().rules[name].tasks]


SHRINKING = ["fobos", "fobos_l2_squared", "truncated_gradient", "rounding", "sgd_bottou"]


def test_the_rules_that_begin_at_zero_and_move_by_steps_can_begin_at_random() -> None:
    assert {"pa1", "arow", "ogd", "adagrad", "adaline", "gradient_batch", "mira", "perceptron_pocket"} <= set(ABLE)
    assert set(SHRINKING) <= set(ABLE)
    assert {"winnow", "rda", "pegasos", "fobos_l2", "ofs", "eg", "ftrl", "perceptron_voted", "exp3"} <= set(UNABLE)


@pytest.mark.parametrize("name", ABLE)
def test_the_first_weights_are_normal_numbers_of_the_seed_times_the_deviation(name: str) -> None:
    told: dict[str, Any] = {"random_start": 0.25, "native": False, **({"lam": 1e-12} if name == "sgd_bottou" else {})}
    if name in OF_TWO:
        learner = nr.make(name, classes=[-1, 1], **told)
        np.testing.assert_allclose(weights(learner.learn(np.zeros((1, 3)), [1]), 3), first_weights(1, 3, 0.25)[0])
    else:
        learner = nr.make(name, classes=range(3), **told).learn(np.zeros((1, 3)), [1])
        np.testing.assert_allclose(weights(learner, 3), first_weights(3, 3, 0.25))


@pytest.mark.parametrize("name", UNABLE)
def test_other_rules_refuse_and_say_why(name: str) -> None:
    reason = nr.learners().rules[name].why_no_random_start(nr.learners().rules[name].defaults)
    told = {"classes": [0, 1]} if "bandit" in nr.learners()[name].tasks else {}
    with pytest.raises(nr.BadValue, match=f"{name} cannot begin at random weights: {reason}; leave random_start out"):
        nr.make(name, random_start=0.5, **told)


@pytest.mark.parametrize(
    ("name", "told", "says"),
    [
        ("ogd", {"onto": "ball"}, "its weights are measured or chosen together"),
        ("ogd", {"onto": "l1"}, "its weights are measured or chosen together"),
        ("pegasos", {}, "its first step multiplies all weights by zero"),
        ("pegasos", {"projection": "no"}, "its first step multiplies all weights by zero"),
        ("fobos_l2", {}, "its weights are measured or chosen together, also with those of features that are yet to"),
        ("pa1", {"task": "one-class"}, "a centre begins at the first row"),
        ("winnow", {}, "its weights do not begin at zero"),
        ("rda", {}, "its weights are a formula of other vectors"),
        ("perceptron_voted", {}, "it keeps examples instead of weights"),
    ],
)
def test_what_options_and_tasks_do_not_allow_is_refused_too(name: str, told: dict[str, Any], says: str) -> None:
    with pytest.raises(nr.BadValue, match=f"{name} cannot begin at random weights: {says}"):
        nr.make(name, random_start=0.5, **told)
    if name in ABLE:
        nr.make(name, random_start=0.0, **told)


@pytest.mark.thinned(4)
@pytest.mark.parametrize("name", OF_TWO)
def test_rounds_one_by_one_are_those_of_one_call_while_features_and_classes_appear(name: str) -> None:
    X, y = stream("multiclass", dense=False, seed=5)
    X[:5, 4:] = 0.0
    rows = rows_of(X)
    whole, ones, sevens = (nr.make(name, random_start=0.3, native=False) for _ in range(3))
    whole.learn(rows, y)
    for row, label in zip(rows, y.tolist(), strict=True):
        ones.learn_one(row, label)
    for start in range(0, len(X), 7):
        sevens.learn(rows[start : start + 7], y[start : start + 7])
    assert same_bits(whole.scores(rows), ones.scores(rows))
    assert same_bits(whole.scores(rows), sevens.scores(rows))


@pytest.mark.parametrize("name", ["perceptron", "arow", "gradient_batch", *SHRINKING])
def test_a_label_that_turns_the_signs_leaves_the_start_where_it_was(name: str) -> None:
    X, _ = stream("binary", dense=False, seed=8)
    y = np.array(["b", "b", "a"] + ["a", "b"] * 18 + ["a"])
    rows = rows_of(X)
    whole, ones = (nr.make(name, random_start=0.3, native=False) for _ in range(2))
    whole.learn(rows, [1 if label == "b" else 0 for label in y])
    for row, label in zip(rows, y.tolist(), strict=True):
        ones.learn_one(row, 1 if label == "b" else 0)
    assert same_bits(whole.scores(rows), ones.scores(rows))


@pytest.mark.parametrize("name", ["perceptron_batch", "gradient_batch", "perceptron_pocket"])
def test_the_copy_of_the_weights_that_predicts_begins_where_they_begin(name: str) -> None:
    X, y = stream("binary", dense=True, seed=6)
    said = nr.make(name, random_start=2.0, native=False).play(X[:3], y[:3]).scores
    np.testing.assert_allclose(said[0], first_weights(1, 6, 2.0)[0] @ X[0])


def test_a_theorem_that_begins_at_zero_does_not_hold_from_elsewhere() -> None:
    for name in ("pa1", "arow", "ogd"):
        card = nr.learners().rules[name]
        options = {"covariance": "full", "schedule": "constant", **({"eta0": 0.5} if name == "ogd" else {})}
        assert card.guarantee_for(options) is not None
        assert card.why_no_guarantee({**options, "random_start": 0.1}) is not None
        assert "it is proved for random_start = 0" in str(card.why_no_guarantee({**options, "random_start": 0.1}))
    assert nr.learners()["cw"].guarantee_for({"covariance": "full", "random_start": 0.1}) is not None  # of one update


def test_sums_that_begin_at_random_are_not_merged() -> None:
    X, y = stream("binary", dense=True, seed=7)
    a, b = (nr.make("arow", random_start=0.1, native=False).learn(X, y) for _ in range(2))
    with pytest.raises(nr.BadValue, match="arow cannot be merged with random_start"):
        a.merge(b)
    one, other = (nr.make("pa1", random_start=0.1, native=False).learn(X, y) for _ in range(2))
    assert one.merge(other).rounds == 80


# ---- starts that shrink --------------------------------------------------------------------------------------------


def soft(w: Any, a: float, theta: float = math.inf) -> Any:
    return np.where(np.abs(w) <= theta, np.sign(w) * np.maximum(np.abs(w) - a, 0.0), w)


@pytest.mark.parametrize("algebra", ["sparse", "dense"])
@pytest.mark.parametrize("name", SHRINKING)
def test_a_feature_that_comes_late_has_shrunk_as_if_it_had_been_there(name: str, algebra: str) -> None:
    X, y = stream("binary", dense=True, seed=9)
    X[:20, 3:] = 0.0
    told: dict[str, Any] = {"eta0": 0.2, "lam": 0.3, "lam2": 0.1, "gravity": 0.2, "theta": 0.6, "K": 3.0}
    told = {key: value for key, value in told.items() if key in nr.learners().rules[name].numbers}
    constant = {} if name == "sgd_bottou" else {"schedule": "constant"}
    told |= {
        "classes": [-1, 1],
        "random_start": 0.7,
        "native": False,
        "algebra": algebra,
        "columns": "grow",
        **constant,
    }
    learner, w = nr.make(name, **told), first_weights(1, 6, 0.7)[0]
    for t in range(1, len(X) + 1):
        x, label = X[t - 1], float(y[t - 1])
        score = float(w @ x)
        row = x[:3] if t <= 20 else x  # the others have no column yet
        said = learner.play(row[None, :], [label])
        np.testing.assert_allclose(said.scores[0], score, rtol=1e-9)
        g = -label * x if label * score < 1.0 else 0.0 * x
        eta = 0.2 / (1.0 + 0.3 * 0.2 * t) if name == "sgd_bottou" else 0.2
        if name == "sgd_bottou":
            w = (1.0 - eta * 0.3) * w - eta * g
        elif name == "fobos":
            w = soft(w - eta * g, eta * 0.3) / (1.0 + eta * 0.1)
        elif name == "fobos_l2_squared":
            w = (w - eta * g) / (1.0 + eta * 0.3)
        else:
            w = w - eta * g
            if t % 3 == 0:
                w = soft(w, eta * 3 * 0.2, 0.6) if name == "truncated_gradient" else np.where(np.abs(w) <= 0.6, 0.0, w)
    np.testing.assert_allclose(weights(learner, 6), w, rtol=1e-9, atol=1e-12)


def test_of_a_start_that_was_multiplied_into_the_cells_nothing_is_left(tmp_path: Path) -> None:
    told: dict[str, Any] = {"eta0": 1.0, "lam": 9.0, "schedule": "constant", "random_start": 1.0, "native": False}
    learner = nr.make("fobos_l2_squared", classes=[-1, 1], algebra="sparse", **told)
    learner.learn(np.tile([[1.0, 0.5]], (150, 1)), [1, -1] * 75)
    learner.save(tmp_path / "model.nr")
    for one in (learner, learner.copy(), nr.load(tmp_path / "model.nr")):
        assert one.scores(np.eye(40)[30:]).tolist() == [0.0] * 10
    young = nr.make("fobos_l2_squared", classes=[-1, 1], algebra="sparse", **told).learn([[1.0, 0.5]], [1])
    np.testing.assert_allclose(young.scores(np.eye(40)[30:]), 0.1 * first_weights(1, 40, 1.0)[0][30:])


def test_a_third_class_does_not_bring_back_a_start_of_which_nothing_is_left() -> None:
    told: dict[str, Any] = {"eta0": 1.0, "lam": 9.0, "schedule": "constant", "random_start": 1.0, "native": False}
    learner = nr.make("fobos_l2_squared", algebra="sparse", **told)
    learner.learn(np.tile([[1.0, 0.5]], (150, 1)), ["b", "a"] * 75)
    before = learner.scores(np.eye(2))
    after = learner.learn([[0.0, 0.0]], ["c"]).scores(np.eye(40))
    assert not after[2:].any()
    np.testing.assert_allclose(after[:2, 1] - after[:2, 0], before / 10.0)


def test_a_saved_start_shrinks_on(tmp_path: Path) -> None:
    X, y = stream("binary", dense=False, seed=4)
    X[:20, 3:] = 0.0
    for name in SHRINKING:
        learner = nr.make(name, random_start=0.5, native=False, algebra="sparse").learn(rows_of(X[:20]), y[:20])
        learner.save(tmp_path / "model.nr")
        again = nr.load(tmp_path / "model.nr")
        learner.learn(rows_of(X[20:]), y[20:])
        assert same_bits(again.learn(rows_of(X[20:]), y[20:]).scores(rows_of(X)), learner.scores(rows_of(X)))


def test_starts_that_shrink_apart_are_not_merged() -> None:
    X, y = stream("binary", dense=True, seed=7)
    one, other = (nr.make("fobos", random_start=0.1, native=False).learn(X, y) for _ in range(2))
    with pytest.raises(nr.BadValue, match="fobos cannot be merged with random_start: the starts of the two have"):
        one.merge(other)


def test_the_reference_has_all_features_and_classes_from_the_start_or_refuses_more() -> None:
    X, y = stream("binary", dense=True, seed=7)
    for name in SHRINKING:
        told: dict[str, Any] = {"random_start": 0.3, "classes": [-1, 1], "native": False, "columns": "grow"}
        sparse, eager = (nr.make(name, algebra=algebra, **told) for algebra in ("sparse", "reference"))
        np.testing.assert_allclose(eager.play(X, y).scores, sparse.play(X, y).scores, rtol=1e-9, atol=1e-12)
        before = eager.scores(X).tolist()
        with pytest.raises(nr.BadValue, match="the reference algebra shrinks random initial weights only where it has"):
            eager.learn(np.ones((1, 40)), [1])
        assert (eager.scores(X).tolist(), eager.rounds) == (before, len(X))


@pytest.mark.parametrize(("onto", "low", "high"), [("box", -0.05, 0.05), ("orthant", 0.0, np.inf)])
def test_a_start_is_projected_where_each_weight_has_limits_of_its_own(onto: str, low: float, high: float) -> None:
    X, y = stream("binary", dense=True, seed=9)
    X[:20, 3:] = 0.0
    told: dict[str, Any] = {"radius": 0.05, "eta0": 0.1, "schedule": "constant", "classes": [-1, 1], "native": False}
    told["columns"] = "grow"
    w = np.clip(first_weights(1, 6, 1.0)[0], low, high)
    sparse, dense = (nr.make("ogd", onto=onto, random_start=1.0, algebra=one, **told) for one in ("sparse", "dense"))
    for t in range(len(X)):
        score = float(w @ X[t])
        for one in (sparse, dense):
            row = X[t : t + 1, : 3 if t < 20 else 6]
            np.testing.assert_allclose(one.play(row, y[t : t + 1]).scores[0], score, rtol=1e-9, atol=1e-12)
        w = np.clip(w + 0.1 * (y[t] * score < 1.0) * y[t] * X[t], low, high)
