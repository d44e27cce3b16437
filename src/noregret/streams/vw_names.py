"""The names a parser has met: a hash table over the bytes of a text, written as plain Python that is also compiled.

Names get numbers in the order in which they are first met. The table has an entry for every text that stands in a
namespace: its length and number, its namespace, and its bytes, eight to a word. A slot holds half of the entry's hash
and where it stands. What is new is also written out in full, one name a line, for whoever numbers the names of all
parsers.

Integers of 64 unsigned bits are written as such, because they are meant to lose what overflows; positions are plain.
"""

from typing import Any, NamedTuple

import numpy as np

from noregret.streams.libsvm_text import (
    BLANK,
    COLON,
    HALF,
    LOW_HALF,
    NEWLINE,
    NOTHING,
    byte_at,
    load_word,
    place,
    trailing_zeros,
)

BAR, CARET = 124, 94
NAMES, ENTRIES, FILLED, FRESH = range(4)  # slots of the parser's table: how much there is of each
FINE, BAD_TEXT, NO_ROOM = range(3)  # verdicts


class Known(NamedTuple):
    """The names known to a parser: slots, a power of two of them; entries; which names first stood without a value; and
    the new ones in full, each with a newline."""

    slots: np.ndarray
    entries: np.ndarray
    bare: np.ndarray
    fresh: np.ndarray


def space_for(names: int) -> Known:
    """Room for so many names, a power of two, of some twenty bytes each."""
    return Known(
        np.zeros(2 * names, np.uint64),
        np.zeros(5 * names, np.uint64),
        np.zeros(names, np.uint8),
        np.zeros(32 * names, np.uint8),
    )


# ---- texts and their hashes -----------------------------------------------------------------------------------------

ONES, COLONS, BARS, ABOVE_BLANK, HIGH_BITS = (
    np.uint64(0x0101010101010101 * byte) for byte in (0x01, COLON, BAR, BLANK + 1, 0x80)
)
MASKS = np.array([(1 << 8 * count) - 1 for count in range(9)], np.uint64)
SPREAD, STIR, FOLD = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93), np.uint64(29)
ONE, TWO = np.uint64(1), np.uint64(2)
NO_NAMESPACE, IS_NAMESPACE = np.uint64(0), np.uint64(1)  # where a text stands; or in the namespace of entry number - 2
HEAD = 2  # words of an entry before its bytes


def plain_bytes(word: Any) -> Any:
    """How many bytes of a word stand before the first control character, blank, colon or bar; all at once.

    A byte of x is zero where (x - 1) & ~x has its high bit; above the first such byte that may be wrong.
    """
    colons, bars = word ^ COLONS, word ^ BARS
    ends = ((word - ABOVE_BLANK) & ~word) | ((colons - ONES) & ~colons) | ((bars - ONES) & ~bars)
    return trailing_zeros(ends & HIGH_BITS) >> 3


def mixed(mix: Any, word: Any) -> Any:
    mix = (mix ^ word) * SPREAD
    return mix ^ (mix >> FOLD)


def finished(mix: Any, length: Any) -> Any:
    mix = (mix ^ np.uint64(length)) * STIR
    return mix ^ (mix >> HALF)


def seed(space: Any) -> Any:
    """What the hash of a text begins with: the same text in two namespaces is two names."""
    return mixed(space, STIR)


def text_at(buffer: Any, i: Any, space: Any) -> Any:
    """Where the text at i ends, and its hash in a namespace."""
    at, count, mix = i, 8, seed(space)
    while count == 8:
        word = load_word(buffer, at)
        count = plain_bytes(word)
        mix = mixed(mix, word & MASKS[place(count)])
        at += count
    return at, finished(mix, at - i)


def masked(buffer: Any, at: Any, last: Any) -> Any:
    """The eight bytes at a place, those from `last` on taken as zero."""
    return load_word(buffer, at) & MASKS[place(min(last - at, 8))]


def hash_between(buffer: Any, first: Any, last: Any, space: Any) -> Any:
    """The hash of a text whose end is known; it may hold a colon."""
    at, mix = first, seed(space)
    while at <= last:
        mix = mixed(mix, masked(buffer, at, last))
        at += 8
    return finished(mix, last - first)


def after_text(buffer: Any, i: Any) -> Any:
    """Where the next control character, blank, colon or bar stands."""
    count = 8
    while count == 8:
        count = plain_bytes(load_word(buffer, i))
        i += count
    return i


def after_word(buffer: Any, i: Any) -> Any:
    """As `after_text`, but colons belong to the word."""
    i = after_text(buffer, i)
    while byte_at(buffer, i) == COLON:
        i = after_text(buffer, i + 1)
    return i


def continues(byte: Any) -> Any:
    """Whether a byte is one of those that follow the first of a character in UTF-8."""
    return 0x80 <= byte <= 0xBF


def after_utf8(buffer: Any, i: Any, last: Any) -> Any:
    """`last`, or the first place before it where the bytes are not UTF-8 (RFC 3629)."""
    while i < last:
        lead = byte_at(buffer, i)
        if lead < 0x80:
            i += 1
            continue
        follow = byte_at(buffer, i + 1)  # past the last byte stands no byte that continues
        low, high = 0x80, 0xBF
        if lead == 0xE0:
            low = 0xA0
        elif lead == 0xED:
            high = 0x9F
        elif lead == 0xF0:
            low = 0x90
        elif lead == 0xF4:
            high = 0x8F
        if lead < 0xC2 or lead > 0xF4 or follow < low or follow > high:
            return i
        size = 2
        if lead >= 0xE0:
            if not continues(byte_at(buffer, i + 2)):
                return i
            size = 3
        if lead >= 0xF0:
            if not continues(byte_at(buffer, i + 3)):
                return i
            size = 4
        i += size
    return last


# ---- names ----------------------------------------------------------------------------------------------------------


class Text(NamedTuple):
    """A text between two places, the namespace it stands in, and its hash."""

    first: Any
    last: Any
    space: Any
    mix: Any


def is_entry(entries: Any, at: Any, buffer: Any, text: Any) -> Any:
    """Whether the entry at a place holds this text in its namespace."""
    length = text.last - text.first
    if entries[at] & LOW_HALF != np.uint64(length) or entries[at + ONE] != text.space:
        return False
    at += TWO
    i = text.first
    while i <= text.last:
        if entries[at] != masked(buffer, i, text.last):
            return False
        at += ONE
        i += 8
    return True


def slot_of(known: Any, buffer: Any, text: Any) -> Any:
    """The slot where a text is, or would be; and where its entry stands, plus one, or zero."""
    slots, entries = known.slots, known.entries
    most = np.uint64(slots.size - 1)
    slot, tag = text.mix & most, text.mix >> HALF
    while True:
        held = slots[slot]
        if held == NOTHING:
            return slot, NOTHING
        if held >> HALF == tag and is_entry(entries, (held & LOW_HALF) - ONE, buffer, text):
            return slot, held & LOW_HALF
        slot = (slot + ONE) & most


def added(known: Any, table: Any, buffer: Any, text: Any, slot: Any) -> Any:
    """Make an entry for a new text: FINE, BAD_TEXT or NO_ROOM."""
    at, length = table[FILLED], text.last - text.first
    words = (length >> 3) + 1
    if (
        at + HEAD + words > known.entries.size
        or 2 * (table[ENTRIES] + 1) > known.slots.size
        or table[NAMES] >= known.bare.size
    ):
        return NO_ROOM
    if after_utf8(buffer, text.first, text.last) != text.last:
        return BAD_TEXT
    known.entries[at] = np.uint64(length) | (np.uint64(table[NAMES]) << HALF)
    known.entries[at + 1] = text.space
    for word in range(words):
        known.entries[at + HEAD + word] = masked(buffer, text.first + 8 * word, text.last)
    known.slots[slot] = ((text.mix >> HALF) << HALF) | np.uint64(at + 1)
    table[FILLED] = at + HEAD + words
    table[ENTRIES] += 1
    return FINE


def written(known: Any, table: Any, buffer: Any, space: Any, text: Any) -> Any:
    """Write a new name in full, namespace^feature, or namespace^feature^value: FINE or NO_ROOM."""
    at, prefix = table[FRESH], space[1] - space[0]
    if at + prefix + text.last - text.first + 2 > known.fresh.size:
        return NO_ROOM
    if prefix > 0:
        for i in range(space[0], space[1]):
            known.fresh[at] = buffer[i]
            at += 1
        known.fresh[at] = CARET
        at += 1
    for i in range(text.first, text.last):
        known.fresh[at] = CARET if buffer[i] == COLON else buffer[i]
        at += 1
    known.fresh[at] = NEWLINE
    table[FRESH] = at + 1
    return FINE


def name_of(known: Any, table: Any, buffer: Any, space: Any, text: Any, bare: Any) -> Any:
    """The verdict on a name, and its number."""
    slot, held = slot_of(known, buffer, text)
    if held != NOTHING:
        return FINE, np.int64(known.entries[held - ONE] >> HALF)
    number = table[NAMES]
    verdict = added(known, table, buffer, text, slot)
    if verdict == FINE:
        verdict = written(known, table, buffer, space, text)
    if verdict == FINE:
        known.bare[number] = bare
        table[NAMES] = number + 1
    return verdict, number


def entry_hash(known: Any, at: Any) -> Any:
    """The hash of an entry, and how many words of bytes it has."""
    length = np.int64(known.entries[at] & LOW_HALF)
    words = (length >> 3) + 1
    mix = seed(known.entries[at + 1])
    for word in range(words):
        mix = mixed(mix, known.entries[at + HEAD + word])
    return finished(mix, length), words


def forgotten(known: Any, first: Any, last: Any) -> None:
    """Empty the slots of the entries between two places, the last ones there are."""
    most, at = np.uint64(known.slots.size - 1), first
    while at < last:
        mix, words = entry_hash(known, at)
        slot = mix & most
        while known.slots[slot] & LOW_HALF != np.uint64(at + 1):
            slot = (slot + ONE) & most
        known.slots[slot] = NOTHING
        at += HEAD + words


def rebuilt(known: Any, last: Any) -> None:
    """Put every entry into slots that are empty."""
    most, at = np.uint64(known.slots.size - 1), 0
    while at < last:
        mix, words = entry_hash(known, at)
        slot = mix & most
        while known.slots[slot] != NOTHING:
            slot = (slot + ONE) & most
        known.slots[slot] = ((mix >> HALF) << HALF) | np.uint64(at + 1)
        at += HEAD + words


