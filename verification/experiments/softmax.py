"""Multinomial logistic regression beside other learners: online error in percent and mean -log p of one pass."""

import json
import lzma
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import HashingVectorizer

import noregret as nr
from verification.experiments.common import LETTER, MNIST, PENDIGITS, Row, Table, images
from verification.reproduce.data import rows

SATIMAGE, COVTYPE = "satimage/satimage.csv.gz", "covtype/covtype.csv.xz"
NEWSGROUPS, OPTDIGITS = "newsgroups20/20_newsgroups.jsonl.xz", "optdigits/optdigits.csv.gz"
KDD = "kdd99/kddcup.data_10_percent.gz"
FILES = (LETTER, SATIMAGE, COVTYPE, NEWSGROUPS, PENDIGITS, OPTDIGITS, MNIST, KDD)
MOST = 100_000
NUMBERS = {"scale": True, "bias": True}
LEARNERS: dict[str, dict[str, Any]] = {
    "`softmax`": {"rule": "softmax"},
    **{f"`{name}(loss=softmax)`": {"rule": name, "loss": "softmax"} for name in ("adagrad", "adadelta", "ogd", "ftrl")},
    **{f"`{name}`": {"rule": name} for name in ("adagrad", "pa1", "arow")},
}


def posts(file: Path) -> tuple[Any, np.ndarray]:
    """News without their headers, as rows of unit length of hashed words."""
    with lzma.open(file, "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    texts = [record["text"].partition("\n\n")[2] for record in records]
    X = HashingVectorizer(n_features=2**18, alternate_sign=False).fit_transform(texts)
    return X, np.array([record["group"] for record in records])


def data(base: Path) -> Iterator[tuple[str, Any, dict[str, Any]]]:
    """The name of each data set, its source, and the options of the learners."""
    for name, file in (("letter", LETTER), ("pendigits", PENDIGITS)):
        X, y = rows(base, file)
        yield name, (X.toarray(), y), NUMBERS
    for name, file in (("satimage", SATIMAGE), ("covtype", COVTYPE), ("optdigits", OPTDIGITS)):
        yield name, str(base / file), NUMBERS
    yield "newsgroups", posts(base / NEWSGROUPS), {"bias": True}
    yield "mnist", images(base), {"bias": True}
    yield "kdd99", str(base / KDD), NUMBERS


def measure(name: str, source: Any, options: dict[str, Any]) -> Row:
    reading: dict[str, Any] = {"limit": MOST} | ({"format": "csv", "header": False} if name == "kdd99" else {})
    cells = []
    for told in LEARNERS.values():
        learner = nr.make(**told, task="multiclass", **options)
        report = nr.play(nr.open_source(source, **reading) if isinstance(source, str) else source, learner)
        softly = learner.model.task.loss.of_all_scores
        cells.append(
            f"{100.0 * report['rate']:.2f}" + (f" / {report['loss'] / report['rounds']:.3f}" if softly else "")
        )
    return (name, f"{report['rounds']:,}", *cells)


def run(base: Path) -> Table:
    return ("data", "rounds", *LEARNERS), [measure(*one) for one in data(base)]
