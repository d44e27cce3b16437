"""One class of MNIST learned, the others found strange: a ball beside scikit-learn's SGDOneClassSVM in the same run.

NOREGRET_DATA names the folder of the data. `python -m benchmarks.novelty` prints the table of docs/tasks.md.
"""

from importlib import import_module
from typing import Any

import numpy as np

import noregret
from benchmarks.many_classes import digits

TOLD = {"radius": 0.5, "C": 0.01}  # rows of length 1 are at most 2 apart; a hundred of them may move the centre by 1
LEARNED, JUDGED = 15_000, 5_000  # rows of the file: those of one digit among the first are learned, the last are judged


def ball(X: Any) -> noregret.RuleLearner:
    """One pass over rows without labels."""
    return noregret.make("pa1", task="one-class", **TOLD).learn(X)


def of_scikit(X: Any) -> Any:
    """One pass, by default."""
    return import_module("sklearn.linear_model").SGDOneClassSVM(random_state=0).partial_fit(X)


def main() -> None:
    """The table of docs/tasks.md."""
    auc = import_module("sklearn.metrics").roc_auc_score
    X, y = digits()
    X = X.multiply(1.0 / np.sqrt(X.multiply(X).sum(axis=1))).tocsr()  # rows of length 1: not how much ink, but where
    test, strange = X[-JUDGED:], y[-JUDGED:]
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


if __name__ == "__main__":
    main()
