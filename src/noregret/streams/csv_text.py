"""The compiled CSV parser, for large tables without quotes: plain Python that is also compiled.

`parse_table` stops at the first row it cannot read: a cell that is not a number, or a wrong number of cells. Slower
readers then parse the whole block. When compiled, ENDS replaces the functions that say where a number may end.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.jit.compiled import unbound
from noregret.streams.number_text import (
    BAD_VALUE,
    BLANK,
    EVEN_PAIRS,
    FINE,
    HALF,
    HIGH_HALVES,
    MINUS,
    NEWLINE,
    ODD_PAIRS,
    PAIRS,
    POINT,
    RETURN,
    SCALES,
    SIXES,
    SIXTEEN,
    TAB,
    TEN,
    ZEROS,
    Buffer,
    Integer,
    Slots,
    byte_at,
    load_word,
    read_number,
    read_usual_number,
    trailing_zeros,
    unsigned,
)

QUOTE, COMMA, SEMICOLON, BAR = 34, 44, 59, 124
# The slots of the parser's table: inputs, results, then the addresses of arrays.
END, DELIMITER, COUNT_ONLY, ROWS, UNSUPPORTED, BUFFER = range(6)
OUT = BUFFER + 2
SLOTS = OUT + 10


class Out(NamedTuple):
    """The output arrays: which columns are numeric, their numbers row by row, and the bytes of the text columns."""

    numeric: NDArray[np.int8]
    val: NDArray[np.float64]
    text: NDArray[np.uint8]  # one row per text column, as long as the block
    ends: NDArray[np.int32]  # one row per text column: where each cell ends, after a 0


def allocate(numeric: NDArray[np.int8], size: int, rows: int) -> Out:
    """Allocate arrays large enough for a block of so many bytes and rows."""
    words = int(np.count_nonzero(numeric == 0))
    return Out(
        numeric,
        np.empty(rows * (numeric.size - words)),
        np.empty((words, size), np.uint8),
        np.zeros((words, rows + 1), np.int32),
    )


def ends_number(byte: int) -> Any:
    """Return whether a number may end before this byte."""
    return byte in (COMMA, NEWLINE, SEMICOLON, TAB, BAR, RETURN, BLANK)


def usually_ends_number(byte: int) -> Any:
    """Return whether this is one of the bytes that usually follow a number."""
    return byte in (COMMA, NEWLINE, SEMICOLON, TAB, BAR)


ENDS = {"ends_number": ends_number, "usually_ends_number": usually_ends_number}
read_buffer = read_out = unbound


def skip_spaces(buffer: Buffer, i: int) -> Any:
    """Return the position behind spaces."""
    while byte_at(buffer, i) == BLANK:
        i += 1
    return i


ONES, HIGHS = (np.uint64(0x0101010101010101 * byte) for byte in (0x01, 0x80))
NEWLINES, QUOTES, POINTS = (np.uint64(0x0101010101010101 * byte) for byte in (NEWLINE, QUOTE, POINT))
EVEN_BYTES, PAIR_SUMS = np.uint64(0x00FF00FF00FF00FF), np.uint64(0x0001000100010001)
ONE, SEVEN, EIGHT, LAST_PAIR, NOTHING = (np.uint64(number) for number in (1, 7, 8, 48, 0))


def read_brief_number(buffer: Buffer, i: int) -> Any:
    """Read a number of at most eight bytes after its sign; return whether there is one, where it ends, its value.

    There is no branch on the form of the number, which the processor could not predict: the digits on both sides of
    the decimal point are moved together and read at once. Bytes behind the number do not matter.
    """
    first, later = load_word(buffer, i), load_word(buffer, i + 1)
    negative = byte_at(buffer, i) == MINUS
    word = later if negative else first
    word, other = word ^ ZEROS, word ^ POINTS
    points = (other - ONES) & ~other & HIGHS
    point = points & (~points + ONE)  # the high bit of the first decimal point
    others = ((word + SIXES) | word) & HIGH_HALVES & ~((point << ONE) - (point >> SEVEN))
    size, before = trailing_zeros(others) >> 3, trailing_zeros(point) >> 3
    decimals = max(size - before, 1) - 1
    count = size - 1 if before < size else size
    end = i + size + 1 if negative else i + size
    if count == 0 or not usually_ends_number(byte_at(buffer, end)):
        return False, i, 0.0
    low = (point >> SEVEN) - ONE
    word = ((word & low) | ((word >> EIGHT) & ~low)) << np.uint64(64 - 8 * count)
    word = word * TEN + (word >> EIGHT)
    word = (word & PAIRS) * ODD_PAIRS + ((word >> SIXTEEN) & PAIRS) * EVEN_PAIRS
    value = np.float64(np.int64(word >> HALF)) / SCALES[unsigned(decimals)]
    return True, end, -value if negative else value


def read_number_cell(buffer: Buffer, i: int) -> Any:
    """Read the number in a cell, NaN if it is empty; return whether it is one, where the cell ends, its value."""
    fine, end, value = read_brief_number(buffer, i)
    if fine:
        return True, end, value
    status, end, value = read_usual_number(buffer, i)
    if status == FINE:
        return True, end, value
    i = skip_spaces(buffer, i)
    byte = byte_at(buffer, i)
    if ends_number(byte) or usually_ends_number(byte):
        return True, i, np.nan
    status, end, value = read_number(buffer, i, BAD_VALUE)
    return status == FINE, skip_spaces(buffer, end), value


def read_text_cell(buffer: Buffer, i: int, delimiter: int, text: Buffer, at: Integer) -> Any:
    """Copy the cell at i to position `at` of the text; return where both end."""
    byte = byte_at(buffer, i)
    while byte != delimiter and byte != NEWLINE and byte != RETURN:
        text[unsigned(at)] = byte
        at += 1
        i += 1
        byte = byte_at(buffer, i)
    return i, at


def parse_row(buffer: Buffer, i: int, out: Out, row: int, delimiter: int) -> Any:
    """Parse the row at i; return where the next row begins, or -1 if this one cannot be read."""
    columns, words = out.numeric.size, out.text.shape[0]
    v, w = row * (columns - words), 0
    for column in range(columns):
        if out.numeric[column] != 0:
            fine, i, value = read_number_cell(buffer, i)
            if not fine:
                return -1
            out.val[v] = value
            v += 1
        else:
            i, end = read_text_cell(buffer, i, delimiter, out.text[w], np.int64(out.ends[w, row]))
            out.ends[w, row + 1] = end
            w += 1
        if column + 1 < columns:
            if byte_at(buffer, i) != delimiter:
                return -1
            i += 1
    if byte_at(buffer, i) == RETURN:
        i += 1
    return i + 1 if byte_at(buffer, i) == NEWLINE else -1


def parse_table(buffer: Buffer, out: Out, table: Slots) -> None:
    """Parse rows up to the first that cannot be read."""
    i, row, end = 0, 0, table[END]
    while 0 <= i < end:
        i = parse_row(buffer, i, out, row, table[DELIMITER])
        if i >= 0:
            row += 1
    table[ROWS] = row


WORDS = 255  # words counted at a time: each byte of `counts` counts up to 255


def zero_bytes(word: np.uint64) -> Any:
    """Return a word with the high bit set in every byte that is zero."""
    return ~(((word & ~HIGHS) + ~HIGHS) | word) & HIGHS


def count_lines(buffer: Buffer, table: Slots) -> None:
    """Count the lines, and find out whether there is a zero byte or a quote; handles eight bytes at a time."""
    lines, unsupported, i, end = 0, NOTHING, 0, table[END]
    while i + 8 <= end:
        counts, stop = NOTHING, min(i + 8 * WORDS, end - 7)
        for at in range(i, stop, 8):
            word = load_word(buffer, at)
            counts += zero_bytes(word ^ NEWLINES) >> SEVEN
            unsupported |= zero_bytes(word) | zero_bytes(word ^ QUOTES)
        pairs = (counts & EVEN_BYTES) + ((counts >> EIGHT) & EVEN_BYTES)
        lines += int((pairs * PAIR_SUMS) >> LAST_PAIR)
        i += 8 * ((stop - i + 7) // 8)
    for at in range(i, end):
        lines += 1 if byte_at(buffer, at) == NEWLINE else 0
        unsupported |= ONES if byte_at(buffer, at) == QUOTE or byte_at(buffer, at) == 0 else NOTHING
    if end > 0 and byte_at(buffer, end - 1) != NEWLINE:
        lines += 1
    table[ROWS], table[UNSUPPORTED] = lines, 1 if unsupported != NOTHING else 0


def csv(table: Slots) -> int:
    """Count the lines of the text in the table, or parse them."""
    if table[COUNT_ONLY] != 0:
        count_lines(read_buffer(table), table)
    else:
        parse_table(read_buffer(table), read_out(table), table)
    return 0
