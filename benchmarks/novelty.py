"""Novelty detection on MNIST: one digit is learned, the others are novel; compared with scikit-learn's SGDOneClassSVM.

NOREGRET_DATA names the folder of the data. `python -m benchmarks.novelty` prints the table of docs/tasks.md.
"""

from importlib import import_module
from typing import Any

import numpy as np

import noregret
from benchmarks.many_classes import digits

# Rows of length 1 are at most 2 apart; C = 0.01 lets a hundred of them move the centre by 1.
OPTIONS = {"radius": 0.5, "C": 0.01}
LEARNED, SCORED = 15_000, 5_000  # rows of the file: those of one digit among the first are learned, the last are scored


def ball(X: Any) -> noregret.RuleLearner:
    """One pass over rows without labels."""
    return noregret.make("pa1", task="one-class", **OPTIONS).learn(X)


def default_ball(X: Any) -> noregret.RuleLearner:
    """One pass, by default: the radius is learned."""
    return noregret.make("pa1", task="one-class").learn(X)


def of_scikit(X: Any) -> Any:
    """One pass, by default."""
    return import_module("sklearn.linear_model").SGDOneClassSVM(random_state=0).partial_fit(X)


def main() -> None:
    """The table of docs/tasks.md."""
    auc = import_module("sklearn.metrics").roc_auc_score
    given, y = digits()
    X = given.multiply(
        1.0 / np.sqrt(given.multiply(given).sum(axis=1))
    ).tocsr()  # rows of length 1: the amount of ink does not matter
    test, strange = X[-SCORED:], y[-SCORED:]
    print("| digit | rows | noregret `pa1` | scikit-learn `SGDOneClassSVM` |")
    print("|---|---|---|---|")
    total = np.zeros(2)
    for digit in range(10):
        rows = X[:LEARNED][y[:LEARNED] == digit]
        learner, model = ball(rows), of_scikit(rows)
        found = [auc(strange != digit, learner.scores(test)), auc(strange != digit, -model.score_samples(test))]
        total += found
        print(f"| {digit} | {rows.shape[0]:,} | {found[0]:.3f} | {found[1]:.3f} |")
    print(f"| mean | | {total[0] / 10:.3f} | {total[1] / 10:.3f} |")
    for name, rows in (("rows of length 1", X), ("rows as they are", given)):
        found = [
            auc(strange != digit, default_ball(rows[:LEARNED][y[:LEARNED] == digit]).scores(rows[-SCORED:]))
            for digit in range(10)
        ]
        print(f"By default, {name}: mean {np.mean(found):.3f}")


if __name__ == "__main__":
    main()
