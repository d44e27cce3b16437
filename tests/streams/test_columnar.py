"""Parquet, Arrow, frames and JSON lines say the same as the same rows in dicts, wherever they are cut."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

import noregret as nr
from noregret.errors import BadValue
from noregret.streams import Cursor, open_source

RECORDS: list[dict[str, Any]] = [
    {
        "size": k / 4,
        "count": None if k % 5 == 0 else k % 7,
        "on": k % 3 == 0,
        "colour": None if k % 11 == 0 else ["red", "blue", "grün"][k % 3],
        "where": {"city": f"c{k % 4}", "floor": k % 6},
        "tags": [["a", "b"], ["b", "b"], [], None][k % 4],
        "w": float(k % 3),
        "id": k,
        "label": ["no", "yes"][k % 2],
    }
    for k in range(500)
]
HOW: dict[str, Any] = {"label": "label", "weight": "w", "drop": "id", "categorical": "where.floor"}


def obvious(record: dict[str, Any]) -> dict[str, float]:
    """The features of one record, by hand."""
    found = {name: float(record[name]) for name in ("size", "count", "on") if record[name] is not None}
    if record["colour"] is not None:
        found[f"colour={record['colour']}"] = 1.0
    found[f"where.city={record['where']['city']}"] = 1.0
    found[f"where.floor={record['where']['floor']}"] = 1.0
    for tag in record["tags"] or ():
        found[f"tags={tag}"] = found.get(f"tags={tag}", 0.0) + 1.0
    return found


def read(source: Any) -> list[tuple[dict[str, float], Any, float]]:
    rows = []
    names: list[str] = []
    for batch in source:
        block = batch.X.block
        assert batch.X.names[: len(names)] == names
        names = batch.X.names
        for row, (first, last) in enumerate(zip(block.indptr[:-1], block.indptr[1:], strict=True)):
            idx, val = block.idx[first:last].tolist(), block.val[first:last].tolist()
            features = {names[j]: value for j, value in zip(idx, val, strict=True)}
            assert len(features) == len(idx)
            rows.append((features, batch.y[row], float(batch.weight[row])))
    return rows


EXPECTED = [(obvious(record), record["label"], record["w"]) for record in RECORDS]


def files(folder: Path) -> dict[str, Any]:
    table = pa.Table.from_pylist(RECORDS)
    pq.write_table(table, folder / "t.parquet", row_group_size=70)
    feather.write_feather(table, str(folder / "t.feather"), chunksize=90)
    with pa.ipc.new_stream(str(folder / "t.arrow"), table.schema) as out:
        out.write_table(table, max_chunksize=64)
    (folder / "t.jsonl").write_text("".join(json.dumps(record) + "\n" for record in RECORDS))
    return {
        **{kind: folder / f"t.{kind}" for kind in ("parquet", "feather", "arrow", "jsonl")},
        "table": table,
        "polars": pl.DataFrame(RECORDS),
        "pandas": pd.DataFrame(RECORDS).set_index("id", drop=False),
    }


KINDS = ["parquet", "feather", "arrow", "jsonl", "table", "polars", "pandas"]


@pytest.mark.parametrize("kind", KINDS)
def test_records_become_the_features_one_would_expect(tmp_path: Path, kind: str) -> None:
    found = read(open_source(files(tmp_path)[kind], **HOW))
    for got, wanted in zip(found, EXPECTED, strict=True):
        assert got == wanted


@pytest.mark.parametrize("kind", KINDS)
def test_a_table_is_learned_alike_in_pieces_and_from_any_place(tmp_path: Path, kind: str, monkeypatch: Any) -> None:
    what = files(tmp_path)[kind]
    monkeypatch.setattr("noregret.streams.arrow.ROWS", 37)
    monkeypatch.setattr("noregret.streams.jsonl.ROWS", 37)
    cursor, passed = Cursor(), 0
    for number, batch in enumerate(open_source(what, **HOW)):
        cursor.advance(batch)
        passed += batch.rows
        if number in (0, 4, 9):
            assert read(Cursor(**cursor.dump()).resume(open_source(what, **HOW))) == EXPECTED[passed:]
    assert passed == 500
    assert read(open_source(what, **HOW)) == EXPECTED


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_labels_may_stand_beside_a_frame(kind: str) -> None:
    make = pd.DataFrame if kind == "pandas" else pl.DataFrame
    frame = make({"a": [1.0, 2.0, 3.0], "b": ["x", "y", "x"]})
    (batch,) = open_source((frame, np.array([1, -1, 1])))
    assert batch.X.names == ["a", "b=x", "b=y"]
    assert batch.y.tolist() == [1, -1, 1]
    (batch,) = open_source((make({"a": [1.0, 2.0]}), [True, False]))
    assert batch.y == [True, False]
    with pytest.raises(BadValue, match="3 rows and y has 2"):
        open_source((frame, [1, 2]))


def test_a_race_runs_over_a_frame() -> None:
    frame = pd.DataFrame({"a": np.arange(50.0), "kind": ["u", "v"] * 25, "label": [0, 1] * 25})
    leaderboard = nr.race(frame, ["pa1", "arow"])
    assert leaderboard.best.mistakes <= 3


def test_columns_that_are_left_out_are_not_read(tmp_path: Path, monkeypatch: Any) -> None:
    asked: list[list[str]] = []
    from noregret.streams.arrow import ParquetGroups

    plain = ParquetGroups.batches

    def watched(self: Any, group: int, columns: list[str]) -> Any:
        asked.append(columns)
        return plain(self, group, columns)

    monkeypatch.setattr(ParquetGroups, "batches", watched)
    list(open_source(files(tmp_path)["parquet"], label="label", drop=["id", "where", "tags", "w"]))
    assert asked[0] == ["size", "count", "on", "colour", "label"]


# ---- what is wrong --------------------------------------------------------------------------------------------------


@pytest.mark.thinned(4)
@pytest.mark.parametrize(
    ("column", "value", "words"),
    [
        ("size", float("inf"), "row 7: column 'size': the value is inf"),
        ("size", float("nan"), "row 7: column 'size': the value is nan"),
        ("label", None, "row 7: the label is empty"),
        ("w", -1.0, "row 7: column 'w': the weight is -1.0"),
        ("w", None, "row 7: column 'w': the weight is None"),
    ],
)
@pytest.mark.parametrize("kind", ["parquet", "arrow", "table"])
def test_a_row_that_cannot_be_used_is_named_or_skipped(
    tmp_path: Path, column: str, value: Any, words: str, kind: str
) -> None:
    records = [dict(record) for record in RECORDS]
    records[7][column] = value
    table = pa.Table.from_pylist(records, schema=pa.Table.from_pylist(RECORDS).schema)
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=5)
    with pa.ipc.new_stream(str(tmp_path / "t.arrow"), table.schema) as out:
        out.write_table(table)
    what = table if kind == "table" else tmp_path / f"t.{kind}"
    with pytest.raises(BadValue, match=words):
        list(open_source(what, **HOW))
    source = open_source(what, **HOW, on_bad="skip")
    assert read(source) == EXPECTED[:7] + EXPECTED[8:]
    assert source.skipped == 1


@pytest.mark.parametrize("kind", ["parquet", "feather", "arrow"])
def test_a_file_that_is_cut_off_or_junk_is_refused_in_one_line(tmp_path: Path, kind: str) -> None:
    whole = files(tmp_path)[kind].read_bytes()
    for name, content in (
        ("half", whole[: len(whole) // 2]),
        ("short", whole[:10]),
        ("junk", bytes(range(256)) * 40),
        ("nothing", b""),
    ):
        path = tmp_path / f"{name}.{kind}"
        path.write_bytes(content)
        with pytest.raises(BadValue) as error:
            list(open_source(path, **HOW))
        assert str(path) in str(error.value)
        assert "\n" not in str(error.value)
    with pytest.raises(BadValue, match="no such file"):
        list(open_source(tmp_path / f"none.{kind}"))


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"a": 1, "y": 1', "this is not JSON"),
        ("[1, 2]", "expected a record"),
        ('{"a": NaN, "y": 1}', "the value is NaN"),
        ('{"a": 1e999, "y": 1}', "the value is inf"),
        ('{"a": "text", "y": 1}', "field 'a' is text here, 'text', and was a number before"),
        ('{"b": 3, "y": 1}', "field 'b' is a number here, 3, and was text before"),
        ('{"a": 1, "a": 2, "y": 1}', "'a' occurs twice"),
        ('{"a": 1}', "no field 'y', the label"),
        ('{"a": 1, "y": null}', "no field 'y', the label"),
        ('{"a": 1, "y": [1]}', "it must be a number or a text"),
        ('{"a": 1, "y": 1, "x": ' + "[" * 2000 + "]" * 2000 + "}", "deep"),
        ('{"a": 1, "y": 1, "x": ' + "9" * 5000 + "}", "not JSON that can be used"),
        (b'{"a": 1, "y": "\xff"}', "byte 16 of the line is not text"),
    ],
)
def test_a_line_of_json_that_cannot_be_used_is_named_or_skipped(tmp_path: Path, line: Any, words: str) -> None:
    good = b'{"a": 1, "b": "t", "y": 1}\n'
    path = tmp_path / "t.jsonl"
    path.write_bytes(good + (line if isinstance(line, bytes) else line.encode()) + b"\n" + good)
    with pytest.raises(BadValue, match=f"t.jsonl:2: .*{words}"):
        list(open_source(path))
    source = open_source(path, on_bad="skip")
    (batch,) = source
    assert batch.lines is not None
    assert batch.lines.tolist() == [1, 3]
    assert source.skipped == 1


def test_times_in_records_never_go_back(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    times = ["2024-01-01T00:00:00", "2024-01-02", "2024-01-01T12:00:00"]
    path.write_text("".join(json.dumps({"at": time, "x": 1, "y": 1}) + "\n" for time in times))
    with pytest.raises(BadValue, match=r"t.jsonl:3: .*before that of an earlier row"):
        list(open_source(path, timestamp="at"))
    source = open_source(path, timestamp="at", on_bad="skip")
    assert [batch.rows for batch in source] == [2]
    assert source.skipped == 1
    table = pa.table({"at": pd.to_datetime(times, format="ISO8601"), "x": [1, 2, 3], "y": [1, 0, 1]})
    with pytest.raises(BadValue, match=r":2: .*before that of an earlier row"):
        list(open_source(table, timestamp="at"))
    (batch,) = open_source(table, label="y")
    assert {"at.year", "at.days", "at.weekday=Mon", "x"} <= set(batch.X.names)


def test_an_unknown_column_is_refused(tmp_path: Path) -> None:
    what = files(tmp_path)
    with pytest.raises(BadValue, match="no column 'sise', did you mean 'size'"):
        list(open_source(what["parquet"], drop="sise"))
    with pytest.raises(BadValue, match="no column 'lable'"):
        list(open_source(what["table"], label="lable"))


# ---- images ---------------------------------------------------------------------------------------------------------


def images(folder: Path, count: int = 30, labels: int = 30) -> Path:
    pixels = (np.arange(count * 6) % 256).astype(np.uint8)
    head = b"\0\0\x08\x03" + np.array([count, 2, 3], ">u4").tobytes()
    (folder / "t-images-idx3-ubyte").write_bytes(head + pixels.tobytes())
    head = b"\0\0\x08\x01" + np.array([labels], ">u4").tobytes()
    (folder / "t-labels-idx1-ubyte").write_bytes(head + (np.arange(labels) % 10).astype(np.uint8).tobytes())
    return folder / "t-images-idx3-ubyte"


def test_images_come_with_the_labels_that_stand_beside(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("noregret.streams.idx.ROWS", 7)
    path = images(tmp_path)
    whole = list(open_source(path))
    assert np.concatenate([batch.y for batch in whole]).tolist() == [k % 10 for k in range(30)]
    row = whole[0].X[1:2].block
    assert (row.idx.tolist(), (row.val * 255).round().tolist()) == ([0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11])
    cursor = Cursor()
    cursor.advance(whole[0])
    rest = list(cursor.resume(open_source(path)))
    assert np.concatenate([batch.y for batch in rest]).tolist() == [k % 10 for k in range(7, 30)]


def test_images_without_their_labels_or_cut_off_are_refused(tmp_path: Path) -> None:
    path = images(tmp_path, labels=29)
    with pytest.raises(BadValue, match="29 labels"):
        list(open_source(path))
    (tmp_path / "t-labels-idx1-ubyte").unlink()
    with pytest.raises(BadValue, match=r"there is no file .*t-labels-idx1-ubyte beside it"):
        list(open_source(path))
    path = images(tmp_path)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(BadValue, match="ends too early"):
        list(open_source(path))
    path.write_bytes(b"\0\0\x08\x03" + np.array([2**31, 2**31, 2**31], ">u4").tobytes())
    with pytest.raises(BadValue, match="damaged"):
        list(open_source(path))
