"""Small bars in the live table of a race: the course of the mistake rate."""

import contextlib
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import noregret as nr
from noregret.cli.race import add_trends
from noregret.cli.screen import Screen, cut_text, cut_words, fit_columns
from noregret.evaluation.tables import sparkline
from tests.support.cover import only_in_test_all

RNG = np.random.default_rng(1)
X = RNG.normal(size=(300, 4))
Y = np.where(X[:, 0] > 0.0, 1, -1)


def test_bars_rise_with_the_values() -> None:
    assert sparkline([0.0, 0.5, 1.0]) == "▁▅█"
    assert sparkline([3.0, 3.0]) == "██"
    assert sparkline([0.0, 0.0]) == "▁▁"
    assert sparkline([]) == ""
    assert sparkline([float("inf"), 1.0]) == "██"


def test_a_trend_has_the_rate_of_each_doubling() -> None:
    learner = nr.make("perceptron", native=False)
    entry = nr.race((X, Y), [learner])["perceptron"]
    mistakes = nr.make("perceptron", native=False).play(X, Y).mistakes
    parts = [mistakes[8:16], mistakes[16:32], mistakes[32:64], mistakes[64:128], mistakes[128:256], mistakes[256:]]
    assert entry.trend() == pytest.approx([part.mean() for part in parts])
    assert len(entry.trend(doublings=2)) == 2


def test_targets_have_a_trend_of_the_loss() -> None:
    entry = nr.race((X, X[:, 0]), ["pa1"], task="regression", native=False).best
    loss = {point.rounds: point.loss for point in entry.curve}
    assert entry.trend()[0] == pytest.approx((loss[16] - loss[8]) / 8)
    assert entry.trend()[-1] < entry.trend()[0]


def test_trends_fit_narrow_terminals() -> None:
    board = nr.race((X, Y), ["perceptron_averaged", "pa1"], native=False)
    head, rows = add_trends(board, *board.table())
    assert list(head[:4]) == ["learner", "mistakes", "rate", "trend"]
    kept, lines = fit_columns(head, rows, 60)
    assert "trend" in kept
    assert all(sum(map(len, line)) + 2 * (len(line) - 1) <= 60 for line in (kept, *lines))


@pytest.mark.parametrize(("encoding", "shown"), [("utf-8", True), ("UTF-16", True), ("ascii", False), (None, False)])
def test_bars_need_a_live_table_and_its_characters(encoding: str | None, shown: bool) -> None:
    screen = Screen(quiet=False)
    if encoding is not None:
        screen._drawing = SimpleNamespace(console=SimpleNamespace(encoding=encoding))
    assert screen.shows_bars is shown


@only_in_test_all
def test_the_live_table_has_trends(tmp_path: Path) -> None:
    pty = pytest.importorskip("pty", reason="there are no pseudo-terminals here")
    code = (
        "import time, noregret.cli.screen as screen, noregret.cli as cli; screen.REFRESH = 0.0; "
        "cli.main(['race', 'separable', '--learners', 'perceptron'])"
    )
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "60", "PYTHONUTF8": "1"}
    with subprocess.Popen([sys.executable, "-c", code], stdin=theirs, stdout=theirs, stderr=theirs, cwd=tmp_path,
                          env=environment) as process:  # fmt: skip
        os.close(theirs)
        said = b""
        with contextlib.suppress(OSError):
            while part := os.read(ours, 65536):
                said += part
        assert process.wait(60) == 0
    os.close(ours)
    text = said.decode()
    assert "trend" in text, text
    assert "█" in text


def test_text_in_the_last_column_is_cut_to_the_words_that_fit() -> None:
    assert [cut_words("one two three", room) for room in (13, 12, 8, 7, 6, 3, 2)] == [
        "one two three", "one two", "one two", "one two", "one", "one", "on",
    ]  # fmt: skip
    head, rows = ("topic", "words"), [("7", "one two three four five six"), ("12", "one")]
    assert cut_text(head, rows, 7 + 23) == [["7", "one two three four five"], ["12", "one"]]
    assert cut_text(head, rows, 7 + 22) == [["7", "one two three four"], ["12", "one"]]
    assert cut_text(head, rows, 7) == [["7", "one two three four"], ["12", "one"]]  # of 20 characters
    assert cut_text(head, [], 80) == []
