"""Files that are damaged, change while they are read, or hold what no row can be: the same for every format."""

import gzip
import os
import sys
import threading
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest

import noregret as nr
from noregret.streams import lines, open_source
from noregret.streams.files import BLOCK_BYTES
from noregret.streams.source import Source

ROWS = 6000
MAKE: dict[str, Callable[[int], bytes]] = {
    "libsvm": lambda k: b"%d 1:%d 2:0.5" % (k % 2, k % 9),
    "vw": lambda k: b"%d |a x:%d y%d" % (k % 2, k % 9, k % 5),
    "csv": lambda k: b"%d,w%d,%d" % (k % 9, k % 5, k % 2),
    "jsonl": lambda k: b'{"a": %d, "b": "w%d", "y": %d}' % (k % 9, k % 5, k % 2),
    "text": lambda k: b"%d\tword%d and more" % (k % 2, k % 9),
}
HEAD = {"csv": b"a,b,y\n"}
COLUMNS = {"a": np.arange(60_000) * 1.0, "b": [f"w{k % 9}" for k in range(60_000)], "y": np.arange(60_000) % 2}


def text(kind: str, rows: int = ROWS) -> bytes:
    return HEAD.get(kind, b"") + b"".join(MAKE[kind](k) + b"\n" for k in range(rows))


def first_row(kind: str) -> int:
    return 2 if kind in HEAD else 1


def opened(path: Path, kind: str, **how: Any) -> Source:
    return open_source(str(path), format=kind, **how)


def read(source: Source) -> list[int]:
    """The lines of all rows."""
    return [int(line) for batch in source if batch.lines is not None for line in batch.lines]


@pytest.fixture
def piped(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[bytes], None]]:
    """Makes standard input a pipe into which somebody writes, and closes it."""
    with ExitStack() as stack:

        def pipe(data: bytes) -> None:
            reading, writing = os.pipe()

            def write() -> None:
                with open(writing, "wb") as file:
                    file.write(data)

            threading.Thread(target=write, daemon=True).start()
            monkeypatch.setattr(sys, "stdin", stack.enter_context(open(reading, "rb")))

        yield pipe


# ---- text -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", MAKE)
@pytest.mark.parametrize("on_bad", ["stop", "skip"])
@pytest.mark.thinned(4)
def test_packed_text_that_is_cut_off_tells_a_line_close_to_the_cut(kind: str, on_bad: str, tmp_path: Path) -> None:
    packed = gzip.compress(text(kind, 40_000))
    left = packed[: len(packed) // 2]
    path = tmp_path / "t.gz"
    path.write_bytes(left)
    with pytest.raises(nr.BadValue, match=r"t\.gz:\d+: the gzip data end too early; the file may be damaged") as caught:
        read(opened(path, kind, on_bad=on_bad))
    line = int(str(caught.value).split("t.gz:")[1].partition(":")[0])
    there = zlib.decompressobj(31).decompress(left).count(b"\n")
    assert there - BLOCK_BYTES // 6 <= line - 1 <= there  # what is unpacked in one go with the damage is lost


@pytest.mark.parametrize("kind", MAKE)
def test_bytes_that_are_no_utf8_spoil_their_line_alone(kind: str, tmp_path: Path) -> None:
    rows = text(kind, 40).split(b"\n")
    at = first_row(kind) + 20
    rows[at - 1] = rows[at - 1][:4] + b"\xff\xfe" + rows[at - 1][4:]
    path = tmp_path / "t"
    path.write_bytes(b"\n".join(rows))
    with pytest.raises(nr.BadValue, match=rf"t:{at}: "):
        read(opened(path, kind))
    source = opened(path, kind, on_bad="skip")
    assert read(source) == [line for line in range(first_row(kind), first_row(kind) + 40) if line != at]
    assert source.skipped == 1


class Shrinking:
    """Reads a source, and cuts its file off behind the first batch."""

    def __init__(self, source: Source, path: Path, size: int) -> None:
        self.source, self.path, self.size, self.rows = source, path, size, 0

    def __iter__(self) -> Iterator[Any]:
        for batch in self.source:
            if not self.rows:
                with open(self.path, "r+b") as file:
                    file.truncate(self.size)
            self.rows += batch.rows
            yield batch


@pytest.mark.thinned(4)
@pytest.mark.parametrize("kind", MAKE)
@pytest.mark.parametrize("on_bad", ["stop", "skip"])
def test_text_that_becomes_shorter_while_it_is_read_is_refused(
    kind: str, on_bad: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("libsvm", "vw"):
        monkeypatch.setattr(f"noregret.streams.{name}.WINDOW", 1 << 14)
    for name in ("jsonl", "text"):
        monkeypatch.setattr(f"noregret.streams.{name}.ROWS", 500)
    monkeypatch.setattr("noregret.streams.lines.BLOCK_BYTES", 1 << 12)
    monkeypatch.setattr("noregret.streams.csv.SAMPLE", 1 << 14)
    path, whole = tmp_path / "t", text(kind, 12_000)
    path.write_bytes(whole)
    size = whole.rindex(b"\n", 0, len(whole) * 3 // 4) + 4  # in the middle of a line that is a row even so
    source = opened(path, kind, on_bad=on_bad)
    if kind == "csv":
        source.block = 1 << 11  # type: ignore[attr-defined]
    shrinking = Shrinking(source, path, size)
    with pytest.raises(nr.BadValue, match=r"t:\d+: became shorter while it was read, from [\d,]+ bytes to") as caught:
        list(shrinking)
    line = int(str(caught.value).split("t:")[1].partition(":")[0])
    assert line == first_row(kind) + shrinking_row(whole[:size], kind)
    assert shrinking.rows <= line
    path.write_bytes(whole[:size])
    with open(path, "ab") as file:  # one that grows is read as far as it was when that was looked at, or further
        file.write(whole[size:])
    assert len(read(opened(path, kind))) == 12_000


def shrinking_row(left: bytes, kind: str) -> int:
    return left.count(b"\n") - (kind in HEAD)


@pytest.mark.parametrize(("kind", "line"), [("csv", b"4,w"), ("jsonl", b'{"a": 4, "b": "w')])
def test_a_pipe_that_closes_in_a_line_leaves_a_line_that_is_refused_or_skipped(
    kind: str, line: bytes, piped: Callable[[bytes], None]
) -> None:
    piped(text(kind) + line)
    source = open_source("-", format=kind, on_bad="skip")
    assert len(read(source)) == ROWS
    assert source.skipped == 1
    piped(text(kind) + line)
    with pytest.raises(nr.BadValue, match=f"^standard input:{ROWS + first_row(kind)}: "):
        read(open_source("-", format=kind))


def test_what_was_peeked_at_in_one_pipe_is_not_read_from_the_next(piped: Callable[[bytes], None]) -> None:
    piped(text("libsvm"))
    open_source("-")  # looks at the first bytes to detect the format
    piped(text("csv"))
    assert len(read(open_source("-", format="csv"))) == ROWS


def test_a_pipe_that_was_peeked_at_is_read_from_its_start(piped: Callable[[bytes], None]) -> None:
    piped(text("libsvm"))
    for _ in range(3):
        source = open_source("-")
    assert len(read(source)) == ROWS


@pytest.mark.parametrize("kind", MAKE)
def test_packed_text_in_a_pipe_that_closes_is_refused(kind: str, piped: Callable[[bytes], None]) -> None:
    packed = gzip.compress(text(kind))
    piped(packed[: len(packed) - 20])
    with pytest.raises(nr.BadValue, match=r"^standard input(:\d+)?: the gzip data end too early"):
        read(open_source("-", format=kind, on_bad="skip"))


@pytest.mark.parametrize("kind", ["libsvm", "vw", "csv", "text"])
def test_a_carriage_return_before_a_comment_is_no_line_of_its_own(kind: str, tmp_path: Path) -> None:
    rows = text(kind, 30).split(b"\n")
    at = first_row(kind) + 10
    rows[at - 1] += b"\r# said by hand"
    path = tmp_path / "t"
    path.write_bytes(b"\n".join(rows))
    source = opened(path, kind, on_bad="skip")
    found = read(source)
    if kind == "csv":  # a row ends in a line feed, and what a carriage return means inside it nobody knows
        assert at not in found
        assert source.skipped == 1
    else:
        assert found == list(range(first_row(kind), first_row(kind) + 30))
    if kind == "libsvm":  # the one format with comments
        plain = tmp_path / "plain"
        plain.write_bytes(text(kind, 30))
        (a,), (b,) = source, opened(plain, kind)
        assert all(np.array_equal(x, z) for x, z in zip(a.X.block[:3], b.X.block[:3], strict=True))


# ---- long lines ------------------------------------------------------------------------------------------------------

LONG = {"jsonl": b'{"a": 1, "b": "%s", "y": 1}', "text": b"1\t%s"}


@pytest.mark.parametrize("kind", LONG)
@pytest.mark.parametrize("extra", [-1, 0, 1, 2, 100])
def test_the_longest_line_is_read_and_a_longer_one_refused_or_skipped(
    kind: str, extra: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "LONGEST", 5000)
    monkeypatch.setattr(lines, "BLOCK_BYTES", 64)
    line = LONG[kind] % (b"x" * (5000 + extra - len(LONG[kind]) + 2))
    assert len(line) == 5000 + extra
    path = tmp_path / "t"
    for ending in (b"\n", b"\n" + MAKE[kind](4)):
        path.write_bytes(text(kind, 3) + line + ending)
        source = opened(path, kind, on_bad="skip")
        after = [5] if len(ending) > 1 else []
        assert read(source) == ([1, 2, 3, 4] if extra <= 0 else [1, 2, 3]) + after
        assert source.skipped == (extra > 0)
        last = [batch.position for batch in source][-1]
        assert last == {"byte": path.stat().st_size, "line": 4 + len(after)}
        if extra > 0:
            with pytest.raises(nr.BadValue, match=r"t:4: the line is longer than 5000 bytes; is this the right format"):
                read(opened(path, kind))


@pytest.mark.parametrize("kind", LONG)
def test_a_line_without_end_takes_no_more_memory_than_the_longest(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "LONGEST", 1 << 21)
    path = tmp_path / "t"
    with open(path, "wb") as file:
        file.write(text(kind, 3))
        for _ in range(100):
            file.write(b"x" * (1 << 20))
        file.write(b"\n" + MAKE[kind](4) + b"\n")
    (tmp_path / "short").write_bytes(text(kind, 3))
    read(opened(tmp_path / "short", kind))  # what is loaded once is no part of it
    tracemalloc.start()
    assert read(opened(path, kind, on_bad="skip")) == [1, 2, 3, 5]
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 12 << 20


def test_a_table_with_a_line_without_end_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("noregret.streams.line_blocks.LONGEST", 1 << 14)
    monkeypatch.setattr("noregret.streams.csv.SAMPLE", 1 << 10)
    path = tmp_path / "t.csv"
    path.write_bytes(text("csv", 2000) + b"1,%s,0\n" % (b"x" * (1 << 17)) + MAKE["csv"](4))
    source = open_source(str(path))
    source.block = 1 << 10  # type: ignore[attr-defined]
    with pytest.raises(nr.BadValue, match=r"t\.csv:2002: a line is longer than 0 MB; is this a table"):
        read(source)


# ---- columns ---------------------------------------------------------------------------------------------------------


def columnar(kind: str, path: Path) -> Path:
    table = pa.table(COLUMNS)
    if kind == "parquet":
        pa.parquet.write_table(table, path, row_group_size=5000)
    elif kind == "feather":
        pa.feather.write_feather(table, str(path), chunksize=5000)
    else:
        with (pa.ipc.new_file if kind == "whole" else pa.ipc.new_stream)(str(path), table.schema) as writer:
            writer.write_table(table, None if kind == "whole" else 5000)
    return path


@pytest.mark.parametrize("kind", ["parquet", "feather", "whole", "stream"])
def test_a_table_in_columns_that_becomes_shorter_is_refused_after_the_rows_before(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("noregret.streams.arrow.ROWS", 1000)
    path = columnar(kind, tmp_path / ("t.parquet" if kind == "parquet" else "t.arrow"))
    shrinking = Shrinking(open_source(str(path)), path, path.stat().st_size // 3)
    with pytest.raises(nr.BadValue, match=r"t\.\w+: after row \d+ it cannot be read \(.*\); the file may be") as caught:
        list(shrinking)
    assert f"after row {shrinking.rows} " in str(caught.value)
    assert 0 < shrinking.rows < 60_000


@pytest.mark.parametrize("kind", ["parquet", "feather", "whole", "stream"])
@pytest.mark.parametrize("share", [0.0, 0.3, 0.99])
def test_a_table_in_columns_that_is_cut_off_is_refused(kind: str, share: float, tmp_path: Path) -> None:
    path = columnar(kind, tmp_path / ("t.parquet" if kind == "parquet" else "t.arrow"))
    whole = path.read_bytes()
    path.write_bytes(whole[: int(share * len(whole))])
    for on_bad in ("stop", "skip"):
        with pytest.raises(nr.BadValue, match=r"t\.(parquet|arrow): "):
            read(open_source(str(path), on_bad=on_bad))


def test_a_stream_of_columns_that_closes_in_the_middle_is_refused(
    tmp_path: Path, piped: Callable[[bytes], None]
) -> None:
    whole = columnar("stream", tmp_path / "t.arrow").read_bytes()
    piped(whole)
    assert len(read(open_source("-", format="arrow"))) == 60_000
    piped(whole[: len(whole) // 2])
    with pytest.raises(nr.BadValue, match=r"^standard input: after row \d\d+ it cannot be read"):
        read(open_source("-", format="arrow"))


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_a_column_of_another_kind_in_the_next_file_is_told(ending: str, tmp_path: Path) -> None:
    for name, cells in (("1", ["1", "2"] * 20), ("2", ["x", "y"] * 20)):
        table = pa.table({"a": [int(one) for one in cells] if name == "1" else cells, "y": [0, 1] * 20})
        if ending == "parquet":
            pa.parquet.write_table(table, tmp_path / f"{name}.parquet")
        else:
            pa.csv.write_csv(table, tmp_path / f"{name}.csv")
    source = open_source(str(tmp_path / f"*.{ending}"), label="y")
    assert len(read(source)) == 80
    (told,) = [note for note in source.notes if "column 'a'" in note]
    assert told.startswith("column 'a' holds text in ")
    assert "numbers in the file before; categorical=['a'] would read both alike" in told
    alike = open_source(str(tmp_path / f"*.{ending}"), label="y", categorical=["a"])
    assert [list(batch.X.names or ()) for batch in alike] == [["a=1", "a=2"], ["a=x", "a=y"]]
    assert not [note for note in alike.notes if "column 'a'" in note]


@pytest.mark.parametrize("ending", ["parquet", "csv", "jsonl"])
def test_a_file_without_the_label_of_the_one_before_is_named(ending: str, tmp_path: Path) -> None:
    for name, columns in (("1", {"a": [1.0, 2.0], "y": [0, 1]}), ("2", {"a": [1.0, 2.0], "z": [0, 1]})):
        path, table = tmp_path / f"{name}.{ending}", pa.table(columns)
        if ending == "parquet":
            pa.parquet.write_table(table, path)
        elif ending == "csv":
            pa.csv.write_csv(table, path)
        else:
            path.write_text("".join(f"{row}\n".replace("'", '"') for row in table.to_pylist()))
    with pytest.raises(nr.BadValue, match=rf"2\.{ending}.*there is no (column|field) 'y'"):
        read(open_source(str(tmp_path / f"*.{ending}"), label="y"))
