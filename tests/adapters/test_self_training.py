"""Rows without labels are learned by what is predicted for them, where it is sure enough, and only there."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import noregret as nr
from noregret.learner.model_file import pack
from tests.support import by_name, refusal, refused
from tests.support.cover import only_in_test_all

rng = np.random.default_rng(0)
ROWS = 120
X = rng.normal(size=(ROWS, 4))
TRUE = np.where(X[:, 0] + 0.3 * rng.normal(size=ROWS) > 0.0, 1, -1)
Y: list[Any] = [None if rng.random() < 0.6 else int(label) for label in TRUE]


def plain(rule: str = "pa1", **options: Any) -> nr.RuleLearner:
    return nr.make(rule, native=False, **options)


def obvious(rule: str, confidence: float, weight: float, X: Any = X, y: Any = Y) -> tuple[nr.RuleLearner, int, int]:
    """One round after the other, as the table of paradigms says."""
    learner, taken, left = plain(rule), 0, 0
    for x, label in zip(X, y, strict=True):
        if label is not None:
            learner.learn([x], [label])
            continue
        f = float(learner.scores([x])[0]) if len(learner.classes) == 2 else 0.0
        if len(learner.classes) == 2 and abs(f) >= confidence:
            learner.learn([x], [1 if f >= 0.0 else -1], weight=None if weight == 1.0 else [weight])
            taken += 1
        else:
            left += 1
    return learner, taken, left


@pytest.mark.thinned(6)
@pytest.mark.parametrize("weight", [0.25, 1.0])
@pytest.mark.parametrize("confidence", [0.0, 0.4, 0.9])
@pytest.mark.parametrize("rule", ["pa1", "arow", "ogd"])
def test_rounds_are_those_of_the_obvious_loop(rule: str, confidence: float, weight: float) -> None:
    found = nr.self_training(plain(rule), confidence, weight).learn(X, Y)
    twin, taken, left = obvious(rule, confidence, weight)
    assert pack(found.learner) == pack(twin)
    assert (found.self_labelled, found.skipped) == (taken, left)
    assert found.labelled == sum(label is not None for label in Y)
    assert found.predict(X).tolist() == twin.predict(X).tolist()


@pytest.mark.parametrize("size", [1, 7])
def test_chunks_change_nothing(size: int) -> None:
    whole, bitten = nr.self_training(plain()).learn(X, Y), nr.self_training(plain())
    for start in range(0, ROWS, size):
        bitten.learn(X[start : start + size], Y[start : start + size])
    assert pack(bitten.learner) == pack(whole.learner)
    assert (bitten.labelled, bitten.self_labelled, bitten.skipped, bitten.mistakes) == (
        whole.labelled, whole.self_labelled, whole.skipped, whole.mistakes,
    )  # fmt: skip


def test_dicts_and_sparse_rows_may_come_too() -> None:
    by_names = nr.self_training(plain()).learn([by_name(row) for row in X], Y)
    sparse = nr.self_training(plain()).learn(sp.csr_array(X), Y)
    assert by_names.self_labelled == sparse.self_labelled == nr.self_training(plain()).learn(X, Y).self_labelled


def test_from_confidence_one_on_a_hinge_learner_takes_rows_and_learns_nothing_from_them() -> None:
    """Its own prediction at |f| >= 1 has no hinge loss, so PA is passive."""
    found = nr.self_training(plain(), confidence=1.0, weight=1.0).learn(X, Y)
    known = [t for t, label in enumerate(Y) if label is not None]
    alone = plain().learn(X[known], [Y[t] for t in known])
    assert found.self_labelled > 10
    assert found.learner.scores(X).tolist() == alone.scores(X).tolist()
    assert found.learner.updates == alone.updates


def test_a_row_taken_keeps_its_prediction_and_moves_to_margin_one() -> None:
    m = plain("pa").learn(X[:40], TRUE[:40])
    for x in X[40:]:
        f = m.scores([x])[0]
        after = nr.self_training(m.copy(), confidence=0.0, weight=1.0).learn([x], [None]).learner.scores([x])[0]
        assert after == pytest.approx(np.copysign(max(abs(f), 1.0), f), rel=1e-9)


def test_mistakes_are_those_of_rows_with_labels() -> None:
    found = nr.self_training(plain()).learn(X, Y)
    assert 0 < found.mistakes == found.learner.mistakes  # its own labels are never mistakes
    assert found.learner.rounds == found.labelled + found.self_labelled


def test_before_two_classes_are_known_rows_are_left() -> None:
    found = nr.self_training(plain(), confidence=0.0).learn(X[:5], [None, None, 1, None, -1])
    assert (found.skipped, found.self_labelled, found.labelled) == (3, 0, 2)


@pytest.mark.parametrize("bad", ["row", "label", "third"])
def test_a_refused_call_changes_nothing(bad: str) -> None:
    found = nr.self_training(plain(), confidence=0.0).learn(X[:50], Y[:50])
    counts = (found.labelled, found.self_labelled, found.skipped, found.mistakes)
    rows, y = X[50:].copy(), list(Y[50:])
    at = next(t for t in range(30, 70) if (y[t] is None) == (bad == "row"))
    if bad == "row":
        rows[at, 1] = np.nan
    else:
        y[at] = 0.5 if bad == "label" else 7
        y += [None]
        rows = np.vstack([rows, X[:1]])
    message = refused(found.learner, lambda: found.learn(rows, y))
    assert (f"row {at}" in message) == (bad == "row")
    assert ("two classes" in message) == (bad == "third")
    assert (found.labelled, found.self_labelled, found.skipped, found.mistakes) == counts
    found.learn(X[50:], Y[50:])
    assert pack(found.learner) == pack(nr.self_training(plain(), confidence=0.0).learn(X, Y).learner)


@pytest.mark.parametrize(
    ("rule", "options", "asked", "words"),
    [
        ("pa1", {}, {"confidence": -0.1}, "confidence must be"),
        ("pa1", {}, {"weight": 0.0}, "weight must be"),
        ("pa1", {}, {"weight": 1.5}, "weight must be"),
        ("pa", {}, {}, "cannot weigh rounds"),
        ("pa1", {"task": "regression"}, {}, "two classes"),
        ("pa1", {"task": "multiclass"}, {}, "two classes"),
    ],
)
def test_what_makes_no_sense_is_refused(rule: str, options: Any, asked: Any, words: str) -> None:
    assert words in refusal(lambda: nr.self_training(plain(rule, **options), **asked))


# ---- a fixed pool -------------------------------------------------------------------------------------------------


@only_in_test_all
def test_a_pool_is_taught_until_its_labels_stop_changing() -> None:
    learner = plain().learn(X[:12], TRUE[:12])
    before = pack(learner)
    found = nr.transduce(learner, X[12:], confidence=0.2, weight=1.0)
    assert pack(learner) == before
    twin, labels = learner.copy(), learner.predict(X[12:])
    changes = []
    for _ in range(20):
        for x in X[12:]:
            f = twin.scores([x])[0]
            if abs(f) >= 0.2:
                twin.learn([x], [1 if f >= 0.0 else -1])
        now = twin.predict(X[12:])
        changes.append(int((now != labels).sum()))
        labels = now
        if not changes[-1]:
            break
    assert found.changes == changes
    assert found.labels.tolist() == labels.tolist()
    assert found.settled
    assert found.passes == len(changes)
    assert pack(found.learner) == pack(twin)


def test_a_pool_that_nobody_is_sure_of_is_only_labelled() -> None:
    learner = plain().learn(X[:12], TRUE[:12])
    found = nr.transduce(learner, X[12:], confidence=1e9)
    assert found.changes == [0]
    assert found.labels.tolist() == learner.predict(X[12:]).tolist()


def test_passes_end_it_where_labels_go_on_changing() -> None:
    learner = plain().learn(X[:6], TRUE[:6])
    one = nr.transduce(learner, X[6:], confidence=0.0, weight=1.0, passes=1)
    assert one.passes == 1
    assert one.settled == (one.changes == [0])
    assert not one.settled


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"passes": 0}, "passes must be"),
        ({"confidence": float("nan")}, "confidence must be"),
        ({"pool": np.zeros((0, 4))}, "no rows"),
        ({"pool": np.full((2, 4), np.nan)}, "finite"),
    ],
)
def test_a_bad_pool_is_refused(asked: Any, words: str) -> None:
    learner = plain().learn(X[:12], TRUE[:12])
    assert words in refused(learner, lambda: nr.transduce(learner, **{"pool": X[12:], **asked}))


def test_a_learner_that_knows_no_two_classes_has_no_labels_to_give() -> None:
    assert "knows two classes" in refusal(lambda: nr.transduce(plain(), X))
