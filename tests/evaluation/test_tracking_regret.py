"""The regret against a sequence of weights: the best ones of every segment, each found for itself."""

from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.evaluation.regret_report import RegretReport, report_regret
from noregret.evaluation.report import report_entry
from noregret.evaluation.tracking_regret import describe_tracking
from noregret.metrics.comparator import find_comparator
from noregret.metrics.comparator_problem import Problem
from noregret.metrics.round_losses import ClassRounds, RoundLosses, SignedRounds, TargetRounds
from noregret.streams.synthetic import Synthetic


def regret_of(source: Any, learner: Any, **options: Any) -> RegretReport:
    found = nr.race(source, [learner], regret=True, **options).best.regret
    assert isinstance(found, RegretReport)
    return found


@pytest.mark.parametrize(
    ("spec", "options"),
    [
        ("hyperplane:change=abrupt,every=200,drift=180,rows=600,features=3", {"loss": "logistic"}),
        ("rotating_classes:change=recurring,every=100,rows=250,features=3", {}),
    ],
)
def test_each_segment_is_compared_with_its_own_best_weights(spec: str, options: dict[str, Any]) -> None:
    source = Synthetic(spec)
    X, y = source.draw_rounds(0, source.rows or 0)
    learner = nr.make("ogd", native=False, **options)
    report = regret_of(spec, learner)
    tracking = report.tracking
    assert tracking is not None
    assert [one.first for one in tracking.segments] == [0, *source.changes]
    losses = nr.make("ogd", native=False, **options).play(X, y).losses
    order = list(dict.fromkeys(y.tolist()))
    for one in tracking.segments:
        part = slice(one.first, one.last)
        kind = options.get("loss", "hinge")
        if len(order) == 2:
            rounds: RoundLosses = SignedRounds(kind, y[part].astype(float))
        else:
            rounds = ClassRounds(kind, np.array([order.index(label) for label in y[part].tolist()]), len(order))
        best = find_comparator(Problem(X[part], rounds))
        assert one.loss == pytest.approx(losses[part].sum(), rel=1e-9)
        assert one.comparator_loss == pytest.approx(best.loss, abs=one.gap + best.gap + 1e-9)
    assert tracking.regret == pytest.approx(sum(one.regret for one in tracking.segments))
    # Weights that may change do no worse than weights that may not.
    assert tracking.regret + tracking.gap >= report.last.regret - 1e-9
    assert tracking.regret > report.last.regret + 1.0


def test_targets_are_scaled_as_the_learner_scaled_them() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = np.where(np.arange(300) < 150, X[:, 0], -5.0 * X[:, 0]) + 0.01 * rng.normal(size=300)
    board = nr.race((X, y), [nr.make("pa1", task="regression", native=False)], regret=True,
                    detect="page_hinkley:threshold=8")  # fmt: skip
    report, alarms = board.best.regret, (board.best.drift or {})["alarms"]
    assert isinstance(report, RegretReport)
    assert report.tracking is not None
    assert alarms
    assert [one.first for one in report.tracking.segments] == [0, *alarms]
    assert report.tracking.known_by == "at the alarms of page_hinkley"
    last = report.tracking.segments[-1]
    part = slice(last.first, last.last)
    deviation = np.array([0.0, *(np.std(y[:t]) for t in range(1, 300))])
    eps = nr.make("pa1", task="regression").params["eps"]
    rounds = TargetRounds(report.loss, y[part], eps * deviation[part], deviation[part])
    best = find_comparator(Problem(X[part], rounds))
    assert last.comparator_loss == pytest.approx(best.loss, abs=last.gap + best.gap + 1e-6)


def test_without_changes_there_is_no_sequence() -> None:
    assert regret_of("separable:rows=100", nr.make("pa1", native=False)).tracking is None


def test_too_many_alarms_are_no_change_points() -> None:
    report = regret_of("sea:every=1,rows=100", nr.make("pa1", native=False))
    assert report.tracking is None
    assert any("100 segments, and at most 64 are compared" in note for note in report.notes)


def test_it_is_told_in_words_and_as_json() -> None:
    board = nr.race("sea:every=100,rows=200", ["perceptron"], regret=True, native=False)
    report = board.best.regret
    assert isinstance(report, RegretReport)
    assert report.tracking is not None
    lines = describe_tracking(report.tracking)
    assert lines[0].startswith("regret against the best weights of each of 2 segments, where the concept of the stream")
    assert lines[1].startswith("  rounds 1 to 100: loss ")
    told = report_entry(board.best)["regret"]["tracking"]
    assert told == report_regret(report)["tracking"]
    assert [(one["from"], one["to"]) for one in told["segments"]] == [(1, 100), (101, 200)]
