"""With the linear kernel, every rule that the kernel algebra carries scores as it does with weights, in every task."""

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import noregret as nr
from noregret.rules.rule_card import RuleCard

ROWS, FEATURES = 60, 8
TASKS = ("binary", "multiclass", "regression", "one-class", "ranking", "multilabel")


def able(card: RuleCard, task: str) -> bool:
    return card.built_in and {"sparse", "kernel"} <= set(card.algebras) and task in card.tasks


BUILT_IN = [card for card in nr.learners().rules.values() if card.built_in]
PLAYED = [
    (card.name, task) for card in sorted(BUILT_IN, key=lambda one: one.name) for task in TASKS if able(card, task)
]


def stream(task: str) -> tuple[csr_array, Any, dict[str, Any]]:
    random = np.random.default_rng(3)
    X = random.standard_normal((ROWS, FEATURES)) * (random.random((ROWS, FEATURES)) < 0.6)
    X[:, 0] = 1.0
    X[7] = X[3]  # equal rows share a support
    u = random.standard_normal((FEATURES, 3))
    noise = 0.3 * random.standard_normal((ROWS, 3))
    scores = X @ u + noise
    if task == "ranking":
        return csr_array(X), np.digitize(scores[:, 0], [-1.0, 1.0]), {"query": np.repeat(np.arange(ROWS // 5), 5)}
    targets: Any = {
        "binary": scores[:, 0] > 0.0,
        "multiclass": scores.argmax(axis=1),
        "regression": scores[:, 0],
        "one-class": None,
        "multilabel": [[c for c in range(3) if row[c] >= min(row.max(), 0.0)] for row in scores],
    }[task]
    return csr_array(X), targets, {}


@pytest.mark.thinned(6)
@pytest.mark.parametrize(("name", "task"), PLAYED)
def test_the_linear_kernel_is_the_linear_learner(name: str, task: str) -> None:
    X, y, more = stream(task)
    made = {"task": task, "native": False}
    linear = nr.make(name, algebra="sparse", **made).learn(X, y, **more)
    kernel = nr.make(name, algebra="kernel", kernel="linear", **made).learn(X, y, **more)
    expected = np.asarray(linear.scores(X))
    largest = max(1.0, float(np.abs(expected).max()))
    np.testing.assert_allclose(kernel.scores(X), expected, rtol=1e-10, atol=1e-10 * largest)
    assert (kernel.updates, kernel.mistakes) == (linear.updates, linear.mistakes)


def test_the_test_covers_every_task() -> None:
    assert {task for _, task in PLAYED} == set(TASKS)
    assert len(PLAYED) >= 79
