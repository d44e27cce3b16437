"""One round from a dict in one call: a compiled function that the interpreter calls as it calls its built-in ones.

Everything that depends on how CPython lays out its objects is in this module. `read_dict` reads a dict through
functions of Python's C interface, whose addresses stand in its table, and runs a loop on the row. It takes only what
it knows: a plain dict, plain names or whole numbers, plain numbers. For anything else it returns None, having changed
nothing. No Python code runs meanwhile, unless a learner knows names of a class with its own comparison: so a name is
held while it is looked up, and a reader that is called again meanwhile refuses.

It is used on the versions of Python that the tests ran on (TESTED). On others, and with NOREGRET_DICT_READER=0, rows
take the general path, with the same results.
"""

import ctypes
import math
import os
import sys
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from noregret.algebra.verbs import unbound
from noregret.jit.compiled import Entry, get_function, vectors
from noregret.jit.layout import Table, address, fill_named
from noregret.state.guarded_round import LARGEST, UNDO, largest
from noregret.state.slots import ARRAY, WORD, count_slots, number_slots

word_at = double_at = table_at = call_loop = call_word = call_int = call_double = call_void = unbound
read_idx = read_val = read_ends = read_truth = read_importance = read_scores = unbound

TESTED = ((3, 11),)  # the versions of CPython that the tests ran on
TYPE, CONTENT = 8, 16  # where an object has the address of its type, and its first word of its own
UNFIT, NEW, RAISED = -1, -2, -3  # in place of a number of features


class DictSlots(NamedTuple):
    """The table of `read_dict`."""

    busy: int = WORD  # 1 while a dict is read
    position: int = WORD  # these three are written by PyDict_Next
    key: int = WORD
    value: int = WORD
    next_item: int = WORD  # FUNCTIONS
    get_item: int = WORD
    as_word: int = WORD
    as_double: int = WORD
    error: int = WORD
    clear_error: int = WORD
    hold: int = WORD
    release: int = WORD
    make_float: int = WORD
    make_int: int = WORD
    bytes_at: int = WORD
    bytes_size: int = WORD
    dict_type: int = WORD  # OBJECTS
    str_type: int = WORD
    int_type: int = WORD
    bool_type: int = WORD
    float_type: int = WORD
    double_type: int = WORD
    none: int = WORD
    true: int = WORD
    false: int = WORD
    names: int = WORD  # the dict of names and their numbers; 0: numbers are names
    limit: int = WORD  # numbers of features are below this
    unknown: int = WORD  # the number of an unknown name: a cell that no feature owns, or NEW or UNFIT
    learns: int = WORD  # 1 to learn the row, 0 to score it
    loop: int = WORD
    loop_table: int = WORD
    undo_log: int = WORD
    compare: int = WORD  # LARGEST: the result is the class of the largest score
    idx: int = ARRAY
    val: int = ARRAY
    ends: int = ARRAY
    truth: int = ARRAY
    importance: int = ARRAY
    scores: int = ARRAY


FUNCTIONS = {
    "next_item": "PyDict_Next",
    "get_item": "PyDict_GetItemWithError",
    "as_word": "PyLong_AsLongLong",
    "as_double": "PyLong_AsDouble",
    "error": "PyErr_Occurred",
    "clear_error": "PyErr_Clear",
    "hold": "Py_IncRef",
    "release": "Py_DecRef",
    "make_float": "PyFloat_FromDouble",
    "make_int": "PyLong_FromLongLong",
    "bytes_at": "PyBytes_AsString",
    "bytes_size": "PyBytes_Size",
}
OBJECTS = {
    "dict_type": dict, "str_type": str, "int_type": int, "bool_type": bool, "float_type": float,
    "double_type": np.float64, "none": None, "true": True, "false": False,
}  # fmt: skip
AT = number_slots(DictSlots)
ARRAYS: dict[str, tuple[int, type[np.generic]]] = {
    "idx": (AT.idx, np.int32),
    "val": (AT.val, np.float64),
    "ends": (AT.ends, np.int64),
    "truth": (AT.truth, np.float64),
    "importance": (AT.importance, np.float64),
    "scores": (AT.scores, np.float64),
}


# ---- the compiled function ----------------------------------------------------------------------------------------


def read_dict(owner: Any, given: Any, count: Any) -> Any:
    """Score or learn a row: `(dict)`, or `(numbers, values)`, the bytes of int64 and float64.

    To learn it, the truth and the importance weight of the round come last.

    The result is an object: a score, or the class with the largest one; True for a round that was learned. None: this
    row is for the general path. False: the row has new names. In both cases nothing has changed. No object (0) means
    that an error was raised.
    """
    at = word_at(owner + CONTENT)
    table = table_at(at)
    row = count - 2 * table[AT.learns]  # how many arguments make up the row
    if table[AT.busy] != 0 or row < 1 or row > 2:
        return share(table, table[AT.none])
    if row == 1:
        table[AT.busy] = 1
        n = read_row(table, at, word_at(given))
        table[AT.busy] = 0
    else:
        n = copy_row(table, word_at(given), word_at(given + 8))
    if n == RAISED:
        return 0
    if n < 0:
        return share(table, table[AT.false] if n == NEW else table[AT.none])
    read_ends(table)[1] = n
    if table[AT.learns] != 0:
        if table[AT.undo_log] != 0:
            table_at(table[AT.undo_log])[UNDO.touched + 1] = n
        fine, truth = as_number(table, word_at(given + 8 * (count - 2)))
        sound, importance = as_number(table, word_at(given + 8 * (count - 1)))
        read_truth(table)[0] = truth
        read_importance(table)[0] = importance
        if not (fine and sound) or call_loop(table[AT.loop], table[AT.loop_table]) != 0:
            return share(table, table[AT.none])
        return share(table, table[AT.true])
    scores = read_scores(table)
    bad = call_loop(table[AT.loop], table[AT.loop_table])
    for i in range(scores.size):
        bad |= 0 if math.isfinite(scores[i]) else 1
    if bad != 0:
        return share(table, table[AT.none])
    if table[AT.compare] == LARGEST:
        return call_word(table[AT.make_int], (largest(scores),))
    return call_word(table[AT.make_float], (scores[0],))


def share(table: Any, thing: Any) -> Any:
    """A new reference to an object, as what is returned must be."""
    call_void(table[AT.hold], (thing,))
    return thing


def read_row(table: Any, at: Any, x: Any) -> Any:
    """Copy the row in a dict: returns how many features it has; or UNFIT, NEW or RAISED."""
    if word_at(x + TYPE) != table[AT.dict_type]:
        return UNFIT
    idx, val, n = read_idx(table), read_val(table), 0
    table[AT.position] = 0
    while call_int(table[AT.next_item], (x, at + 8 * AT.position, at + 8 * AT.key, at + 8 * AT.value)) != 0:
        key, value = table[AT.key], table[AT.value]
        fine, number = as_number(table, value)  # first: looking up a name might take the value away
        if n == val.size or not fine:
            return UNFIT
        j = find_feature(table, key)
        if j < 0:
            return j
        idx[n] = j
        val[n] = number
        n += 1
    return n


def copy_row(table: Any, numbers: Any, values: Any) -> Any:
    """Copy a row from the bytes of its numbers and values: returns how many features it has, or UNFIT."""
    idx, val = read_idx(table), read_val(table)
    size = call_word(table[AT.bytes_size], (numbers,))
    n = size // 8
    if n > val.size or call_word(table[AT.bytes_size], (values,)) != size:
        return UNFIT
    first, second = call_word(table[AT.bytes_at], (numbers,)), call_word(table[AT.bytes_at], (values,))
    for k in range(n):
        j = word_at(first + 8 * k)
        if j < 0 or j >= table[AT.limit]:
            return UNFIT
        idx[k] = j
        val[k] = double_at(second + 8 * k)
    return n


def as_number(table: Any, thing: Any) -> Any:
    """Whether an object is a plain number, and its value."""
    kind = word_at(thing + TYPE)
    if kind == table[AT.float_type] or kind == table[AT.double_type]:
        return True, double_at(thing + CONTENT)
    if kind == table[AT.int_type] or kind == table[AT.bool_type]:
        value = call_double(table[AT.as_double], (thing,))
        return value != -1.0 or not failed(table), value
    return False, 0.0


def find_feature(table: Any, key: Any) -> Any:
    """The number of a feature, below the limit; of an unknown one what the table says, which may be NEW or UNFIT."""
    kind = word_at(key + TYPE)
    if table[AT.names] == 0:
        return as_index(table, key) if kind == table[AT.int_type] else UNFIT
    if kind != table[AT.str_type]:
        return UNFIT
    call_void(table[AT.hold], (key,))
    number = call_word(table[AT.get_item], (table[AT.names], key))
    call_void(table[AT.release], (key,))
    if number != 0:
        return as_index(table, number)
    return RAISED if call_word(table[AT.error], (0,)) != 0 else table[AT.unknown]


def as_index(table: Any, thing: Any) -> Any:
    """A whole number from 0 to below the limit, or UNFIT."""
    j = call_word(table[AT.as_word], (thing,))
    if j == -1:
        failed(table)
    return j if 0 <= j < table[AT.limit] else UNFIT


def failed(table: Any) -> Any:
    """Whether the last conversion raised an error; the error is cleared."""
    refused = call_word(table[AT.error], (0,)) != 0
    if refused:
        call_void(table[AT.clear_error], (0,))
    return refused


# ---- as a function of Python --------------------------------------------------------------------------------------


class OwningTable(np.ndarray[Any, np.dtype[np.int64]]):
    """A table that keeps the arrays alive whose addresses it holds."""

    buffers: tuple[object, ...] = ()


def make_table(buffers: tuple[object, ...], **values: Any) -> OwningTable:
    """A table of `read_dict`, with these values in the slots of their names."""
    table = python_addresses().copy().view(OwningTable)
    table.buffers = buffers
    fill_named(table, AT, **values)
    return table


def make_function(table: OwningTable) -> Callable[..., Any]:
    """`read_dict` on this table, as a built-in function of Python; it keeps the table alive."""
    make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    function = make(("PyCFunction_NewEx", ctypes.pythonapi))
    made: Callable[..., Any] = function(ctypes.addressof(definition(get_dict_reader().address)), table, None)
    return made


def get_dict_reader() -> Entry:
    """The compiled `read_dict`."""
    return get_function(read_dict, vectors(ARRAYS))


class Definition(ctypes.Structure):
    """PyMethodDef: a built-in function's name, its address, how it takes its arguments, its documentation."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("documentation", ctypes.c_char_p),
    )


FAST = 0x80  # arguments come as an array and their number


@cache
def definition(where: int) -> Definition:
    """Kept until the process ends: Python reads it when the last of its functions goes, whatever has gone before."""
    made = Definition(b"read_dict", where, FAST, None)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(made))
    return made


@cache
def python_addresses() -> Table:
    """A table with the functions, types and objects of Python that `read_dict` uses, and nothing else."""
    table = np.zeros(count_slots(DictSlots), np.int64)
    for name, symbol in FUNCTIONS.items():
        table[getattr(AT, name)] = ctypes.cast(getattr(ctypes.pythonapi, symbol), ctypes.c_void_p).value or 0
    for name, thing in OBJECTS.items():
        table[getattr(AT, name)] = id(thing)
    return table


# ---- where it is used ---------------------------------------------------------------------------------------------


def is_enabled() -> bool:
    """Whether dicts are read by compiled code in this process."""
    return os.environ.get("NOREGRET_DICT_READER", "1") != "0" and is_tested() and layout_is_known()


def is_tested() -> bool:
    """Whether this is a version of CPython that the tests ran on, with one thread at a time."""
    one_thread = getattr(sys, "_is_gil_enabled", lambda: True)()
    return one_thread and sys.implementation.name == "cpython" and sys.version_info[:2] in TESTED


@cache
def layout_is_known() -> bool:
    """Whether objects are laid out as `read_dict` expects, looked up in a few of them."""
    if ctypes.sizeof(ctypes.c_void_p) != 8:
        return False
    things: tuple[Any, ...] = ({}, "x", 1, True, 2.5, np.float64(2.5))
    typed = all(ctypes.c_int64.from_address(id(one) + TYPE).value == id(type(one)) for one in things)
    valued = all(ctypes.c_double.from_address(id(one) + CONTENT).value == 2.5 for one in things[-2:])
    array = np.zeros(1)
    return typed and valued and ctypes.c_int64.from_address(id(array) + CONTENT).value == address(array)
