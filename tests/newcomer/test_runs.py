"""Runs: the learning curve, standings on Ctrl-C, resuming beyond a limit, narrow terminals, closed pipes, hints."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import noregret as nr
from noregret.cli.screen import fit_columns
from tests.support.command_line import SAMPLE, noregret, refused, succeeded


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.svm").write_text(SAMPLE)
    return tmp_path


def learned(folder: Path, *words: str) -> dict[str, Any]:
    done = succeeded(noregret("learn", "a.svm", *words, "--json", "-", cwd=folder))
    return dict(json.loads(done.stdout))


def test_the_learning_curve_is_in_the_report(folder: Path) -> None:
    report = learned(folder, "--learner", "pa1")
    assert [point["rounds"] for point in report["curve"]] == [64, 128, 200]
    assert report["curve"][-1]["mistakes"] == report["learners"][0]["mistakes"]
    assert all(point["updates"] <= point["rounds"] for point in report["curve"])


def test_the_learning_curve_is_drawn(folder: Path) -> None:
    pytest.importorskip("matplotlib")
    succeeded(noregret("learn", "a.svm", "--learner", "pa1", "--plot", "curve.png", "--quiet", cwd=folder))
    assert (folder / "curve.png").read_bytes().startswith(b"\x89PNG")
    refused(noregret("learn", "a.svm", "--learner", "pa1", "--plot", "no/curve.png", cwd=folder), "--plot")


def test_resuming_without_the_limit_goes_on_behind_it(folder: Path) -> None:
    learned(folder, "--learner", "pa1", "--limit", "120", "--save", "m.nr")
    done = succeeded(noregret("learn", "a.svm", "--resume", "m.nr", cwd=folder))
    assert "going on after the 120 rows learned before" in done.stderr
    assert "in 80 rounds (200 in all with" in done.stdout
    learned(folder, "--learner", "pa1", "--save", "whole.nr")
    whole, resumed = nr.load(folder / "whole.nr"), nr.load(folder / "m.nr")
    assert (resumed.rounds, resumed.mistakes, resumed.weights) == (whole.rounds, whole.mistakes, whole.weights)
    refused(noregret("learn", "a.svm", "--resume", "m.nr", cwd=folder), "nothing is left")
    learned(folder, "--learner", "pa1", "--limit", "50", "--save", "m.nr")
    assert learned(folder, "--resume", "m.nr", "--limit", "90")["learners"][0]["rounds"] == 40


@pytest.mark.parametrize("words", [(), ("--task", "regression")])
def test_a_resumed_run_reports_what_one_piece_would(folder: Path, words: tuple[str, ...]) -> None:
    learned(folder, "--learner", "pa1", *words, "--limit", "120", "--save", "m.nr")
    resumed = learned(folder, "--resume", "m.nr", "--limit", "170")
    assert (resumed["learners"][0]["rounds"], resumed["in_all"]["rounds"]) == (50, 170)
    resumed = learned(folder, "--resume", "m.nr")["in_all"]
    whole = learned(folder, "--learner", "pa1", *words, "--save", "whole.nr")["learners"][0]
    for timed in (resumed, whole):
        del timed["seconds"]
    assert resumed == {name: value for name, value in whole.items() if name not in ("rounds_in_all", "largest_weights")}
    assert "in_all" not in learned(folder, "--learner", "pa1", *words)
    one, two = (nr.load(folder / name) for name in ("m.nr", "whole.nr"))
    assert (one.source or {})["metrics"] == (two.source or {})["metrics"]


def test_metrics_that_are_damaged_begin_again(folder: Path) -> None:
    learned(folder, "--learner", "pa1", "--limit", "120", "--save", "m.nr")
    model = nr.load(folder / "m.nr")
    assert model.source is not None
    for harm in ({}, {"rounds": 120, "states": [{}]}, {**model.source["metrics"], "rounds": 119}, 7):
        model.source = {**model.source, "metrics": harm}
        model.save(folder / "harmed.nr")
        report = learned(folder, "--resume", "harmed.nr")
        assert report["learners"][0]["rounds"] == 80
        assert "in_all" not in report


def test_progress_knows_the_limit(folder: Path) -> None:
    shares = [batch.progress for batch in nr.open_source(folder / "a.svm", limit=100)]
    assert shares[-1] == 1.0


@pytest.mark.skipif(os.name == "nt", reason="no such signals")
def test_an_interrupted_race_keeps_its_standings(folder: Path) -> None:
    words = ["race", "hyperplane:rows=0", "--learners", "pa1,perceptron", "--json", "race.json"]
    process = subprocess.Popen([sys.executable, "-m", "noregret", *words], cwd=folder, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)  # fmt: skip
    assert process.stderr is not None
    for line in process.stderr:
        if "leads with" in line or "rounds" in line:
            break
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    out, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "best: " in out
    assert "standings so far" in said
    assert json.loads((folder / "race.json").read_text())["interrupted"] is True


def test_a_narrow_terminal_shows_fewer_columns() -> None:
    head = ["learner", "mistakes", "rate", "loss", "updates", "non-zeros", "rounds/s"]
    rows = [["perceptron_averaged", "1,234,567", "0.1234", "12345.6", "123456", "12345", "1,234,567"]]
    for width in (60, 40, 20):
        shown, cells = fit_columns(head, rows, width)
        assert sum(max(len(one), len(cell)) + 2 for one, cell in zip(shown, cells[0], strict=True)) - 2 <= max(
            width, 30
        )
        assert list(shown[:2]) == head[:2]
    assert fit_columns(head, rows, 120) == (head, rows)


def test_a_model_is_saved_although_nobody_reads_the_curve(folder: Path) -> None:
    words = [sys.executable, "-m", "noregret", "learn", "a.svm", "--learner", "pa1", "--save", "m.nr"]
    process = subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    said = process.stderr.read()
    process.stderr.close()
    assert process.wait() in (0, 141)
    assert "rror" not in said
    assert nr.load(folder / "m.nr").rounds == 200


def test_a_radius_that_leaves_most_rows_outside_is_noted(folder: Path) -> None:
    words = ["learn", "a.svm", "--task", "one-class", "--learner", "pa1", "--set"]
    assert "learn_radius=yes" in succeeded(noregret(*words, "radius=0.01", cwd=folder)).stderr
    assert "learn_radius=yes" not in succeeded(noregret(*words, "radius=100", cwd=folder)).stderr
    assert "lie outside" not in succeeded(noregret(*words[:-1], cwd=folder)).stderr


def test_a_learner_that_is_worse_than_guessing_is_told(folder: Path) -> None:
    lines = [f"{1 if k % 4 else -1} 1:{(k * 7919) % 13} 2:{(k * 104729) % 11}" for k in range(400)]
    (folder / "noise.svm").write_text("\n".join(lines) + "\n")
    done = succeeded(noregret("learn", "noise.svm", "--learner", "perceptron", cwd=folder))
    assert "most frequent label errs 100 times" in done.stderr
    assert "--shuffle SEED" in done.stderr
    assert (
        "most frequent label errs" not in succeeded(noregret("learn", "a.svm", "--learner", "pa1", cwd=folder)).stderr
    )


def test_rows_kept_for_a_test_are_not_learned_later(folder: Path) -> None:
    succeeded(noregret("learn", "a.svm", "--learner", "pa1", "--save", "m.nr", "--holdout", "0.2", cwd=folder))
    refused(noregret("learn", "a.svm", "--resume", "m.nr", cwd=folder), "kept rows of it for a test (--holdout 0.2)")
