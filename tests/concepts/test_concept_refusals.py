"""What learners of concepts refuse, in words, and how they are told, explained and cut off."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.concepts import elimination
from noregret.learner.finder import Finder
from tests.concepts.test_concept_learners import BAD_ROW, DICTS, NAMES, NOISE, OR_TRUTH, TABLE, TRUTH, has_b, make
from tests.conformance.protocol import state
from tests.support import refusal
from tests.support.interrupts import interrupted_at_every_line

REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "a value": (lambda: make("elimination").learn([{"a": 1}, {"b": 1, "c": 0.5}], [1, 0]),
                "row 1, feature 'c': must be 0 or 1, not 0.5"),
    "a value of a matrix": (lambda: make("elimination").learn(BAD_ROW[None], [1]), "row 0, feature 0: must be 0"),
    "nan": (lambda: make("elimination").learn([{"a": float("nan")}], [1]), "row 0, feature 'a'"),
    "text": (lambda: make("elimination").learn([{"a": "yes"}], [1]), "row 0, feature 'a': expected a number"),
    "labels": (lambda: make("elimination").learn(DICTS[:2], ["ham", "spam"]), "classes=[negative, positive]"),
    "a third label": (lambda: make("elimination").learn(DICTS[:3], [1, 0, -1]), "-1 is a third"),
    "another label": (lambda: make("elimination", classes=["ham", "spam"]).learn(DICTS[:1], ["Spam"]), "'Spam'"),
    "no labels": (lambda: make("elimination").learn(DICTS), "one label for every row"),
    "columns": (lambda: make("elimination").learn(TABLE, TRUTH).learn(TABLE[:, :3], TRUTH), "3 columns, and this"),
    "names for columns": (lambda: make("elimination").learn(TABLE, TRUTH).learn(DICTS, TRUTH), "by column number"),
    "an unknown feature": (lambda: make("elimination", features=["a", "b"]).learn([{"a": 1}, {"zz": 1}], [1, 1]),
                           "row 1: there is no feature 'zz' among the 2 given"),
    "weights": (lambda: make("halving").learn(TABLE, TRUTH, weight=2.0), "does not support weight="),
    "a huge column": (lambda: make("elimination").learn([{2_000_000_000: 1}], [1]), "too large for elimination"),
    "no class": (lambda: make("halving").learn(DICTS, OR_TRUTH), "features=[names] or concepts="),
    "too large": (lambda: make("halving", features=100, k=10), "too many to enumerate"),
    "the empty class": (lambda: nr.k_disjunctions(3, 5, exactly=True), "no disjunction of exactly 5 of 3"),
    "inconsistent": (lambda: make("halving", concept="disjunction").learn(TABLE, NOISE), "none of the"),
    "inconsistent literals": (
        lambda: make("elimination", concept="disjunction", contradiction="refuse").learn(TABLE, NOISE),
        "no disjunction is consistent with it",
    ),
    "not concepts": (lambda: make("halving", concepts=7), "concepts must be a class"),
    "an unknown literal": (lambda: nr.concept_class([nr.any_of("a", "zz")], features=NAMES), "no feature 'zz'"),
    "names alike": (lambda: nr.concept_class([lambda x: True, lambda x: False]), "give a dict of predicates by name"),
    "a predicate's value": (
        lambda: make("halving", concepts={"odd": lambda x: "yes"}).learn(DICTS[:1], [1]), "row 0: the concept odd"
    ),
    "half a literal": (lambda: make("halving", k=1.5), "k must be a whole number"),
    "features": (lambda: make("elimination", features=[]), "features must be their number"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_bad_input_is_refused_in_words(name: str) -> None:
    call, words = REFUSED[name]
    assert words in refusal(call)


@pytest.mark.parametrize("concept", ["conjunction", "disjunction"])
def test_a_contradiction_that_is_refused_names_its_row_and_undoes_the_rounds_before(concept: str) -> None:
    learner = make("elimination", concept=concept, negations=True, contradiction="refuse", classes=[0, 1])
    rules_out = int(concept == "conjunction")
    first = [{"a": 1, "b": 1, "c": 1}, {"b": 1, "c": 1}, {"d": 1}], [rules_out, rules_out, 1 - rules_out]
    learner.learn(*first)
    before = state(learner)
    rows = [{"c": 1, "b": 1, "d": 1}, {"c": 1}, {"b": 1}, {"b": 1}, {"c": 1}]
    message = refusal(lambda: learner.learn(rows, [rules_out, rules_out, rules_out, 1 - rules_out, 1 - rules_out]))
    assert message.startswith(f"row 3: no {concept} is consistent with it")
    assert state(learner) == before
    assert state(learner.copy()) == before
    learner.learn(rows[:3], [rules_out] * 3)
    again = make("elimination", concept=concept, negations=True, contradiction="refuse", classes=[0, 1])
    again.learn(*first).learn(rows[:3], [rules_out] * 3)
    assert state(learner) == state(again)
    assert (learner.words, learner.params["contradiction"]) == (f"always {str(bool(rules_out)).lower()}", "refuse")


def test_a_conjunction_of_features_that_are_not_known_beforehand_may_cost_one_mistake_more() -> None:
    rows = [{"a": 1, "b": 1, "c": 1}, {"b": 1, "c": 1}, {"c": 1}, {}]
    for options, mistakes in (({}, 4), ({"features": ["a", "b", "c"]}, 3)):
        learner = make("elimination", classes=[0, 1], **options).learn(rows, [1, 1, 1, 1])
        assert learner.mistakes == learner.bound == mistakes
    assert make("elimination", concept="disjunction").learn(rows, [1, 1, 1, 1]).bound == 3
    assert make("elimination", negations=True).learn(rows, [1, 1, 1, 1]).bound == 4


def test_elimination_explains_what_its_hypothesis_explains() -> None:
    learner = make("elimination", concept="disjunction").learn(TABLE, OR_TRUTH)
    assert learner.explains(TABLE, OR_TRUTH)
    assert set(learner.scores(TABLE)) == {-1.0, 1.0}
    late = make("elimination", concept="disjunction").learn([[1, 0], [1, 0]], [1, -1])  # the first round is lost later
    assert late.inconsistent == 0
    assert not late.explains([[1, 0], [1, 0]], [1, -1])
    assert not make("elimination", concept="disjunction").learn(TABLE, NOISE).explains(TABLE[:1], NOISE[:1])


def test_a_hypothesis_with_negations_is_the_same_as_function_in_words_and_explained() -> None:
    learner = make("elimination", concept="disjunction", negations=True)
    assert learner.words == "always true"
    assert make("elimination").words == "always false"
    assert make("elimination").learn([{"a": 1}], [0]).literals == ["a"]
    X, y = nr.any_of("b", "!d").draw(200, NAMES, on=0.6, seed=1)
    played = learner.learn(X[:100], y[:100]).play(X[100:], y[100:])
    assert learner.words == "b OR NOT d"
    assert learner.hypothesis(X).tolist() == (learner.predict(X) > 0).tolist() == (y > 0).tolist()
    assert (played.scores == played.predictions).all()
    assert learner.explain_one({"a": 1}) == {"NOT d": True}
    assert learner.explain_one({"d": 1, "unknown": 1}) == {"b": False, "NOT d": False}
    assert learner.features == 5
    assert learner.explains(X, y)


def test_model_files_of_elimination_with_other_arrays_are_refused() -> None:
    learner = make("elimination", negations=True, classes=[0, 1]).learn(TABLE, (OR_TRUTH > 0).astype(int))
    header, arrays = learner.dump()
    assert {name: array.shape for name, array in arrays.items()} == {"cut": (1,), "kept": (1,)}
    broken = [
        {"cut": arrays["cut"]},
        {"kept": arrays["kept"]},
        {**arrays, "cut": np.zeros(2, np.uint8)},
        {**arrays, "kept": arrays["kept"].astype(np.int64)},
        {**arrays, "kept": arrays["kept"] | np.uint8(1)},
    ]
    for wrong in broken:
        with pytest.raises(nr.BadValue, match="corrupt model file"):
            type(learner).restore(header, wrong, Finder())
    assert type(learner).restore(header, arrays, Finder()).words == learner.words
    ten = make("elimination", features=10)
    assert state(type(ten).restore(*ten.dump(), Finder())) == state(ten)
    for other in (make("elimination", features=3), make("elimination").learn([{"a": 1}], [1])):
        header, arrays = other.dump()
        with pytest.raises(nr.BadValue, match="literals that are left are missing"):
            type(learner).restore(header, {}, Finder())


def test_inconsistent_rounds_are_counted_and_reported() -> None:
    learner = make("elimination", concept="disjunction").learn([[1, 0], [0, 0], [1, 0], [0, 0]], [-1, 1, 1, 1])
    assert (learner.inconsistent, learner.first_inconsistent) == (3, 2)
    assert "3 inconsistent" in repr(learner)
    assert "3 of 4 rounds, the first of them round 2, contradict" in learner.warnings()[0]
    whole = make("halving", concept="disjunction", contradiction="count").learn([[1, 0], [0, 0]], [-1, 1])
    assert (whole.inconsistent, whole.first_inconsistent) == (1, 2)


def test_an_exception_of_a_predicate_leaves_the_learner_as_it_was() -> None:
    def fails(x: dict[str, int]) -> bool:
        if x["e"]:
            raise ZeroDivisionError
        return True

    learner = make("halving", concepts={"fails": fails, "has_b": has_b}, contradiction="count")
    learner.learn([{"b": 1}], [1])
    before = state(learner)
    with pytest.raises(ZeroDivisionError):
        learner.learn([{"a": 1}, {"e": 1}], [1, 1])
    assert state(learner) == before


@pytest.mark.thinned(2)
@pytest.mark.parametrize("file", ["concepts/elimination.py", "concepts/concept_learner.py", "concepts/boolean_rows.py",
                                  "concepts/boolean_labels.py", "features/names.py"])  # fmt: skip
@pytest.mark.parametrize(("negations", "new"), [(False, "new"), (True, "new"), (True, "d")])
def test_an_interrupt_at_any_line_leaves_elimination_before_or_after_the_call(
    file: str, negations: bool, new: str
) -> None:
    def prepare() -> tuple[Any, Callable[[], Any]]:
        learner = make("elimination", concept="disjunction", negations=negations).learn(DICTS[:4], OR_TRUTH[:4])
        assert "a" in learner.literals
        rows = [*DICTS[4:7], {"a": 1, "b": 1}, {new: 1.0}, {"b": 1, "c": 1}]  # each of the last three rules out
        return learner, lambda: learner.learn(rows, [*OR_TRUTH[4:7], -1, -1, -1])

    check_interrupts(prepare, file)


@pytest.mark.parametrize("file", ["concepts/halving.py", "concepts/concept_class.py"])
def test_an_interrupt_at_any_line_leaves_halving_before_or_after_the_call(file: str) -> None:
    def prepare() -> tuple[Any, Callable[[], Any]]:
        learner = make("halving", concept="disjunction").learn(TABLE[:2], OR_TRUTH[:2])
        return learner, lambda: learner.learn(TABLE[2:6], OR_TRUTH[2:6])

    check_interrupts(prepare, file)


def check_interrupts(prepare: Callable[[], tuple[Any, Callable[[], Any]]], file: str) -> None:
    fresh, act = prepare()
    before = state(fresh)
    act()
    after, cut = state(fresh), 0
    for learner in interrupted_at_every_line(prepare, file, KeyboardInterrupt):
        found, cut = state(learner), cut + 1
        assert found in (before, after)
    assert cut > 3


def test_hypotheses_are_told_in_words() -> None:
    rows = [{"drugs": 1, "hello": 1}, {"hello": 1, "meeting": 1}, {"credit": 1}, {"pill": 1, "lunch": 1}, {"lunch": 1}]
    learner = make("elimination", concept="disjunction", classes=["ham", "spam"])
    learner.learn(rows, ["spam", "ham", "spam", "spam", "ham"])
    assert learner.words == "drugs OR credit OR pill"
    assert repr(learner) == "<elimination: drugs OR credit OR pill; 5 rounds, 2 mistakes>"
    assert learner.explain_one({"pill": 1, "hello": 1}) == {"pill": True}
    assert learner.explain_one({"hello": 1}) == {"drugs": False, "credit": False, "pill": False}
    assert learner.weights == {"drugs": 1, "credit": 1, "pill": 1}
    assert learner.predict([{"credit": 1}, {}]).tolist() == ["spam", "ham"]


@pytest.mark.parametrize("name", ["explain_one", "dump"])
def test_a_call_first_undoes_what_was_cut_off(name: str) -> None:
    calls: dict[str, Callable[[Any], Any]] = {
        "explain_one": lambda learner: learner.explain_one({"a": 1, "b": 1}),
        "dump": lambda learner: (learner.dump()[0], sorted(learner.dump()[1])),
    }
    whole, torn = (make("elimination", concept="disjunction").learn(DICTS[:4], OR_TRUTH[:4]) for _ in range(2))
    torn._change.undo = torn.savepoint()
    torn.rounds += 5
    assert calls[name](torn) == calls[name](whole)
    assert torn._change.undo is None
    assert state(torn) == state(whole)


def test_a_hypothesis_that_was_contradicted_explains_nothing() -> None:
    """Also where its predictions for the rows that are asked for are right."""
    learner = make("elimination", concept="disjunction").learn([{"a": 1}, {"a": 1}], [-1, 1])
    assert learner.inconsistent
    assert learner.predict([{"a": 1}]).tolist() == [-1]
    assert not learner.explains([{"a": 1}], [-1])


def test_features_may_have_numbers_up_to_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elimination, "LARGEST", 6)
    for number, fits in ((4, True), (5, False)):
        learner = make("elimination", concept="disjunction")
        rows = np.eye(number + 1, dtype=int)[-1:]
        if fits:
            assert learner.learn(rows, [1]).features == number + 1
        else:
            with pytest.raises(nr.BadValue, match="feature number 5 is too large"):
                learner.learn(rows, [1])
