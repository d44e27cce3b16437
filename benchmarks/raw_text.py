"""Raw text to word counts, tf-idf and AROW in one pass, compared with scikit-learn's HashingVectorizer and SGD."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import noregret as nr
from benchmarks.measure import Row, best, in_turn, rate
from benchmarks.vw_text import ranks, vocabulary
from noregret.streams import open_source

TITLE = "Raw text to a model, one pass (60 000 texts of 80 words)"
ROWS, WORDS, LENGTH = 60_000, 60_000, 80
OURS, PEER = "words, tf_idf, arow", "HashingVectorizer, SGDClassifier.partial_fit"
CHUNK = 8192


def texts() -> tuple[list[str], np.ndarray]:
    """Texts of Zipf-distributed words, with some capitals and commas."""
    rng = np.random.default_rng(3)
    words, weight = np.array(vocabulary(rng, WORDS)), rng.normal(size=WORDS)
    drawn = ranks(rng, WORDS, (ROWS, LENGTH))
    labels = np.where(weight[drawn].sum(axis=1) + rng.normal(size=ROWS) > 0, 1, -1)
    made = []
    for row in drawn:
        said = words[row].tolist()
        said[0] = said[0].capitalize()
        said[LENGTH // 2] += ","
        made.append(" ".join(said) + ".")
    return made, labels


def streamed(path: Path) -> Any:
    """The file as a user would learn it."""
    learner = nr.tf_idf() | nr.make("arow")
    for batch in open_source(path, label="label", text="text"):
        learner.learn(batch.X, batch.y)
    return learner


def by_scikit_learn(path: Path) -> Any:
    """The same rows from the same file, in chunks."""
    import pandas
    from sklearn.feature_extraction.text import HashingVectorizer
    from sklearn.linear_model import SGDClassifier

    vectorizer, model = HashingVectorizer(), SGDClassifier()
    for part in pandas.read_csv(path, sep="\t", chunksize=CHUNK):
        X = vectorizer.transform(part["text"])
        model.partial_fit(X, part["label"].to_numpy(), classes=[-1, 1])
    return model


def run() -> list[Row]:
    said, labels = texts()
    with TemporaryDirectory() as folder:
        path = Path(folder, "texts.tsv")
        path.write_text("label\ttext\n" + "".join(f"{y}\t{x}\n" for x, y in zip(said, labels.tolist(), strict=True)))
        learner = streamed(path)
        times = in_turn({OURS: lambda: lambda: streamed(path), PEER: lambda: lambda: by_scikit_learn(path)}, repeats=3)
    figure = best(times, PEER) / best(times, OURS)
    mistakes = f"{learner.mistakes / learner.rounds:.3f} mistakes a round"
    peer = f"{PEER} {rate(ROWS, best(times, PEER))}"
    return [Row(f"TSV: {OURS} ({mistakes})", rate(ROWS, best(times, OURS)), peer, figure, "x", 4.0, seconds=times)]
