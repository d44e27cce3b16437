"""Texts in a buffer of bytes and their hashes: plain Python that is also compiled.

Unsigned 64-bit integers are written as such, because they are meant to wrap around; positions are plain integers.
"""

from typing import Any, NamedTuple

import numpy as np

from noregret.streams.number_text import BLANK, COLON, HALF, Buffer, Integer, byte_at, load_word, unsigned

BAR = 124
AT_ONCE = 16  # bytes compared in one vector instruction
MASKS = np.array([(1 << 8 * count) - 1 for count in range(9)], np.uint64)
# Masks for the first and second word of a text of so many bytes.
FIRST = np.array([MASKS[min(count, 8)] for count in range(AT_ONCE + 1)], np.uint64)
SECOND = np.array([MASKS[max(count - 8, 0)] for count in range(AT_ONCE + 1)], np.uint64)
SPREAD, STIR, FOLD = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93), np.uint64(29)


def bytes_before(buffer: Buffer, i: int, least: int, one: int, other: int) -> Any:
    """Count how many of sixteen bytes come before the first that is at most `least`, or equal to one of two others.

    Replaced by a vector comparison when compiled.
    """
    count = 0
    while count < AT_ONCE and byte_at(buffer, i + count) > least and byte_at(buffer, i + count) not in (one, other):
        count += 1
    return count


def count_plain_bytes(buffer: Buffer, i: int) -> Any:
    """Count how many of sixteen bytes come before the first control character, blank, colon or bar."""
    return bytes_before(buffer, i, BLANK, COLON, BAR)


def mix_hash(hashed: np.uint64, word: np.uint64) -> Any:
    """Mix eight more bytes into a hash."""
    hashed = (hashed ^ word) * SPREAD
    return hashed ^ (hashed >> FOLD)


def finish_hash(hashed: np.uint64, length: Integer) -> Any:
    """Mix the length into a hash."""
    hashed = (hashed ^ np.uint64(length)) * STIR
    return hashed ^ (hashed >> HALF)


def seed(space: np.uint64) -> Any:
    """Return the start value of hashes in a namespace: the same text in two namespaces is two names."""
    return mix_hash(space, STIR)


def start_hash(seed_hash: np.uint64, first: np.uint64, second: np.uint64) -> Any:
    """Hash the first two words of a text."""
    return mix_hash(seed_hash, first) + second * STIR


def word_count(length: Integer) -> Any:
    """Return how many eight-byte words hold a text; the last one always has a spare byte."""
    return max((length >> 3) + 1, 2)


class Text(NamedTuple):
    """A text: its first and last position, its namespace, its first two words, and its hash."""

    first: Any
    last: Any
    space: Any
    one: Any
    two: Any
    hashed: Any


def read_text(buffer: Buffer, i: int, space: np.uint64, seed_hash: np.uint64) -> Any:
    """Read the text at i, up to the next control character, blank, colon or bar.

    Two words are always loaded: testing whether the text ends in the first one would be a branch hard to predict.
    """
    count = count_plain_bytes(buffer, i)
    one, two = load_word(buffer, i) & FIRST[unsigned(count)], load_word(buffer, i + 8) & SECOND[unsigned(count)]
    at, hashed = i + count, start_hash(seed_hash, one, two)
    while count == AT_ONCE:
        count = count_plain_bytes(buffer, at)
        hashed = mix_hash(hashed, load_word(buffer, at) & FIRST[unsigned(count)])
        if count >= 8:
            hashed = mix_hash(hashed, load_word(buffer, at + 8) & SECOND[unsigned(count)])
        at += count
    return Text(i, at, space, one, two, finish_hash(hashed, at - i))


def load_masked(buffer: Buffer, at: Integer, last: Integer) -> Any:
    """Load eight bytes, with zeros from position `last` on."""
    return load_word(buffer, at) & MASKS[unsigned(max(min(last - at, 8), 0))]


def hash_text(buffer: Buffer, first: Integer, last: Integer, space: np.uint64) -> Any:
    """Hash a text with a known end; it may contain a colon."""
    one, two = load_masked(buffer, first, last), load_masked(buffer, first + 8, last)
    hashed = start_hash(seed(space), one, two)
    for word in range(2, word_count(last - first)):
        hashed = mix_hash(hashed, load_masked(buffer, first + 8 * word, last))
    return Text(first, last, space, one, two, finish_hash(hashed, last - first))


def skip_text(buffer: Buffer, i: int) -> Any:
    """Return the position of the next control character, blank, colon or bar."""
    count = AT_ONCE
    while count == AT_ONCE:
        count = count_plain_bytes(buffer, i)
        i += count
    return i
