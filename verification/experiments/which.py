"""Which learner for which data: online error in percent of one pass over texts and over streams that drift."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import noregret as nr
from verification.experiments.common import Row, Table

FILES = ("sms_spam/SMSSpamCollection.tsv.gz", "movie_polarity/sentence_polarity.tsv.gz", "elec2/elec.csv.gz")
NAMES = ("perceptron", "pa1", "pa2", "ogd", "adagrad", "adadelta", "arow", "scw1")
TEXT = {"format": "text", "shuffle": 0}  # how the files of texts are read
WORDS = {"transforms": ["tf_idf", "unit_norm"]}
NUMBERS = {"scale": True, "bias": True}
DRIFT = "hyperplane:rows=50000"


def data(base: Path) -> Iterator[tuple[str, Any, dict[str, Any], dict[str, Any]]]:
    """The name of each data set, its source, how it is read, and the options of the learners."""
    messages, sentences, prices = (str(base / file) for file in FILES)
    yield "text: SMS spam", messages, TEXT, WORDS
    yield "text: sentence polarity", sentences, TEXT, WORDS
    yield "drift: electricity prices", prices, {}, NUMBERS
    yield f"drift: `{DRIFT}`", DRIFT, {}, {}


def measure(name: str, source: Any, reading: dict[str, Any], options: dict[str, Any]) -> Row:
    reports = [nr.play(nr.open_source(source, **reading), nr.make(one, **options)) for one in NAMES]
    return (name, f"{reports[0]['rounds']:,}", *(f"{100.0 * report['rate']:.2f}" for report in reports))


def run(base: Path) -> Table:
    return ("data", "rounds", *NAMES), [measure(*one) for one in data(base)]
