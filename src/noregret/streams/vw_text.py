"""The text of the reader of Vowpal Wabbit's format: plain Python that runs as it stands, slowly, and compiled.

    [label [importance [base]]] ['tag] |[namespace[:scale]] feature[:value] ... |...

`parse_lines` turns whole lines into rows. It believes nothing of the bytes it is given: every scan stops at a newline,
the last byte of the last line is one, and of a line that is not right nothing is there afterwards, not even its names.

Numbers are read by the text of the libsvm reader; when this text runs, ENDS stands for the functions of those names.
"""

from typing import Any, NamedTuple

import numpy as np

from noregret.jit.compiled import unbound
from noregret.streams.hashed_text import BAR, MASKS, after_text, seed, text_at, text_between
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
    after_blanks,
    after_line,
    byte_at,
    load_word,
    number_at,
    place,
    value_at,
)
from noregret.streams.vw_names import (
    BAD_TEXT,
    ENTRIES,
    FILLED,
    FINE,
    FRESH,
    IS_NAMESPACE,
    NAMES,
    NO_NAMESPACE,
    NOT_KNOWN,
    ONE,
    TOGETHER,
    added,
    forgotten,
    look_up,
    rebuilt,
    slot_of,
    wait,
)

QUOTE = 39

# Where the parser stands and what it found: the slots of its table, after those of the names.
VERDICT, FAULT, POSITION, END, LINE, ROWS, NONZEROS, SLOW, WORDS, SCALES, LABELLED, BUFFER = range(5, 17)
OUT = BUFFER + 2  # an address and sizes for each array
KNOWN = OUT + 21
SHARED = KNOWN + 11
SLOTS = SHARED + 11

# Verdicts. After all but the first the table says how things stood before the line at fault, and where the FAULT is.
NO_BAR, NO_LABEL, BAD_LABEL, BAD_WEIGHT, BAD_BASE, TOO_MANY, AFTER_TAG = range(3, 10)
NO_SPACE, BAD_SCALE, SLOW_SCALE, NO_NAME, NO_VALUE, BAD_VALUE, NOT_FINITE, SLOW_FULL = range(10, 18)
IS_LABEL, IS_WEIGHT, IS_BASE = range(3)  # what a word before the first bar is, by its place


class Out(NamedTuple):
    """Where the rows go: offsets, numbers of names, values, labels, weights, line numbers, and what Python must read.

    `slow` holds rows of (where, first, last): value number `where`, to be multiplied by what stands there, is
    text[first:last]; or else the label, weight or base of a row, where = -1 - (3 * row + which). `words` holds the
    labels that are no numbers: (row, first, last); `scales`, what Python has read of them: (first, the scale there).
    """

    indptr: np.ndarray
    idx: np.ndarray
    val: np.ndarray
    y: np.ndarray
    weight: np.ndarray
    lines: np.ndarray
    slow: np.ndarray
    words: np.ndarray
    scales: np.ndarray


def room(size: int, rows: int, slow: int) -> Out:
    """Arrays that no text of this size can overfill: a feature takes at least two bytes, as in "a "."""
    values = size // 2 + 2
    return Out(
        np.zeros(rows + 1, np.int64),
        np.empty(values, np.int32),
        np.empty(values),
        np.empty(rows),
        np.empty(rows),
        np.empty(rows, np.int64),
        np.empty((slow, 3), np.int64),
        np.empty((rows, 3), np.int64),
        np.empty((slow, 2)),
    )


def closes(byte: Any) -> Any:
    """Whether a number may end before this byte."""
    return byte in (BLANK, NEWLINE, BAR, TAB, RETURN)


def usually_closes(byte: Any) -> Any:
    """Whether it is one of those that mostly stand there."""
    return byte in (BLANK, NEWLINE)


ENDS = {"closes": closes, "usually_closes": usually_closes}


# ---- before the first bar -------------------------------------------------------------------------------------------


def after_word(buffer: Any, i: Any) -> Any:
    """As `after_text`, but colons belong to the word."""
    i = after_text(buffer, i)
    while byte_at(buffer, i) == COLON:
        i = after_text(buffer, i + 1)
    return i


def kept_for_python(table: Any, out: Any, where: Any, first: Any, last: Any) -> Any:
    """Note a number that Python must read: FINE, or SLOW_FULL."""
    n = table[SLOW]
    if n >= out.slow.shape[0]:
        return SLOW_FULL
    out.slow[n, 0] = where
    out.slow[n, 1] = first
    out.slow[n, 2] = last
    table[SLOW] = n + 1
    return FINE


def label_word(buffer: Any, table: Any, out: Any, row: Any, first: Any, last: Any) -> Any:
    """Note a label that is no number."""
    if after_text(buffer, first) != last:
        return BAD_LABEL
    n = table[WORDS]
    out.words[n, 0] = row
    out.words[n, 1] = first
    out.words[n, 2] = last
    table[WORDS] = n + 1
    return FINE


def told(buffer: Any, table: Any, out: Any, where: Any, first: Any, last: Any) -> Any:
    """Take the label, the weight or the base of a row: the verdict."""
    row, which = where // 3, where % 3
    verdict, end, value = number_at(buffer, first, BAD_VALUE)
    if verdict == NEEDS_PYTHON:
        return kept_for_python(table, out, -1 - where, first, end)
    number = verdict == FINE
    if which == IS_LABEL:
        out.y[row] = value
        return FINE if number else label_word(buffer, table, out, row, first, last)
    if which == IS_WEIGHT:
        out.weight[row] = value
        return FINE if number and value >= 0.0 else BAD_WEIGHT
    return FINE if number and value == 0.0 else BAD_BASE


def head_at(buffer: Any, i: Any, table: Any, out: Any, row: Any) -> Any:
    """What stands before the first bar: the verdict and where the bar is (or what is wrong).

    A word that begins with a quote, or touches the bar, is a tag.
    """
    out.y[row], out.weight[row] = np.nan, 1.0
    start, count, tagged = i, 0, False
    while byte_at(buffer, i) != BAR:
        if byte_at(buffer, i) == NEWLINE:
            return NO_BAR, start
        end = after_word(buffer, i)
        if not closes(byte_at(buffer, end)):
            return BAD_TEXT, end
        if tagged:
            return AFTER_TAG, i
        if byte_at(buffer, end) == BAR or byte_at(buffer, i) == QUOTE:
            tagged = True
        elif count > IS_BASE:
            return TOO_MANY, i
        else:
            verdict = told(buffer, table, out, 3 * row + count, i, end)
            if verdict != FINE:
                return verdict, i
            count += 1
        i = after_blanks(buffer, end)
    if count == 0 and table[LABELLED] != 0:
        return NO_LABEL, start
    return FINE, i


# ---- after it -------------------------------------------------------------------------------------------------------


def scale_at(buffer: Any, i: Any, table: Any, out: Any) -> Any:
    """The scale at i: the verdict, where it ends, its value. One that Python must read is asked for, and then known."""
    verdict, end, scale = number_at(buffer, i, BAD_SCALE)
    if verdict == NEEDS_PYTHON:
        verdict = SLOW_SCALE
        for n in range(table[SCALES]):
            if out.scales[n, 0] == i:
                verdict, scale = FINE, out.scales[n, 1]
    return verdict, end, scale


class Space(NamedTuple):
    """A namespace: where its text begins and ends, a half of a word each; twice what it is known by here; what it is
    known by to the source; a hash; its scale."""

    where: Any
    here: Any
    own: Any
    seeded: Any
    scale: Any


def space_at(buffer: Any, i: Any, table: Any, out: Any, known: Any, shared: Any) -> Any:
    """The namespace at i: the verdict, where it ends (or what is wrong), and itself."""
    space = Space(NOTHING, NO_NAMESPACE, NO_NAMESPACE, seed(NO_NAMESPACE), 1.0)
    byte = byte_at(buffer, i)
    if closes(byte):
        return FINE, i, space
    if byte == COLON:
        return NO_SPACE, i, space
    text = text_at(buffer, i, IS_NAMESPACE, seed(IS_NAMESPACE))
    slot, here = slot_of(known, buffer, text)
    if here == NOTHING:
        verdict, here = added(known, table, buffer, text, slot), known.slots[slot] & LOW_HALF
        if verdict != FINE:
            return verdict, i, space
    _, own = slot_of(shared, buffer, text)
    own = own if own != NOTHING else NOT_KNOWN
    end, scale = text.last, 1.0
    if byte_at(buffer, end) == COLON:
        verdict, at, scale = scale_at(buffer, end + 1, table, out)
        if verdict != FINE:
            return verdict, end + 1, space
        end = at
    if not closes(byte_at(buffer, end)):
        return BAD_TEXT, end, space
    where = (np.uint64(i) << HALF) | np.uint64(text.last)
    return FINE, end, Space(where, here << ONE, own, seed(own), scale)


def starts_number(byte: Any) -> Any:
    return ZERO <= byte <= NINE or byte in (MINUS, POINT, PLUS)


CASE = np.uint64(0x2020202020202020)
NAN, INF, INFINITY = (np.uint64(int.from_bytes(word, "little")) for word in (b"nan", b"inf", b"infinity"))


def endless(buffer: Any, i: Any, last: Any) -> Any:
    """Whether a word is nan, inf or infinity, in small letters or capitals."""
    word = load_word(buffer, i) | CASE
    if last - i == 3:
        word &= MASKS[3]
        return word in (NAN, INF)
    return last - i == 8 and word == INFINITY


def value_word(buffer: Any, i: Any, last: Any) -> Any:
    """Whether a text from i to `last` may stand for a value, as in city:paris."""
    byte = byte_at(buffer, last)
    if i == last:
        return NO_VALUE if closes(byte) else BAD_VALUE
    if byte == COLON:
        return BAD_VALUE
    return NOT_FINITE if endless(buffer, i, last) else FINE


def feature_at(buffer: Any, i: Any, table: Any, out: Any, k: Any, space: Any) -> Any:
    """Take the value of the feature at i as number k: the verdict, where it ends (or what is wrong), its text, and
    whether it stood without a number."""
    text = text_at(buffer, i, space.own, space.seeded)
    end, bare, value, verdict = text.last, 1, 1.0, FINE
    if byte_at(buffer, end) == COLON:
        at = end + 1
        if starts_number(byte_at(buffer, at)):
            bare = 0
            found, end, value = value_at(buffer, at)
            if found == NEEDS_PYTHON:
                verdict, value = kept_for_python(table, out, k, at, end), 1.0
            elif found != FINE:
                verdict = BAD_VALUE
        else:
            end = after_text(buffer, at)
            verdict = value_word(buffer, at, end)
            text = text_between(buffer, i, end, space.own)
    if verdict != FINE:
        return verdict, i, text, bare
    if not closes(byte_at(buffer, end)):
        return BAD_TEXT, end, text, bare
    value *= space.scale
    if not np.isfinite(value):
        return NOT_FINITE, i, text, bare
    out.val[place(k)] = value
    return FINE, end, text, bare


def features_at(buffer: Any, i: Any, table: Any, out: Any, names: Any, k: Any) -> Any:
    """The features of a row from its first bar on: the verdict, where it ends (or what is wrong), the next k."""
    known, shared = names
    space = Space(NOTHING, NO_NAMESPACE, NO_NAMESPACE, NO_NAMESPACE, 1.0)
    verdict, count = FINE, 0
    while True:
        byte = byte_at(buffer, i)
        if byte > BLANK and byte != BAR and byte != COLON:
            verdict, i, text, bare = feature_at(buffer, i, table, out, k, space)
            if verdict != FINE:
                return verdict, i, k
            wait(known, shared, count, text, (space.where, space.here), bare)
            k += 1
            count += 1
            if byte_at(buffer, i) == BLANK:
                i += 1
        elif byte in (BLANK, TAB, RETURN):
            i += 1
        elif byte == BAR:
            verdict, i, space = space_at(buffer, i + 1, table, out, known, shared)
            if verdict != FINE:
                return verdict, i, k
        elif byte != NEWLINE:
            return (NO_NAME if byte == COLON else BAD_TEXT), i, k
        if count == TOGETHER or byte == NEWLINE:
            verdict, at = look_up(known, shared, table, buffer, out.idx[k - count : k], count)
            if verdict != FINE:
                return verdict, at, k
            count = 0
        if byte == NEWLINE:
            return FINE, i, k


def parse_lines(buffer: Any, out: Any, known: Any, shared: Any, table: Any) -> None:
    """Rows from the lines between POSITION and END, after those that are there, until there is no room for more."""
    rebuilt(known, table)
    i, end, line, row, k = table[POSITION], table[END], table[LINE], table[ROWS], table[NONZEROS]
    verdict = FINE
    while i < end and row < out.y.size:
        at = after_blanks(buffer, i)
        if byte_at(buffer, at) != NEWLINE:
            slow, words = table[SLOW], table[WORDS]
            names, entries, filled, fresh = table[NAMES], table[ENTRIES], table[FILLED], table[FRESH]
            verdict, at = head_at(buffer, at, table, out, row)
            following = k
            if verdict == FINE:
                verdict, at, following = features_at(buffer, at, table, out, (known, shared), k)
            if verdict != FINE:
                forgotten(known, filled, table[FILLED])
                table[SLOW], table[WORDS], table[FAULT] = slow, words, at
                table[NAMES], table[ENTRIES], table[FILLED], table[FRESH] = names, entries, filled, fresh
                break
            k = following
            out.lines[row] = line
            row += 1
            out.indptr[row] = k
        i = after_line(buffer, at)
        line += 1
    table[VERDICT], table[POSITION], table[LINE], table[ROWS], table[NONZEROS] = verdict, i, line, row, k


# ---- compiled -------------------------------------------------------------------------------------------------------


read_buffer = read_out = read_known = read_shared = unbound


def vw(table: Any) -> int:
    """`parse_lines` on what the table holds."""
    parse_lines(read_buffer(table), read_out(table), read_known(table), read_shared(table), table)
    return 0
