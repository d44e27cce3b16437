"""Variational inference of the topics of documents, compiled: the E-step of latent Dirichlet allocation.

The loops are over contiguous arrays without sums across them, so that they are vectorized; four topics, or four words,
are added at a time. Arrays are padded with zeros to multiples of four.
"""

import math
import threading
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.algebra.gamma_functions import digamma, exp_digamma, log_gamma
from noregret.jit.compiled import compile_function, unbound
from noregret.jit.layout import count_words

Floats = NDArray[np.float64]
Table = NDArray[np.int64]
LANES = 4
TINY = 1e-290  # in place of 0 in a quotient: where no topic has a word, or there are no words
TOLERANCE, ITERATIONS, SCORING = range(3)  # the numbers that the loop reads

read_documents = read_topics = read_results = read_memory = read_numbers = unbound


class Documents(NamedTuple):
    """Words by document, as rows of the arrays of topics; `unknown` is about words that no topic knows yet."""

    offsets: NDArray[np.int64]
    words: NDArray[np.int32]
    counts: Floats
    unknown: Floats  # by document: how many of the words up to it are unknown, and how many of its tokens


class Topics(NamedTuple):
    """What the loop reads of topics; a column for each, padded."""

    weights: Floats  # by word of the vocabulary: lambda = eta + scale * weights, the Dirichlet parameters of beta
    numbers: Floats  # eta and scale
    words: NDArray[np.int64]  # the rows of the words of these documents
    totals: Floats  # the sum of lambda over all words
    alpha: Floats


class Results(NamedTuple):
    """What the loop writes."""

    gamma: Floats  # documents x topics
    statistics: Floats  # words x topics: the sums of n phi, for learning
    losses: Floats  # by document, for scoring


class Memory(NamedTuple):
    """Room for the words of all documents, and for one document in both orders, so that no loop sums up an array."""

    powers: Floats  # words x topics: exp(E log beta)
    largest: Floats  # by topic: exp(psi(total))
    by_word: Floats  # words x topics
    by_topic: Floats  # topics x words
    norms: Floats
    ratios: Floats
    theta: Floats
    sums: Floats


def entry(table: Table) -> int:
    infer(read_documents(table), read_topics(table), read_results(table), read_memory(table), read_numbers(table))
    return 0


def infer(documents: Documents, topics: Topics, out: Results, memory: Memory, numbers: Floats) -> None:
    """Find gamma, the Dirichlet parameters of the topics of each document; add its statistics, or compute its loss."""
    find_powers(topics, memory)
    for d in range(documents.offsets.size - 1):
        first, last = documents.offsets[d], documents.offsets[d + 1]
        words, counts, gamma = documents.words[first:last], documents.counts[first:last], out.gamma[d]
        gather(words, memory.powers, memory)
        find_gamma(counts, topics.alpha, gamma, memory, numbers)
        if numbers[SCORING] == 0.0:
            add_statistics(words, out.statistics, memory)
        else:
            out.losses[d] = find_loss(words, counts, documents.unknown[d], topics, gamma, memory)
    for w in range(out.statistics.shape[0]):
        for k in range(out.statistics.shape[1]):
            out.statistics[w, k] *= memory.powers[w, k]


def find_powers(topics: Topics, memory: Memory) -> None:
    """exp(E log beta) = exp(psi(lambda) - psi(total)) for all words."""
    powers, largest, totals, eta, scale = (
        memory.powers,
        memory.largest,
        topics.totals,
        topics.numbers[0],
        topics.numbers[1],
    )
    for k in range(totals.size):
        largest[k] = 1.0 / exp_digamma(totals[k]) if totals[k] > 0.0 else 0.0
    for w in range(topics.words.size):
        row, out = topics.weights[topics.words[w]], powers[w]
        for k in range(totals.size):
            out[k] = exp_digamma(eta + scale * row[k]) * largest[k]


def gather(words: Any, powers: Floats, memory: Memory) -> None:
    """Copy the rows of the words of a document, and their transpose."""
    K, W = powers.shape[1], words.size
    for w in range(W):
        row, own = powers[words[w]], memory.by_word[w]
        for k in range(K):
            own[k] = row[k]
    for w in range(0, pad(W), LANES):  # what stands beyond the last word counts nothing, since its ratio is 0
        rows = memory.by_word[w : w + LANES]
        for k in range(K):
            column = memory.by_topic[k, w : w + LANES]
            column[0], column[1], column[2], column[3] = rows[0, k], rows[1, k], rows[2, k], rows[3, k]


def find_gamma(counts: Floats, alpha: Floats, gamma: Floats, memory: Memory, numbers: Floats) -> None:
    """Coordinate ascent: gamma_k = alpha_k + sum_w n_w phi_wk, where phi_wk ~ exp(E log theta_k + E log beta_kw)."""
    K, by_word, theta, ratios, sums = alpha.size, memory.by_word, memory.theta, memory.ratios, memory.sums
    width, padded = by_word.shape[1], pad(counts.size)
    for k in range(K):
        gamma[k] = 1.0
    change, iterations = np.inf, 0
    while True:
        for k in range(K):
            theta[k] = exp_digamma(gamma[k])
        find_ratios(counts, memory)
        if iterations >= numbers[ITERATIONS] or change < numbers[TOLERANCE]:
            break
        for k in range(width):
            sums[k] = 0.0
        for w in range(0, padded, LANES):
            a, b, c, d = ratios[w], ratios[w + 1], ratios[w + 2], ratios[w + 3]
            rows = by_word[w : w + LANES]
            for k in range(width):
                sums[k] += (a * rows[0, k] + b * rows[1, k]) + (c * rows[2, k] + d * rows[3, k])
        change = 0.0
        for k in range(K):
            new = alpha[k] + theta[k] * sums[k]
            change += abs(new - gamma[k])
            gamma[k] = new
        change /= K
        iterations += 1


def find_ratios(counts: Floats, memory: Memory) -> None:
    """n_w / sum_k exp(E log theta_k + E log beta_kw) for every word."""
    theta, norms, ratios, by_topic = memory.theta, memory.norms, memory.ratios, memory.by_topic
    padded = pad(counts.size)
    for w in range(padded):
        norms[w] = TINY
    for k in range(0, theta.size, LANES):
        a, b, c, d = theta[k], theta[k + 1], theta[k + 2], theta[k + 3]
        rows = by_topic[k : k + LANES]
        for w in range(padded):
            norms[w] += (a * rows[0, w] + b * rows[1, w]) + (c * rows[2, w] + d * rows[3, w])
    for w in range(counts.size):
        ratios[w] = counts[w] / norms[w]
    for w in range(counts.size, padded):
        ratios[w] = 0.0


def add_statistics(words: Any, statistics: Floats, memory: Memory) -> None:
    theta = memory.theta
    for w in range(words.size):
        row, ratio = statistics[words[w]], memory.ratios[w]
        for k in range(row.size):
            row[k] += ratio * theta[k]


def find_loss(words: Any, counts: Floats, unknown: Floats, topics: Topics, gamma: Floats, memory: Memory) -> float:
    """Minus a lower bound on the log-probability of a document, given the mean of every topic."""
    K, theta, sums, eta, scale = topics.alpha.size, memory.theta, memory.sums, topics.numbers[0], topics.numbers[1]
    total = prior = 0.0
    for k in range(K):
        total += gamma[k]
        prior += topics.alpha[k]
    mean = exp_digamma(total)
    bound = log_gamma(prior) - log_gamma(total)
    new = 0.0  # the mean of the log-probability of a word that has not been seen
    for k in range(K):
        alpha = topics.alpha[k]
        bound += (alpha - gamma[k]) * (digamma(gamma[k]) - digamma(total)) + log_gamma(gamma[k]) - log_gamma(alpha)
        mass = topics.totals[k] + eta * unknown[0]  # of all words up to this document
        sums[k] = theta[k] / max(mean * mass, TINY)
        if unknown[1] > 0.0:
            new += gamma[k] / total * math.log(eta / mass)
    for w in range(words.size):
        row, probability = topics.weights[topics.words[words[w]]], 0.0
        for k in range(K):
            probability += sums[k] * (eta + scale * row[k])
        bound += counts[w] * math.log(probability)
    return float(max(0.0, -(bound + unknown[1] * new)))


EXAMPLES: dict[str, Any] = {
    "documents": Documents(np.zeros(1, np.int64), np.zeros(1, np.int32), np.zeros(1), np.zeros((1, 1))),
    "topics": Topics(np.zeros((1, 1)), np.zeros(2), np.zeros(1, np.int64), np.zeros(1), np.zeros(1)),
    "results": Results(np.zeros((1, 1)), np.zeros((1, 1)), np.zeros(1)),
    "memory": Memory(*(np.zeros((1,) * dimensions) for dimensions in (2, 1, 2, 2, 1, 1, 1, 1))),
    "numbers": np.zeros(3),
}


def place_values(examples: dict[str, Any] = EXAMPLES) -> tuple[dict[str, tuple[int, Any]], int]:
    """The slots of values in the table of an entry, and how many slots there are."""
    places, slot = {}, 0
    for name, example in examples.items():
        places[name] = slot, example
        slot += count_words(example)
    return places, slot


PLACES, SLOTS = place_values()
_large = threading.local()  # large arrays of this thread, which are used again: new memory costs more than filling it


def take_room(name: str, shape: tuple[int, int]) -> Floats:
    """Room of this shape, not cleared. Until it is returned nobody else has it, such as a signal handler."""
    size = shape[0] * shape[1]
    known: Floats | None = vars(_large).pop(name, None)
    if known is None or known.size < size:
        known = np.empty(size + size // 4)
    return known[:size].reshape(shape)


def return_room(name: str, room: Floats) -> None:
    """Let room be used again."""
    setattr(_large, name, room.base)


def allocate(documents: Documents, words: int, topics: int) -> Memory:
    """Room for so many words, and for the longest document."""
    longest, width = pad(int(np.diff(documents.offsets).max(initial=0))), pad(topics)
    powers = take_room("powers", (words, width))
    powers[:, topics:] = 0.0
    shapes: list[Any] = [width, (longest, width), (width, longest), longest, longest, width, width]
    return Memory(powers, *(np.zeros(shape) for shape in shapes))


def allocate_results(documents: int, words: int, topics: int, scoring: bool) -> Results:
    """Room for what is found; `return_statistics` when they are not needed any more."""
    statistics = np.zeros((0, topics)) if scoring else take_room("statistics", (words, topics))
    statistics[:] = 0.0
    return Results(np.zeros((documents, topics)), statistics, np.zeros(documents))


def return_statistics(out: Results) -> None:
    """Let the room of statistics be used again."""
    return_room("statistics", out.statistics)


def pad(size: int) -> int:
    """The next multiple of the number of lanes."""
    return -(-size // LANES) * LANES


def run_inference(documents: Documents, topics: Topics, out: Results, numbers: Floats, native: bool) -> None:
    """Run `infer`, compiled or as plain Python."""
    memory = allocate(documents, topics.words.size, topics.alpha.size)
    if not native:
        infer(documents, topics, out, memory, numbers)
    else:
        compile_function(entry, PLACES)(np.zeros(SLOTS, np.int64), documents, topics, out, memory, numbers)
    return_room("powers", memory.powers)
