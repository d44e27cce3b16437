"""--transform: what it asks for is what the library does, is kept in the model, and is refused where it cannot be."""

from pathlib import Path

import numpy as np
import pytest

import noregret as nr
from tests.support.command_line import SAMPLE, noregret, refused


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "data.svm").write_text(SAMPLE)
    (tmp_path / "table.csv").write_text(
        "height,city,kind\n" + "".join(f"{k % 7},{'Oslo' if k % 5 else 'Rome'},{int(k % 7 > 3)}\n" for k in range(90))
    )
    return tmp_path


def test_transforms_are_those_of_the_library_in_the_order_given(folder: Path) -> None:
    asked = ("--transform", "clip:limit=2", "--transform", "tf_idf")
    done = noregret("learn", "data.svm", "--learner", "pa1", *asked, "--save", "m.nr", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "rows are transformed: clip(limit=2.0) | tf_idf(sublinear='no')" in done.stderr
    model, library = nr.load(folder / "m.nr"), nr.clip(2.0) | nr.tf_idf() | nr.make("pa1", bias="auto")
    for batch in nr.open_source(str(folder / "data.svm")):
        library.learn(batch.X, batch.y)
        rows = batch.X
    assert np.array_equal(model.scores(rows), library.scores(rows))
    refused(
        noregret("learn", "data.svm", "--resume", "m.nr", "--transform", "clip", cwd=folder),
        "--transform is for a new model",
    )


def test_a_table_with_transforms_is_scaled_only_where_that_is_asked_for(folder: Path) -> None:
    race = noregret(
        "race", "table.csv", "--learners", "pa1", "--transform", "squares", "--transform", "min_max", cwd=folder
    )
    assert "scaled" not in race.stderr
    assert "a constant feature is added" in race.stderr
    assert "--learner pa1 --transform squares --transform min_max --save pa1.nr" in race.stdout
    done = noregret(
        "learn", "table.csv", "--learner", "pa1", "--transform", "squares", "--scale", "--save", "m.nr", cwd=folder
    )
    assert done.returncode == 0, done.stderr
    model = nr.load(folder / "m.nr")
    assert model.features == ["height", "height^2", "city=Rome", "city=Rome^2", "city=Oslo", "city=Oslo^2"]
    assert [type(one).__name__ for one in model.model.transforms] == ["Squares", "Scaling"]
    assert model.model.scaling is not None
    assert model.model.scaling.count[:3].tolist() == [90.0, 90.0, -1.0]


def test_columns_are_chosen_on_the_command_line_and_kept_in_the_model(folder: Path) -> None:
    asked = ("--transform", "one_hot:only=height", "--transform", "pairs:between=height*city")
    whole = noregret("learn", "table.csv", "--learner", "pa1", *asked, "--save", "m.nr", cwd=folder)
    assert whole.returncode == 0, whole.stderr
    half = noregret("learn", "table.csv", "--learner", "pa1", *asked, "--limit", "40", "--save", "h.nr", cwd=folder)
    assert half.returncode == 0, half.stderr
    rest = noregret("learn", "table.csv", "--resume", "h.nr", "--skip", "40", "--save", "h.nr", cwd=folder)
    assert rest.returncode == 0, rest.stderr
    model, resumed = nr.load(folder / "m.nr"), nr.load(folder / "h.nr")
    assert "height=3*city=Oslo" in model.features
    assert (model.features, model.mistakes) == (resumed.features, resumed.mistakes)
    rows = [{"height": float(h), f"city={city}": 1.0} for h in range(8) for city in ("Oslo", "Rome", "Bonn")]
    assert np.array_equal(model.scores(rows), resumed.scores(rows))
    race = noregret("race", "table.csv", "--learners", "pa1", *asked, "--bits", "10", cwd=folder)
    assert "--transform 'pairs:between=height*city'" in race.stdout


def test_conjunctions_are_made_on_the_command_line_and_kept_in_the_model(folder: Path) -> None:
    asked = ("--transform", "one_hot:only=height", "--transform", "conjunctions:order=3,negate=city=Rome")
    done = noregret("learn", "table.csv", "--learner", "pa1", *asked, "--save", "m.nr", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "height=1*city=Oslo*not city=Rome" in nr.load(folder / "m.nr").features
    few = ("--transform", "conjunctions:order=3,limit=2")
    refused(noregret("learn", "table.csv", "--learner", "pa1", *few, cwd=folder), "would make 3 features of its 2")


@pytest.mark.parametrize(
    ("transform", "says"),
    [
        ("clop", "did you mean 'clip'"),
        ("clip:limit=-1", "clip: limit must be above 0"),
        ("clip:", "write name:parameter"),
        ("conjunctions:order=2.5", "conjunctions: order must be a whole number"),
        ("pairs:between=height", "needs two names for every pair"),
    ],
)
def test_transforms_that_cannot_be_are_refused(folder: Path, transform: str, says: str) -> None:
    refused(noregret("learn", "no such file", "--learner", "pa1", "--transform", transform, cwd=folder), says)
