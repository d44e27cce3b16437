"""The adaptive reranker equals its twin, which computes all models again; what it learns, and from what."""

from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.data.candidate_lists import read_candidates
from noregret.loglinear.adaptive import GENERATIVE_START
from noregret.loglinear.quality import sentence_bleu
from tests.loglinear.lists import text_lists
from tests.naive import reranking as naive

X, Y = text_lists(9, seed=3, candidates=4)
for one in X:
    for candidate in one["candidates"]:
        del candidate["features"]
SOURCES = [tuple(one["source"].split()) for one in X]
TEXTS = [[(tuple(c["text"].split()), c["score"]) for c in one["candidates"]] for one in X]


def as_row(row: dict[str, float], words: tuple[str, ...]) -> Any:
    return pytest.approx({**row, "length": float(len(words))}, abs=1e-10)


def test_generative_features_and_predictions_equal_the_twin() -> None:
    learner: Any = nr.make("adaptive_reranker", mode="generative")
    twin = naive.Adaptive(dict(GENERATIVE_START))
    for t, (source, candidates) in enumerate(zip(SOURCES, TEXTS, strict=True)):
        rows = twin.rows(source, candidates)
        for found, row, (words, _) in zip(
            learner.describe(read_candidates(X[t], t)).rows, rows, candidates, strict=True
        ):
            assert found == as_row(row, words)
        scores = [naive.dot(twin.start, row) for row in rows]
        assert learner.play([X[t]], [Y[t]]).predictions[0] == int(np.argmax(scores))
        twin.learn(source, tuple(Y[t].split()), [score for _, score in candidates])


def test_a_rule_over_sparse_features_equals_the_twin() -> None:
    """PA-I by hand: hope against fear, on top of the fixed first weights."""
    learner: Any = nr.make("adaptive_reranker", learner="pa1(C=0.05)", native=False)
    twin = naive.Adaptive({name: 0.1 * weight for name, weight in GENERATIVE_START.items()})
    w: dict[str, float] = {}
    for t, (source, candidates) in enumerate(zip(SOURCES, TEXTS, strict=True)):
        sparse = [twin.sparse(source, words) for words, _ in candidates]
        found = learner.describe(read_candidates(X[t], t)).learned
        assert found == sparse
        offsets = np.array([naive.dot(twin.start, row) for row in twin.rows(source, candidates)])
        scores = offsets + [naive.dot(w, row) for row in sparse]
        assert learner.play([X[t]], [Y[t]]).predictions[0] == int(np.argmax(scores))
        losses = np.array([1.0 - sentence_bleu(" ".join(words), Y[t]) for words, _ in candidates])
        losses -= losses.min()
        hope, fear = int(np.argmax(scores - losses)), int(np.argmax(scores + losses))
        z = naive.difference(sparse[hope], sparse[fear])
        size = sum(value**2 for value in z.values())
        hinge = losses[fear] - losses[hope] - (scores[hope] - scores[fear])
        if losses[fear] > losses[hope] and size > 0.0 and hinge > 0.0:
            w = {name: w.get(name, 0.0) + min(0.05, hinge / size) * z.get(name, 0.0) for name in {**w, **z}}
        twin.learn(source, tuple(Y[t].split()), [score for _, score in candidates])
    assert {name: value for name, value in w.items() if value} == pytest.approx(learner.weights, abs=1e-10)


def test_models_learn_the_reference_or_else_the_best_candidate() -> None:
    by_place: Any = nr.make("adaptive_reranker", mode="generative").learn(X[:1], [2])
    assert by_place.language.predict(["a"]) == nr.make("language_model").learn([X[0]["candidates"][2]["text"]]).predict(
        ["a"]
    )
    carried: Any = nr.make("adaptive_reranker", mode="generative").learn([{**X[0], "reference": Y[0]}])
    given: Any = nr.make("adaptive_reranker", mode="generative").learn(X[:1], Y[:1])
    assert carried.language.predict(["a b"]) == given.language.predict(["a b"])
    assert (carried.lexicon.rounds, carried.inverse.rounds, carried.cache.rounds) == (1, 1, 1)
    without_source: Any = nr.make("adaptive_reranker", mode="generative").learn([{**X[0], "source": ""}], Y[:1])
    assert (without_source.lexicon.rounds, without_source.language.rounds) == (0, 1)


def test_given_models_are_where_it_starts_and_stay_as_they_are() -> None:
    language = nr.make("language_model", order=2).learn(Y)
    learner: Any = nr.make("adaptive_reranker", mode="generative", language=language).learn(X[:3], Y[:3])
    assert (language.rounds, learner.language.rounds) == (len(Y), len(Y) + 3)
    assert learner.language.order == 2


def test_the_score_is_measured_in_its_spread() -> None:
    """Another unit of the score changes nothing."""
    scaled = [{**one, "candidates": [{**c, "score": 1000.0 * c["score"]} for c in one["candidates"]]} for one in X]
    for mode in ("generative", "discriminative", "combined"):
        found = [
            nr.make("adaptive_reranker", mode=mode, native=False).play(lists, Y).predictions for lists in (X, scaled)
        ]
        assert found[0].tolist() == found[1].tolist()
    equal = [{**X[0], "candidates": [{**c, "score": 2.0} for c in X[0]["candidates"]]}]
    assert nr.make("adaptive_reranker", native=False).learn(equal, Y[:1]).rounds == 1


def test_models_of_two_merge_exactly_and_rules_by_their_law() -> None:
    def learn(a: int, b: int, **options: Any) -> Any:
        return nr.make("adaptive_reranker", native=False, **options).learn(X[a:b], Y[a:b])

    merged = learn(0, 5, mode="generative").merge(learn(5, 9, mode="generative"))
    whole = learn(0, 9, mode="generative")
    assert merged.language.predict(Y).tolist() == whole.language.predict(Y).tolist()
    assert merged.spread == pytest.approx(whole.spread)
    assert merged.rounds == 9
    both = learn(0, 5).merge(learn(5, 9))
    assert set(both.weights) == {*learn(0, 5).weights, *learn(5, 9).weights}
    with pytest.raises(nr.BadValue, match="one mode"):
        learn(0, 5).merge(learn(5, 9, mode="generative"))
