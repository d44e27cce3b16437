"""Texts in a buffer of bytes, and their hashes: plain Python that is also compiled.

Integers of 64 unsigned bits are written as such, because they are meant to lose what overflows; positions are plain.
"""

from typing import Any, NamedTuple

import numpy as np

from noregret.streams.number_text import BLANK, COLON, HALF, byte_at, load_word, place

BAR = 124
AT_ONCE = 16  # bytes that are looked at together
MASKS = np.array([(1 << 8 * count) - 1 for count in range(9)], np.uint64)
# Of two words, what is left of each where so many bytes count.
FIRST = np.array([MASKS[min(count, 8)] for count in range(AT_ONCE + 1)], np.uint64)
SECOND = np.array([MASKS[max(count - 8, 0)] for count in range(AT_ONCE + 1)], np.uint64)
SPREAD, STIR, FOLD = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93), np.uint64(29)


def bytes_before(buffer: Any, i: Any, least: Any, one: Any, other: Any) -> Any:
    """How many of sixteen bytes stand before the first that is at most `least`, or one of two others; a machine
    compares all of them at once."""
    count = 0
    while count < AT_ONCE and byte_at(buffer, i + count) > least and byte_at(buffer, i + count) not in (one, other):
        count += 1
    return count


def plain_bytes(buffer: Any, i: Any) -> Any:
    """How many of sixteen bytes stand before the first control character, blank, colon or bar."""
    return bytes_before(buffer, i, BLANK, COLON, BAR)


def mixed(mix: Any, word: Any) -> Any:
    mix = (mix ^ word) * SPREAD
    return mix ^ (mix >> FOLD)


def finished(mix: Any, length: Any) -> Any:
    mix = (mix ^ np.uint64(length)) * STIR
    return mix ^ (mix >> HALF)


def seed(space: Any) -> Any:
    """What the hash of a text begins with: the same text in two namespaces is two names."""
    return mixed(space, STIR)


def begun(seeded: Any, first: Any, second: Any) -> Any:
    """The hash of the first two words of a text."""
    return mixed(seeded, first) + second * STIR


def words_of(length: Any) -> Any:
    """How many words the bytes of a text take, the last one not full."""
    return max((length >> 3) + 1, 2)


class Text(NamedTuple):
    """A text between two places, the namespace it stands in, its first two words, and its hash."""

    first: Any
    last: Any
    space: Any
    one: Any
    two: Any
    mix: Any


def text_at(buffer: Any, i: Any, space: Any, seeded: Any) -> Any:
    """The text at i, to the next control character, blank, colon or bar.

    Two words are looked at whether the text ends in the first or not: to ask would be to guess.
    """
    count = plain_bytes(buffer, i)
    one, two = load_word(buffer, i) & FIRST[place(count)], load_word(buffer, i + 8) & SECOND[place(count)]
    at, mix = i + count, begun(seeded, one, two)
    while count == AT_ONCE:
        count = plain_bytes(buffer, at)
        mix = mixed(mix, load_word(buffer, at) & FIRST[place(count)])
        if count >= 8:
            mix = mixed(mix, load_word(buffer, at + 8) & SECOND[place(count)])
        at += count
    return Text(i, at, space, one, two, finished(mix, at - i))


def masked(buffer: Any, at: Any, last: Any) -> Any:
    """The eight bytes at a place, those from `last` on taken as zero."""
    return load_word(buffer, at) & MASKS[place(max(min(last - at, 8), 0))]


def text_between(buffer: Any, first: Any, last: Any, space: Any) -> Any:
    """A text whose end is known; it may hold a colon."""
    one, two = masked(buffer, first, last), masked(buffer, first + 8, last)
    mix = begun(seed(space), one, two)
    for word in range(2, words_of(last - first)):
        mix = mixed(mix, masked(buffer, first + 8 * word, last))
    return Text(first, last, space, one, two, finished(mix, last - first))


def after_text(buffer: Any, i: Any) -> Any:
    """Where the next control character, blank, colon or bar stands."""
    count = AT_ONCE
    while count == AT_ONCE:
        count = plain_bytes(buffer, i)
        i += count
    return i
