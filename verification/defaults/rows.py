"""Rows of the streams: tables, text and generated ones, read and prepared.

Every stream has at most a few thousand rows, as a sparse matrix, in a fixed random order; drifting ones keep theirs.
"""

import csv
import gzip
import json
import lzma
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse
from sklearn import datasets
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import normalize

Rows: TypeAlias = tuple[Any, np.ndarray]
MOST, MOST_TEXT, LINES = 4000, 1500, 60_000


def prepare(X: Any, y: Any, most: int = MOST, shuffle: bool = True) -> Rows:
    """Some rows in a fixed random order; of two classes the labels are -1 and +1, of more they are numbers."""
    order = np.random.default_rng(0).permutation(X.shape[0])[:most] if shuffle else np.arange(min(most, X.shape[0]))
    labels, codes = np.unique(np.asarray(y)[order], return_inverse=True)
    found = sparse.csr_array(X[order], dtype=np.float64)
    found.sort_indices()
    return found, np.where(codes > 0, 1, -1) if len(labels) == 2 else codes


def standardize(X: np.ndarray) -> np.ndarray:
    """Columns less their running mean, divided by their running deviation, and a constant: as tables are read."""
    count = np.arange(1, len(X) + 1)[:, None]
    mean = np.cumsum(X, axis=0) / count
    deviation = np.sqrt(np.maximum(np.cumsum(X**2, axis=0) / count - mean**2, 0.0))
    scaled = np.where(deviation > 1e-9 * (1.0 + np.abs(mean)), (X - mean) / np.maximum(deviation, 1e-300), 0.0)
    return np.hstack((np.ones((len(X), 1)), scaled))


def scaled_rows(X: np.ndarray, y: Any, shuffle: bool = True) -> Rows:
    """Rows of a table, in their order, then standardized."""
    rows, labels = prepare(X, y, shuffle=shuffle)
    return sparse.csr_array(standardize(rows.toarray())), labels


# ---- generated -------------------------------------------------------------------------------------------------------


def text_like(rows: int, words: int, classes: int, seed: int) -> Rows:
    """Unit-length rows of words with frequencies as in Zipf's law; every class prefers a few hundred of them."""
    rng = np.random.default_rng(seed)
    usual = 1.0 / np.arange(1, words + 1)
    y = rng.integers(classes, size=rows)
    tastes = [np.where(rng.random(words) < 0.02, 8.0, 1.0) * usual for _ in range(classes)]
    found = sparse.lil_array((rows, words))
    for t, label in enumerate(y):
        cells = np.unique(rng.choice(words, size=60, p=tastes[label] / tastes[label].sum()))
        found[[t], cells] = 1.0 / np.sqrt(cells.size)
    return prepare(found.tocsr(), y)


def table_like(seed: int) -> Rows:
    """A dense table whose columns have scales from 0.01 to 1000, and a noisy linear concept."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(3000, 12)) + rng.normal(size=12)
    y = X @ rng.normal(size=12) + rng.normal(size=3000) > 0.0
    return prepare(X * 10.0 ** rng.uniform(-2.0, 3.0, size=12), y)


def rare_class(seed: int) -> Rows:
    """Binary features, 3 % of positive rows, no constant."""
    rng = np.random.default_rng(seed)
    X = (rng.random((4000, 200)) < 0.06).astype(float)
    score = X @ rng.normal(size=200) + 0.3 * rng.normal(size=4000)
    return prepare(X, score > np.quantile(score, 0.97))


def built_in(load: Callable[..., Any], scaled: bool) -> Rows:
    X, y = load(return_X_y=True)
    return scaled_rows(X, y) if scaled else prepare(X, y)


def in_runs(seed: int) -> Rows:
    """Twelve clouds of points, of which twenty points of one follow upon twenty of another."""
    rng = np.random.default_rng(seed)
    y = np.repeat(rng.integers(12, size=150), 20)
    return scaled_rows(rng.normal(size=(12, 15))[y] + rng.normal(size=(3000, 15)), y, shuffle=False)


def drifting(seed: int) -> Rows:
    """A dense table with a noisy linear concept that turns slowly, by about one radian over all rows."""
    rng = np.random.default_rng(seed)
    X, angle = rng.normal(size=(4000, 10)), np.linspace(0.0, 1.0, 4000)
    u, v = np.linalg.qr(rng.normal(size=(10, 2)))[0].T
    score = np.cos(angle) * (X @ u) + np.sin(angle) * (X @ v) + 0.3 * rng.normal(size=4000)
    return scaled_rows(X, score > 0.0, shuffle=False)


# ---- files -----------------------------------------------------------------------------------------------------------


def svm(file: Path, shuffle: bool = True) -> Rows:
    X, y = datasets.load_svmlight_file(str(file))
    return prepare(X, y, shuffle=shuffle)


def svm_scaled(file: Path) -> Rows:
    X, y = datasets.load_svmlight_file(str(file))
    return scaled_rows(X.toarray(), y)


def table(file: Path, shuffle: bool = True, label: int = -1, head: int = 1, scaled: bool = True) -> Rows:
    """A table of numbers with one column of labels."""
    opened = lzma.open if file.suffix == ".xz" else gzip.open
    with opened(file, "rt") as lines:
        text = [line.rstrip().split("\t" if "\t" in line else ",") for line in islice(lines, head, LINES)]
    y = np.array([cells[label].strip().strip("'") for cells in text])
    X = np.array([cells[:-1] if label < 0 else cells[1:] for cells in text], np.float64)
    return scaled_rows(X, y, shuffle) if scaled else prepare(X, y, shuffle=shuffle)


def vectors(texts: list[str], y: list[Any], most: int = MOST_TEXT, unit: bool = True) -> Rows:
    """Rows of word counts, or of unit length, over the words of these texts."""
    order = np.random.default_rng(0).permutation(len(texts))[:most]
    counts = CountVectorizer(min_df=2, max_features=20_000).fit_transform([texts[t] for t in order])
    return prepare(normalize(counts) if unit else counts, np.asarray(y)[order], shuffle=False)


def messages(file: Path, unit: bool = True) -> Rows:
    """Lines with a label, a tab and a text."""
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        pairs = [line.rstrip("\n").partition("\t") for line in lines]
    return vectors([text for _, _, text in pairs], [label for label, _, _ in pairs], 2 * MOST_TEXT, unit)


def records(text: str, label: str, file: Path) -> Rows:
    """JSON lines with a text and a label; of a list of labels, the only one."""
    texts, y = [], []
    with lzma.open(file, "rt", encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            own = record.get(label) or []
            own = own if isinstance(own, list) else [own]
            if len(own) == 1 and record.get(text):
                texts.append(record[text][:2000])
                y.append(own[0])
    return vectors(texts, y)


def sentiment(file: Path) -> Rows:
    """Counts of words and pairs of words, with a label at the end of the line."""
    with lzma.open(file, "rt", encoding="utf-8") as lines:
        pairs = [line.rpartition(" #label#:") for line in lines]
    counts = [dict(cell.rpartition(":")[::2] for cell in cells.split()) for cells, _, _ in pairs]
    words = [" ".join(word for word, n in row.items() for _ in range(int(n))) for row in counts]
    return vectors(words, [label.strip() for _, _, label in pairs], unit=False)


def read_cells(file: Path, head: int, step: int = 1) -> list[list[str]]:
    """The cells of a table without its head; of many lines, every so many."""
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        return list(islice(csv.reader(lines), head, None, step))


def mixed(file: Path, head: int, label: int, drop: tuple[int, ...] = (), step: int = 1, shuffle: bool = True) -> Rows:
    """A table with words in some columns, each of which becomes a column of zeros and ones for every word.

    Rows whose label is a question mark are left out. Where all columns hold words, the rows are not scaled.
    """
    return encode_cells([row for row in read_cells(file, head, step) if row[label] != "?"], label, drop, shuffle)


def encode_cells(
    cells: list[list[str]], label: int, drop: tuple[int, ...] = (), shuffle: bool = True, scaled: bool = True
) -> Rows:
    """The rows of a table of text; see `mixed`."""
    order = np.random.default_rng(0).permutation(len(cells))[:MOST] if shuffle else np.arange(min(MOST, len(cells)))
    some = [cells[t] for t in order]
    columns, numbers = [], False
    for j in range(len(some[0])):
        if j in drop or j == label % len(some[0]):
            continue
        column = np.array([row[j] for row in some])
        try:
            columns.append(column.astype(np.float64)[:, None])
            numbers = True
        except ValueError:
            columns.append((column[:, None] == np.unique(column)).astype(np.float64))
    X, y = np.hstack(columns), np.array([row[label] for row in some])
    return scaled_rows(X, y, shuffle=False) if numbers and scaled else prepare(X, y, shuffle=False)


def keel(file: Path, scaled: bool = True) -> Rows:
    """A file of the KEEL repository: cells with commas, the class last, after lines that declare the columns."""
    lines = file.read_text(encoding="utf-8").splitlines()
    cells = [[cell.strip() for cell in line.split(",")] for line in lines if line.strip() and line[0] != "@"]
    return encode_cells(cells, -1, scaled=scaled)


def origins(file: Path) -> Rows:
    """Descriptions of pictures: which of two collections they are from."""
    texts: list[str] = []
    sizes: list[int] = []
    for name in ("test_2016_flickr", "test_2017_mscoco"):
        with gzip.open(file.with_name(f"{name}.en.gz"), "rt", encoding="utf-8") as lines:
            texts += [line.strip() for line in lines]
        sizes.append(len(texts) - sum(sizes))
    return vectors(texts, np.repeat(np.arange(2), sizes).tolist())


def parts_of_speech(file: Path) -> Rows:
    """Words of English sentences in their order: which part of speech, told by endings, capitals and neighbours."""
    from sklearn.feature_extraction import DictVectorizer

    features, tags = [], []
    with lzma.open(file, "rt", encoding="utf-8") as lines:
        columns = [line.split("\t") for line in lines if line[:1].isdigit()]
    for t, row in enumerate(columns[: MOST + 1]):
        word, before = row[1], columns[t - 1][1] if t and row[0] != "1" else ""
        ends = [f"ends {word[-k:].lower()}" for k in (1, 2, 3)]
        more = [f"word {word.lower()}", f"before {before.lower()}", f"capital {word[:1].isupper()}", "constant"]
        features.append(dict.fromkeys((*ends, *more), 1.0))
        tags.append(row[3])
    return prepare(DictVectorizer().fit_transform(features), tags, shuffle=False)


def above_median(
    file: Path, head: int = 1, drop: tuple[int, ...] = (), shuffle: bool = True, scaled: bool = True
) -> Rows:
    """A table of numbers for regression: whether the target, its last column, is above its median."""
    cells = read_cells(file, head)
    kept = [j for j in range(len(cells[0]) - 1) if j not in drop]
    X, target = np.array([[float(row[j]) for j in kept] for row in cells]), np.array([float(row[-1]) for row in cells])
    y = target > np.median(target)
    return scaled_rows(X, y, shuffle) if scaled else prepare(X, y, shuffle=shuffle)


def languages(file: Path) -> Rows:
    """Sentences of English, and their translations into German and French: which language it is, told by letters."""
    texts: list[str] = []
    for language in ("en", "de", "fr"):
        with gzip.open(file.with_name(f"val.{language}.gz"), "rt", encoding="utf-8") as lines:
            texts += [line.strip() for line in lines]
    y = np.repeat(np.arange(3), len(texts) // 3)
    order = np.random.default_rng(0).permutation(len(texts))[:MOST_TEXT]
    letters = CountVectorizer(analyzer="char", lowercase=True).fit_transform([texts[t] for t in order])
    return prepare(normalize(letters), y[order], shuffle=False)


def images(file: Path) -> Rows:
    """Images of the MNIST format, each a row of its pixels, with the labels of the file beside it."""
    with gzip.open(file) as found, gzip.open(file.with_name("train-labels-idx1-ubyte.gz")) as labels:
        pixels = np.frombuffer(found.read(16 + 784 * MOST)[16:], np.uint8).reshape(MOST, 784)
        return prepare(pixels.astype(np.float64), np.frombuffer(labels.read(8 + MOST)[8:], np.uint8), shuffle=False)
