"""Decimal numbers in a buffer of bytes: plain Python that is also compiled, at several hundred MB/s.

The last byte of the text must be a newline, where every scan stops.

Unsigned 64-bit integers are written as such, because they are meant to wrap around; positions are plain integers. When
compiled, `load_word`, `trailing_zeros` and `fused` become machine instructions, and a format may replace `ends_number`
and `usually_ends_number`, which say where a number may end.

Functions return (status, end, value): status FINE, or why there is no number; where the text of the number ends.
"""

import struct
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

Buffer = NDArray[np.uint8]
Integer = int | np.int64
Slots = NDArray[np.int64]  # the table of a compiled function: numbers, and addresses of arrays

TAB, NEWLINE, RETURN, BLANK, HASH, PLUS, MINUS, POINT, ZERO, NINE, COLON = 9, 10, 13, 32, 35, 43, 45, 46, 48, 57, 58
LOWER_CASE = 32  # the bit that turns an upper-case letter into a lower-case one
LETTER_E = 101
PAD = 16  # readable bytes behind the last line, with any content: eight bytes are loaded at a time

FINE, BAD_VALUE, NEEDS_PYTHON = 0, 3, 5  # what options a number can result in; formats add codes of their own

# ---- machine instructions -------------------------------------------------------------------------------------------


def load_word(buffer: Any, i: Integer) -> Any:
    """Load eight bytes as a little-endian integer."""
    return np.uint64(struct.unpack_from("<Q", buffer, int(i))[0])


def trailing_zeros(word: np.uint64) -> Any:
    """Count the zero bits at the low end of a word; 64 for zero."""
    bits = int(word)
    return (bits & -bits).bit_length() - 1 if bits else 64


def fused(a: float, b: float, c: float) -> Any:
    """Compute a * b + c with a single rounding."""
    return float(Fraction(a) * Fraction(b) + Fraction(c))


def unsigned(i: Any) -> Any:
    """Mark an index as not negative, so that compiled code does not test for indices that count from the end."""
    return np.uint64(i)


def byte_at(buffer: Buffer, i: int) -> Any:
    return buffer[unsigned(i)]


# ---- numbers --------------------------------------------------------------------------------------------------------

ZEROS, SIXES, HIGH_HALVES = (np.uint64(0x0101010101010101 * byte) for byte in (0x30, 0x06, 0xF0))
EIGHT, SIXTEEN, HALF, TEN = np.uint64(8), np.uint64(16), np.uint64(32), np.uint64(10)
PAIRS, LOW_HALF = np.uint64(0x000000FF000000FF), np.uint64(0xFFFFFFFF)
ODD_PAIRS, EVEN_PAIRS = np.uint64(100 + (1000000 << 32)), np.uint64(1 + (10000 << 32))

DIGITS = 19  # the number of decimal digits that always fit 64 bits
POWERS = np.array([10**k for k in range(DIGITS + 1)], np.uint64)
EXACT_POWERS = 22  # the largest power of ten that a float holds exactly
SCALES = np.array([10.0**k for k in range(EXACT_POWERS + 1)])
EXACT = np.uint64(2**53)  # up to here a float holds every integer
LOW_BITS = np.uint64(11)
SLACK = 2.0**-40
FAR = 10**15  # exponents are not read beyond this: no line has enough digits to compensate for it
NOTHING = np.uint64(0)
TWO_BYTES, ZERO_POINT = np.uint64(0xFFFF), np.uint64(int.from_bytes(b"0.", "little"))


def read_eight_digits(buffer: Buffer, i: int) -> Any:
    """Return how many digits there are at i, at most eight, and their value; handles all eight bytes at once.

    A byte minus "0" is a digit if its high half is zero, also after adding 6. The digits are shifted to the high end of
    the word, which puts zeros in front of them. Then neighbours are joined to pairs (10 a + b), and two multiplications
    add up the four pairs.
    """
    word = load_word(buffer, i) ^ ZEROS
    count = trailing_zeros(((word + SIXES) | word) & HIGH_HALVES) >> 3
    half_way = np.uint64(32 - 4 * count)  # in two steps, because a shift by 64 is not defined
    word = (word << half_way) << half_way
    word = word * TEN + (word >> EIGHT)
    word = (word & PAIRS) * ODD_PAIRS + ((word >> SIXTEEN) & PAIRS) * EVEN_PAIRS
    return count, word >> HALF


def scale_decimal(mantissa: np.uint64, power: int) -> Any:
    """Return FINE and mantissa * 10^power, rounded as float() rounds; NEEDS_PYTHON where that is not certain.

    Up to 2^53 both factors are exact, so that one operation rounds once. A larger mantissa is split into a high and a
    low part. The remainder of the quotient of the high part is exact, and the error of the correction computed from it
    is far below SLACK: if both ends of that range round to the same float, so does the exact value.
    """
    if mantissa <= EXACT:
        if -EXACT_POWERS <= power <= 0:
            return FINE, np.float64(np.int64(mantissa)) / SCALES[unsigned(-power)]
        if 0 < power <= EXACT_POWERS:
            return FINE, np.float64(np.int64(mantissa)) * SCALES[unsigned(power)]
        return (FINE, 0.0) if mantissa == NOTHING else (NEEDS_PYTHON, 0.0)
    if power > 0 or power < -EXACT_POWERS:
        return NEEDS_PYTHON, 0.0
    high = (mantissa >> LOW_BITS) << LOW_BITS
    scale = SCALES[unsigned(-power)]
    quotient = np.float64(high) / scale
    remainder = fused(-quotient, scale, np.float64(high))
    correction = (remainder + np.float64(mantissa - high)) / scale
    upper, lower = quotient + correction * (1.0 + SLACK), quotient + correction * (1.0 - SLACK)
    return (FINE, upper) if upper == lower else (NEEDS_PYTHON, 0.0)


def read_digits(buffer: Buffer, i: int, mantissa: np.uint64, digits: int) -> Any:
    """Append all digits at i to a mantissa; return where they end, the mantissa and its number of digits.

    Leading zeros do not count as digits. With more than DIGITS digits the mantissa is incomplete.
    """
    if digits == 0:
        while byte_at(buffer, i) == ZERO:
            i += 1
    count = 8
    while count == 8:
        count, value = read_eight_digits(buffer, i)
        digits += count
        if digits <= DIGITS:
            mantissa = mantissa * POWERS[unsigned(count)] + value
        i += count
    return i, mantissa, digits


def read_exponent(buffer: Buffer, i: int) -> Any:
    """Return where the exponent at the letter e ends, and its value; the end is i if there are no digits."""
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


def read_number(buffer: Buffer, i: int, bad: int) -> Any:
    """Read any decimal number; the status is `bad` if there is none."""
    negative = byte_at(buffer, i) == MINUS
    if negative or byte_at(buffer, i) == PLUS:
        i += 1
    end, mantissa, digits = read_digits(buffer, i, NOTHING, 0)
    digits_written = end - i
    power = 0
    if byte_at(buffer, end) == POINT:
        point = end
        end, mantissa, digits = read_digits(buffer, point + 1, mantissa, digits)
        power = point + 1 - end
        digits_written -= power
    if digits_written == 0:
        return bad, i, 0.0
    if byte_at(buffer, end) | LOWER_CASE == LETTER_E:
        at, exponent = read_exponent(buffer, end)
        if at == end:
            return bad, i, 0.0
        end = at
        power += exponent
    if not ends_number(byte_at(buffer, end)):
        return bad, i, 0.0
    if digits > DIGITS:
        return NEEDS_PYTHON, end, 0.0
    status, value = scale_decimal(mantissa, power)
    return status, end, -value if negative else value


def read_value(buffer: Buffer, i: int) -> Any:
    """Read any decimal number, with a fast path for the usual forms such as 1, -2.5 and 0.0123456789."""
    status, end, value = read_usual_number(buffer, i)
    if status != FINE:
        status, end, value = read_number(buffer, i, BAD_VALUE)
    return status, end, value


def read_usual_number(buffer: Buffer, i: int) -> Any:
    """Read a number of few digits without exponent; return NEEDS_PYTHON for anything else."""
    # Two calls instead of one that starts after the sign: a branch can be predicted, a sum must be waited for.
    if byte_at(buffer, i) == MINUS:
        status, end, value = read_short_number(buffer, i + 1)
        return status, end, -value
    return read_short_number(buffer, i)


def read_short_number(buffer: Buffer, i: int) -> Any:
    """Read a number of few digits without sign and exponent; return NEEDS_PYTHON for anything else."""
    if load_word(buffer, i) & TWO_BYTES == ZERO_POINT:
        whole, mantissa, end = 0, NOTHING, i + 1
    else:
        whole, mantissa = read_eight_digits(buffer, i)
        end = i + whole
        if whole == 0 or whole == 8:
            return NEEDS_PYTHON, i, 0.0
        if usually_ends_number(byte_at(buffer, end)):
            return FINE, end, np.float64(np.int64(mantissa))
        if byte_at(buffer, end) != POINT:
            return NEEDS_PYTHON, i, 0.0
    decimals, digits = read_eight_digits(buffer, end + 1)
    mantissa = mantissa * POWERS[unsigned(decimals)] + digits
    end += decimals + 1
    if decimals < 8:
        if usually_ends_number(byte_at(buffer, end)):
            return FINE, end, np.float64(np.int64(mantissa)) / SCALES[unsigned(decimals)]
        return NEEDS_PYTHON, i, 0.0
    end, mantissa, decimals = read_more_decimals(buffer, end, mantissa)
    if whole + decimals <= DIGITS and usually_ends_number(byte_at(buffer, end)):
        status, value = scale_decimal(mantissa, -decimals)
        return status, end, value
    return NEEDS_PYTHON, i, 0.0


def read_more_decimals(buffer: Buffer, i: int, mantissa: np.uint64) -> Any:
    """Read up to 16 decimals after the first eight; return where they end, the mantissa and the number of decimals."""
    count, digits = read_eight_digits(buffer, i)
    mantissa = mantissa * POWERS[unsigned(count)] + digits
    if count < 8:
        return i + count, mantissa, 8 + count
    count, digits = read_eight_digits(buffer, i + 8)
    return i + 8 + count, mantissa * POWERS[unsigned(count)] + digits, 16 + count


def ends_number(byte: int) -> Any:
    """Return whether a number may end before this byte."""
    return byte in (BLANK, NEWLINE, TAB, RETURN, HASH)


def usually_ends_number(byte: int) -> Any:
    """Return whether this is one of the bytes that usually follow a number."""
    return byte in (BLANK, NEWLINE)


def skip_blanks(buffer: Buffer, i: int) -> Any:
    """Return the position behind blanks, tabs and carriage returns."""
    while byte_at(buffer, i) == BLANK or byte_at(buffer, i) == TAB or byte_at(buffer, i) == RETURN:
        i += 1
    return i


def skip_line(buffer: Buffer, i: int) -> Any:
    """Return the position behind the end of the line."""
    while byte_at(buffer, i) != NEWLINE:
        i += 1
    return i + 1
