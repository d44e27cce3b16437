"""Replay and the anchor of `mlp`: equal to what they are by definition, and against forgetting."""

from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.neural.net import REMEMBERED
from tests.naive.networks import Optimizer
from tests.neural.test_backprop import make, rounds, twin_of
from tests.support import refusal


def test_replay_learns_rounds_of_a_uniform_sample_again() -> None:
    """The twin draws from its own list by the generator of Park and Miller; both must learn the same rounds."""
    X, y = rounds("multiclass")
    learner = make("mlp", "multiclass", layers=[4], optimizer="sgd", eta=0.05, replay=6, replays=2, seed=3)
    twin = twin_of(learner, X, y, optimizer=Optimizer("sgd", 0.05))
    random, sample = int(np.random.default_rng(3).integers(1, 2147483647)), list[int]()

    def draw(limit: int) -> int:
        nonlocal random
        random = 16807 * random % 2147483647
        return (random - 1) * limit // 2147483646

    for t in range(len(y)):
        twin.learn(X[t], y[t])
        for at in [sample[draw(len(sample))] for _ in range(2)] if sample else []:
            twin.learn(X[at], y[at])
        if len(sample) < 6:
            sample.append(t)
        elif (place := draw(t + 1)) < 6:
            sample[place] = t
    learner.learn(X, y)
    assert learner.matrices()[0] == pytest.approx(twin.hidden[0], rel=1e-9)
    assert learner.matrices()[1] == pytest.approx(twin.heads[1], rel=1e-9)


def test_the_anchor_pulls_each_weight_as_much_as_it_mattered() -> None:
    X, y = rounds("multiclass")
    learner = make("mlp", "multiclass", layers=[4], optimizer="sgd", eta=0.05, anchor=3.0, activation="relu")
    twin = twin_of(learner, X, y, optimizer=Optimizer("sgd", 0.05), activation="relu")
    learner.learn(X[:20], y[:20]).consolidate()
    squares = [np.zeros_like(twin.hidden[0]), np.zeros_like(twin.heads[1])]
    for t in range(20):
        for sums, g in zip(squares, twin.gradients(X[t], y[t]), strict=True):
            sums += g**2
        twin.learn(X[t], y[t])
    anchor = [twin.hidden[0].copy(), twin.heads[1].copy()]
    learner.learn(X[20:], y[20:])
    for t in range(20, len(y)):
        gradients = twin.gradients(X[t], y[t])
        for w, g, start, sums in zip((twin.hidden[0], twin.heads[1]), gradients, anchor, squares, strict=True):
            w[g != 0.0] -= 0.05 * (g + 3.0 * sums / 20 * (w - start))[g != 0.0]
    assert learner.matrices()[0] == pytest.approx(twin.hidden[0], rel=1e-9)
    assert learner.matrices()[1] == pytest.approx(twin.heads[1], rel=1e-9)


def two_tasks(seed: int = 0) -> list[tuple[np.ndarray, np.ndarray]]:
    """The same four clusters with other labels: what one task teaches is wrong on other features in the next."""
    rng = np.random.default_rng(seed)
    tasks = []
    for task in range(2):
        X = np.zeros((150, 8))
        X[:, 4 * task : 4 * task + 4] = rng.normal(size=(150, 4))
        tasks.append((X, np.where(X[:, 4 * task] * X[:, 4 * task + 1] > 0.0, 1, -1)))
    return tasks


@pytest.mark.parametrize("options", [{"replay": 200, "replays": 2}, {"anchor": 100.0}], ids=str)
def test_replay_and_the_anchor_forget_less_than_a_plain_network(options: dict[str, Any]) -> None:
    first, second = two_tasks()
    flipped = (first[0], -first[1])  # a second task that contradicts the first

    def forgotten(**given: Any) -> float:
        learner: Any = nr.make("mlp", layers=[8], optimizer="sgd", eta=0.05, scale=False, native=False, **given)
        for _ in range(3):
            learner.learn(*first)
        if "anchor" in given:
            learner.consolidate()
        before = np.mean(learner.predict(first[0]) == first[1])
        learner.learn(flipped[0][:60], flipped[1][:60]).learn(*second)
        return float(before - np.mean(learner.predict(first[0]) == first[1]))

    assert forgotten(**options) < forgotten() - 0.05


def test_consolidate_needs_an_anchor_and_something_learned() -> None:
    plain: Any = nr.make("mlp")
    fresh: Any = nr.make("mlp", anchor=1.0)
    assert "anchor" in refusal(plain.consolidate)
    refusal(fresh.consolidate, nr.NotLearned)


def test_a_round_without_weight_replays_nothing() -> None:
    X, y = rounds("multiclass")
    learner = make("mlp", "multiclass", layers=[4], replay=5, replays=2).learn(X[:20], y[:20])
    before = [matrix.tolist() for matrix in learner.matrices()]
    learner.learn(X[20:], y[20:], weight=0.0)
    assert [matrix.tolist() for matrix in learner.matrices()] == before


def test_only_a_network_with_an_anchor_keeps_what_an_anchor_needs() -> None:
    X, y = rounds("binary")
    for anchor in (0.0, 1.0):
        _, arrays = make("mlp", "binary", layers=[3], optimizer="sgd", anchor=anchor).learn(X, y).dump()
        kept = {name.removeprefix("network/") for name in arrays if name.startswith("network/")}
        assert kept == ({"w", "seen", "importance", "anchor"} if anchor else {"w"})


def test_targets_count_once_though_they_are_replayed_and_not_without_weight() -> None:
    """The mean and deviation of targets are those of the rounds with weight, each once."""
    X, y = rounds("regression")
    weight = np.where(np.arange(len(y)) % 3, 1.0, 0.0)
    learner = make("mlp", "regression", layers=[3], replay=5, replays=2, scale_target="yes")
    header, _ = learner.learn(X, y, weight=weight).dump()
    _, count, mean, squares, *_ = header["network"]["counters"]
    kept = y[weight > 0.0]
    assert (count, mean, squares) == pytest.approx((len(kept), kept.mean(), len(kept) * kept.var()))


@pytest.mark.parametrize("replay", [0, 5])
def test_only_rounds_with_weight_are_remembered_and_only_for_replay(replay: int) -> None:
    X, y = rounds("binary")
    weight = np.where(np.arange(len(y)) % 2, 1.0, 0.0)
    learner = make("mlp", "binary", layers=[3], replay=replay).learn(X, y, weight=weight)
    assert learner.network.counters[REMEMBERED] == (len(y) / 2 if replay else 0)
