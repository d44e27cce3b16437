"""A transcript tells what predict_one would have said before each round, also where training uses other weights."""

from typing import Any

import numpy as np
import pytest

import noregret as nr
from tests.conformance.plays import CARDS, stream
from tests.naive import streams

APART = [card.name for card in CARDS if card.final is not None]
AVERAGED: list[tuple[str, dict[str, Any]]] = [
    ("pa1", {"average": True}),
    ("arow", {"average": 10}),
    ("ogd", {"average": True}),
]
EVERY: list[tuple[str, dict[str, Any]]] = [*((name, {}) for name in APART), *AVERAGED]
KERNEL: list[tuple[str, dict[str, Any]]] = [
    ("perceptron_averaged", {"algebra": "kernel", "kernel": "rbf", "gamma": 0.5})
]


def said(learner: nr.RuleLearner, X: Any, y: Any) -> tuple[list[Any], list[Any]]:
    """What predict_one and scores say before each round; None before the first."""
    predictions: list[Any] = []
    scores: list[Any] = []
    for x, label in zip(X, y, strict=True):
        predictions.append(learner.predict_one(x))
        scores.append(learner.scores(x[None, :])[0] if learner.rounds else None)
        learner.learn_one(x, label)
    return predictions, scores


PLAYS = [
    (name, options, task)
    for task in ("binary", "multiclass", "regression")
    for name, options in EVERY + KERNEL
    if task in nr.learners()[name].tasks
] + [("pa_all", {"average": True}, "multiclass")]


@pytest.mark.thinned(2)
@pytest.mark.parametrize(("name", "options", "task"), PLAYS)
def test_the_transcript_is_what_predict_one_said_before_each_round(
    name: str, options: dict[str, Any], task: Any
) -> None:
    X, y = stream(task, dense=True, seed=3)
    of_task: dict[str, dict[str, Any]] = {"binary": {"classes": [-1.0, 1.0]}, "multiclass": {"classes": range(4)}}
    classes = of_task.get(task, {})
    played, asked = (nr.make(name, task=task, native=False, **classes, **options) for _ in range(2))
    transcript = played.play(X, y)
    predictions, scores = said(asked, X, y)
    assert transcript.predictions[1:].tolist() == predictions[1:]
    assert transcript.scores[1:].tolist() == np.array(scores[1:]).tolist()
    assert played.mistakes == asked.mistakes
    if task != "regression":
        assert transcript.mistakes[1:].tolist() == [
            said != label for said, label in zip(predictions[1:], y[1:], strict=True)
        ]


@pytest.mark.parametrize("algebra", ["sparse", "dense", "reference"])
@pytest.mark.parametrize("task", ["binary", "multiclass"])
def test_margins_are_those_of_the_weights_that_are_trained(algebra: str, task: Any) -> None:
    X, y = stream(task, dense=False)
    plain = nr.make("pa1", task=task, algebra=algebra, native=False)
    averaged = nr.make("pa1", task=task, algebra=algebra, native=False, average=True)
    trained, told = plain.play(X, y), averaged.play(X, y)
    assert trained.margins is None
    assert told.margins is not None
    assert told.updated.tolist() == trained.updated.tolist()
    assert np.maximum(0.0, 1.0 - told.margins).tolist() == trained.losses.tolist()
    assert told.losses.tolist() != trained.losses.tolist()


def play_both(name: str, X: Any, y: Any, query: Any = None, **told: Any) -> tuple[nr.Transcript, nr.Transcript]:
    """Without an average and with one; the rule must have been given the same rounds."""
    plain, averaged = (nr.make(name, native=False, **told, **more) for more in ({}, {"average": True}))
    trained, predicted = plain.play(X, y, query=query), averaged.play(X, y, query=query)
    assert predicted.updated.tolist() == trained.updated.tolist()
    assert predicted.scores.tolist() != trained.scores.tolist()
    assert averaged.model.arrays.w.v.tolist() == plain.model.arrays.w.tolist()
    return trained, predicted


@pytest.mark.parametrize("competitor", ["predicted", "rest"])
def test_other_competitors_are_trained_as_without_an_average(competitor: str) -> None:
    X, y = stream("multiclass", dense=False)
    _, told = play_both("perceptron", X, y, task="multiclass", competitor=competitor)
    assert (told.margins is None) == (competitor == "rest")


def test_rules_of_all_classes_are_trained_as_without_an_average() -> None:
    X, y = stream("multiclass", dense=False)
    _, told = play_both("pa_all", X, y, task="multiclass")
    assert told.margins is None


def test_margins_that_are_told_are_what_is_left_of_the_required_ones() -> None:
    X, y = stream("multiclass", dense=False)
    trained, told = play_both("pa1", X, y, cost={(0, 1): 3.0, (1, 0): 0.25}, task="multiclass")
    assert told.margins is not None
    assert np.maximum(0.0, 1.0 - told.margins) == pytest.approx(trained.losses, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("threshold", ["virtual", "zero"])
def test_sets_are_trained_as_without_an_average(threshold: str) -> None:
    X, y = streams.dense(30, 5, seed=1)
    sets = [{int(one > 0), 2 + int(x[0] > 0)} for x, one in zip(X, y, strict=True)]
    play_both("pa1", X, sets, task="multilabel", threshold=threshold)


@pytest.mark.parametrize("pairs", ["all", "each", "worst", "max_loss"])
def test_lists_are_trained_as_without_an_average(pairs: str) -> None:
    X, y = streams.dense(30, 5, seed=1)
    play_both("pa1", X, np.round(2.0 * X[:, 0] + y), np.arange(30) // 3, task="ranking", pairs=pairs)


def test_multilabel_and_ranking_predict_with_the_average() -> None:
    X, y = streams.dense(30, 5, seed=1)
    sets = [{int(one > 0), 2 + int(x[0] > 0)} for x, one in zip(X, y, strict=True)]
    learner, copy = (nr.make("pa1", task="multilabel", classes=range(4), average=True, native=False) for _ in range(2))
    transcript = learner.play(X, sets)
    for t, (x, own) in enumerate(zip(X, sets, strict=True)):
        if t:
            assert transcript.scores[t].tolist() == copy.scores(x[None, :])[0].tolist()
        copy.learn_one(x, own)
    query = np.arange(30) // 3
    ranker, other = (nr.make("pa1", task="ranking", average=True, native=False) for _ in range(2))
    ranks = ranker.play(X, y, query=query)
    for start in range(0, 30, 3):
        some = slice(start, start + 3)
        if start:
            assert ranks.scores[some].tolist() == other.scores(X[some]).tolist()
        other.learn(X[some], y[some], query=query[some])


def test_the_compiled_round_counts_the_mistakes_of_the_average() -> None:
    X, y = streams.dense(60, 4, seed=2)
    rows = [{f"f{j}": float(value) for j, value in enumerate(x)} for x in X]
    whole = nr.make("perceptron_averaged").learn(rows, y)
    single = nr.make("perceptron_averaged")
    wrong = 0
    for x, label in zip(rows, y, strict=True):
        wrong += single.predict_one(x) not in (None, label) or (single.rounds == 0 and label < 0)
        single.learn_one(x, label)
    assert single.mistakes == whole.mistakes == wrong


@pytest.mark.parametrize("name", ["pa1", "perceptron"])
def test_averaged_scores_of_classes_are_those_of_the_mean_of_all_weights(name: str) -> None:
    """The mean of the weights before the first round and after every round; the losses of rounds are the same."""
    told: dict[str, Any] = {"task": "multiclass", "classes": [0, 1, 2], "native": False}
    X, y = streams.dense(20, 3, seed=4)
    labels = (y > 0) + (X[:, 0] > 0)
    plain, averaged = nr.make(name, **told), nr.make(name, average=True, **told)
    rows = np.vstack([np.eye(3), X])
    found = [np.zeros((len(rows), 3))]
    for t in range(20):
        found.append(plain.learn(X[t : t + 1], labels[t : t + 1]).scores(rows))
    averaged.learn(X, labels)
    np.testing.assert_allclose(averaged.scores(rows), np.mean(found, axis=0), rtol=1e-10, atol=1e-12)
    assert averaged.predict(rows).tolist() == np.mean(found, axis=0).argmax(axis=1).tolist()
