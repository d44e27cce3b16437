"""Rows that are held out: the last ones or a random share, the same in every pass, never learned."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.streams import Cursor, open_source
from tests.support import refusal

X = np.arange(100.0).reshape(-1, 1)
Y = np.arange(100) % 3


def read(**options: Any) -> tuple[list[float], list[float]]:
    """The rows that are read, and those that are held out."""
    source = open_source((X, Y), **options)
    for part in getattr(source, "sources", ()):
        part.batch = 7
    learned = [float(x) for batch in source for x in np.ravel(batch.X)]
    return learned, [float(x) for batch in source.held_out for x in np.ravel(batch.X)]


@pytest.mark.parametrize(("size", "count"), [(1, 1), (7, 7), (13, 13), (0.2, 20), (0.001, 1), (0.999, 100)])
def test_the_last_rows_are_held_out(size: float, count: int) -> None:
    if count == 100:
        assert "leaves no rows" in refusal(lambda: read(holdout=size))
        return
    learned, held_out = read(holdout=size)
    assert learned == X[: 100 - count, 0].tolist()
    assert held_out == X[100 - count :, 0].tolist()


def test_a_random_share_is_the_same_for_the_same_seed() -> None:
    learned, held_out = read(holdout=0.3, holdout_seed=5)
    assert sorted(learned + held_out) == X[:, 0].tolist()
    assert 15 < len(held_out) < 45
    assert held_out != X[-len(held_out) :, 0].tolist()
    assert read(holdout=0.3, holdout_seed=5)[1] == held_out
    assert read(holdout=0.3, holdout_seed=6)[1] != held_out


@pytest.mark.parametrize("options", [{"holdout": 0.2}, {"holdout": 30}, {"holdout": 0.2, "holdout_seed": 1}])
def test_no_pass_reads_what_is_held_out(options: dict[str, Any]) -> None:
    once, held_out = read(**options)
    learned, again = read(passes=3, **options)
    assert learned == once * 3
    assert again == held_out
    mixed, same = read(passes=2, shuffle=4, **options)
    assert sorted(mixed) == sorted(once * 2)
    assert same == held_out


def test_skip_and_limit_come_first() -> None:
    learned, held_out = read(skip=10, limit=50, holdout=0.2)
    assert learned == X[10:50, 0].tolist()
    assert held_out == X[50:60, 0].tolist()


@pytest.mark.parametrize("options", [{"holdout": 0.2}, {"holdout": 30}, {"holdout": 0.2, "holdout_seed": 1}])
def test_reading_resumes_with_the_same_rows(options: dict[str, Any]) -> None:
    whole, held_out = read(**options)
    for stop in (1, 4, 9):
        cursor, learned = Cursor(), []
        source = open_source((X, Y), **options)
        source.sources[0].batch = 7  # type: ignore[attr-defined]
        for number, batch in enumerate(source):
            if number == stop:
                break
            cursor.advance(batch)
            learned += [float(x) for x in np.ravel(batch.X)]
        source = open_source((X, Y), **options)
        source.sources[0].batch = 7  # type: ignore[attr-defined]
        learned += [float(x) for batch in cursor.resume(source) for x in np.ravel(batch.X)]
        assert learned == whole
        if "holdout_seed" not in options:  # random rows of before were read before
            assert [float(x) for batch in source.held_out for x in np.ravel(batch.X)] == held_out


def test_lists_are_held_out_whole(tmp_path: Path) -> None:
    lines = [f"{row % 2} qid:{row // 4} 1:{row}" for row in range(40)]
    (tmp_path / "r.svm").write_text("\n".join(lines) + "\n")
    source = open_source(tmp_path / "r.svm", lists=True, targets=True, holdout=6)
    learned = sum(batch.rows for batch in source)
    assert learned == 32
    assert sum(batch.rows for batch in source.held_out) == 8


@pytest.mark.parametrize(
    "options", [{"holdout": 1.5}, {"holdout": -1}, {"holdout": True}, {"holdout": 5, "holdout_seed": 1}]
)
def test_what_is_no_holdout_is_refused(options: dict[str, Any]) -> None:
    assert "holdout" in refusal(lambda: open_source((X, Y), **options))


def test_a_race_reports_rows_that_nobody_learned() -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(300, 3))
    y = (rows[:, 0] > 0).astype(int)
    source = open_source((rows, y), holdout=100)
    board = nr.race(source, ["pa1", "perceptron"], native=False)
    for entry in board:
        assert entry.learner.rounds == entry.rounds == 200
        assert entry.held_out is not None
        assert entry.held_out["rows"] == 100
        assert entry.held_out["mistakes"] == (entry.learner.predict(rows[200:]) != y[200:]).sum()
    assert board.best_held_out is min(board, key=lambda entry: entry.held_out["mistakes"])  # type: ignore[index]
    assert "held out" in str(board)
