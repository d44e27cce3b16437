"""Errors of predicted targets, against scikit-learn."""

import math

import numpy as np
import pytest
from sklearn.metrics import mean_absolute_error, mean_squared_error, r2_score

from noregret import Transcript
from noregret.metrics import TargetErrors


def seen(predictions: list[float], truth: list[float], batches: int = 1) -> dict[str, float]:
    metric = TargetErrors()
    for some, targets in zip(np.array_split(predictions, batches), np.array_split(truth, batches), strict=True):
        nothing = np.zeros(len(some))
        metric.see(None, Transcript(some, some, nothing, nothing.astype(bool), nothing.astype(bool), targets))
    return metric.report()


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_they_are_those_of_scikit_learn_in_any_batches(offset: float) -> None:
    rng = np.random.default_rng(0)
    truth = (rng.normal(size=200) + offset).tolist()
    predictions = (np.array(truth) + 0.5 * rng.normal(size=200)).tolist()
    found = seen(predictions, truth)
    assert found["mae"] == pytest.approx(mean_absolute_error(truth, predictions), rel=1e-12)
    assert found["rmse"] == pytest.approx(mean_squared_error(truth, predictions) ** 0.5, rel=1e-12)
    assert found["r2"] == pytest.approx(r2_score(truth, predictions), rel=1e-8)
    assert seen(predictions, truth, batches=7) == found


def test_by_hand() -> None:
    assert seen([1.0, 2.0, 3.0], [2.0, 2.0, 5.0]) == pytest.approx(
        {"mae": 1.0, "rmse": math.sqrt(5 / 3), "r2": 1 - 5 / 6}
    )
    assert math.isnan(seen([1.0, 2.0], [4.0, 4.0])["r2"])
    assert seen([1.0, 5.0], [math.nan, 4.0])["mae"] == 1.0
    assert seen([], [])["mae"] == 0.0
