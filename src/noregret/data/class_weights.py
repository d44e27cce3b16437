"""Balanced classes: every round weighs as if all classes had been equally frequent so far."""

import numpy as np

BALANCED, ROOT = "balanced", "balanced_root"
WAYS = (BALANCED, ROOT)


def balanced(codes: np.ndarray, class_counts: np.ndarray, way: str = BALANCED) -> tuple[np.ndarray, np.ndarray]:
    """The weight of each of these rounds after `class_counts` rounds of every class, and how many there are afterwards.

    A round weighs n / (k n_c): n rounds so far and itself among them, n_c of its class, k classes seen by then; or the
    square root of that, where the rarest would weigh too much. A code below zero is a round of no class: it weighs 1
    and is not counted.
    """
    own = np.flatnonzero(codes >= 0)
    found, weights = codes[own], np.ones(codes.size)
    before = np.zeros(max(class_counts.size, int(found.max(initial=-1)) + 1), np.int64)
    before[: class_counts.size] = class_counts
    order = np.argsort(found, kind="stable")
    sizes = np.bincount(found, minlength=before.size)
    starts = np.cumsum(sizes) - sizes
    turn = np.empty(found.size, np.int64)  # which of its class a round is
    turn[order] = np.arange(found.size) - np.repeat(starts, sizes) + 1 + np.repeat(before, sizes)
    rounds = int(before.sum()) + np.arange(1, found.size + 1)
    classes = np.count_nonzero(before) + np.cumsum(turn == 1)
    even = rounds / (classes * turn)
    weights[own] = np.sqrt(even) if way == ROOT else even
    return weights, before + sizes
