"""The text of the counter of words: plain Python that runs as it stands, slowly, and compiled at the speed of the disk.

A word is two or more letters, digits or underscores; every byte of a character beyond ASCII counts as one, so whoever
calls has made blanks of those that are none. Capitals of ASCII are made small. Runs of several words are counted too,
with a blank between them.
"""

from typing import Any, NamedTuple

import numpy as np

from noregret.jit.compiled import unbound
from noregret.streams import vw_names
from noregret.streams.hashed_text import bytes_before, seed, text_at, text_between
from noregret.streams.number_text import BLANK, NEWLINE, NOTHING, PAD, byte_at, place
from noregret.streams.utf8_text import continues
from noregret.streams.vw_names import (
    FINE,
    FRESH,
    NO_NAMESPACE,
    NO_ROOM,
    TOGETHER,
    name_of,
    rebuilt,
    settled,
    wait,
)

# Slots of the table after those of the names: where it stands, how much was written, how long runs may be.
PLACE, DONE, COUNT, GRAMS, BUFFER = range(vw_names.REBUILD + 1, vw_names.REBUILD + 6)
ENDS, OUT, KNOWN = BUFFER + 2, BUFFER + 4, BUFFER + 16
SLOTS = KNOWN + 11
ALONE = (NO_NAMESPACE, NO_NAMESPACE)
HIGH_BITS = np.uint64(0x8080808080808080)
# Of every byte: what it is as part of a word, in small letters; 0 for those that end one.
LETTERS = np.zeros(256, np.uint8)
for _byte in (*range(48, 58), *range(65, 91), 95, *range(97, 123), *range(128, 256)):
    LETTERS[_byte] = _byte + 32 if 65 <= _byte <= 90 else _byte


class Out(NamedTuple):
    """Where the counts go: offsets of the rows, numbers of words, how often each stands there; and room: the words of a
    row one after another, where each begins, and where a word was counted last."""

    indptr: np.ndarray
    idx: np.ndarray
    val: np.ndarray
    plain: np.ndarray
    begins: np.ndarray
    seat: np.ndarray


def room(size: int, rows: int, grams: int, names: int) -> Out:
    """Arrays that so many bytes of text cannot overfill: a word takes three bytes, with what ends it."""
    most = size // 3 + rows + 1
    return Out(
        np.zeros(rows + 1, np.int64),
        np.empty(grams * most, np.int32),
        np.empty(grams * most),
        np.zeros(size + most + 16, np.uint8),
        np.empty(most, np.int64),
        np.full(names, -1, np.int64),
    )


def bytes_of_word(buffer: Any, i: Any) -> Any:
    """How many of sixteen bytes stand before the first that is zero."""
    return bytes_before(buffer, i, 0, 0, 0)


REPLACED = {"plain_bytes": bytes_of_word}  # words end in zeros


def spell_out(buffer: Any, i: Any, last: Any, plain: Any) -> Any:
    """Copy a text in small letters, zeros where no word is and behind it: its length."""
    size = last - i
    for k in range(size):
        plain[place(k)] = LETTERS[byte_at(buffer, i + k)]
    for k in range(size, size + PAD):
        plain[place(k)] = 0
    return size


def is_long(plain: Any, text: Any) -> Any:
    """Whether a word has two characters or more."""
    if text.one & HIGH_BITS == NOTHING:
        return text.last - text.first > 1
    characters = 0
    for i in range(text.first, text.last):
        characters += not continues(byte_at(plain, i))
    return characters > 1


def moved(plain: Any, text: Any, at: Any) -> Any:
    """Move a word to an earlier place, with a blank behind it: where it ends there."""
    for i in range(text.first, text.last):
        plain[place(at)] = plain[place(i)]
        at += 1
    plain[place(at)] = BLANK
    return at


def counted(number: Any, out: Any, first: Any, k: Any) -> Any:
    """Count a word of the row whose values begin at `first`: the next free place."""
    before = out.seat[number]
    if before >= first:
        out.val[before] += 1.0
        return k
    out.seat[number] = k
    out.idx[k] = number
    out.val[k] = 1.0
    return k + 1


def number_of(known: Any, table: Any, plain: Any, text: Any) -> Any:
    """The verdict on a word, and its number; a new one is written out, too."""
    at = table[FRESH]
    if at + text.last - text.first >= known.fresh.size:
        return NO_ROOM, np.int64(0)
    verdict, number, new = name_of(known, table, plain, text, 0)
    if verdict == FINE and new:
        for i in range(text.first, text.last):
            known.fresh[at] = plain[i]
            at += 1
        known.fresh[at] = NEWLINE
        table[FRESH] = at + 1
    return verdict, number


def taken(out: Any, known: Any, table: Any, first: Any, k: Any, count: Any) -> Any:
    """Count the words that wait: the verdict, and the next free place.

    Their numbers stand where they will be counted, or later: each is read before something is written there.
    """
    plain, waiting, numbers = out.plain, known.waiting, out.idx[k : k + count]
    for n in range(settled(waiting, known, numbers, count)):
        one = waiting[place(n)][5]
        begin, length = np.int64(waiting[one][0]), np.int64(waiting[one][1])
        verdict, number = number_of(known, table, plain, text_between(plain, begin, begin + length, NO_NAMESPACE))
        if verdict != FINE:
            for value in range(first, k):
                out.seat[out.idx[value]] = -1
            return verdict, first
        numbers[one] = number
    for n in range(count):
        k = counted(numbers[place(n)], out, first, k)
    return FINE, k


def row_at(buffer: Any, i: Any, last: Any, out: Any, known: Any, table: Any) -> Any:
    """Count the words of one row: the verdict, and the next free place.

    Where runs are counted too, words move up to stand one blank apart.
    """
    plain, first, grams, at, words, count = out.plain, table[COUNT], table[GRAMS], 0, 0, 0
    k, i, end, seeded = first, 0, spell_out(buffer, i, last, plain), seed(NO_NAMESPACE)
    while i < end:
        text = text_at(plain, i, NO_NAMESPACE, seeded)
        i = text.last + 1
        if not is_long(plain, text):
            continue
        out.begins[words] = at
        words += 1
        if grams > 1:
            at = moved(plain, text, at)
        for length in range(1, min(grams, words) + 1):
            if grams > 1:
                text = text_between(plain, out.begins[words - length], at, NO_NAMESPACE)
            wait(known, known, count, text, ALONE, 0)
            count += 1
            if count == TOGETHER:
                verdict, k = taken(out, known, table, first, k, count)
                if verdict != FINE:
                    return verdict, k
                count = 0
        at += 1
    return taken(out, known, table, first, k, count)


def count_words(buffer: Any, ends: Any, out: Any, known: Any, table: Any) -> None:
    """Count the words of the rows that end where `ends` says, those after the DONE first, as far as there is room."""
    rebuilt(known, table)
    i, row = table[PLACE], table[DONE]
    while row < ends.size:
        verdict, k = row_at(buffer, i, ends[row], out, known, table)
        if verdict != FINE:
            break
        table[COUNT] = k
        i = ends[row]
        row += 1
        out.indptr[row] = k
    table[PLACE], table[DONE] = i, row


read_buffer = read_ends = read_out = read_known = unbound


def words(table: Any) -> int:
    """`count_words` on what the table holds."""
    count_words(read_buffer(table), read_ends(table), read_out(table), read_known(table), table)
    return 0
