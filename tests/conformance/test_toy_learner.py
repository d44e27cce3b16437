"""A learner that is not a rule takes one file: it then races, saves, resumes, documents itself and conforms."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import noregret as nr
from noregret.cli import main
from noregret.learner.model_file import KINDS
from noregret.rules.registry import REGISTRY
from tests.conformance.protocol import CHECKS, Case, check_save_and_go_on
from tests.support import small_stream

X, _ = small_stream(rows=40)
TARGETS = (X[:, 0] + 2.0).tolist()
FILE = Path(__file__).parents[1] / "support" / "running_mean.py"


@pytest.fixture(autouse=True)
def toy() -> Iterator[None]:
    """The learner as it is for a user who imported its file; afterwards the catalogue is as it was."""
    nr.learners()
    before, kinds = dict(REGISTRY), dict(KINDS)
    from tests.support.running_mean import RunningMean

    REGISTRY["running_mean"], KINDS["running_mean"] = RunningMean.card, RunningMean
    yield
    REGISTRY.clear()
    REGISTRY.update(before)
    KINDS.clear()
    KINDS.update(kinds)


CASES = {
    "mean": Case(lambda: nr.make("running_mean"), X, TARGETS),
    "forgetting": Case(lambda: nr.make("running_mean", forget=0.25, start="one"), X, TARGETS),
    "delayed": Case(lambda: nr.delayed("running_mean"), X, TARGETS),
}


@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_it_follows_the_protocol(case: Case, check: Callable[[Case], None]) -> None:
    check(case)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_saved_and_loaded_it_goes_on(case: Case, tmp_path: Path) -> None:
    check_save_and_go_on(case, tmp_path)


def test_it_races_beside_rules() -> None:
    race = nr.race((X, TARGETS), ["running_mean", nr.make("ogd", task="regression", native=False)])
    assert {standing.name for standing in race} == {"running_mean", "ogd"}
    assert race["running_mean"].rounds == 40
    assert "running_mean" in str(race)


def test_training_takes_it() -> None:
    history = nr.epochs(nr.make("running_mean"), X, TARGETS, 3, validation=(X, TARGETS), patience=2)
    assert len(history) == 3
    chosen = nr.online_to_batch(nr.make("running_mean"), X, TARGETS, "best_on_validation", validation=(X, TARGETS))
    assert chosen.rounds <= 40
    with pytest.raises(nr.BadValue, match="have no weights to average"):
        nr.online_to_batch(nr.make("running_mean"), X, TARGETS, "average")


def test_the_command_line_plays_it(tmp_path: Path) -> None:
    data, model = tmp_path / "data.csv", tmp_path / "model.nr"
    rows = [f"{target},{x[0]}" for x, target in zip(X, TARGETS, strict=True)]
    data.write_text("\n".join(["y,a", *rows]) + "\n")
    learned = ["learn", str(data), "--label", "y", "--task", "regression", "--learner", f"{FILE}:RunningMean"]
    assert main([*learned, "--save", str(model), "--json", str(tmp_path / "report.json"), "--quiet"]) == 0
    assert json.loads((tmp_path / "report.json").read_text())
    assert nr.load(model).rounds == 40
