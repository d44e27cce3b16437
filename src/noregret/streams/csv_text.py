"""The text of the quick reader of tables, for blocks in which all is well and nothing is quoted.

`parse_table` stops at the first surprise, a cell that is no number or a row of another length, and leaves the block to
those who can say what it is. Numbers are read by the text of the libsvm reader; what may follow a number is another
matter here, so when this text is compiled ENDS stands for the functions of those names there.
"""

from typing import Any, NamedTuple

import numpy as np

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
    byte_at,
    load_word,
    number_at,
    place,
    trailing_zeros,
    usual_number,
)

QUOTE, COMMA, SEMICOLON, BAR = 34, 44, 59, 124
# The slots of the table: what is given; what was found; and, from two of them on, addresses.
END, DELIMITER, LOOKS, ROWS, STRANGE, BUFFER = range(6)
OUT = BUFFER + 2
SLOTS = OUT + 10


class Out(NamedTuple):
    """Where the cells go: which columns hold numbers; the numbers, row by row; the text, and where each cell ends."""

    numeric: np.ndarray
    val: np.ndarray
    text: np.ndarray  # column by column, as many bytes for each as the block has
    ends: np.ndarray  # column by column, one more than there are rows


def room(numeric: np.ndarray, size: int, rows: int) -> Out:
    """Arrays that a block of so many bytes and rows cannot overfill."""
    words = int(np.count_nonzero(numeric == 0))
    return Out(
        numeric,
        np.empty(rows * (numeric.size - words)),
        np.empty((words, size), np.uint8),
        np.zeros((words, rows + 1), np.int32),
    )


def closes(byte: Any) -> Any:
    """Whether a number may end before this byte."""
    return byte in (COMMA, NEWLINE, SEMICOLON, TAB, BAR, RETURN, BLANK)


def usually_closes(byte: Any) -> Any:
    return byte in (COMMA, NEWLINE, SEMICOLON, TAB, BAR)


ENDS = {"closes": closes, "usually_closes": usually_closes}
read_buffer = read_out = unbound


def after_spaces(buffer: Any, i: Any) -> Any:
    while byte_at(buffer, i) == BLANK:
        i += 1
    return i


ONES, HIGHS = (np.uint64(0x0101010101010101 * byte) for byte in (0x01, 0x80))
NEWLINES, QUOTES, POINTS = (np.uint64(0x0101010101010101 * byte) for byte in (NEWLINE, QUOTE, POINT))
EVEN_BYTES, PAIR_SUMS = np.uint64(0x00FF00FF00FF00FF), np.uint64(0x0001000100010001)
ONE, SEVEN, EIGHT, LAST_PAIR, NOTHING = (np.uint64(number) for number in (1, 7, 8, 48, 0))


def brief_number(buffer: Any, i: Any) -> Any:
    """A number of at most eight bytes after its sign: whether there is one, where it ends, its value.

    Its form decides nothing here, because the processor could not guess it: the digits on both sides of the point, if
    there is one, are moved together and read at once. A byte beyond the end may be taken for something it is not.
    """
    first, later = load_word(buffer, i), load_word(buffer, i + 1)
    negative = byte_at(buffer, i) == MINUS
    word = later if negative else first
    word, other = word ^ ZEROS, word ^ POINTS
    points = (other - ONES) & ~other & HIGHS
    point = points & (~points + ONE)  # the high bit of the first one
    others = ((word + SIXES) | word) & HIGH_HALVES & ~((point << ONE) - (point >> SEVEN))
    size, before = trailing_zeros(others) >> 3, trailing_zeros(point) >> 3
    decimals = max(size - before, 1) - 1
    count = size - 1 if before < size else size
    end = i + size + 1 if negative else i + size
    if count == 0 or not usually_closes(byte_at(buffer, end)):
        return False, i, 0.0
    low = (point >> SEVEN) - ONE
    word = ((word & low) | ((word >> EIGHT) & ~low)) << np.uint64(64 - 8 * count)
    word = word * TEN + (word >> EIGHT)
    word = (word & PAIRS) * ODD_PAIRS + ((word >> SIXTEEN) & PAIRS) * EVEN_PAIRS
    value = np.float64(np.int64(word >> HALF)) / SCALES[place(decimals)]
    return True, end, -value if negative else value


def number_cell(buffer: Any, i: Any) -> Any:
    """The number in the cell at i, nan where the cell is empty: whether it is one, where the cell ends, its value."""
    fine, end, value = brief_number(buffer, i)
    if fine:
        return True, end, value
    verdict, end, value = usual_number(buffer, i)
    if verdict == FINE:
        return True, end, value
    i = after_spaces(buffer, i)
    byte = byte_at(buffer, i)
    if closes(byte) or usually_closes(byte):
        return True, i, np.nan
    verdict, end, value = number_at(buffer, i, BAD_VALUE)
    return verdict == FINE, after_spaces(buffer, end), value


def text_cell(buffer: Any, i: Any, delimiter: Any, text: Any, at: Any) -> Any:
    """Copy the cell at i to where `at` says: the ends of both."""
    byte = byte_at(buffer, i)
    while byte != delimiter and byte != NEWLINE and byte != RETURN:
        text[place(at)] = byte
        at += 1
        i += 1
        byte = byte_at(buffer, i)
    return i, at


def parse_row(buffer: Any, i: Any, out: Any, row: Any, delimiter: Any) -> Any:
    """The cells of the row at i: where the next row begins, or -1 where this one is not as it should be."""
    columns, words = out.numeric.size, out.text.shape[0]
    v, w = row * (columns - words), 0
    for column in range(columns):
        if out.numeric[column] != 0:
            fine, i, value = number_cell(buffer, i)
            if not fine:
                return -1
            out.val[v] = value
            v += 1
        else:
            i, end = text_cell(buffer, i, delimiter, out.text[w], np.int64(out.ends[w, row]))
            out.ends[w, row + 1] = end
            w += 1
        if column + 1 < columns:
            if byte_at(buffer, i) != delimiter:
                return -1
            i += 1
    if byte_at(buffer, i) == RETURN:
        i += 1
    return i + 1 if byte_at(buffer, i) == NEWLINE else -1


def parse_table(buffer: Any, out: Any, table: Any) -> None:
    """Rows as long as they are as they should be."""
    i, row, end = 0, 0, table[END]
    while 0 <= i < end:
        i = parse_row(buffer, i, out, row, table[DELIMITER])
        if i >= 0:
            row += 1
    table[ROWS] = row


WORDS = 255  # as many as a byte can count


def zero_bytes(word: Any) -> Any:
    """The high bit of every byte that is zero."""
    return ~(((word & ~HIGHS) + ~HIGHS) | word) & HIGHS


def look(buffer: Any, table: Any) -> None:
    """Count the lines, and note whether there is a zero byte or a quote: eight bytes at a time."""
    lines, strange, i, end = 0, NOTHING, 0, table[END]
    while i + 8 <= end:
        counts, stop = NOTHING, min(i + 8 * WORDS, end - 7)
        for at in range(i, stop, 8):
            word = load_word(buffer, at)
            counts += zero_bytes(word ^ NEWLINES) >> SEVEN
            strange |= zero_bytes(word) | zero_bytes(word ^ QUOTES)
        pairs = (counts & EVEN_BYTES) + ((counts >> EIGHT) & EVEN_BYTES)
        lines += int((pairs * PAIR_SUMS) >> LAST_PAIR)
        i += 8 * ((stop - i + 7) // 8)
    for at in range(i, end):
        lines += 1 if byte_at(buffer, at) == NEWLINE else 0
        strange |= ONES if byte_at(buffer, at) == QUOTE or byte_at(buffer, at) == 0 else NOTHING
    if end > 0 and byte_at(buffer, end - 1) != NEWLINE:
        lines += 1
    table[ROWS], table[STRANGE] = lines, 1 if strange != NOTHING else 0


def csv(table: Any) -> int:
    """Look at the text that the table holds, or read it."""
    if table[LOOKS] != 0:
        look(read_buffer(table), table)
    else:
        parse_table(read_buffer(table), read_out(table), table)
    return 0
