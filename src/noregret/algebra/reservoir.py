"""A reservoir: some of the rows there have been, each as likely as any other, with the truth of each.

Records of rows are appended and never overwritten, so what a round did to the sample is undone by putting the numbers n
back: records beyond those that count give their places back to the records they took them from.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from noregret.algebra.examples import Dense, DenseBlocks, Sparse, SparseBlocks
from noregret.algebra.partial_features import PRIME, next_random
from noregret.algebra.reference import ReferenceExample
from noregret.algebra.verbs import (
    block,
    class_block,
    coordinate,
    count,
    count_correct,
    dot,
    helper,
    miss,
    part,
    raw,
    recall,
    remember,
    remembered,
    side,
)

# seen: rows offered; random: the last random number; size: rows in the sample; records: those that count; turn: -1 when
# signs are kept the other way round; then of the last w tried: on how many places, how many it put wrong, up to which
# record, its version, among how many classes.
NUMBERS = {
    "seen": 0.0, "random": 1.0, "size": 0.0, "records": 0.0, "turn": 1.0,
    "tried": -1.0, "wrong": 0.0, "counted": 0.0, "version": 0.0, "classes": 0.0,
}  # fmt: skip
SEEN, RANDOM, SIZE, RECORDS, TURN, TRIED, WRONG, COUNTED, VERSION, CLASSES = range(10)
DERIVED = tuple(NUMBERS)[SIZE:]  # what a model file need not tell
MADE, KNOWN = 0, 1  # marks: how many records were made, undone ones too; how many classes there are


class Reservoir(NamedTuple):
    """Record k has the values from start[k] to start[k + 1], and its place in the sample from record before[k].

    A truth is a sign, or of many classes a number; held is the record in each place.
    """

    start: np.ndarray
    idx: np.ndarray
    val: np.ndarray
    truth: np.ndarray
    slot: np.ndarray
    before: np.ndarray
    held: np.ndarray
    marks: np.ndarray
    n: np.ndarray


@helper
def rewind(r: Any) -> Any:
    """Records that were made in rounds undone since then leave their places again."""
    while r.marks[MADE] > r.n[RECORDS]:
        k = r.marks[MADE] - 1
        r.held[r.slot[k]] = r.before[k]
        r.marks[MADE] = k


@helper
def drawn(r: Any, m: Any) -> Any:
    """The place of the next row in a sample of m, or -1: row t enters with probability m / t (Vitter 1985, R)."""
    r.n[SEEN] += 1.0
    if r.n[SIZE] < m:
        return int(r.n[SIZE])
    r.n[RANDOM] = next_random(r.n[RANDOM])
    slot = int(r.n[RANDOM] / PRIME * r.n[SEEN])
    return slot if slot < m else -1


@helper
def opened(r: Any, slot: Any, truth: Any, size: Any) -> Any:
    """Where the values of a new record begin; -1 when there is no room, and the round is spoilt."""
    k = int(r.n[RECORDS])
    if k >= r.truth.size or r.start[k] + size > r.val.size:
        r.n[SEEN] = math.inf
        return -1
    r.start[k + 1] = r.start[k] + size
    r.truth[k] = truth
    r.slot[k] = slot
    r.before[k] = -1
    if slot < r.n[SIZE]:
        r.before[k] = r.held[slot]
    else:
        r.n[SIZE] += 1.0
    r.held[slot] = k
    r.n[RECORDS] += 1.0
    r.marks[MADE] = k + 1
    return r.start[k]


@helper
def offer(r: Any, m: Any, z: Any, truth: Any) -> Any:
    """Zeros at the end of a row are left out: a dense row is the same in a table with more columns."""
    rewind(r)
    slot = drawn(r, m)
    if slot >= 0:
        q = part(z, 0)
        size = count(q)
        while size > 0 and raw(q, size - 1) == 0.0:
            size -= 1
        first = opened(r, slot, truth, size)
        if first >= 0:
            for i in range(size):
                r.idx[first + i] = coordinate(q, i)
                r.val[first + i] = raw(q, i)


@remember.on(Reservoir, object, Sparse)
@remember.on(Reservoir, object, Dense)
def remember_sign(r: Any, m: Any, z: Any) -> Any:
    offer(r, m, z, r.n[TURN] if side(z) > 0.0 else -r.n[TURN])


@remember.on(Reservoir, object, SparseBlocks)
@remember.on(Reservoir, object, DenseBlocks)
def remember_class(r: Any, m: Any, z: Any) -> Any:
    offer(r, m, z, float(block(z, 0)))


@remembered.on(Reservoir)
def remembered_reservoir(r: Any) -> Any:
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
def miss_side(r: Any, w: Any, z: Any, k: Any) -> Any:
    x = recall(z, r.idx[r.start[k] : r.start[k + 1]], r.val[r.start[k] : r.start[k + 1]])
    return 1.0 if (dot(w, x) >= 0.0) != (r.truth[k] * r.n[TURN] > 0.0) else 0.0


@miss.on(Reservoir, object, SparseBlocks)
@miss.on(Reservoir, object, DenseBlocks)
def miss_class(r: Any, w: Any, z: Any, k: Any) -> Any:
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
def rights_reservoir(r: Any, w: Any, z: Any, version: Any, record: Any) -> Any:
    """Places are tried one after another, and no further once the record is out of reach.

    A w that was asked about before goes on from there; where it has been, only rows that came and went are tried.
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
    while r.n[TRIED] < r.n[SIZE] and (r.n[WRONG] == 0.0 or r.n[SIZE] - r.n[WRONG] > record):
        r.n[WRONG] += miss(r, w, z, r.held[int(r.n[TRIED])])
        r.n[TRIED] += 1.0
    return r.n[SIZE] - r.n[WRONG]


# ---- the same in the reference algebra, where every question is asked of every row ---------------------------------


@remember.on(Reservoir, object, ReferenceExample)
def remember_reference(r: Any, m: Any, z: Any) -> Any:
    rewind(r)
    slot = drawn(r, m)
    x = z.sign * z.v if z.truth < 0 else z.v.reshape(-1, z.stride)[z.truth]
    truth = (r.n[TURN] if z.sign > 0.0 else -r.n[TURN]) if z.truth < 0 else float(z.truth)
    nonzero = np.flatnonzero(x)
    first = opened(r, slot, truth, nonzero.size) if slot >= 0 else -1
    if first >= 0:
        r.idx[first : first + nonzero.size] = nonzero
        r.val[first : first + nonzero.size] = x[nonzero]


@count_correct.on(Reservoir, object, ReferenceExample)
def rights_reference(r: Any, w: Any, z: Any, version: Any, record: Any) -> Any:
    rewind(r)
    W = w.v.reshape(-1, z.stride)[: r.marks[KNOWN]]
    total = 0.0
    for k in r.held[: int(r.n[SIZE])]:
        values = slice(r.start[k], r.start[k + 1])
        scores = W[:, r.idx[values]] @ r.val[values]
        of_sign = (scores[0] >= 0.0) == (r.truth[k] * r.n[TURN] > 0.0)
        total += float(of_sign if z.truth < 0 else np.argmax(scores) == r.truth[k])
    return total
