"""The text of the libsvm reader: plain Python that runs as it stands, slowly, and compiled at the speed of the disk.

    label [qid:number] index:value index:value ... [# comment]

`parse_lines` turns whole lines into rows. It believes nothing of the bytes it is given: every scan stops at a newline,
the last byte of the last line is one, and a row that is not right is not there afterwards.

Integers of 64 unsigned bits are written as such, because they are meant to lose what overflows; positions are plain.
The functions of the machine (`load_word`, `trailing_zeros`, `fused`) are replaced by instructions where it is compiled.
"""

from typing import Any, NamedTuple

import numpy as np

from noregret.jit.compiled import unbound
from noregret.streams.number_text import (
    COLON,
    FINE,
    HASH,
    LOW_HALF,
    MINUS,
    NEEDS_PYTHON,
    NEWLINE,
    NINE,
    NOTHING,
    TEN,
    ZERO,
    after_blanks,
    after_line,
    byte_at,
    closes,
    digits_at,
    load_word,
    number_at,
    place,
    value_at,
)

QUERY = np.uint64(int.from_bytes(b"qid:", "little"))

LARGEST = 2**31 - 1  # columns are numbered below this

# Where the parser stands and what it found: the slots of its table.
VERDICT, FAULT, POSITION, END, LINE, ROWS, NONZEROS, SLOW, WIDTH, DISORDER, BASE, LABELLED, BUFFER = range(13)
OUT = BUFFER + 2  # an address and a size for each array
SLOTS = OUT + 15
NO_QUERY = -(2**63)

# Verdicts. After all but the first the table says how things stood before the line at fault, and where the FAULT is.
BAD_LABEL, BAD_INDEX, SLOW_FULL = 1, 2, 4


class Out(NamedTuple):
    """Where the rows go: offsets, columns, values, labels, line numbers, query numbers (NO_QUERY where there is none),
    and the numbers and words that Python must read.

    `slow` holds rows of (where, first, last): value number `where` (or label number -1 - where) is text[first:last].
    """

    indptr: np.ndarray
    idx: np.ndarray
    val: np.ndarray
    y: np.ndarray
    lines: np.ndarray
    query: np.ndarray
    slow: np.ndarray


def room(size: int, rows: int, slow: int) -> Out:
    """Arrays that no text of this size can overfill: a value takes at least four bytes, as in "1:1 "."""
    values = size // 4 + 2
    return Out(
        np.zeros(rows + 1, np.int64),
        np.empty(values, np.int32),
        np.empty(values),
        np.empty(rows),
        np.empty(rows, np.int64),
        np.empty(rows, np.int64),
        np.empty((slow, 3), np.int64),
    )


# ---- lines ----------------------------------------------------------------------------------------------------------


def after_word(buffer: Any, i: Any) -> Any:
    """Where a word ends: before a blank, a colon, a comment or the end of the line."""
    while not (closes(byte_at(buffer, i)) or byte_at(buffer, i) == COLON):
        i += 1
    return i


def query_at(buffer: Any, i: Any, end: Any) -> Any:
    """The number of the query `qid:3` that ends there."""
    at = i + 4
    negative = byte_at(buffer, at) == MINUS
    if negative:
        at += 1
    number = NOTHING
    while at < end:
        number = number * TEN + np.uint64(byte_at(buffer, at) - ZERO)
        at += 1
    return -np.int64(number) if negative else np.int64(number)


def after_query(buffer: Any, i: Any) -> Any:
    """Where a query's number `qid:3` ends; i if there is none."""
    if load_word(buffer, i) & LOW_HALF != QUERY:
        return i
    at = i + 4
    if byte_at(buffer, at) == MINUS:
        at += 1
    first = at
    while ZERO <= byte_at(buffer, at) <= NINE:
        at += 1
    return at if at > first and closes(byte_at(buffer, at)) else i


def index_at(buffer: Any, i: Any) -> Any:
    """Where the whole number at i ends and its value; it stops short of digits that would lead beyond LARGEST."""
    count, value = digits_at(buffer, i)
    at, index = i + count, np.int64(value)
    if count == 8:
        while ZERO <= byte_at(buffer, at) <= NINE and index <= LARGEST:
            index = index * 10 + np.int64(byte_at(buffer, at)) - ZERO
            at += 1
    return at, index


def kept_for_python(table: Any, out: Any, where: Any, first: Any, last: Any) -> Any:
    """Note a number that Python must read; FINE, or SLOW_FULL if there is no room."""
    n = table[SLOW]
    if n >= out.slow.shape[0]:
        return SLOW_FULL
    out.slow[n, 0] = where
    out.slow[n, 1] = first
    out.slow[n, 2] = last
    table[SLOW] = n + 1
    return FINE


def label_at(buffer: Any, i: Any, table: Any, out: Any, row: Any) -> Any:
    """The label of a row: the verdict and where it ends. In rows to be predicted there may be none."""
    verdict, end, label = number_at(buffer, i, BAD_LABEL)
    if verdict == NEEDS_PYTHON:
        verdict = kept_for_python(table, out, -1 - row, i, end)
    elif verdict == BAD_LABEL:
        at, _ = index_at(buffer, i)
        if (at > i and byte_at(buffer, at) == COLON) or after_query(buffer, i) > i:
            if table[LABELLED] == 0:
                verdict, end, label = FINE, i, np.nan
        else:
            at = after_word(buffer, i)
            if byte_at(buffer, at) != COLON:
                verdict, end = kept_for_python(table, out, -1 - row, i, at), at
    out.y[row] = label
    return verdict, end


def features_at(buffer: Any, i: Any, table: Any, out: Any, k: Any, row: Any) -> Any:
    """The features of a row, from value number k on: the verdict, where it ends (or what is wrong), the next k."""
    base, previous, width, disorder = table[BASE], -1, table[WIDTH], table[DISORDER]
    while True:
        at, index = index_at(buffer, i)
        column = index - base
        if at == i or byte_at(buffer, at) != COLON or column < 0 or column >= LARGEST:
            at = after_blanks(buffer, i)
            if byte_at(buffer, at) == NEWLINE or byte_at(buffer, at) == HASH:
                i = at
                break
            if at == i:
                at = after_query(buffer, i)
                if at == i:
                    return BAD_INDEX, i, k
                out.query[row] = query_at(buffer, i, at)
            i = at
            continue
        verdict, end, value = value_at(buffer, at + 1)
        if verdict == NEEDS_PYTHON:
            verdict = kept_for_python(table, out, k, at + 1, end)
        if verdict != FINE:
            return verdict, i, k
        if column <= previous:
            disorder = 1
        previous = column
        width = max(width, column + 1)
        out.idx[place(k)] = column
        out.val[place(k)] = value
        k += 1
        i = end
        if byte_at(buffer, i) == NEWLINE or byte_at(buffer, i) == HASH:
            break
        i += 1  # whatever else closes a number is a blank; to ask which one would be waited for
    table[WIDTH], table[DISORDER] = width, disorder
    return FINE, i, k


def parse_lines(buffer: Any, out: Any, table: Any) -> None:
    """Rows from the lines between POSITION and END, after those that are there, until there is no room for more."""
    i, end, line, row, k = table[POSITION], table[END], table[LINE], table[ROWS], table[NONZEROS]
    verdict = FINE
    while i < end and row < out.y.size:
        at = after_blanks(buffer, i)
        if byte_at(buffer, at) != NEWLINE and byte_at(buffer, at) != HASH:
            slow = table[SLOW]
            out.query[row] = NO_QUERY
            verdict, at = label_at(buffer, at, table, out, row)
            following = k
            if verdict == FINE:
                verdict, at, following = features_at(buffer, at, table, out, k, row)
            if verdict != FINE:
                table[SLOW], table[FAULT] = slow, at
                break
            k = following
            out.lines[row] = line
            row += 1
            out.indptr[row] = k
        i = after_line(buffer, at)
        line += 1
    table[VERDICT], table[POSITION], table[LINE], table[ROWS], table[NONZEROS] = verdict, i, line, row, k


# ---- compiled -------------------------------------------------------------------------------------------------------


read_buffer = read_out = unbound


def libsvm(table: Any) -> int:
    """`parse_lines` on what the table holds."""
    parse_lines(read_buffer(table), read_out(table), table)
    return 0
