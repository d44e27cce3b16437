"""Hash tables from feature names to numbers: plain Python that is also compiled.

A table has an entry for every text in a namespace: its length and number, its namespace, and its bytes, eight to a
word. A slot holds half of an entry's hash and the position of the entry. Names are numbered in order of appearance.
New names are also written out in full, one per line.

A source has one shared table, which only the thread that hands out batches writes to. Parsers in other threads look
names up in it. Names that they do not find they number in a table of their own, for one batch.

Unsigned 64-bit integers are written as such, because they are meant to wrap around; positions are plain integers.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.jit.compiled import unbound
from noregret.jit.layout import address
from noregret.streams.hashed_text import (
    Text,
    finish_hash,
    hash_text,
    load_masked,
    mix_hash,
    seed,
    start_hash,
    word_count,
)
from noregret.streams.number_text import COLON, HALF, LOW_HALF, NEWLINE, NOTHING, Buffer, Slots, byte_at, unsigned
from noregret.streams.utf8_text import check_utf8

CARET = 94

Numbers = NDArray[np.int32]
Words = tuple[np.uint64, np.uint64]

# Slots: how full the table is; whether to rebuild its hash slots; and, for `number_names`, how far it got.
NAMES, ENTRIES, FILLED, NEW_BYTES, REBUILD, POSITION, DONE, BUFFER = range(8)
BARE, OUT, KNOWN = BUFFER + 2, BUFFER + 4, BUFFER + 6
SLOTS = KNOWN + 11
FINE, BAD_TEXT, NO_ROOM = range(3)  # status codes
ONE, TWO, THREE = np.uint64(1), np.uint64(2), np.uint64(3)
NO_NAMESPACE, IS_NAMESPACE, NOT_KNOWN = np.uint64(0), np.uint64(1), np.uint64(2)  # namespaces that are not entries
LINE = 64  # bytes of a cache line
HEAD = 2  # words of an entry before its bytes
TOGETHER, COLUMNS = 64, 8  # texts looked up together, and the values kept of each
ALIGNED = 4  # entries are multiples of so many words, so that most lie in one cache line; position 0 is no entry
SHORT = np.uint64(15)  # the longest text that fits two words


class NameTable(NamedTuple):
    """A table of names.

    `slots` is the hash table, a power of two long, into `entries`. `bare` marks names that first appeared without a
    value. `new_names` holds the new names in full, each with a newline; `waiting`, texts to be looked up together.
    """

    slots: NDArray[np.uint64]
    entries: NDArray[np.uint64]
    bare: NDArray[np.uint8]
    new_names: NDArray[np.uint8]
    waiting: NDArray[np.uint64]


def allocate_aligned(size: int, kind: type) -> NDArray[Any]:
    """Allocate an array that begins at a cache line, without initializing it."""
    made = np.empty(size * np.dtype(kind).itemsize + LINE, np.uint8)
    first = -address(made) % LINE
    return made[first : first + made.size - LINE].view(kind)


def allocate_zeros(size: int, kind: type) -> NDArray[Any]:
    """Allocate an array of zeros that begins at a cache line.

    The zeros are written explicitly: the memory then comes in large pages, which speeds up random access.
    """
    made = allocate_aligned(size, kind)
    made.fill(0)
    return made


def create_table(names: int, letters: int = 24) -> NameTable:
    """Create a table for so many names, a power of two, and `letters` bytes per new name to write out."""
    known = NameTable(
        allocate_zeros(2 * names, np.uint64),
        allocate_aligned(6 * names, np.uint64),
        allocate_aligned(names, np.uint8),
        allocate_aligned(letters * names, np.uint8),
        np.zeros((TOGETHER, COLUMNS), np.uint64),
    )
    known.entries[:ALIGNED] = 0  # position 0 stands for "no entry"
    return known


def double_table(known: NameTable) -> NameTable:
    """Return the table with twice the room; its slots are empty and must be rebuilt."""
    arrays: tuple[NDArray[Any], ...] = known[1:-1]
    parts = [allocate_aligned(2 * old.size, old.dtype.type) for old in arrays]
    for new, old in zip(parts, arrays, strict=True):
        new[: old.size] = old
    return NameTable(allocate_zeros(2 * known.slots.size, np.uint64), parts[0], parts[1], parts[2], known.waiting)


def fetch(array: NDArray[Any], i: Any) -> None:
    """Prefetch a value of an array into the cache; does nothing in plain Python."""


# ---- names ----------------------------------------------------------------------------------------------------------


def is_entry(entries: NDArray[np.uint64], at: np.uint64, buffer: Buffer, text: Text) -> Any:
    """Return whether the entry at a position holds this text in its namespace."""
    length = text.last - text.first
    differ = (entries[at] & LOW_HALF) ^ np.uint64(length)
    differ |= (entries[at + ONE] ^ text.space) | (entries[at + TWO] ^ text.one) | (entries[at + THREE] ^ text.two)
    if differ != NOTHING:
        return False
    for word in range(2, word_count(length)):
        if entries[at + np.uint64(HEAD + word)] != load_masked(buffer, text.first + 8 * word, text.last):
            return False
    return True


def likely_slot(slots: NDArray[np.uint64], hashed: np.uint64, slot: np.uint64) -> Any:
    """Return the first slot from `slot` on that is empty or holds the upper half of this hash, and its content."""
    most, held = np.uint64(slots.size - 1), slots[slot]
    while held != NOTHING and (held ^ hashed) >> HALF != NOTHING:
        slot = (slot + ONE) & most
        held = slots[slot]
    return slot, held


def find_slot(known: NameTable, buffer: Buffer, text: Text) -> Any:
    """Return the slot of a text, or the empty slot where it belongs, and the position of its entry, or zero."""
    most = np.uint64(known.slots.size - 1)
    slot, held = likely_slot(known.slots, text.hashed, text.hashed & most)
    while held != NOTHING and not is_entry(known.entries, held & LOW_HALF, buffer, text):
        slot, held = likely_slot(known.slots, text.hashed, (slot + ONE) & most)
    return slot, held & LOW_HALF


def aligned_size(words: int) -> Any:
    """Round the size of an entry up to a multiple of ALIGNED."""
    return (words + ALIGNED - 1) // ALIGNED * ALIGNED


def add_entry(known: NameTable, table: Slots, buffer: Buffer, text: Text, slot: np.uint64) -> Any:
    """Add an entry for a new text; return FINE, BAD_TEXT or NO_ROOM."""
    at, length = max(table[FILLED], ALIGNED), text.last - text.first
    words = word_count(length)
    size = aligned_size(HEAD + words)
    if at + size > known.entries.size or 2 * (table[ENTRIES] + 1) > known.slots.size or table[NAMES] >= known.bare.size:
        return NO_ROOM
    if check_utf8(buffer, text.first, text.last) != text.last:
        return BAD_TEXT
    known.entries[at] = np.uint64(length) | (np.uint64(table[NAMES]) << HALF)
    known.entries[at + 1] = text.space
    for word in range(words):
        known.entries[at + HEAD + word] = load_masked(buffer, text.first + 8 * word, text.last)
    known.slots[slot] = ((text.hashed >> HALF) << HALF) | np.uint64(at)
    table[FILLED] = at + size
    table[ENTRIES] += 1
    return FINE


def write_name(known: NameTable, table: Slots, buffer: Buffer, space: tuple[Any, Any], text: Text) -> Any:
    """Write a new name in full, as namespace^feature or namespace^feature^value; return FINE or NO_ROOM."""
    at, prefix = table[NEW_BYTES], space[1] - space[0]
    if at + prefix + text.last - text.first + 2 > known.new_names.size:
        return NO_ROOM
    if prefix > 0:
        for i in range(space[0], space[1]):
            known.new_names[at] = buffer[i]
            at += 1
        known.new_names[at] = CARET
        at += 1
    for i in range(text.first, text.last):
        known.new_names[at] = CARET if buffer[i] == COLON else buffer[i]
        at += 1
    known.new_names[at] = NEWLINE
    table[NEW_BYTES] = at + 1
    return FINE


def find_or_add(known: NameTable, table: Slots, buffer: Buffer, text: Text, bare: int) -> Any:
    """Find a name or add it; return the status, its number, and whether it is new."""
    slot, held = find_slot(known, buffer, text)
    if held != NOTHING:
        return FINE, np.int64(known.entries[held] >> HALF), False
    number = table[NAMES]
    status = add_entry(known, table, buffer, text, slot)
    if status == FINE:
        known.bare[number] = bare
        table[NAMES] = number + 1
    return status, number, True


def enqueue(known: NameTable, shared: NameTable, n: int, text: Text, space: Words, bare: int) -> None:
    """Store a text, with its namespace, to be looked up with others; prefetches its slot of the shared table."""
    fetch(shared.slots, text.hashed & np.uint64(shared.slots.size - 1))
    row = known.waiting[unsigned(n)]
    row[0], row[1], row[2] = np.uint64(text.first), np.uint64(text.last - text.first), text.space
    row[3], row[4], row[5] = text.one, text.two, text.hashed
    row[6], row[7] = space[0], space[1] | np.uint64(bare)


def resolve_known(waiting: NDArray[np.uint64], shared: NameTable, numbers: Numbers, count: int) -> Any:
    """Number the waiting texts that are short and known, as most are; return how many are left.

    Those left are listed in column 5 of the first rows, in order. First all slots are read, then all entries, each
    prefetched before, because access to memory is slow.
    """
    entries, most = shared.entries, np.uint64(shared.slots.size - 1)
    for n in range(count):
        row = waiting[unsigned(n)]
        _, held = likely_slot(shared.slots, row[5], row[5] & most)
        row[5] = held & LOW_HALF
        fetch(entries, row[5])
    late = 0
    for n in range(count):
        row = waiting[unsigned(n)]
        at, length = row[5], row[1]
        differ = ((entries[at] & LOW_HALF) ^ length) | (length & ~SHORT)
        differ |= (entries[at + ONE] ^ row[2]) | (entries[at + TWO] ^ row[3]) | (entries[at + THREE] ^ row[4])
        numbers[unsigned(n)] = np.int32(entries[at] >> HALF)
        waiting[unsigned(late)][5] = np.uint64(n)
        late += differ != NOTHING
    return late


def look_up(known: NameTable, shared: NameTable, table: Slots, buffer: Buffer, numbers: Numbers, count: int) -> Any:
    """Number the waiting texts; one that the shared table does not know gets -1 minus its number in this table.

    Returns the status, and the position of the text that caused it.
    """
    for n in range(resolve_known(known.waiting, shared, numbers, count)):
        one = known.waiting[unsigned(n)][5]
        status, number, at = look_up_one(known, shared, table, buffer, known.waiting[one])
        if status != FINE:
            return status, at
        numbers[one] = number
    return FINE, 0


def look_up_one(known: NameTable, shared: NameTable, table: Slots, buffer: Buffer, row: NDArray[np.uint64]) -> Any:
    """Look up one waiting text; return the status, its number, and its position."""
    first = np.int64(row[0])
    last = first + np.int64(row[1])
    _, held = find_slot(shared, buffer, hash_text(buffer, first, last, row[2]))
    if held != NOTHING:
        return FINE, np.int64(shared.entries[held] >> HALF), first
    own = hash_text(buffer, first, last, row[7] >> ONE)
    status, number, new = find_or_add(known, table, buffer, own, row[7] & ONE)
    if status == FINE and new:
        status = write_name(known, table, buffer, (np.int64(row[6] >> HALF), np.int64(row[6] & LOW_HALF)), own)
    return status, -1 - number, first


def entry_hash(known: NameTable, at: int) -> Any:
    """Return the hash of an entry, and the position of the next one."""
    entries = known.entries
    length = np.int64(entries[at] & LOW_HALF)
    words = word_count(length)
    hashed = start_hash(seed(entries[at + 1]), entries[at + HEAD], entries[at + HEAD + 1])
    for word in range(2, words):
        hashed = mix_hash(hashed, entries[at + HEAD + word])
    return finish_hash(hashed, length), at + aligned_size(HEAD + words)


def remove_entries(known: NameTable, first: int, last: int) -> None:
    """Clear the slots of the entries between two positions, which must be the last entries."""
    most, at = np.uint64(known.slots.size - 1), max(first, ALIGNED)
    while at < last:
        hashed, following = entry_hash(known, at)
        slot = hashed & most
        while known.slots[slot] & LOW_HALF != np.uint64(at):
            slot = (slot + ONE) & most
        known.slots[slot] = NOTHING
        at = following


def rebuild_slots(known: NameTable, table: Slots) -> None:
    """If REBUILD is set, enter every entry into the empty slots."""
    most, at, last = np.uint64(known.slots.size - 1), ALIGNED, table[FILLED] if table[REBUILD] != 0 else 0
    table[REBUILD] = 0
    while at < last:
        hashed, following = entry_hash(known, at)
        slot = hashed & most
        while known.slots[slot] != NOTHING:
            slot = (slot + ONE) & most
        known.slots[slot] = ((hashed >> HALF) << HALF) | np.uint64(at)
        at = following


# ---- the shared table -----------------------------------------------------------------------------------------------


def find_namespace_end(buffer: Buffer, first: int, last: int) -> Any:
    """Return where the namespace of a name ends: at its last caret that is not its first byte; `first` if it has none.

    So a^b^c is one name, whether it was written as |a^b c or |a b^c or |a b:c.
    """
    at = last - 1
    while at > first and byte_at(buffer, at) != CARET:
        at -= 1
    return max(at, first)


def split_name(buffer: Buffer, first: int, last: int, known: NameTable, table: Slots) -> Any:
    """Split a full name into namespace and text; return the status of adding the namespace, and the text."""
    cut = find_namespace_end(buffer, first, last)
    if cut == first:
        return FINE, hash_text(buffer, first, last, NO_NAMESPACE)
    space, status = hash_text(buffer, first, cut, IS_NAMESPACE), FINE
    slot, held = find_slot(known, buffer, space)
    if held == NOTHING:
        status = add_entry(known, table, buffer, space, slot)
        held = known.slots[slot] & LOW_HALF
    return status, hash_text(buffer, cut + 1, last, held)


def number_names(buffer: Buffer, bare: Buffer, out: Numbers, known: NameTable, table: Slots) -> None:
    """Number the names of a text, one per line, after the first DONE, until there is no room for new ones."""
    rebuild_slots(known, table)
    i, row = table[POSITION], table[DONE]
    while row < out.size:
        last = i
        while byte_at(buffer, last) != NEWLINE:
            last += 1
        entries, filled = table[ENTRIES], table[FILLED]
        status, text = split_name(buffer, i, last, known, table)
        number = np.int64(0)
        if status == FINE:
            status, number, _ = find_or_add(known, table, buffer, text, bare[row])
        if status != FINE:
            remove_entries(known, filled, table[FILLED])
            table[ENTRIES], table[FILLED] = entries, filled
            break
        out[row] = number
        row += 1
        i = last + 1
    table[POSITION], table[DONE] = i, row


read_buffer = read_bare = read_out = read_known = unbound


def vw_numbers(table: Slots) -> int:
    """Run `number_names` on the arrays in the table."""
    number_names(read_buffer(table), read_bare(table), read_out(table), read_known(table), table)
    return 0
