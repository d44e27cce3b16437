"""Reranking: the best of a list of candidates, such as the k best outputs of another system.

An input is a list of candidates, each a dict of features; the truth is the place of the best one, or the losses of all.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from noregret.errors import BadValue, shown
from noregret.structured.decoder import EnumeratingDecoder, Features


class Reranking(EnumeratingDecoder):
    """Choose one of a list of candidates; a prediction is its place.

    A candidate is a dict of features, or whatever `features(candidate)` makes one of. The truth is a place, where all
    other candidates have the loss 1, or a list with the loss of every candidate. Losses count from the smallest of the
    list, and the first candidate that has it is the one to learn.
    """

    def __init__(self, features: Callable[[Any], Features] | None = None) -> None:
        if features is not None and not callable(features):
            raise BadValue(f"features must be a function of a candidate, not {shown(features)}")
        self.candidate_features = features

    def outputs(self, x: Any) -> Sequence[int]:
        """The places of all candidates."""
        if not isinstance(x, (list, tuple)) or not x:
            raise BadValue(f"an input of reranking is a list of at least one candidate, not {shown(x)}")
        return range(len(x))

    def features(self, x: Any, y: Any) -> Features:
        """The features of a candidate; of the best one, where y are the losses of all."""
        candidate = x[y if is_place(y) else int(np.argmin(y))]
        return candidate if self.candidate_features is None else self.candidate_features(candidate)

    def check(self, x: Any, y: Any) -> None:
        """Refuse a place that the list does not have, and losses that are not one number for every candidate."""
        size = len(self.outputs(x))
        if is_place(y):
            if not 0 <= y < size:
                raise BadValue(f"there is no candidate {y} in a list of {size}")
            return
        losses = y if isinstance(y, (list, tuple, np.ndarray)) else ()
        if len(losses) != size or not all(is_number(loss) for loss in losses):
            raise BadValue(f"the truth of {size} candidates is the place of the best one, or a list of {size} finite "
                           f"losses, not {shown(y)}")  # fmt: skip

    def loss(self, y: Any, predicted: Any) -> float:
        """The loss of a candidate, counted from the smallest of the list."""
        if is_place(y):
            return 0.0 if y == predicted else 1.0
        return float(y[predicted]) - float(min(y))

    def same(self, y: Any, predicted: Any) -> bool:
        """Whether no candidate has a smaller loss."""
        return self.loss(y, predicted) == 0.0


def is_place(y: Any) -> bool:
    return isinstance(y, (int, np.integer)) and not isinstance(y, bool)


def is_number(loss: Any) -> bool:
    return isinstance(loss, (int, float, np.integer, np.floating)) and math.isfinite(loss)
