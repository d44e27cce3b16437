"""The streams that defaults are measured on: built-in data, generated rows, and files of a folder, if there is one.

Defaults were chosen on `BUILT_IN` and `FILES`; on `UNSEEN` they are confirmed, and no choice may look at these.

Every stream has at most a few thousand rows, as a sparse matrix, in a fixed random order; drifting ones keep theirs.
"""

import gzip
import json
import lzma
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
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
KINDS = ("table", "unscaled table", "binary features", "unit-length text", "counts of words")


@dataclass(frozen=True)
class Stream:
    """A stream by name: its kind of rows, whether it has more than two classes, how to load it, if it is unseen."""

    name: str
    kind: str
    many: bool
    load: Callable[[], Rows]
    unseen: bool = False

    @property
    def is_sparse(self) -> bool:
        """Whether its files would be read as sparse rows, to which a constant is added."""
        return "table" not in self.kind


def find_streams(told: str | None) -> Iterator[Stream]:
    """All streams that can be had: those of the folder of data only where their files are."""
    yield from BUILT_IN
    base = find_folder(told)
    for unseen, (name, kind, many, file, read) in (*((False, one) for one in FILES), *((True, one) for one in UNSEEN)):
        if base is not None and (base / file).is_file():
            yield Stream(name, kind, many, partial(read, base / file), unseen)


def find_folder(told: str | None) -> Path | None:
    """The folder of data: the one told, that of NOREGRET_DATA, or none."""
    name = told or os.environ.get("NOREGRET_DATA", "")
    return Path(name).expanduser() if name else None


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


BUILT_IN = (
    Stream("digits", "unscaled table", True, partial(built_in, datasets.load_digits, False)),
    Stream("wine", "unscaled table", True, partial(built_in, datasets.load_wine, False)),
    Stream("breast_cancer", "unscaled table", False, partial(built_in, datasets.load_breast_cancer, False)),
    Stream("breast_cancer, scaled", "table", False, partial(built_in, datasets.load_breast_cancer, True)),
    Stream("generated table", "unscaled table", False, partial(table_like, 1)),
    Stream("generated text", "unit-length text", False, partial(text_like, 2000, 5000, 2, 2)),
    Stream("generated topics", "unit-length text", True, partial(text_like, 2000, 3000, 40, 3)),
    Stream("generated rare class", "binary features", False, partial(rare_class, 4)),
)

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


UNSEEN: tuple[tuple[str, str, bool, str, Callable[[Path], Rows]], ...] = (
    ("diabetes", "table", False, "small_binary/diabetes_scale.svm.gz", svm),
    ("ionosphere", "table", False, "small_binary/ionosphere.csv.gz", partial(table, head=0)),
    ("phoneme", "table", False, "imbalanced/phoneme.csv.gz", partial(table, head=0)),
    ("oil spills", "table", False, "imbalanced/oil-spill.csv.gz", partial(table, head=0)),
    ("weather", "table", False, "weather_noaa/weather.csv.gz", partial(table, shuffle=False)),
    ("vowel", "unscaled table", True, "vowel/vowel.svm.gz", svm),
    ("optdigits", "unscaled table", True, "optdigits/optdigits.csv.gz", partial(table, scaled=False)),
    ("outdoor", "table", True, "outdoor/outdoor_stream.csv.gz", partial(table, shuffle=False)),
    ("subjectivity", "unit-length text", False, "movie_polarity/subjectivity.tsv.gz", messages),
    ("lingspam", "unit-length text", False, "lingspam/lingspam_bare.jsonl.xz", partial(records, "text", "label")),
    ("sentiment of kitchen goods", "counts of words", False, "amazon_sentiment/kitchen.txt.xz", sentiment),
)  # fmt: skip
FILES: tuple[tuple[str, str, bool, str, Callable[[Path], Rows]], ...] = (
    ("a9a", "binary features", False, "a9a/a9a.svm.gz", svm),
    ("w8a", "binary features", False, "w8a/w8a.svm.gz", svm),
    ("mushrooms", "binary features", False, "mushrooms/mushrooms.svm.gz", svm),
    ("phishing", "binary features", False, "phishing/phishing.svm.gz", svm),
    ("splice", "table", False, "splice/splice.svm.gz", svm),
    ("dna", "binary features", True, "dna/dna.svm.gz", svm),
    ("ijcnn1", "table", False, "ijcnn1/ijcnn1.train.svm.bz2", svm),
    ("german_numer", "unscaled table", False, "german_numer/german.numer.svm.gz", svm),
    ("svmguide1", "unscaled table", False, "svmguide1/svmguide1.svm.gz", svm),
    ("svmguide3", "table", False, "svmguide3/svmguide3.svm.gz", svm),
    ("letter", "table", True, "letter/letter.scale.svm.gz", svm),
    ("pendigits", "unscaled table", True, "pendigits/pendigits.svm.gz", svm),
    ("segment", "table", True, "segment/segment.scale.svm.gz", svm),
    ("spambase", "table", False, "spambase/spambase.csv.gz", table),
    ("satimage", "table", True, "satimage/satimage.csv.gz", table),
    ("higgs", "table", False, "higgs_7k/higgs_7k.train.tsv.gz", partial(table, label=0, head=0)),
    ("mammography", "table", False, "imbalanced/mammography.csv.gz", partial(table, head=0)),
    ("electricity", "table", False, "elec2/elec.csv.gz", partial(table, shuffle=False)),
    ("covtype", "table", True, "covtype/covtype.csv.xz", table),
    ("rcv1_small", "unit-length text", False, "rcv1_small/rcv1_small.train.svm.gz", svm),
    ("spam_drift", "binary features", False, "spam_drift/spam_drift.svm.gz", partial(svm, shuffle=False)),
    ("sms_spam", "unit-length text", False, "sms_spam/SMSSpamCollection.tsv.gz", messages),
    ("sentence_polarity", "unit-length text", False, "movie_polarity/sentence_polarity.tsv.gz", messages),
    ("sentiment of books", "counts of words", False, "amazon_sentiment/books.txt.xz", sentiment),
    ("newsgroups", "unit-length text", True, "newsgroups20/20_newsgroups.jsonl.xz", partial(records, "text", "group")),
    ("reuters", "unit-length text", True, "reuters21578/reuters21578.jsonl.xz", partial(records, "body", "topics")),
)  # fmt: skip
