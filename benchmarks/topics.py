"""Topics of news in the order of their dates: one online learner of sets beside one SGD classifier for every topic.

`python -m benchmarks.topics` prints the table; NOREGRET_DATA names the folder that holds reuters21578. The words of
title and body, measured by tf-idf as the stream goes, are the features of both; both know the 120 topics beforehand,
and both predict a story before they learn it. scikit-learn gets the stories 50 at a time: it predicts all of
them, then learns them one by one.
"""

import argparse
from datetime import date
from time import perf_counter
from typing import Any

import numpy as np
from scipy import sparse

import noregret as nr
from benchmarks.measure import installed
from noregret.data.blocks import SparseBlock
from noregret.data.transcript import Transcript
from noregret.evaluation.tables import table
from noregret.learner.encode import encode_rows
from noregret.metrics import Multilabel
from noregret.streams import open_source

DATA = "reuters21578"
ASIDE = ("id", "date", "places", "organisations")
CHUNK = 50
HEAD = ("learner", "ranking loss", "one-error", "Hamming loss", "micro F1", "macro F1", "exactly right", "seconds")


def stories() -> tuple[Any, list[tuple[str, ...]]]:
    """The stories that have topics as a sparse matrix, and their topics."""
    reader = nr.tf_idf() | nr.make("pa1", task="multilabel")
    parts, topics = list[SparseBlock](), list[tuple[str, ...]]()
    source = open_source(DATA, sets=True, label="topics", text=("title", "body"), drop=ASIDE, on_bad="skip")
    for batch in source:
        block = encode_rows(reader.model, batch.X, grow=True, include_unknown=False)
        assert isinstance(block, SparseBlock)
        parts.append(block)
        topics += batch.y
    width = max(part.width for part in parts)
    rows = [sparse.csr_matrix((part.val, part.idx, part.indptr), (part.rows, width)) for part in parts]
    return sparse.vstack(rows, format="csr"), topics


def measured(scores: np.ndarray, truth: np.ndarray) -> dict[str, float]:
    """What the metric says of these scores; a topic is predicted where its score is above zero."""
    wrong = ((scores > 0.0) != truth).any(axis=1)
    metric, zeros = Multilabel(), np.zeros(len(scores))
    metric.see(None, Transcript(scores, zeros, zeros, wrong, wrong, zeros, relevant=truth))
    return {**metric.report(), "exact": 1.0 - float(np.mean(wrong))}


def by_noregret(name: str, X: Any, topics: list[tuple[str, ...]], classes: list[str]) -> np.ndarray:
    learner = nr.make(name, task="multilabel", classes=classes)
    return learner.play(X, topics).scores


def by_scikit_learn(X: Any, truth: np.ndarray) -> np.ndarray:
    """One against the rest: logistic regression by SGD, as it comes, for every topic."""
    from sklearn.linear_model import SGDClassifier

    models = [SGDClassifier(loss="log_loss", random_state=0) for _ in range(truth.shape[1])]
    scores = np.full(truth.shape, -1.0)  # before its first rows a model predicts nothing
    for start in range(0, X.shape[0], CHUNK):
        some = slice(start, start + CHUNK)
        for topic, model in enumerate(models):
            if start:
                scores[some, topic] = model.decision_function(X[some])
            model.partial_fit(X[some], truth[some, topic], classes=[False, True])
    return scores


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--learners", default="pa1", help="with commas (default: pa1)")
    told = parser.parse_args()
    X, topics = stories()
    classes = sorted({topic for own in topics for topic in own})
    truth = np.array([[topic in own for topic in classes] for own in topics])
    lines = []
    for name in [*told.learners.split(","), "SGDClassifier"]:
        began = perf_counter()
        peer = name == "SGDClassifier"
        scores = by_scikit_learn(X, truth) if peer else by_noregret(name, X, topics, classes)
        seconds, found = perf_counter() - began, measured(scores, truth)
        keys = ("ranking_loss", "one_error", "hamming_loss", "micro_f1", "macro_f1", "exact")
        lines.append((name, *(f"{found[key]:.4f}" for key in keys), f"{seconds:.1f}"))
    print(f"{date.today()}: {X.shape[0]:,} stories, {X.shape[1]:,} words, {len(classes)} topics; "
          f"noregret {installed('noregret')}, scikit-learn {installed('scikit-learn')}")  # fmt: skip
    print(table(HEAD, lines))


if __name__ == "__main__":
    main()
