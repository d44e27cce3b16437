"""The parser of Vowpal Wabbit's text format: plain Python that is also compiled.

    [label [importance [base]]] ['tag] |[namespace[:scale]] feature[:value] ... |...

`parse_lines` turns whole lines into rows. It is safe for any bytes: every scan stops at a newline, the last byte of the
last line is one, and nothing is kept of a line with a fault, not even its names.

When compiled, ENDS replaces the functions that say where a number may end.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.jit.compiled import unbound
from noregret.streams.hashed_text import BAR, MASKS, hash_text, read_text, seed, skip_text
from noregret.streams.name_table import (
    BAD_TEXT,
    ENTRIES,
    FILLED,
    FINE,
    IS_NAMESPACE,
    NAMES,
    NEW_BYTES,
    NO_NAMESPACE,
    NOT_KNOWN,
    ONE,
    TOGETHER,
    NameTable,
    add_entry,
    enqueue,
    find_slot,
    look_up,
    rebuild_slots,
    remove_entries,
)
from noregret.streams.number_text import (
    BLANK,
    COLON,
    HALF,
    LOW_HALF,
    MINUS,
    NEEDS_PYTHON,
    NEWLINE,
    NINE,
    NOTHING,
    PLUS,
    POINT,
    RETURN,
    TAB,
    ZERO,
    Buffer,
    Slots,
    byte_at,
    load_word,
    read_number,
    read_value,
    skip_blanks,
    skip_line,
    unsigned,
)

QUOTE = 39

# The slots of the parser's table, after those of the name table: its state and results.
STATUS, FAULT, POSITION, END, LINE, ROWS, NONZEROS, DEFERRED, WORDS, SCALES, LABELLED, BUFFER = range(5, 17)
OUT = BUFFER + 2  # an address and the sizes of each array
KNOWN = OUT + 21
SHARED = KNOWN + 11
SLOTS = SHARED + 11

# Status codes. After any but FINE the table holds the state before the faulty line, and the position of the FAULT.
NO_BAR, NO_LABEL, BAD_LABEL, BAD_WEIGHT, BAD_BASE, TOO_MANY, AFTER_TAG = range(3, 10)
NO_SPACE, BAD_SCALE, DEFERRED_SCALE, NO_NAME, NO_VALUE, BAD_VALUE, NOT_FINITE, DEFERRED_FULL = range(10, 18)
IS_LABEL, IS_WEIGHT, IS_BASE = range(3)  # the words before the first bar, in order


class Out(NamedTuple):
    """The output arrays: rows in CSR form, labels, weights, line numbers, and what Python must read.

    `deferred` lists numbers that Python must read, as (where, first, last): value number `where` is to be multiplied by
    the number text[first:last]; a negative `where` = -1 - (3 * row + which) is the label, weight or base of a row.
    `words` lists the labels that are not numbers, as (row, first, last). `scales` holds scales of namespaces that
    Python has read, as (first, scale).
    """

    indptr: NDArray[np.int64]
    idx: NDArray[np.int32]
    val: NDArray[np.float64]
    y: NDArray[np.float64]
    weight: NDArray[np.float64]
    lines: NDArray[np.int64]
    deferred: NDArray[np.int64]
    words: NDArray[np.int64]
    scales: NDArray[np.float64]


def allocate(size: int, rows: int, deferred: int) -> Out:
    """Allocate arrays large enough for any text of this size: a feature takes at least two bytes, as in "a "."""
    values = size // 2 + 2
    return Out(
        np.zeros(rows + 1, np.int64),
        np.empty(values, np.int32),
        np.empty(values),
        np.empty(rows),
        np.empty(rows),
        np.empty(rows, np.int64),
        np.empty((deferred, 3), np.int64),
        np.empty((rows, 3), np.int64),
        np.empty((deferred, 2)),
    )


def ends_number(byte: int) -> Any:
    """Return whether a number may end before this byte."""
    return byte in (BLANK, NEWLINE, BAR, TAB, RETURN)


def usually_ends_number(byte: int) -> Any:
    """Return whether this is one of the bytes that usually follow a number."""
    return byte in (BLANK, NEWLINE)


ENDS = {"ends_number": ends_number, "usually_ends_number": usually_ends_number}


# ---- before the first bar -------------------------------------------------------------------------------------------


def skip_word(buffer: Buffer, i: int) -> Any:
    """Return where a word ends; unlike in `skip_text`, colons belong to it."""
    i = skip_text(buffer, i)
    while byte_at(buffer, i) == COLON:
        i = skip_text(buffer, i + 1)
    return i


def defer_to_python(table: Slots, out: Out, where: int, first: int, last: int) -> Any:
    """Add a number to those that Python must read; return FINE, or DEFERRED_FULL if the list is full."""
    n = table[DEFERRED]
    if n >= out.deferred.shape[0]:
        return DEFERRED_FULL
    out.deferred[n, 0] = where
    out.deferred[n, 1] = first
    out.deferred[n, 2] = last
    table[DEFERRED] = n + 1
    return FINE


def note_label_word(buffer: Buffer, table: Slots, out: Out, row: int, first: int, last: int) -> Any:
    """Add a label that is not a number to the list of words."""
    if skip_text(buffer, first) != last:
        return BAD_LABEL
    n = table[WORDS]
    out.words[n, 0] = row
    out.words[n, 1] = first
    out.words[n, 2] = last
    table[WORDS] = n + 1
    return FINE


def read_head_word(buffer: Buffer, table: Slots, out: Out, where: int, first: int, last: int) -> Any:
    """Read the label, the weight or the base of a row; return the status."""
    row, which = where // 3, where % 3
    status, end, value = read_number(buffer, first, BAD_VALUE)
    if status == NEEDS_PYTHON:
        return defer_to_python(table, out, -1 - where, first, end)
    number = status == FINE
    if which == IS_LABEL:
        out.y[row] = value
        return FINE if number else note_label_word(buffer, table, out, row, first, last)
    if which == IS_WEIGHT:
        out.weight[row] = value
        return FINE if number and value >= 0.0 else BAD_WEIGHT
    return FINE if number and value == 0.0 else BAD_BASE


def read_head(buffer: Buffer, i: int, table: Slots, out: Out, row: int) -> Any:
    """Read what comes before the first bar; return the status and where the bar is (or the fault).

    A word that begins with a quote, or touches the bar, is a tag.
    """
    out.y[row], out.weight[row] = np.nan, 1.0
    start, count, tagged = i, 0, False
    while byte_at(buffer, i) != BAR:
        if byte_at(buffer, i) == NEWLINE:
            return NO_BAR, start
        end = skip_word(buffer, i)
        if not ends_number(byte_at(buffer, end)):
            return BAD_TEXT, end
        if tagged:
            return AFTER_TAG, i
        if byte_at(buffer, end) == BAR or byte_at(buffer, i) == QUOTE:
            tagged = True
        elif count > IS_BASE:
            return TOO_MANY, i
        else:
            status = read_head_word(buffer, table, out, 3 * row + count, i, end)
            if status != FINE:
                return status, i
            count += 1
        i = skip_blanks(buffer, end)
    if count == 0 and table[LABELLED] != 0:
        return NO_LABEL, start
    return FINE, i


# ---- after the first bar --------------------------------------------------------------------------------------------


def read_scale(buffer: Buffer, i: int, table: Slots, out: Out) -> Any:
    """Read the scale of a namespace; return the status, where it ends, its value.

    For one that Python must read the status is DEFERRED_SCALE; parsing is then repeated with the scale in `out.scales`.
    """
    status, end, scale = read_number(buffer, i, BAD_SCALE)
    if status == NEEDS_PYTHON:
        status = DEFERRED_SCALE
        for n in range(table[SCALES]):
            if out.scales[n, 0] == i:
                status, scale = FINE, out.scales[n, 1]
    return status, end, scale


class Space(NamedTuple):
    """A namespace.

    `where` holds the first and last position of its text, 32 bits each; `here`, twice its entry in the parser's table;
    `own`, its entry in the shared table; `seed_hash`, the start value of its hashes; `scale`, the factor of its values.
    """

    where: Any
    here: Any
    own: Any
    seed_hash: Any
    scale: Any


def read_namespace(buffer: Buffer, i: int, table: Slots, out: Out, known: NameTable, shared: NameTable) -> Any:
    """Read a namespace; return the status, where it ends (or the fault), and the namespace."""
    space = Space(NOTHING, NO_NAMESPACE, NO_NAMESPACE, seed(NO_NAMESPACE), 1.0)
    byte = byte_at(buffer, i)
    if ends_number(byte):
        return FINE, i, space
    if byte == COLON:
        return NO_SPACE, i, space
    text = read_text(buffer, i, IS_NAMESPACE, seed(IS_NAMESPACE))
    slot, here = find_slot(known, buffer, text)
    if here == NOTHING:
        status, here = add_entry(known, table, buffer, text, slot), known.slots[slot] & LOW_HALF
        if status != FINE:
            return status, i, space
    _, own = find_slot(shared, buffer, text)
    own = own if own != NOTHING else NOT_KNOWN
    end, scale = text.last, 1.0
    if byte_at(buffer, end) == COLON:
        status, at, scale = read_scale(buffer, end + 1, table, out)
        if status != FINE:
            return status, end + 1, space
        end = at
    if not ends_number(byte_at(buffer, end)):
        return BAD_TEXT, end, space
    where = (np.uint64(i) << HALF) | np.uint64(text.last)
    return FINE, end, Space(where, here << ONE, own, seed(own), scale)


def starts_number(byte: int) -> Any:
    """Return whether a number may start with this byte."""
    return ZERO <= byte <= NINE or byte in (MINUS, POINT, PLUS)


CASE = np.uint64(0x2020202020202020)
NAN, INF, INFINITY = (np.uint64(int.from_bytes(word, "little")) for word in (b"nan", b"inf", b"infinity"))


def is_not_finite(buffer: Buffer, i: int, last: int) -> Any:
    """Return whether a word is nan, inf or infinity, in lower or upper case."""
    word = load_word(buffer, i) | CASE
    if last - i == 3:
        word &= MASKS[3]
        return word in (NAN, INF)
    return last - i == 8 and word == INFINITY


def value_word(buffer: Buffer, i: int, last: int) -> Any:
    """Return FINE if a text from i to `last` may be a value that is a word, as in city:paris."""
    byte = byte_at(buffer, last)
    if i == last:
        return NO_VALUE if ends_number(byte) else BAD_VALUE
    if byte == COLON:
        return BAD_VALUE
    return NOT_FINITE if is_not_finite(buffer, i, last) else FINE


def read_feature(buffer: Buffer, i: int, table: Slots, out: Out, k: int, space: Space) -> Any:
    """Read the feature at i as value number k.

    Returns the status, where it ends (or the fault), its text, and whether it has no number.
    """
    text = read_text(buffer, i, space.own, space.seed_hash)
    end, bare, value, status = text.last, 1, 1.0, FINE
    if byte_at(buffer, end) == COLON:
        at = end + 1
        if starts_number(byte_at(buffer, at)):
            bare = 0
            found, end, value = read_value(buffer, at)
            if found == NEEDS_PYTHON:
                status, value = defer_to_python(table, out, k, at, end), 1.0
            elif found != FINE:
                status = BAD_VALUE
        else:
            end = skip_text(buffer, at)
            status = value_word(buffer, at, end)
            text = hash_text(buffer, i, end, space.own)
    if status != FINE:
        return status, i, text, bare
    if not ends_number(byte_at(buffer, end)):
        return BAD_TEXT, end, text, bare
    value *= space.scale
    if not np.isfinite(value):
        return NOT_FINITE, i, text, bare
    out.val[unsigned(k)] = value
    return FINE, end, text, bare


def read_features(buffer: Buffer, i: int, table: Slots, out: Out, names: tuple[NameTable, NameTable], k: int) -> Any:
    """Read the features of a row from its first bar on; return the status, where it ends (or the fault), the next k."""
    known, shared = names
    space = Space(NOTHING, NO_NAMESPACE, NO_NAMESPACE, NO_NAMESPACE, 1.0)
    status, count = FINE, 0
    while True:
        byte = byte_at(buffer, i)
        if byte > BLANK and byte != BAR and byte != COLON:
            status, i, text, bare = read_feature(buffer, i, table, out, k, space)
            if status != FINE:
                return status, i, k
            enqueue(known, shared, count, text, (space.where, space.here), bare)
            k += 1
            count += 1
            if byte_at(buffer, i) == BLANK:
                i += 1
        elif byte in (BLANK, TAB, RETURN):
            i += 1
        elif byte == BAR:
            status, i, space = read_namespace(buffer, i + 1, table, out, known, shared)
            if status != FINE:
                return status, i, k
        elif byte != NEWLINE:
            return (NO_NAME if byte == COLON else BAD_TEXT), i, k
        if count == TOGETHER or byte == NEWLINE:
            status, at = look_up(known, shared, table, buffer, out.idx[k - count : k], count)
            if status != FINE:
                return status, at, k
            count = 0
        if byte == NEWLINE:
            return FINE, i, k


def parse_lines(buffer: Buffer, out: Out, known: NameTable, shared: NameTable, table: Slots) -> None:
    """Parse the lines between POSITION and END and append their rows, until all are done or the arrays are full."""
    rebuild_slots(known, table)
    i, end, line, row, k = table[POSITION], table[END], table[LINE], table[ROWS], table[NONZEROS]
    status = FINE
    while i < end and row < out.y.size:
        at = skip_blanks(buffer, i)
        if byte_at(buffer, at) != NEWLINE:
            deferred, words = table[DEFERRED], table[WORDS]
            names, entries, filled, new_bytes = table[NAMES], table[ENTRIES], table[FILLED], table[NEW_BYTES]
            status, at = read_head(buffer, at, table, out, row)
            following = k
            if status == FINE:
                status, at, following = read_features(buffer, at, table, out, (known, shared), k)
            if status != FINE:
                remove_entries(known, filled, table[FILLED])
                table[DEFERRED], table[WORDS], table[FAULT] = deferred, words, at
                table[NAMES], table[ENTRIES], table[FILLED], table[NEW_BYTES] = names, entries, filled, new_bytes
                break
            k = following
            out.lines[row] = line
            row += 1
            out.indptr[row] = k
        i = skip_line(buffer, at)
        line += 1
    table[STATUS], table[POSITION], table[LINE], table[ROWS], table[NONZEROS] = status, i, line, row, k


# ---- compiled -------------------------------------------------------------------------------------------------------


read_buffer = read_out = read_known = read_shared = unbound


def vw(table: Slots) -> int:
    """Run `parse_lines` on the arrays in the table."""
    parse_lines(read_buffer(table), read_out(table), read_known(table), read_shared(table), table)
    return 0
