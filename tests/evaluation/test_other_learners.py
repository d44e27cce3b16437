"""Whatever follows the Learner protocol is played, raced, checkpointed, resumed and reported like a rule learner."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.cli import main
from noregret.data.batch import Batch
from noregret.evaluation.checkpoint import Checkpoints, fingerprint_source
from noregret.evaluation.play import Run
from noregret.evaluation.report import find_warnings, report_entry, to_json
from noregret.learner.model_file import pack
from noregret.metrics import Confusion, InputOrder, LabelBaselines, Multilabel, Ranking, TargetBaselines
from tests.evaluation.mean_learner import MeanLearner
from tests.support import refusal, small_stream

X, Y = small_stream(rows=60)
TARGETS = X[:, 0] + 2.0


def test_it_plays_and_reports_its_own_losses() -> None:
    report = nr.play((X, TARGETS), MeanLearner())
    errors = [abs(TARGETS[t] - (TARGETS[:t].mean() if t else 0.0)) for t in range(60)]
    assert report["loss"] == pytest.approx(sum(errors))
    assert (report["rounds"], report["mistakes"], report["updates"]) == (60, 0, 60)


def test_it_races_beside_rules() -> None:
    mean, rule = MeanLearner(), nr.make("pa1", task="regression", native=False)
    board = nr.race((X, TARGETS), [mean, rule, "ogd"], task="regression", native=False)
    assert {entry.name for entry in board} == {"mean_learner", "pa1", "ogd"}
    losses = [entry.loss for entry in board]
    assert losses == sorted(losses)
    entry = board["mean_learner"]
    assert entry.learner is mean
    assert entry.loss == nr.play((X, TARGETS), MeanLearner())["loss"]
    assert entry.loss != board["pa1"].loss
    head, _, *lines = str(board).splitlines()
    assert head.split()[:3] == ["learner", "loss", "mean"]
    assert len(lines) == 3
    assert entry.nonzeros is None
    assert entry.asked is None
    assert entry.summarize() == f"a mean loss of {entry.loss / 60:.4g}"


def test_its_baselines_are_measured_by_the_absolute_error() -> None:
    board = nr.race((X, TARGETS), [MeanLearner()])
    assert board.baselines["mean"] == pytest.approx(board.best.loss)


def test_its_entry_is_a_report() -> None:
    board = nr.race((X, TARGETS), [MeanLearner()])
    report = json.loads(to_json(report_entry(board.best)))
    assert report["name"] == "mean_learner"
    assert report["loss"] == board.best.loss
    assert report["nonzeros"] is None
    assert report["parameters"] == {}
    assert find_warnings(nr.open_source((X, TARGETS)), board.winner, 60) == []


def test_what_stops_it_does_not_stop_the_others() -> None:
    class Fails(MeanLearner):
        def play(self, X: Any, y: Any = None, weight: Any = None, query: Any = None) -> nr.Transcript:
            if self.rounds:
                raise nr.BadValue("row 3: it cannot go on", row=3)
            return super().play(X, y, weight, query)

    batches = [Batch(X[:30], TARGETS[:30], np.arange(30)), Batch(X[30:], TARGETS[30:], np.arange(30, 60))]
    board = nr.race(batches, [Fails(), nr.make("pa1", task="regression", native=False)])
    assert board.entries[-1].stopped == "rounds:33: it cannot go on"
    assert (board.entries[-1].rounds, board.best.rounds) == (30, 60)


def test_something_that_is_no_learner_is_refused() -> None:
    class Half:
        card = MeanLearner.card

        def play(self, X: Any, y: Any) -> None: ...

    assert "play needs a learner" in refusal(lambda: nr.play((X, TARGETS), Half()))  # type: ignore[arg-type]
    assert "a learner is made from" in refusal(lambda: nr.race((X, TARGETS), [Half()]))


# ---- checkpoints ----------------------------------------------------------------------------------------------------


def checkpoints(learner: Any, path: Path) -> Checkpoints:
    source = nr.open_source((X, TARGETS))
    source.batch = 10  # type: ignore[attr-defined]
    fingerprint = fingerprint_source(source, ["arrays"], 0)
    return Checkpoints(learner, source, str(path), every=0.0, fingerprint=fingerprint, options={})


@pytest.mark.parametrize("make", [MeanLearner, lambda: nr.make("pa1", task="regression", native=False)])
def test_an_interrupted_run_goes_on_after_the_last_checkpoint(make: Any, tmp_path: Path) -> None:
    path = tmp_path / "m.nr"
    first = checkpoints(make(), path)
    run = Run(first.learner)
    for number, batch in enumerate(first.batches()):
        if number == 3:
            break
        run.play(first.source, batch)
    first.save(ended=False)
    again = checkpoints(nr.load(path), path)
    assert again.resumes
    assert again.skip == 30  # the fourth batch was read, and not learned
    rest = Run(again.learner)
    for batch in again.batches():
        rest.play(again.source, batch)
    again.save(ended=True)
    whole, resumed = make(), nr.load(path)
    assert resumed.source is not None
    assert resumed.source["ended"] is True
    assert resumed.source["rows"] == 60
    resumed.source = None
    assert pack(resumed) == pack(whole.learn(X[:10], TARGETS[:10]).learn(X[10:], TARGETS[10:]))
    assert not checkpoints(nr.load(path), path).resumes


def test_a_saved_model_is_resumed_and_predicts_on_the_command_line(tmp_path: Path, capsys: Any) -> None:
    table, model, out = tmp_path / "t.csv", tmp_path / "m.nr", tmp_path / "p.csv"
    with open(table, "w", newline="") as file:
        csv.writer(file).writerows([("a", "y"), *((t % 3, t % 5 + 0.5) for t in range(40))])
    MeanLearner().learn([{"a": 1.0}], [1.0]).save(model)
    report = tmp_path / "r.json"
    assert main(["learn", str(table), "--resume", str(model), "--json", str(report), "--confusion"]) == 0
    assert "regression has no confusion matrix" in capsys.readouterr().out
    learned = json.loads(report.read_text())
    assert learned["task"] == "regression"
    assert learned["learners"][0]["rounds_in_all"] == 41
    loaded = nr.load(model)
    assert (loaded.rounds, loaded.source["rows"], loaded.source["ended"]) == (41, 40, True)
    assert main(["predict", str(model), str(table), "--out", str(out), "--quiet"]) == 0
    assert {float(line) for line in out.read_text().split()[1:]} == {loaded.total / 41}


# ---- transcripts without labels or scores ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "metric", [Confusion(), LabelBaselines(), TargetBaselines(), InputOrder(), Ranking(), Multilabel()]
)
def test_metrics_skip_transcripts_that_lack_what_they_need(metric: Any) -> None:
    before = metric.report()
    zeros, none = np.zeros(3), np.zeros(3, bool)
    metric.see(Batch(X[:3], None), nr.Transcript(None, None, zeros, none, none, None))
    assert metric.report() == before


def test_a_metric_sees_the_rows() -> None:
    class Rows:
        def __init__(self) -> None:
            self.seen = 0.0

        def see(self, batch: Batch, transcript: nr.Transcript) -> None:
            self.seen += float(np.sum(batch.X))

        def report(self) -> dict[str, float]:
            return {"seen": self.seen}

    assert nr.play((X, TARGETS), MeanLearner(), [Rows()])["seen"] == pytest.approx(X.sum())
