"""The baselines are what the simplest guesses would have done, each made before the truth is seen."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.data.batch import Batch
from noregret.data.labels import as_array
from noregret.metrics import (
    Confusion,
    LabelBaselines,
    LabelChanges,
    LearningCurve,
    Loss,
    Metric,
    Mistakes,
    Runtime,
    TargetBaselines,
    Totals,
    Updates,
)
from noregret.metrics.baselines import FEW, ROWS


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
    metric = LabelBaselines()
    metric.see(None, transcript(labels))
    assert metric.report() == naive_labels(labels)


@pytest.mark.parametrize("piece", [1, 7, 300])
@pytest.mark.parametrize("classes", [2, 3, 40])
def test_long_runs_in_pieces_are_guessed_as_the_obvious_loop_guesses(classes: int, piece: int) -> None:
    labels = np.random.default_rng(classes).integers(classes, size=300)
    metric = LabelBaselines()
    for start in range(0, 300, piece):
        metric.see(None, transcript(labels[start : start + piece]))
    assert metric.report() == naive_labels(labels.tolist())


@pytest.mark.parametrize("piece", [1, 7, 60])
@pytest.mark.parametrize("names", [np.array([0, 1, 2]), np.array(["a", "b", "c"]), as_array([("a",), ("a", "b"), ()])])
def test_labels_that_differ_from_the_one_before_are_counted_in_any_pieces(names: Any, piece: int) -> None:
    labels = names[np.random.default_rng(1).integers(3, size=60)]
    metric = LabelChanges()
    for start in range(0, 60, piece):
        metric.see(None, transcript(labels[start : start + piece]))
        metric.see(None, transcript(labels[:0]))
    assert metric.report() == {"label_changes": sum(a != b for a, b in pairwise(labels.tolist()))}


def test_who_leads_at_the_end_of_a_piece_leads_when_many_classes_come() -> None:
    labels, metric = [["a", "b", "b"], ["b", *"cdefghijk", "b"]], LabelBaselines()
    for piece in labels:
        metric.see(None, transcript(piece))
    assert metric.report() == naive_labels([label for piece in labels for label in piece])


@pytest.mark.parametrize("piece", [1, 7, 300])
def test_targets_are_guessed_as_the_obvious_loop_guesses(piece: int) -> None:
    targets = np.random.default_rng(0).normal(3.0, 1.0, size=300)
    metric, whole = TargetBaselines(), TargetBaselines()
    for start in range(0, 300, piece):
        metric.see(None, transcript(targets[start : start + piece]))
    whole.see(None, transcript(targets))
    assert metric.report() == pytest.approx(naive_targets(targets.tolist()), rel=1e-12)
    assert metric.report() == whole.report()


def test_a_run_is_measured_by_what_it_is_told() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(50, 3))
    targets, labels = X @ np.ones(3), np.sign(X[:, 0])
    report = nr.play((X, targets), nr.make("pa1", task="regression", native=False), [TargetBaselines()])
    assert report == pytest.approx(naive_targets(targets.tolist()))
    assert nr.play((X, labels), nr.make("pa1", native=False), [LabelBaselines()]) == naive_labels(labels.tolist())


def test_before_the_first_round_nothing_is_wrong() -> None:
    assert LabelBaselines().report() == {"majority": 0, "last_label": 0}
    assert TargetBaselines().report() == {"mean": 0.0, "last_target": 0.0}


def test_a_round_without_rows_changes_nothing() -> None:
    metric = LabelBaselines()
    metric.see(None, transcript([]))
    metric.see(None, transcript(["a", "a"]))
    assert metric.report() == {"majority": 1, "last_label": 1}


EMPTY = Batch(np.zeros((0, 1)), np.zeros(0))


def happened(mistakes: list[int], losses: list[float], updated: list[int], seconds: float) -> nr.Transcript:
    wrong, moved, nothing = np.array(mistakes, bool), np.array(updated, bool), np.zeros(len(losses))
    return nr.Transcript(nothing, nothing, np.array(losses), wrong, moved, nothing, seconds)


def test_mistakes_losses_updates_and_time_are_summed_over_transcripts() -> None:
    metrics: list[Metric] = [Mistakes(), Loss(), Updates(), Runtime()]
    batch = Batch([], [])
    for metric in metrics:
        metric.see(batch, happened([1, 0, 1], [0.5, 0.0, 2.0], [1, 1, 1], 0.5))
        metric.see(batch, happened([1], [1.5], [0], 1.5))
    mistakes, loss, updates, runtime = [metric.report() for metric in metrics]
    assert mistakes == {"rounds": 4, "mistakes": 3, "rate": 0.75}
    assert loss == {"loss": 4.0, "mean_loss": 1.0}
    assert updates == {"updates": 3}
    assert runtime == {"seconds": 2.0, "rounds_per_second": 2.0}


def test_one_round_is_its_own_mean() -> None:
    mistakes, loss = Mistakes(), Loss()
    mistakes.see(None, happened([1], [1.5], [1], 0.0))
    loss.see(None, happened([1], [1.5], [1], 0.0))
    assert (mistakes.report()["rate"], loss.report()["mean_loss"]) == (1.0, 1.5)


def test_before_the_first_round_all_is_zero() -> None:
    assert Mistakes().report() == {"rounds": 0, "mistakes": 0, "rate": 0.0}
    assert Loss().report() == {"loss": 0.0, "mean_loss": 0.0}
    assert Updates().report() == {"updates": 0}
    assert Runtime().report() == {"seconds": 0.0, "rounds_per_second": 0.0}
    nothing = Runtime()
    nothing.see(None, happened([0], [0.0], [0], 0.0))
    assert nothing.report()["rounds_per_second"] == pytest.approx(1e9)


def test_milestones_begin_where_they_are_told_and_double() -> None:
    curve = LearningCurve()
    curve.see(None, happened([1, 0, 1, 1, 0], [1.0, 2.0, 3.0, 4.0, 5.0], [0, 1, 1, 0, 1], 0.0))
    assert curve.points == [(1, 1, 1.0, 0), (2, 1, 3.0, 1), (4, 3, 10.0, 2)]
    assert (curve.rounds, curve.mistakes, curve.loss, curve.updates) == (5, 3, 15.0, 3)
    assert curve.report() == {}
    curve = LearningCurve(first=2)
    curve.see(None, happened([1, 0, 1, 1], [1.0, 2.0, 3.0, 4.0], [0, 1, 1, 0], 0.0))
    assert curve.points == [(2, 1, 3.0, 1), (4, 3, 10.0, 2)]


def test_the_two_ways_to_count_majorities_agree_at_their_borders() -> None:
    for classes in (FEW, FEW + 1):
        labels = np.random.default_rng(5).integers(classes, size=60)
        metric = LabelBaselines()
        metric.see(None, transcript(labels))
        assert metric.report() == naive_labels(labels.tolist())
    first, second = [7, 7, 6, 5, 4, 3, 2, 1, 0, 7], [0, 0, 0, 7, 9, 9, 9, 9, 9, 9, 8, 10, 9, 7]
    for pieces in (
        [first, second],
        [first + second],
        [second, first],
        [second[:6], second[6:], first, second],
        [[7, 6, 6], [6, *second]],
    ):
        metric = LabelBaselines()
        for piece in pieces:
            metric.see(None, transcript(piece))
        assert metric.report() == naive_labels([label for piece in pieces for label in piece])
    many = [0, 0, 1, 0, 0, 2, 3, 4, 5, 6, 7, 8, 9, 0]
    metric = LabelBaselines()
    for piece in (many, [0, 1, 1, 1, 0, 0]):
        metric.see(None, transcript(piece))
    assert metric.report() == naive_labels([*many, 0, 1, 1, 1, 0, 0])
    long = np.random.default_rng(6).integers(3, size=ROWS + 5)
    whole, parts = LabelBaselines(), LabelBaselines()
    whole.see(None, transcript(long))
    for start in (0, ROWS - 2, ROWS + 1):
        parts.see(None, transcript(long[start : {0: ROWS - 2, ROWS - 2: ROWS + 1}.get(start)]))
    assert whole.report() == parts.report()


@pytest.mark.parametrize("size", [1, 7, 100])
def test_the_course_of_a_run_is_the_same_in_any_chunks(size: int) -> None:
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(100, 3)), rng.integers(2, size=100)
    whole = nr.make("pa1", native=False).play(X, y)
    curve, learner = LearningCurve(first=5), nr.make("pa1", native=False)
    loss = Loss()
    for start in range(0, 100, size):
        part = learner.play(X[start : start + size], y[start : start + size])
        curve.see(None, part)
        loss.see(None, part)
    expected = [
        (n, int(whole.mistakes[:n].sum()), float(np.cumsum(whole.losses[:n])[-1]), int(whole.updated[:n].sum()))
        for n in (5, 10, 20, 40, 80)
    ]
    assert curve.points == expected
    assert loss.total == float(np.cumsum(whole.losses)[-1])


@pytest.mark.parametrize("size", [1, 7, 300])
def test_the_totals_of_a_run_are_those_of_single_metrics_and_have_four_points_per_doubling(size: int) -> None:
    rng = np.random.default_rng(4)
    wrong, losses, changed = rng.integers(2, size=300), rng.exponential(size=300), rng.integers(2, size=300)
    whole = Totals()
    single: list[Mistakes | Loss | Updates] = [Mistakes(), Loss(), Updates()]
    for start in range(0, 300, size):
        stop = start + size
        part = happened(wrong[start:stop].tolist(), losses[start:stop].tolist(), changed[start:stop].tolist(), 0.0)
        whole.see(None, part)
        for metric in single:
            metric.see(None, part)
    assert whole.report() == {name: value for metric in single for name, value in metric.report().items()}
    rounds = [point.rounds for point in whole.points]
    assert rounds[:13] == [1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 13, 16, 19]
    assert {32, 64, 128, 256} <= set(rounds)
    for point in whole.all_points():
        n = point.rounds
        assert point == (n, wrong[:n].sum(), np.cumsum(losses)[n - 1], changed[:n].sum())
    assert whole.all_points()[-1].rounds == 300
    assert Totals().all_points() == []
    exact = Totals()
    exact.see(None, happened([1, 0, 1, 0], [1.0, 0.0, 1.0, 0.0], [1, 0, 1, 0], 0.0))
    assert [point.rounds for point in exact.all_points()] == [1, 2, 3, 4]


def test_totals_of_no_round_and_of_one() -> None:
    assert Totals().report() == {"rounds": 0, "mistakes": 0, "rate": 0.0, "loss": 0.0, "mean_loss": 0.0, "updates": 0}
    one = happened([1], [3.0], [1], 0.0)
    totals, later = Totals(), LearningCurve(first=8)
    for curve in (totals, later):
        curve.see(None, one)
        assert curve.all_points() == [(1, 1, 3.0, 1)]
    assert totals.report() == {"rounds": 1, "mistakes": 1, "rate": 1.0, "loss": 3.0, "mean_loss": 3.0, "updates": 1}


# ---- what guesses go by ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 3, 50])
def test_a_guess_of_targets_is_measured_by_the_deviation_of_those_before(size: int) -> None:
    y = 1e6 + np.random.default_rng(5).normal(size=50)
    guess = TargetBaselines()
    found = []
    for at in range(0, 50, size):
        found.append(guess.deviations(y[at : at + size]))
        guess.rounds += len(y[at : at + size])
    expected = np.array([0.0, *(float(np.std(y[:t])) for t in range(1, 50))])
    np.testing.assert_allclose(np.concatenate(found), expected, rtol=1e-6, atol=1e-7)
    level = TargetBaselines().deviations(np.full(4, 0.1) * np.array([1.0, 1.0, 1.0, 3.0]))
    assert level.tolist() == [0.0, 0.0, 0.0, 0.0]


def test_the_deviation_of_targets_whose_squares_underflow_is_a_number() -> None:
    y = np.array([0.0, *[2.7e-162, 3.4e-162] * 50])
    found = TargetBaselines().deviations(y)
    assert np.isfinite(found).all()
    assert (found >= 0.0).all()


def test_rounds_of_neither_class_are_nobodys_to_guess() -> None:
    labels = ["a", nr.UNIVERSUM, "b", "b", nr.UNIVERSUM, "a"]
    mixed, plain = LabelBaselines(), LabelBaselines()
    for part in (labels[:1], labels[1:2], labels[2:]):
        mixed.count(as_array(part))
    plain.count(np.array(["a", "b", "b", "a"]))
    assert mixed.report() == plain.report()
    sets = LabelBaselines()
    sets.count(as_array([("a", "b"), ("a",), ("a", "b")]))
    assert sets.report() == {"majority": 2, "last_label": 3}


def played(rounds: int, seed: int) -> nr.Transcript:
    rng = np.random.default_rng(seed)
    truth, predictions = rng.integers(0, 3, rounds), rng.integers(0, 3, rounds)
    losses, updated = rng.random(rounds), rng.random(rounds) < 0.3
    return nr.Transcript(losses, predictions, losses, truth != predictions, updated, truth, seconds=0.5 + seed)


@pytest.mark.parametrize("make", [Mistakes, Loss, Updates, Runtime, Confusion])
def test_parts_of_a_run_that_are_counted_apart_merge_to_the_whole(make: Any) -> None:
    first, second = played(7, seed=1), played(12, seed=2)
    whole, one, other = make(), make(), make()
    for part, metrics in ((first, (whole, one)), (second, (whole, other))):
        for metric in metrics:
            metric.see(None, part)
    before = one.report(), other.report()
    merged = one.merge(other)
    assert merged.report() == pytest.approx(whole.report(), rel=1e-15)
    assert (one.report(), other.report()) == before
    assert make().merge(one).report() == pytest.approx(one.report())
    assert one.merge(make()).report() == pytest.approx(one.report())


@pytest.mark.parametrize("dtype", [np.int64, np.float64, np.int8, object])
@pytest.mark.parametrize("classes", [2, FEW, FEW + 1, 30])
def test_labels_are_coded_alike_whatever_array_holds_them(dtype: Any, classes: int) -> None:
    rng = np.random.default_rng(classes)
    labels = rng.integers(0, classes, 200) - 1
    counted = LabelBaselines()
    for part in np.array_split(labels, 7):
        counted.count(part.astype(dtype))
    assert counted.report() == naive_labels(labels.tolist())
    assert counted.code == {label: code for code, label in enumerate(dict.fromkeys(labels.tolist()))}
    assert sum(counted.counts) == 200


def test_numbers_after_words_are_labels_of_their_own() -> None:
    counted = LabelBaselines()
    counted.count(np.array(["1", "2", "1"], dtype=object))
    counted.count(np.array([1, 2, 1]))
    assert list(counted.code) == ["1", "2", 1, 2]
    assert counted.report() == naive_labels(["1", "2", "1", 1, 2, 1])


@pytest.mark.parametrize("make", [LabelBaselines, LabelChanges, TargetBaselines])
def test_without_truths_or_rounds_nothing_is_counted(make: Any) -> None:
    metric, nothing = make(), np.zeros(0)
    metric.see(None, nr.Transcript(None, None, np.zeros(3), np.zeros(3, bool), np.zeros(3, bool), None))
    metric.see(None, nr.Transcript(nothing, nothing, nothing, nothing.astype(bool), nothing.astype(bool), nothing))
    assert set(metric.report().values()) == {0}


@pytest.mark.parametrize("share", [0.1, 0.9])
def test_losses_are_added_one_after_the_other_however_many_are_zero(share: float) -> None:
    rng = np.random.default_rng(3)
    losses = np.where(rng.random(500) < share, rng.random(500) * 10.0 ** rng.integers(-8, 8, 500), 0.0)
    curve, none = LearningCurve(3, per_doubling=2), np.zeros(500, bool)
    for start, stop in ((0, 1), (1, 200), (200, 500)):
        curve.see(None, nr.Transcript(None, None, losses[start:stop], none[start:stop], none[start:stop], None))
    total, sums = 0.0, []
    for loss in losses.tolist():
        total += loss
        sums.append(total)
    assert [point.loss for point in curve.all_points()] == [sums[point.rounds - 1] for point in curve.all_points()]
    assert curve.loss == sums[-1]
