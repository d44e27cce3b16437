"""Drift on the command line: detectors that watch, learners that start again, and what is refused."""

import json
import shlex
from pathlib import Path

import pytest

import noregret as nr
from noregret.streams.synthetic import Synthetic
from tests.support.command_line import noregret, refused, succeeded

TURNING = "hyperplane:change=abrupt,every=1000,drift=120,rows=2000"


def test_a_race_with_learners_that_start_again_names_the_command_that_trains_the_best(tmp_path: Path) -> None:
    words = ["race", TURNING, "--learners", "arow,pa1", "--on-drift", "shadow", "--detect", "ddm", "--json", "out.json"]
    said = succeeded(noregret(*words, cwd=tmp_path)).stdout
    report = json.loads((tmp_path / "out.json").read_text())
    best = report["learners"][0]
    assert best["name"].startswith("drift_aware(learner=")
    assert any(1000 < at < 1200 for at in best["drift"]["alarms"])
    assert "alarm" in said
    assert "of ddm at round" in said
    trained = succeeded(noregret(*shlex.split(report["train"])[1:], "--json", "learn.json", cwd=tmp_path)).stdout
    assert f"{best['mistakes']:,} mistakes" in trained
    model = nr.load(tmp_path / f"{best['parameters']['learner']['name']}.nr")
    assert model.card.name == "drift_aware"
    assert json.loads((tmp_path / "learn.json").read_text())["learners"][0]["drift"]["alarms"] == list(model.alarms)


def test_a_detector_watches_and_changes_nothing(tmp_path: Path) -> None:
    said = succeeded(
        noregret("learn", TURNING, "--learner", "arow", "--detect", "page_hinkley:threshold=10", cwd=tmp_path)
    )
    X, y = Synthetic(TURNING).draw_rounds(0, 2000)
    assert f"{nr.make('arow').learn(X, y).mistakes:,} mistakes" in said.stdout
    assert "drift: 1 alarm of page_hinkley at round 1,0" in said.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("race sea --detect adwim", "there is no detector 'adwim'; did you mean adwin?"),
        ("learn sea --learner pa1 --detect adwin:delta=9", "adwin: delta must be"),
        ("learn sea --learner pa1 --on-drift restart", "invalid choice: 'restart'"),
        ("race sea --window 100 --detect ddm", "leave --on-drift and --detect out"),
        ("race sea --window 0", "must be a whole number of at least 1"),
        ("race sea --detect window", "there is no detector 'window'"),
        ("race sea:change=fast", "sea: change must be one of abrupt, gradual, incremental, recurring, not 'fast'"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(words: str, said: str, tmp_path: Path) -> None:
    refused(noregret(*words.split(), cwd=tmp_path), said)


def test_a_saved_model_goes_on_as_it_was_made(tmp_path: Path) -> None:
    nr.drift_aware(nr.make("pa1", native=False)).save(tmp_path / "m.nr")
    refused(noregret("learn", "sea", "--resume", "m.nr", "--on-drift", "reset", cwd=tmp_path), "is for a new model")
