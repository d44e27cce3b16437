"""Decimal numbers in a buffer of bytes: plain Python that is also compiled, at several hundred MB/s.

The last byte of the text must be a newline, where every scan stops.

Unsigned 64-bit integers are written as such, because they are meant to wrap around; positions are plain integers.
`load_word`, `trailing_zeros` and `fused` are replaced by machine instructions when compiled. A format may replace
`closes` and `usually_closes`, which say where a number may end.
"""

import struct
from fractions import Fraction
from typing import Any

import numpy as np

TAB, NEWLINE, RETURN, BLANK, HASH, PLUS, MINUS, POINT, ZERO, NINE, COLON = 9, 10, 13, 32, 35, 43, 45, 46, 48, 57, 58
LOWER_CASE = 32  # the bit that makes a capital letter a small one
LETTER_E = 101
PAD = 16  # bytes that must be there behind the last line, whatever they are: words are read from any place on

FINE, BAD_VALUE, NEEDS_PYTHON = 0, 3, 5  # what reading a number can result in; formats add codes of their own

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
