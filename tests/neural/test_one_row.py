"""Single rows go through a loop of their own, and leave the same network as a call with many rows, bit for bit."""

from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.neural import one_row
from tests.conformance.protocol import state
from tests.support import by_name, refusal, small_stream
from tests.support.interrupts import interrupted_at_every_line

X, Y = small_stream(rows=40)
ROWS = [by_name(row) for row in X]
CLASSES = (["a", "b", "a", "c"] * 10)[: len(X)]

pytestmark = pytest.mark.compiles


def make(name: str = "mlp", **options: Any) -> Any:
    given = {"layers": [4, 3]} if name == "mlp" else {"depth": 3, "units": 4}
    return nr.make(name, **{**given, "optimizer": "sgd", **options})


def taken(learner: Any) -> bool:
    """Whether the last row went through the loop of single rows."""
    return bool(learner._single_rows.ready)


@pytest.mark.parametrize("name", ["mlp", "hbp"])
@pytest.mark.parametrize("rows", [X, ROWS], ids=["arrays", "dicts"])
@pytest.mark.parametrize("labels", [Y.tolist(), CLASSES], ids=["two classes", "three"])
def test_rows_one_by_one_are_those_of_one_call(name: str, rows: Any, labels: list[Any]) -> None:
    single, whole = make(name), make(name)
    found = []
    for x, y in zip(rows, labels, strict=True):
        found.append(single.predict_one(x))
        single.learn_one(x, y)
    transcript = whole.play(rows, labels)
    assert taken(single)
    assert found[4:] == transcript.predictions[4:].tolist()
    assert state(single) == state(whole)
    assert (single.rounds, single.mistakes, single.updates) == (whole.rounds, whole.mistakes, whole.updates)
    assert [single.predict_one(x) for x in rows] == single.predict(rows).tolist()


def test_features_in_another_order_are_the_same_row() -> None:
    one, other = (make().learn(ROWS, Y) for _ in range(2))
    for row, y in zip(ROWS, Y.tolist(), strict=True):
        backward = dict(reversed(row.items()))
        assert one.predict_one(row) == other.predict_one(backward)
        one.learn_one(row, y)
        other.learn_one(backward, y)
    assert taken(one)
    assert state(one) == state(other)


@pytest.mark.parametrize(
    ("x", "y"),
    [
        ({**ROWS[0], "new": 1.0}, 1), (ROWS[0], "new"), (dict(list(ROWS[0].items())[:2]), 1), ({}, 1),
        ({**ROWS[0], "f1": True}, 1), ({**ROWS[0], "f1": np.float64(2.0)}, 1), (ROWS[1], np.int64(1)),
    ],
)  # fmt: skip
def test_rows_that_are_not_usual_are_learned_as_in_a_call_with_many(x: Any, y: Any) -> None:
    single, whole = (make().learn(ROWS, Y).learn_one(ROWS[0], int(Y[0])) for _ in range(2))
    assert single.predict_one(x) == whole.predict([x])[0]
    single.learn_one(x, y)
    whole.learn([x], [y])
    assert state(single) == state(whole)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e200, 10**400, "2", None])
def test_values_that_cannot_be_learned_are_refused_and_change_nothing(value: Any) -> None:
    learner = make(scale=False).learn(ROWS, Y).learn_one(ROWS[0], int(Y[0]))
    before = state(learner)
    refusal(lambda: learner.learn_one({**ROWS[0], "f1": value}, 1))
    refusal(lambda: learner.predict_one({**ROWS[0], "f1": value}))
    refusal(lambda: learner.learn_one(ROWS[0], float("nan")))
    refusal(lambda: learner.learn_one(ROWS[0], [1]))
    assert state(learner) == before
    learner.learn_one(ROWS[0], int(Y[0]))
    assert taken(learner)


def test_sums_that_overflow_leave_what_was_seen_of_features_as_it_was() -> None:
    """Values are scaled to three deviations at most, but with such a learning rate weights soon have any size."""
    learner = make(eta=1e6, activation="linear").learn(ROWS[:4], Y[:4], weight=0.0)
    learned = 0
    for row, y in zip(ROWS, Y.tolist(), strict=True):
        before = learner.copy()
        if not learner._single_rows.learn(learner, row, y):
            break
        learned += 1
    assert 0 < learned < len(ROWS)
    assert state(learner) == state(before)
    assert f"round {4 + learned + 1} " in refusal(lambda: learner.learn_one(row, y))
    assert state(learner) == state(before)


@pytest.mark.parametrize("name", ["mlp", "hbp"])
def test_a_row_that_is_cut_off_is_learned_or_not(name: str) -> None:
    def trained() -> Any:
        return make(name).learn(ROWS, Y).learn_one(ROWS[0], int(Y[0]))

    def prepare() -> tuple[Any, Any]:
        learner = trained()
        return learner, lambda: learner.learn_one(ROWS[1], int(Y[1]))

    allowed = {state(trained()), state(trained().learn_one(ROWS[1], int(Y[1])))}
    count = 0
    for learner in interrupted_at_every_line(prepare, "neural/one_row.py", KeyboardInterrupt):
        count += 1
        assert state(learner) in allowed, f"line {count}"
    assert count > 10


def test_a_call_from_inside_a_prediction_does_not_disturb_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A signal handler may predict with the same learner at any time, also between reading a row and scoring it."""
    learner = make().learn(ROWS, Y)
    expected = [learner.predict_one(row) for row in ROWS]
    others = [*reversed(range(len(ROWS)))]

    def interrupted(total: float) -> bool:
        if others:
            place = others.pop()
            assert learner.predict_one(ROWS[-place]) == expected[-place]
        return True

    monkeypatch.setattr(one_row, "isfinite", interrupted)
    assert [learner.predict_one(row) for row in ROWS] == expected
    assert not others


def test_a_refused_prediction_leaves_a_model_that_can_be_loaded(tmp_path: Any) -> None:
    learner = make(scale=False).learn(X, Y)
    for x in (X[0], X[:2]):
        refusal(lambda x=x: learner.predict(np.atleast_2d(1e200 * x)))  # type: ignore[misc]
    learner.save(tmp_path / "m.nr")
    assert nr.load(tmp_path / "m.nr").predict(X).tolist() == learner.predict(X).tolist()
