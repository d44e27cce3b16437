"""The best tree whose arcs may cross: the algorithm of Chu, Liu and Edmonds in Tarjan's form for dense graphs, O(L^2).

Every word takes its best head. A cycle becomes one node whose incoming arcs say what they gain over the arc of the
cycle that they replace; then it takes its best head in turn. One root is enforced exactly: arcs are compared first by
how many arcs from the root they add, then by their scores. That is an ordered group too, so the algorithm is the same.

Papers: Edmonds, Optimum branchings, J. Research of the National Bureau of Standards 71B, 1967; McDonald et al.,
Non-projective dependency parsing using spanning tree algorithms, HLT-EMNLP 2005.
"""

from typing import Any

from noregret.tasks.decoders.arcs import arc_row
from noregret.tasks.decoders.layout import CHOSEN, LENGTH, TRUTH

# Nodes, the root (0), words and contracted cycles, live in slots 0 .. L. First in `work` are matrices of (L + 1)^2
# floats: score, roots and row of the best arc from slot u to slot v, at u * (L + 1) + v.
SCORE, ROOTS, ARC, MATRICES = 0, 1, 2, 3
# Behind them are vectors of 2 L + 2 floats. By slot: its node (-1: none), the walk that passed it (0: none, DONE: its
# heads lead to the root), the slot of its head. By node: the node that it became a part of, if any, and its best arc.
NODE, WALK, HEAD, PARENT, BEST, VECTORS = 0, 1, 2, 3, 4, 5
DONE = -1.0


def search(f: Any, y: Any, work: Any, first: Any, known: Any, augment: Any) -> None:
    """Write the best tree; with `augment`, each wrong arc adds as much to its score."""
    length = int(y[first, LENGTH])
    fill(f, y, work, first, augment)
    node, walk, heads = work[offset(length, NODE) :], work[offset(length, WALK) :], work[offset(length, HEAD) :]
    best, side, nodes = work[offset(length, BEST) :], length + 1, length + 1
    for start in range(1, length + 1):
        slot = start
        while walk[slot] != DONE:
            head = best_head(work, length, slot)
            walk[slot], heads[slot] = start, head
            best[int(node[slot])] = work[ARC * side * side + head * side + slot]
            if walk[head] == start:
                contract(work, length, slot, nodes)
                nodes += 1
            elif walk[head] == DONE:
                for passed in range(side):
                    if walk[passed] == start:
                        walk[passed] = DONE
            else:
                slot = head
    expand(y, work, first, nodes)


def offset(length: Any, which: Any) -> Any:
    """Where one of the vectors behind the matrices begins."""
    return MATRICES * (length + 1) * (length + 1) + which * (2 * length + 2)


def fill(f: Any, y: Any, work: Any, first: Any, augment: Any) -> None:
    """Every word is a node in the slot of its number; the root is done."""
    length = int(y[first, LENGTH])
    node, walk = work[offset(length, NODE) :], work[offset(length, WALK) :]
    square = (length + 1) * (length + 1)
    for modifier in range(1, length + 1):
        for head in range(length + 1):
            if head != modifier:
                arc, at = arc_row(length, head, modifier), head * (length + 1) + modifier
                work[SCORE * square + at] = f[first + arc, 0]
                if y[first + arc, TRUTH] < 0.0:
                    work[SCORE * square + at] += augment
                work[ROOTS * square + at] = 1.0 if head == 0 else 0.0
                work[ARC * square + at] = arc
    for slot in range(length + 1):
        node[slot], walk[slot] = slot, 0.0
    walk[0] = DONE


def better(work: Any, square: Any, at: Any, other: Any) -> Any:
    """Whether an arc comes before another: fewer roots, then a higher score."""
    if work[ROOTS * square + at] != work[ROOTS * square + other]:
        return work[ROOTS * square + at] < work[ROOTS * square + other]
    return work[SCORE * square + at] > work[SCORE * square + other]


def best_head(work: Any, length: Any, slot: Any) -> Any:
    """The slot with the best arc into a slot; the smallest, if several have it."""
    node, side, best = work[offset(length, NODE) :], length + 1, 0
    for u in range(1, side):
        if u != slot and node[u] >= 0.0 and better(work, side * side, u * side + slot, best * side + slot):
            best = u
    return best


def contract(work: Any, length: Any, last: Any, new: Any) -> None:
    """Make one node, `new`, of the cycle that the heads from the slot `last` on form; it gets this slot."""
    node, heads, parent = work[offset(length, NODE) :], work[offset(length, HEAD) :], work[offset(length, PARENT) :]
    lower_arcs(work, length, last)
    slot = int(heads[last])
    while slot != last:
        following = int(heads[slot])
        absorb(work, length, last, slot)
        parent[int(node[slot])] = new
        node[slot] = -1.0
        for other in range(1, length + 1):
            if heads[other] == slot:
                heads[other] = last
        slot = following
    parent[int(node[last])] = new
    node[last] = new


def lower_arcs(work: Any, length: Any, last: Any) -> None:
    """Subtract from the arcs into every member of a cycle what its arc in the cycle gives; no arc there is a root's."""
    heads, side = work[offset(length, HEAD) :], length + 1
    square, slot = side * side, last
    while True:
        at = int(heads[slot]) * side + slot
        score = work[SCORE * square + at]
        for u in range(side):
            if u != slot:
                work[SCORE * square + u * side + slot] -= score
        slot = int(heads[slot])
        if slot == last:
            break


def absorb(work: Any, length: Any, last: Any, slot: Any) -> None:
    """Let one slot have the better of its arcs and those of another, in and out."""
    side = length + 1
    square = side * side
    for u in range(side):
        if u != last and u != slot:
            if better(work, square, u * side + slot, u * side + last):
                for matrix in range(MATRICES):
                    work[matrix * square + u * side + last] = work[matrix * square + u * side + slot]
            if u > 0 and better(work, square, slot * side + u, last * side + u):
                for matrix in range(MATRICES):
                    work[matrix * square + last * side + u] = work[matrix * square + slot * side + u]


def expand(y: Any, work: Any, first: Any, nodes: Any) -> None:
    """Write the tree: the arc into a contracted cycle replaces the one of the member that it enters."""
    length = int(y[first, LENGTH])
    parent, best = work[offset(length, PARENT) :], work[offset(length, BEST) :]
    for contracted in range(nodes - 1, length, -1):
        member = int(best[contracted]) // length + 1
        while parent[member] != contracted:
            member = int(parent[member])
        best[member] = best[contracted]
    for i in range(length * length):
        y[first + i, CHOSEN] = -1.0
    for word in range(1, length + 1):
        y[first + int(best[word]), CHOSEN] = 0.0


def scratch(rows: int, length: int, width: int) -> int:
    """Matrices over slots, and vectors over slots and nodes."""
    return MATRICES * (length + 1) * (length + 1) + VECTORS * (2 * length + 2)
