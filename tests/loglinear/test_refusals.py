"""Bad lists are refused with the number of the round, and calls that are cut off leave nothing behind."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.data.candidate_lists import MOST
from noregret.learner.model_file import FindCard, restore
from tests.conformance.protocol import state
from tests.loglinear.lists import hidden_lists, text_lists, varied_lists
from tests.support.cover import ALL
from tests.support.interrupts import interrupted_at_every_line

X, Y = text_lists(8)
GOOD = {"text": "a", "score": 1.0}


def with_candidates(*given: Any) -> dict[str, Any]:
    return {"source": "x", "candidates": list(given)}


@pytest.mark.parametrize(
    ("x", "y", "says"),
    [
        ([], 0, "row 1: a list of at least one candidate is needed"),
        (7, 0, "row 1: a list of at least one candidate is needed, each a dict of features"),
        ([{"a": 1.0}, 3], 0, "row 1: candidate 1: expected a dict of features, not 3"),
        ([{"a": float("nan")}], 0, "row 1: candidate 0, feature 'a': the value is nan; every value must be finite"),
        ([{"a": 10**400}], 0, "row 1: candidate 0, feature 'a': the value is inf"),
        ([{"a": "1"}], 0, "row 1: candidate 0, feature 'a': expected a number, not '1'"),
        ([{"a": True}], 0, "row 1: candidate 0, feature 'a': expected a number, not True"),
        ([{3: 1.0}], 0, "row 1: candidate 0: the name of a feature must be a string, not 3"),
        ([{"a": 1.0}], 1, "row 1: there is no candidate 1 in a list of 1"),
        ([{"a": 1.0}], [0.0, 1.0], "row 1: the truth of 1 candidates is the place"),
        ([{"a": 1.0}], [float("inf")], "row 1: the loss of candidate 0: the value is inf"),
        ([{"a": 1.0}, {}], [1e308, -1e308], "row 1: the losses are too far apart"),
        ([{"a": 1.0}], "a reference", "row 1: these candidates have no texts"),
        ([{"a": 1.0}], None, "row 1: the list has no reference, and y has none"),
        (with_candidates(), "a", "row 1: candidates must be a list of at least one candidate, not \\[\\]"),
        ({"source": "x"}, "a", "row 1: candidates must be a list of at least one candidate, not a record with"),
        (with_candidates("a"), "a", "row 1: candidate 0 must have text, score, features, not 'a'"),
        (with_candidates(GOOD, {"text": "b"}), "a", "row 1: candidate 1 has no score"),
        (with_candidates({"score": 1.0}), "a", "row 1: candidate 0 has no text"),
        (with_candidates({"text": 3, "score": 1.0}), "a", "row 1: the text of candidate 0 must be a text, not 3"),
        (with_candidates({"text": "b", "score": None}), "a", "row 1: the score of candidate 0: expected a number"),
        (with_candidates({**GOOD, "features": [1]}), "a", "row 1: candidate 0: expected a dict of features"),
        (with_candidates({**GOOD, "features": {"f": float("inf")}}), "a", "row 1: candidate 0, feature 'f'"),
        (with_candidates({**GOOD, "note": "good"}), "a", "row 1: candidate 0, feature 'note': expected a number"),
        ({**with_candidates(GOOD), "source": None}, "a", "row 1: source must be a text, not None"),
        (with_candidates(GOOD), " ", "row 1: the reference has no words"),
        ({**with_candidates(GOOD), "reference": 5}, "a", "row 1: the reference must be a text, not 5"),
        ([{}] * (MOST + 1), 0, "row 1: a list has at most 65,536 candidates"),
    ],
)
def test_bad_lists_are_refused_and_change_nothing(x: Any, y: Any, says: str) -> None:
    learner: Any = nr.make("ridge_reranker").learn(X[:2], Y[:2])
    before = state(learner)
    with pytest.raises(nr.BadValue, match=says):
        learner.learn([X[2], x], [Y[2], y])
    assert state(learner) == before


@pytest.mark.parametrize(
    ("name", "options", "says"),
    [
        ("ridge_reranker", {"beta": 0.0}, "beta must be above 0"),
        ("ridge_reranker", {"mix": 1.5}, "mix must be at least 0 and at most 1"),
        ("ridge_reranker", {"start": 3}, "start must be a dict of first weights"),
        ("ridge_reranker", {"start": {"a": float("nan")}}, "start: .*every value must be finite"),
        ("bayesian_reranker", {"samples": 2.5}, "samples must be a whole number"),
        ("bayesian_reranker", {"seed": -1}, "seed must be a whole number of at least 0"),
        ("adaptive_reranker", {"k": 1.5}, "k must be a whole number"),
        ("adaptive_reranker", {"learner": nr.make("pa1")}, 'made with task="structured"'),
        ("adaptive_reranker", {"learner": "hedge"}, "hedge has no parameter"),
        ("adaptive_reranker", {"language": nr.make("pa1")}, "language must be a model made by language_model"),
        ("adaptive_reranker", {"learner": "arow", "competitor": "k_best"}, "pa, pa1, pa2"),
    ],
)
def test_bad_parameters_are_refused(name: str, options: dict[str, Any], says: str) -> None:
    with pytest.raises(nr.BadValue, match=says):
        nr.make(name, **options)


def test_generative_models_need_texts() -> None:
    with pytest.raises(nr.BadValue, match='row 0: mode="combined" needs candidates with texts'):
        nr.make("adaptive_reranker").learn(*hidden_lists(2))


def test_too_many_features_are_refused_before_memory_is_taken() -> None:
    wide = [[{f"f{k}": 1.0 for k in range(5000)}, {}]]
    with pytest.raises(nr.BadValue, match="products of at most 4,096 features"):
        nr.make("ridge_reranker", accumulate="yes").learn(wide, [0])
    with pytest.raises(nr.BadValue, match="too many for so many features"):
        nr.make("bayesian_reranker", samples=1 << 20).learn(wide, [0])
    with pytest.raises(nr.BadValue, match="points in all"):
        nr.make("bayesian_reranker", design="grid").learn(wide, [0])
    assert nr.make("ridge_reranker", accumulate="no").learn(wide, [0]).updates == 1


@pytest.mark.parametrize("name", ["ridge_reranker", "loglinear_reranker", "bayesian_reranker"])
def test_values_that_overflow_are_refused_with_their_round(name: str) -> None:
    learner = nr.make(name).learn(*hidden_lists(2))
    before = state(learner)
    with pytest.raises(nr.BadValue, match=r"row 1: the features are too large"):
        learner.learn([[{"f0": 1.0}, {}], [{"score": 1e308, "f0": 1e308}, {"score": -1e308, "f0": -1e308}]], [0, 1])
    assert state(learner) == before


@pytest.mark.parametrize("accumulate", ["yes", "no"])
def test_a_system_of_equations_that_has_no_solution_is_refused(accumulate: str) -> None:
    """Two equal features of this size: the penalty is rounded away."""
    learner = nr.make("ridge_reranker", accumulate=accumulate, start={})
    before = state(learner)
    rows = [{"a": 2.0**300, "b": 2.0**300}, {}, {}, {"a": 2.0**299, "b": 2.0**299}]
    with pytest.raises(nr.BadValue, match="row 0: the features are too large"):
        learner.learn([rows], [0])
    assert state(learner) == before


def test_features_that_a_list_does_not_have_are_zero() -> None:
    X1, Y1 = varied_lists(30)
    names = sorted({name for rows in X1 for row in rows for name in row})
    filled = [[{**dict.fromkeys(names, 0.0), **row} for row in rows] for rows in X1]
    for name in ("ridge_reranker", "loglinear_reranker"):
        found, other = nr.make(name).play(X1, Y1), nr.make(name).play(filled, Y1)
        assert found.predictions.tolist() == other.predictions.tolist()


# ---- cut off ---------------------------------------------------------------------------------------------------------

LEARNERS: dict[str, Callable[[], Any]] = {
    "ridge": lambda: nr.make("ridge_reranker", accumulate="yes"),
    "bayesian": lambda: nr.make("bayesian_reranker", samples=5, least=1.0),
    "combined": lambda: nr.make("adaptive_reranker", learner="ridge_reranker"),
    "rule": lambda: nr.make("adaptive_reranker", learner="pa1", native=False),
}
CUT = [
    *([("rule", f"loglinear/{name}.py") for name in ("recent_cache", "rule_updates", "adaptive")] if ALL else []),
    ("ridge", "loglinear/ridge.py"),
    ("bayesian", "loglinear/weight_samples.py"),
    ("combined", "loglinear/adaptive.py"),
    ("combined", "loglinear/list_learner.py"),
    ("rule", "learner/whole_change.py"),
]


@pytest.mark.parametrize(("kind", "file"), CUT)
def test_a_call_that_is_cut_off_leaves_the_learner_as_before_or_after(kind: str, file: str) -> None:
    trained = LEARNERS[kind]().learn(X[:2], Y[:2])
    before, after = state(trained), state(trained.copy().learn(X[2:4], Y[2:4]))

    def prepare() -> tuple[Any, Callable[[], Any]]:
        learner = trained.copy()
        return learner, lambda: learner.learn([*shorten(X[2:4])], Y[2:4])

    expected = {before, state(trained.copy().learn([*shorten(X[2:4])], Y[2:4]))}
    for number, learner in enumerate(interrupted_at_every_line(prepare, file, KeyboardInterrupt)):
        if number % 7 == 0:  # all lines are cut at; some learners are looked at closely
            assert state(learner) in expected
    assert after != before


def shorten(lists: list[Any]) -> list[Any]:
    """Lists of two candidates, which take fewer lines."""
    return [{**one, "candidates": one["candidates"][:2]} for one in lists]


# ---- model files -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "change", "says"),
    [
        ("ridge_reranker", {"weights": np.array([np.nan] * 5)}, "shape|finite"),
        ("language_model", {"counts": np.zeros(3, np.int64)}, "counts"),
        ("language_model", {"words": np.frombuffer(b'["a", "a"]', np.uint8)}, "different words"),
        ("language_model", {"words": np.frombuffer(b"[" * 5000, np.uint8)}, "words"),
        ("translation_lexicon", {"totals": np.array([-1.0])}, "totals"),
        ("recent_cache", {"last": np.zeros(1, np.int64)}, "last"),
        ("recent_cache", {"grams": np.zeros((1, 2), np.int64)}, "grams"),
    ],
)
def test_hostile_files_are_refused(name: str, change: dict[str, np.ndarray], says: str) -> None:
    rounds: Any = (X[:3], Y[:3])
    if name != "ridge_reranker":
        rounds = (Y[:3], Y[:3] if name == "translation_lexicon" else None)
    header, arrays = nr.make(name).learn(*rounds).dump()
    with pytest.raises(nr.Error, match=says):
        restore({"kind": name, **header}, {**arrays, **change}, FindCard())


def test_n_grams_that_no_sentence_has_are_refused() -> None:
    header, arrays = nr.make("language_model", order=3).learn(["a b"]).dump()
    for gram in ([0, 0, 0], [2, 0, 3], [1, 2, 1], [2, 1, 1], [2, 2, 9], [-1, 2, 2]):
        broken = {**arrays, "grams": np.array([gram], np.int64), "counts": np.ones(1, np.int64)}
        with pytest.raises(nr.Error, match="grams"):
            restore({"kind": "language_model", **header}, broken, FindCard())
    twice = {**arrays, "grams": np.array([[0, 0, 2]] * 2, np.int64), "counts": np.ones(2, np.int64)}
    with pytest.raises(nr.Error, match="twice"):
        restore({"kind": "language_model", **header}, twice, FindCard())
