"""Balanced classes weigh as scikit-learn would weigh them, were the rounds so far all there is."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.utils.class_weight import compute_class_weight

import noregret as nr
from noregret.learner.model_file import pack, unpack
from tests.support import refusal, refused

rng = np.random.default_rng(0)
ROWS = 120
X = rng.normal(size=(ROWS, 5))
TWO = np.where(rng.random(ROWS) < 0.15, 1, -1)
MANY = np.array(["a", "b", "c", "d"])[np.searchsorted([0.7, 0.9, 0.97], rng.random(ROWS))]


def plain(rule: str = "pa1", **told: Any) -> nr.RuleLearner:
    return nr.make(rule, native=False, class_weight="balanced", **told)


def by_scikit_learn(y: Any) -> list[float]:
    """The weight of every round, from all the labels up to it."""
    found = []
    for t in range(len(y)):
        classes = np.unique(y[: t + 1])
        weights = compute_class_weight("balanced", classes=classes, y=y[: t + 1])
        found.append(float(weights[list(classes).index(y[t])]))
    return found


@pytest.mark.thinned(2)
@pytest.mark.parametrize("y", [TWO, MANY], ids=["two", "many"])
@pytest.mark.parametrize("rule", ["pa1", "arow", "ogd"])
def test_a_round_weighs_what_the_rounds_so_far_make_it_weigh(rule: str, y: Any) -> None:
    balanced = plain(rule).learn(X, y)
    by_hand = nr.make(rule, native=False).learn(X, y, weight=by_scikit_learn(y))
    assert balanced.scores(X).tolist() == by_hand.scores(X).tolist()
    assert balanced.scores(X).tolist() != nr.make(rule, native=False).learn(X, y).scores(X).tolist()


def test_the_root_of_that_is_there_for_classes_that_are_very_rare() -> None:
    rooted = nr.make("arow", native=False, class_weight="balanced_root").learn(X, MANY)
    by_hand = nr.make("arow", native=False).learn(X, MANY, weight=np.sqrt(by_scikit_learn(MANY)))
    assert rooted.scores(X).tolist() == by_hand.scores(X).tolist()
    assert pack(rooted.copy().learn(X, MANY)) == pack(rooted.learn(X, MANY))


@pytest.mark.parametrize("y", [TWO, MANY], ids=["two", "many"])
@pytest.mark.parametrize("size", [1, 7])
def test_chunks_saving_and_going_on_change_nothing(y: Any, size: int, tmp_path: Path) -> None:
    at_once, bitten = plain().learn(X, y), plain()
    for start in range(0, ROWS, size):
        bitten.learn(X[start : start + size], y[start : start + size])
    assert pack(bitten) == pack(at_once)
    half = plain().learn(X[:50], y[:50])
    half.save(tmp_path / "half.nr")
    assert pack(nr.load(tmp_path / "half.nr").learn(X[50:], y[50:])) == pack(at_once)
    assert pack(half.copy().learn(X[50:], y[50:])) == pack(at_once)


def test_round_by_round_compiled_is_the_same() -> None:
    rows = [{f"f{j}": value for j, value in enumerate(row)} for row in X[:40].tolist()]
    one_by_one = nr.make("pa1", class_weight="balanced")
    for row, label in zip(rows, TWO.tolist(), strict=False):
        one_by_one.learn_one(row, label)
    assert pack(one_by_one) == pack(nr.make("pa1", class_weight="balanced").learn(rows, TWO[:40]))


def test_a_weight_of_the_round_multiplies_that_of_its_class() -> None:
    own = rng.random(ROWS)
    both = plain().learn(X, TWO, weight=own)
    by_hand = nr.make("pa1", native=False).learn(X, TWO, weight=own * np.array(by_scikit_learn(TWO)))
    assert both.scores(X).tolist() == by_hand.scores(X).tolist()


def test_classes_named_beforehand_count_from_when_they_are_met() -> None:
    named = plain(classes=["d", "c", "b", "a"], task="multiclass").learn(X, MANY)
    by_hand = nr.make("pa1", native=False, classes=["d", "c", "b", "a"], task="multiclass")
    by_hand.learn(X, MANY, weight=by_scikit_learn(MANY))
    assert named.scores(X).tolist() == by_hand.scores(X).tolist()


@pytest.mark.parametrize("bad", ["row", "label"])
def test_a_refused_call_counts_nothing(bad: str) -> None:
    m = plain().learn(X[:60], TWO[:60])
    rows, y = X[60:].copy(), TWO[60:].astype(object)
    if bad == "row":
        rows[30, 2] = np.nan
    else:
        y[30] = 0.5
    assert "row 30" in refused(m, lambda: m.learn(rows, y))
    assert pack(m.learn(X[60:], TWO[60:])) == pack(plain().learn(X, TWO))


def test_a_call_that_overflows_counts_nothing() -> None:
    m = plain("ogd", eta0=1e300).learn(X[:1], TWO[:1])
    assert "no longer finite" in refused(m, lambda: m.learn(1e200 * X, TWO))


def test_merged_learners_have_met_what_both_met() -> None:
    first, second = plain().learn(X[:60], MANY[:60]), plain().learn(X[60:], MANY[60:])
    both = first.merge(second)
    counted = dict(zip(both.classes, both.model.class_counts.tolist(), strict=True))
    assert counted == {label: MANY.tolist().count(label) for label in "abcd"}
    other = nr.make("pa1", native=False).learn(X, MANY)
    assert "same parameters" in refused(first, lambda: first.merge(other))


@pytest.mark.parametrize("met", [[1, -1], [1, 2, 3, 4, 5], "ab", [1.5]])
def test_a_file_whose_counts_make_no_sense_is_refused(met: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from noregret.learner import rule_file

    m = plain().learn(X, MANY)
    right = m.dump()[0]
    monkeypatch.setattr(rule_file, "dump_header", lambda _: {**right, "class_counts": met})
    content = pack(m)
    assert "corrupt" in refusal(lambda: unpack(content, "x.nr"), nr.Error)


def test_a_rare_class_is_found_more_often_when_classes_are_balanced() -> None:
    chance = np.random.default_rng(1)
    y = np.where(chance.random(4000) < 0.03, 1, -1)
    rows = chance.normal(size=(4000, 4)) + np.where(y[:, None] > 0, 0.8, 0.0)
    recall = {}
    for told in (None, "balanced"):
        predicted = nr.make("pa1", native=False, C=0.01, bias=True, class_weight=told).play(rows, y).predictions
        recall[told] = float(np.mean(predicted[y > 0] == 1))
    assert recall["balanced"] > recall[None] + 0.2


def test_a_weight_of_a_class_that_never_comes_is_kept_for_when_it_does(tmp_path: Path) -> None:
    m = nr.make("pa1", native=False, class_weight={"a": 2.0, "zebra": 9.0}).learn(X, MANY)
    m.save(tmp_path / "m.nr")
    again = nr.load(tmp_path / "m.nr")
    assert again.config.class_weight == {"a": 2.0, "zebra": 9.0}
    heavier = again.learn(X[:1], ["zebra"])
    by_hand = nr.make("pa1", native=False).learn(X, MANY, weight=np.where(MANY == "a", 2.0, 1.0))
    assert heavier.scores(X).tolist() == by_hand.learn(X[:1], ["zebra"], weight=9.0).scores(X).tolist()
