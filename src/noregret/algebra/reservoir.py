"""Reservoirs: a uniform sample of the rows seen so far, with their labels.

Records of rows are appended and never overwritten. Restoring the numbers n undoes a round: records beyond those that n
counts return their places to the records that had them before.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from noregret.algebra.arrays import Floats, Indices, Integers
from noregret.algebra.examples import Dense, DenseBlocks, Sparse, SparseBlocks
from noregret.algebra.internal_verbs import block, class_block, coordinate, count, miss, part, raw, recall
from noregret.algebra.partial_features import PRIME, next_random
from noregret.algebra.reference import ReferenceExample
from noregret.algebra.verbs import count_correct, dot, helper, remember, sample_size, side

# seen: rows offered; random: the last random number; size: rows in the sample; records: those that count; turn: -1 when
# signs are stored negated. Then, of the last w tried: how many places, how many wrong, up to which record, the version
# of w, and the number of classes.
NUMBERS = {
    "seen": 0.0, "random": 1.0, "size": 0.0, "records": 0.0, "turn": 1.0,
    "tried": -1.0, "wrong": 0.0, "counted": 0.0, "version": 0.0, "classes": 0.0,
}  # fmt: skip
SEEN, RANDOM, SIZE, RECORDS, TURN, TRIED, WRONG, COUNTED, VERSION, CLASSES = range(10)
DERIVED = tuple(NUMBERS)[SIZE:]  # a model file leaves them out
WRITTEN, KNOWN = 0, 1  # marks: records written, also those undone since then; the number of classes


class Reservoir(NamedTuple):
    """Record k has the values from start[k] to start[k + 1]; its place in the sample was record before[k]'s.

    truth: the label, as a sign or the number of a class; record: the record in each place; marks: WRITTEN and KNOWN.
    """

    start: Integers
    idx: Indices
    val: Floats
    truth: Floats
    slot: Integers
    before: Integers
    record: Integers
    marks: Integers
    n: Floats


@helper
def rewind(r: Any) -> Any:
    """Return the places of records that were written in rounds undone since then."""
    while r.marks[WRITTEN] > r.n[RECORDS]:
        k = r.marks[WRITTEN] - 1
        r.record[r.slot[k]] = r.before[k]
        r.marks[WRITTEN] = k


@helper
def draw_place(r: Any, m: float) -> Any:
    """The place of the next row in a sample of m, or -1: row t enters with probability m / t (Vitter 1985, R)."""
    r.n[SEEN] += 1.0
    if r.n[SIZE] < m:
        return int(r.n[SIZE])
    r.n[RANDOM] = next_random(r.n[RANDOM])
    slot = int(r.n[RANDOM] / PRIME * r.n[SEEN])
    return slot if slot < m else -1


@helper
def open_record(r: Any, slot: Any, truth: float, size: Any) -> Any:
    """Where the values of a new record begin; -1 if there is no room, and then the round fails."""
    k = int(r.n[RECORDS])
    if k >= r.truth.size or r.start[k] + size > r.val.size:
        r.n[SEEN] = math.inf
        return -1
    r.start[k + 1] = r.start[k] + size
    r.truth[k] = truth
    r.slot[k] = slot
    r.before[k] = -1
    if slot < r.n[SIZE]:
        r.before[k] = r.record[slot]
    else:
        r.n[SIZE] += 1.0
    r.record[slot] = k
    r.n[RECORDS] += 1.0
    r.marks[WRITTEN] = k + 1
    return r.start[k]


@helper
def offer(r: Any, m: float, z: Any, truth: float) -> Any:
    """Zeros at the end of a row are left out: a dense row is the same in a table with more columns."""
    rewind(r)
    slot = draw_place(r, m)
    if slot >= 0:
        q = part(z, 0)
        size = count(q)
        while size > 0 and raw(q, size - 1) == 0.0:
            size -= 1
        first = open_record(r, slot, truth, size)
        if first >= 0:
            for i in range(size):
                r.idx[first + i] = coordinate(q, i)
                r.val[first + i] = raw(q, i)


@remember.on(Reservoir, object, Sparse)
@remember.on(Reservoir, object, Dense)
def remember_sign(r: Any, m: float, z: Any) -> None:
    offer(r, m, z, r.n[TURN] if side(z) > 0.0 else -r.n[TURN])


@remember.on(Reservoir, object, SparseBlocks)
@remember.on(Reservoir, object, DenseBlocks)
def remember_class(r: Any, m: float, z: Any) -> None:
    offer(r, m, z, float(block(z, 0)))


@sample_size.on(Reservoir)
def sample_size_reservoir(r: Any) -> Any:
    return r.n[SIZE]


@recall.on(Sparse)
@recall.on(SparseBlocks)
def recall_sparse(z: Any, idx: Any, val: Any) -> Any:
    return Sparse(idx, val, 1.0, 0.0)


@recall.on(Dense)
@recall.on(DenseBlocks)
def recall_dense(z: Any, idx: Any, val: Any) -> Any:
    return Dense(val, 1.0, 0.0)


@miss.on(Reservoir, object, Sparse)
@miss.on(Reservoir, object, Dense)
def miss_side(r: Any, w: Any, z: Any, k: int) -> Any:
    x = recall(z, r.idx[r.start[k] : r.start[k + 1]], r.val[r.start[k] : r.start[k + 1]])
    return 1.0 if (dot(w, x) >= 0.0) != (r.truth[k] * r.n[TURN] > 0.0) else 0.0


@miss.on(Reservoir, object, SparseBlocks)
@miss.on(Reservoir, object, DenseBlocks)
def miss_class(r: Any, w: Any, z: Any, k: int) -> Any:
    x = recall(z, r.idx[r.start[k] : r.start[k + 1]], r.val[r.start[k] : r.start[k + 1]])
    best = 0
    highest = dot(w, class_block(x, 0, z.stride))
    for c in range(1, r.marks[KNOWN]):
        score = dot(w, class_block(x, c, z.stride))
        if score > highest:
            highest = score
            best = c
    return 1.0 if best != r.truth[k] else 0.0


@count_correct.on(Reservoir)
def count_correct_reservoir(r: Any, w: Any, z: Any, version: float, best: float) -> Any:
    """Places are tried in order, until w can no longer be better than the best so far.

    The result for a version of w is continued where it stopped; for rows that were replaced since then it is corrected.
    """
    rewind(r)
    if r.n[TRIED] < 0.0 or r.n[VERSION] != version or r.n[CLASSES] != r.marks[KNOWN]:
        r.n[TRIED] = r.n[WRONG] = 0.0
        r.n[VERSION] = version
        r.n[CLASSES] = r.marks[KNOWN]
    else:
        for k in range(int(r.n[COUNTED]), int(r.n[RECORDS])):
            if r.before[k] >= 0 and r.slot[k] < r.n[TRIED]:
                r.n[WRONG] += miss(r, w, z, k) - miss(r, w, z, r.before[k])
    r.n[COUNTED] = r.n[RECORDS]
    while r.n[TRIED] < r.n[SIZE] and (r.n[WRONG] == 0.0 or r.n[SIZE] - r.n[WRONG] > best):
        r.n[WRONG] += miss(r, w, z, r.record[int(r.n[TRIED])])
        r.n[TRIED] += 1.0
    return r.n[SIZE] - r.n[WRONG]


# ---- the reference algebra: all rows are tried every time ------------------------------------------------------------


@remember.on(Reservoir, object, ReferenceExample)
def remember_reference(r: Any, m: float, z: Any) -> None:
    rewind(r)
    slot = draw_place(r, m)
    x = z.sign * z.v if z.truth < 0 else z.v.reshape(-1, z.stride)[z.truth]
    truth = (r.n[TURN] if z.sign > 0.0 else -r.n[TURN]) if z.truth < 0 else float(z.truth)
    nonzero = np.flatnonzero(x)
    first = open_record(r, slot, truth, nonzero.size) if slot >= 0 else -1
    if first >= 0:
        r.idx[first : first + nonzero.size] = nonzero
        r.val[first : first + nonzero.size] = x[nonzero]


@count_correct.on(Reservoir, object, ReferenceExample)
def count_correct_reference(r: Any, w: Any, z: Any, version: float, best: float) -> Any:
    rewind(r)
    W = w.v.reshape(-1, z.stride)[: r.marks[KNOWN]]
    total = 0.0
    for k in r.record[: int(r.n[SIZE])]:
        values = slice(r.start[k], r.start[k + 1])
        scores = W[:, r.idx[values]] @ r.val[values]
        of_sign = (scores[0] >= 0.0) == (r.truth[k] * r.n[TURN] > 0.0)
        total += float(of_sign if z.truth < 0 else np.argmax(scores) == r.truth[k])
    return total
