"""Log loss, Brier score and calibration error, held against scikit-learn and sums by hand."""

from itertools import pairwise

import numpy as np
import pytest
from sklearn.metrics import log_loss

from noregret.data.transcript import Transcript
from noregret.metrics import Metric, Reliability

NONE = np.zeros(4, bool)
P = np.array([[0.9, 0.1, 0.0], [0.2, 0.5, 0.3], [0.1, 0.3, 0.6], [0.95, 0.05, 0.0]])
TRUTH = np.array(["a", "c", "c", "a"], object)


def transcript(rows: slice, truth: np.ndarray = TRUTH) -> Transcript:
    return Transcript(None, None, NONE[rows] * 0.0, NONE[rows], NONE[rows], truth[rows], probabilities=P[rows])


@pytest.mark.parametrize("cuts", [[0, 4], [0, 1, 3, 4]])
def test_it_agrees_with_scikit_learn_whatever_the_batches(cuts: list[int]) -> None:
    metric = Reliability(["a", "b", "c"])
    assert isinstance(metric, Metric)
    for start, stop in pairwise(cuts):
        metric.see(None, transcript(slice(start, stop)))
    report = metric.report()
    assert report["log_loss"] == pytest.approx(log_loss(TRUTH.astype(str), P, labels=["a", "b", "c"]))
    own = np.array([[1, 0, 0], [0, 0, 1], [0, 0, 1], [1, 0, 0]])
    assert report["brier"] == pytest.approx(((P - own) ** 2).sum(axis=1).mean())
    assert report["calibration_error"] == pytest.approx((0.5 + 0.4 + abs(1.85 - 2.0)) / 4)
    assert [(one["from"], one["rows"], one["right"]) for one in metric.bins()] == [
        (0.5, 1, 0.0),
        (0.6, 1, 1.0),
        (0.9, 2, 1.0),
    ]


def test_a_label_without_a_column_had_no_chance() -> None:
    metric = Reliability(["a", "b", "c"])
    metric.see(None, transcript(slice(0, 1), np.array(["new"], object)))
    assert metric.report()["log_loss"] == pytest.approx(-np.log(1e-15))
    assert metric.bins()[0]["right"] == 0.0


def test_without_probabilities_there_is_nothing_to_report() -> None:
    metric = Reliability(["a"])
    metric.see(None, Transcript(None, None, NONE * 0.0, NONE, NONE, TRUTH))
    assert metric.report() == {}
