"""`noregret evaluate`: a saved model on rows that it does not learn."""

import json
from pathlib import Path

import pytest

import noregret as nr
from tests.support.command_line import SAMPLE, noregret, refused, succeeded


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lines = SAMPLE.splitlines(keepends=True)
    (tmp_path / "old.svm").write_text("".join(lines[:150]))
    (tmp_path / "new.svm").write_text("".join(lines[150:]))
    succeeded(noregret("learn", "old.svm", "--learner", "pa1", "--save", "m.nr", "--quiet", cwd=tmp_path))
    return tmp_path


def test_it_counts_what_predict_says_and_leaves_the_model_alone(folder: Path) -> None:
    before = (folder / "m.nr").read_bytes()
    told = json.loads(succeeded(noregret("evaluate", "m.nr", "new.svm", "--json", "-", cwd=folder)).stdout)
    assert (folder / "m.nr").read_bytes() == before
    predicted = succeeded(noregret("predict", "m.nr", "new.svm", cwd=folder)).stdout.split()[1:]
    truth = [line.split()[0] for line in (folder / "new.svm").read_text().splitlines()]
    assert told["rows"] == len(truth) == 50
    assert told["mistakes"] == sum(one != other for one, other in zip(predicted, truth, strict=True))
    assert told["most_frequent_label_errs"] == min(truth.count("1"), truth.count("-1"))
    assert sum(told["confusion"]["rounds"]) == 50
    said = succeeded(noregret("evaluate", "m.nr", "new.svm", "--confusion", cwd=folder)).stdout
    for part in ("m.nr on new.svm", "share of mistakes", "balanced accuracy", "truth \\ predicted"):
        assert part in said


def test_the_confusion_matrix_by_columns_sums_to_one(folder: Path) -> None:
    told = json.loads(succeeded(noregret("evaluate", "m.nr", "new.svm", "--json", "-", cwd=folder)).stdout)
    said = succeeded(noregret("evaluate", "--confusion", "columns", "m.nr", "new.svm", cwd=folder)).stdout
    head, _, *rows = said[said.index("predicted \\ truth") :].splitlines()
    assert head.split()[-2:] == ["-1", "1"]
    shares = [[float(cell) for cell in row.split()[-2:]] for row in rows[:2]]
    assert [sum(column) for column in zip(*shares, strict=True)] == pytest.approx([1.0, 1.0], abs=1e-4)
    place = told["confusion"]["labels"].index(-1)
    assert shares[0][0] == pytest.approx(told["confusion"]["recall"][place], abs=1e-4)
    for words in (["--confusion", "m.nr", "new.svm"], ["m.nr", "new.svm", "--confusion=columns"]):
        succeeded(noregret("evaluate", *words, cwd=folder))
    learned = noregret("learn", "old.svm", "--learner", "pa1", "--confusion", "columns", "--quiet", cwd=folder)
    assert "predicted \\ truth" in succeeded(learned).stdout
    refused(noregret("evaluate", "m.nr", "new.svm", "--confusion=rows", cwd=folder), "rows")


def test_two_classes_have_an_area_under_the_curve(folder: Path) -> None:
    told = json.loads(succeeded(noregret("evaluate", "m.nr", "new.svm", "--json", "-", cwd=folder)).stdout)
    assert 0.5 < told["auc"] <= 1.0
    assert "area under the ROC curve" in succeeded(noregret("evaluate", "m.nr", "new.svm", cwd=folder)).stdout


def test_regression_shows_errors_and_no_mistakes(folder: Path) -> None:
    words = ["learn", "old.svm", "--task", "regression", "--learner", "pa1", "--save", "r.nr"]
    learned = succeeded(noregret(*words, cwd=folder)).stdout
    said = succeeded(noregret("evaluate", "r.nr", "new.svm", cwd=folder)).stdout
    raced = succeeded(noregret("race", "old.svm", "--task", "regression", "--learners", "pa1", cwd=folder)).stdout
    assert "mistake" not in learned + said + raced
    assert all(part in said for part in ("mean absolute error", "root of the mean squared error", "R2"))
    assert all(part in raced for part in ("MAE", "RMSE", "R2"))


def test_what_cannot_be_evaluated_is_refused(folder: Path) -> None:
    nr.make("pa1").save(folder / "empty.nr")
    refused(noregret("evaluate", "empty.nr", "new.svm", cwd=folder), "has not learned")
    (folder / "none.svm").write_text("")
    refused(noregret("evaluate", "m.nr", "none.svm", cwd=folder), "none.svm")
    refused(noregret("evaluate", "m.nr", "new.svm", "--json", "m.nr", cwd=folder), "m.nr")
