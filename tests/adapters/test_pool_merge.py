"""Pools that learned different rounds, merged."""

from typing import Any

import numpy as np
import pytest

import noregret as nr
from tests.adapters.pools import encode_as, few, noisy
from tests.support import by_name


def test_statistics_of_scaling_merge_as_if_all_rows_had_been_seen_by_one() -> None:
    X, y = noisy(60, columns=3)
    rows = [by_name(row) for row in X * 5.0 + 2.0]
    back = [dict(reversed(row.items())) | {"late": 1.0 + number % 3} for number, row in enumerate(rows)]
    a = nr.make("pa1", scale=True, native=False).learn(rows[:20], y[:20])
    b = nr.make("pa1", scale=True, native=False).learn(back[20:], y[20:])
    whole = nr.make("pa1", scale=True, native=False).learn(rows[:20] + back[20:], y)
    merged = a.merge(b)
    assert merged.features == whole.features
    for name in ("count", "mean", "spread"):
        found, expected = merged.model.transforms[-1].arrays[name], whole.model.transforms[-1].arrays[name]
        np.testing.assert_allclose(found[:4], expected[:4], rtol=1e-12, atol=1e-12)


def test_pools_merge_entry_by_entry_and_add_the_losses_of_hedge() -> None:
    X, y = noisy(200, columns=3)
    rows = [by_name(row) for row in X]
    back = [dict(reversed(row.items())) for row in rows]  # other names first: columns differ between the two
    pool: list[Any] = ["pa1", "arow", "perceptron"]
    a, b = few(pool, scale=True), few(pool, scale=True)
    a.learn(rows[:100], y[:100])
    b.learn(back[100:], y[100:])
    merged = a.merge(b)
    assert merged.rounds == 200
    assert merged.mistakes == a.mistakes + b.mistakes
    losses = a.mixture.cumulative_losses + b.mixture.cumulative_losses
    assert merged.mixture.cumulative_losses.tolist() == losses.tolist()
    alone = [nr.make(name, native=False, scale=True) for name in pool]
    for number, one in enumerate(alone):
        left = one.copy().learn(rows[:100], y[:100])
        right = one.copy().learn(back[100:], y[100:])
        expected = left.merge(right).predict(rows)
        entry = merged.entries[number]
        seen = encode_as(merged, rows) if entry.sees == "encoded" else rows
        assert entry.learner.predict(seen).tolist() == expected.tolist()
    assert merged.learn(rows, y).rounds == 400
    assert merged.predict_proba(rows).shape == (200, 2)
    with pytest.raises(nr.Error, match="the same entries"):
        a.merge(few(["pa1"]))
    with pytest.raises(nr.Error, match="only with a pool"):
        a.merge(nr.make("arow"))


def test_targets_of_merged_pools_have_the_deviation_of_all() -> None:
    X, _ = noisy(60, columns=2)
    target = X[:, 0] * 3.0 + 1.0
    pool = [("pa1", {"scale_target": False})]
    a, b = (nr.make("auto", pool=pool, native=False, task="regression", combine="hedge") for _ in range(2))
    a.learn(X[:20], target[:20])
    b.learn(X[20:], target[20:])
    count, first, total, squares = a.merge(b).targets  # type: ignore[attr-defined]
    assert count == 60
    assert first + total / count == pytest.approx(target.mean())
    assert squares / count - (total / count) ** 2 == pytest.approx(target.var())
