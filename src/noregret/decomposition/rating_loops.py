"""Rounds of ratings, compiled: probabilistic and ranking matrix factorisation by gradient steps or dual averaging.

A rating is a share x of its scale, from 0 to 1. It is predicted as g = s / (s + (1 - s) exp(-u.v)): the logistic
function of u.v where s is 1/2, and otherwise that of u.v plus the log-odds of s, which is what the mean and the biases
of user and item say. Sums are in the order of rounds, so that batches do not change them.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.decomposition.rating_table import KNOWN, Known, Loop, add_rating, find_slot
from noregret.jit.compiled import unbound

Floats = NDArray[np.float64]
Table = NDArray[np.int64]
# What it reads (the least spread is 0 where eta, or beta, does not follow it), and the totals that it writes.
RANKING, AVERAGING, OFFSET, ETA, LAM_USERS, LAM_ITEMS, BETA, DAMPING, LEAST_SPREAD, NUMBERS = range(10)
NONE, MEAN, BIASES = range(3)  # what is beside u.v: nothing, the mean of all ratings, also the biases
SUM, COUNT, ERROR, ERROR_OF_BIASES, ERROR_OF_MEAN, PLAYED, TOTALS = range(7)
ERRORS = [ERROR, ERROR_OF_BIASES, ERROR_OF_MEAN]
LEAST = 0.002  # shares are at least so far from 0 and 1, where log-odds are infinite
USUAL, ROUNDS_BEFORE = 0.25, 10.0  # errors that `find_spread` compares with, and for how many rounds they count
LARGE = 2.5  # times these errors

read_rounds = read_users = read_items = read_known = read_totals = read_memory = read_numbers = unbound
read_pairs = unbound


class Rounds(NamedTuple):
    """What the loop reads and writes of rounds."""

    users: Table
    items: Table
    ratings: Floats  # shares of the scale
    predictions: Floats
    entries: Table  # the rating that was replaced by this one; NOTHING before and where there was none
    before: Floats  # what it was


class Side(NamedTuple):
    """Users, or items: a row for each."""

    factors: Floats
    averages: Floats  # of gradients, for dual averaging; without columns where there is none
    sums: Floats  # of what ratings differ from the mean and from the bias of the other side
    counts: Table  # of different ratings
    steps: Table  # of rounds, also of ratings that replaced others


class Memory(NamedTuple):
    """Room for the items of a user, and for gradients."""

    entries: Table
    truths: Floats
    guesses: Floats
    slopes: Floats
    of_user: Floats
    of_item: Floats


def entry(table: Table) -> int:
    play(read_rounds(table), read_users(table), read_items(table), read_known(table), read_totals(table),
         read_memory(table), read_numbers(table))  # fmt: skip
    return 0


def play(
    rounds: Rounds, users: Side, items: Side, known: Known, totals: Floats, memory: Memory, numbers: Floats
) -> None:
    """Predict every rating, then learn it.

    `totals` are the sum and the number of different ratings, and the squared errors of the prediction, of the mean with
    the biases, and of the mean, all of them before a rating was learned.
    """
    for t in range(rounds.users.size):
        u, i, x = rounds.users[t], rounds.items[t], rounds.ratings[t]
        share = find_share(users, items, totals, u, i, numbers)
        new = users.steps[u] == 0 or items.steps[i] == 0
        g = predict_share(share, 0.0 if new else dot(users.factors[u], items.factors[i]))
        rounds.predictions[t] = find_mean(totals) if new and numbers[OFFSET] == NONE else g
        add_errors(users, items, totals, u, i, rounds.predictions[t] - x, x, numbers)
        store(rounds, known, totals, t)
        if numbers[RANKING] == 0.0:
            find_gradients(users, items, u, i, x, share, memory)
        else:
            find_rank_gradients(users, items, known, totals, u, i, memory, numbers)
        learn_biases(rounds, users, items, totals, t, numbers)
        users.steps[u] += 1
        items.steps[i] += 1
        totals[PLAYED] += 1.0
        spread = find_spread(totals, numbers, rounds.predictions[t] - x)
        step(users, u, memory.of_user, numbers[LAM_USERS], spread, numbers)
        step(items, i, memory.of_item, numbers[LAM_ITEMS], spread, numbers)


# ---- predictions -----------------------------------------------------------------------------------------------------


def dot(a: Floats, b: Floats) -> float:
    total = 0.0
    for k in range(a.size):
        total += a[k] * b[k]
    return total


def predict_share(share: float, score: float) -> float:
    """The logistic function of the score plus the log-odds of a share."""
    if score < -700.0:
        return 0.0
    return share / (share + (1.0 - share) * math.exp(-score))


def find_mean(totals: Floats) -> float:
    """The mean of all ratings; half of the scale before the first."""
    return totals[SUM] / totals[COUNT] if totals[COUNT] > 0.0 else 0.5


def find_bias(side: Side, number: Any, damping: float) -> float:
    """The mean of what ratings differ, as if so many more ratings had not differed at all."""
    bias: float = side.sums[number] / (side.counts[number] + damping)
    return bias


def find_baseline(users: Side, items: Side, totals: Floats, u: Any, i: Any, damping: float) -> float:
    """The mean with the biases of user and item; NOTHING stands for one that is not known."""
    share = find_mean(totals)
    share += find_bias(users, u, damping) if u >= 0 else 0.0
    share += find_bias(items, i, damping) if i >= 0 else 0.0
    return share


def find_share(users: Side, items: Side, totals: Floats, u: Any, i: Any, numbers: Floats) -> float:
    """What is beside u.v, as far from 0 and 1 as it must be."""
    if numbers[OFFSET] == NONE:
        return 0.5
    least = LEAST if users.factors.shape[1] else 0.0
    share = find_mean(totals)
    if numbers[OFFSET] == BIASES:
        share = find_baseline(users, items, totals, u, i, numbers[DAMPING])
    return min(max(share, least), 1.0 - least)


def add_errors(
    users: Side, items: Side, totals: Floats, u: Any, i: Any, error: float, x: float, numbers: Floats
) -> None:
    """Add the squared errors of a prediction and of the baselines."""
    baseline = min(max(find_baseline(users, items, totals, u, i, numbers[DAMPING]), 0.0), 1.0) - x
    mean = find_mean(totals) - x
    totals[ERROR] += error * error
    totals[ERROR_OF_BIASES] += baseline * baseline
    totals[ERROR_OF_MEAN] += mean * mean


# ---- ratings ---------------------------------------------------------------------------------------------------------


def store(rounds: Rounds, known: Known, totals: Floats, t: Any) -> None:
    """Store a rating; it replaces an earlier one of the same item by the same user."""
    u, i = rounds.users[t], rounds.items[t]
    slot = find_slot(known, u, i)
    n = known.table[slot]
    if n < 0:
        add_rating(known, slot, int(totals[COUNT]), u, i, rounds.ratings[t])
    else:
        rounds.before[t] = known.ratings[n]
        rounds.entries[t] = n
        known.ratings[n] = rounds.ratings[t]


# ---- gradients and steps ---------------------------------------------------------------------------------------------


def find_gradients(users: Side, items: Side, u: Any, i: Any, x: float, share: float, memory: Memory) -> None:
    """PMF: the gradient of (g - x)^2 / 2."""
    own, other = users.factors[u], items.factors[i]
    g = predict_share(share, dot(own, other))
    slope = (g - x) * g * (1.0 - g)
    for k in range(own.size):
        memory.of_user[k] = slope * other[k]
        memory.of_item[k] = slope * own[k]


def find_rank_gradients(
    users: Side, items: Side, known: Known, totals: Floats, u: Any, i: Any, memory: Memory, numbers: Floats
) -> None:
    """RMF: the gradient of -sum_j p_j ln q_j over all items of the user, where p ~ exp(x) and q ~ exp(g)."""
    own, size, truth, guess = users.factors[u], 0, 0.0, 0.0
    n = int(known.heads[u])
    while n >= 0:
        j = known.items[n]
        g = predict_share(find_share(users, items, totals, u, j, numbers), dot(own, items.factors[j]))
        memory.entries[size] = n
        memory.truths[size] = math.exp(known.ratings[n])
        memory.guesses[size] = math.exp(g)
        memory.slopes[size] = g * (1.0 - g)
        truth += memory.truths[size]
        guess += memory.guesses[size]
        size += 1
        n = int(known.later[n])
    for k in range(own.size):
        memory.of_user[k] = 0.0
    for at in range(size):
        j = known.items[memory.entries[at]]
        slope = (memory.guesses[at] / guess - memory.truths[at] / truth) * memory.slopes[at]
        other = items.factors[j]
        for k in range(own.size):
            memory.of_user[k] += slope * other[k]
        if j == i:
            for k in range(own.size):
                memory.of_item[k] = slope * own[k]


def find_spread(totals: Floats, numbers: Floats, error: float) -> float:
    """How large the errors of the mean with the biases are, beside those that eta and beta were chosen for.

    Where ratings fill only a part of their scale, errors are small, and steps of the same eta would learn nothing.
    An error of the prediction that is much larger counts by itself, so that steps stay stable when ratings change.
    """
    least: float = numbers[LEAST_SPREAD]
    if least == 0.0:
        return 1.0
    squares = (ROUNDS_BEFORE * USUAL * USUAL + totals[ERROR_OF_BIASES]) / (ROUNDS_BEFORE + totals[PLAYED])
    return max(math.sqrt(squares) / USUAL, abs(error) / (LARGE * USUAL), least)


def step(side: Side, number: Any, gradient: Floats, lam: float, spread: float, numbers: Floats) -> None:
    """A gradient step, or the minimum of the mean gradient so far plus penalties (dual averaging)."""
    factors = side.factors[number]
    if numbers[AVERAGING] == 0.0:
        eta = numbers[ETA] / spread
        for k in range(factors.size):
            factors[k] -= eta * (gradient[k] + lam * factors[k])
        return
    rounds, averages = float(side.steps[number]), side.averages[number]
    penalty = lam + numbers[BETA] * spread / math.sqrt(rounds)
    for k in range(factors.size):
        averages[k] = ((rounds - 1.0) * averages[k] + gradient[k]) / rounds
        factors[k] = -averages[k] / penalty


def learn_biases(rounds: Rounds, users: Side, items: Side, totals: Floats, t: Any, numbers: Floats) -> None:
    """Add what a rating differs from the mean to the sums of its user and item, each less the bias of the other.

    A rating that replaces another adds what it differs from that one.
    """
    u, i, x = rounds.users[t], rounds.items[t], rounds.ratings[t]
    if rounds.entries[t] >= 0:
        change = x - rounds.before[t]
        totals[SUM] += change
        users.sums[u] += change
        items.sums[i] += change
        return
    mean, of_user = find_mean(totals), find_bias(users, u, numbers[DAMPING])
    users.sums[u] += x - mean - find_bias(items, i, numbers[DAMPING])
    items.sums[i] += x - mean - of_user
    users.counts[u] += 1
    items.counts[i] += 1
    totals[SUM] += x
    totals[COUNT] += 1.0


# ---- predictions of rows that are not learned----------------------------------------------------------------------


def score_entry(table: Table) -> int:
    score(read_pairs(table), read_users(table), read_items(table), read_totals(table), read_numbers(table))
    return 0


class Pairs(NamedTuple):
    """Users and items by number, NOTHING where one is not known, and their predictions."""

    users: Table
    items: Table
    predictions: Floats


def score(pairs: Pairs, users: Side, items: Side, totals: Floats, numbers: Floats) -> None:
    """Predict ratings as `play` would; nothing is learned."""
    for t in range(pairs.users.size):
        u, i = pairs.users[t], pairs.items[t]
        share = find_share(users, items, totals, u, i, numbers)
        if u >= 0 and i >= 0:
            pairs.predictions[t] = predict_share(share, dot(users.factors[u], items.factors[i]))
        elif numbers[OFFSET] == NONE:
            pairs.predictions[t] = find_mean(totals)
        else:
            pairs.predictions[t] = predict_share(share, 0.0)


# ---- how they are run ------------------------------------------------------------------------------------------------


LONGS, ONE = np.zeros(1, np.int64), np.zeros((1, 1))
SIDE = Side(ONE, ONE, np.zeros(1), LONGS, LONGS)
ROUNDS = Rounds(LONGS, LONGS, np.zeros(1), np.zeros(1), LONGS, np.zeros(1))
MEMORY = Memory(LONGS, *(np.zeros(1) for _ in range(5)))
PLAYS = {"rounds": ROUNDS, "users": SIDE, "items": SIDE, "known": KNOWN, "totals": np.zeros(TOTALS),
         "memory": MEMORY, "numbers": np.zeros(NUMBERS)}  # fmt: skip
SCORES = {"pairs": Pairs(LONGS, LONGS, np.zeros(1)), "users": SIDE, "items": SIDE,
          "totals": np.zeros(TOTALS), "numbers": np.zeros(NUMBERS)}  # fmt: skip


def make_play() -> Loop:
    return Loop(play, entry, PLAYS, "rounds")


def make_score() -> Loop:
    return Loop(score, score_entry, SCORES, "pairs")
