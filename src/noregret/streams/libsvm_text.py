"""The libsvm parser: plain Python that is also compiled.

    label [qid:number] index:value index:value ... [# comment]

`parse_lines` turns whole lines into rows. It is safe for any bytes: every scan stops at a newline, the last byte of the
last line is one, and nothing is kept of a line with a fault.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

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
    Buffer,
    Slots,
    byte_at,
    ends_number,
    load_word,
    read_eight_digits,
    read_number,
    read_value,
    skip_blanks,
    skip_line,
    unsigned,
)

QUERY = np.uint64(int.from_bytes(b"qid:", "little"))

LARGEST = 2**31 - 1  # column numbers are smaller than this

# The slots of the parser's table: its state and results.
STATUS, FAULT, POSITION, END, LINE, ROWS, NONZEROS, DEFERRED, WIDTH, UNSORTED, BASE, LABELLED, BUFFER = range(13)
OUT = BUFFER + 2  # two slots per array, an address and a size
SLOTS = OUT + 15
NO_QUERY = -(2**63)

# Status codes. After any but FINE the table holds the state before the faulty line, and the position of the FAULT.
BAD_LABEL, BAD_INDEX, DEFERRED_FULL = 1, 2, 4


class Out(NamedTuple):
    """The output arrays: rows in CSR form, labels, line numbers, query numbers (NO_QUERY if there is none).

    `deferred` lists the numbers and words that Python must read, as (where, first, last): value number `where`, or
    label number -1 - where, is text[first:last].
    """

    indptr: NDArray[np.int64]
    idx: NDArray[np.int32]
    val: NDArray[np.float64]
    y: NDArray[np.float64]
    lines: NDArray[np.int64]
    query: NDArray[np.int64]
    deferred: NDArray[np.int64]


def allocate(size: int, rows: int, deferred: int) -> Out:
    """Allocate arrays large enough for any text of this size: a value takes at least four bytes, as in "1:1 "."""
    values = size // 4 + 2
    return Out(
        np.zeros(rows + 1, np.int64),
        np.empty(values, np.int32),
        np.empty(values),
        np.empty(rows),
        np.empty(rows, np.int64),
        np.empty(rows, np.int64),
        np.empty((deferred, 3), np.int64),
    )


# ---- lines ----------------------------------------------------------------------------------------------------------


def skip_word(buffer: Buffer, i: int) -> Any:
    """Return where a word ends: before a blank, a colon, a comment or the end of the line."""
    while not (ends_number(byte_at(buffer, i)) or byte_at(buffer, i) == COLON):
        i += 1
    return i


def read_query(buffer: Buffer, i: int, end: int) -> Any:
    """Return the number of the query `qid:3` between i and end."""
    at = i + 4
    negative = byte_at(buffer, at) == MINUS
    if negative:
        at += 1
    number = NOTHING
    while at < end:
        number = number * TEN + np.uint64(byte_at(buffer, at) - ZERO)
        at += 1
    return -np.int64(number) if negative else np.int64(number)


def skip_query(buffer: Buffer, i: int) -> Any:
    """Return where the query `qid:3` ends; i if there is none."""
    if load_word(buffer, i) & LOW_HALF != QUERY:
        return i
    at = i + 4
    if byte_at(buffer, at) == MINUS:
        at += 1
    first = at
    while ZERO <= byte_at(buffer, at) <= NINE:
        at += 1
    return at if at > first and ends_number(byte_at(buffer, at)) else i


def read_index(buffer: Buffer, i: int) -> Any:
    """Return where the integer at i ends and its value; digits that would exceed LARGEST are not read."""
    count, value = read_eight_digits(buffer, i)
    at, index = i + count, np.int64(value)
    if count == 8:
        while ZERO <= byte_at(buffer, at) <= NINE and index <= LARGEST:
            index = index * 10 + np.int64(byte_at(buffer, at)) - ZERO
            at += 1
    return at, index


def defer_to_python(table: Slots, out: Out, where: int, first: int, last: int) -> Any:
    """Add a number to those that Python must read; return FINE, or DEFERRED_FULL if the list is full."""
    n = table[DEFERRED]
    if n >= out.deferred.shape[0]:
        return DEFERRED_FULL
    out.deferred[n, 0] = where
    out.deferred[n, 1] = first
    out.deferred[n, 2] = last
    table[DEFERRED] = n + 1
    return FINE


def read_label(buffer: Buffer, i: int, table: Slots, out: Out, row: int) -> Any:
    """Read the label of a row; return the status and where it ends. Rows to be predicted may lack one."""
    status, end, label = read_number(buffer, i, BAD_LABEL)
    if status == NEEDS_PYTHON:
        status = defer_to_python(table, out, -1 - row, i, end)
    elif status == BAD_LABEL:
        at, _ = read_index(buffer, i)
        if (at > i and byte_at(buffer, at) == COLON) or skip_query(buffer, i) > i:
            if table[LABELLED] == 0:
                status, end, label = FINE, i, np.nan
        else:
            at = skip_word(buffer, i)
            if byte_at(buffer, at) != COLON:
                status, end = defer_to_python(table, out, -1 - row, i, at), at
    out.y[row] = label
    return status, end


def read_features(buffer: Buffer, i: int, table: Slots, out: Out, k: int, row: int) -> Any:
    """Read the features of a row from value number k on; return the status, where it ends (or fails), the next k."""
    base, previous, width, unsorted = table[BASE], -1, table[WIDTH], table[UNSORTED]
    while True:
        at, index = read_index(buffer, i)
        column = index - base
        if at == i or byte_at(buffer, at) != COLON or column < 0 or column >= LARGEST:
            at = skip_blanks(buffer, i)
            if byte_at(buffer, at) == NEWLINE or byte_at(buffer, at) == HASH:
                i = at
                break
            if at == i:
                at = skip_query(buffer, i)
                if at == i:
                    return BAD_INDEX, i, k
                out.query[row] = read_query(buffer, i, at)
            i = at
            continue
        status, end, value = read_value(buffer, at + 1)
        if status == NEEDS_PYTHON:
            status = defer_to_python(table, out, k, at + 1, end)
        if status != FINE:
            return status, i, k
        if column <= previous:
            unsorted = 1
        previous = column
        width = max(width, column + 1)
        out.idx[unsigned(k)] = column
        out.val[unsigned(k)] = value
        k += 1
        i = end
        if byte_at(buffer, i) == NEWLINE or byte_at(buffer, i) == HASH:
            break
        i += 1  # anything else that ends a number is blank; testing which one would only cost time
    table[WIDTH], table[UNSORTED] = width, unsorted
    return FINE, i, k


def parse_lines(buffer: Buffer, out: Out, table: Slots) -> None:
    """Parse the lines between POSITION and END and append their rows, until all are done or the arrays are full."""
    i, end, line, row, k = table[POSITION], table[END], table[LINE], table[ROWS], table[NONZEROS]
    status = FINE
    while i < end and row < out.y.size:
        at = skip_blanks(buffer, i)
        if byte_at(buffer, at) != NEWLINE and byte_at(buffer, at) != HASH:
            deferred = table[DEFERRED]
            out.query[row] = NO_QUERY
            status, at = read_label(buffer, at, table, out, row)
            following = k
            if status == FINE:
                status, at, following = read_features(buffer, at, table, out, k, row)
            if status != FINE:
                table[DEFERRED], table[FAULT] = deferred, at
                break
            k = following
            out.lines[row] = line
            row += 1
            out.indptr[row] = k
        i = skip_line(buffer, at)
        line += 1
    table[STATUS], table[POSITION], table[LINE], table[ROWS], table[NONZEROS] = status, i, line, row, k


# ---- compiled -------------------------------------------------------------------------------------------------------


read_buffer = read_out = unbound


def libsvm(table: Slots) -> int:
    """Run `parse_lines` on the arrays in the table."""
    parse_lines(read_buffer(table), read_out(table), table)
    return 0
