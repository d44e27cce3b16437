"""One round whose row is prepared first: hashed features, transforms, class weights and the constant feature.

`prepared_round` is compiled. It stands between the reader of a row and the loop, or the guarded round, that the row is
for; what it changes besides the row (statistics of transforms, counts of classes) it restores if the round fails.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from noregret.algebra.verbs import unbound
from noregret.features.fitted import LEARN
from noregret.state.guarded_round import CHECK, RESTORE, SAVE, UNDO
from noregret.state.slots import ARRAY, WORD, number_slots

array_at = table_at = call_loop = unbound
read_given_idx = read_given_val = read_given_ends = read_idx = read_val = read_ends = unbound
read_saved = read_counts = read_truth = read_importance = unbound

IDX, VAL, OUT, STATISTICS = LEARN + 3, LEARN + 5, LEARN + 7, LEARN + 9  # slots of the table of a transform's loop
TRUTH_IS_CODE = -1  # in place of the class whose truth is +1


class PreparedSlots(NamedTuple):
    """The table of `prepared_round`."""

    learns: int = WORD  # 1 to learn the row, 0 to score it
    loop: int = WORD
    loop_table: int = WORD
    undo_log: int = WORD  # of the guarded round, which is told how many features the row has; 0: it knows
    given_idx: int = ARRAY  # the row as it was read
    given_val: int = ARRAY
    given_ends: int = ARRAY
    idx: int = ARRAY  # the row as the loop reads it
    val: int = ARRAY
    ends: int = ARRAY
    hashed: int = WORD  # the number of cells that names are hashed to, or 0; a number beyond is a cell with the sign -1
    sort: int = WORD  # for hashed features: sorts a row and sums what shares a cell
    sort_table: int = WORD
    bias: int = WORD  # 1: feature 0 is constant; its value is in `val` already
    saved: int = ARRAY  # room to save the statistics that a row changes
    counts: int = ARRAY  # rounds of each class, where classes are balanced
    root: int = WORD  # 1: the weight of a class is the root of the balanced one
    positive: int = WORD  # the class whose truth is +1, or TRUTH_IS_CODE
    truth: int = ARRAY
    importance: int = ARRAY
    transforms: int = WORD
    first: int = 0  # from here on four words for each transform: loop, table, how many fields and counters it has


PREPARED = number_slots(PreparedSlots)
WORDS_EACH = 4
PREPARED_ARRAYS: dict[str, tuple[int, type[np.generic]]] = {
    "given_idx": (PREPARED.given_idx, np.int32),
    "given_val": (PREPARED.given_val, np.float64),
    "given_ends": (PREPARED.given_ends, np.int64),
    "idx": (PREPARED.idx, np.int32),
    "val": (PREPARED.val, np.float64),
    "ends": (PREPARED.ends, np.int64),
    "saved": (PREPARED.saved, np.float64),
    "counts": (PREPARED.counts, np.int64),
    "truth": (PREPARED.truth, np.float64),
    "importance": (PREPARED.importance, np.float64),
}


def prepared_round(table: Any) -> int:
    """Prepare the row that was read, then score or learn it; if that fails, restore everything and raise."""
    bad = 0 if all_finite(read_given_val(table), read_given_ends(table)[1]) else 1
    if table[PREPARED.hashed] != 0 and bad == 0:
        bad = join_cells(table)
    n = read_given_ends(table)[1]
    learns = table[PREPARED.learns] != 0
    if learns:
        visit_statistics(SAVE, table, n)
    if bad == 0:
        bad = transform(table, n)
    if learns:
        bad |= visit_statistics(CHECK, table, n)
    code = -1
    if learns and read_counts(table).size > 0:
        code = weigh_class(table)
    if bad == 0:
        bad = call_loop(table[PREPARED.loop], table[PREPARED.loop_table])
    if bad != 0:
        if learns:
            visit_statistics(RESTORE, table, n)
        raise ArithmeticError
    if code >= 0:
        read_counts(table)[code] += 1
    return 0


def all_finite(values: Any, size: Any) -> bool:
    fine = True
    for k in range(size):
        fine &= math.isfinite(values[k])
    return fine


def join_cells(table: Any) -> Any:
    """Give hashed features their signs, sort them and sum what shares a cell; not 0 where that failed."""
    idx, val, cells = read_given_idx(table), read_given_val(table), table[PREPARED.hashed]
    for k in range(read_given_ends(table)[1]):
        if idx[k] >= cells:
            idx[k] -= cells
            val[k] = -val[k]
    return call_loop(table[PREPARED.sort], table[PREPARED.sort_table])


def transform(table: Any, n: Any) -> Any:
    """Run the transforms and write the row that the loop reads; 1 where a value is not finite or a loop failed."""
    bad, values = 0, read_given_val(table)
    for at in range(table[PREPARED.transforms]):
        first = PREPARED.first + WORDS_EACH * at
        inner = table_at(table[first + 1])
        inner[IDX + 1] = inner[VAL + 1] = inner[OUT + 1] = n
        bad |= call_loop(table[first], table[first + 1])
        values = array_at(inner[OUT], n)
        bad |= 0 if all_finite(values, n) else 1
    given, idx, val, bias = read_given_idx(table), read_idx(table), read_val(table), table[PREPARED.bias]
    idx[0] = 0
    for k in range(n):
        idx[k + bias] = given[k] + bias
        val[k + bias] = values[k]
    read_ends(table)[1] = n + bias
    if table[PREPARED.undo_log] != 0:
        table_at(table[PREPARED.undo_log])[UNDO.touched + 1] = n + bias
    return bad


def visit_statistics(task: Any, table: Any, n: Any) -> Any:
    """Save, check or restore the statistics of the features of a row; 1 when a checked one is not finite, else 0."""
    idx, saved, bad, at = read_given_idx(table), read_saved(table), 0, 0
    for transform in range(table[PREPARED.transforms]):
        first = PREPARED.first + WORDS_EACH * transform
        inner = table_at(table[first + 1])
        fields = table[first + 2]
        for f in range(fields + table[first + 3]):
            kept = array_at(inner[STATISTICS + 2 * f], inner[STATISTICS + 1 + 2 * f])
            for k in range(n if f < fields else 1):
                j = idx[k] if f < fields else 0
                if task == SAVE:
                    saved[at] = kept[j]
                elif task == CHECK:
                    bad |= 0 if math.isfinite(kept[j]) else 1
                else:
                    kept[j] = saved[at]
                at += 1
    return bad


def weigh_class(table: Any) -> Any:
    """Multiply the importance of the round by the balanced weight of its class; returns the class."""
    counts, importance, truth = read_counts(table), read_importance(table), read_truth(table)[0]
    code = int(truth)
    if table[PREPARED.positive] != TRUTH_IS_CODE:
        code = table[PREPARED.positive] if truth > 0.0 else 1 - table[PREPARED.positive]
    if code < 0 or code >= counts.size:
        return -1
    rounds, classes = 1, 0
    for c in range(counts.size):
        rounds += counts[c]
        classes += 1 if counts[c] > 0 or c == code else 0
    weight = rounds / (classes * (counts[code] + 1))
    importance[0] *= math.sqrt(weight) if table[PREPARED.root] != 0 else weight
    return code
