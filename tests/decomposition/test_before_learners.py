"""A decomposition before a learner, one round at a time: as in one call, and whole or not at all."""

from collections.abc import Callable
from functools import partial
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

import noregret as nr
from noregret.learner.model_file import pack
from tests.support import refusal, refused
from tests.support.interrupts import interrupted_at_every_line

RNG = np.random.default_rng(11)
X = RNG.normal(size=(40, 3)) @ RNG.normal(size=(3, 6)) + 0.1 * RNG.normal(size=(40, 6))
CLASSES = np.where(X[:, 0] > 0.0, "up", "down").tolist()
TEXTS = [{"one": 1, "two": number % 3} if number % 2 else {"three": 2, "two": 1} for number in range(40)]


def named(rows: Any) -> list[dict[str, float]]:
    return [{f"f{number}": value for number, value in enumerate(row)} for row in rows.tolist()]


LABELS: dict[str, Any] = {
    "arow": CLASSES, "perceptron_averaged": CLASSES, "softmax": np.repeat(["a", "b", "c", "d"], 10).tolist(),
    "pa1 regression": X[:, 1].tolist(), "pa1 multilabel": [{"a"} if number % 3 else {"a", "b"} for number in range(40)],
    "pa1 one-class": [1] * 40, "perceptron asked": CLASSES, "delayed": CLASSES, "self_training": CLASSES,
    "banditron": CLASSES,
}  # fmt: skip
OPTIONS: dict[str, dict[str, Any]] = {
    "perceptron asked": {"labels": "asked", "ask": 0.5, "classes": ["up", "down"]},
    "banditron": {"classes": ["up", "down", "level"]},
}
MADE_OF_OTHERS = ("delayed", "self_training")


def make(name: str, **options: Any) -> Any:
    return nr.make(name, **options)


def make_svd(rank: int = 2) -> Any:
    return make("svd", rank=rank, batch=1)


def make_learner(which: str) -> Any:
    name, *task = which.split()
    given = OPTIONS.get(which, {"task": task[0]} if task else {})
    return nr.make(name, **({} if name in MADE_OF_OTHERS else {"native": False}), **given)


@pytest.mark.thinned(2)
@pytest.mark.parametrize("which", LABELS)
@pytest.mark.parametrize("batch", [1, 7])
def test_rounds_one_by_one_are_those_of_one_call(which: str, batch: int) -> None:
    """Also the counts: a learner of one round at a time counts for both."""
    learner = nr.make("svd", rank=3, batch=batch) | make_learner(which)
    whole, labels = learner.copy(), LABELS[which]
    transcript = whole.play(X, labels)
    found = []
    for row, label in zip(X, labels, strict=True):
        found.append(learner.predict_one(row))
        learner.learn_one(row, label)
    assert pack(learner) == pack(whole)
    assert (learner.rounds, learner.mistakes) == (40, int(transcript.mistakes.sum()))
    assert learner.updates == int(transcript.updated.sum())


# ---- whole or not at all ---------------------------------------------------------------------------------------------

BEFORE: dict[str, tuple[Callable[[], Any], Any]] = {
    "rows": (lambda: nr.make("svd", rank=2, batch=1), X),
    "mini-batches": (lambda: nr.make("pca_incremental", rank=2, batch=9), X),
    "names": (lambda: nr.make("oja", rank=2), named(X)),
    "hashed names": (lambda: nr.make("oja", rank=2, bits=6), named(X)),
    "transforms": (lambda: nr.make("svd", rank=2, batch=1, scale=True), X),
    "clusters": (lambda: nr.make("kmeans", k=2, batch=4), X),
    "densities": (lambda: nr.make("mixture", k=2, batch=4), X),
    "words": (lambda: nr.make("lda", k=2, batch=4), TEXTS),
    "rare words": (lambda: nr.make("lda", k=2, batch=4, least_documents=2), TEXTS),
}


@pytest.mark.parametrize("name", BEFORE)
def test_a_row_that_the_learner_refuses_is_forgotten_by_what_is_before_it(name: str) -> None:
    make, rows = BEFORE[name]
    learner = make() | nr.make("ogd", native=False)
    learner.learn(rows[:20], CLASSES[:20])
    new: Any = {"new": 3} if isinstance(rows, list) else 5.0 * rows[20]
    for wrong in (object(), [1, 2]):
        refused(learner, partial(learner.learn_one, new, wrong))
    refused(learner, lambda: learner.learn([new, rows[21]], ["up", [1, 2]]))
    expected = (make() | nr.make("ogd", native=False)).learn(rows, CLASSES)
    assert pack(learner.learn(rows[20:], CLASSES[20:])) == pack(expected)


@pytest.mark.parametrize("name", ["rows", "mini-batches", "hashed names", "transforms", "rare words"])
def test_several_calls_of_a_decomposition_are_undone_together(name: str) -> None:
    make, rows = BEFORE[name]
    learner = make().learn(rows[:10])
    before, undo = pack(learner), learner.undo_of_calls()
    learner.learn(rows[10:25]).learn([{"new": 2, "newer": 1}] if isinstance(rows, list) else rows[25:26])
    learner.flush()
    for _ in range(2):  # an interrupt may come while it is undone
        undo()
        assert pack(learner) == before
    assert pack(learner.learn(rows[10:])) == pack(make().learn(rows))


@pytest.mark.parametrize("name", ["rows", "rare words"])
def test_what_was_cut_off_is_undone_before_calls_are(name: str) -> None:
    make, rows = BEFORE[name]
    learner = make().learn(rows[:10])
    before, undo = pack(learner), learner.undo_of_calls()
    learner.learn(rows[10:15])
    learner._change.undo, learner.state = learner._own_state(), None
    undo()
    assert pack(learner) == before


@pytest.mark.parametrize("name", ["rows", "hashed names", "words", "transforms", "rare words"])
def test_only_what_changes_in_place_is_copied_to_undo_calls(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    learner = BEFORE[name][0]()
    copies = Mock()
    monkeypatch.setattr(type(learner), "copy", copies)
    learner.undo_of_calls()
    assert copies.called == (name in ("transforms", "rare words"))


FILES = ("decomposition/decomposed.py", "learner/rule_learner.py", "learner/change.py", "adapters/self_training.py")


@pytest.mark.thinned(2)
@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize(("name", "behind"), [("rows", "perceptron"), ("transforms", "self_training")])
def test_a_round_that_is_cut_off_is_learned_by_both_or_by_none(name: str, behind: str, file: str) -> None:
    make, rows = BEFORE[name]
    before = (make() | make_learner(behind)).learn(rows[:12], CLASSES[:12])

    def prepare() -> tuple[Any, Callable[[], Any]]:
        learner = before.copy()
        return learner, lambda: learner.learn_one(rows[12], CLASSES[12])

    whole, does = prepare()
    does()
    for learner in interrupted_at_every_line(prepare, file, KeyboardInterrupt):
        assert pack(learner) in (pack(before), pack(whole))


def test_what_was_cut_off_in_the_learner_is_undone_before_it_is_asked_whether_it_has_learned() -> None:
    both = make_svd() | nr.make("oja", rank=2)
    both.learn(X[:12])
    before, learner = pack(both), both.learner

    def cut_off(*_: Any) -> None:
        learner._change.undo = learner._own_state()
        learner.rounds += 1
        raise KeyboardInterrupt

    learner.learn_one = cut_off
    with pytest.raises(KeyboardInterrupt):
        both.learn_one(X[12])
    del learner.learn_one
    assert pack(both) == before


class Bare:
    """A learner that has what the protocol asks for and nothing else."""

    source = None
    card = property(lambda self: self.inner.card)
    task = property(lambda self: self.inner.task)
    rounds = property(lambda self: self.inner.rounds)
    mistakes = property(lambda self: self.inner.mistakes)
    updates = property(lambda self: self.inner.updates)

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        for name in ("play", "learn", "learn_one", "predict", "predict_one", "save"):
            setattr(self, name, getattr(inner, name))

    def copy(self) -> "Bare":
        return Bare(self.inner.copy())

    def revert_to(self, saved: "Bare") -> None:
        self.__init__(saved.inner)  # type: ignore[misc]


def test_a_learner_of_another_make_is_undone_as_it_says() -> None:
    both, usual = make_svd() | Bare(nr.make("ogd", native=False)), make_svd() | nr.make("ogd", native=False)
    for row, label in zip(X[:9], CLASSES, strict=False):
        both.learn_one(row, label)
        usual.learn_one(row, label)
    assert (both.rounds, both.mistakes, both.updates) == (usual.rounds, usual.mistakes, usual.updates)
    before = pack(both.decomposition)
    refusal(lambda: both.learn_one(5.0 * X[9], [1, 2]))
    assert pack(both.decomposition) == before == pack(usual.decomposition)
    assert pack(both.learner.inner) == pack(usual.learner)


def test_what_a_learner_counted_before_it_was_put_behind_a_decomposition_stays_its_own() -> None:
    learner: Any = nr.make("ogd", native=False).learn(X[:, :2], CLASSES)
    assert min(learner.mistakes, learner.updates) > 0
    one, many = (make_svd() | learner.copy() for _ in range(2))
    transcript = many.play(X[:9], CLASSES[:9])
    for row, label in zip(X[:9], CLASSES, strict=False):
        one.learn_one(row, label)
    assert (one.mistakes, one.updates) == (transcript.mistakes.sum(), transcript.updated.sum())
    assert (many.mistakes, many.updates) == (one.mistakes, one.updates)


# ---- what can be put behind a decomposition --------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["tagger", "parser", "transducer", "factorisation", "hedge", "universal"])
def test_learners_of_other_things_than_rows_are_refused_when_they_are_put_behind(name: str) -> None:
    task = nr.make(name).task
    first: Any = nr.make("svd")
    message = refusal(lambda: first | nr.make(name))
    assert message == f"{name} cannot learn components of rows: its task is {task}"


def test_decompositions_follow_each_other() -> None:
    def parts() -> tuple[Any, ...]:
        return nr.make("svd", rank=4, batch=1), nr.make("oja", rank=2), nr.make("ogd", native=False)

    first, second, last = parts()
    chained = (first | second | last).learn(X, CLASSES)
    first, second, last = parts()
    assert pack(chained) == pack((first | (second | last)).learn(X, CLASSES))
    for wrong, why in ((first | last, "nothing can be put behind ogd"), (nr.make("mean_row"), "go together with")):
        assert why in refusal(partial(lambda one, other: one | other, wrong, nr.scale()))


def test_a_learner_may_be_put_behind_two_decompositions_that_follow_each_other() -> None:
    inner = make_svd(rank=4) | (make("oja", rank=3) | make("oja", rank=2))
    names = [one["name"] for one in (inner | nr.make("ogd", native=False)).params.values()]
    assert names[0] == "svd(rank=4, batch=1)"
    assert names[1] == (
        "decomposed(decomposition=oja(rank=3), learner=decomposed(decomposition=oja(rank=2), learner=ogd))"
    )


def test_both_are_told_by_names_that_make_them_again() -> None:
    """With their options of rows, such as transforms; also behind several decompositions."""
    both = make("svd", rank=4, scale=True) | nr.make("ogd", native=False, eta0=0.5, bias=True)
    told = both.params
    assert told["decomposition"]["name"] == "svd(rank=4, scale=true)"
    assert told["decomposition"]["rank"] == 4
    assert told["learner"]["name"] == "ogd(eta0=0.5, bias=true)"
    assert told["learner"]["eta0"] == 0.5
    again = nr.make("decomposed", decomposition=told["decomposition"]["name"], learner=told["learner"]["name"])
    assert again.params == told
    chained = make("oja", rank=3) | both
    assert set(chained.params["learner"]) == {"name", "decomposition", "learner"}
    assert chained.params["learner"]["decomposition"] == told["decomposition"]


def test_an_option_of_both_is_refused_and_the_error_says_where_it_belongs() -> None:
    message = refusal(lambda: nr.make("svd(rank=2) | arow", scale=True))
    assert message.endswith("it takes decomposition, learner; give it to one of these, as in 'svd(scale=...)'")
