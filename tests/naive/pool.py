"""A pool as its definition says: every learner by itself, one row at a time, and Hedge over their losses."""

import math
from collections.abc import Sequence
from typing import Any


def play_pool(learners: Sequence[Any], rows: Sequence[Any], labels: Sequence[Any]) -> dict[str, Any]:
    """The votes, their mistakes, the weighted losses and the last weights of a pool of two-class learners."""
    losses = [0.0] * len(learners)
    votes, suffered = [], []
    for t, (x, y) in enumerate(zip(rows, labels, strict=True), 1):
        rate = math.sqrt(8.0 * math.log(len(learners)) / t)
        powers = [math.exp(-rate * (loss - min(losses))) for loss in losses]
        weights = [power / sum(powers) for power in powers]
        said = [one.predict_one(x) for one in learners]
        total: dict[Any, float] = {}
        for label, weight in zip(said, weights, strict=True):
            if label is not None:
                total[label] = total.get(label, 0.0) + weight
        votes.append(max(total, key=lambda label: (total[label], label)) if total else None)
        wrong = [float(label != y) for label in said]
        suffered.append(sum(weight * loss for weight, loss in zip(weights, wrong, strict=True)))
        for number, one in enumerate(learners):
            losses[number] += wrong[number]
            one.learn_one(x, y)
    return {"votes": votes, "suffered": suffered, "losses": losses}
