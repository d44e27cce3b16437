"""How `learn` ends and goes on: signals, kills, places that cannot be written, runs that are finished."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import noregret as nr
from noregret.cli import interrupts, main
from tests.support.command_line import noregret, refused, succeeded

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals differ there")
LINES = "".join(f"{1 if k % 3 else -1} 1:{k % 3} 2:{(7 * k) % 5} {k % 11 + 3}:1\n" for k in range(60))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "data.svm").write_text(LINES)
    (tmp_path / "table.csv").write_text("a,b,y\n" + "".join(f"{k % 5},{k % 3},{int(k % 5 > 2)}\n" for k in range(60)))
    return tmp_path


def learn(*words: str, cwd: Path) -> Any:
    return noregret("learn", *words, "--set", "native=False", "--quiet", cwd=cwd)


@contextmanager
def heeding(number: signal.Signals) -> Iterator[None]:
    """Processes that are started meanwhile do not ignore the signal, even if nohup started the tests."""
    before = signal.signal(number, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(number, before)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_process_that_is_asked_to_end_saves_what_it_learned(number: signal.Signals, folder: Path) -> None:
    data = "separable:rows=50000000,features=30"
    words = [sys.executable, "-m", "noregret", "learn", data, "--learner", "pa1", "--save", "m.nr", "--every", "1000"]
    with heeding(number):
        process = subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    for line in process.stdout:
        if "rounds" not in line:
            break
    time.sleep(0.2)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 128 + number, (out, err)
    assert "Traceback" not in out + err
    stopped = nr.load(folder / "m.nr")
    assert 0 < stopped.rounds < 50_000_000
    assert stopped.source is not None
    assert stopped.source["ended"] is False
    assert os.listdir(folder).count("m.nr") == 1


def test_what_nohup_ignores_stays_ignored() -> None:
    before = {number: signal.getsignal(number) for number in interrupts.SIGNALS}
    try:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        interrupts.handle_interrupts()
        assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
        assert signal.getsignal(signal.SIGTERM) == interrupts.raise_interrupt
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def test_signals_wait_while_a_model_is_saved() -> None:
    before = {number: signal.getsignal(number) for number in interrupts.SIGNALS}
    with interrupts.ignore_interrupts():
        for number in interrupts.SIGNALS:
            os.kill(os.getpid(), number)
    assert {number: signal.getsignal(number) for number in interrupts.SIGNALS} == before


def test_what_killed_processes_left_is_swept_at_the_next_save(folder: Path) -> None:
    old, fresh, other = (folder / name for name in (f".m.nr.{'a1' * 8}", f".m.nr.{'b2' * 8}", f".n.nr.{'c3' * 8}"))
    for file in (old, fresh, other):
        file.write_bytes(b"half a model")
    for file in (old, other):
        os.utime(file, (time.time() - 3600, time.time() - 3600))
    nr.make("pa1", native=False).save(folder / "m.nr")
    assert not old.exists()
    assert fresh.exists()  # another process may be writing it
    assert other.exists()


def test_an_interrupted_save_leaves_nothing_behind(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(number: int) -> None:
        raise KeyboardInterrupt

    before = sorted(os.listdir(folder))
    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        nr.make("pa1", native=False).save(folder / "m.nr")
    assert sorted(os.listdir(folder)) == before


def test_a_finished_run_has_nothing_left(folder: Path) -> None:
    succeeded(learn("data.svm", "--learner", "pa1", "--save", "m.nr", cwd=folder))
    before = (folder / "m.nr").read_bytes()
    refused(noregret("learn", "data.svm", "--resume", "m.nr", cwd=folder), "nothing is left: all its 60 rows")
    assert (folder / "m.nr").read_bytes() == before
    succeeded(noregret("learn", "data.svm", "--resume", "m.nr", "--passes", "1", "--quiet", cwd=folder))
    assert nr.load(folder / "m.nr").rounds == 120
    refused(noregret("learn", "data.svm", "--resume", "m.nr", cwd=folder), "nothing is left")
    succeeded(noregret("learn", "table.csv", "--learner", "pa1", "--limit", "20", "--save", "t.nr", cwd=folder))
    words = ("learn", "table.csv", "--resume", "t.nr", "--quiet")
    refused(noregret(*words, "--limit", "20", cwd=folder), "nothing is left: all its 20 rows")
    succeeded(noregret(*words, "--skip", "20", cwd=folder))
    assert nr.load(folder / "t.nr").rounds == 60


def test_rows_that_came_after_the_run_are_learned_alone(folder: Path) -> None:
    lines = LINES * 100  # more than what tells one file from another
    (folder / "log.svm").write_text(lines)
    succeeded(learn("log.svm", "--learner", "pa1", "--save", "m.nr", cwd=folder))
    with open(folder / "log.svm", "a") as file:
        file.write(LINES)
    succeeded(noregret("learn", "log.svm", "--resume", "m.nr", "--quiet", cwd=folder))
    model = nr.load(folder / "m.nr")
    assert model.rounds == 101 * 60
    assert model.source["rows"] == 101 * 60


def test_resuming_does_not_change_how_the_data_are_said_to_be_read(folder: Path) -> None:
    succeeded(learn("table.csv", "--learner", "pa1", "--save", "m.nr", cwd=folder))
    assert nr.load(folder / "m.nr").source["reading"] == {}
    for _ in range(2):
        succeeded(noregret("learn", "table.csv", "--resume", "m.nr", "--passes", "1", "--quiet", cwd=folder))
        assert nr.load(folder / "m.nr").source["reading"] == {"passes": 1}
        (folder / "table.csv").write_text((folder / "table.csv").read_text() + "1,1,0\n")
    assert nr.load(folder / "m.nr").source["label"] == "y"


def test_a_place_that_cannot_be_written_is_refused_before_learning(folder: Path) -> None:
    for place in ("a" * 250 + ".nr", "/proc/m.nr" if sys.platform == "linux" else "nowhere/m.nr", "table.csv/m.nr"):
        done = noregret("learn", "data.svm", "--learner", "pa1", "--save", place, cwd=folder)
        refused(done, place)
        assert "rounds" not in done.stdout


@pytest.mark.parametrize("command", ["topics", "recommend"])
def test_a_command_that_is_stopped_before_it_learned_anything_says_so(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    path = tmp_path / "rows.csv"
    path.write_text("user,item,rating,body\na,b,3,one two three four five\n")
    monkeypatch.setattr(f"noregret.cli.{command}.check_interrupt", interrupt)
    assert main([command, str(path)]) != 0
    assert "stopped before anything was learned" in capsys.readouterr().err
