"""What is done to a single row around the loops of transforms: find groups, select entries, number derived features.

These functions are compiled; each reads its arrays from a table of addresses, as the loops of transforms do.
"""

from typing import Any

import numpy as np

from noregret.algebra.verbs import unbound
from noregret.features.fitted import Loop
from noregret.features.keys import number_key

read_ends = read_numbers = read_by_number = read_groups = read_mask = read_val = read_out = unbound
read_sub_ends = read_sub_idx = read_sub_numbers = read_sub_val = unbound
read_first = read_second = read_made = read_slots = read_left = read_right = read_size = unbound
read_options = read_missing = read_idx = read_done = unbound

LEARNS, GROW, LIMIT, UNKNOWN, CHAINED = 0, 1, 2, 3, 4  # the cells of `options`: see `place_keys`


def find_groups(table: Any) -> int:
    """Look up the selector groups of every entry of a row."""
    numbers, by_number, groups = read_numbers(table), read_by_number(table), read_groups(table)
    for k in range(read_ends(table)[1]):
        groups[k] = by_number[numbers[k]]
    return 0


def select(table: Any) -> int:
    """Copy the entries of some groups to a row of their own."""
    numbers, val, groups, mask = read_numbers(table), read_val(table), read_groups(table), read_mask(table)[0]
    idx, to_numbers, to_val, n = read_sub_idx(table), read_sub_numbers(table), read_sub_val(table), 0
    for k in range(read_ends(table)[1]):
        if groups[k] & mask != 0:
            idx[n] = to_numbers[n] = numbers[k]
            to_val[n] = val[k]
            n += 1
    read_sub_ends(table)[1] = n
    return 0


def merge(table: Any) -> int:
    """Put the values of the selected entries back to their places among the others."""
    groups, mask, val, out, found = read_groups(table), read_mask(table)[0], read_val(table), read_out(table), 0
    changed = read_sub_val(table)
    for k in range(read_ends(table)[1]):
        out[k] = val[k]
        if groups[k] & mask != 0:
            out[k] = changed[found]
            found += 1
    return 0


def place_keys(table: Any) -> int:
    """Number the derived features of a row. Raises where one cannot be numbered, and says whether a key was missing.

    A new key gets a number only while `options` says so; to be scored, it has the number of no feature.
    """
    first, second, options = read_first(table), read_second(table), read_options(table)
    known = (read_slots(table), read_left(table), read_right(table), read_size(table))
    idx, numbers, n, grow = read_idx(table), read_numbers(table), read_made(table)[0], options[GROW] != 0
    for k in range(n):
        if options[CHAINED] == 0:
            numbers[k] = number_key(first[k], second[k], grow, known)
        elif first[k] < 0:
            numbers[k] = number_key(second[k], first[k], grow, known)
        elif numbers[first[k]] >= 0:
            numbers[k] = number_key(numbers[first[k]], second[k], grow, known)
        else:
            numbers[k] = -1
        if numbers[k] < 0 and options[LEARNS] != 0:
            read_missing(table)[0] = 1
            raise ArithmeticError
    for k in range(n):
        if numbers[k] < 0:
            numbers[k] = options[UNKNOWN]
        if numbers[k] < 0 or numbers[k] >= options[LIMIT]:
            raise ArithmeticError
        idx[k] = numbers[k]
    read_ends(table)[1] = n
    return 0


def require_row(table: Any) -> int:
    """Raise where a loop did not finish its row: the general path makes room for it."""
    if read_done(table)[0] == 0:
        raise ArithmeticError
    return 0


def stage(entry: Any, **arrays: type[np.generic]) -> Loop:
    """Describe a stage: its function, and the types of its arrays by name."""
    return Loop(entry, entry, arrays)


FIND_GROUPS = stage(find_groups, ends=np.int64, numbers=np.int64, by_number=np.int64, groups=np.int64)
SELECT = stage(
    select, ends=np.int64, numbers=np.int64, val=np.float64, groups=np.int64, mask=np.int64, sub_ends=np.int64,
    sub_idx=np.int32, sub_numbers=np.int64, sub_val=np.float64,
)  # fmt: skip
MERGE = stage(merge, ends=np.int64, groups=np.int64, mask=np.int64, val=np.float64, sub_val=np.float64, out=np.float64)
PLACE_KEYS = stage(
    place_keys, first=np.int64, second=np.int64, made=np.int64, slots=np.int64, left=np.int64, right=np.int64,
    size=np.int64, options=np.int64, missing=np.int64, ends=np.int64, idx=np.int32, numbers=np.int64,
)  # fmt: skip
REQUIRE_ROW = stage(require_row, done=np.int64)
