"""Functions that are compiled once and serve every loop: saving and restoring the cells of a few rows, one round with
its undo.

They read a table of addresses; its slots are numbered from the NamedTuples here.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from noregret.algebra.verbs import unbound
from noregret.state.slots import ARRAY, WORD, number_slots

array_at = table_at = call_loop = unbound
read_touched = read_saved = read_gathered = read_recent = unbound
read_scores = read_counters = read_truth = read_updated = read_totals = unbound
read_importance = read_recent_scores = unbound

SAVE, CHECK, RESTORE, GATHER = 0, 1, 2, 3  # what `undo_log_cells` is asked to do
NEVER, SIGN, LARGEST = 0, 1, 2  # how a prediction is compared with the truth
ROUNDS, UPDATES, MISTAKES = 0, 1, 2  # the cells of the totals


class UndoSlots(NamedTuple):
    """The features that rows touch, and their saved cells; a feature has `cells` cells in each of the vectors."""

    task: int = WORD  # in: SAVE, CHECK or RESTORE; out: 1 when a checked cell is not finite
    touched: int = ARRAY
    saved: int = ARRAY
    cells: int = WORD
    vectors: int = WORD
    first: int = 0  # from here on the vectors, an address and a length each


class GatherSlots(NamedTuple):
    """The features that rows touch, where to write them without most repetitions, and those met recently."""

    task: int = WORD  # in: GATHER; out: how many features were written
    touched: int = ARRAY
    gathered: int = ARRAY
    recent: int = ARRAY


class RoundSlots(NamedTuple):
    """One round: the loop and its table, what it reads and writes, and the undo log's table."""

    loop: int = WORD
    loop_table: int = WORD
    scores: int = ARRAY
    counters: int = ARRAY  # and as much room again, to save them
    undo_log: int = WORD
    truth: int = ARRAY
    updated: int = ARRAY
    totals: int = ARRAY
    compare: int = WORD  # NEVER, SIGN or LARGEST
    importance: int = ARRAY
    recent_scores: int = ARRAY  # see `remember`; empty where nothing is remembered


UNDO, GATHERING, ROUND = number_slots(UndoSlots), number_slots(GatherSlots), number_slots(RoundSlots)
UNDO_ARRAYS: dict[str, tuple[int, type[np.generic]]] = {
    "touched": (UNDO.touched, np.int32),
    "saved": (UNDO.saved, np.float64),
    "gathered": (GATHERING.gathered, np.int32),
    "recent": (GATHERING.recent, np.int32),
}
ROUND_ARRAYS: dict[str, tuple[int, type[np.generic]]] = {
    "touched": (UNDO.touched, np.int32),
    "saved": (UNDO.saved, np.float64),
    "scores": (ROUND.scores, np.float64),
    "counters": (ROUND.counters, np.float64),
    "truth": (ROUND.truth, np.float64),
    "updated": (ROUND.updated, np.uint8),
    "totals": (ROUND.totals, np.int64),
    "importance": (ROUND.importance, np.float64),
    "recent_scores": (ROUND.recent_scores, np.float64),
}


def undo_log_cells(table: Any) -> int:
    """Gather the features that rows touch, or save, check or restore their cells of every vector; see `visit_cells`."""
    if table[UNDO.task] == GATHER:
        table[UNDO.task] = gather(read_touched(table), read_gathered(table), read_recent(table))
    else:
        table[UNDO.task] = visit_cells(table[UNDO.task], read_touched(table), read_saved(table), table)
    return 0


def gather(touched: Any, gathered: Any, recent: Any) -> int:
    """Write the features that were not met recently, so that a frequent one is saved once or a few times.

    A feature has one place among the 2^k of `recent`. Returns how many were written.
    """
    size = 0
    for i in range(touched.size):
        j = np.int64(touched[i])
        place = (j * 2654435761 >> 16) & (recent.size - 1)
        gathered[size] = j
        size += 1 if recent[place] != j else 0
        recent[place] = j
    return size


def visit_cells(task: Any, touched: Any, saved: Any, table: Any) -> int:
    """Save, check or restore the cells of the touched features; returns 1 when a checked cell is not finite, else 0."""
    width = table[UNDO.cells]
    bad = 0
    at = 0
    for v in range(table[UNDO.vectors]):
        w = array_at(table[UNDO.first + 2 * v], table[UNDO.first + 1 + 2 * v])
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


def guarded_round(table: Any) -> int:
    """Play one round and add it to the totals; if it failed or left a value that is not finite, undo it and raise."""
    undo_log = table_at(table[ROUND.undo_log])
    touched = read_touched(undo_log)
    saved = read_saved(undo_log)
    scores = read_scores(table)
    counters = read_counters(table)
    updated = read_updated(table)
    totals = read_totals(table)
    visit_cells(SAVE, touched, saved, undo_log)
    n = counters.size // 2
    for i in range(n):
        counters[n + i] = counters[i]
    updated[0] = 0
    bad = call_loop(table[ROUND.loop], table[ROUND.loop_table])
    for i in range(scores.size):
        bad |= 0 if math.isfinite(scores[i]) else 1
    bad |= visit_cells(CHECK, touched, saved, undo_log)
    for i in range(n):
        bad |= 0 if math.isfinite(counters[i]) else 1
    if bad != 0:
        visit_cells(RESTORE, touched, saved, undo_log)
        for i in range(n):
            counters[i] = counters[n + i]
        raise ArithmeticError
    totals[ROUNDS] += 1
    totals[UPDATES] += updated[0]
    if table[ROUND.compare] != NEVER:
        totals[MISTAKES] += count_mistake(table[ROUND.compare], scores, read_truth(table)[0])
    if read_importance(table)[0] > 0.0:
        remember(read_recent_scores(table), scores, read_truth(table)[0])
    return 0


def remember(recent: Any, scores: Any, truth: Any) -> None:
    """Write the truth and the scores of a round over the oldest ones; the first cell counts the rounds."""
    if recent.size == 0:
        return
    width = scores.size + 1
    at = 1 + np.int64(recent[0]) % ((recent.size - 1) // width) * width
    recent[at] = truth
    for c in range(scores.size):
        recent[at + 1 + c] = scores[c]
    recent[0] += 1.0


def count_mistake(compare: Any, scores: Any, truth: Any) -> int:
    """1 when the prediction is wrong: by sign for two classes, by the first largest score for more."""
    if compare == SIGN:
        return 1 if (scores[0] >= 0.0) != (truth > 0.0) else 0
    return 1 if largest(scores) != truth else 0


def largest(scores: Any) -> int:
    """The number of the first largest score."""
    best = 0
    for c in range(1, scores.size):
        if scores[c] > scores[best]:
            best = c
    return best
