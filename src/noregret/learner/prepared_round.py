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
from noregret.state.slots import ARRAY, WORD, count_slots, number_slots

array_at = table_at = call_loop = unbound
read_given_idx = read_given_val = read_given_ends = read_idx = read_val = read_ends = unbound
read_numbers = read_saved = read_counts = read_truth = read_importance = unbound

IDX, VAL, OUT, STATISTICS = LEARN + 3, LEARN + 5, LEARN + 7, LEARN + 9  # slots of the table of a transform's loop
TRUTH_IS_CODE = -1  # in place of the class whose truth is +1


class StepSlots(NamedTuple):
    """One step of the preparation: the loop of a transform, or what is done to a row before and after it."""

    loop: int = WORD
    table: int = WORD
    ends: int = WORD  # of the row that the step reads; its second number is how many entries the row has
    numbers: int = WORD  # the features of that row, int64
    sized: int = WORD  # 1: the lengths of the rows in the table are those of the row
    fields: int = WORD  # how many statistics it has for each feature, and how many that are single numbers
    counters: int = WORD
    saved: int = WORD  # where in `saved` these are kept


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
    numbers: int = ARRAY  # the features of the row as it was read, int64
    last_ends: int = WORD  # the row after the last step
    last_numbers: int = WORD
    last_values: int = WORD
    hashed: int = WORD  # the number of cells that names are hashed to, or 0; a number beyond is a cell with the sign -1
    sort: int = WORD  # sorts a row and sums what shares a cell; 0 where rows stay as they are
    sort_table: int = WORD
    bias: int = WORD  # 1: feature 0 is constant; its value is in `val` already
    saved: int = ARRAY  # room to save the statistics that a row changes
    counts: int = ARRAY  # rounds of each class, where classes are balanced
    root: int = WORD  # 1: the weight of a class is the root of the balanced one
    positive: int = WORD  # the class whose truth is +1, or TRUTH_IS_CODE
    truth: int = ARRAY
    importance: int = ARRAY
    steps: int = WORD
    first: int = 0  # from here on the words of each step


PREPARED, STEP = number_slots(PreparedSlots), number_slots(StepSlots)
WORDS_EACH = count_slots(StepSlots)
PREPARED_ARRAYS: dict[str, tuple[int, type[np.generic]]] = {
    "given_idx": (PREPARED.given_idx, np.int32),
    "given_val": (PREPARED.given_val, np.float64),
    "given_ends": (PREPARED.given_ends, np.int64),
    "idx": (PREPARED.idx, np.int32),
    "val": (PREPARED.val, np.float64),
    "ends": (PREPARED.ends, np.int64),
    "numbers": (PREPARED.numbers, np.int64),
    "saved": (PREPARED.saved, np.float64),
    "counts": (PREPARED.counts, np.int64),
    "truth": (PREPARED.truth, np.float64),
    "importance": (PREPARED.importance, np.float64),
}


def prepared_round(table: Any) -> int:
    """Prepare the row that was read, then score or learn it; if that fails, restore everything and raise."""
    bad = 0 if all_finite(read_given_val(table), read_given_ends(table)[1]) else 1
    if table[PREPARED.sort] != 0 and bad == 0:
        bad = join_cells(table)
    idx, numbers = read_given_idx(table), read_numbers(table)
    for k in range(read_given_ends(table)[1]):
        numbers[k] = idx[k]
    learns, done = table[PREPARED.learns] != 0, 0
    while bad == 0 and done < table[PREPARED.steps]:
        bad = run_step(table, PREPARED.first + WORDS_EACH * done)
        done += 1
    code = -1
    if bad == 0:
        bad = write_row(table)
    if bad == 0:
        if learns and read_counts(table).size > 0:
            code = weigh_class(table)
        bad = call_loop(table[PREPARED.loop], table[PREPARED.loop_table])
    if bad != 0:
        for step in range(done if learns else 0):
            visit_statistics(RESTORE, table, PREPARED.first + WORDS_EACH * step)
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
    """Give hashed features their signs, sort the row and sum what shares a cell; not 0 where that failed."""
    idx, val, cells = read_given_idx(table), read_given_val(table), table[PREPARED.hashed]
    for k in range(read_given_ends(table)[1]):
        if cells != 0 and idx[k] >= cells:
            idx[k] -= cells
            val[k] = -val[k]
    return call_loop(table[PREPARED.sort], table[PREPARED.sort_table])


def run_step(table: Any, step: Any) -> Any:
    """Run one step; 1 where it failed, or a value or statistic is not finite, else 0."""
    learns, inner = table[PREPARED.learns] != 0, table_at(table[step + STEP.table])
    n = table_at(table[step + STEP.ends])[1]
    if table[step + STEP.sized] != 0:
        inner[IDX + 1] = inner[VAL + 1] = inner[OUT + 1] = n
    if learns:
        visit_statistics(SAVE, table, step)
    bad = call_loop(table[step + STEP.loop], table[step + STEP.table])
    if table[step + STEP.sized] != 0:
        bad |= 0 if all_finite(array_at(inner[OUT], n), n) else 1
    if learns:
        bad |= visit_statistics(CHECK, table, step)
    return bad


def write_row(table: Any) -> Any:
    """Write the row that the loop reads: the last one that was prepared, and the constant; 1 if it is not finite."""
    n = table_at(table[PREPARED.last_ends])[1]
    numbers, values = table_at(table[PREPARED.last_numbers]), array_at(table[PREPARED.last_values], n)
    idx, val, bias = read_idx(table), read_val(table), table[PREPARED.bias]
    idx[0] = 0
    for k in range(n):
        idx[k + bias] = numbers[k] + bias
        val[k + bias] = values[k]
    read_ends(table)[1] = n + bias
    if table[PREPARED.undo_log] != 0:
        table_at(table[PREPARED.undo_log])[UNDO.touched + 1] = n + bias
    return 0 if all_finite(values, n) else 1


def visit_statistics(task: Any, table: Any, step: Any) -> Any:
    """Save, check or restore the statistics of the features of a row; 1 when a checked one is not finite, else 0."""
    numbers, inner = table_at(table[step + STEP.numbers]), table_at(table[step + STEP.table])
    saved, bad, at, fields = read_saved(table), 0, table[step + STEP.saved], table[step + STEP.fields]
    n = table_at(table[step + STEP.ends])[1]
    for f in range(fields + table[step + STEP.counters]):
        kept = array_at(inner[STATISTICS + 2 * f], inner[STATISTICS + 1 + 2 * f])
        for k in range(n if f < fields else 1):
            j = numbers[k] if f < fields else 0
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
