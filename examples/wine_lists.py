"""White wines in lists of twenty, to be put in order of quality: ranking beside pairwise SGD of scikit-learn.

Run with `python examples/wine_lists.py winequality-white.csv.gz`, the table of UCI (Cortez et al. 2009). Lists are made
of the rows in the order of the file. Every list is scored before its qualities are seen, on features scaled by the rows
before it.
"""

import sys
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import StandardScaler

import noregret as nr
from noregret.evaluation.tables import table

SIZE = 20
LEARNERS = ("pa1", "arow", "scw1", "adagrad")
PAIRS = ("worst", "each", "all")


def peer(X: Any, y: Any, query: Any, loss: str) -> tuple[dict[str, float], float]:
    """SGD on the differences of all pairs of a list, every other one turned round: it wants two classes."""
    model, scaler = SGDClassifier(loss=loss, fit_intercept=False, random_state=0), StandardScaler()
    scores, seconds = np.zeros(len(y)), 0.0
    for q in np.unique(query):
        some = query == q
        began = perf_counter()
        rows = scaler.transform(X[some]) if q else X[some]
        if q:
            scores[some] = model.decision_function(rows)
        rows = scaler.partial_fit(X[some]).transform(X[some])
        i, j = np.nonzero(y[some][:, None] > y[some])
        if i.size:
            signs = np.where(np.arange(i.size) % 2, -1.0, 1.0)
            model.partial_fit(signs[:, None] * (rows[i] - rows[j]), signs, classes=[-1.0, 1.0])
        seconds += perf_counter() - began
    return measured(scores, y, query), seconds


def measured(scores: Any, y: Any, query: Any) -> dict[str, float]:
    from noregret.metrics import Ranking

    ranking, nothing = Ranking(), np.zeros(0)
    ranking.see(None, nr.Transcript(scores, scores, nothing, nothing, nothing, y, lists=query))
    return ranking.report()


def ours(X: Any, y: Any, query: Any, name: str, pairs: str) -> tuple[dict[str, float], float]:
    make = {"task": "ranking", "pairs": pairs, "scale": True}
    nr.make(name, **make).learn(X[:SIZE], y[:SIZE], query=query[:SIZE])  # compiled before the clock starts
    told = nr.play((X, y, query), nr.make(name, **make))
    return told, told["seconds"]


def main(file: str) -> None:
    cells = np.loadtxt(file, delimiter=",")
    X, y = cells[:, :-1], cells[:, -1]
    query = np.arange(len(y)) // SIZE
    runs = {"as they come": (measured(-np.arange(len(y)) * 1.0, y, query), 0.0)}
    runs |= {f"{name}, pairs {pairs}": ours(X, y, query, name, pairs) for name in LEARNERS for pairs in PAIRS}
    runs |= {f"SGDClassifier, {loss}": peer(X, y, query, loss) for loss in ("hinge", "log_loss")}
    head = ("", "pairs right", "NDCG", "NDCG@10", "seconds")
    rows = [
        (name, *(f"{told[key]:.4f}" for key in ("pair_accuracy", "ndcg", "ndcg_at_10")), f"{seconds:.3f}")
        for name, (told, seconds) in runs.items()
    ]
    print(table(head, rows))


if __name__ == "__main__":
    main(sys.argv[1])
