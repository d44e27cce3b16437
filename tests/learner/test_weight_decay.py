"""Weight decay: w shrinks by the same share in every round, whatever the row, and the step of the rule is added."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from tests.conformance.protocol import CHECKS, Case, check_save_and_go_on
from tests.support import by_name, small_stream

X, Y = small_stream(rows=40)
ROWS, LABELS = [by_name(row) for row in X], Y.tolist()
RNG = np.random.default_rng(0)
FEW = RNG.normal(size=(150, 3))
SIGNS = np.where(FEW[:, 0] + 0.5 * FEW[:, 1] + 0.3 * RNG.normal(size=150) > 0.0, 1, -1)
WHERE = [
    card.name for card in nr.learners().rules.values() if card.built_in and card.why_no_decay(card.defaults) is None
]


LIMIT = {"pa1": {"C": 1.0}}


def pa1(x: np.ndarray, margin: float) -> float:
    return min(1.0, max(0.0, 1.0 - margin) / float(x @ x))


def perceptron(x: np.ndarray, margin: float) -> float:
    return 1.0 if margin <= 0.0 else 0.0


STEPS: dict[str, Callable[[np.ndarray, float], float]] = {"pa1": pa1, "perceptron": perceptron}


def decay_eagerly(name: str, decay: float, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The weights after every round: score, shrink everything, step."""
    w, found = np.zeros(X.shape[1]), []
    for x, sign in zip(X, y, strict=True):
        margin = sign * float(w @ x)
        w = (1.0 - decay) * w + STEPS[name](x, margin) * sign * x
        found.append(w)
    return np.array(found)


@pytest.mark.parametrize("name", STEPS)
@pytest.mark.parametrize("decay", [0.001, 0.3])
@pytest.mark.parametrize("algebra", ["sparse", "dense", "reference"])
def test_lazy_decay_is_eager_decay(name: str, decay: float, algebra: str) -> None:
    learner = nr.make(name, weight_decay=decay, algebra=algebra, native=False, **LIMIT.get(name, {}))
    expected = decay_eagerly(name, decay, FEW, SIGNS)
    for t in range(len(SIGNS)):
        learner.learn_one(FEW[t], SIGNS[t])
        if t % 10 == 9:
            found = learner.scores(np.eye(3))
            np.testing.assert_allclose(found, expected[t], rtol=1e-10, atol=1e-14)


def quiet_stream() -> tuple[np.ndarray, np.ndarray]:
    """One row that is learned, hundreds of zeros on which nothing is, then rows to learn again."""
    X = np.zeros((900, 2))
    X[0], X[890:] = (1.0, 2.0), (-2.0, 1.0)
    X[895] = (0.5, 0.5)
    return X, np.where(np.arange(900) % 2 == 0, 1, -1)


@pytest.mark.parametrize("native", [False, pytest.param(True, marks=pytest.mark.compiles)])
def test_a_scale_beyond_all_floats_is_folded_in(native: bool) -> None:
    X, y = quiet_stream()
    expected = decay_eagerly("pa1", 0.9, X[[0, *range(890, 900)]], y[[0, *range(890, 900)]])
    batch = nr.make("pa1", C=1.0, weight_decay=0.9, native=native).learn(X, y)
    loop = nr.make("pa1", C=1.0, weight_decay=0.9, native=native)
    for x, label in zip(X, y, strict=True):
        loop.learn_one(x, label)
    np.testing.assert_allclose(batch.scores(np.eye(2)), expected[-1], rtol=1e-9)
    np.testing.assert_array_equal(batch.scores(np.eye(2)), loop.scores(np.eye(2)))


@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
def test_a_learner_that_decays_follows_the_protocol(check: Callable[[Case], None]) -> None:
    check(Case(lambda: nr.make("pa1", weight_decay=0.2, native=False), ROWS, LABELS, {"f1": float("inf")}))


def test_it_goes_on_from_a_file_also_with_many_classes(tmp_path: Path) -> None:
    labels = [("a", "b", "c")[int(x[0] > 0) + int(x[1] > 0.5)] for x in X]
    check_save_and_go_on(Case(lambda: nr.make("pa1", weight_decay=0.1, scale=True, native=False), X, labels), tmp_path)


@pytest.mark.parametrize("name", WHERE)
def test_every_rule_that_allows_it_forgets(name: str) -> None:
    task = "multiclass" if "binary" not in nr.learners()[name].tasks else None
    decaying = nr.make(name, weight_decay=0.05, task=task, native=False).learn(FEW, SIGNS)
    plain = nr.make(name, task=task, native=False).learn(FEW, SIGNS)
    before = np.abs(decaying.scores(FEW[:5])).max()
    assert 0.0 < before != np.abs(plain.scores(FEW[:5])).max()
    decaying.learn(np.zeros((100, 3)), np.ones(100, int))
    assert np.abs(decaying.scores(FEW[:5])).max() == pytest.approx(before * 0.95**100, rel=1e-6)


def test_these_rules_allow_it() -> None:
    assert set(WHERE) == {
        "adaline", "adaline_normalised", "mira", "ogd", "pa", "pa1", "pa2", "pa_all", "perceptron", "perceptron_margin",
        "perceptron_ultraconservative",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("arow", {}, "arow cannot forget by weight_decay: its variances"),
        ("pegasos", {}, "its weights do not only move by steps"),
        ("winnow", {}, "use drift_aware with a detector or a window"),
        ("pa1", {"algebra": "kernel"}, "the kernel algebra keeps examples instead of weights"),
        ("pa1", {"task": "one-class"}, "one-class keeps more than weights"),
        ("pa1", {"average": True}, "weight_decay is not for an average or a random start"),
        ("pa1", {"weight_decay": 1.0}, "pa1: weight_decay must be"),
        ("pa1", {"weight_decay": "fast"}, "pa1: weight_decay must be a number"),
        ("pa1", {"weight_decay": float("nan")}, "pa1: weight_decay must be"),
    ],
)
def test_others_refuse_it_with_the_reason(name: str, options: dict[str, Any], words: str) -> None:
    with pytest.raises(nr.BadValue) as refused:
        nr.make(name, **{"weight_decay": 0.1, **options})
    assert words in str(refused.value)


def test_learners_that_decay_are_not_merged() -> None:
    one = nr.make("pa1", weight_decay=0.1, native=False).learn(FEW, SIGNS)
    with pytest.raises(nr.BadValue, match="cannot be merged with weight_decay"):
        one.merge(one.copy())


def test_decay_gains_where_the_labels_turn_over_and_steps_are_small() -> None:
    X = np.random.default_rng(3).normal(size=(2000, 5))
    y = np.where(np.where(np.arange(2000) < 1000, 1.0, -1.0) * X[:, 0] >= 0.0, 1, -1)
    options: dict[str, Any] = {"loss": "logistic", "schedule": "constant", "eta0": 0.01, "native": False}
    plain = nr.make("ogd", **options).learn(X, y)
    decaying = nr.make("ogd", weight_decay=0.01, **options).learn(X, y)
    assert decaying.mistakes < 0.7 * plain.mistakes
