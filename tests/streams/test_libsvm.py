"""libsvm text: every number as float() reads it, every wrong line named, whatever the bytes and the cuts."""

import os
import random
import subprocess
import sys

import numpy as np
import pytest

from noregret.jit.cache import cache_folder
from noregret.streams import ReadOptions
from tests.naive import libsvm as naive
from tests.streams.libsvm_rows import batches, read, refused, same
from tests.support.cover import only_in_test_all

# ---- the same as the obvious way ------------------------------------------------------------------------------------

GOOD = [
    b"1", b"-1 1:1", b"+1 1:0.5 3:2 7:1e-3", b"0 2:+.5 4:-3.25e+2", b"1.5e0 qid:3 10:1", b"  2\t1:1\t\t2:2  ",
    b"1 1:1 # a 3:4 comment", b"1#", b"1 1:5#x", b"# only this", b"", b"   ", b"\t", b"1 1:1\r", b"\r",
    b"1 00012:007.50",
    b"-0 1:-0 2:-0.0 3:0 4:0e5 5:-0e400", b"1 5:5 3:3", b"1 2:1 2:3", b"1 2147483647:1", b"3. 1:1. 2:.5 3:5.e1 4:.5e1",
    b"1e3 1:1E3 2:1e+3 3:1e-3 4:1e00000000000000000000003", b"12345678 12345678:12345678 123456789:123456789",
    b"1 1:0.1234567 2:0.12345678 3:0.123456789 4:0.1234567890123456 5:0.12345678901234567 6:0.1234567890123456789",
    b"1 1:0.12345678901234567890 2:123.1234567890123456 3:1234.12345678901234567 4:1234567.1234567 5:12345678.1",
    b"1 1:9007199254740993 2:9007199254740992.5 3:18446744073709551615 4:18446744073709551616 5:9999999999999999999",
    b"1 1:4.9e-324 2:2.2250738585072014e-308 3:1.7976931348623157e308 4:1e-400 5:2.4703282292062327e-324",
    b"1 1:" + b"0" * 40 + b"1." + b"0" * 40 + b"1 2:0." + b"0" * 400 + b"1e400 3:1" + b"0" * 300 + b"e-300",
    b"spam 1:1", b"1,3 1:1", b"caf\xc3\xa9 qid:2 2:1", b"a,2.5,-1 3:1 # c", b"e5", b"word#comment",
    b"-9.5 1:8.5 qid:-7 2:1", b"1 qid:12345678901234567890 1:2", b"7 9:1e22 10:1e23 11:123e-22 12:123e-23",
]  # fmt: skip
WRONG = [
    b"1 0:1", b"1 -1:1", b"1 2147483648:1", b"1 99999999999999999999:1", b"1 4294967297:1", b"1 18446744073709551617:1",
    b"1 x:1", b"1 1.5:1", b"1 1", b"1 1 :1", b"1 1: 1", b"1 1:", b"1 1:#", b"1 1:abc", b"1 1:1x", b"1 1:1:1", b"1 :1",
    b"1 1:nan", b"1 1:inf", b"1 1:-Infinity", b"1 1:1e400", b"1 1:-1e309", b"1 1:1e", b"1 1:1e+", b"1 1:.", b"1 1:-",
    b"1 1:+-1", b"1 1:1.5.2", b"1 1:0x10", b"1 1:1_0", b"1 1:1,5", b"+x 1:1", b"nan 1:1", b"-inf", b"1e999", b"1:1",
    b"1,,2 1:1", b"1,nan 1:1", b"1 qid:", b"1 qid:x 1:1", b"1 Qid:1", b"1 +1:1", b"\x00", b"1 1:1\x00", b"1 1:\x00",
    b"\xff\xfe1",
    b"1 1:1\x0b2:1", b"- 1:1", b"1 1:1." + b"0" * 30 + b"x", b"1 1:179769313486231580800e288", b"1 12345678901:2",
    b"1 1:\xc3\xa9", b":", b"5e", b"a:b", b".", b"1 1:0." + b"0" * 99 + b"1e1000",
]  # fmt: skip


@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "plain"])
@pytest.mark.parametrize("ending", [b"\n", b"\r\n"], ids=["newline", "return"])
def test_every_way_to_write_a_line_is_read_as_the_obvious_parser_reads_it(ending: bytes, compiled: bool) -> None:
    text = ending.join(GOOD)
    rows, wrong = naive.read(text)
    assert not wrong
    same(read(text, compiled=compiled), rows)


def test_no_row_depends_on_where_the_window_ends_in_plain_python_where_words_are_checked_too() -> None:
    text = b"\n".join([*GOOD[:20:3], *WRONG[:4]])
    for size in range(1, len(text) + 2, 7):
        same(read(text, ReadOptions(on_bad="skip"), size, compiled=False), naive.read(text)[0])


@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "plain"])
def test_every_wrong_line_is_refused_by_its_number_and_skipped_alone(compiled: bool) -> None:
    for line in WRONG:
        assert naive.read(b"1 1:1\n\n" + line + b"\n2 2:2")[1] == [3], line
        assert refused(b"1 1:1\n\n" + line + b"\n2 2:2", compiled=compiled).startswith("text:3: "), line
        assert refused(b"\n" + line, compiled=compiled).startswith("text:2: "), line
    mixed = [line for pair in zip(WRONG, GOOD * 2, strict=False) for line in pair]
    rows, wrong = naive.read(b"\n".join(mixed))
    found = read(b"\n".join(mixed), ReadOptions(on_bad="skip"), compiled=compiled)
    same(found, rows)
    assert found.skipped == len(wrong) == len(WRONG)


def generated(rng: random.Random) -> bytes:
    """A line like those in files, or one with a few bytes changed."""
    values = (
        lambda: repr(rng.gauss(0, 1)), lambda: f"{rng.random():.6g}", lambda: f"{rng.gauss(0, 1):.17g}",
        lambda: str(rng.randrange(-9, 10**9)), lambda: f"{rng.random():.19f}", lambda: f"{rng.gauss(0, 1):.3e}",
        lambda: repr(rng.random() * 10.0 ** rng.randrange(-320, 308)), lambda: f"{rng.randrange(10**25)}e-20",
    )  # fmt: skip
    words = [rng.choice(["1", "-1", "+1", "2.5", "10"])]
    for index in sorted(rng.sample(range(1, 200000), rng.randrange(6))):
        words.append(f"{index}:{rng.choice(values)()}")
    line = bytearray(" ".join(words).encode())
    for _ in range(rng.choice([0, 0, 1, 3])):
        at = rng.randrange(len(line))
        line[at : at + rng.randrange(2)] = bytes([rng.choice(b" \t\r#:.-+eE0123456789nqid\x00\xff")])
    return bytes(line)


@pytest.mark.parametrize(
    ("compiled", "lines", "reading"),
    [
        (True, 6000, ReadOptions(on_bad="skip")),
        (True, 3000, ReadOptions(on_bad="skip", zero_based=True)),
        (True, 3000, ReadOptions(on_bad="skip", labelled=False)),
        (False, 400, ReadOptions(on_bad="skip")),
        (False, 200, ReadOptions(on_bad="skip", labelled=False, zero_based=True)),
    ],
)
def test_generated_and_mutated_lines_are_read_as_the_obvious_parser_reads_them(
    compiled: bool, lines: int, reading: ReadOptions
) -> None:
    rng = random.Random(lines)
    text = b"\n".join(generated(rng)[2 * (not reading.labelled) * rng.randrange(2) :] for _ in range(lines))
    rows, wrong = naive.read(text, reading.zero_based, reading.labelled)
    assert len(wrong) > lines // 20
    assert len(rows) > lines // 5
    found = read(text, reading, 5000, compiled)
    same(found, rows)
    assert found.skipped == len(wrong)


FORMATS = ["r", "%.17g", "%.16g", "%.15g", "%.6g", "%.19f", "%.25f", "%.9e", "%.18e", "%.24e", "%.3f"]


@pytest.mark.thinned(4)
@pytest.mark.parametrize("written", FORMATS)
def test_values_are_rounded_as_float_rounds_them(written: str) -> None:
    rng = np.random.default_rng(3)
    n = 3000
    values = [rng.normal(size=n), rng.random(n), rng.normal(size=n) * 10.0 ** rng.integers(-30, 30, n)]
    values += [
        rng.integers(0, 10**9, n) / 10.0 ** rng.integers(0, 9, n),
        rng.random(n) * 10.0 ** rng.integers(-324, 308, n),
    ]
    texts = [repr(v) if written == "r" else written % v for v in np.concatenate(values).tolist()]
    found = read("".join(f"1 1:{one}\n" for one in texts).encode())
    expected = np.array([float(one) for one in texts])
    assert np.array([row[0][1] for row in found.features]).tobytes() == expected.tobytes()


def hardest(power: int) -> list[str]:
    """Numbers of up to 19 digits over 10^power that lie as near as can be to the middle between two floats.

    A middle is h / 2^n with h odd, of 54 bits. For m / 10^power to lie next to one, m 2^u and h 5^power must be
    nearly equal: the h whose product leaves a remainder r of 1 or so modulo 2^u come from the inverse of 5^power.
    """
    u = (2**54 * 5**power).bit_length() - 63
    inverse = pow(5**power, -1, 2**u)
    found = []
    for r in (1, -1, 3, -3, 5, 7):
        for j in range(40):
            h = r * inverse % 2**u + ((2**53 >> u) + 17 * j) * 2**u
            m = (h * 5**power - r) >> u
            if 2**53 < m < 10**19:
                found.append(f"{m}e-{power}")
    return found


def test_values_next_to_the_middle_between_two_floats_are_rounded_as_float_rounds_them() -> None:
    texts = [one for power in range(5, 23) for one in hardest(power)]
    texts += [f"{h * 5**k}e-{k}" for h in range(2**53 + 1, 2**53 + 400, 2) for k in (1, 2, 3)]
    assert len(texts) > 3000
    found = read("".join(f"{one} 1:{one}\n" for one in texts).encode(), ReadOptions(targets=True))
    expected = [float(one) for one in texts]
    assert [row[0][1] for row in found.features] == expected
    assert found.labels == expected


# ---- wherever it is cut ---------------------------------------------------------------------------------------------


def test_no_row_depends_on_where_the_window_ends() -> None:
    text = b"\n".join(GOOD[:16] + WRONG[:4]) + b"\n1 3:0.25 # end"
    rows, _ = naive.read(text)
    for size in range(1, len(text) + 2):
        found = read(text, ReadOptions(on_bad="skip"), size)
        same(found, rows)
        assert found.skipped == 4
    wrong = b"1 1:1\n" * 5 + b"1 1:x\n" + b"1 2:2\n" * 5
    assert {refused(wrong, size=size) for size in range(1, 90)} == {refused(wrong)}


def test_a_line_longer_than_the_window_is_read_all_the_same() -> None:
    long = b"1 " + b" ".join(b"%d:0.12345678901234567890123" % j for j in range(1, 30001))
    text = b"2 1:1\n" * 1000 + long + b"\n" + b"3 2:1\n" * 1000
    same(read(text, size=4096), naive.read(text)[0])


def test_batches_hold_a_bounded_number_of_rows_and_the_arrays_are_their_own() -> None:
    text = b"1 1:1\n" * 100_000
    made, _ = batches(text, ReadOptions(), 1 << 20)
    assert [len(batch.X) for batch in made] == [32768, 32768, 32768, 1696]
    assert [line for batch in made if batch.lines is not None for line in batch.lines] == list(range(1, 100_001))
    assert all(batch.X.block.val.base is None for batch in made)


def test_more_numbers_for_python_than_there_is_room_for() -> None:
    text = b"1 " + b" ".join(b"%d:1.234567890123456789012e-7" % j for j in range(1, 6001)) + b"\n"
    found = read(text * 3, size=1 << 20)
    same(found, naive.read(text * 3)[0])


@only_in_test_all
def test_no_byte_out_of_bounds() -> None:
    told = {**os.environ, "NOREGRET_BOUNDS_CHECK": "1", "NOREGRET_CACHE": str(cache_folder() / "bounds_checked")}
    code = """
import tests.streams.test_libsvm as t
from noregret.jit.compiler import OPTIONS
assert OPTIONS["boundscheck"]
t.test_generated_and_mutated_lines_are_read_as_the_obvious_parser_reads_them(True, 3000, t.ReadOptions(on_bad="skip"))
t.test_no_row_depends_on_where_the_window_ends()
t.test_more_numbers_for_python_than_there_is_room_for()
print("in bounds")
"""
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], env=told, capture_output=True, text=True)
    assert done.stdout == "in bounds\n", done.stderr


# ---- what is said -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("1 0:1", "the index is 0, but indices start at 1; use --zero-based"),
        ("1 -3:1", "the index -3 is negative"),
        ("1 2147483648:1", "the index 2147483648 is too large; the largest is 2147483647"),
        ("1 word:1", "'word' is not an index"),
        ("1 7", "'7' has no colon"),
        ("1 7:", "feature 7 has no value; write 7:value or leave it out"),
        ("1 7:abc", "feature 7: 'abc' is not a number"),
        ("1 7:nan", "feature 7: the value is nan; every value must be finite"),
        ("1 7:1e400", "feature 7: the value is 1e400; every value must be finite"),
        ("1 2:1 7:-inf", "feature 7: the value is -inf"),
        ("+spam 1:1", "the label is '+spam'; a label is a number, a word, or several with commas"),
        ("1,,2 1:1", "the label is '1,,2'; a label is a number, a word, or several with commas"),
        ("inf 1:1", "the label is inf; every label must be a finite number"),
        ("1e400 1:1", "the label is 1e400; every label must be a finite number"),
        ("3:1 4:1", "the line starts with '3:1' and has no label"),
        ("1 qid:x 1:1", "'qid:x' is not a query number"),
        ("\x00\x01\x02", "this is not libsvm text but binary data"),
    ],
)
def test_an_error_says_what_was_found_and_what_to_do(line: str, said: str) -> None:
    message = refused(f"1 1:1\n{line}\n1 1:1\n".encode())
    assert message.startswith(f"text:2: {said}")
    assert "cut off" not in message


def test_of_two_wrong_lines_the_first_is_named_though_python_reads_it_later() -> None:
    assert refused(b"1 1:1\n1 1:1e400\n1 x\n").startswith("text:2: feature 1: the value is 1e400")


def test_a_last_line_that_stops_short_says_so() -> None:
    assert "the file may be cut off" in refused(b"1 1:1\n1 1:2 3:")
    assert "the file may be cut off" not in refused(b"1 1:1\n1 1:2 3:\n")


def test_a_binary_file_without_lines_is_refused_before_it_is_all_read() -> None:
    assert "binary data" in refused(b"\x00" * 100_000, size=1024)


def test_a_line_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("noregret.streams.text_blocks.LONGEST", 1 << 14)
    assert "a line is longer than" in refused(b"1 " * 100_000, size=1024)
