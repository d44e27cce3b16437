"""The experiment of docs/reranking.md, on lists that are made here."""

import json
from pathlib import Path

import pytest

from tests.loglinear.lists import text_lists
from verification import reranking

X, Y = text_lists(40, seed=8)


def write(folder: Path) -> None:
    lines = [json.dumps({**x, "reference": y}) for x, y in zip(X, Y, strict=True)]
    (folder / "made.jsonl").write_text("\n".join(lines))


def test_the_table_has_a_row_for_each_learner(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("sacrebleu")
    write(tmp_path)
    assert reranking.main([str(tmp_path), "--lists", "made", "--only", "ridge_reranker"]) == 0
    rows = [line.strip("| ").split(" | ") for line in capsys.readouterr().out.splitlines() if line.startswith("|")]
    names = [row[0] for row in rows[2:]]
    assert names == ["no adaptation (first candidate)", "ridge_reranker", "best candidate (oracle)"]
    first, ridge, best = (float(row[1]) for row in rows[2:])
    assert first < ridge < best
    assert rows[3][2].startswith(f"{ridge - first:+.1f}"[:3])


def test_costs_are_told_and_a_missing_file_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str],
                                                      monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    write(tmp_path)
    monkeypatch.setattr(reranking, "LEARNERS", {"ridge_reranker": reranking.LEARNERS["ridge_reranker"]})
    assert reranking.main([str(tmp_path), "--lists", "made", "--costs", "10"]) == 0
    assert "ms  ridge_reranker" in capsys.readouterr().out
    assert reranking.main([str(tmp_path), "--lists", "other"]) == 2
    assert "there is no" in capsys.readouterr().err
