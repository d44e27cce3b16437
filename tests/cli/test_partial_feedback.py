"""The bandit task, and labels that are asked for, on the command line."""

import json
from pathlib import Path

import pytest

import noregret as nr
from tests.support.command_line import noregret, refused

ROWS = [{1: "1:1 2:0.2", 2: "2:1 4:0.5", 3: "3:1"}[k % 3 + 1] for k in range(150)]
SAMPLE = "".join(f"{k % 3 + 1} {row}\n" for k, row in enumerate(ROWS))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.svm").write_text(SAMPLE)
    return tmp_path


def rows() -> tuple[list[dict[int, float]], list[int]]:
    parsed = [{int(j) - 1: float(v) for j, v in (cell.split(":") for cell in row.split())} for row in ROWS]
    return parsed, [k % 3 + 1 for k in range(len(ROWS))]


def test_a_race_of_bandits_finds_the_classes_and_shows_full_information(folder: Path) -> None:
    done = noregret("race", "a.svm", "--task", "bandit", "--json", "race.json", "--seed", "4", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "full information" in done.stdout
    assert "noregret learn a.svm --learner banditron --task bandit --seed 4 --save banditron.nr" in done.stdout
    report = json.loads((folder / "race.json").read_text())
    assert report["task"] == "bandit"
    found = {one["name"]: one for one in report["learners"]}
    learner = nr.make("banditron", classes=[1, 2, 3], seed=4, bias="auto", native=False)
    told_all = nr.full_information(learner)
    assert told_all is not None
    assert found["banditron"]["mistakes"] == learner.learn(*rows()).mistakes
    assert found["banditron"]["full_information"] == told_all.learn(*rows()).mistakes
    assert "full_information" not in found["exp3"]


def test_bandits_are_learned_resumed_and_predict(folder: Path) -> None:
    first = noregret("learn", "a.svm", "--learner", "banditron", "--save", "m.nr", cwd=folder)
    assert first.returncode == 0, first.stderr
    again = noregret("learn", "a.svm", "--resume", "m.nr", "--passes", "1", cwd=folder)
    assert again.returncode == 0, again.stderr
    X, y = rows()
    expected = nr.make("banditron", classes=[1, 2, 3], native=False).learn(X + X, y + y)
    found = nr.load(folder / "m.nr")
    assert (found.mistakes, found.model.arrays.n.random) == (expected.mistakes, expected.model.arrays.n.random)
    done = noregret("predict", "m.nr", "a.svm", "--scores", cwd=folder)
    assert done.stdout.splitlines()[0] == "prediction,score 1,score 2,score 3"
    refused(
        noregret("learn", "a.svm", "--resume", "m.nr", "--classes", "1,2", cwd=folder), "--classes is for a new model"
    )


def test_labels_asked_for_are_told(folder: Path) -> None:
    words = ["--set", "labels=asked", "--set", "ask=0.5", "--json", "report.json"]
    done = noregret("race", "a.svm", "--learners", "pa1,perceptron", *words, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "labels asked" in done.stdout
    report = json.loads((folder / "report.json").read_text())["learners"]
    assert all(0 < one["asked"] < len(ROWS) and "full_information" in one for one in report)
    assert report[0]["parameters"]["ask"] == 0.5
    done = noregret("learn", "a.svm", "--learner", "pa1", *words, cwd=folder)
    assert "labels asked for" in done.stdout
    asked = json.loads((folder / "report.json").read_text())["learners"][0]["asked"]
    expected = nr.make("pa1", labels="asked", ask=0.5, classes=[1, 2, 3], bias="auto", native=False).learn(*rows())
    assert asked == expected.asked


def test_classes_that_are_not_known_are_asked_for(folder: Path) -> None:
    refused(noregret("race", "-", "--task", "bandit", cwd=folder, stdin=SAMPLE), "--classes")
    done = noregret("race", "-", "--task", "bandit", "--classes", "1,2,3", cwd=folder, stdin=SAMPLE)
    assert done.returncode == 0, done.stderr
    assert "--classes 1,2,3" in done.stdout
    refused(noregret("race", "a.svm", "--task", "bandit", "--classes", "1,2", cwd=folder), "a.svm:3", "not one of the")
    refused(noregret("race", "a.svm", "--task", "bandit", "--learners", "pa1", cwd=folder), "cannot play bandit")
