"""The baselines are what the simplest guesses would have done, each made before the truth is seen."""

from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.referees import Baselines, Loss, Milestones


def transcript(truth: Any, scores: Any = None, predictions: Any = None) -> nr.Transcript:
    truth = np.asarray(truth)
    zeros = np.zeros(len(truth))
    scores = zeros if scores is None else scores
    predictions = np.full(len(truth), None) if predictions is None else predictions
    return nr.Transcript(scores, predictions, zeros, zeros.astype(bool), zeros.astype(bool), truth)


def naive_labels(labels: list[Any]) -> dict[str, int]:
    majority = last = 0
    for t, label in enumerate(labels):
        before = labels[:t]
        order = list(dict.fromkeys(before))
        majority += not before or label != max(order, key=before.count)
        last += not before or label != before[-1]
    return {"majority": majority, "last_label": last}


def naive_targets(targets: list[float]) -> dict[str, float]:
    mean = last = 0.0
    for t, target in enumerate(targets):
        before = targets[:t]
        mean += abs(target - (sum(before) / t if t else 0.0))
        last += abs(target - (before[-1] if t else 0.0))
    return {"mean": mean, "last_target": last}


@pytest.mark.parametrize(
    "labels",
    [
        [1],
        [1, -1, -1, 1, 1],
        ["a", "b", "b", "a", "c", "c", "c", "b", "b"],
        [0, 0, 1, 1, 1, 0, 0, 0, 1],
        [True, False, True],
    ],
)
def test_labels_are_guessed_as_the_obvious_loop_guesses(labels: list[Any]) -> None:
    referee = Baselines()
    referee.see(transcript(labels))
    assert referee.report() == naive_labels(labels)


@pytest.mark.parametrize("piece", [1, 7, 300])
@pytest.mark.parametrize("classes", [2, 3, 40])
def test_long_runs_in_pieces_are_guessed_as_the_obvious_loop_guesses(classes: int, piece: int) -> None:
    labels = np.random.default_rng(classes).integers(classes, size=300)
    referee = Baselines()
    for start in range(0, 300, piece):
        referee.see(transcript(labels[start : start + piece]))
    assert referee.report() == naive_labels(labels.tolist())


@pytest.mark.parametrize("piece", [1, 7, 300])
def test_targets_are_guessed_as_the_obvious_loop_guesses(piece: int) -> None:
    targets = np.random.default_rng(0).normal(3.0, 1.0, size=300)
    referee, whole = Baselines(np.abs), Baselines(np.abs)
    for start in range(0, 300, piece):
        referee.see(transcript(targets[start : start + piece]))
    whole.see(transcript(targets))
    assert referee.report() == pytest.approx(naive_targets(targets.tolist()), rel=1e-12)
    assert referee.report() == whole.report()


def test_a_run_is_measured_by_what_it_is_told() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(50, 3))
    targets, labels = X @ np.ones(3), np.sign(X[:, 0])
    report = nr.play((X, targets), nr.make("pa1", game="regression", native=False), [Baselines(np.abs)])
    assert report == pytest.approx(naive_targets(targets.tolist()))
    assert nr.play((X, labels), nr.make("pa1", native=False), [Baselines()]) == naive_labels(labels.tolist())


def test_before_the_first_round_nothing_is_wrong() -> None:
    assert Baselines().report() == {"majority": 0, "last_label": 0}
    assert Baselines(np.abs).report() == {"mean": 0.0, "last_target": 0.0}


def test_a_round_without_rows_changes_nothing() -> None:
    referee = Baselines()
    referee.see(transcript([]))
    referee.see(transcript(["a", "a"]))
    assert referee.report() == {"majority": 1, "last_label": 1}


@pytest.mark.parametrize("size", [1, 7, 100])
def test_the_course_of_a_run_is_the_same_in_any_chunks(size: int) -> None:
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(100, 3)), rng.integers(2, size=100)
    whole = nr.make("pa1", native=False).play(X, y)
    course, learner = Milestones(first=5), nr.make("pa1", native=False)
    loss = Loss()
    for start in range(0, 100, size):
        part = learner.play(X[start : start + size], y[start : start + size])
        course.see(part)
        loss.see(part)
    expected = [
        (n, int(whole.mistakes[:n].sum()), float(np.cumsum(whole.losses[:n])[-1]), int(whole.updated[:n].sum()))
        for n in (5, 10, 20, 40, 80)
    ]
    assert course.points == expected
    assert loss.total == float(np.cumsum(whole.losses)[-1])
