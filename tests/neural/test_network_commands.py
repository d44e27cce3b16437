"""Networks on the command line: race, learn, show, evaluate, and a model that was killed and resumed."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import noregret as nr
from tests.support.command_line import noregret, refused, succeeded
from tests.support.cover import ALL

MLP, HBP = "mlp(layers=8-4, replay=5)", "hbp(depth=3, units=6)"


def write_rows(file: Path, count: int) -> None:
    """Three classes that no line separates; some features come in some rows only."""
    X = np.random.default_rng(0).normal(size=(count, 3)).round(2)
    lines = [
        f"{int(a * b > 0.0) + int(c > 1.0)} 1:{a} 2:{b} {5 + t % 9 if t % 2 else 3}:{c}\n"
        for t, (a, b, c) in enumerate(X.tolist())
    ]
    file.write_text("".join(lines))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("networks")
    write_rows(folder / "data.svm", 300)
    return folder


def test_networks_race_by_name_with_sizes(folder: Path) -> None:
    succeeded(noregret("race", "data.svm", "--learners", f"{MLP},{HBP}", "--json", "race.json", cwd=folder))
    told = json.loads((folder / "race.json").read_text())
    assert {one["name"] for one in told["learners"]} == {MLP, HBP}
    refused(noregret("race", "data.svm", "--learners", "mlp(layers=8-x)", cwd=folder), "layers must be", "100-50")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (MLP, ["network     13 - 8 - 4 - 3, 163 weights"]),
        (HBP, ["network     13 - 3 x 6 - 3, 273 weights", "mixture     0."]),
    ],
)
def test_a_network_is_learned_shown_and_evaluated(folder: Path, name: str, said: list[str]) -> None:
    succeeded(noregret("learn", "data.svm", "--learner", name, "--save", "m.nr", "--quiet", cwd=folder))
    shown = succeeded(noregret("show", "m.nr", cwd=folder)).stdout
    assert all(part in shown for part in (*said, "features    13 seen", "3: 0, 1, 2"))
    model = nr.load(folder / "m.nr")
    assert json.loads(succeeded(noregret("show", "m.nr", "--json", "-", cwd=folder)).stdout)["features"] == 13
    found = json.loads(succeeded(noregret("evaluate", "m.nr", "data.svm", "--json", "-", cwd=folder)).stdout)
    (batch,) = nr.open_source(str(folder / "data.svm"))
    wrong = int((model.predict(batch.X) != np.asarray(batch.y)).sum())
    assert found["mistakes"] == wrong


def test_a_network_that_has_learned_nothing_is_shown(tmp_path: Path) -> None:
    nr.make("hbp").save(tmp_path / "empty.nr")
    assert "hbp has no weights yet" in succeeded(noregret("show", "empty.nr", cwd=tmp_path)).stdout


@pytest.mark.compiles
@pytest.mark.skipif(os.name == "nt", reason="signals differ there")
@pytest.mark.parametrize("name", [MLP, HBP] if ALL else [MLP])
def test_a_network_that_was_killed_goes_on_as_if_never_stopped(tmp_path: Path, name: str) -> None:
    many = 60_000
    write_rows(tmp_path / "long.svm", many)
    words = [sys.executable, "-m", "noregret", "learn", "long.svm", "--learner", name, "--quiet"]
    start = [*words, "--save", "m.nr", "--every", "0"]
    process = subprocess.Popen(start, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    began = time.monotonic()
    while not (tmp_path / "m.nr").exists() and process.poll() is None and time.monotonic() - began < 240:
        time.sleep(0.002)
    process.kill()
    assert process.wait() == -signal.SIGKILL
    killed = nr.load(tmp_path / "m.nr")
    assert 0 < killed.rounds < many
    succeeded(noregret("learn", "long.svm", "--resume", "m.nr", "--quiet", cwd=tmp_path))
    succeeded(noregret("learn", "long.svm", "--learner", name, "--save", "whole.nr", "--quiet", cwd=tmp_path))
    resumed, whole = nr.load(tmp_path / "m.nr"), nr.load(tmp_path / "whole.nr")
    assert resumed.rounds == whole.rounds == many
    resumed.source = whole.source = None
    resumed.save(tmp_path / "m.nr")
    whole.save(tmp_path / "whole.nr")
    assert (tmp_path / "m.nr").read_bytes() == (tmp_path / "whole.nr").read_bytes()
