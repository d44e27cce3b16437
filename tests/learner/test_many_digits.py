"""Whole numbers of thousands of digits, which Python refuses to write: no name that a model file would hold."""

from collections.abc import Callable
from typing import Any

import pytest

import noregret as nr
from noregret.errors import shown
from noregret.learner.model_file import pack
from tests.support import refusal

MANY = 10**5000
ROWS = [{"a": 1.0}, {"b": 2.0}, {"a": -1.0}]
BITS = [{"a": 1}, {"b": 1}, {"a": 1}]
PLAIN: dict[str, Any] = {"native": False}
LABEL = "row 1: the label is a whole number of hundreds of digits, which cannot be saved; give it as a text"


def by_class(x: Any, label: Any) -> Any:
    return x


def fresh(name: str, **options: Any) -> Callable[[], Any]:
    return lambda: nr.make(name, **PLAIN, **options)


def asked(learner: Any) -> None:
    learner.ask(MANY, ROWS[0])


LEARNERS: dict[str, tuple[Callable[[], Any], Any]] = {
    "binary": (fresh("arow"), [1, MANY, 1]),
    "below zero": (fresh("arow"), [1, -MANY, 1]),
    "beyond floats": (fresh("arow"), [1.5 - 0.5, 10**310, 1]),
    "multiclass": (fresh("arow", task="multiclass"), [1, MANY, 3]),
    "multilabel": (fresh("arow", task="multilabel"), [{1}, {2, MANY}, {1}]),
    "classes": (fresh("arow", classes=[0, 1]), [1, MANY, 0]),
    "bandit": (fresh("exp3", classes=[0, 1]), [1, MANY, 0]),
    "network": (fresh("mlp", layers=[1]), [1, MANY, 3]),
    "pool": (fresh("auto", pool=["pa1", "arow"]), [1, MANY, 1]),
    "majority": (lambda: nr.make("majority"), [1, MANY, 1]),
    "drift": (lambda: nr.drift_aware(nr.make("arow", **PLAIN), "ddm"), [1, MANY, 1]),
    "delayed": (lambda: nr.delayed(nr.make("arow", **PLAIN)), [1, MANY, 1]),
}


@pytest.mark.parametrize("kind", LEARNERS)
def test_a_label_that_could_not_be_saved_is_refused_with_its_row(kind: str) -> None:
    make, y = LEARNERS[kind]
    learner = make()
    before = pack(learner)
    assert refusal(lambda: learner.learn(ROWS, y)) == LABEL
    assert pack(learner) == before
    assert learner.learn(ROWS, [y[0], y[2], y[0]]).rounds == 3


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "a single label": (lambda: fresh("arow")().learn(ROWS, [0, 1, 0]).learn_one(ROWS[0], MANY), "the label is a"),
    "classes": (fresh("arow", classes=[MANY, 1]), "the label is a"),
    "class weights": (fresh("arow", class_weight={MANY: 2.0, 1: 1.0}), "the label is a"),
    "one class": (lambda: fresh("pa1", task="one-class")().learn(ROWS, [1, MANY, 1]), "row 1: .* thousands of digits"),
    "a reward": (lambda: fresh("exp3", classes=[0, 1])().reward_one(ROWS[0], (MANY, 0.5), True), "thousands of digits"),
    "a feature": (lambda: fresh("arow")().learn([{1: 1.0}, {2: 1.0, MANY: 1.0}], [0, 1]), "row 1: feature number <a n"),
    "a seed": (fresh("arow", seed=MANY), "seed is a whole number"),
    "a parameter": (fresh("arow", r=MANY), "r must be above 0, not <a number of thousands of digits>"),
    "a concept": (lambda: nr.make("elimination", concept="disjunction").learn(BITS, [1, MANY, 1]), LABEL),
    "concept classes": (
        lambda: nr.make("elimination", concept="disjunction", classes=[MANY, 1]),
        "the label is a whole",
    ),
    "an expert": (lambda: fresh("hedge")().learn([{1: 0.5}, {1: 0.5, MANY: 1.0}]), "row 1: the name of a column"),
    "experts": (fresh("hedge", names=[MANY, 1]), "the name of one of the experts"),
    "a new expert": (lambda: fresh("hedge", names=["x"])().add(MANY), "the name of one of the experts"),
    "a stock": (lambda: fresh("eg_portfolio")().learn([{1: 1.0, MANY: 1.0}]), "row 0: the name of a column"),
    "a question": (lambda: asked(nr.delayed(nr.make("arow", **PLAIN))), "the key is a whole number"),
    "joint classes": (lambda: nr.Joint(fresh("pa1")(), by_class, [0, MANY]), "the label is a"),
    "a joint class": (
        lambda: nr.Joint(fresh("pa1")(), by_class, [0, 1]).learn(ROWS[:2], [0, MANY]),
        "row 1: the label",
    ),
    "a tag": (
        lambda: nr.make("tagger").learn([["a"], ["b"]], [[1], [MANY]]),
        "sentence 1: the label is a whole number",
    ),
    "a word": (lambda: nr.make("language_model").learn([["a"], [MANY]]), "row 1: X must have a text"),
    "a candidate": (
        lambda: nr.make("ridge_reranker").learn([[{"a": 1.0}, {}]], [MANY]),
        "there is no candidate <a num",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_other_names_and_numbers_of_so_many_digits_are_refused_in_words(what: str) -> None:
    call, words = REFUSED[what]
    with pytest.raises(nr.BadValue, match=words):
        call()


def test_values_that_python_does_not_write_are_shown_by_what_they_are() -> None:
    assert shown(MANY) == "<a number of thousands of digits>"
    assert shown([1, MANY]) == "<list with a number of thousands of digits>"
