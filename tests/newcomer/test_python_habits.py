"""Habits of Python: files and frames with reading options, short reprs, pickles of functions that use the package."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import noregret as nr
from tests.support import refusal


@pytest.fixture
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"id": range(120), "x": rng.normal(size=120), "kind": rng.choice(["a", "b"], 120)})
    frame["churn"] = np.where(frame["x"] + (frame["kind"] == "a") > 0.3, "yes", "no")
    return frame


def test_a_race_of_a_file_takes_reading_options(frame: pd.DataFrame, tmp_path: Path) -> None:
    frame.to_csv(tmp_path / "train.csv", index=False)
    board = nr.race(tmp_path / "train.csv", ["pa1"], label="churn", drop=["id"], holdout=20, native=False)
    assert set(board.winner.features) == {"x", "kind=a", "kind=b"}
    assert board.best.rounds == 100
    assert board.best.held_out is not None
    same = nr.race(frame, ["pa1"], label="churn", drop=["id"], native=False)
    learner = nr.make("pa1", scale=True, bias=True, native=False)
    report = nr.play(frame, learner, label="churn", drop=["id"])
    assert report["mistakes"] == same.best.mistakes
    assert nr.evaluate(frame, learner, label="churn", drop=["id"], limit=50)["rows"] == 50
    prices = nr.race(tmp_path / "train.csv", ["pa1"], label="x", drop=["id"], task="regression", native=False)
    assert prices.best.report["mae"] >= 0.0


def test_reading_options_of_an_open_source_are_refused(frame: pd.DataFrame) -> None:
    source = nr.open_source(frame, label="churn")
    assert "open_source" in refusal(lambda: nr.race(source, ["pa1"], label="churn", native=False))
    assert "labl" in refusal(lambda: nr.race(frame, ["pa1"], labl="churn", native=False))


def test_a_race_tells_learners_of_one_name_apart() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    learners = [nr.make("pa1", C=size, native=False) for size in (0.01, 0.0)]
    board = nr.race((X, (X[:, 0] > 0).astype(int)), learners)
    assert {entry.name for entry in board} == {"pa1(C=0.01)", "pa1"}
    assert board["pa1"].learner is learners[1]


def test_reprs_are_short() -> None:
    X = np.arange(2000.0).reshape(1000, 2)
    learner = nr.make("pa1", native=False)
    transcript = learner.play(X, np.arange(1000) % 2)
    assert len(repr(transcript)) < 120
    assert "1,000 rounds" in repr(transcript)
    waiting = nr.delayed(learner)
    for number in range(200):
        waiting.ask(number, X[number])
    assert len(repr(waiting)) < 200
    assert max(len(repr(card)) for card in nr.learners()) < 900
    assert repr(nr.learners()["pa1"]).startswith("<card pa1(C=")
    board = nr.race((X, np.arange(1000) % 2), ["pa1"], native=False)
    assert board._repr_html_().startswith("<table><tr><th>learner</th>")


def test_functions_that_use_the_package_can_be_shipped() -> None:
    cloudpickle = pytest.importorskip("cloudpickle")

    def work(seed: int) -> int:
        return nr.make("pa1", seed=seed, native=False).learn([[1.0], [2.0]], [0, 1]).rounds

    assert cloudpickle.loads(cloudpickle.dumps(work))(3) == 2
    assert cloudpickle.loads(cloudpickle.dumps(nr)) is nr


def test_errors_of_estimators_name_the_class_and_its_parameters() -> None:
    from noregret.sklearn import AROWClassifier

    with pytest.raises(TypeError, match=r"AROWClassifier has no parameter 'R'; did you mean 'r'\? it takes r, "):
        AROWClassifier(R=1.0)
    message = refusal(lambda: AROWClassifier(r=-1.0).fit([[1.0], [2.0]], [0, 1]))
    assert message.startswith("AROWClassifier: r must be above 0")
