"""How good is it on rows it has not seen? `--holdout`, `predict --confusion`, and a note about sorted rows."""

import json
from pathlib import Path

import numpy as np
import pytest

from tests.support.command_line import noregret, refused, succeeded


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(500, 2))
    y = np.where(x[:, 0] + 0.5 * rng.normal(size=500) > 0, "b", "a")
    lines = [f"{a:.3f},{b:.3f},{label}" for (a, b), label in zip(x, y, strict=True)]
    (tmp_path / "mixed.csv").write_text("\n".join(["u,v,label", *lines]) + "\n")
    (tmp_path / "sorted.csv").write_text("\n".join(["u,v,label", *sorted(lines, key=lambda one: one[-1])]) + "\n")
    return tmp_path


def test_learn_measures_rows_that_it_did_not_learn(folder: Path) -> None:
    words = ["learn", "mixed.csv", "--learner", "pa1", "--save", "m.nr", "--holdout", "0.2"]
    said = succeeded(noregret(*words, cwd=folder))
    assert "in 400 rounds" in said.stdout
    assert "held out: 100 rows that were not learned" in said.stdout
    told = json.loads(succeeded(noregret(*words, "--json", "-", cwd=folder)).stdout)["learners"][0]
    assert told["held_out"]["rows"] == 100
    last = "\n".join((folder / "mixed.csv").read_text().splitlines()[-100:])
    (folder / "last.csv").write_text(f"u,v,label\n{last}\n")
    same = json.loads(succeeded(noregret("evaluate", "m.nr", "last.csv", "--json", "-", cwd=folder)).stdout)
    assert same["mistakes"] == told["held_out"]["mistakes"]


def test_a_race_shows_both(folder: Path) -> None:
    words = ["race", "mixed.csv", "--learners", "pa1,perceptron", "--holdout", "100"]
    said = succeeded(noregret(*words, cwd=folder)).stdout
    assert "held out  rounds/s" in said
    assert "held out: 100 rows that were not learned" in said
    assert "--holdout 100" in said  # in the command that trains the best
    seeded = succeeded(noregret(*words[:-1], "0.2", "--holdout-seed", "1", cwd=folder)).stdout
    assert "held out:" in seeded


def test_regression_has_errors_there_too(folder: Path) -> None:
    words = ["learn", "mixed.csv", "--label", "u", "--task", "regression", "--learner", "pa1", "--holdout", "50"]
    assert "mean absolute error" in succeeded(noregret(*words, cwd=folder)).stdout


def test_sorted_rows_are_noted_and_mixed_ones_are_not(folder: Path) -> None:
    for words in (["learn", "--learner", "pa1"], ["race", "--learners", "pa1"]):
        note = "rows seem sorted by label or time"
        assert note in succeeded(noregret(*words, "sorted.csv", cwd=folder)).stderr
        assert note not in succeeded(noregret(*words, "mixed.csv", cwd=folder)).stderr
        assert note not in succeeded(noregret(*words, "sorted.csv", "--shuffle", "1", cwd=folder)).stderr


def test_predict_prints_the_confusion_matrix(folder: Path) -> None:
    succeeded(noregret("learn", "mixed.csv", "--learner", "pa1", "--save", "m.nr", "--quiet", cwd=folder))
    said = succeeded(noregret("predict", "m.nr", "mixed.csv", "--confusion", "--out", "p.csv", cwd=folder))
    assert "truth \\ predicted" in said.stdout
    piped = succeeded(noregret("predict", "m.nr", "mixed.csv", "--confusion", cwd=folder))
    assert "truth" not in piped.stdout
    assert "truth \\ predicted" in piped.stderr


def test_what_cannot_be_held_out_is_refused(folder: Path) -> None:
    for value in ("1.5", "-3", "half", "0"):
        refused(noregret("learn", "mixed.csv", "--learner", "pa1", f"--holdout={value}", cwd=folder), "--holdout")
    refused(noregret("learn", "mixed.csv", "--learner", "pa1", "--holdout", "500", cwd=folder), "no rows to learn")
