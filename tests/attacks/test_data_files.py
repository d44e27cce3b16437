"""Damaged and hostile data files: read to the end, or refused in words that name the file and the line."""

import tracemalloc
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import noregret as nr
from noregret.streams import csv, line_blocks, lines, open_source, text_blocks
from tests.attacks.columnar import KINDS, content, make_table, read
from tests.attacks.workers import run_attack

MODULES: list[Any] = [csv, line_blocks, lines, text_blocks]
HUGE = "1" * 400  # digits


def refusal(path: Path, **options: Any) -> str:
    with pytest.raises(nr.BadValue) as caught:
        list(open_source(str(path), **options))
    assert str(caught.value).startswith(str(path))
    return str(caught.value)


@pytest.mark.parametrize("kind", KINDS)
def test_the_files_that_are_damaged_are_sound(kind: str, tmp_path: Path) -> None:
    (tmp_path / kind).write_bytes(content(kind))
    assert read(str(tmp_path / kind), kind) == "read"


def test_damaged_columnar_files_crash_no_process() -> None:
    report = run_attack("columnar", "columnar:attack", 40)
    assert report.failures == []
    assert sum(report.outcomes.values()) == 40
    assert report.outcomes["refused"] > 10


def test_an_offset_beyond_the_text_is_refused(tmp_path: Path) -> None:
    wrong = pa.StringArray.from_buffers(2, pa.py_buffer(b"\0\0\0\0\xff\xff\xff\x7f\2\0\0\0"), pa.py_buffer(b"ab"))
    table = pa.table({"a": wrong, "y": [0, 1]})
    with pa.ipc.new_file(tmp_path / "t.arrow", table.schema) as writer:
        writer.write_table(table)
    refusal(tmp_path / "t.arrow", label="y")
    refusal(tmp_path / "t.arrow", label="y", text=["a"], on_bad="skip")


def test_text_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "plain.parquet"
    path.write_bytes(content(path.name).replace("grün".encode(), b"gr\xff\xffn"))
    assert "UTF8" in refusal(path, label="label")


def test_columns_of_codes_can_be_read_as_free_text(tmp_path: Path) -> None:
    table = make_table()
    for kind in KINDS:
        (tmp_path / kind).write_bytes(content(kind))
        batch = next(iter(open_source(str(tmp_path / kind), label="label", text=["coded"])))
        assert {"coded=one", "coded=two", "coded=three"} <= set(batch.X.names)
    lines = [f"{coded.as_py()},{label.as_py()}" for coded, label in zip(table["coded"], table["label"], strict=True)]
    for broken in ("", "\na,b,c", '\n"one two,no'):
        (tmp_path / "t.csv").write_text("coded,label\n" + "\n".join(lines) + broken)
        ways: list[dict[str, Any]] = [{}, {"labelled": False}, {"sets": True}]
        for options in ways:
            source = open_source(str(tmp_path / "t.csv"), label="label", text=["coded"], on_bad="skip", **options)
            assert sum(batch.rows for batch in source) == len(lines)


@pytest.mark.parametrize("role", ["text", "categorical"])
def test_a_column_named_as_a_feature_is_not_guessed_to_be_the_label(role: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,y\n" + "0,one two\n1,three\n" * 20)
    ways: list[dict[str, Any]] = [{}, {"targets": True}, {"sets": True}]
    for options in ways:
        source = open_source(str(tmp_path / "t.csv"), **{role: ["y"], **options})
        assert sum(batch.rows for batch in source) == 40
        assert source.label == "a"
    assert "no column is left for the label" in refusal(tmp_path / "t.csv", **{role: ["a", "y"]})


@pytest.mark.parametrize(
    ("line", "options"),
    [
        (f'{{"y": {HUGE}, "a": 1}}', {"targets": True}),
        (f'{{"y": 1, "a": {HUGE}}}', {}),
        (f'{{"y": 1, "a": 1, "w": {HUGE}}}', {"weight": "w"}),
        (f'{{"y": 1, "a": 1, "w": -{HUGE}}}', {"weight": "w"}),
        (f'{{"y": 1, "a": 1, "w": {HUGE}}}', {"timestamp": "w"}),
        (f'{{"y": 1, "a": {"1" * 5000}}}', {}),
    ],
)
def test_integers_of_hundreds_of_digits_are_bad_lines(line: str, options: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(f'{{"y": 1, "a": 2, "w": 1}}\n{line}\n{{"y": 0, "a": 3, "w": 2}}\n')
    assert refusal(path, label="y", **options).startswith(f"{path}:2: ")
    assert sum(batch.rows for batch in open_source(str(path), label="y", on_bad="skip", **options)) == 2


def test_labels_of_hundreds_of_digits_are_labels(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(f'{{"y": {HUGE}, "a": 2}}\n{{"y": 0.5, "a": 3}}\n')
    (batch,) = open_source(str(path), label="y")
    assert list(batch.y) == [int(HUGE), 0.5]


LONG = {
    "libsvm": (b"1 1:1\n", b"1 ", b"2:1 "),
    "vw": (b"1 | a\n", b"1 | ", b"word "),
    "csv": (b"a,y\n", b"", b"1234567"),
    "jsonl": (b'{"y": 1}\n', b'{"a": ', b"[1, "),
    "text": (b"1\ta\n", b"1\t", b"word "),
}


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("kind", LONG)
def test_a_line_without_end_is_refused_with_its_number_in_every_format(
    kind: str, first: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in MODULES:
        monkeypatch.setattr(module, "LONGEST", 1 << 21)
    before, begins, unit = LONG[kind]
    (tmp_path / "t").write_bytes((b"" if first else before) + begins + unit * ((9 << 20) // len(unit)))
    assert "longer than 2 MB" in (said := refusal(tmp_path / "t", format=kind))
    assert said.startswith(f"{tmp_path / 't'}:{1 if first else 2}: ")


def test_all_formats_have_the_same_limit() -> None:
    assert len({module.LONGEST for module in MODULES}) == 1


def test_a_table_of_millions_of_columns_is_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"a," * (1 << 20) + b"y\n1,2\n")
    assert "more than 1,048,576 columns" in refusal(tmp_path / "t.csv")


@pytest.mark.parametrize("sizes", [(4096, 1 << 13, 1 << 13), (2**32 - 1, 28, 28), (5, 0, 7), (5, 2**32 - 1, 2**32 - 1)])
def test_a_few_bytes_that_declare_many_images_take_no_memory(sizes: tuple[int, ...], tmp_path: Path) -> None:
    head = b"\0\0\x08\x03" + b"".join(size.to_bytes(4, "big") for size in sizes)
    images = tmp_path / "t-images-idx3-ubyte"
    images.write_bytes(head + b"\1" * 100)
    (tmp_path / "t-labels-idx1-ubyte").write_bytes(b"\0\0\x08\x01" + head[4:8] + b"\1" * 10)
    tracemalloc.start()
    try:
        with pytest.raises(nr.BadValue, match=r"damaged|too early"):
            list(open_source(str(images)))
        assert tracemalloc.get_traced_memory()[1] < 64 << 20
    finally:
        tracemalloc.stop()
