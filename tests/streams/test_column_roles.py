"""What the columns of a table are for: weights, times, columns left out, numbers that are names."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.errors import BadValue
from noregret.streams import open_source

TABLE = "when,id,size,zip,w,label\n" + "".join(
    f"2024-05-{day:02d}T12:00:00,{day * 7},{day / 2},{day % 3},{day % 4},{'ab'[day % 2]}\n" for day in range(1, 29)
)


def written(folder: Path, text: str = TABLE) -> Path:
    path = folder / "t.csv"
    path.write_text(text)
    return path


@pytest.mark.parametrize("native", [False, True])
def test_columns_play_their_roles(tmp_path: Path, native: bool) -> None:
    source: Any = open_source(
        written(tmp_path), weight="w", timestamp="when", drop="id", categorical=["zip"], label="label"
    )
    source.native = native
    (batch,) = source
    assert batch.X.names == ["size", "zip=1", "zip=2", "zip=0"]
    assert batch.X.indicator.tolist() == [False, True, True, True]
    assert batch.weight.tolist() == [day % 4 for day in range(1, 29)]
    assert batch.X.block.val[::2].tolist() == [day / 2 for day in range(1, 29)]
    assert batch.y == ["ab"[day % 2] for day in range(1, 29)]
    assert source.columns == {"size": "numbers", "zip": "text"}


def test_targets_weights_and_numbered_times_are_told_apart(tmp_path: Path) -> None:
    text = "t,y,x,w\n" + "".join(f"{k},{k * 0.5},{-k},{k % 2}\n" for k in range(50))
    (batch,) = open_source(written(tmp_path, text), label="y", weight="w", timestamp="t", targets=True)
    assert batch.X.names == ["x"]
    assert batch.y.tolist() == [k * 0.5 for k in range(50)]
    assert batch.weight is not None
    assert batch.weight.tolist() == [k % 2 for k in range(50)]


@pytest.mark.parametrize(
    ("cell", "line", "words"),
    [
        ("w,-1", 5, "column 'w': the weight is -1"),
        ("w,", 5, "the weight is empty"),
        ("w,inf", 5, "the weight 'inf' is not a number"),
        ("when,2024-05-01T00:00:00", 5, "column 'when': the time is before that of an earlier row"),
        ("when,yesterday", 5, "'yesterday' is not a time"),
        ("when,", 5, "the time is empty"),
    ],
)
@pytest.mark.parametrize("native", [False, True])
def test_what_is_wrong_is_told_where_it_stands_or_skipped(
    tmp_path: Path, cell: str, line: int, words: str, native: bool
) -> None:
    column, value = cell.split(",")
    lines = TABLE.splitlines()
    cells = lines[line - 1].split(",")
    cells[lines[0].split(",").index(column)] = value
    lines[line - 1] = ",".join(cells)
    path = written(tmp_path, "\n".join(lines))
    source: Any = open_source(path, weight="w", timestamp="when", label="label")
    source.native = native
    with pytest.raises(BadValue, match=f"t.csv:{line}: .*{words}"):
        list(source)
    source = open_source(path, weight="w", timestamp="when", label="label", on_bad="skip")
    source.native = native
    (batch,) = source
    assert batch.lines.tolist() == [number for number in range(2, 30) if number != line]
    assert source.skipped == 1


def test_the_order_of_times_is_checked_across_blocks_and_stops(tmp_path: Path) -> None:
    rows = [f"{k},{k % 7},{k % 2}" for k in range(20_000)]
    path = written(tmp_path, "\n".join(["t,x,y", *rows, "5,1,1"]))
    with pytest.raises(BadValue, match=r"t.csv:20002: "):
        list(open_source(path, timestamp="t"))
    path = written(tmp_path, "\n".join(["t,x,y", *rows]))
    places = [batch.position for batch in open_source(path, timestamp="t") if batch.position is not None]
    assert places[-1]["time"] == 19_999
    path.write_text(path.read_text() + "\n5,1,1\n")
    source = open_source(path, timestamp="t")
    source.start = {**places[-1], "byte": len("\n".join(["t,x,y", *rows])) + 1}
    with pytest.raises(BadValue, match="before that of an earlier row"):
        list(source)


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({"drop": ["idd"]}, "no column 'idd', did you mean 'id'"),
        ({"weight": "x"}, "no column 'x'"),
        ({"timestamp": "x"}, "no column 'x'"),
        ({"categorical": "x"}, "no column 'x'"),
        ({"drop": ["when", "id", "size", "zip", "w", "label"]}, "no column is left for the label"),
    ],
)
def test_a_column_that_is_not_there_is_refused(tmp_path: Path, told: dict[str, Any], words: str) -> None:
    with pytest.raises(BadValue, match=words):
        list(open_source(written(tmp_path), **told))


def test_a_role_is_never_a_feature_nor_the_label(tmp_path: Path) -> None:
    (batch,) = open_source(written(tmp_path, "x,y,w\n1,0,2\n3,1,4\n"), weight="w")
    assert batch.X.names == ["x"]
    assert np.asarray(batch.y).tolist() == [0, 1]
    (batch,) = open_source(written(tmp_path, "x,kind,w\n1,0,2\n3,1,4\n"), weight="w")
    assert np.asarray(batch.y).tolist() == [0, 1], "the label is the last column that is not something else"


def test_a_first_line_of_words_is_a_row_if_that_is_said(tmp_path: Path) -> None:
    path = written(tmp_path, "ham,hello\nspam,win\n")
    (batch,) = open_source(path, header=False, label="c1")
    assert (batch.X.names, batch.y) == (["c2=hello", "c2=win"], ["ham", "spam"])
    (batch,) = open_source(written(tmp_path, "1,2\n3,0\n4,1\n"), header=True, label="2")
    assert batch.X.names == ["1"]
    with pytest.raises(BadValue, match="no column 'c1'; say --no-header if the first line is a row"):
        list(open_source(written(tmp_path, "ham,hello\nspam,win\n"), label="c1"))


@pytest.mark.parametrize("native", [False, True])
def test_empty_cells_are_seen_where_missing_values_are_dealt_with(tmp_path: Path, native: bool) -> None:
    text = "a,b,kind,label\n" + "".join(
        f"{k},{'' if k % 3 else k / 2},{'u' if k % 2 else ''},{k % 2}\n" for k in range(60)
    )
    source: Any = open_source(written(tmp_path, text), keep_missing=True)
    source.native = native
    (batch,) = source
    block, names = batch.X.block, list(batch.X.names)
    rows = [
        {names[j]: v for j, v in zip(block.idx[a:b].tolist(), block.val[a:b].tolist(), strict=True)}
        for a, b in zip(block.indptr[:-1].tolist(), block.indptr[1:].tolist(), strict=True)
    ]
    for k, row in enumerate(rows):
        assert row["a"] == k
        assert np.isnan(row["b"]) if k % 3 else row["b"] == k / 2
        assert ("kind=u" in row) == bool(k % 2), "an empty word is no number that is missing"
    learner, dicts = (nr.missing("indicator") | nr.make("pa1") for _ in range(2))
    learner.learn(batch.X, batch.y)
    dicts.learn(rows, batch.y)
    assert np.array_equal(learner.scores(rows), dicts.scores(rows))
    with pytest.raises(BadValue, match="the value is nan"):
        nr.make("pa1").learn(batch.X, batch.y)
