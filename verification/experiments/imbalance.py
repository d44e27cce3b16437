"""Rare classes: the first connections of KDD Cup 1999 in the order of the file, some classes with a row or two."""

from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import StandardScaler

import noregret as nr
from noregret.metrics import Confusion

FILES = ("kdd99/kddcup.data_10_percent.gz",)
LEARNERS = ("adagrad", "ogd", "arow", "pa1")
WEIGHTS = (None, "balanced_root", "balanced")
HEAD = ("learner", "class weights", "mistakes", "rate", "balanced accuracy", "classes never found")
ROWS = 150_000
BATCH = 100  # rows that the peer predicts before it learns them


def run(base: Path) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    batches = list(nr.open_source(str(base / FILES[0]), format="csv", header=False, limit=ROWS))
    rows = []
    for name in LEARNERS:
        for weights in WEIGHTS:
            learner, seen = nr.make(name, scale=True, bias=True, class_weight=weights), Confusion()
            for batch in batches:
                seen.see(batch, learner.play(batch.X, batch.y))
            rows.append(line(name, weights, seen))
    X, y = as_matrix(batches)
    rows += [line("SGDClassifier", weights, peer(X, y, weights)) for weights in WEIGHTS]
    return HEAD, rows


def line(name: str, weights: str | None, seen: Confusion) -> tuple[str, ...]:
    hits = np.diag(seen.counts)
    rounds, wrong = int(seen.rounds.sum()), int(seen.rounds.sum() - hits.sum())
    never = int(np.count_nonzero((hits == 0) & (seen.rounds > 0)))
    return (name, weights or "", f"{wrong:,}", f"{wrong / rounds:.4f}", f"{seen.balanced_accuracy:.4f}", str(never))


def as_matrix(batches: list[Any]) -> tuple[Any, np.ndarray]:
    """All rows as a sparse matrix, with numbers in the first columns and words, as indicators, behind."""
    names, flags = batches[-1].X.names, batches[-1].X.indicator
    blocks = [batch.X.block for batch in batches]
    parts = [sparse.csr_array((b.val, b.idx, b.indptr), shape=(b.rows, len(names))) for b in blocks]
    order = np.argsort(np.asarray(flags)[: len(names)], kind="stable")
    y = np.array([label for batch in batches for label in batch.y])
    return sparse.vstack(parts).tocsc()[:, order].tocsr(), y


def peer(X: Any, y: np.ndarray, weights: str | None) -> Confusion:
    """Scikit-learn's linear classifier by the same weights; numbers by mean and deviation of the rows before."""
    model, scaler, seen = SGDClassifier(random_state=0), StandardScaler(), Confusion()
    classes, h = np.unique(y), weights_of(y, weights)
    for start in range(0, len(y), BATCH):
        rows, truth = X[start : start + BATCH].toarray(), y[start : start + BATCH]
        before = scaler.transform(rows) if start else np.zeros_like(rows)
        said = model.predict(before) if start else np.full(len(truth), None)
        nothing = np.zeros(len(truth))
        seen.see(None, nr.Transcript(nothing, said, nothing, nothing.astype(bool), nothing.astype(bool), truth))
        model.partial_fit(scaler.partial_fit(rows).transform(rows), truth, classes, h[start : start + BATCH])
    return seen


def weights_of(y: np.ndarray, weights: str | None) -> np.ndarray:
    """n / (k n_c) of every round, from the labels up to it, or its root."""
    if weights is None:
        return np.ones(len(y))
    met: dict[Any, int] = {}
    found = np.empty(len(y))
    for t, label in enumerate(y.tolist()):
        met[label] = met.get(label, 0) + 1
        found[t] = (t + 1) / (len(met) * met[label])
    return np.sqrt(found) if weights == "balanced_root" else found
