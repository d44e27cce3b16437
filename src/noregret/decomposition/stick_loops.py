"""Variational inference of the topics of documents under a hierarchical Dirichlet process, compiled.

A document has K slots, each of which stands for one of the T topics of the corpus: `assigned` (K x T) is the
probability of a topic for a slot, `slots` (words x K) that of a slot for a word. Both levels break a stick.

Where slots start equal, as in the paper, they stay alike at first, and nearly all words of a document go to one topic.
That is best while topics are mostly random, so that nothing is learned from which of them a word fits. Later, a few
iterations of latent Dirichlet allocation come first. The topics with the most words in the document are its candidates;
slot k starts with the k-th of them, and only candidates can be assigned.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.algebra.exponential import exp_below_zero
from noregret.algebra.gamma_functions import digamma, log_gamma
from noregret.decomposition.document_loops import (
    EXAMPLES,
    ITERATIONS,
    LANES,
    TINY,
    TOLERANCE,
    Documents,
    Memory,
    Results,
    Topics,
    allocate,
    find_gamma,
    find_powers,
    gather,
    pad,
    place_values,
    return_room,
)
from noregret.jit.compiled import compile_function, unbound

Floats = NDArray[np.float64]
Table = NDArray[np.int64]
FLOOR = 1e-10  # of a slot for a word at the start
SLOTS, CANDIDATES, ALPHA = 2, 3, 4  # the numbers that this loop reads after tolerance and iterations
SWEEPING = 5  # from here on: tolerance and number of the iterations that come first
SWEEPS = SWEEPING + ITERATIONS
ROUNDING = 1e-17  # smaller shares of a slot change nothing but rounding errors
WITHOUT_STICKS = 3  # iterations, where slots start equal

read_documents = read_topics = read_results = read_numbers = read_parts = unbound


class Sticks(NamedTuple):
    """E log of the share of every topic of the corpus, and what the documents add: how many slots have each topic."""

    logs: Floats
    counts: Floats


class Room(NamedTuple):
    """Room for one document; arrays by slot first, so that loops run along words or candidates."""

    candidates: NDArray[np.int64]
    masses: Floats  # by topic: its words in the document, and what the prior adds
    logs: Floats  # words x candidates: E log beta
    across: Floats  # candidates x words: the same
    slots: Floats  # slots x words
    assigned: Floats  # slots x candidates
    fits: Floats  # by candidate: E log-likelihood of a slot, and E log of its share
    first: Floats  # by candidate: E log of its share
    second: Floats  # by slot: E log of its share
    words: Floats  # by slot: expected words
    tops: Floats  # by word: its tokens in a slot; the largest score, then the sum of powers


class Parts(NamedTuple):
    """All that belongs to a document while its topics are found, and the sticks."""

    memory: Memory
    room: Room
    sticks: Sticks


def entry(table: Table) -> int:
    documents, topics, numbers = read_documents(table), read_topics(table), read_numbers(table)
    infer_sticks(documents, topics, read_results(table), numbers, read_parts(table))
    return 0


def infer_sticks(documents: Documents, topics: Topics, out: Results, numbers: Floats, parts: Parts) -> None:
    """Add the statistics of all documents, and write the bound of each into `losses`, with a minus."""
    memory, room, uniform = parts.memory, parts.room, numbers[SWEEPS] == 0.0
    find_powers(topics, memory)
    if uniform:
        take_logs(topics.alpha.size, memory.powers)
    for d in range(documents.offsets.size - 1):
        first, last = documents.offsets[d], documents.offsets[d + 1]
        words, counts = documents.words[first:last], documents.counts[first:last]
        if words.size == 0:
            continue
        if uniform:
            start_equal(words, numbers, parts)
        else:
            gather(words, memory.powers, memory)
            start_apart(counts, topics.alpha, out.gamma[d], numbers, parts)
        out.losses[d] = -ascend(counts, uniform, numbers, room)
        add_statistics(words, counts, out.statistics, numbers, parts)


def take_logs(T: int, powers: Floats) -> None:
    """E log beta in place of its exponential: one logarithm for each word of the mini-batch, not of each document."""
    for w in range(powers.shape[0]):
        row = powers[w]
        for t in range(T):
            row[t] = math.log(row[t] + TINY)


def start_equal(words: Any, numbers: Floats, parts: Parts) -> None:
    """All topics are candidates, and all slots are equal: nothing needs to be chosen."""
    room, sticks, powers = parts.room, parts.sticks, parts.memory.powers
    W, C = words.size, int(numbers[CANDIDATES])
    for c in range(C):
        room.candidates[c] = c
        room.first[c] = sticks.logs[c]
    for w in range(W):
        row = powers[words[w]]
        for c in range(C):
            room.logs[w, c] = row[c]
    for c in range(C):
        for w in range(W):
            room.across[c, w] = room.logs[w, c]


def start_apart(counts: Floats, alpha: Floats, gamma: Floats, numbers: Floats, parts: Parts) -> None:
    """The candidates are the topics with the most words; slot k starts with the k-th of them, and with its words."""
    memory, room, sticks = parts.memory, parts.room, parts.sticks
    T, W, K, C = alpha.size, counts.size, int(numbers[SLOTS]), int(numbers[CANDIDATES])
    find_gamma(counts, alpha, gamma, memory, numbers[SWEEPING:])
    for t in range(T):
        room.masses[t] = gamma[t]
    for c in range(C):
        room.candidates[c] = take_largest(room.masses)
    for c in range(C):
        t = room.candidates[c]
        room.first[c] = sticks.logs[t]
        for w in range(W):
            room.across[c, w] = math.log(memory.by_topic[t, w] + TINY)
    for w in range(W):
        for c in range(C):
            room.logs[w, c] = room.across[c, w]
    for w in range(W):
        room.tops[w] = 0.0
    for k in range(K):
        t, slot = room.candidates[k], room.slots[k]
        share, powers = memory.theta[t], memory.by_topic[t]
        for w in range(W):
            slot[w] = FLOOR + share * powers[w] / memory.norms[w]
        for w in range(W):
            room.tops[w] += slot[w]
    for k in range(K):
        slot, expected = room.slots[k], 0.0
        for w in range(W):
            slot[w] /= room.tops[w]
        for w in range(W):
            expected += counts[w] * slot[w]
        room.words[k] = expected
    break_stick(K, numbers[ALPHA], room)


def take_largest(masses: Floats) -> int:
    """The topic with the largest mass, which is not taken again."""
    best = 0
    for t in range(1, masses.size):
        if masses[t] > masses[best]:
            best = t
    masses[best] = -math.inf
    return best


def ascend(counts: Floats, uniform: bool, numbers: Floats, room: Room) -> float:
    """Coordinate ascent until the bound hardly grows any more; returns the bound."""
    K, C, iterations, before = int(numbers[SLOTS]), int(numbers[CANDIDATES]), 0, math.nan
    if uniform:
        before = assign_whole(counts, K, C, room)
        before += break_stick(K, numbers[ALPHA], room)
        iterations = WITHOUT_STICKS
        if iterations >= numbers[ITERATIONS]:
            return before
    while True:
        bound = assign_topics(counts, K, C, 1.0, room)
        bound += assign_slots(counts, K, C, room)
        bound += break_stick(K, numbers[ALPHA], room)
        iterations += 1
        if bound - before < numbers[TOLERANCE] * abs(before) or iterations >= numbers[ITERATIONS]:
            return bound
        before = bound


def assign_whole(counts: Floats, K: int, C: int, room: Room) -> float:
    """The iterations without sticks, which keep slots equal: what one finds, each finds. Their part of the bound."""
    W, room.second[0] = counts.size, 0.0
    for w in range(W):
        room.slots[0, w] = 1.0 / K
    bound = K * assign_topics(counts, 1, C, 0.0, room)
    bound += assign_slots(counts, 1, C, room)  # as if there were one, which has all words
    total: float = room.words[0]
    for k in range(K):
        room.words[k], room.second[k] = total / K, 0.0
        for c in range(C):
            room.assigned[k, c] = room.assigned[0, c]
        for w in range(W):
            room.slots[k, w] = 1.0 / K
    return bound + total * math.log(K)


def assign_topics(counts: Floats, K: int, C: int, sticks: float, room: Room) -> float:
    """assigned_kc ~ exp(sum_w n_w slots_wk E log beta_cw + E log share_c); returns its part of the bound."""
    W, fits, parts, bound = counts.size, room.fits, room.tops, 0.0
    padded = pad(W)
    for k in range(K):
        own, slot = room.assigned[k], room.slots[k]
        for w in range(W):
            parts[w] = counts[w] * slot[w]
        for w in range(W, padded):
            parts[w] = 0.0
        for c in range(C):
            fits[c] = sticks * room.first[c]
        for w in range(0, padded, LANES):
            i, j, m, n = parts[w], parts[w + 1], parts[w + 2], parts[w + 3]
            rows = room.logs[w : w + LANES]
            for c in range(C):
                fits[c] += (i * rows[0, c] + j * rows[1, c]) + (m * rows[2, c] + n * rows[3, c])
        top = -math.inf
        for c in range(C):
            top = max(top, fits[c])
        total = 0.0
        for c in range(C):
            own[c] = exp_below_zero(fits[c] - top)
        for c in range(C):
            total += own[c]
        for c in range(C):
            own[c] /= total
        bound += top + math.log(total)
        for c in range(C):
            bound += own[c] * (room.first[c] - fits[c])
    return bound


def assign_slots(counts: Floats, K: int, C: int, room: Room) -> float:
    """slots_wk ~ exp(sum_c assigned_kc E log beta_cw + E log share_k); returns its part of the bound."""
    W, tops, bound = counts.size, room.tops, 0.0
    for w in range(W):
        tops[w] = -math.inf
    for k in range(K):
        slot, own = room.slots[k], room.assigned[k]
        for w in range(W):
            slot[w] = room.second[k]
        for c in range(0, C, LANES):
            i, j, m, n = own[c], own[c + 1], own[c + 2], own[c + 3]
            rows = room.across[c : c + LANES]
            if max(max(i, j), max(m, n)) > ROUNDING:
                for w in range(W):
                    slot[w] += (i * rows[0, w] + j * rows[1, w]) + (m * rows[2, w] + n * rows[3, w])
        for w in range(W):
            tops[w] = max(tops[w], slot[w])
    for k in range(K):
        slot = room.slots[k]
        for w in range(W):
            slot[w] = exp_below_zero(slot[w] - tops[w])
    for w in range(W):
        bound += counts[w] * tops[w]
        tops[w] = 0.0
    for k in range(K):
        slot = room.slots[k]
        for w in range(W):
            tops[w] += slot[w]
    for w in range(W):
        bound += counts[w] * math.log(tops[w])
        tops[w] = 1.0 / tops[w]
    for k in range(K):
        slot, words = room.slots[k], 0.0
        for w in range(W):
            slot[w] *= tops[w]
        for w in range(W):
            words += counts[w] * slot[w]
        room.words[k] = words
    return bound


def break_stick(K: int, alpha: float, room: Room) -> float:
    """The stick of the document, a_k = 1 + its words and b_k = alpha + the words of later slots; part of the bound."""
    bound, after, before = 0.0, 0.0, 0.0
    for k in range(K):
        after += room.words[k]
    for k in range(K):
        log_share = before
        if k < K - 1:
            after -= room.words[k]
            a, b = 1.0 + room.words[k], alpha + max(after, 0.0)
            whole = digamma(a + b)
            taken, left = digamma(a) - whole, digamma(b) - whole
            bound += math.log(alpha) + (1.0 - a) * taken + (alpha - b) * left
            bound -= log_gamma(a + b) - log_gamma(a) - log_gamma(b)
            log_share, before = before + taken, before + left
        bound += room.words[k] * (log_share - room.second[k])
        room.second[k] = log_share
    return bound


def add_statistics(words: Any, counts: Floats, statistics: Floats, numbers: Floats, parts: Parts) -> None:
    """Expected words of every topic, and slots that have it."""
    room, sticks = parts.room, parts.sticks
    W, K, C = words.size, int(numbers[SLOTS]), int(numbers[CANDIDATES])
    for k in range(K):
        for c in range(C):
            sticks.counts[room.candidates[c]] += room.assigned[k, c]
        slot = room.slots[k]
        for w in range(W):
            slot[w] *= counts[w]
    for c in range(C):
        t, used, expected = room.candidates[c], False, room.across[c]  # E log beta is not needed any more
        for w in range(W):
            expected[w] = 0.0
        for k in range(K):
            share, slot = room.assigned[k, c], room.slots[k]
            if share > ROUNDING:
                used = True
                for w in range(W):
                    expected[w] += share * slot[w]
        if used:
            for w in range(W):
                statistics[words[w], t] += expected[w]


VECTOR, MATRIX = np.zeros(1), np.zeros((1, 1))
PARTS = Parts(
    EXAMPLES["memory"],
    Room(np.zeros(1, np.int64), VECTOR, *(MATRIX,) * 4, *(VECTOR,) * 5),
    Sticks(VECTOR, VECTOR),
)
OWN_EXAMPLES = {name: EXAMPLES[name] for name in ("documents", "topics", "results", "numbers")} | {"parts": PARTS}
PLACES, TABLE_SIZE = place_values(OWN_EXAMPLES)


def allocate_room(longest: int, topics: int, slots: int, candidates: int) -> Room:
    padded = pad(candidates)
    shapes: list[Any] = [topics, (longest, candidates), (padded, longest), (slots, longest), (slots, padded),
                         candidates, candidates, slots, slots, longest]  # fmt: skip
    return Room(np.zeros(candidates, np.int64), *(np.zeros(shape) for shape in shapes))


def run_sticks(
    documents: Documents, topics: Topics, out: Results, numbers: Floats, sticks: Sticks, native: bool
) -> None:
    """Run `infer_sticks`, compiled or as plain Python."""
    memory = allocate(documents, topics.words.size, topics.alpha.size)
    room = allocate_room(memory.norms.size, topics.alpha.size, int(numbers[SLOTS]), int(numbers[CANDIDATES]))
    parts = Parts(memory, room, sticks)
    if not native:
        infer_sticks(documents, topics, out, numbers, parts)
    else:
        compile_function(entry, PLACES)(np.zeros(TABLE_SIZE, np.int64), documents, topics, out, numbers, parts)
    return_room("powers", memory.powers)
