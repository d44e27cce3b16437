"""Losses of the predictions of experts, and how the weights make one prediction of them."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.errors import BadValue, shown

Floats = NDArray[np.float64]
LEAST = 1e-6  # probabilities are kept this far from 0 and 1, so that the log loss is finite


@dataclass(frozen=True)
class PredictionLoss:
    """The loss of a prediction: its range, and whether it is convex, so that the weighted mean can predict."""

    compute: Callable[[Floats, Floats], Floats] | None  # None: losses are given as they are, or labels are compared
    range: tuple[float, float] = (0.0, 1.0)

    @property
    def convex(self) -> bool:
        return self.compute is not None


def log_loss(predictions: Floats, truth: Floats) -> Floats:
    """-ln of the probability given to the truth, 0 or 1."""
    kept = np.clip(predictions, LEAST, 1.0 - LEAST)
    return np.asarray(-np.log(np.where(truth == 1.0, kept, 1.0 - kept)))


PREDICTION_LOSSES = {
    "none": PredictionLoss(None),
    "zero_one": PredictionLoss(None),
    "squared": PredictionLoss(lambda x, y: np.asarray((x - y) ** 2)),
    "absolute": PredictionLoss(lambda x, y: np.asarray(np.abs(x - y))),
    "log": PredictionLoss(log_loss, (0.0, -math.log(LEAST))),
}


def check_range(given: Any) -> tuple[float, float]:
    """The lowest and the highest loss there can be."""
    try:
        low, high = (float(value) for value in given)
    except (TypeError, ValueError):
        raise BadValue(f"loss_range must be two numbers, the lowest and the highest loss, not {shown(given)}") from None
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise BadValue(f"loss_range must be two finite numbers, the lower one first, not {shown(given)}")
    return low, high


def compare_labels(predictions: NDArray[Any], truth: Iterable[Any], awake: NDArray[np.bool_]) -> Floats:
    """1 where a prediction is not the truth."""
    wanted = np.array([label_of(label) for label in truth], object)[:, None]
    return np.where(awake, predictions != wanted, False).astype(np.float64)


def label_of(label: Any) -> Any:
    """A label as a plain value, whole numbers as such."""
    label = label.item() if isinstance(label, np.generic) else label
    return int(label) if isinstance(label, float) and label.is_integer() else label


def vote(weights: Floats, predictions: NDArray[Any], awake: NDArray[np.bool_]) -> NDArray[Any]:
    """The label with the largest weight in every round; of equals the largest label, as 1 of 0 and 1."""
    labels = sorted(set(predictions[awake].tolist()), key=order_of, reverse=True)
    sums = [np.where(awake & (predictions == label), weights, 0.0).sum(axis=1) for label in labels]
    won = np.argmax(np.stack(sums, axis=1), axis=1)
    out = np.empty(len(weights), object)
    out[:] = [labels[at] for at in won]
    return out


def order_of(label: Any) -> tuple[bool, Any]:
    """Numbers before texts, each in their order."""
    return (True, label) if isinstance(label, str) else (False, label)
