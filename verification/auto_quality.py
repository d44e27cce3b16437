"""How good `auto` is: its mistakes beside those of its best entry, the best default learner, River and scikit-learn.

    python -m verification.auto_quality --data DIR [STREAM ...]

prints the table of docs/auto.md. Every stream is read in its order (shuffled with seed 0 where it is sorted by label),
at most 100,000 rows of it, each predicted before it is learned. River and scikit-learn get the rows as `auto` encodes
them: numbers scaled by their running mean and deviation where the file is a table, with the constant feature.
"""

import argparse
import gzip
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import noregret as nr
from noregret.data.blocks import SparseBlock, verify

ROWS = 100_000
STREAMS = ("a9a", "w8a", "ijcnn1", "spam_drift", "elec2", "covtype", "kdd99", "mnist")
TABLES: dict[str, tuple[str, dict[str, Any]]] = {
    "elec2": ("elec2/elec.csv.gz", {"label": "class"}),
    "covtype": ("covtype/covtype.csv.xz", {}),
}
SVM = {"a9a": "a9a/a9a.svm.gz", "w8a": "w8a/w8a.svm.gz", "ijcnn1": "ijcnn1/ijcnn1.train.svm.bz2",
       "spam_drift": "spam_drift/spam_drift.svm.gz"}  # fmt: skip


def read_stream(name: str, folder: Path) -> tuple[list[tuple[Any, np.ndarray]], dict[str, Any]]:
    """The batches of a stream, and the options of learners that suit it."""
    if name == "mnist":
        images = gzip.decompress((folder / "mnist/train-images-idx3-ubyte.gz").read_bytes())
        labels = gzip.decompress((folder / "mnist/train-labels-idx1-ubyte.gz").read_bytes())
        X = np.frombuffer(images, np.uint8, offset=16).reshape(-1, 784) / 255.0
        y = np.frombuffer(labels, np.uint8, offset=8).astype(int)
        return [(X[at : at + 4096], y[at : at + 4096]) for at in range(0, len(y), 4096)], {"bias": "auto"}
    if name == "kdd99":
        source = read_kdd(folder / "kdd99/kddcup.data_10_percent.gz")
    elif name in TABLES:
        path, options = TABLES[name]
        source = nr.open_source(str(folder / path), limit=ROWS, **options)
    else:
        shuffled: dict[str, Any] = {"shuffle": 0} if name == "w8a" else {}
        source = nr.open_source(str(folder / SVM[name]), **shuffled)
    batches = [(batch.X, np.asarray(batch.y)) for batch in source]
    if name == "covtype":
        batches = [(X, (y.astype(str) == "2").astype(int)) for X, y in batches]
    return batches, dict(source.learner_defaults)


def read_kdd(path: Path) -> Any:
    """Normal connections against attacks."""
    import pandas as pd

    table = pd.read_csv(path, header=None, compression="gzip", nrows=ROWS)
    labels = np.where(table[41].str.startswith("normal"), 0, 1)
    table = table.drop(columns=[41])
    table.columns = [f"f{number}" for number in table.columns]
    return nr.open_source((table, labels), categorical=["f1", "f2", "f3"])


def best_default(batches: list[tuple[Any, np.ndarray]], options: dict[str, Any], task: str) -> tuple[int, str]:
    """The fewest mistakes of a learner with its default parameters, and which it was."""
    found = []
    for card in nr.learners():
        if task not in card.tasks or card.name not in nr.learners().rules or "sparse" not in card.algebras:
            continue
        try:
            learner = nr.make(card.name, **options)
            for X, y in batches:
                learner.learn(X, y)
        except nr.Error:
            continue
        found.append((learner.mistakes, card.name))
    return min(found)


def encode(batches: list[tuple[Any, np.ndarray]], options: dict[str, Any]) -> Iterator[tuple[Any, np.ndarray]]:
    """The rows of a stream as `auto` encodes them."""
    leader = nr.make("pa1", **options)
    for X, y in batches:
        leader._loops.encoded = []
        leader.learn(X, y)
        yield verify(leader._loops.encoded[-1]), y


def play_sklearn(batches: list[tuple[Any, np.ndarray]], options: dict[str, Any], width: int) -> dict[str, int]:
    """The mistakes of scikit-learn's linear learners, one row at a time."""
    import scipy.sparse as sp
    from sklearn.linear_model import Perceptron, SGDClassifier

    models = {"SGDClassifier": SGDClassifier(), "SGDClassifier(log_loss)": SGDClassifier(loss="log_loss"),
              "Perceptron": Perceptron()}  # fmt: skip
    classes, mistakes = np.unique(np.concatenate([y for _, y in batches])), dict.fromkeys(models, 0)
    fresh = True
    for block, y in encode(batches, options):
        if isinstance(block, SparseBlock):
            matrix: Any = sp.csr_matrix((block.val, block.idx, block.indptr), shape=(block.rows, width))
        else:
            matrix = block.val
        for row, label in enumerate(y):
            x = matrix[row : row + 1]
            for name, model in models.items():
                mistakes[name] += not fresh and int(model.predict(x)[0] != label)
                model.partial_fit(x, [label], classes=classes)
            fresh = False
    return mistakes


def play_river(batches: list[tuple[Any, np.ndarray]], options: dict[str, Any]) -> dict[str, int]:
    """The mistakes of River's linear learners."""
    from river import linear_model, multiclass

    makers: dict[str, Any] = {"LogisticRegression": linear_model.LogisticRegression,
                              "PAClassifier": linear_model.PAClassifier, "Perceptron": linear_model.Perceptron,
                              "ALMAClassifier": linear_model.ALMAClassifier}  # fmt: skip
    labels = np.unique(np.concatenate([y for _, y in batches]))
    two = len(labels) == 2
    models = {name: make() if two else multiclass.OneVsRestClassifier(make()) for name, make in makers.items()}
    mistakes = dict.fromkeys(models, 0)
    for block, y in encode(batches, options):
        for row in range(len(y)):
            x = row_dict(block, row)
            label: Any = bool(y[row] == labels[1]) if two else int(y[row])
            for name, model in models.items():
                mistakes[name] += model.predict_one(x) not in (None, label)
                model.learn_one(x, label)
    return mistakes


def row_dict(block: Any, row: int) -> dict[int, float]:
    if isinstance(block, SparseBlock):
        part = slice(int(block.indptr[row]), int(block.indptr[row + 1]))
        return dict(zip(block.idx[part].tolist(), block.val[part].tolist(), strict=True))
    return {at: value for at, value in enumerate(block.val[row].tolist()) if value}


def play_auto(batches: list[tuple[Any, np.ndarray]], options: dict[str, Any]) -> Any:
    learner = nr.make("auto", **options)
    for X, y in batches:
        learner.learn(X, y)
    return learner


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("streams", nargs="*", default=STREAMS)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("NOREGRET_DATA", "data")))
    parser.add_argument("--peers", action="store_true", help="River and scikit-learn, too: minutes")
    parser.add_argument("--peers-only", action="store_true", help="the same without the best default learner")
    args = parser.parse_args()
    print("| stream | rows | auto | weighted losses | best entry | best default learner | River | scikit-learn |")
    print("|---|---|---|---|---|---|---|---|")
    for name in args.streams:
        batches, options = read_stream(name, args.data)
        auto = play_auto(batches, options)
        report = auto.report()
        default = (0, "not asked for") if args.peers_only else best_default(batches, options, auto.task)
        cells = [name, f"{auto.rounds:,}", f"{auto.mistakes:,}", f"{report.loss:,.0f}",
                 f"{report.best_loss:,.0f} ({report.best})", f"{default[0]:,} ({default[1]})"]  # fmt: skip
        if args.peers or args.peers_only:
            width = auto.leader.model.known_space.features
            for found in (play_river(batches, options), play_sklearn(batches, options, width)):
                best = min(found, key=lambda one: found[one])
                cells.append(f"{found[best]:,} ({best})")
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
