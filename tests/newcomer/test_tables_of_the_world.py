"""Tables as they are found: marks of missing values, indices, dates, amounts, encodings, line breaks in cells."""

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import noregret as nr
from noregret.features.cells import read_number, read_time
from tests.support import refusal
from tests.support.command_line import noregret, refused, succeeded


def rows_of(path: Path, **options: Any) -> list[dict[str, float]]:
    """The features of every row, by name."""
    found = []
    for batch in nr.open_source(path, **options):
        block = batch.X.block
        for row in range(block.rows):
            at = slice(block.indptr[row], block.indptr[row + 1])
            names = [batch.X.names[number] for number in block.idx[at]]
            found.append(dict(zip(names, block.val[at].tolist(), strict=True)))
    return found


def written(folder: Path, *lines: str, encoding: str = "utf-8") -> Path:
    path = folder / "t.csv"
    path.write_text("\n".join(lines) + "\n", encoding=encoding)
    return path


def test_marks_of_missing_values(tmp_path: Path) -> None:
    path = written(tmp_path, "age,city,label", "30,Rome,a", "NA,?,b", " NA ,null,a", "41,Oslo,b")
    assert "--missing NA" in refusal(lambda: rows_of(path))
    rows = rows_of(path, missing=["NA", "?", "null"])
    assert rows == [{"age": 30.0, "city=Rome": 1.0}, {}, {}, {"age": 41.0, "city=Oslo": 1.0}]
    words = ["learn", "t.csv", "--learner", "pa1", "--missing", "NA,?,null", "--save", "m.nr"]
    succeeded(noregret(*words, cwd=tmp_path))
    model = nr.load(tmp_path / "m.nr")
    assert model.features == ["age", "city=Rome", "city=Oslo"]
    assert model.predict_one({"age": "NA", "city": "?"}) == model.predict_one({})
    said = succeeded(noregret("predict", "m.nr", "t.csv", "--quiet", cwd=tmp_path)).stdout
    assert len(said.split()) == 5
    (tmp_path / "t.jsonl").write_text('{"age": 1, "city": "?", "label": 0}\n{"age": 2, "city": "b", "label": 1}\n')
    assert rows_of(tmp_path / "t.jsonl", missing=["?"])[0] == {"age": 1.0}


def test_the_index_of_a_frame_is_left_out(tmp_path: Path) -> None:
    pd.DataFrame({"x": [1, 2, 3], "label": ["a", "b", "a"]}).to_csv(tmp_path / "t.csv")
    assert rows_of(tmp_path / "t.csv") == [{"x": 1.0}, {"x": 2.0}, {"x": 3.0}]
    done = succeeded(noregret("learn", "t.csv", "--learner", "pa1", cwd=tmp_path))
    assert "index of a frame" in done.stderr


def test_line_breaks_in_quotes(tmp_path: Path) -> None:
    notes = ["one\ntwo", "three", 'four "five"\nsix'] * 5
    frame = pd.DataFrame({"note": notes, "x": range(15), "label": [0, 1, 0] * 5})
    frame.to_csv(tmp_path / "t.csv", index=False)
    rows = rows_of(tmp_path / "t.csv", text=["note"])
    assert len(rows) == 15
    assert rows[0] == {"x": 0.0, "note=one": 1.0, "note=two": 1.0}
    assert rows[2] == {"x": 2.0, "note=four": 1.0, "note=five": 1.0, "note=six": 1.0}
    source = nr.open_source(tmp_path / "t.csv")
    assert sum(batch.rows for batch in source) == 15
    assert any("line breaks" in note for note in source.notes)


def test_line_breaks_far_behind_the_first_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from noregret.streams.csv import Csv

    monkeypatch.setattr("noregret.streams.csv.SAMPLE", 400)
    lines = [f'"a\nb{n}",{n},{n % 2}\n' for n in range(500)]
    (tmp_path / "t.csv").write_text("text,x,label\n" + "".join(lines))
    batches = list(Csv(str(tmp_path / "t.csv"), block=128))
    assert sum(batch.rows for batch in batches) == 500
    source = Csv(str(tmp_path / "t.csv"), block=128)
    middle = len(batches) // 2
    source.start = batches[middle].position
    assert sum(batch.rows for batch in source) == 500 - sum(batch.rows for batch in batches[: middle + 1])


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "cp1252", "utf-8-sig"])
def test_encodings(encoding: str, tmp_path: Path) -> None:
    path = written(tmp_path, "Größe,café,label", "1,é,a", "2,ü,b", encoding=encoding)
    options = {} if encoding in ("utf-16", "utf-8-sig") else {"encoding": encoding}
    assert rows_of(path, **options) == [{"Größe": 1.0, "café=é": 1.0}, {"Größe": 2.0, "café=ü": 1.0}]
    if options:
        refused(noregret("learn", "t.csv", "--learner", "pa1", cwd=tmp_path), "--encoding")
        words = ["learn", "t.csv", "--learner", "pa1", "--encoding", encoding, "--save", "m.nr", "--quiet"]
        succeeded(noregret(*words, cwd=tmp_path))
        assert succeeded(noregret("predict", "m.nr", "t.csv", "--quiet", cwd=tmp_path)).stdout.split()[1:] == ["a", "b"]
    assert "encoding" in refusal(lambda: rows_of(path, encoding="klingon"))


def test_dates_are_features(tmp_path: Path) -> None:
    lines = ["when,x,label", "2024-05-31,1,a", "2024-06-01T13:30:00,2,b", ",3,a"]
    from_csv = rows_of(written(tmp_path, *lines))
    assert from_csv[0] == {
        "x": 1.0, "when.year": 2024.0, "when.days": 19874.0, "when.month=5": 1.0, "when.weekday=Fri": 1.0,
    }  # fmt: skip
    assert from_csv[1]["when.hour=13"] == 1.0
    assert from_csv[2] == {"x": 3.0}
    frame = pd.DataFrame({"when": pd.to_datetime(["2024-05-31 00:00", "2024-06-01 13:30", None]), "x": [1, 2, 3]})
    frame["label"] = ["a", "b", "a"]
    frame.to_parquet(tmp_path / "t.parquet")
    assert rows_of(tmp_path / "t.parquet") == from_csv
    succeeded(noregret("learn", "t.csv", "--learner", "pa1", "--save", "m.nr", "--quiet", cwd=tmp_path))
    model = nr.load(tmp_path / "m.nr")
    expected = model.scores_one({"when": "2024-05-31", "x": 1})
    assert model.scores_one({"when": datetime(2024, 5, 31), "x": 1}) == expected
    assert model.scores(frame)[0] == pytest.approx(expected)
    assert "when" in refusal(lambda: model.predict_one({"when": "yesterday"}))
    assert list(rows_of(tmp_path / "t.csv", categorical=["when"])[0])[1] == "when=2024-05-31"


def test_dates_in_json_lines_are_the_features_of_other_tables(tmp_path: Path) -> None:
    cells = ["2024-05-31", "2024-06-01T13:30:00", "2024-06-01 13:30:00.5+02:00", "", "2023/01/02"]
    from_csv = rows_of(written(tmp_path, "when,x,label", *(f"{cell},{n},{n % 2}" for n, cell in enumerate(cells))))
    path = tmp_path / "t.jsonl"
    records = [{"when": cell, "x": n, "label": n % 2} for n, cell in enumerate(cells)]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    assert rows_of(path) == from_csv
    gaps = {"when.year": "nan", "when.days": "nan", "x": "3.0"}
    for told in (tmp_path / "t.csv", path):
        assert {name: str(value) for name, value in rows_of(told, keep_missing=True)[3].items()} == gaps
    path.write_text("".join(json.dumps({**one, "when": one["when"] or None}) + "\n" for one in records))
    assert rows_of(path) == from_csv
    assert {name: str(value) for name, value in rows_of(path, keep_missing=True)[3].items()} == gaps
    assert rows_of(path, categorical=["when"])[0]["when=2024-05-31"] == 1.0
    succeeded(noregret("learn", "t.jsonl", "--learner", "pa1", "--save", "m.nr", "--quiet", cwd=tmp_path))
    model = nr.load(tmp_path / "m.nr")
    said = succeeded(noregret("predict", "m.nr", "t.jsonl", "--scores", "--quiet", cwd=tmp_path)).stdout
    for record, line in zip(records, said.splitlines()[1:], strict=True):
        row = {name: value for name, value in record.items() if name != "label"}
        assert model.scores_one(row) == pytest.approx(float(line.split(",")[1]), rel=1e-6)
    table = nr.make("pa1", reads="table", native=False).learn([records[0]], [1])
    assert {"when.year", "when.month=5"} <= set(table.features)


def test_a_text_among_dates_of_json_lines_is_refused(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text('{"when": "2024-05-31", "label": 0}\n{"when": "soon", "label": 1}\n')
    refused(noregret("learn", "t.jsonl", "--learner", "pa1", cwd=tmp_path), "t.jsonl:2", "'when'", "--categorical when")
    words = ["learn", "t.jsonl", "--learner", "pa1", "--categorical", "when", "--quiet", "--save", "m.nr"]
    succeeded(noregret(*words, cwd=tmp_path))


def test_dates_in_another_order_are_noted(tmp_path: Path) -> None:
    source = nr.open_source(written(tmp_path, "when,label", "1/31/2024,a", "2/1/2024,b"))
    assert [list(batch.X.names) for batch in source] == [["when=1/31/2024", "when=2/1/2024"]]
    assert any("2024-05-31" in note for note in source.notes)


def test_amounts_are_numbers(tmp_path: Path) -> None:
    lines = ['$1.50,45%,"1,234",a', "$20,5%,17,b", '"$1,000.25",100%,"2,000,000",a']
    rows = rows_of(written(tmp_path, "price,share,people,label", *lines))
    assert rows[0] == {"price": 1.5, "share": 0.45, "people": 1234.0}
    assert rows[2] == {"price": 1000.25, "share": 1.0, "people": 2e6}
    cells = ("€3", "-$2.5", "1,23", "12 %", "abc", "true")
    assert [read_number(cell) for cell in cells] == [3.0, -2.5, None, 0.12, None, 1.0]
    times = ("2024-01-01 10:00:00.123456789", "2024/01/01", "2024-01-01T10:00Z", "2024-13-01")
    assert [read_time(cell) is not None for cell in times] == [True, True, True, False]


def test_columns_that_hardly_repeat_are_noted(tmp_path: Path) -> None:
    written(tmp_path, "name,x,label", *(f"person {n},{n},{n % 2}" for n in range(200)))
    done = succeeded(noregret("learn", "t.csv", "--learner", "pa1", cwd=tmp_path))
    assert "--text name" in done.stderr
    assert "--drop name" in done.stderr


def test_lists_of_labels_hint_at_multilabel(tmp_path: Path) -> None:
    labels = ["a", '"a,b"', '"b,c"']
    written(tmp_path, "x,label", *(f"{n},{labels[n % 3]}" for n in range(30)))
    assert "--task multilabel" in succeeded(noregret("learn", "t.csv", "--learner", "pa1", cwd=tmp_path)).stderr
    (tmp_path / "t.jsonl").write_text('{"x": 1, "label": ["a", "b"]}\n')
    refused(noregret("learn", "t.jsonl", "--learner", "pa1", cwd=tmp_path), "multilabel")


def test_scaled_dates_learn_the_same_from_file_and_frame(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    when = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 9000, 80), unit="h")
    frame = pd.DataFrame({"when": when.astype(str), "x": rng.normal(size=80)})
    frame["label"] = np.where(pd.to_datetime(frame["when"]).dt.hour > 11, "late", "early")
    frame.to_csv(tmp_path / "t.csv", index=False)
    other = nr.make("pa1", scale=True, bias=True, native=False)
    nr.play(nr.open_source(frame.assign(when=pd.to_datetime(frame["when"]))), other)
    learner = nr.make("pa1", scale=True, bias=True, native=False)
    nr.play(nr.open_source(tmp_path / "t.csv"), learner)
    assert learner.mistakes == other.mistakes


@pytest.mark.parametrize(
    ("cell", "column"), [("abc,$2.00,2024-05-06", "age"), ("3,free,2024-05-06", "amount"), ("3,$2.00,soon", "day")]
)
def test_a_bad_cell_among_new_rows_is_named_whatever_others_hold(tmp_path: Path, cell: str, column: str) -> None:
    rows = [f"{n % 7},${n % 5}.50,2024-05-{1 + n % 28:02d}" for n in range(60)]
    labelled = [f"{row},{'yes' if n % 7 > 3 else 'no'}" for n, row in enumerate(rows)]
    (tmp_path / "a.csv").write_text("\n".join(["age,amount,day,label", *labelled]) + "\n")
    succeeded(noregret("learn", "a.csv", "--learner", "pa1", "--save", "m.nr", cwd=tmp_path))
    (tmp_path / "new.csv").write_text("\n".join(["age,amount,day", *rows[:3], cell, *rows[4:6]]) + "\n")
    refused(noregret("predict", "m.nr", "new.csv", cwd=tmp_path), f"new.csv:5: column '{column}'")
    (tmp_path / "blank.csv").write_text("\n".join(["age,amount,day", rows[0], ",,"]) + "\n")
    succeeded(noregret("predict", "m.nr", "blank.csv", cwd=tmp_path))
