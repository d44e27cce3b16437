"""Random initial weights: for every rule that begins at zero and whose weights only move by steps."""

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


def test_the_rules_that_begin_at_zero_and_move_by_steps_can_begin_at_random() -> None:
    assert {"pa1", "arow", "ogd", "adagrad", "adaline", "gradient_batch", "mira", "perceptron_pocket"} <= set(ABLE)
    assert {"winnow", "rda", "pegasos", "fobos", "ofs", "eg", "ftrl", "perceptron_voted", "exp3"} <= set(UNABLE)


@pytest.mark.parametrize("name", ABLE)
def test_the_first_weights_are_normal_numbers_of_the_seed_times_the_deviation(name: str) -> None:
    told: dict[str, Any] = {"random_start": 0.25, "native": False}
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
        ("ogd", {"onto": "ball"}, "its weights do not only move by steps"),
        ("ogd", {"onto": "box"}, "its weights do not only move by steps"),
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


@pytest.mark.thinned(2)
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


@pytest.mark.parametrize("name", ["perceptron", "arow", "gradient_batch"])
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
