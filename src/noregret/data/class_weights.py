"""Class weights for imbalanced data: each round is weighted as if all classes had been equally frequent so far."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

Mode = Literal["balanced", "balanced_root"]

BALANCED: Mode = "balanced"
ROOT: Mode = "balanced_root"
MODES: tuple[Mode, ...] = (BALANCED, ROOT)


def balanced_weights(
    codes: NDArray[np.int64], class_counts: NDArray[np.int64], mode: str = BALANCED
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the weight of each round, given the rounds of every class before it, and the class counts afterwards.

    The weight is n / (k n_c): n rounds so far including this one, n_c of its class, k classes seen so far. Mode
    "balanced_root" takes the square root, which keeps the weights of rare classes small. A negative code is a round
    without a class: its weight is 1 and it is not counted.
    """
    labeled = np.flatnonzero(codes >= 0)
    known, weights = codes[labeled], np.ones(codes.size)
    before = np.zeros(max(class_counts.size, int(known.max(initial=-1)) + 1), np.int64)
    before[: class_counts.size] = class_counts
    order = np.argsort(known, kind="stable")
    sizes = np.bincount(known, minlength=before.size)
    starts = np.cumsum(sizes) - sizes
    of_class = np.empty(known.size, np.int64)  # rounds of the same class so far, including this one
    of_class[order] = np.arange(known.size) - np.repeat(starts, sizes) + 1 + np.repeat(before, sizes)
    rounds = int(before.sum()) + np.arange(1, known.size + 1)
    classes = np.count_nonzero(before) + np.cumsum(of_class == 1)
    balanced = rounds / (classes * of_class)
    weights[labeled] = np.sqrt(balanced) if mode == ROOT else balanced
    return weights, before + sizes
