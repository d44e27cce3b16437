"""The names of features: hash tables over the bytes of texts, written as plain Python that is also compiled.

A table has an entry for every text that stands in a namespace: its length and number, its namespace, and its bytes,
eight to a word. A slot holds half of the entry's hash and where it stands. Names get numbers in the order in which they
are first met. What is new is also written out in full, one name a line.

The source has one table, which only the thread that hands out batches writes. Parsers look into it from other threads:
they find a name or do not find it yet, and what they do not find they number in a table of their own, for one batch.

Integers of 64 unsigned bits are written as such, because they are meant to lose what overflows; positions are plain.
"""

from typing import Any, NamedTuple

import numpy as np

from noregret.jit.compiled import unbound
from noregret.jit.layout import address
from noregret.streams.hashed_text import begun, finished, masked, mixed, seed, text_between, words_of
from noregret.streams.number_text import COLON, HALF, LOW_HALF, NEWLINE, NOTHING, byte_at, place
from noregret.streams.utf8_text import after_utf8

CARET = 94

# Slots of a table: how much there is; whether slots are to be found anew; and, for `number_names`, where it stands.
NAMES, ENTRIES, FILLED, FRESH, REBUILD, PLACE, DONE, BUFFER = range(8)
BARE, OUT, KNOWN = BUFFER + 2, BUFFER + 4, BUFFER + 6
SLOTS = KNOWN + 11
FINE, BAD_TEXT, NO_ROOM = range(3)  # verdicts
ONE, TWO, THREE = np.uint64(1), np.uint64(2), np.uint64(3)
NO_NAMESPACE, IS_NAMESPACE, NOT_KNOWN = np.uint64(0), np.uint64(1), np.uint64(2)  # where a text stands; or an entry
LINE = 64  # bytes of a line of the cache
HEAD = 2  # words of an entry before its bytes
TOGETHER, COLUMNS = 64, 8  # texts that are looked up together, and what is kept of each
ALIGNED = 4  # words that an entry is rounded up to, so that most lie in one line of the cache; the first are no entry
SHORT = np.uint64(15)  # bytes of a text that two words hold with room to spare


class Known(NamedTuple):
    """A table of names: slots, a power of two of them; entries; which names first stood without a value; the new ones
    in full, each with a newline; and texts that wait to be looked up together."""

    slots: np.ndarray
    entries: np.ndarray
    bare: np.ndarray
    fresh: np.ndarray
    waiting: np.ndarray


def room_for(size: int, kind: type) -> np.ndarray:
    """An array from where a line of the cache begins on, its values whatever they are."""
    made = np.empty(size * np.dtype(kind).itemsize + LINE, np.uint8)
    first = -address(made) % LINE
    return made[first : first + made.size - LINE].view(kind)


def zeroed(size: int, kind: type) -> np.ndarray:
    """The same of zeros.

    They are written, not only promised: such memory comes in large pages, which matters where any of it may be read.
    """
    made = room_for(size, kind)
    made.fill(0)
    return made


def space_for(names: int, letters: int = 24) -> Known:
    """Room for so many names, a power of two, of some twenty bytes each; and to write out new ones of so many."""
    known = Known(
        zeroed(2 * names, np.uint64),
        room_for(6 * names, np.uint64),
        room_for(names, np.uint8),
        room_for(letters * names, np.uint8),
        np.zeros((TOGETHER, COLUMNS), np.uint64),
    )
    known.entries[:ALIGNED] = 0  # what stands here is no entry
    return known


def doubled(known: Known) -> Known:
    """The same with room for as many more; its slots are empty."""
    parts = [room_for(2 * some.size, some.dtype.type) for some in known[1:-1]]
    for new, old in zip(parts, known[1:-1], strict=True):
        new[: old.size] = old
    return Known(zeroed(2 * known.slots.size, np.uint64), parts[0], parts[1], parts[2], known.waiting)


def fetch(array: Any, i: Any) -> None:
    """Have a value of an array brought near; a machine has an instruction for that, and plain Python no need of it."""


# ---- names ----------------------------------------------------------------------------------------------------------


def is_entry(entries: Any, at: Any, buffer: Any, text: Any) -> Any:
    """Whether the entry at a place holds this text in its namespace."""
    length = text.last - text.first
    differ = (entries[at] & LOW_HALF) ^ np.uint64(length)
    differ |= (entries[at + ONE] ^ text.space) | (entries[at + TWO] ^ text.one) | (entries[at + THREE] ^ text.two)
    if differ != NOTHING:
        return False
    for word in range(2, words_of(length)):
        if entries[at + np.uint64(HEAD + word)] != masked(buffer, text.first + 8 * word, text.last):
            return False
    return True


def likely_slot(slots: Any, mix: Any, slot: Any) -> Any:
    """From a slot on, the first that is empty or holds an entry of this hash, as far as half of it tells; and what it
    holds."""
    most, held = np.uint64(slots.size - 1), slots[slot]
    while held != NOTHING and (held ^ mix) >> HALF != NOTHING:
        slot = (slot + ONE) & most
        held = slots[slot]
    return slot, held


def slot_of(known: Any, buffer: Any, text: Any) -> Any:
    """The slot where a text is, or would be; and where its entry stands, or zero."""
    most = np.uint64(known.slots.size - 1)
    slot, held = likely_slot(known.slots, text.mix, text.mix & most)
    while held != NOTHING and not is_entry(known.entries, held & LOW_HALF, buffer, text):
        slot, held = likely_slot(known.slots, text.mix, (slot + ONE) & most)
    return slot, held & LOW_HALF


def rounded(words: Any) -> Any:
    """How many words an entry takes with those it needs."""
    return (words + ALIGNED - 1) // ALIGNED * ALIGNED


def added(known: Any, table: Any, buffer: Any, text: Any, slot: Any) -> Any:
    """Make an entry for a new text: FINE, BAD_TEXT or NO_ROOM."""
    at, length = max(table[FILLED], ALIGNED), text.last - text.first
    words = words_of(length)
    size = rounded(HEAD + words)
    if at + size > known.entries.size or 2 * (table[ENTRIES] + 1) > known.slots.size or table[NAMES] >= known.bare.size:
        return NO_ROOM
    if after_utf8(buffer, text.first, text.last) != text.last:
        return BAD_TEXT
    known.entries[at] = np.uint64(length) | (np.uint64(table[NAMES]) << HALF)
    known.entries[at + 1] = text.space
    for word in range(words):
        known.entries[at + HEAD + word] = masked(buffer, text.first + 8 * word, text.last)
    known.slots[slot] = ((text.mix >> HALF) << HALF) | np.uint64(at)
    table[FILLED] = at + size
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


def name_of(known: Any, table: Any, buffer: Any, text: Any, bare: Any) -> Any:
    """The verdict on a name, its number, and whether it is new."""
    slot, held = slot_of(known, buffer, text)
    if held != NOTHING:
        return FINE, np.int64(known.entries[held] >> HALF), False
    number = table[NAMES]
    verdict = added(known, table, buffer, text, slot)
    if verdict == FINE:
        known.bare[number] = bare
        table[NAMES] = number + 1
    return verdict, number, True


def wait(known: Any, shared: Any, n: Any, text: Any, space: Any, bare: Any) -> None:
    """Keep a text to be looked up soon, and of its namespace where it stands and what it is known by here."""
    fetch(shared.slots, text.mix & np.uint64(shared.slots.size - 1))
    row = known.waiting[place(n)]
    row[0], row[1], row[2] = np.uint64(text.first), np.uint64(text.last - text.first), text.space
    row[3], row[4], row[5] = text.one, text.two, text.mix
    row[6], row[7] = space[0], space[1] | np.uint64(bare)


def settled(waiting: Any, shared: Any, numbers: Any, count: Any) -> Any:
    """Give those texts that wait their numbers that are short and known, as most are; how many are left. Which ones
    these are stands in column 5 of the first rows, in order.

    First all slots are read, then all entries, each brought near before: memory is far away.
    """
    entries, most = shared.entries, np.uint64(shared.slots.size - 1)
    for n in range(count):
        row = waiting[place(n)]
        _, held = likely_slot(shared.slots, row[5], row[5] & most)
        row[5] = held & LOW_HALF
        fetch(entries, row[5])
    late = 0
    for n in range(count):
        row = waiting[place(n)]
        at, length = row[5], row[1]
        differ = ((entries[at] & LOW_HALF) ^ length) | (length & ~SHORT)
        differ |= (entries[at + ONE] ^ row[2]) | (entries[at + TWO] ^ row[3]) | (entries[at + THREE] ^ row[4])
        numbers[place(n)] = np.int32(entries[at] >> HALF)
        waiting[place(late)][5] = np.uint64(n)
        late += differ != NOTHING
    return late


def look_up(known: Any, shared: Any, table: Any, buffer: Any, numbers: Any, count: Any) -> Any:
    """Give the texts that wait their numbers; those the source does not know, -1 less the number they have here.

    Returns the verdict, and the place of the text at fault.
    """
    for n in range(settled(known.waiting, shared, numbers, count)):
        one = known.waiting[place(n)][5]
        verdict, number, at = looked_up(known, shared, table, buffer, known.waiting[one])
        if verdict != FINE:
            return verdict, at
        numbers[one] = number
    return FINE, 0


def looked_up(known: Any, shared: Any, table: Any, buffer: Any, row: Any) -> Any:
    """The verdict on a text that waits, its number, and its place."""
    first = np.int64(row[0])
    last = first + np.int64(row[1])
    _, held = slot_of(shared, buffer, text_between(buffer, first, last, row[2]))
    if held != NOTHING:
        return FINE, np.int64(shared.entries[held] >> HALF), first
    own = text_between(buffer, first, last, row[7] >> ONE)
    verdict, number, new = name_of(known, table, buffer, own, row[7] & ONE)
    if verdict == FINE and new:
        verdict = written(known, table, buffer, (np.int64(row[6] >> HALF), np.int64(row[6] & LOW_HALF)), own)
    return verdict, -1 - number, first


def entry_hash(known: Any, at: Any) -> Any:
    """The hash of an entry, and where the next one stands."""
    entries = known.entries
    length = np.int64(entries[at] & LOW_HALF)
    words = words_of(length)
    mix = begun(seed(entries[at + 1]), entries[at + HEAD], entries[at + HEAD + 1])
    for word in range(2, words):
        mix = mixed(mix, entries[at + HEAD + word])
    return finished(mix, length), at + rounded(HEAD + words)


def forgotten(known: Any, first: Any, last: Any) -> None:
    """Empty the slots of the entries between two places, the last ones there are."""
    most, at = np.uint64(known.slots.size - 1), max(first, ALIGNED)
    while at < last:
        mix, following = entry_hash(known, at)
        slot = mix & most
        while known.slots[slot] & LOW_HALF != np.uint64(at):
            slot = (slot + ONE) & most
        known.slots[slot] = NOTHING
        at = following


def rebuilt(known: Any, table: Any) -> None:
    """Put every entry into slots that are empty, if that is asked for."""
    most, at, last = np.uint64(known.slots.size - 1), ALIGNED, table[FILLED] if table[REBUILD] != 0 else 0
    table[REBUILD] = 0
    while at < last:
        mix, following = entry_hash(known, at)
        slot = mix & most
        while known.slots[slot] != NOTHING:
            slot = (slot + ONE) & most
        known.slots[slot] = ((mix >> HALF) << HALF) | np.uint64(at)
        at = following


# ---- the names of the source ----------------------------------------------------------------------------------------


def cut_of(buffer: Any, first: Any, last: Any) -> Any:
    """Where the namespace of a name ends: at its last caret, unless that is its first byte; `first` if it has none.

    So a^b^c is one name, whether it was written as |a^b c or |a b^c or |a b:c.
    """
    at = last - 1
    while at > first and byte_at(buffer, at) != CARET:
        at -= 1
    return max(at, first)


def full_name(buffer: Any, first: Any, last: Any, known: Any, table: Any) -> Any:
    """A name in full as a text in its namespace, which is made known if it is not; and the verdict on that."""
    cut = cut_of(buffer, first, last)
    if cut == first:
        return FINE, text_between(buffer, first, last, NO_NAMESPACE)
    space, verdict = text_between(buffer, first, cut, IS_NAMESPACE), FINE
    slot, held = slot_of(known, buffer, space)
    if held == NOTHING:
        verdict = added(known, table, buffer, space, slot)
        held = known.slots[slot] & LOW_HALF
    return verdict, text_between(buffer, cut + 1, last, held)


def number_names(buffer: Any, bare: Any, out: Any, known: Any, table: Any) -> None:
    """The numbers of names that stand one a line, those after the DONE first, as far as there is room for new ones."""
    rebuilt(known, table)
    i, row = table[PLACE], table[DONE]
    while row < out.size:
        last = i
        while byte_at(buffer, last) != NEWLINE:
            last += 1
        entries, filled = table[ENTRIES], table[FILLED]
        verdict, text = full_name(buffer, i, last, known, table)
        number = np.int64(0)
        if verdict == FINE:
            verdict, number, _ = name_of(known, table, buffer, text, bare[row])
        if verdict != FINE:
            forgotten(known, filled, table[FILLED])
            table[ENTRIES], table[FILLED] = entries, filled
            break
        out[row] = number
        row += 1
        i = last + 1
    table[PLACE], table[DONE] = i, row


read_buffer = read_bare = read_out = read_known = unbound


def vw_numbers(table: Any) -> int:
    """`number_names` on what the table holds."""
    number_names(read_buffer(table), read_bare(table), read_out(table), read_known(table), table)
    return 0
