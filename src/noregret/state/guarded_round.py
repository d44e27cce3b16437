"""Small texts that are compiled once and serve every loop: undoing rounds.

All read a table of addresses and leave their verdict in slot 0.
"""

import math
from typing import Any

import numpy as np

from noregret.algebra.verbs import unbound

array_at = table_at = call = unbound
read_touched = read_met = read_lately = read_saved = read_scores = read_counters = read_updated = read_totals = (
    read_truth
) = unbound

TOUCHED, SAVED, CELLS, VECTORS, FIRST = 1, 3, 5, 6, 7
SAVE, CHECK, RESTORE, GATHER = 0, 1, 2, 3
MET, LATELY = 3, 5  # what stands in the table while features are gathered


def undo_log_cells(table: Any) -> int:
    """Gather the features that rows touch, or save, check or restore their cells of every vector; see `cells`."""
    if table[0] == GATHER:
        table[0] = gathered(read_touched(table), read_met(table), read_lately(table))
    else:
        table[0] = cells(table[0], read_touched(table), read_saved(table), table)
    return 0


def gathered(touched: Any, met: Any, lately: Any) -> int:
    """Write down the features that were not met lately, so that a frequent one is saved once or a few times.

    A feature has one place among the 2^k that remember. Says how many were written.
    """
    size = 0
    for i in range(touched.size):
        j = np.int64(touched[i])
        place = (j * 2654435761 >> 16) & (lately.size - 1)
        met[size] = j
        size += 1 if lately[place] != j else 0
        lately[place] = j
    return size


def cells(task: Any, touched: Any, saved: Any, table: Any) -> int:
    """Slots of the table: CELLS that a feature owns in a vector, how many VECTORS, and from FIRST on the vectors.

    Says 1 when a checked cell is not finite, otherwise 0.
    """
    width = table[CELLS]
    bad = 0
    at = 0
    for v in range(table[VECTORS]):
        w = array_at(table[FIRST + 2 * v], table[FIRST + 1 + 2 * v])
        for i in range(touched.size):
            first = np.int64(touched[i]) * width
            for c in range(first, first + width):
                if task == SAVE:
                    saved[at] = w[c]
                elif task == CHECK:
                    bad |= 0 if math.isfinite(w[c]) else 1
                else:
                    w[c] = saved[at]
                at += 1
    return bad


LOOP, LOOP_TABLE, SCORES, COUNTERS, UNDO_LOG, TRUTH, UPDATED, TOTALS, WRONG_BY = 1, 2, 3, 5, 7, 8, 10, 12, 14
NEVER, SIGN, LARGEST = 0, 1, 2  # how a prediction can be wrong
ROUNDS, UPDATES, MISTAKES = 0, 1, 2  # the cells of a totals


def guarded_round(table: Any) -> int:
    """Play one round and add it to the totals; or undo it and raise, if it failed or left a value that is not finite.

    Slots: the LOOP's address and its table's, the SCORES it writes, the COUNTERS (with as much room again to save
    them), the address of an UNDO_LOG table, the TRUTH, where the loop says whether it UPDATED, the learner's TOTALS.
    """
    undo_log = table_at(table[UNDO_LOG])
    touched = read_touched(undo_log)
    saved = read_saved(undo_log)
    scores = read_scores(table)
    counters = read_counters(table)
    updated = read_updated(table)
    totals = read_totals(table)
    cells(SAVE, touched, saved, undo_log)
    n = counters.size // 2
    for i in range(n):
        counters[n + i] = counters[i]
    updated[0] = 0
    bad = call(table[LOOP], table[LOOP_TABLE])
    for i in range(scores.size):
        bad |= 0 if math.isfinite(scores[i]) else 1
    bad |= cells(CHECK, touched, saved, undo_log)
    for i in range(n):
        bad |= 0 if math.isfinite(counters[i]) else 1
    if bad != 0:
        cells(RESTORE, touched, saved, undo_log)
        for i in range(n):
            counters[i] = counters[n + i]
        raise ArithmeticError
    totals[ROUNDS] += 1
    totals[UPDATES] += updated[0]
    if table[WRONG_BY] != NEVER:
        totals[MISTAKES] += missed(table[WRONG_BY], scores, read_truth(table)[0])
    return 0


def missed(wrong_by: Any, scores: Any, truth: Any) -> int:
    """1 when the prediction was wrong: by sign for two classes, by the first largest score for more."""
    if wrong_by == SIGN:
        return 1 if (scores[0] >= 0.0) != (truth > 0.0) else 0
    return 1 if largest(scores) != truth else 0


def largest(scores: Any) -> int:
    """The number of the first largest score."""
    best = 0
    for c in range(1, scores.size):
        if scores[c] > scores[best]:
            best = c
    return best
