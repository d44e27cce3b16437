"""The text of a round from a dict, called by the interpreter as it calls its own built-in functions.

`take_round` reads the dict through functions of Python's own interface, whose addresses stand in its table, and runs a
loop on the row. It takes only what it knows: a plain dict, plain names or whole numbers, plain numbers. Of anything
else it says so, having changed nothing. No code written in Python runs meanwhile, unless a learner knows names of a
class of their own, which says how they are compared; so a name is held while it is looked up, and whoever calls keeps
all arrays of the table alive.
"""

import math
from typing import Any

import numpy as np

from noregret.algebra.verbs import unbound
from noregret.state.guarded_round import LARGEST, TOUCHED, largest

word_at = double_at = table_at = call = ask = ask_int = ask_double = tell = unbound
read_idx = read_val = read_ends = read_truth = read_importance = read_scores = unbound

# Where things stand in an object of Python; `fits` sees whether they do.
TYPE, CONTENT = 8, 16

# The slots of the table.
POSITION, KEY, VALUE = 0, 1, 2  # what Python writes while a dict is read
NEXT, GET, WHOLE, AS_DOUBLE, FAILED, CLEAR, HOLD, DROP, FLOAT_OF, WHOLE_OF = range(3, 13)  # functions of Python
FUNCTIONS = (
    "PyDict_Next", "PyDict_GetItemWithError", "PyLong_AsLongLong", "PyLong_AsDouble", "PyErr_Occurred", "PyErr_Clear",
    "Py_IncRef", "Py_DecRef", "PyFloat_FromDouble", "PyLong_FromLongLong",
)  # fmt: skip
DICT, STR, INT, BOOL, FLOAT, DOUBLE = range(13, 19)  # types
NONE, TRUE, FALSE = range(19, 22)
KNOWN, LIMIT, UNKNOWN_SLOT, SIZE = range(
    22, 26
)  # names by number, or 0: numbers are names; where numbers end; see `number_of`
LEARNS, LOOP, LOOP_TABLE, UNDO_LOG, BY = range(26, 31)
IDX, VAL, ENDS, TRUTH, IMPORTANCE, SCORES = range(31, 43, 2)
SLOTS = 43
ARRAYS = {
    "read_idx": (IDX, np.dtype(np.int32)),
    "read_val": (VAL, np.dtype(np.float64)),
    "read_ends": (ENDS, np.dtype(np.int64)),
    "read_truth": (TRUTH, np.dtype(np.float64)),
    "read_importance": (IMPORTANCE, np.dtype(np.float64)),
    "read_scores": (SCORES, np.dtype(np.float64)),
}

UNFIT, NEW, RAISED = -1, -2, -3


def take_round(owner: Any, given: Any, count: Any) -> Any:
    """Score the row that is given, or learn it with the truth that is given last; without a row, the one in its place.

    The answer is an object: a score, or the number of the class with the largest one; True for a round that was
    learned. None: this is not for here. False: the row has names that are new. Then nothing has changed. No object
    is the answer where an error was raised.
    """
    at = word_at(owner + CONTENT)
    table = table_at(at)
    n = row_of(table, at, word_at(given)) if count > table[LEARNS] else table[SIZE]
    if n == RAISED:
        return 0
    if n < 0:
        return answered(table, table[FALSE] if n == NEW else table[NONE])
    read_ends(table)[1] = n
    table_at(table[UNDO_LOG])[TOUCHED + 1] = n
    if table[LEARNS] != 0:
        fine, truth = number(table, word_at(given + 8 * (count - 1)))
        read_truth(table)[0] = truth
        read_importance(table)[0] = 1.0
        if not fine or call(table[LOOP], table[LOOP_TABLE]) != 0:
            return answered(table, table[NONE])
        return answered(table, table[TRUE])
    scores = read_scores(table)
    bad = call(table[LOOP], table[LOOP_TABLE])
    for i in range(scores.size):
        bad |= 0 if math.isfinite(scores[i]) else 1
    if bad != 0:
        return answered(table, table[NONE])
    if table[BY] == LARGEST:
        return ask(table[WHOLE_OF], (largest(scores),))
    return ask(table[FLOAT_OF], (scores[0],))


def answered(table: Any, thing: Any) -> Any:
    """An object that Python has, held once more, as what is returned must be."""
    tell(table[HOLD], (thing,))
    return thing


def row_of(table: Any, at: Any, x: Any) -> Any:
    """Write the row in a dict: how many features it has; or UNFIT, NEW or RAISED."""
    if word_at(x + TYPE) != table[DICT]:
        return UNFIT
    idx, val, n = read_idx(table), read_val(table), 0
    table[POSITION] = 0
    while ask_int(table[NEXT], (x, at + 8 * POSITION, at + 8 * KEY, at + 8 * VALUE)) != 0:
        key, value = table[KEY], table[VALUE]
        fine, size = number(table, value)  # first: looking up a name might take the value away
        if n == val.size or not fine:
            return UNFIT
        j = number_of(table, key)
        if j < 0:
            return j
        idx[n] = j
        val[n] = size
        n += 1
    return n


def number(table: Any, thing: Any) -> Any:
    """Whether an object is a plain number, and its value."""
    kind = word_at(thing + TYPE)
    if kind == table[FLOAT] or kind == table[DOUBLE]:
        return True, double_at(thing + CONTENT)
    if kind == table[INT] or kind == table[BOOL]:
        value = ask_double(table[AS_DOUBLE], (thing,))
        return value != -1.0 or not failed(table), value
    return False, 0.0


def number_of(table: Any, key: Any) -> Any:
    """The number of a feature, below LIMIT; of an unknown one UNKNOWN_SLOT, which may be NEW or UNFIT."""
    kind = word_at(key + TYPE)
    if table[KNOWN] == 0:
        return whole(table, key) if kind == table[INT] else UNFIT
    if kind != table[STR]:
        return UNFIT
    tell(table[HOLD], (key,))
    found = ask(table[GET], (table[KNOWN], key))
    tell(table[DROP], (key,))
    if found != 0:
        return whole(table, found)
    return RAISED if ask(table[FAILED], (0,)) != 0 else table[UNKNOWN_SLOT]


def whole(table: Any, thing: Any) -> Any:
    """A whole number from 0 to below LIMIT, or UNFIT."""
    j = ask(table[WHOLE], (thing,))
    if j == -1:
        failed(table)
    return j if 0 <= j < table[LIMIT] else UNFIT


def failed(table: Any) -> Any:
    """Whether the last conversion was refused; Python is made to forget it."""
    refused = ask(table[FAILED], (0,)) != 0
    if refused:
        tell(table[CLEAR], (0,))
    return refused
