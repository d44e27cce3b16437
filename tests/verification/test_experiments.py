"""The experiments of the docs compute what they say, on data small enough to see."""

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.data.class_weights import balanced_weights
from noregret.metrics import Confusion
from verification.experiments import delayed, imbalance, pronouncing, which
from verification.experiments.__main__ import main, markdown
from verification.experiments.chunk_baseline import Chunks, align

HEAD = (
    "Year,Month,DayofMonth,DayOfWeek,UniqueCarrier,CRSArrTime,CRSDepTime,CRSElapsedTime,Origin,Distance,ValueToPredict"
)


def test_a_table_is_written_as_the_docs_have_it() -> None:
    assert markdown(("a", "b"), [("1", "2")]) == ["| a | b |", "| --- | --- |", "| 1 | 2 |"]


def test_without_the_data_it_says_what_is_missing(tmp_path: Path, capsys: Any) -> None:
    assert main(["--data", str(tmp_path), "--only", "imbalance"]) == 2
    assert "kddcup" in capsys.readouterr().err


def test_letters_write_their_most_frequent_chunk() -> None:
    words, outputs = ["ab", "ba", "xa", "axb", "ae", "eb"], [list(o) for o in ("AB", "BA", "KSA", "AKSB", "A", "B")]
    baseline = Chunks(words, outputs)
    assert baseline.usual == {"a": ("A",), "b": ("B",), "x": ("K", "S"), "e": ()}
    assert baseline.predict(["bex?"]) == [["B", "K", "S"]]
    assert align("abcd", ["A", "B"], lambda letter, chunk: 0.0) == [("A",), (), ("B",), ()]


def test_errors_of_pronunciations_are_edits_and_words() -> None:
    assert pronouncing.errors([list("ABC"), list("A"), []], [list("AXC"), list("A"), list("BB")]) == (50.0, 200.0 / 3)


@pytest.mark.parametrize("way", ["balanced", "balanced_root"])
def test_the_peer_gets_the_weights_of_the_learner(way: str) -> None:
    codes = np.random.default_rng(0).choice(4, size=300, p=[0.7, 0.2, 0.09, 0.01])
    labels = np.array(["a", "b", "c", "d"])[codes]
    firsts = {label: number for number, label in enumerate(dict.fromkeys(labels.tolist()))}
    numbered = np.array([firsts[label] for label in labels.tolist()])
    expected, _ = balanced_weights(numbered, np.zeros(0, np.int64), way)
    assert imbalance.weights_of(labels, way) == pytest.approx(expected)
    assert imbalance.weights_of(labels, None).tolist() == [1.0] * 300


def test_a_line_counts_classes_that_were_never_found() -> None:
    seen, nothing = Confusion(), np.zeros(4)
    truth, said = np.array(["a", "a", "b", "c"]), np.array(["a", "a", "a", "c"])
    seen.see(None, nr.Transcript(nothing, said, nothing, nothing.astype(bool), nothing.astype(bool), truth))
    assert imbalance.line("x", None, seen) == ("x", "", "1", "0.2500", "0.6667", "1")


def test_flights_are_asked_before_they_are_told(tmp_path: Path) -> None:
    path = tmp_path / "flights.csv.gz"
    rows = ["2008,1,1,2,DL,607,1635,512,HNL,4502,?,1,10", "2008,1,1,2,DL,607,1635,512,HNL,4502,delayed,1,20"]
    with gzip.open(path, "wt") as file:
        file.write("\n".join([f"{HEAD},instanceId,timeStamp", *rows]))
    asked, told = delayed.flights(path)
    assert (asked[0], asked[2], told[0], told[2]) == ("1", None, "1", "delayed")
    assert asked[1]["Origin=HNL"] == 1.0
    assert delayed.compared("pa1", lambda: nr.make("pa1", native=False), [asked, told]) == (
        "pa1", "1.0000", "1.0000", "1",
    )  # fmt: skip


def test_every_learner_plays_the_same_source() -> None:
    X = np.random.default_rng(0).normal(size=(50, 3))
    name, rounds, *errors = which.measure("sides", (X, np.sign(X[:, 0])), {"limit": 40}, {"native": False})
    assert (name, rounds, len(errors)) == ("sides", "40", len(which.NAMES))
    assert all(0.0 < float(error) < 50.0 for error in errors)
