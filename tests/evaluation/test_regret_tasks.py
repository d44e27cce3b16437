"""Regret of sets of labels, lists, balls, kernels and costs: the comparator's loss is that of the task itself."""

from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.data.batch import Batch
from noregret.evaluation import kernel_rows
from noregret.evaluation.hindsight_problem import Hindsight, look_back
from noregret.evaluation.regret import RegretRun
from noregret.evaluation.regret_report import RegretReport

PLAIN: dict[str, Any] = {"native": False}
rng = np.random.default_rng(4)
ROWS, FEATURES = 60, 3
X = rng.normal(size=(ROWS, FEATURES))
SCORES = X @ rng.normal(size=(FEATURES, 4)) + 0.5 * rng.normal(size=(ROWS, 4))
SETS = [
    tuple(np.flatnonzero(row > min(0.3, row.max() - 1e-9)).tolist()) if (row <= 0.3).any() else (0,) for row in SCORES
]
QUERY = np.repeat(np.arange(ROWS // 6), 6)
RELEVANCE = np.clip(np.round(SCORES[:, 0] + 1.0), 0.0, 3.0)
LABELS = np.where(X[:, 0] * X[:, 1] + 0.2 * rng.normal(size=ROWS) > 0.0, 1, -1)


def play(learner: Any, batch: Batch, size: int = 12) -> tuple[RegretReport, RegretRun, Any]:
    """A run in batches; the last transcripts are those of the learner."""
    run, losses = RegretRun([learner]), []
    for start in range(0, batch.rows, size):
        part = batch.cut(start, min(start + size, batch.rows))
        run.see_rows(part)
        transcript = learner.play(part.X, part.y, query=part.query)
        run.trackers[0].see(transcript)
        losses.append(transcript.losses)
    report = run.report(0, "x")
    assert isinstance(report, RegretReport), report
    assert report.last.loss == pytest.approx(np.concatenate(losses).sum())
    assert all(point.gap <= 1e-4 * max(point.comparator_loss, 1.0) for point in report.points)
    assert report.last.regret > -report.last.gap
    return report, run, losses


def solved(run: RegretRun) -> tuple[Hindsight, np.ndarray]:
    """The problem of all rounds, and its best weights."""
    tracker = run.trackers[0]
    assert tracker.rounds is not None
    [comparators] = run.solved.values()
    return look_back(tracker.rounds, tracker.learner), comparators[-1][1].weights


@pytest.mark.parametrize("threshold", ["virtual", "zero"])
def test_sets_of_labels(threshold: str) -> None:
    learner = nr.make("pa1", task="multilabel", threshold=threshold, **PLAIN)
    report, run, _ = play(learner, Batch(X, SETS))
    hindsight, u = solved(run)
    scores, order, total = hindsight.rounds.X @ u, learner.classes, 0.0
    for f, labels in zip(scores, SETS, strict=True):
        own = min(f[1 + order.index(label)] for label in labels)
        other = max(f[1 + c] for c, label in enumerate(order) if label not in labels)
        total += max(0.0, 1.0 - own + f[0]) + max(0.0, 1.0 - f[0] + other) if threshold == "virtual" else max(
            0.0, 1.0 - own + other
        )  # fmt: skip
    assert report.last.comparator_loss == pytest.approx(total, rel=1e-9)
    assert "one example" in str(report.why_no_bound)


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_lists(loss: str) -> None:
    learner = nr.make("ogd", task="ranking", loss=loss, **PLAIN)
    report, run, _ = play(learner, Batch(X, RELEVANCE, query=QUERY))
    assert report.rounds == [ROWS // 6]
    _, u = solved(run)
    f, total = X @ u[:, 0], 0.0
    for query in range(ROWS // 6):
        rows = np.flatnonzero(query == QUERY)
        margins = np.array([f[i] - f[j] for i in rows for j in rows if RELEVANCE[i] > RELEVANCE[j]])
        each = np.maximum(0.0, 1.0 - margins) if loss == "hinge" else np.log1p(np.exp(-margins))
        total += float(each.mean()) if each.size else 0.0
    assert report.last.comparator_loss == pytest.approx(total, rel=1e-9)
    assert report.last.loss > total
    assert "many pairs" in str(report.why_no_bound)


@pytest.mark.parametrize("learns", ["no", "yes"])
def test_balls(learns: str) -> None:
    y = np.where(rng.random(ROWS) < 0.9, 1, -1)
    learner = nr.make("pa", task="one-class", radius=1.0, learn_radius=learns, **PLAIN)
    report, run, _ = play(learner, Batch(X, y))
    _, centre = solved(run)
    beyond = np.maximum(0.0, np.linalg.norm(X[y > 0] - centre[:, 0], axis=1) - 1.0)
    assert report.last.comparator_loss == pytest.approx(beyond.sum(), rel=1e-9)
    assert report.comparator == "the best fixed centre of a ball of radius 1 for the rows as the rule saw them"
    assert "a centre is learned" in str(report.why_no_bound)


def test_a_ball_that_grows_has_nothing_to_compare_with() -> None:
    run = RegretRun([nr.make("pa1", task="one-class", **PLAIN)])
    assert "a ball that is large enough has no loss" in str(run.report(0, "pa1"))


@pytest.mark.parametrize(
    ("kernel", "options"), [("rbf", {"gamma": 0.5}), ("polynomial", {"degree": 2, "gamma": 1.0}), ("linear", {})]
)
@pytest.mark.parametrize("name", ["pa1", "perceptron"])
@pytest.mark.thinned(3)
def test_kernels(name: str, kernel: str, options: dict[str, Any]) -> None:
    learner = nr.make(name, algebra="kernel", kernel=kernel, **options, **PLAIN)
    report, run, _ = play(learner, Batch(X, LABELS))
    hindsight, v = solved(run)
    F = hindsight.rounds.X
    for s, t in rng.integers(0, ROWS, (5, 2)):
        near = {"rbf": np.exp(-0.5 * ((X[s] - X[t]) ** 2).sum()), "linear": X[s] @ X[t],
                "polynomial": (X[s] @ X[t] + 1.0) ** 2}[kernel]  # fmt: skip
        assert F[s] @ F[t] == pytest.approx(near, abs=1e-9)
    signs = hindsight.rounds.truths
    if name == "perceptron":  # its norm by its definition
        alpha = np.zeros(ROWS)
        for t in range(ROWS):
            alpha[t] = signs[t] if signs[t] * (F[t] @ (F.T @ alpha)) <= 0.0 else 0.0
        assert hindsight.norm == pytest.approx(np.linalg.norm(F.T @ alpha), rel=1e-6)
        assert report.loss == "hinge"
    assert hindsight.norm is not None
    assert np.linalg.norm(v) <= hindsight.norm * (1.0 + 1e-6)
    assert report.last.comparator_loss == pytest.approx(np.maximum(0.0, 1.0 - signs * (F @ v[:, 0])).sum(), rel=1e-6)
    assert "the best fixed function of the kernel with |u| <= " in report.comparator
    assert report.guarantee is not None
    assert report.guarantee.points[-1].measured <= report.guarantee.points[-1].bound


def test_a_linear_kernel_has_the_comparator_of_the_weights() -> None:
    both: list[dict[str, Any]] = [{}, {"algebra": "kernel", "kernel": "linear"}]
    reports = [play(nr.make("pa1", **options, **PLAIN), Batch(X, LABELS))[0] for options in both]
    assert reports[0].last.loss == pytest.approx(reports[1].last.loss, rel=1e-9)
    assert reports[1].last.comparator_loss >= reports[0].last.comparator_loss - reports[0].last.gap  # in a ball


def test_many_rounds_of_a_kernel_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_rows, "MOST_ROUNDS", 10)
    learner = nr.make("perceptron", algebra="kernel", **PLAIN)
    run = RegretRun([learner])
    run.see_rows(Batch(X, LABELS))
    run.trackers[0].see(learner.play(X, LABELS))
    assert run.report(0, "x") == "the best function of a kernel is found for at most 10 rounds"


def test_costs_are_part_of_the_loss_that_is_convex() -> None:
    y = np.argmax(SCORES[:, :3], axis=1)
    cost = {0: {1: 3.0}, 2: {0: 0.5}}
    learner = nr.make("pa1", task="multiclass", cost=cost, competitor="max_loss", **PLAIN)
    report, run, _ = play(learner, Batch(X, y))
    _, u = solved(run)
    f, order = X @ u, learner.classes
    total = 0.0
    for scores, truth in zip(f, y, strict=True):
        own = scores[order.index(truth)]
        total += max([0.0] + [cost.get(truth, {}).get(other, 1.0) - own + scores[order.index(other)] for other in order
                              if other != truth])  # fmt: skip
    assert report.last.comparator_loss == pytest.approx(total, rel=1e-9)
    assert "cost the same" in str(report.why_no_bound)
    other = nr.make("pa1", task="multiclass", cost=cost, **PLAIN)
    assert "not convex" in str(RegretRun([other]).report(0, "pa1"))


@pytest.mark.parametrize(("options", "words"), [
    ({"name": "banditron", "task": "bandit", "classes": [0, 1]}, "bound an expected loss"),
    ({"name": "pa1", "task": "structured"}, "made by a program"),
    ({"name": "pa1", "labels": "asked", "classes": [-1, 1]}, "asks for"),
])  # fmt: skip
def test_where_regret_makes_no_sense_the_reason_is_given(options: dict[str, Any], words: str) -> None:
    given = dict(options)
    assert words in str(RegretRun([nr.make(given.pop("name"), **given, **PLAIN)]).report(0, "x"))
