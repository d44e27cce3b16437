"""Rounds and learners of the bandit task."""

from typing import Any

import numpy as np

import noregret as nr
from noregret.state.growth import parts

K = 4


def stream(rounds: int = 120, seed: int = 0) -> tuple[Any, Any]:
    """Noisy classes of rows, one of them zero."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rounds, 5)) * (rng.random((rounds, 5)) < 0.7)
    X[7] = 0.0
    y = np.argmax(X @ rng.normal(size=(K, 5)).T, axis=1)
    return X, np.where(rng.random(rounds) < 0.1, rng.integers(0, K, rounds), y)


def player(name: str, **told: Any) -> nr.RuleLearner:
    return nr.make(name, **{"classes": range(K), "native": False, "seed": 5, **told})


def weights(learner: nr.RuleLearner) -> Any:
    """The weights, class by feature."""
    space = learner.model.space
    assert space is not None
    return next(parts(learner.model.shape, learner.model.arrays, space))[2][: space.classes, : space.features].copy()
