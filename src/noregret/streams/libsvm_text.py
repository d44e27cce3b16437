"""The text of the libsvm reader: plain Python that runs as it stands, slowly, and compiled at the speed of the disk.

    label [qid:number] index:value index:value ... [# comment]

`parse_lines` turns whole lines into rows. It believes nothing of the bytes it is given: every scan stops at a newline,
the last byte of the last line is one, and a row that is not right is not there afterwards.

Integers of 64 unsigned bits are written as such, because they are meant to lose what overflows; positions are plain.
The functions of the machine (`load_word`, `trailing_zeros`, `fused`) are replaced by instructions where it is compiled.
"""

import struct
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from noregret.jit.compiled import unbound

TAB, NEWLINE, RETURN, BLANK, HASH, PLUS, MINUS, POINT, ZERO, NINE, COLON = 9, 10, 13, 32, 35, 43, 45, 46, 48, 57, 58
LOWER_CASE = 32  # the bit that makes a capital letter a small one
LETTER_E = 101
QUERY = np.uint64(int.from_bytes(b"qid:", "little"))

PAD = 16  # bytes that must be there behind the last line, whatever they are: words are read from any place on
LARGEST = 2**31 - 1  # columns are numbered below this

# Where the parser stands and what it found: the slots of its table.
VERDICT, FAULT, POSITION, END, LINE, ROWS, NONZEROS, SLOW, WIDTH, DISORDER, BASE, LABELLED, BUFFER = range(13)
OUT = BUFFER + 2  # an address and a size for each array
SLOTS = OUT + 15
NO_QUERY = -(2**63)

# Verdicts. After all but the first the table says how things stood before the line at fault, and where the FAULT is.
FINE, BAD_LABEL, BAD_INDEX, BAD_VALUE, SLOW_FULL, NEEDS_PYTHON = range(6)


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


# ---- what a machine has an instruction for --------------------------------------------------------------------------


def load_word(buffer: Any, i: Any) -> Any:
    """The eight bytes from i on, the first one lowest."""
    return np.uint64(struct.unpack_from("<Q", buffer, i)[0])


def trailing_zeros(word: Any) -> Any:
    """How many zero bits a word ends in; 64 for zero."""
    bits = int(word)
    return (bits & -bits).bit_length() - 1 if bits else 64


def fused(a: Any, b: Any, c: Any) -> Any:
    """a * b + c, rounded once."""
    return float(Fraction(a) * Fraction(b) + Fraction(c))


def place(i: Any) -> Any:
    """A place that is known not to be negative: compiled code need not look whether it counts from the end."""
    return np.uint64(i)


def byte_at(buffer: Any, i: Any) -> Any:
    return buffer[place(i)]


# ---- numbers --------------------------------------------------------------------------------------------------------

ZEROS, SIXES, HIGH_HALVES = (np.uint64(0x0101010101010101 * byte) for byte in (0x30, 0x06, 0xF0))
EIGHT, SIXTEEN, HALF, TEN = np.uint64(8), np.uint64(16), np.uint64(32), np.uint64(10)
PAIRS, LOW_HALF = np.uint64(0x000000FF000000FF), np.uint64(0xFFFFFFFF)
ODD_PAIRS, EVEN_PAIRS = np.uint64(100 + (1000000 << 32)), np.uint64(1 + (10000 << 32))

DIGITS = 19  # as many decimal digits as always fit a word
POWERS = np.array([10**k for k in range(DIGITS + 1)], np.uint64)
EXACT_POWERS = 22  # the largest power of ten that a float holds exactly
SCALES = np.array([10.0**k for k in range(EXACT_POWERS + 1)])
EXACT = np.uint64(2**53)  # up to here a float holds every whole number
LOW_BITS = np.uint64(11)
SLACK = 2.0**-40
FAR = 10**15  # an exponent beyond any that digits, at most a line of them, could make up for
NOTHING = np.uint64(0)
TWO_BYTES, ZERO_POINT = np.uint64(0xFFFF), np.uint64(int.from_bytes(b"0.", "little"))


def digits_at(buffer: Any, i: Any) -> Any:
    """How many digits stand at i, eight at the most, and the number they write: all eight bytes at once.

    A byte less "0" is a digit if its high half is empty, and still is after adding 6. The digits are moved to the
    high end of the word, so that zeros stand before them; then neighbours are joined to pairs (10 a + b), and the four
    pairs weighed by two multiplications.
    """
    word = load_word(buffer, i) ^ ZEROS
    count = trailing_zeros(((word + SIXES) | word) & HIGH_HALVES) >> 3
    half_way = np.uint64(32 - 4 * count)  # a shift by 64 at once is not defined
    word = (word << half_way) << half_way
    word = word * TEN + (word >> EIGHT)
    word = (word & PAIRS) * ODD_PAIRS + ((word >> SIXTEEN) & PAIRS) * EVEN_PAIRS
    return count, word >> HALF


def scaled(mantissa: Any, power: Any) -> Any:
    """FINE and mantissa * 10^power, rounded as float() rounds; or NEEDS_PYTHON where that is not certain.

    Up to 2^53 both factors are exact, so one operation rounds once. Larger mantissas are divided in two parts, high and
    low; the remainder of the first quotient is exact, and the correction made from it is off by far less than SLACK:
    if both ends of that range round to the same float, so does the true value.
    """
    if mantissa <= EXACT:
        if -EXACT_POWERS <= power <= 0:
            return FINE, np.float64(np.int64(mantissa)) / SCALES[place(-power)]
        if 0 < power <= EXACT_POWERS:
            return FINE, np.float64(np.int64(mantissa)) * SCALES[place(power)]
        return (FINE, 0.0) if mantissa == NOTHING else (NEEDS_PYTHON, 0.0)
    if power > 0 or power < -EXACT_POWERS:
        return NEEDS_PYTHON, 0.0
    high = (mantissa >> LOW_BITS) << LOW_BITS
    scale = SCALES[place(-power)]
    quotient = np.float64(high) / scale
    remainder = fused(-quotient, scale, np.float64(high))
    correction = (remainder + np.float64(mantissa - high)) / scale
    upper, lower = quotient + correction * (1.0 + SLACK), quotient + correction * (1.0 - SLACK)
    return (FINE, upper) if upper == lower else (NEEDS_PYTHON, 0.0)


def digit_run(buffer: Any, i: Any, mantissa: Any, digits: Any) -> Any:
    """All the digits at i appended to a mantissa: where they end, the mantissa, its number of digits.

    Leading zeros are no digits of a mantissa; one of more than DIGITS digits is not complete.
    """
    if digits == 0:
        while byte_at(buffer, i) == ZERO:
            i += 1
    count = 8
    while count == 8:
        count, value = digits_at(buffer, i)
        digits += count
        if digits <= DIGITS:
            mantissa = mantissa * POWERS[place(count)] + value
        i += count
    return i, mantissa, digits


def exponent_at(buffer: Any, i: Any) -> Any:
    """Where the exponent at the letter e ends and its value; the end is i where there are no digits."""
    at = i + 1
    negative = byte_at(buffer, at) == MINUS
    if negative or byte_at(buffer, at) == PLUS:
        at += 1
    first = at
    exponent = np.int64(0)
    while ZERO <= byte_at(buffer, at) <= NINE:
        if exponent < FAR:
            exponent = exponent * 10 + np.int64(byte_at(buffer, at)) - ZERO
        at += 1
    if at == first:
        at = i
    return at, -exponent if negative else exponent


def number_at(buffer: Any, i: Any, bad: Any) -> Any:
    """Any decimal number: its verdict (`bad` if it is none), where it ends, its value."""
    negative = byte_at(buffer, i) == MINUS
    if negative or byte_at(buffer, i) == PLUS:
        i += 1
    end, mantissa, digits = digit_run(buffer, i, NOTHING, 0)
    written = end - i
    power = 0
    if byte_at(buffer, end) == POINT:
        point = end
        end, mantissa, digits = digit_run(buffer, point + 1, mantissa, digits)
        power = point + 1 - end
        written -= power
    if written == 0:
        return bad, i, 0.0
    if byte_at(buffer, end) | LOWER_CASE == LETTER_E:
        at, exponent = exponent_at(buffer, end)
        if at == end:
            return bad, i, 0.0
        end = at
        power += exponent
    if not closes(byte_at(buffer, end)):
        return bad, i, 0.0
    if digits > DIGITS:
        return NEEDS_PYTHON, end, 0.0
    verdict, value = scaled(mantissa, power)
    return verdict, end, -value if negative else value


def value_at(buffer: Any, i: Any) -> Any:
    """As `number_at`; quicker for the usual forms, 1 or -2.5 or 0.0123456789."""
    verdict, end, value = usual_number(buffer, i)
    if verdict != FINE:
        verdict, end, value = number_at(buffer, i, BAD_VALUE)
    return verdict, end, value


def usual_number(buffer: Any, i: Any) -> Any:
    """A number of few digits, without exponent; of anything else it says NEEDS_PYTHON, unasked."""
    # Two calls, not one that starts after the sign: a branch is guessed, a sum would be waited for.
    if byte_at(buffer, i) == MINUS:
        verdict, end, value = short_number(buffer, i + 1)
        return verdict, end, -value
    return short_number(buffer, i)


def short_number(buffer: Any, i: Any) -> Any:
    """A number of few digits, without sign or exponent; of anything else it says NEEDS_PYTHON, unasked."""
    if load_word(buffer, i) & TWO_BYTES == ZERO_POINT:
        whole, mantissa, end = 0, NOTHING, i + 1
    else:
        whole, mantissa = digits_at(buffer, i)
        end = i + whole
        if whole == 0 or whole == 8:
            return NEEDS_PYTHON, i, 0.0
        if usually_closes(byte_at(buffer, end)):
            return FINE, end, np.float64(np.int64(mantissa))
        if byte_at(buffer, end) != POINT:
            return NEEDS_PYTHON, i, 0.0
    decimals, digits = digits_at(buffer, end + 1)
    mantissa = mantissa * POWERS[place(decimals)] + digits
    end += decimals + 1
    if decimals < 8:
        if usually_closes(byte_at(buffer, end)):
            return FINE, end, np.float64(np.int64(mantissa)) / SCALES[place(decimals)]
        return NEEDS_PYTHON, i, 0.0
    end, mantissa, decimals = more_decimals(buffer, end, mantissa)
    if whole + decimals <= DIGITS and usually_closes(byte_at(buffer, end)):
        verdict, value = scaled(mantissa, -decimals)
        return verdict, end, value
    return NEEDS_PYTHON, i, 0.0


def more_decimals(buffer: Any, i: Any, mantissa: Any) -> Any:
    """Up to 16 more after the first eight: where they end, the mantissa, how many there are in all."""
    count, digits = digits_at(buffer, i)
    mantissa = mantissa * POWERS[place(count)] + digits
    if count < 8:
        return i + count, mantissa, 8 + count
    count, digits = digits_at(buffer, i + 8)
    return i + 8 + count, mantissa * POWERS[place(count)] + digits, 16 + count


# ---- lines ----------------------------------------------------------------------------------------------------------


def closes(byte: Any) -> Any:
    """Whether a number may end before this byte."""
    return byte in (BLANK, NEWLINE, TAB, RETURN, HASH)


def usually_closes(byte: Any) -> Any:
    """Whether it is one of the two bytes that mostly stand there."""
    return byte in (BLANK, NEWLINE)


def after_blanks(buffer: Any, i: Any) -> Any:
    while byte_at(buffer, i) == BLANK or byte_at(buffer, i) == TAB or byte_at(buffer, i) == RETURN:
        i += 1
    return i


def after_line(buffer: Any, i: Any) -> Any:
    while byte_at(buffer, i) != NEWLINE:
        i += 1
    return i + 1


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
