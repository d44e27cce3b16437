"""Structured output by a decoder: an enumerating decoder is joint features, and rules step as their text says."""

from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.structured.decoder import EnumeratingDecoder
from tests.conformance.plays import by_appearance, near
from tests.naive import streams

CLASSES = [0, 1, 2]
COST = {0: {1: 3.0, 2: 0.5}, 1: {0: 0.25, 2: 1.0}, 2: {0: 7.0, 1: 1.0}}


def overlapping(x: dict[str, float], label: int) -> dict[str, float]:
    """Features of the class alone, and features that classes share."""
    return {f"{label}:{name}": value for name, value in x.items()} | {
        f"shared {label // 2}:{name}": 0.5 * value for name, value in x.items()
    }


class Classes(EnumeratingDecoder):
    """Joint features as a decoder: the outputs are classes."""

    def __init__(self, cost: Any = None) -> None:
        self.cost = cost

    def outputs(self, x: Any) -> list[int]:
        return CLASSES

    def features(self, x: Any, y: Any) -> dict[str, float]:
        return overlapping(x, y)

    def loss(self, y: Any, predicted: Any) -> float:
        if y == predicted:
            return 0.0
        return 1.0 if self.cost is None else float(self.cost[y][predicted])


def rounds() -> tuple[list[dict[str, float]], list[int]]:
    X, _ = streams.sparse(60, 8, density=0.4, seed=3)
    U = np.random.default_rng(3).normal(size=(3, 8))
    y = by_appearance(streams.relabel(np.argmax(X @ U.T, axis=1), 3, rate=0.2, seed=3))
    return [{f"f{j}": float(x[j]) for j in np.flatnonzero(x)} for x in X], y.tolist()


def rule(name: str, **options: Any) -> nr.RuleLearner:
    """A learner; the default regularization of Pegasos follows the rows, which are differences here."""
    return nr.make(name, native=False, **({"lam": 0.05} if name == "pegasos" else {}), **options)


def made(name: str = "pa1", cost: Any = None, average: bool = False, **options: Any) -> Any:
    inner = rule(name, **({"average": True} if average else {}))
    return nr.make("structured", decoder=Classes(cost), learner=inner, **options)


@pytest.mark.parametrize("name", ["pa", "pa1", "pa2", "arow", "ogd", "adagrad", "pegasos"])
@pytest.mark.parametrize("cost", [None, COST], ids=["unit", "costs"])
@pytest.mark.parametrize("margin", ["loss", "sqrt"])
def test_an_enumerating_decoder_is_joint_features(name: str, cost: Any, margin: str) -> None:
    X, y = rounds()
    weight = np.random.default_rng(0).random(len(y)) + 0.5
    own = made(name, cost, competitor="max_loss", margin=margin)
    given = {} if cost is None else {"cost": cost, "margin": margin}
    joint = nr.Joint(rule(name), overlapping, CLASSES, competitor="max_loss", **given)
    weights = weight if own.learner.card.supports_weights else None
    found, expected = own.play(X, y, weights), joint.play(X, y, weights)
    assert found.predictions.tolist() == expected.predictions.tolist()
    assert found.mistakes.tolist() == expected.mistakes.tolist()
    assert found.updated.tolist() == expected.updated.tolist()
    assert own.weights.keys() == joint.learner.weights.keys()
    assert max(abs(own.weights[f] - joint.learner.weights[f]) for f in own.weights) < 1e-12
