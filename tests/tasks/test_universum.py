"""Rounds of neither class pull the score to zero: the regression step with target 0, inside the task of two classes."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import noregret as nr
from noregret.learner.model_file import pack
from noregret.metrics import Confusion
from tests.naive import rule as twin_of
from tests.naive.rules import Array, Round
from tests.naive.tasks import Binary
from tests.support import by_name, refused

U = nr.UNIVERSUM
RULES = ["pa", "pa1", "pa2", "arow", "ogd", "nherd"]
rng = np.random.default_rng(0)
ROWS = 90
X = rng.normal(size=(ROWS, 4))
X[::11] = 0.0
SIGNS = np.where(X[:, 0] + 0.5 * rng.normal(size=ROWS) > 0.0, 1, -1)
CODES = np.where((rng.random(ROWS) < 0.4) & (np.arange(ROWS) > 2), 0, SIGNS)  # 0 stands for neither


def said(codes: Any, names: Any = (-1, 1)) -> list[Any]:
    return [U if code == 0 else names[(code + 1) // 2] for code in codes]


Y = said(CODES)


class WithNeither(Binary):
    """The obvious task: a round of neither class asks that |f| be at most eps."""

    eps = 0.1

    def challenge(self, x: Array, label: Any, s: Array, h: float) -> Round:
        if label != 0:
            return super().challenge(x, label, s, h)
        f = float(s[0])
        away = -1.0 if f >= 0.0 else 1.0
        margin = 1.0 - (abs(f) - self.eps)
        return Round(x, np.array([away]), margin, wrong=abs(f) > self.eps, weight=h)


def naive(rule: str, eps: float, weight: Any = None) -> tuple[Array, Any]:
    learner = nr.make(rule)
    numbers = {name: learner.params[name] for name in learner.card.numbers}
    task = WithNeither(twin_of(rule, **numbers, **dict(learner.config.choices)))
    task.eps = eps
    return task.run(X, CODES, weight)


@pytest.mark.thinned(2)
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("eps", [0.0, 0.1, 0.6])
@pytest.mark.parametrize("rule", RULES)
def test_rounds_are_those_of_the_obvious_task(rule: str, eps: float, kind: Any) -> None:
    scores, updated = naive(rule, eps)
    found = nr.make(rule, native=False, universum=eps).play(kind(X), Y)
    assert found.scores == pytest.approx(scores, rel=1e-9, abs=1e-12)
    assert found.updated.tolist() == updated.tolist()


@pytest.mark.parametrize("rule", ["pa1", "arow"])
def test_weights_of_rounds_are_heeded(rule: str) -> None:
    weight = rng.random(ROWS) * (rng.random(ROWS) < 0.8)
    scores, _ = naive(rule, 0.1, weight)
    assert nr.make(rule, native=False).play(X, Y, weight).scores == pytest.approx(scores, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("rule", ["pa1", "arow"])
def test_compiled_rounds_are_the_same_bits(rule: str) -> None:
    rows = sp.csr_array(X)
    compiled, plain = nr.make(rule), nr.make(rule, native=False)
    assert compiled.play(rows, Y).scores.tolist() == plain.play(rows, Y).scores.tolist()
    assert compiled.scores(rows).tolist() == plain.scores(rows).tolist()


def test_the_step_is_the_regression_step_with_target_zero() -> None:
    start = nr.make("pa", native=False, universum=0.2).learn(X, SIGNS)
    for x in X[[1, 2, 3, 4, 5]]:
        m = start.copy()
        before = m.scores([x])[0]
        m.learn([x], [U])
        after = m.scores([x])[0]
        assert abs(after) == pytest.approx(min(abs(before), 0.2), rel=1e-9)
        assert after * before >= 0.0
        as_regression = nr.make("pa", native=False, task="regression", eps=0.2, scale_target=False)
        as_regression.learn([x], [before + 0.2 * np.sign(before)])
        assert as_regression.scores([x])[0] == pytest.approx(before, rel=1e-9)
        as_regression.learn([x], [0.0])
        assert as_regression.scores([x])[0] == pytest.approx(after, rel=1e-9)


@pytest.mark.parametrize("u", [np.array([1.0, 0.0, 0.0, 0.0]), np.array([2.0, -0.1, 0.0, 0.0])])
def test_the_bound_of_pa_holds_over_rounds_of_both_kinds(u: np.ndarray) -> None:
    """PA: the sum of squared losses is at most R^2 |u|^2, where u separates all by 1 and is near 0 on neither."""
    chance = np.random.default_rng(5)
    rows = chance.normal(size=(3000, 4))
    f = rows @ u
    fits = (np.abs(f) >= 1.0) | (np.abs(f) <= 0.1)
    rows, f = rows[fits], f[fits]
    labels = [U if abs(value) <= 0.1 else int(np.sign(value)) for value in f]
    first = next(at for at, label in enumerate(labels) if label is not U)
    t = nr.make("pa", native=False, universum=0.1).play(rows[first:], labels[first:])
    assert sum(label is U for label in labels) > 50
    assert (t.losses**2).sum() <= (rows**2).sum(axis=1).max() * (u**2).sum()


@pytest.mark.parametrize("size", [1, 7, ROWS])
def test_chunks_files_and_copies_change_nothing(size: int, tmp_path: Path) -> None:
    whole, m = nr.make("pa1", native=False).learn(X, Y), nr.make("pa1", native=False)
    for start in range(0, ROWS, size):
        m.learn(X[start : start + size], Y[start : start + size])
    assert pack(m) == pack(whole)
    half = nr.make("pa1", native=False).learn(X[:40], Y[:40])
    half.save(tmp_path / "half.nr")
    assert pack(nr.load(tmp_path / "half.nr").learn(X[40:], Y[40:])) == pack(whole)
    assert pack(half.copy().learn(X[40:], Y[40:])) == pack(whole)


def test_one_round_at_a_time_from_dicts_goes_by_the_general_path() -> None:
    rows = [by_name(row) for row in X]
    one_by_one, whole = nr.make("pa1"), nr.make("pa1").learn(rows, Y)
    for row, label in zip(rows, Y, strict=True):
        one_by_one.learn_one(row, label)
    assert pack(one_by_one) == pack(whole)


def test_a_round_of_neither_class_is_a_round_and_no_mistake_and_has_a_loss() -> None:
    m = nr.make("pa1", native=False)
    t = m.play(X, Y)
    neither = CODES == 0
    assert m.rounds == ROWS
    assert not t.mistakes[neither].any()
    assert t.mistakes[~neither].any()
    assert t.losses[neither] == pytest.approx(np.maximum(0.0, np.abs(t.scores[neither]) - 0.1))
    assert set(t.predictions[neither].tolist()) <= {-1, 1}
    assert m.mistakes == t.mistakes.sum()
    seen = Confusion()
    seen.see(None, t)
    assert seen.table.sum() == (~neither).sum()


def test_nobody_has_to_guess_it() -> None:
    race = nr.race((X, Y), ["pa1"], native=False)
    known = CODES != 0
    assert race.baselines == nr.race((X[known], CODES[known]), ["pa1"], native=False).baselines


def test_class_weights_and_balancing_do_not_touch_it() -> None:
    told = nr.make("pa1", native=False, class_weight={1: 3.0, -1: 0.5}).play(X, Y)
    by_hand = nr.make("pa1", native=False).play(X, Y, np.array([1.0, 3.0, 0.5])[CODES])
    assert told.scores.tolist() == by_hand.scores.tolist()
    balanced = nr.make("pa1", native=False, class_weight="balanced").learn(X, Y)
    assert balanced.model.class_counts.sum() == (CODES != 0).sum()


def test_words_and_signs_that_turn_with_the_second_class() -> None:
    for names in (("ham", "spam"), (1, -1), (0, 1)):
        labels = said(CODES, names)
        m = nr.make("pa1", native=False).learn(X, labels)
        bitten = nr.make("pa1", native=False)
        for row, label in zip(X, labels, strict=True):
            bitten.learn([row], [label])
        assert pack(m) == pack(bitten)
        assert m.classes == list(dict.fromkeys(label for label in labels if label is not U))


@pytest.mark.parametrize(
    ("rule", "told", "words"),
    [
        ("perceptron", {}, "perceptron does not stop"),
        ("ogd", {"loss": "logistic"}, "with the loss 'logistic'"),
        ("pa1", {"task": "multiclass"}, "this learner has many"),
    ],
)
def test_learners_that_cannot_refuse_it(rule: str, told: dict[str, Any], words: str) -> None:
    m = nr.make(rule, native=False, **told).learn(X[:20], SIGNS[:20])
    message = refused(m, lambda: m.learn(X[20:23], [1, U, -1]))
    assert words in message
    assert "row 1" in message


def test_one_class_is_enough_to_be_neither_of_two() -> None:
    m = nr.make("pa1", native=False).learn(X[1:2], ["a"])
    before = m.scores(X[1:2])[0]
    m.learn(X[1:2], [U])
    assert (m.rounds, m.classes) == (2, ["a"])
    assert abs(before) > abs(m.scores(X[1:2])[0]) == pytest.approx(0.1)


def test_neither_makes_no_sense_before_a_class_or_after_a_third() -> None:
    m = nr.make("pa1", native=False)
    assert "no class is known yet" in refused(m, lambda: m.learn(X[:2], [U, 1]))
    m.learn(X[:4], ["a", U, "b", U])
    message = refused(m, lambda: m.learn(X[:4], ["a", U, "c", U]))
    assert "row 3" in message
    assert "third class" in message
    m.learn(X[:3], ["a", U, "c"])
    assert m.task == "multiclass"
    assert "has many" in refused(m, lambda: m.learn(X[:1], [U]))


@pytest.mark.parametrize("bad", [None, 0.5, [1]])
def test_a_bad_label_beside_it_is_named_by_its_own_row(bad: Any) -> None:
    m = nr.make("pa1", native=False).learn(X[:20], Y[:20])
    assert "row 2" in refused(m, lambda: m.learn(X[:4], [1, U, bad, U]))


def test_there_is_one_universum_even_through_a_pickle() -> None:
    assert pickle.loads(pickle.dumps(U)) is U
    assert repr(U) == "UNIVERSUM"


@pytest.mark.parametrize("bad", [-0.1, np.nan, "wide"])
def test_a_bad_width_is_refused(bad: Any) -> None:
    with pytest.raises(nr.BadValue, match="universum"):
        nr.make("pa1", universum=bad)
