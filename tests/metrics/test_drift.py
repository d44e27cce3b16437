"""The alarms of a run: their rounds, their words, and what is watched."""

import json
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.data.transcript import Transcript
from noregret.errors import BadValue
from noregret.evaluation.leaderboard import Entry
from noregret.evaluation.play import Run
from noregret.evaluation.report import report_entry
from noregret.metrics import DETECTORS, DriftAlarms, Metric
from noregret.metrics.drift import describe_drift, find_runs
from noregret.metrics.saved_state import dump_metrics, restore_metrics
from noregret.streams import open_source

RNG = np.random.default_rng(7)
RATES = np.where(np.arange(3000) // 1000 == 1, 0.5, 0.1)
MISTAKES = RNG.random(3000) < RATES


def transcript(mistakes: Any, losses: Any = None) -> Transcript:
    mistakes = np.asarray(mistakes, bool)
    losses = mistakes.astype(float) if losses is None else np.asarray(losses, float)
    return Transcript(None, None, losses, mistakes, mistakes, None)


@pytest.mark.parametrize("name", DETECTORS)
@pytest.mark.parametrize("size", [1, 13, 999])
def test_alarms_and_warnings_do_not_depend_on_the_batches(name: str, size: int) -> None:
    whole, parts = DriftAlarms(name), DriftAlarms(name)
    whole.see(None, transcript(MISTAKES))
    for start in range(0, 3000, size):
        parts.see(None, transcript(MISTAKES[start : start + size]))
    assert whole.describe() == parts.describe()
    assert any(1000 < at < 1400 for at in whole.alarms)
    assert whole.rounds == 3000
    assert isinstance(whole, Metric)


def test_the_levels_of_rounds_become_alarms_and_warnings() -> None:
    metric = DriftAlarms()
    for levels in ([0, 1, 1], [1, 0, 1, 2], [2], [1], [0, 1, 1, 0]):
        metric.record(np.array(levels, np.uint8))
    assert metric.alarms == [7, 8]
    assert metric.warnings == [(2, 4), (6, 6), (9, 9), (11, 12)]


def test_losses_are_compared_with_their_mean_so_far() -> None:
    rng = np.random.default_rng(1)
    losses = np.concatenate((rng.exponential(3.0, 1000), rng.exponential(30.0, 1000))) * 1e6
    metric = DriftAlarms("adwin", watch="loss")
    for start in range(0, 2000, 70):
        part = losses[start : start + 70]
        metric.see(None, transcript(np.zeros(len(part)), part))
    assert len(metric.alarms) == 1
    assert 1000 < metric.alarms[0] < 1100
    blind = DriftAlarms("adwin")
    blind.see(None, transcript(np.zeros(2000), losses))
    assert blind.alarms == []


def test_after_an_alarm_the_mean_of_the_losses_starts_again() -> None:
    losses = np.concatenate([np.random.default_rng(3).random(500) * 10.0**power for power in range(4)])
    metric = DriftAlarms("page_hinkley:threshold=20", watch="loss")
    metric.see(None, transcript(np.zeros(2000), losses))
    assert [at // 500 for at in metric.alarms] == [1, 2, 3]
    again = DriftAlarms("page_hinkley:threshold=20", watch="loss")
    for start in range(0, 2000, 7):
        again.see(None, transcript(np.zeros(len(losses[start : start + 7])), losses[start : start + 7]))
    assert again.describe() == metric.describe()


def test_what_cannot_be_watched_is_refused() -> None:
    with pytest.raises(BadValue, match="watch must be one of mistakes, loss, not 'wins'"):
        DriftAlarms(watch="wins")


def test_a_sentence_names_the_rounds() -> None:
    metric = DriftAlarms()
    assert describe_drift(metric.describe()) == "drift: no alarm of adwin"
    metric.alarms = [1200]
    assert describe_drift(metric.describe()) == "drift: 1 alarm of adwin at round 1,200"
    metric.alarms = list(range(1000, 1011))
    assert describe_drift(metric.describe()).endswith("1,006, 1,007 and 3 more")


def test_runs_of_marks() -> None:
    assert find_runs(np.array([True, False, True, True])) == [(0, 0), (2, 3)]
    assert find_runs(np.zeros(0, bool)) == []


def test_a_run_reports_the_drift_of_its_stream() -> None:
    source = open_source("hyperplane:change=abrupt,every=1000,drift=120,rows=2000,features=4")
    run = Run(nr.make("pa1", native=False), detect="ddm")
    for batch in source:
        run.play(source, batch)
    drift = report_entry(Entry.of(run))["drift"]
    assert drift["detector"] == {"name": "ddm", "warning": 2.0, "alarm": 3.0, "least": 30}
    assert drift["watches"] == "mistakes"
    assert any(1000 < at < 1200 for at in drift["alarms"])
    assert run.report()["drift_alarms"] == len(drift["alarms"])


def test_a_race_and_a_game_take_a_detector() -> None:
    board = nr.race("sea:rows=300", ["perceptron", "pa1"], detect="adwin", native=False)
    assert all(entry.drift is not None and entry.drift["detector"]["name"] == "adwin" for entry in board)
    played = nr.play("diabetes", nr.make("pa1", task="regression", native=False), detect="page_hinkley", limit=100)
    assert played["drift_alarms"] == 0
    with pytest.raises(BadValue, match="did you mean adwin"):
        nr.race("sea:rows=300", ["perceptron"], detect="adwim", native=False)


@pytest.mark.parametrize("name", DETECTORS)
@pytest.mark.parametrize("watch", ["mistakes", "loss"])
def test_a_metric_that_was_saved_goes_on_as_if_never_stopped(name: str, watch: str) -> None:
    losses = MISTAKES * 2.5
    whole, first = DriftAlarms(name, watch), DriftAlarms(name, watch)
    whole.see(None, transcript(MISTAKES, losses))
    first.see(None, transcript(MISTAKES[:1100], losses[:1100]))
    states = json.loads(json.dumps(dump_metrics([first])))
    again = DriftAlarms(name, watch)
    assert restore_metrics([again], states)
    again.see(None, transcript(MISTAKES[1100:], losses[1100:]))
    assert again.describe() == whole.describe()
    assert not restore_metrics([DriftAlarms(f"{name}:least=7", watch)], states)
    for wrong in (
        {"rounds": 3},
        {"alarms": [5, 4]},
        {"warned_to": [1] * 50},
        {"detector_state": {"shape": [1], "at": [], "values": []}},
    ):
        assert not restore_metrics([DriftAlarms(name, watch)], [{**states[0], **wrong}]), wrong
