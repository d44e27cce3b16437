"""`noregret experts`: algorithms side by side over a table of experts, and what is refused."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.streams.expert_tables import read_expert_table
from tests.support.command_line import noregret

CALLS = "day,a,b,truth\n1,1,0,1\n2,0,0,0\n3,1,1,0\n"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "calls.csv"
    path.write_text(CALLS)
    return path


def report(folder: Path, *arguments: str) -> dict[str, Any]:
    done = noregret("experts", *arguments, "--json", "-", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.compiles
def test_the_report_is_that_of_the_learners(table: Path) -> None:
    said = report(
        table.parent, "calls.csv", "--truth", "truth", "--drop", "day", "--algorithms", "hedge", "--set", "eta=0.5"
    )
    learner: Any = nr.make("hedge", eta=0.5, loss="zero_one", native=False)
    learner.learn([{"a": 1, "b": 0}, {"a": 0, "b": 0}, {"a": 1, "b": 1}], [1, 0, 0])
    (one,) = said["algorithms"]
    assert one["loss"] == learner.loss
    assert one["mistakes"] == learner.mistakes
    assert one["regret"] == learner.regret
    assert one["bound"]["value"] == learner.bound().value
    assert one["weights"] == learner.weights
    assert said["experts"] == [{"name": "a", "loss": 1.0, "rounds": 3}, {"name": "b", "loss": 2.0, "rounds": 3}]
    assert said["sequences"][0] == {"switches": 0, "loss": 1.0, "parts": [[1, "a"]]}


@pytest.mark.compiles
def test_losses_and_sleep_are_read(tmp_path: Path) -> None:
    path = tmp_path / "losses.csv"
    path.write_text("a,b\n0,10\n5,\n")
    said = report(
        tmp_path,
        "losses.csv",
        "--losses",
        "--loss-range",
        "0",
        "10",
        "--missing",
        "sleep",
        "--algorithms",
        "fixed_share,hedge",
    )
    assert said["experts"] == [{"name": "a", "loss": 5.0, "rounds": 2}, {"name": "b", "loss": 10.0, "rounds": 1}]
    assert said["sequences"] == []


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        (CALLS, [], "name the column that holds the truth with --truth COLUMN"),
        (CALLS, ["--truth", "thruth"], "there is no column 'thruth'; did you mean 'truth'?"),
        (CALLS, ["--truth", "truth", "--losses"], "not both"),
        (CALLS, ["--truth", "truth", "--algorithms", "hegde"], "no expert algorithm 'hegde'; did you mean 'hedge'?"),
        (CALLS, ["--truth", "truth", "--algorithms", "hedge,hedge"], "an algorithm is named twice"),
        (CALLS, ["--losses", "--loss", "squared"], "--loss is for predictions"),
        (CALLS, ["--truth", "truth", "--drop", "a", "--drop", "b", "--drop", "day"], "no column is left for an expert"),
        ("a,truth\n1,1\n1\n", ["--truth", "truth"], "calls.csv:3: there are 1 cells and 2 columns"),
        ("a,a,truth\n1,1,1\n", ["--truth", "truth"], "more than one column is named 'a'"),
        ("", ["--truth", "truth"], "is empty"),
        ("a,b\n", ["--losses"], "there are column names, but no rounds"),
        ("a,b\n0.5,1.5\n", ["--losses"], "calls.csv:2: round 0, expert 'b': the loss 1.5 is not in [0, 1]"),
        ("a,b\n0.5,nan\n", ["--losses"], "calls.csv:2: round 0, expert 'b': the value is missing"),
        ("a,b\n0.5,x\n", ["--losses"], "calls.csv:2: round 0, expert 'b': a loss must be a number, not 'x'"),
        ("a,truth\n0.5,0.25\n", ["--truth", "truth"], "name the loss of a prediction: --loss squared"),
        ("a,truth\n1,1\n1,\n", ["--truth", "truth"], "calls.csv:3: the truth must be a number or a text"),
    ],
)  # fmt: skip
def test_bad_input_ends_with_one_line_and_code_2(text: str, options: list[str], said: str, table: Path) -> None:
    table.write_text(text)
    done = noregret("experts", "calls.csv", *options, cwd=table.parent)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert done.stderr.count("\n") <= 2


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    done = noregret("experts", "up_dwon", "--truth", "x", cwd=tmp_path)
    assert done.returncode == 2
    assert "up_dwon: No such file or directory; did you mean 'up_down'?" in done.stderr


def test_the_built_in_table_is_what_its_entry_says() -> None:
    found = read_expert_table("up_down", None)
    assert found.names == ["Ann", "Bob", "Carl", "Dora"]
    wrong = np.array(
        [[call != truth for call in row] for row, truth in zip(found.rows, found.truth or [], strict=True)]
    )
    assert wrong.sum(axis=0).tolist() == [4, 4, 8, 1]


@pytest.mark.compiles
def test_the_race_is_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    words = ("experts", "up_down", "--algorithms", "hedge,fixed_share", "--picture", "e.png")
    assert noregret(*words, cwd=tmp_path).returncode == 0
    assert (tmp_path / "e.png").stat().st_size > 5000
    found = nr.race_experts(np.eye(3), algorithms=["hedge"], native=False)
    with pytest.raises(nr.BadValue, match="there is no algorithm 'x' in this race"):
        nr.plots.experts(found, "x")
