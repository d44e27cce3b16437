"""Vowpal Wabbit's text: every line as the obvious parser reads it, every wrong one named, whatever the cuts."""

import io
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from noregret.data import blocks as chunk
from noregret.errors import BadValue
from noregret.features import canonicalize
from noregret.jit.cache import cache_folder
from noregret.rules.specialize import rebind, specializer
from noregret.streams import Batch, ReadOptions, name_table, vw, vw_text
from noregret.streams.text_blocks import ParsedBlock, TextBlocks
from noregret.streams.vw import Parser, Vw
from tests.naive import vw_rows as naive
from tests.support.cover import only_in_test_all


class Memory(io.BytesIO):
    """A text that is no file."""

    name = "text"

    def progress(self) -> float | None:
        return None


plain_function = specializer(vw_text.ENDS, rebind, "vw")(vw_text.parse_lines)


def plain_parse(table: np.ndarray, buffer: np.ndarray, out: Any, known: Any, shared: Any) -> None:
    """The text of the parser in plain Python."""
    with np.errstate(over="ignore"):
        plain_function(buffer, out, known, shared, table)


def plain_dictionary() -> vw.NameDictionary:
    """The same for the numbers of names and the order of features."""

    def number(table: np.ndarray, buffer: np.ndarray, bare: np.ndarray, out: np.ndarray, known: Any) -> None:
        with np.errstate(over="ignore"):
            name_table.number_names(buffer, bare, out, known, table)

    def arrange(table: np.ndarray, numbers: Any, indptr: Any, idx: Any, val: Any, *room: Any) -> None:
        canonicalize.renumber(table[canonicalize.NEW_ONLY], numbers, indptr, idx, val, room)

    return vw.NameDictionary(number, arrange)


def in_turn(lines: TextBlocks, parsers: list[Parser]) -> Iterator[ParsedBlock]:
    """All parts, without other threads."""
    number = 0
    while (block := lines.read_into(parsers[number % len(parsers)])) is not None:
        yield parsers[number % len(parsers)].parse_block(block)
        number += 1


class Taken:
    """All that was read."""

    def __init__(self) -> None:
        self.rows: list[naive.Row] = []
        self.names: dict[str, bool] = {}
        self.skipped = 0

    def collect(self, batch: Batch) -> None:
        block, names = batch.X.block, list(batch.X.names)
        assert block.ready
        assert chunk.check_rows(block) == chunk.FINE
        assert block.width == len(names) > block.idx.max(initial=-1)
        assert names[: len(self.names)] == list(self.names)
        self.names |= dict(zip(names, batch.X.indicator.tolist(), strict=True))
        assert batch.lines is not None
        for row, line in enumerate(batch.lines.tolist()):
            part = slice(block.indptr[row], block.indptr[row + 1])
            pairs = {names[j]: v for j, v in zip(block.idx[part].tolist(), block.val[part].tolist(), strict=True)}
            label = None if batch.y is None else batch.y[row]
            label = None if label is None or label != label else label
            weight = 1.0 if batch.weight is None else float(batch.weight[row])
            self.rows.append(naive.Row(label, weight, pairs, line))


def read(text: bytes, size: int = 1 << 16, compiled: bool = True, parsers: int = 1, **told: Any) -> Taken:
    """Everything in a text, through windows of some size."""
    reading = ReadOptions(**told)
    source = Vw("text", reading)
    parse, names = (vw.compile_parser(), vw.compile_dictionary()) if compiled else (plain_parse, plain_dictionary())
    some = [Parser(reading, size, parse, names) for _ in range(parsers)]
    found = Taken()
    for batch in source.join_blocks(in_turn(TextBlocks(Memory(text), size, kind="vw"), some), names):  # type: ignore[arg-type]
        found.collect(batch)
    found.skipped = source.skipped
    return found


def same(found: Taken, expected: naive.Read) -> None:
    """Equal bit for bit: repr tells -0.0 from 0.0."""
    assert [row.line for row in found.rows] == [row.line for row in expected.rows]
    order = {name: number for number, name in enumerate(expected.names)}
    for mine, other in zip(found.rows, expected.rows, strict=True):
        assert (mine.label, repr(mine.weight)) == (other.label, repr(other.weight)), other
        in_order = dict(sorted(other.features.items(), key=lambda pair: order[pair[0]]))
        assert repr(mine.features) == repr(in_order), other
    assert found.names == expected.names
    assert list(found.names) == list(expected.names)


def refused(text: bytes, **told: Any) -> str:
    with pytest.raises(BadValue) as caught:
        read(text, **told)
    message = str(caught.value)
    assert "\n" not in message
    return message


# ---- the same as the obvious way ------------------------------------------------------------------------------------

GOOD = [
    b"1 |a x y z", b"-1 |", b"+1 | x:2 y:-.5e1 z:+3", b"0 2 |a x", b"1 2.5 0 |a x", b"1 2 0 'tag |a x",
    b"1 'tag |a x", b"1 2 tag|a x", b"1 'tag|a x", b"spam |a x", b"ham 3 |a x", b"1 |a:2 x y:3 |b:-.5 x |a x",
    b"1 || x |", b"1 |a|b|", b"1 |a x:1|b y", b"1\t|a\tx\t\ty", b"  1   |  x   y  ", b"1 |a x\r", b"", b"   ",
    b"\t\r", b"1 | x x x:2 y x", b"1 |a city:paris city:paris city:x1 b:_", b"1 |a^b c |a b^c |a b:c",
    "1 |é ü:2 😀 日本".encode(), b"1 | a#b # c=d", b"1.5e0 | x", b"007 | x", b"1e400x | x", b"1 'tag:with:colons | x",
    b"1 '\xff\xfe | x", b"1 ' | x", b"1 | " + b" ".join(b"f%d" % j for j in range(200)),
    b"1 | " + b"x" * 300 + b" " + b"x" * 301 + b":2",
    b"1 | abcdefg abcdefgh abcdefghi abcdefghijklmno abcdefghijklmnop abcdefghijklmnopq abcdefgh abcdefghijklmnop",
    b"1 |" + b"n" * 40 + b":0.5 " + b"m" * 8 + b":1e-3",
    b"0.12345678901234567890123 1.00000000000000000000001 0e999 | x",
    b"1 |a:0.12345678901234567890123 x y:0.12345678901234567890123 |b x:1e-400 y:4.9e-324", b"1 | -1 2:3 .5:4",
    b"1 | nan inf nancy:nancy x:infinite y:nano", b"1 | x:0 y:-0", b"1 1e-400 1e-400 | x",
    b"1 | x:12345678 y:123456789.5", b"1 |abcdefgh x |abcdefghi x |abcdefghijklmnop x",
]  # fmt: skip
WRONG = [
    b"1", b"1 x y", b"|a x", b"1|a x", b"'tag |a x", b"1 -1 |a x", b"1 nan |a x", b"1 1e400 |a x", b"1 x |a x",
    b"1:2 |a x", b"1:0.5 2:0.3 |a x", b"1:2:0.4 |a x", b"qid:3 |a x", b"1 qid:3 |a x", b"shared |a x",
    b"ccb shared |a x", b"1,2 |a x", b"nan |a x", b"-inf |a x", b"1e400 |a x", b"1 1 1 |a x", b"1 1 x |a x",
    b"1 1 0 0 |a x", b"1 'tag 2 |a x", b"1 2 'a b|x", b"1 |:2 x", b"1 |a: x", b"1 |a:x y", b"1 |a:nan x",
    b"1 |a:1e400 x", b"1 |a:1:2 x", b"1 |a :1", b"1 |a x:", b"1 |a x:|b", b"1 |a x:1:2", b"1 |a x:y:z", b"1 |a x::1",
    b"1 |a x:1x", b"1 |a x:0x10", b"1 |a x:-", b"1 |a x:1e", b"1 |a x:nan", b"1 |a x:INF", b"1 |a x:-inf",
    b"1 |a x:Infinity", b"1 |a x:1e400", b"1 |a:1e200 x:1e200", b"1 |a:10 x:" + b"9" * 308, b"1 |a x\x00y", b"\x00",
    b"1 |a x \x01", b"1 |a\x0bx", b"1 '\x02 | x", b"1\x03 | x", b"1 |a \xff", b"1 |a \xc3", b"1 |\xff x",
    b"1 |a \xed\xa0\x80", b"1 |a \xc0\xaf", b"1 |a \xf4\x90\x80\x80", b"1 |a \xe0\x80\x80x", b"1 |a \xf0\x80\x80\x80",
    b"1 |a \x80", b"1 |a \xe2\x82", b"1 |a x:\xff", b"\xff |a x", b"1 |a x:2020-01-01", b"1 x:1 |a", b"1 | y:1.5.2",
]  # fmt: skip


@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "plain"])
@pytest.mark.parametrize("ending", [b"\n", b"\r\n"], ids=["newline", "return"])
def test_every_way_to_write_a_line_is_read_as_the_obvious_parser_reads_it(ending: bytes, compiled: bool) -> None:
    text = ending.join(GOOD)
    expected = naive.read(text)
    assert not expected.wrong
    same(read(text, compiled=compiled), expected)


@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "plain"])
def test_every_wrong_line_is_refused_by_its_number_and_skipped_alone(compiled: bool) -> None:
    for line in WRONG:
        assert naive.read(b"1 |a x\n\n" + line + b"\n2 | y").wrong == [3], line
        assert refused(b"1 |a x\n\n" + line + b"\n2 | y", size=64, compiled=compiled).startswith("text:3: "), line
        assert "the file may be cut off" in refused(b"\n" + line, size=64, compiled=compiled), line
    mixed = [line for pair in zip(WRONG, GOOD * 2, strict=False) for line in pair]
    expected = naive.read(b"\n".join(mixed))
    found = read(b"\n".join(mixed), compiled=compiled, on_bad="skip")
    same(found, expected)
    assert found.skipped == len(expected.wrong) == len(WRONG)


@pytest.mark.thinned(2)
@pytest.mark.parametrize(
    ("compiled", "lines", "told"),
    [
        (True, 2500, {}),
        (True, 800, {"labelled": False}),
        (True, 800, {"targets": True}),
        (False, 120, {}),
        (False, 60, {"labelled": False}),
    ],
)
def test_generated_and_mutated_lines_are_read_as_the_obvious_parser_reads_them(
    compiled: bool, lines: int, told: dict[str, Any]
) -> None:
    rng = random.Random(lines)
    text = b"\n".join(naive.generated(rng) for _ in range(lines))
    expected = naive.read(text, told.get("labelled", True), told.get("targets", False))
    assert len(expected.wrong) > lines // 20
    assert len(expected.rows) > lines // 5
    found = read(text, 5000, compiled, parsers=2, on_bad="skip", **told)
    same(found, expected)
    assert found.skipped == len(expected.wrong)


def test_a_value_is_the_float_of_its_text_times_the_scale() -> None:
    rng = np.random.default_rng(3)
    texts = [
        form % value for value in rng.normal(size=400).tolist() for form in ("%.17g", "%r", "%.6g", "%.25f", "%.20e")
    ]
    found = read("".join(f"1 |a:{one} x:{one} |b x:{one}\n" for one in texts).encode())
    assert [row.features for row in found.rows] == [
        {"a^x": float(one) * float(one), "b^x": float(one)} for one in texts
    ]


def test_more_names_than_there_is_room_for_at_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vw, "FEW", 4)
    monkeypatch.setattr(vw, "MANY", 4)
    words = [f"{'long' * (j % 9)}name{j}" for j in range(3000)]
    text = "".join(f"1 |s{j % 7} {' '.join(words[j : j + 5])}\n" for j in range(0, 3000, 3)).encode()
    for parsers in (1, 2, 3):
        same(read(text, 700, parsers=parsers), naive.read(text))


LEADS = b"\xc2\xe0\xed\xf0\xf4\x80\xbf\x9f\x90"


def test_text_is_utf8_exactly_where_python_says_so() -> None:
    rng = random.Random(8)
    lines = []
    for _ in range(4000):
        size = rng.randrange(1, 7)
        some = bytes(
            rng.choice([rng.randrange(0x21, 0x100), rng.choice(b"\xc2\xe0\xed\xf0\xf4\x80\xbf\x9f\x90")])
            for _ in range(size)
        )
        lines.append(b"1 | x" + some.replace(b"|", b"_").replace(b":", b"_"))
    expected = naive.read(b"\n".join(lines))
    assert len(expected.wrong) > 500
    assert len(expected.rows) > 100
    same(read(b"\n".join(lines), on_bad="skip"), expected)


# ---- wherever it is cut ---------------------------------------------------------------------------------------------


def test_no_row_and_no_name_depends_on_where_the_window_ends_or_on_who_parses() -> None:
    text = b"\n".join([*GOOD[:14], *WRONG[:6], *GOOD[20:26]]) + b"\n1 |a last"
    expected = naive.read(text)
    for size in range(1, len(text) + 2, 5):
        for parsers in (1, 2, 3):
            found = read(text, size, parsers=parsers, on_bad="skip")
            same(found, expected)
            assert found.skipped == 6
    wrong = b"1 |a x\n" * 5 + b"1 |a x:1y\n" + b"1 |a y\n" * 5
    assert {refused(wrong, size=size) for size in range(1, 90)} == {refused(wrong)}


def test_plain_python_reads_the_same_through_small_windows() -> None:
    text = b"\n".join([*GOOD[:20:3], *WRONG[:4]])
    for size in range(1, len(text) + 2, 29):
        same(read(text, size, compiled=False, parsers=2, on_bad="skip"), naive.read(text))


def test_a_line_longer_than_the_window_is_read_all_the_same() -> None:
    long = b"1 |a " + b" ".join(b"name%d:0.12345678901234567890123" % (j * j % 7001) for j in range(20000))
    text = b"2 |a x\n" * 1000 + long + b"\n" + b"3 |b x\n" * 1000
    same(read(text, 4096), naive.read(text))


def test_batches_hold_a_bounded_number_of_rows_and_the_names_so_far() -> None:
    text = b"".join(b"1 | x%d\n" % (j // 10) for j in range(40_000))
    names = vw.compile_dictionary()
    parser = Parser(ReadOptions(), 1 << 20, vw.compile_parser(), names)
    lines = TextBlocks(Memory(text), 1 << 20)  # type: ignore[arg-type]
    made = list(Vw("text", ReadOptions()).join_blocks(in_turn(lines, [parser]), names))
    assert [len(batch.X) for batch in made] == [32768, 7232]
    assert [len(batch.X.names) for batch in made] == [3277, 4000]
    assert made[0].X.names.names is made[1].X.names.names


@only_in_test_all
def test_no_byte_out_of_bounds() -> None:
    told = {**os.environ, "NOREGRET_BOUNDS_CHECK": "1", "NOREGRET_CACHE": str(cache_folder() / "bounds_checked")}
    code = """
import tests.streams.test_vw as t
from noregret.jit.compiler import OPTIONS
import pytest
assert OPTIONS["boundscheck"]
t.test_generated_and_mutated_lines_are_read_as_the_obvious_parser_reads_them(True, 1000, {})
with pytest.MonkeyPatch.context() as patch:
    t.test_more_names_than_there_is_room_for_at_first(patch)
t.test_a_line_longer_than_the_window_is_read_all_the_same()
print("in bounds")
"""
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], env=told, capture_output=True, text=True)
    assert done.stdout == "in bounds\n", done.stderr


# ---- what is said -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"1 x y", "the line has no bar; a line reads: label |namespace feature:value"),
        (b"|a x", "the line has no label"),
        (b"1|a x", "the line has no label: '1' touches the bar, which makes it a tag; put a blank between"),
        (b"1:0.5 2:0.3 |a x", "'1:0.5' is a cost-sensitive label, class:cost"),
        (b"1:2:0.4 |a x", "'1:2:0.4' is a contextual bandit label, action:cost:probability"),
        (b"qid:3 |a x", "'qid:3' is a query number"),
        (b"shared |a x", "'shared' begins a line for contextual bandits"),
        (b"ccb action |a x", "'ccb' begins a line for conditional contextual bandits"),
        (b"1,2 |a x", "'1,2' is several labels, or a number with a comma"),
        (b"nan |a x", "the label is nan; it must be finite"),
        (b"1e400 |a x", "the label is 1e400; it must be finite"),
        (b"1 -2 |a x", "the importance is -2; it must be finite and not negative"),
        (b"1 1e999 |a x", "the importance is 1e999; it must be finite"),
        (b"1 spam |a x", "the importance is 'spam', not a number; a tag is marked by a ' before it"),
        (b"1 1 0.5 |a x", "the base is '0.5'; predictions start from 0 here, so leave it out"),
        (b"1 1 0 tag 1 |a x", "'tag' is one word too many before the bar"),
        (b"1 'tag 2 |a x", "'2' follows the tag; after a tag comes the bar"),
        (b"1 |:2 x", "a namespace has a scale but no name"),
        (b"1 |a:x y", "the scale of a namespace is 'x', not a number"),
        (b"1 |a:1e400 y", "the scale of a namespace is 1e400; it must be finite"),
        (b"1 |a :2", "':2' is a value without a feature; write feature:value"),
        (b"1 |a x: y", "feature x has no value; write x:value, or no colon"),
        (b"1 |a x:1y", "feature x: '1y' is not a number; a value that is a word starts with a letter"),
        (b"1 |a x:nan", "feature x: the value is nan; every value must be finite"),
        (b"1 |a x:1e400|b", "feature x: the value is 1e400; every value must be finite"),
        (b"1 |a:1e200 x:1e200", "feature x: the value 1e200 times the scale of its namespace is not finite"),
        (b"1 |a x:1:2", "'x:1:2' has two colons; a feature has one value"),
        (b"1 |a x\x01", "there is the control character 1"),
        (b"1 |a x\x00", "this is not text but binary data"),
        (b"1 |a ok \xff\xfe", "byte 9 of the line is not UTF-8 text"),
        (b"\xff |a ok", "the label is not UTF-8 text"),
    ],
)  # fmt: skip
def test_an_error_says_what_was_found_and_what_to_do(line: bytes, said: str) -> None:
    message = refused(b"1 |a x\n" + line + b"\n1 |a x\n")
    assert message.startswith(f"text:2: {said}")
    assert "cut off" not in message


def test_a_word_is_no_target() -> None:
    assert "the label 'spam' is not a number" in refused(b"spam |a x\n", targets=True)


def test_of_two_wrong_lines_the_first_is_named_though_python_reads_it_later() -> None:
    assert refused(b"1 |a x\n1 |a x:1e400\n1 x\n").startswith("text:2: feature x: the value is 1e400")
    assert refused(b"1 |a x\nshared |a x\n1 |a x:1e400\n").startswith("text:2: 'shared'")


def test_a_binary_file_without_lines_is_refused_before_it_is_all_read() -> None:
    assert "not vw text but binary data" in refused(b"\x00" * 100_000, size=1024)


# ---- labels and weights -------------------------------------------------------------------------------------------


def only(text: bytes, **told: Any) -> Batch:
    reading, names = ReadOptions(**told), vw.compile_dictionary()
    parser = Parser(reading, 1 << 16, vw.compile_parser(), names)
    lines = TextBlocks(Memory(text), 1 << 16)  # type: ignore[arg-type]
    (batch,) = Vw("text", reading).join_blocks(in_turn(lines, [parser]), names)
    return batch


def test_labels_are_of_any_kind() -> None:
    assert only(b"1 |\n-1 |\n2e3 |").y.dtype == np.int64
    assert only(b"1 |\n0.5 |").y.dtype == np.float64
    assert only(b"1 |\n2 |", targets=True).y.dtype == np.float64
    assert only(b"spam |\n1 |\n1.0 |\n2.5 |\nham |").y == ["spam", 1, 1, 2.5, "ham"]


def test_rows_to_be_predicted_need_no_label() -> None:
    np.testing.assert_array_equal(only(b"| x\n5 | x\n'tag | x\ntag| x", labelled=False).y, [np.nan, 5, np.nan, np.nan])
    assert only(b"| x\n'a | x\n", labelled=False).y is None
    assert only(b"| x\nspam | x\n", labelled=False).y == [None, "spam"]


def test_importances_are_weights_and_all_ones_are_none() -> None:
    assert only(b"1 1 | x\n1 | x\n").weight is None
    weight = only(b"1 2 | x\n1 | x\n1 0 | x\n").weight
    assert weight is not None
    assert weight.tolist() == [2.0, 1.0, 0.0]


def test_a_mark_before_the_text_is_no_part_of_it() -> None:
    assert only(b"\xef\xbb\xbf1 | x\n2 | x\n").y.tolist() == [1, 2]


def test_sums_that_are_not_finite_are_left_to_the_learner_to_refuse() -> None:
    batch = only(b"1 | x:1e308 x:1e308\n")
    assert not batch.X.block.ready
