"""Whatever follows the Learner protocol is played, raced, checkpointed, resumed and reported like a rule learner."""

import csv
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.data.batch import Batch
from noregret.evaluation.checkpoint import Checkpoints, fingerprint_source
from noregret.evaluation.play import Run
from noregret.evaluation.report import find_warnings, report_entry, to_json
from noregret.learner.model_file import KINDS, pack
from noregret.metrics import Confusion, InputOrder, LabelBaselines, Multilabel, Ranking, TargetBaselines
from noregret.rules.registry import REGISTRY
from tests.conformance.protocol import CHECKS, Case, check_save_and_go_on
from tests.support import refusal, small_stream
from tests.support.command_line import noregret, succeeded
from tests.support.running_mean import RunningMean

X, Y = small_stream(rows=60)
TARGETS = X[:, 0] + 2.0
FILE = Path(__file__).parents[1] / "support" / "running_mean.py"


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    """The running mean is in the catalogue here only: other tests go through it."""
    nr.learners()
    before, kinds = dict(REGISTRY), dict(KINDS)
    card = RunningMean.card
    REGISTRY[card.name], KINDS[RunningMean.kind] = card, RunningMean
    yield
    REGISTRY.clear()
    REGISTRY.update(before)
    KINDS.clear()
    KINDS.update(kinds)


def running_mean() -> RunningMean:
    return RunningMean(0.0, "zero")


CASE = Case(running_mean, X, TARGETS.tolist())


@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
def test_it_passes_the_checks_of_all_learners(check: Callable[[Case], None]) -> None:
    check(CASE)


def test_saved_and_loaded_it_goes_on(tmp_path: Path) -> None:
    check_save_and_go_on(CASE, tmp_path)


def test_it_plays_and_reports_its_own_losses() -> None:
    report = nr.play((X, TARGETS), running_mean())
    errors = [abs(TARGETS[t] - (TARGETS[:t].mean() if t else 0.0)) for t in range(60)]
    assert report["loss"] == pytest.approx(sum(errors))
    assert (report["rounds"], report["mistakes"], report["updates"]) == (60, 0, 60)


def test_it_races_beside_rules() -> None:
    mean, rule = running_mean(), nr.make("pa1", task="regression", native=False)
    board = nr.race((X, TARGETS), [mean, rule, "ogd"], task="regression", native=False)
    assert {entry.name for entry in board} == {"running_mean", "pa1", "ogd"}
    losses = [entry.loss for entry in board]
    assert losses == sorted(losses)
    entry = board["running_mean"]
    assert entry.learner is mean
    assert entry.loss == nr.play((X, TARGETS), running_mean())["loss"]
    assert entry.loss != board["pa1"].loss
    head, _, *lines = str(board).splitlines()
    assert head.split()[:3] == ["learner", "loss", "mean"]
    assert len(lines) == 3
    assert entry.nonzeros is None
    assert entry.asked is None
    assert entry.summarize() == f"a mean loss of {entry.loss / 60:.4g}"


def test_it_is_made_for_a_race_without_the_options_that_suit_the_source() -> None:
    board = nr.race("diabetes", ["running_mean", "pa1"], native=False, seed=3)  # which suggests a constant feature
    assert {entry.name for entry in board} == {"running_mean", "pa1"}
    assert "no parameter 'bias'" in refusal(lambda: nr.race("diabetes", ["running_mean"], bias=True))


def test_its_baselines_are_measured_by_the_absolute_error() -> None:
    board = nr.race((X, TARGETS), [running_mean()])
    assert board.baselines["mean"] == pytest.approx(board.best.loss)


def test_its_entry_is_a_report() -> None:
    board = nr.race((X, TARGETS), [running_mean()])
    report = json.loads(to_json(report_entry(board.best)))
    assert report["name"] == "running_mean"
    assert report["loss"] == board.best.loss
    assert report["nonzeros"] is None
    assert report["parameters"] == {"forget": 0.0, "start": "zero"}
    assert find_warnings(nr.open_source((X, TARGETS)), board.winner, 60) == []


def test_what_stops_it_does_not_stop_the_others() -> None:
    class Fails(RunningMean):
        def play(self, X: Any, y: Any = None, weight: Any = None, query: Any = None) -> nr.Transcript:
            if self.rounds:
                raise nr.BadValue("row 3: it cannot go on", row=3)
            return super().play(X, y, weight, query)

    batches = [Batch(X[:30], TARGETS[:30], np.arange(30)), Batch(X[30:], TARGETS[30:], np.arange(30, 60))]
    board = nr.race(batches, [Fails(0.0, "zero"), nr.make("pa1", task="regression", native=False)])
    assert board.entries[-1].stopped == "rounds:33: it cannot go on"
    assert (board.entries[-1].rounds, board.best.rounds) == (30, 60)
    assert str(board).splitlines()[-1].split() == ["running_mean", "(stopped", "after", "30", "rounds)"]


def test_something_that_is_no_learner_is_refused() -> None:
    class Half:
        card = RunningMean.card

        def play(self, X: Any, y: Any) -> None: ...

    assert "play needs a learner" in refusal(lambda: nr.play((X, TARGETS), Half()))  # type: ignore[arg-type]
    assert "a learner is made from" in refusal(lambda: nr.race((X, TARGETS), [Half()]))


# ---- checkpoints ----------------------------------------------------------------------------------------------------


def checkpoints(learner: Any, path: Path) -> Checkpoints:
    source = nr.open_source((X, TARGETS))
    source.batch = 10  # type: ignore[attr-defined]
    fingerprint = fingerprint_source(source, ["arrays"], 0)
    return Checkpoints(learner, source, str(path), every=0.0, fingerprint=fingerprint, options={})


@pytest.mark.parametrize("make", [running_mean, lambda: nr.make("pa1", task="regression", native=False)])
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
    finished = checkpoints(nr.load(path), path)
    assert finished.resumes
    assert list(finished.batches()) == []  # nothing is left


def test_it_learns_races_resumes_and_predicts_on_the_command_line(tmp_path: Path) -> None:
    rows = [(t % 3, t % 5 + 0.5) for t in range(40)]
    with open(tmp_path / "t.csv", "w", newline="") as file:
        csv.writer(file).writerows([("a", "y"), *rows])
    name, task = f"{FILE}:RunningMean", ("--task", "regression")
    raced = succeeded(noregret("race", "t.csv", *task, "--learners", f"pa1,{name}", "--json", "-", cwd=tmp_path))
    report = json.loads(raced.stdout)
    assert {one["name"] for one in report["learners"]} == {"pa1", "running_mean"}
    learned = noregret("learn", "t.csv", *task, "--learner", name, "--save", "m.nr", "--confusion", cwd=tmp_path)
    assert "regression has no confusion matrix" in succeeded(learned).stdout
    again = noregret("learn", "t.csv", "--resume", "m.nr", "--rule", str(FILE), "--passes", "1", "--json", "-",
                     cwd=tmp_path)  # fmt: skip
    assert json.loads(succeeded(again).stdout)["learners"][0]["rounds_in_all"] == 80
    loaded = nr.load(tmp_path / "m.nr")
    assert (loaded.source["rows"], loaded.source["ended"]) == (40, True)
    assert loaded.mean == pytest.approx(np.mean([y for _, y in rows]))
    predicted = succeeded(noregret("predict", "m.nr", "t.csv", "--quiet", cwd=tmp_path)).stdout.split()
    assert predicted == ["prediction", *[repr(loaded.mean)] * 40]


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

    assert nr.play((X, TARGETS), running_mean(), [Rows()])["seen"] == pytest.approx(X.sum())


def test_it_becomes_a_regressor_of_scikit_learn() -> None:
    from noregret.interop import classifier, regressor

    made = regressor(RunningMean)
    model = made(start="one", shuffle=False).fit(X, TARGETS)
    assert isinstance(model.learner_, RunningMean)
    assert model.predict(X[:2]) == pytest.approx(TARGETS.mean())
    assert set(model.get_params()) == {"forget", "start", "passes", "shuffle", "random_state"}
    no_classifier = "no classifier can be made of"
    assert f"{no_classifier} running_mean: it cannot play binary" in refusal(lambda: classifier(RunningMean))
    assert f"{no_classifier} delayed: it contains" in refusal(lambda: classifier(nr.learners()["delayed"]))
