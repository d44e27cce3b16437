"""Tables read by two threads: every number as Python reads it, and batches, lines and errors as one thread has them."""

import random
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.streams import csv
from noregret.streams.csv import Csv
from noregret.streams.files import TextFile
from noregret.streams.prefetch import THREAD_NAME
from noregret.streams.read_options import ReadOptions
from noregret.streams.table_parser import TableParser

COLUMNS = 5
SMALL = 300  # bytes of a block


def written(folder: Path, rows: list[list[str]], delimiter: str = ",", end: str = "\n") -> str:
    path = folder / "t.csv"
    lines = [[*(f"x{j}" for j in range(len(rows[0]) - 1)), "y"], *rows]
    path.write_bytes(end.join(map(delimiter.join, lines)).encode())
    return str(path)


def table(rows: int) -> list[list[str]]:
    rng = random.Random(2)
    return [[*(f"{rng.gauss(0, 1):.{j}f}" for j in range(COLUMNS)), str(t % 2)] for t in range(rows)]


def batches(path: str, native: bool, **reading: Any) -> list[tuple[Any, ...]]:
    source = Csv(path, ReadOptions(**reading), SMALL, native)
    return [
        (b.X.block.indptr.tolist(), b.X.block.idx.tolist(), b.X.block.val.tobytes(), b.y.tolist(), b.lines.tolist(),
         b.progress, dict(b.position))
        for b in source if b.lines is not None and b.position is not None
    ]  # fmt: skip


def cells(rng: random.Random) -> str:
    """A number in some form that a cell may have."""
    sign = rng.choice(["", "", "-", "-", "+"])
    whole, decimals = ("".join(rng.choices("0123456789", k=rng.randint(0, 9))) for _ in range(2))
    form = rng.random()
    if form < 0.7 and whole + decimals:
        return sign + whole + "." + decimals
    if form < 0.8:
        return sign + (whole or "7") + rng.choice(["e3", "E-4", "e+12"])
    return rng.choice([" ", ""]) + sign + (whole or "0") + rng.choice([" ", ""])


EDGES = [
    "-0", "0", "-0.0", "0.", ".0", "-.5", "5.", "-5.", "12345678", "-12345678", "1234567.", ".1234567", "-1234567.8",
    "00000001", "0000000.1", "123456789", "0.12345678", "9999999.", "-9.99999", "99999999", "1e5", "1.5e-3",
]  # fmt: skip


@pytest.mark.parametrize(("delimiter", "end"), [(",", "\n"), (";", "\r\n"), ("\t", "\n"), ("|", "\n")])
def test_every_number_is_read_as_python_reads_it(
    delimiter: str, end: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TableParser, "parse_arrow", None)  # the compiled reader has to do it alone
    rng = random.Random(3)
    rows = [[*(cells(rng) for _ in range(20)), "1"] for _ in range(800)]
    rows += [[*(rng.choice(EDGES) for _ in range(20)), "-1"] for _ in range(200)]
    found = [batch.X.block.val for batch in Csv(written(tmp_path, rows, delimiter, end), native=True)]
    expected = np.array([float(cell) for row in rows for cell in row[:-1]])
    assert np.concatenate(found).tobytes() == expected.tobytes()


WRONG = [
    "-",
    ".",
    "-.",
    "+",
    "1.2.3",
    "--1",
    "1-",
    "1-2",
    ".-1",
    "-1.2.",
    "1234567-",
    "12345678.9.",
    "1.234567x",
    "é",
    "1e",
]


@pytest.mark.parametrize("cell", WRONG)
def test_what_is_no_number_is_refused_where_it_stands(cell: str, tmp_path: Path) -> None:
    rows = table(400)
    rows[301][2] = cell
    with pytest.raises(nr.BadValue, match=r"t\.csv:303: column 'x2'"):
        list(Csv(written(tmp_path, rows), block=SMALL, native=True))


def test_batches_lines_and_places_do_not_depend_on_who_reads(tmp_path: Path) -> None:
    rows = table(300)
    rows[150][1] = ""
    rows[200][0] = "17.25" + "0" * 3 * SMALL  # a line longer than a block
    rows[250][4] = '"2.5"'
    rows[270][5] = '"1"'
    path = written(tmp_path, rows)
    assert batches(path, native=True) == batches(path, native=False)


def test_rows_left_out_and_errors_do_not_depend_on_who_reads(tmp_path: Path) -> None:
    rows = table(300)
    for place, row in ((90, ["1", "2"]), (120, ["a", "b", "c", "d", "e", "1"]), (251, ["1"] * 5 + [""])):
        rows[place] = row
    path = written(tmp_path, rows)
    assert batches(path, native=True, on_bad="skip") == batches(path, native=False, on_bad="skip")
    for native in (True, False):
        read: list[int] = []
        with pytest.raises(nr.BadValue, match=r"t\.csv:92: the row has 2 cells"):
            read.extend(label for batch in Csv(path, block=SMALL, native=native) for label in batch.y.tolist())
        assert read == [t % 2 for t in range(len(read))]
        assert 80 < len(read) <= 90


@pytest.mark.parametrize("native", [True, False])
def test_a_zero_byte_is_refused_where_it_stands(native: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = table(300)
    rows[200][5] = "1\0"
    path = written(tmp_path, rows)
    monkeypatch.setattr(csv, "SAMPLE", 2 * SMALL)  # in the head of a file it would be found at once
    source = iter(Csv(path, block=SMALL, native=native))
    assert next(source).rows > 0
    with pytest.raises(nr.BadValue, match=r"t\.csv:202: there is a zero byte"):
        list(source)


def test_lines_of_one_length_and_a_last_one_without_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv, "SAMPLE", SMALL)
    monkeypatch.setattr(TableParser, "parse_arrow", None)
    rows = [[str(t % 7), "2", "3", str(t % 2)] for t in range(4000)]  # eight bytes, as many as are looked at together
    files: list[TextFile] = []

    def opened(path: str, live: bool = False, encoding: str | None = None) -> TextFile:
        files.append(TextFile(path))
        return files[-1]

    monkeypatch.setattr(csv, "TextFile", opened)
    found = [batch.X.block.val.reshape(-1, 3) for batch in Csv(written(tmp_path, rows), block=4096 + 5, native=True)]
    assert np.concatenate(found).tolist() == [[float(cell) for cell in row[:3]] for row in rows]
    assert [file.closed for file in files] == [True]


def test_who_wants_no_more_rows_leaves_no_thread_behind(tmp_path: Path) -> None:
    path = written(tmp_path, table(2000))
    batch = next(iter(Csv(path, block=SMALL, native=True)))
    assert batch.rows > 0
    limit = time.monotonic() + 10
    while any(thread.name == THREAD_NAME for thread in threading.enumerate()) and time.monotonic() < limit:
        time.sleep(0.01)
    assert not any(thread.name == THREAD_NAME for thread in threading.enumerate())
