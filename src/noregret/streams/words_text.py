"""The word counter: plain Python that is also compiled.

A word is two or more letters, digits or underscores. Every byte beyond ASCII counts as a letter, so the caller replaces
characters that are not letters by blanks. ASCII letters are converted to lower case. N-ngrams are words joined by a
blank.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.jit.compiled import unbound
from noregret.streams import name_table
from noregret.streams.hashed_text import Text, bytes_before, hash_text, read_text, seed
from noregret.streams.name_table import (
    FINE,
    NEW_BYTES,
    NO_NAMESPACE,
    NO_ROOM,
    TOGETHER,
    NameTable,
    enqueue,
    find_or_add,
    rebuild_slots,
    resolve_known,
)
from noregret.streams.number_text import BLANK, NEWLINE, NOTHING, PAD, Buffer, Slots, byte_at, unsigned
from noregret.streams.utf8_text import continues

# Slots of the table, after those of the name table: position, rows done, values written, the longest n-gram.
POSITION, DONE, COUNT, NGRAMS, BUFFER = range(name_table.REBUILD + 1, name_table.REBUILD + 6)
ENDS, OUT, KNOWN = BUFFER + 2, BUFFER + 4, BUFFER + 16
SLOTS = KNOWN + 11
ALONE = (NO_NAMESPACE, NO_NAMESPACE)
HIGH_BITS = np.uint64(0x8080808080808080)
# By byte: the byte in lower case if it belongs to words, 0 if it ends a word.
LETTERS = np.zeros(256, np.uint8)
for _byte in (*range(48, 58), *range(65, 91), 95, *range(97, 123), *range(128, 256)):
    LETTERS[_byte] = _byte + 32 if 65 <= _byte <= 90 else _byte


class Out(NamedTuple):
    """The output arrays: word counts in CSR form; and buffers.

    `plain` holds the words of a row, `begins` where each begins, `last_count` where each word was last counted.
    """

    indptr: NDArray[np.int64]
    idx: NDArray[np.int32]
    val: NDArray[np.float64]
    plain: NDArray[np.uint8]
    begins: NDArray[np.int64]
    last_count: NDArray[np.int64]


def allocate(size: int, rows: int, ngrams: int, names: int) -> Out:
    """Allocate arrays large enough for any text of this size: a word takes three bytes, including the one after it."""
    most = size // 3 + rows + 1
    return Out(
        np.zeros(rows + 1, np.int64),
        np.empty(ngrams * most, np.int32),
        np.empty(ngrams * most),
        np.zeros(size + most + 16, np.uint8),
        np.empty(most, np.int64),
        np.full(names, -1, np.int64),
    )


def bytes_of_word(buffer: Buffer, i: int) -> Any:
    """Count how many of sixteen bytes come before the first zero."""
    return bytes_before(buffer, i, 0, 0, 0)


REPLACED = {"count_plain_bytes": bytes_of_word}  # here words end at zero bytes


def write_lower_case(buffer: Buffer, i: int, last: int, plain: Buffer) -> Any:
    """Copy a text in lower case, with zeros between words and behind it; return its length."""
    size = last - i
    for k in range(size):
        plain[unsigned(k)] = LETTERS[byte_at(buffer, i + k)]
    for k in range(size, size + PAD):
        plain[unsigned(k)] = 0
    return size


def is_long(plain: Buffer, text: Text) -> Any:
    """Return whether a word has two characters or more."""
    if text.one & HIGH_BITS == NOTHING:
        return text.last - text.first > 1
    characters = 0
    for i in range(text.first, text.last):
        characters += not continues(byte_at(plain, i))
    return characters > 1


def move_word(plain: Buffer, text: Text, at: int) -> Any:
    """Move a word to position `at`, followed by a blank; return where it ends."""
    for i in range(text.first, text.last):
        plain[unsigned(at)] = plain[unsigned(i)]
        at += 1
    plain[unsigned(at)] = BLANK
    return at


def count_word(number: int, out: Out, first: int, k: int) -> Any:
    """Count a word of the row whose values begin at `first`; return the next free position."""
    before = out.last_count[number]
    if before >= first:
        out.val[before] += 1.0
        return k
    out.last_count[number] = k
    out.idx[k] = number
    out.val[k] = 1.0
    return k + 1


def number_word(known: NameTable, table: Slots, plain: Buffer, text: Text) -> Any:
    """Return the status of a word and its number; a new word is also written to `new_names`."""
    at = table[NEW_BYTES]
    if at + text.last - text.first >= known.new_names.size:
        return NO_ROOM, np.int64(0)
    status, number, new = find_or_add(known, table, plain, text, 0)
    if status == FINE and new:
        for i in range(text.first, text.last):
            known.new_names[at] = plain[i]
            at += 1
        known.new_names[at] = NEWLINE
        table[NEW_BYTES] = at + 1
    return status, number


def count_waiting(out: Out, known: NameTable, table: Slots, first: int, k: int, count: int) -> Any:
    """Count the waiting words; return the status, and the next free position.

    Their numbers are stored in `out.idx` where they will be counted, or later: each is read before it is overwritten.
    """
    plain, waiting, numbers = out.plain, known.waiting, out.idx[k : k + count]
    for n in range(resolve_known(waiting, known, numbers, count)):
        one = waiting[unsigned(n)][5]
        begin, length = np.int64(waiting[one][0]), np.int64(waiting[one][1])
        status, number = number_word(known, table, plain, hash_text(plain, begin, begin + length, NO_NAMESPACE))
        if status != FINE:
            for value in range(first, k):
                out.last_count[out.idx[value]] = -1
            return status, first
        numbers[one] = number
    for n in range(count):
        k = count_word(numbers[unsigned(n)], out, first, k)
    return FINE, k


def count_row(buffer: Buffer, i: int, last: int, out: Out, known: NameTable, table: Slots) -> Any:
    """Count the words of one row; return the status, and the next free position.

    For n-ngrams, words are moved to be one blank apart.
    """
    plain, first, ngrams, at, words, count = out.plain, table[COUNT], table[NGRAMS], 0, 0, 0
    k, i, end, seed_hash = first, 0, write_lower_case(buffer, i, last, plain), seed(NO_NAMESPACE)
    while i < end:
        text = read_text(plain, i, NO_NAMESPACE, seed_hash)
        i = text.last + 1
        if not is_long(plain, text):
            continue
        out.begins[words] = at
        words += 1
        if ngrams > 1:
            at = move_word(plain, text, at)
        for length in range(1, min(ngrams, words) + 1):
            if ngrams > 1:
                text = hash_text(plain, out.begins[words - length], at, NO_NAMESPACE)
            enqueue(known, known, count, text, ALONE, 0)
            count += 1
            if count == TOGETHER:
                status, k = count_waiting(out, known, table, first, k, count)
                if status != FINE:
                    return status, k
                count = 0
        at += 1
    return count_waiting(out, known, table, first, k, count)


def count_words(buffer: Buffer, ends: NDArray[np.int64], out: Out, known: NameTable, table: Slots) -> None:
    """Count the words of the rows that end at `ends`, after the first DONE, until there is no room for new words."""
    rebuild_slots(known, table)
    i, row = table[POSITION], table[DONE]
    while row < ends.size:
        status, k = count_row(buffer, i, ends[row], out, known, table)
        if status != FINE:
            break
        table[COUNT] = k
        i = ends[row]
        row += 1
        out.indptr[row] = k
    table[POSITION], table[DONE] = i, row


read_buffer = read_ends = read_out = read_known = unbound


def words(table: Slots) -> int:
    """Run `count_words` on the arrays in the table."""
    count_words(read_buffer(table), read_ends(table), read_out(table), read_known(table), table)
    return 0
