"""A table becomes rows as the obvious reader makes them, whatever its blocks; a mistake is refused where it stands."""

import gzip
import random
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from noregret.errors import BadValue
from noregret.streams.csv import Csv
from noregret.streams.read_options import ReadOptions
from noregret.streams.table_parser import TableParser
from tests.naive.csv_rows import Read, read
from tests.support.cover import seeds


def written(folder: Path, text: str | bytes) -> str:
    path = folder / "table.csv"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return str(path)


def taken(source: Csv) -> Read:
    """What a source gives, in the words of the obvious reader."""
    found = Read()
    for batch in source:
        block, names = batch.X.block, batch.X.names
        assert names[: len(found.names)] == found.names, "names are only ever added"
        assert batch.X.indicator.size == len(names) == block.width
        found.names = list(names)
        for first, last in zip(block.indptr[:-1], block.indptr[1:], strict=True):
            idx, val = block.idx[first:last], block.val[first:last]
            assert (np.diff(idx) > 0).all()
            found.rows.append({names[j]: value for j, value in zip(idx.tolist(), val.tolist(), strict=True)})
        found.labels += batch.y if isinstance(batch.y, list) else batch.y.tolist()
        assert batch.lines is not None
        found.lines += batch.lines.tolist()
        assert (block.indptr.dtype, block.idx.dtype, block.val.dtype) == (np.int64, np.int32, np.float64)
    found.skipped = source.skipped
    told = [note.split()[0] for note in source.notes if "absent" in note]
    found.empty = int(told[0].replace(",", "")) if told else 0
    return found


def rows_of(folder: Path, text: str | bytes, block: int = 1 << 20, **how: Any) -> list[dict[str, float]]:
    return taken(Csv(written(folder, text), ReadOptions(**how), block)).rows


def refused(folder: Path, text: str | bytes, **how: Any) -> str:
    with pytest.raises(BadValue) as error:
        list(Csv(written(folder, text), ReadOptions(**how)))
    return str(error.value).removeprefix(str(folder / "table.csv"))


# ---- like the obvious reader ----------------------------------------------------------------------------------------

TABLES = {
    "numbers": "a,b,y\n1,2.5,1\n-3,.5,0\n+4,5.,1\n1e3,2E-4,0\n",
    "text": "colour,size,y\nred,3,a\nblue,,b\nred,4,a\n,5,b\ngreen,6,a",
    "blank lines": "a,b,y\n\n1,2,1\n\n\n3,4,0\n\n",
    "windows": "a,b,y\r\n1,x,1\r\n\r\n3,z,0\r\n",
    "quoted": 'a,b,y\n"1","x, y",1\n2,"say ""so""",0\n3,"",1\n"4",z"q"z,0\n5,"ab"c,1\n',
    "semicolons": "a;b;y\n1;x;0\n2;x,y;1\n",
    "blanks around": "a, b ,y\n 1 , x,1\n2,x , 0\n 3,\t,1\n",
    "all empty": "a,b,y\n,,1\n,,0\n",
    "unicode": "größe,città,y\n1,Zürich,да\n2,東京,нет\n3,Zürich,да\n",
    "signs and zeros": "a,b,y\n0,-0.0,0\n0.0,1e-400,-0\n",
    "long numbers": "a,y\n0.1234567890123456789012345,1\n123456789012345678901234567890,2\n4.9e-324,3\n",
    "labels of all kinds": "a,y\n1,1\n2,1.0\n3,2.5\n4,yes\n5,007\n6,1e3\n",
    "only a label": "y\n1\n0\n",
    "text that looks like keys": "a,b,y\nx=1,=,1\n=,x=1,0\n",
}


@pytest.mark.thinned(2)
@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize("block", [1, 7, 64, 1 << 20])
@pytest.mark.parametrize("name", TABLES)
def test_tables_are_read_as_the_obvious_reader_reads_them(name: str, block: int, native: bool, tmp_path: Path) -> None:
    delimiter = ";" if name == "semicolons" else ","
    found = taken(Csv(written(tmp_path, TABLES[name]), block=block, native=native))
    obvious = TABLES[name].replace(", b ,", ",b,")
    assert found == read(obvious, "y", delimiter)


def random_table(rng: random.Random) -> str:
    """A table with every trick at once: quotes, unicode, blanks, empty cells, blank lines, and rows that are wrong."""
    words = ["red", "blau", 'a "b"', "x,y", "Zürich", "日本", "1,5", "", "q", "none", "µ=2"]
    ending = rng.choice(["\n", "\r\n"])
    lines = ["n1,text,n2,other,y"]
    for _ in range(rng.randrange(5, 60)):
        cells = [f"{rng.gauss(0, 10):.{rng.randrange(1, 18)}g}", rng.choice(words), str(rng.randrange(-5, 5))]
        cells += [rng.choice(words), rng.choice(["1", "-1", "maybe", "0.5"])]
        cells[0] = rng.choice([cells[0]] * 8 + ["", " " + cells[0]])
        cells[4] = rng.choice([cells[4]] * 20 + ["", "nan"])
        cells[2] = rng.choice([cells[2]] * 20 + ["inf", "1e999"])
        quoted = ['"' + cell.replace('"', '""') + '"' if set(cell) & set('",') else cell for cell in cells]
        quoted = [f'"{cell}"' if rng.random() < 0.1 and '"' not in cell else cell for cell in quoted]
        lines.append(",".join(quoted[: rng.choice([5] * 20 + [4])] + ["extra"] * (rng.random() < 0.03)))
        lines += [""] * (rng.random() < 0.1)
    return ending.join(["n1,text,n2,other,y", "1,word,2,word,1", *lines[1:], ""])


@pytest.mark.thinned(4)
@seeds(40, usual=10)
def test_random_tables_are_read_as_the_obvious_reader_reads_them(seed: int, tmp_path: Path) -> None:
    text = random_table(random.Random(seed))
    obvious = read(text, "y")
    for block, native in ((50, False), (50, True), (1 << 20, False), (1 << 20, True)):
        assert taken(Csv(written(tmp_path, text), ReadOptions(on_bad="skip"), block, native)) == obvious


def long_table(rng: random.Random, rows: int) -> str:
    """Numbers of every form and plain words, and no mistakes."""
    lines = ["n1,text,n2,n3,y"]
    for _ in range(rows):
        form = rng.choice([".17g", ".3f", ".6g", ".20e", ".0f", "+.2f"])
        cells = [format(rng.gauss(0, 10) ** rng.randrange(-9, 9), form), rng.choice(["red", "blau", "", "grün"])]
        cells += [rng.choice(["", "7", "-0.001", "1e-7", "12345678901234567890", ".5", "5."]), f" {rng.random()!r} "]
        lines.append(",".join([*cells, rng.choice(["-1", "1", "2.0"])]))
    return rng.choice(["\n", "\r\n"]).join([*lines, ""])


@pytest.mark.parametrize("seed", range(4))
def test_long_tables_are_read_alike_by_all_readers(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = long_table(random.Random(seed), 1000)
    obvious = read(text, "y")
    for native in (False, True):
        assert taken(Csv(written(tmp_path, text), native=native)) == obvious
    monkeypatch.setattr(
        TableParser, "parse_arrow", None
    )  # blocks of one row that the compiled reader cannot take are few
    plain = "\n".join(line for line in text.replace("\r", "").split("\n") if len(max(line.split(","), key=len)) < 19)
    assert taken(Csv(written(tmp_path, plain), native=True)) == read(plain, "y")


def test_the_compiled_reader_takes_targets(tmp_path: Path) -> None:
    text = "a,y,b,t\n1,2,3,x\n4,5.5,6,z\n"
    for native in (False, True):
        (batch,) = Csv(written(tmp_path, text), ReadOptions(targets=True), native=native)
        assert batch.y.tolist() == [2.0, 5.5]
        assert batch.X.block.val.tolist() == [1.0, 3.0, 1.0, 4.0, 6.0, 1.0]


def test_real_targets_are_floats(tmp_path: Path) -> None:
    text = "a,y\n1,2\n2,2.5\n3,abc\n4,\n5,nan\n6,1e999\n7, -3 \n"
    source = Csv(written(tmp_path, text), ReadOptions(targets=True, on_bad="skip"))
    assert taken(source) == read(text, "y", targets=True)
    (batch,) = source
    assert batch.y.dtype == np.float64


def test_labels_are_arrays_of_their_own_kind(tmp_path: Path) -> None:
    kinds = {"1\n0": np.int64, "1.0\n-1.0": np.int64, "1\n0.5": np.float64}
    for labels, kind in kinds.items():
        (batch,) = Csv(written(tmp_path, f"y\n{labels}\n"))
        assert batch.y.dtype == kind
    for labels, values in {"a\nb": ["a", "b"], "1\nb": [1, "b"], f"1\n{10**30}": [1, 10**30]}.items():
        (batch,) = Csv(written(tmp_path, f"y\n{labels}\n"))
        assert batch.y == values


# ---- the head -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("head", "label", "note"),
    [
        ("a,y,b", 2, "the label is the column 'y'"),
        ("a,Class,b", 2, "the label is the column 'Class'"),
        ("y,b,label", 3, "the label is the column 'label'"),
        ("a,b,c", 3, "the label is the column 'c', the last one"),
    ],
)
def test_the_label_is_found_by_its_name_or_is_the_last(head: str, label: int, note: str, tmp_path: Path) -> None:
    source = Csv(written(tmp_path, head + "\n1,2,3\n"))
    assert taken(source).labels == [label]
    assert source.notes == [note]


def test_the_label_asked_for_is_taken(tmp_path: Path) -> None:
    source = Csv(written(tmp_path, "a,y\n1,2\n"), ReadOptions(label="a"))
    assert taken(source).labels == [1]
    assert (
        refused(tmp_path, "age,y\n1,2\n", label="aeg")
        == ": there is no column 'aeg', did you mean 'age'? the columns are age, y"
    )


def test_without_column_names_they_are_numbered(tmp_path: Path) -> None:
    source = Csv(written(tmp_path, "5.1,red,no\n4.9,blue,yes\n"), ReadOptions(label="c2"))
    found = taken(source)
    assert found.rows == [{"c1": 5.1, "c3=no": 1.0}, {"c1": 4.9, "c3=yes": 1.0}]
    assert (found.labels, found.lines) == (["red", "blue"], [1, 2])
    assert source.notes[0] == "the first line holds a number, so there are no column names: c1 to c3"


@pytest.mark.parametrize(("mark", "name"), [(";", "semicolons"), ("\t", "tabs"), ("|", "bars")])
def test_other_delimiters_are_seen_and_told(mark: str, name: str, tmp_path: Path) -> None:
    source = Csv(written(tmp_path, "a,y\n1,2\n".replace(",", mark)))
    assert taken(source).rows == [{"a": 1.0}]
    assert source.notes[0] == f"the cells are separated by {name}"


def test_commas_inside_cells_do_not_hide_another_delimiter(tmp_path: Path) -> None:
    assert rows_of(tmp_path, "y\ttext\nham\ta, b, c\nspam\tb\n") == [{"text=a, b, c": 1.0}, {"text=b": 1.0}]


def test_decimal_commas_are_told(tmp_path: Path) -> None:
    source = Csv(written(tmp_path, "a;b;y\n1,5;1;1\n2,25;2;0\n"))
    assert taken(source).rows == [{"a=1,5": 1.0, "b": 1.0}, {"a=2,25": 1.0, "b": 2.0}]
    assert source.notes[2] == "column 'a' is read as text: a number has a decimal point, not a comma"


def test_a_byte_order_mark_is_no_part_of_the_first_name(tmp_path: Path) -> None:
    assert rows_of(tmp_path, "\ufeffa,y\n1,2\n") == [{"a": 1.0}]


# ---- numbers and text -----------------------------------------------------------------------------------------------


def test_indicators_are_marked_and_numbers_come_first(tmp_path: Path) -> None:
    (batch,) = Csv(written(tmp_path, "city,age,y\nParis,3,1\nRome,4,0\n"))
    assert batch.X.names == ["age", "city=Paris", "city=Rome"]
    assert batch.X.indicator.tolist() == [False, True, True]


def test_names_handed_over_do_not_change_later(tmp_path: Path) -> None:
    first, second = Csv(written(tmp_path, "a,y\nx,1\ny,1\n"), block=4)
    assert (first.X.names, second.X.names) == (["a=x"], ["a=x", "a=y"])


def test_a_column_that_never_repeats_itself_is_told(tmp_path: Path) -> None:
    source = Csv(written(tmp_path, "id,b,y\n" + "".join(f"row{k},x,1\n" for k in range(2000))))
    taken(source)
    (note,) = source.notes[1:]
    assert note.startswith("column 'id' holds 2,000 different values, each a feature of its own; --text id")


def test_a_value_of_one_column_is_not_that_of_another(tmp_path: Path) -> None:
    assert rows_of(tmp_path, "a,b,y\nx,x,1\n") == [{"a=x": 1.0, "b=x": 1.0}]
    words = refused(tmp_path, "a,a=b,y\nb=c,c,1\n")
    assert "both make a feature named 'a=b=c'" in words


MANY = "".join(f"{k},1\n" for k in range(30))
WRONG: dict[str, tuple[str | bytes, str]] = {
    "too few": ("a,b,y\n1,2,3\n4,5\n", ":3: the row has 2 cells; expected 3"),
    "too many": ("a,b,y\n1,2,3\n\n4,5,6,7\n", ":4: the row has 4 cells; expected 3"),
    "a word among numbers": (f"a,y\n{MANY}abc,1\n", ":32: column 'a': 'abc' is not a number, and 96.8% of"),
    "nan": ("a,y\n1,1\nNaN,1\n", ":3: column 'a': the value is NaN; every value must be finite"),
    "inf": ("a,y\n1,1\n-inf,1\n", ":3: column 'a': the value is -inf; every value must be finite"),
    "too large": ("a,y\n1,1\n1e999,1\n", ":3: column 'a': the value is 1e999; every value must be finite"),
    "a mark for missing": ("a,y\n1,1\nNA,1\n", ":3: column 'a': 'NA' is among numbers; leave the cell empty"),
    "no label": ("a,y\n1,1\n2,\n", ":3: column 'y': the label is empty"),
    "a label of blanks": ("a,y\n1,1\n2,  \n", ":3: column 'y': the label is empty"),
    "a label that is not finite": ("a,y\n1,1\n2,inf\n", ":3: the label is inf; it must be finite"),
    "no text": (b"a,y\nx,1\n\xff\xfe,1\n", ":3: byte 1 of the line is not text in UTF-8"),
    "an open quote": ('a,y\nx,1\n"z,1\n"z",1\n', ":3: a quote opens a cell and never closes"),
    "a carriage return": ("a,y\nx,1\nx\rz,1\n", ":3: there is a carriage return in the middle of the line"),
    "the first of several": ("a,b,y\n1,2,1\n1,nan,1\n1,2\nnan,2,1\n", ":3: column 'b'"),
}
HOPELESS: dict[str, tuple[str | bytes, str]] = {
    "nothing": ("", ": is empty"),
    "only blank lines": ("\n\r\n\n", ": is empty"),
    "only a head": ("a,b,y\n", ": holds no rows"),
    "only bad rows": ("a,b,y\n1\n2\n", ": holds no rows that can be used: 2 were skipped"),
    "the same name twice": ("a,b,a,b\n1,2,3,4\n", ":1: more than one column is named 'a', 'b'"),
    "a column without a name": ("a,,y\n1,2,3\n", ":1: column 2 has no name"),
    "zero bytes": (b"a,y\n1,\x00\n", ":2: there is a zero byte"),
    "a head that is no text": (b"\xff\xd8,y\n1,2\n", ":1: this is not text in UTF-8"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_row_is_refused_where_it_stands_or_skipped(name: str, tmp_path: Path) -> None:
    text, words = WRONG[name]
    assert refused(tmp_path, text).startswith(words)
    source = Csv(written(tmp_path, text), ReadOptions(on_bad="skip"), native=True)
    found = taken(source)
    assert source.skipped >= 1
    assert found.lines


@pytest.mark.parametrize("name", HOPELESS)
def test_a_file_without_rows_to_use_is_refused(name: str, tmp_path: Path) -> None:
    text, words = HOPELESS[name]
    assert refused(tmp_path, text, on_bad="skip").startswith(words)


def test_skipped_rows_leave_no_names_behind(tmp_path: Path) -> None:
    found = taken(Csv(written(tmp_path, "a,b,y\nx,1,1\nz,nan,1\nw,2\nv,2,1\n"), ReadOptions(on_bad="skip")))
    assert found.names == ["b", "a=x", "a=v"]
    assert (found.skipped, found.lines) == (2, [2, 5])


def test_a_word_long_after_the_first_block_is_refused_where_it_stands(tmp_path: Path) -> None:
    text = "a,y\n" + "1.25,1\n" * 200_000 + "abc,1\n"
    words = refused(tmp_path, text)
    assert words.startswith(":200002: column 'a': 'abc' is not a number, as the cells of this column were before")


def test_a_column_of_some_numbers_and_some_words_is_text(tmp_path: Path) -> None:
    assert rows_of(tmp_path, "a,y\n1,1\nx,1") == [{"a=1": 1.0}, {"a=x": 1.0}]
    assert rows_of(tmp_path, "a,y\n1,1\nx,1\n") == [{"a=1": 1.0}, {"a=x": 1.0}]
    assert rows_of(tmp_path, "a,y\n?,1\nnone,1\n") == [{"a=?": 1.0}, {"a=none": 1.0}]


# ---- rows to be predicted -------------------------------------------------------------------------------------------


def test_rows_without_a_label_can_be_read_to_be_predicted(tmp_path: Path) -> None:
    (batch,) = Csv(written(tmp_path, "a,b\n1,2\n"), ReadOptions(labelled=False))
    assert (batch.X.names, batch.y) == (["a", "b"], None)
    (batch,) = Csv(written(tmp_path, "a,b\n1,2\n"), ReadOptions(labelled=False, label="target"))
    assert (batch.X.names, batch.y) == (["a", "b"], None)


@pytest.mark.parametrize(
    ("labels", "targets", "y"),
    [
        ("1,\n2,1\n", False, [None, 1]),
        ("1,nan\n2,x\n", False, [None, "x"]),
        ("1,x\n2,1\n", True, [None, 1.0]),
        ("1,\n2,\n", False, None),
        ("1,0\n2,1\n", False, [0, 1]),
    ],
)
def test_labels_may_be_missing_in_rows_to_be_predicted(labels: str, targets: bool, y: Any, tmp_path: Path) -> None:
    (batch,) = Csv(written(tmp_path, "a,y\n" + labels), ReadOptions(labelled=False, targets=targets))
    assert (batch.y.tolist() if isinstance(batch.y, np.ndarray) else batch.y) == y


# ---- reading --------------------------------------------------------------------------------------------------------


def test_iterating_twice_reads_twice_and_tells_once(tmp_path: Path) -> None:
    source = Csv(written(tmp_path, "a,y\n1,\n2,1\n,1\n"), ReadOptions(on_bad="skip"))
    assert taken(source) == taken(source)
    assert source.notes == ["the label is the column 'y'", "1 empty cell was read as an absent feature"]
    assert source.skipped == 1


def test_compressed_tables_are_read_and_tell_how_far_they_are(tmp_path: Path) -> None:
    text = "a,y\n" + "".join(f"{k},1\n" for k in range(5000))
    path = tmp_path / "table.csv.gz"
    path.write_bytes(gzip.compress(text.encode()))
    batches = list(Csv(str(path), block=5000))
    assert [value for batch in batches for value in batch.X.block.val] == list(range(5000))
    assert batches[-1].progress == 1.0


def test_a_long_table_takes_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    path.write_text("a,b,y\n" + "1.5,2.5,1\n" * 600_000)
    rows = 0
    assert next(iter(Csv(str(path))))  # the compiler, where it is needed, is none of its memory
    tracemalloc.start()
    for batch in Csv(str(path), block=1 << 16):
        rows += len(batch.X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert rows == 600_000
    assert peak < 30_000_000


def test_a_table_of_many_columns_is_read(tmp_path: Path) -> None:
    names = ",".join(f"f{k}" for k in range(3000))
    line = ",".join(str(k) for k in range(3000))
    (batch,) = Csv(written(tmp_path, f"{names},y\n{line},1\n"), block=100)
    assert batch.X.block.val.tolist() == list(range(3000))
