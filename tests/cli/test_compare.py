"""`noregret compare`: reports of runs beside each other."""

import json
from pathlib import Path
from typing import Any

import pytest

from noregret.evaluation.compare_reports import compare_reports, rank_reports, read_report
from noregret.learner.variants import head_of
from tests.support.command_line import SAMPLE, noregret, refused, succeeded


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lines = SAMPLE.splitlines(keepends=True)
    for number, rows in enumerate((lines[:120], lines[80:], lines[40:160])):
        (tmp_path / f"{number}.svm").write_text("".join(rows))
    return tmp_path


def race(folder: Path, data: str, out: str, *more: str) -> dict[str, Any]:
    words = ["race", data, "--learners", "pa1,perceptron,arow", "--quiet", "--json", out]
    succeeded(noregret(*words, *more, cwd=folder))
    found: dict[str, Any] = json.loads((folder / out).read_text())
    return found


def test_it_says_what_differs(folder: Path) -> None:
    one = race(folder, "0.svm", "a.json")
    other = race(folder, "0.svm", "b.json", "--set", "pa1.C=0.001", "--seed", "3")
    said = succeeded(noregret("compare", "a.json", "b.json", "--json", "c.json", cwd=folder)).stdout
    assert "pa1: C 0.0 / 0.001" in said
    assert "seed: 0 / 3" in said
    assert f"best: {one['winner']} / {other['winner']}" in said or f"best in both: {one['winner']}" in said
    told = json.loads((folder / "c.json").read_text())
    assert told["winners"] == [one["winner"], other["winner"]]
    rates = {learner["name"]: learner["rate"] for learner in told["learners"]}
    assert rates == {
        learner["name"]: [
            learner["rate"],
            next(x["rate"] for x in other["learners"] if head_of(x["name"]) == learner["name"]),
        ]
        for learner in one["learners"]
    }
    assert [learner["name"] for learner in told["learners"] if learner["parameters"]] == ["pa1"]


def test_equal_reports_have_no_differences(folder: Path) -> None:
    race(folder, "0.svm", "a.json")
    (folder / "b.json").write_text((folder / "a.json").read_text())
    said = succeeded(noregret("compare", "a.json", "b.json", cwd=folder)).stdout
    assert "the same version, command, data and seed" in said
    assert "+0.0000" in said


def test_learners_of_one_report_only_are_named(folder: Path) -> None:
    race(folder, "0.svm", "a.json")
    succeeded(noregret("learn", "1.svm", "--learner", "pa1", "--quiet", "--json", "b.json", cwd=folder))
    found = compare_reports(*(read_report(str(folder / name)) for name in ("a.json", "b.json")))
    assert sorted(found.only_first) == ["arow", "perceptron"]
    assert [change.name for change in found.learners] == ["pa1"]
    assert found.source["name"] == ("0.svm", "1.svm")
    assert "only in a.json: " in succeeded(noregret("compare", "a.json", "b.json", cwd=folder)).stdout


def test_several_reports_are_compared_by_mean_ranks(folder: Path) -> None:
    reports = [race(folder, f"{number}.svm", f"{number}.json") for number in range(3)]
    paths = [f"{number}.json" for number in range(3)]
    said = succeeded(noregret("compare", *paths, "--ranks", "--json", "r.json", cwd=folder)).stdout
    assert "Friedman test" in said
    told = json.loads((folder / "r.json").read_text())
    mistakes = [{learner["name"]: learner["mistakes"] for learner in report["learners"]} for report in reports]
    for name, rank in zip(told["names"], told["ranks"], strict=True):
        places = [1 + sum((a < one[name]) + (a == one[name]) / 2 for a in one.values()) - 0.5 for one in mistakes]
        assert rank == pytest.approx(sum(places) / 3)
    assert rank_reports([read_report(str(folder / path)) for path in paths]).streams == 3


def test_regression_is_compared_by_losses(folder: Path) -> None:
    race(folder, "0.svm", "a.json", "--task", "regression", "--learners", "pa1,arow")
    race(folder, "1.svm", "b.json", "--task", "regression", "--learners", "pa1,arow")
    said = succeeded(noregret("compare", "a.json", "b.json", cwd=folder)).stdout
    assert "first mean loss" in said
    assert "rate" not in said


def test_what_is_no_report_is_refused(folder: Path) -> None:
    race(folder, "0.svm", "a.json")
    race(folder, "0.svm", "r.json", "--task", "regression", "--learners", "pa1")
    refused(noregret("compare", "a.json", "r.json", cwd=folder), "different tasks", "binary", "regression")
    refused(noregret("compare", "a.json", "r.json", "--ranks", cwd=folder), "different tasks")
    refused(noregret("compare", "a.json", cwd=folder), "at least two")
    refused(noregret("compare", "a.json", "a.json", "a.json", cwd=folder), "--ranks")
    refused(noregret("compare", "a.json", "none.json", cwd=folder), "none.json")
    refused(noregret("compare", "a.json", "0.svm", cwd=folder), "0.svm", "not JSON")
    refused(noregret("compare", "a.json", ".", cwd=folder), "cannot be read")
    refused(noregret("compare", "a.json", "a.json", "--json", "a.json", cwd=folder), "overwrite")
    good = json.loads((folder / "a.json").read_text())
    bad: dict[str, Any] = {
        "list": [],
        "empty": {},
        "none": {**good, "learners": []},
        "unnamed": {**good, "learners": [{"rounds": 1}]},
        "twice": {**good, "learners": [good["learners"][0]] * 2},
        "words": {**good, "learners": [{"name": "pa1", "rounds": "many", "mistakes": 1}]},
        "nothing": {**good, "learners": [{"name": "pa1", "rounds": 1}]},
        "task": {**good, "task": ["binary"]},
    }
    for name, content in bad.items():
        (folder / f"{name}.json").write_text(json.dumps(content))
        refused(noregret("compare", "a.json", f"{name}.json", cwd=folder), f"{name}.json")
    (folder / "deep.json").write_text("[" * 100_000)
    refused(noregret("compare", "a.json", "deep.json", cwd=folder), "deep.json")
