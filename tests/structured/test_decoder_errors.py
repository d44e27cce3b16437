"""Errors of a decoder: each names the round and the method, and leaves the learner as it was."""

from typing import Any

import pytest

import noregret as nr
from tests.conformance.protocol import state
from tests.structured.test_structured_learner import Classes, rounds, rule

X, Y = rounds()
BOOM = {"boom": 1.0}


def fault(x: Any, value: Any, otherwise: Any) -> Any:
    """The value in the round at fault."""
    if x is not BOOM:
        return otherwise
    if isinstance(value, type) and issubclass(value, BaseException):
        raise value("boom")
    return value


class Faulty(Classes):
    """A decoder one of whose methods goes wrong in one round."""

    def __init__(self, method: str, value: Any) -> None:
        super().__init__()
        self.method, self.value, self.x = method, value, None

    def answer(self, method: str, x: Any, usual: Any) -> Any:
        return fault(x, self.value, usual) if method == self.method else usual

    def check(self, x: Any, y: Any) -> None:
        self.answer("check", x, None)

    def argmax(self, w: Any, x: Any) -> Any:
        self.x = x
        return self.answer("argmax", x, Classes().argmax(w, x))

    def argmax_augmented(self, w: Any, x: Any, y: Any) -> Any:
        return self.answer("argmax_augmented", x, (y + 1) % 3)

    def features(self, x: Any, y: Any) -> Any:
        return self.answer("features", x, super().features(x, y))

    def loss(self, y: Any, predicted: Any) -> Any:
        return self.answer("loss", self.x, super().loss(y, predicted))

    def same(self, y: Any, predicted: Any) -> Any:
        return self.answer("same", self.x, y == predicted)

    def outputs(self, x: Any) -> Any:
        return self.answer("outputs", x, super().outputs(x))

    def k_best(self, w: Any, x: Any, y: Any, k: int) -> Any:
        return self.answer("k_best", x, [0, 1, 2][:k])


NAMED = "row 2: Faulty."
FAULTS: list[tuple[str, Any, str]] = [
    ("check", KeyError, NAMED + "check raised KeyError: 'boom'"),
    ("argmax", ZeroDivisionError, NAMED + "argmax raised ZeroDivisionError: boom"),
    ("argmax", RecursionError, NAMED + "argmax raised RecursionError: boom"),
    ("argmax_augmented", AttributeError, NAMED + "argmax_augmented raised AttributeError: boom"),
    ("features", IndexError, NAMED + "features raised IndexError: boom"),
    ("features", [1.0], NAMED + r"features must return a dict of features, not \[1.0\]"),
    ("features", {"a": float("nan")}, NAMED + "features: feature 'a': the value is nan; every value must be finite"),
    ("features", {"a": "b"}, NAMED + "features: feature 'a': expected a number, not 'b'"),
    ("features", {"a": None}, NAMED + "features: feature 'a': expected a number, not None"),
    ("features", {"a": 10**400}, NAMED + "features: feature 'a': the value is too large for a float"),
    ("loss", ValueError, NAMED + "loss raised ValueError: boom"),
    ("loss", -1.0, NAMED + "loss must return a finite number of at least 0, not -1.0"),
    ("loss", float("nan"), NAMED + "loss must return a finite number of at least 0, not nan"),
    ("loss", None, NAMED + "loss must return a finite number of at least 0, not None"),
    ("same", TypeError, NAMED + "same raised TypeError: boom"),
    ("outputs", TypeError, NAMED + "outputs raised TypeError: boom"),
    ("k_best", OverflowError, NAMED + "k_best raised OverflowError: boom"),
]


@pytest.mark.thinned(3)
@pytest.mark.parametrize(("method", "value", "words"), FAULTS, ids=[f"{m} {v}"[:40] for m, v, _ in FAULTS])
@pytest.mark.parametrize("learned", [0, 20])
def test_an_error_names_the_round_and_changes_nothing(method: str, value: Any, words: str, learned: int) -> None:
    competitor = {"outputs": "all", "k_best": "k_best"}.get(method, "max_loss")
    learner: Any = nr.make(
        "structured", decoder=Faulty(method, value), learner=rule("pa1"), competitor=competitor, margin="loss"
    )
    learner.learn(X[:learned], Y[:learned])
    before = state(learner), state(learner.learner)
    with pytest.raises(nr.BadValue, match=words) as caught:
        learner.learn([X[0], X[1], BOOM, X[2]], [0, 1, 2, 0])
    assert caught.value.row == 2
    assert (state(learner), state(learner.learner)) == before
    with pytest.raises(nr.BadValue, match=words.replace("row 2", "row 0")) as caught:
        learner.learn_one(BOOM, 2)
    assert (state(learner), state(learner.learner)) == before
    learner.learn(X, Y)
    assert learner.rounds == learned + len(Y)


@pytest.mark.parametrize("learned", [0, 20])
def test_a_feature_without_a_name_is_refused(learned: int) -> None:
    decoder: Any = Classes()
    learner: Any = nr.make("structured", decoder=decoder, learner=rule("pa1")).learn(X[:learned], Y[:learned])
    before = state(learner)
    decoder.features = lambda x, y: {(1,): float(y)}
    with pytest.raises(nr.BadValue, match=r"^row 0: "):
        learner.learn([{}, {}], [0, 1])
    assert state(learner) == before


def test_an_interrupt_undoes_the_whole_call() -> None:
    learner: Any = nr.make("structured", decoder=Faulty("argmax", KeyboardInterrupt), learner=rule("pa1"))
    learner.learn(X[:20], Y[:20])
    before = state(learner)
    with pytest.raises(KeyboardInterrupt):
        learner.learn([*X[:10], BOOM], [*Y[:10], 0])
    assert state(learner) == before


def test_a_prediction_names_its_row() -> None:
    learner: Any = nr.make("structured", decoder=Faulty("argmax", TypeError), learner=rule("pa1"))
    assert learner.predict_one(BOOM) is None
    with pytest.raises(nr.NotLearned, match="learn something first"):
        learner.predict([BOOM])
    learner.learn(X, Y)
    with pytest.raises(nr.BadValue, match=r"row 1: Faulty.argmax raised TypeError: boom") as caught:
        learner.predict([X[0], BOOM])
    assert caught.value.row == 1


def test_the_row_of_a_source_is_named() -> None:
    learner: Any = nr.make("structured", decoder=Faulty("loss", -1.0), learner=rule("pa1"))
    with pytest.raises(nr.BadValue, match=r"^row 5: Faulty.loss must return"):
        nr.play(([*X[:5], BOOM], Y[:6]), learner)


CALLS: list[tuple[Any, str]] = [
    (lambda one: one.learn(X, Y[:-1]), "X has 60 rows and y has 59 labels"),
    (lambda one: one.learn(X, None), "y must be a list with one entry for every round, not None"),
    (lambda one: one.learn(X[0], Y), "X must be a list with one entry for every round"),
    (lambda one: one.learn("text", Y), "X must be a list with one entry for every round"),
    (lambda one: one.learn(X, Y, query=[0] * len(Y)), "leave query out"),
    (lambda one: one.learn(X, Y, weight=-1.0), "weights must be finite and not negative"),
    (lambda one: one.learn(X[:2], [0, 7]), "row 1: Classes.check: 7 is not one of the outputs"),
]


@pytest.mark.parametrize(("call", "words"), CALLS, ids=[words[:20] for _, words in CALLS])
def test_calls_that_make_no_sense_are_refused(call: Any, words: str) -> None:
    learner: Any = nr.make("structured", decoder=Classes(), learner=rule("pa1")).learn(X, Y)
    before = state(learner)
    with pytest.raises(nr.BadValue, match=words):
        call(learner)
    assert state(learner) == before


def test_a_decoder_that_calls_its_learner_again_is_refused() -> None:
    class Looking(Classes):
        def argmax(self, w: Any, x: Any) -> Any:
            return learner.predict_one(x) if x is BOOM else super().argmax(w, x)

    learner: Any = nr.make("structured", decoder=Looking(), learner=rule("pa1"))
    learner.learn(X, Y)
    before = state(learner)
    with pytest.raises(nr.BadValue, match="called again while it was changing"):
        learner.learn([X[0], BOOM], [0, 1])
    assert state(learner) == before


def test_a_rule_that_cannot_weigh_rounds_says_so() -> None:
    learner: Any = nr.make("structured", decoder=Classes(), learner=rule("cw"))
    with pytest.raises(nr.BadValue, match="cw cannot weigh rounds; leave weight out"):
        learner.learn(X, Y, weight=0.5)


def test_an_overflow_names_the_round() -> None:
    learner: Any = nr.make("structured", decoder=Classes(), learner=rule("perceptron", eta=1e308))
    with pytest.raises(nr.BadValue, match=r"^row \d: ") as caught:
        learner.learn([{"f": 1e10}] * 9, [1, 2, 0] * 3)
    assert learner.rounds == learner.learner.rounds == 0
    assert caught.value.row is not None
