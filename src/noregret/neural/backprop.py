"""Online backpropagation, written once for all networks: forward, losses, backward, a step of the optimizer.

A network has levels 0 (the inputs) to L. Matrix l takes the units of level l to the sums of level l + 1 and, where the
level has a head, to the outputs of that head. An ordinary network has one head, on the last level; hedge
backpropagation has one on every level, and mixes their predictions by weights. A matrix is stored by rows: one for the
bias, then one for each unit it reads, so that new features are new rows and units that are zero are skipped.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.algebra.vectors import dense_dot
from noregret.algebra.verbs import reassociate, unbound
from noregret.neural.activations import activate
from noregret.neural.optimizers import Weights, correct_start

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
BINARY, SOFTMAX, REGRESSION = 0, 1, 2
TASK, LEVELS, OUTPUTS, BIAS, BATCH, ACTIVATION, RESCALE, SCALES_TARGET, DENSE, CORRECTS, HEADS, SCALES = range(12)
STEPS, TARGETS, TARGET_MEAN, TARGET_SQUARES, GATHERED, ROUNDS, FAULT = range(7)
NONE, CLIPPED, SPREAD = 0, 1, 2  # how hedge losses are brought into [0, 1]
LARGEST = 1e60  # beyond, a value, a sum or a gradient is taken for an overflow: squares of products are finite below
SMALLEST = 1e-300  # of a probability whose logarithm is taken
FARTHEST = 3.0  # a scaled value is at most so many deviations away from the mean

step = unbound
rests: Any = unbound  # whether a step changes nothing where the gradient is zero


class Net(NamedTuple):
    """A network as the loop sees it: sizes and places by level, and room for the numbers of one round."""

    options: Integers
    sizes: Integers  # units by level
    firsts: Integers  # where the rows of each matrix begin
    strides: Integers  # how long they are
    heads: Integers  # whether a level has a head
    out_at: Integers  # where the sums of a matrix stand in outs, and their gradients in grads
    unit_at: Integers  # where the units of a level stand in units and slopes
    active_at: Integers  # where the rows in use stand in active and amounts
    counts: Integers  # how many there are
    active: Integers
    moving: Integers  # the units of a level whose slopes are not zero
    amounts: Floats
    outs: Floats
    grads: Floats
    units: Floats
    slopes: Floats
    mixed: Floats  # the prediction of all heads together


class Hedge(NamedTuple):
    """The weights of the heads, with their losses in this round; beta and the smallest share of a head."""

    weights: Floats
    losses: Floats
    numbers: Floats  # beta, floor, clip
    counters: Floats


class Rows(NamedTuple):
    """The rows of a call; of dense rows `idx` holds the numbers of all columns once.

    `seen` has three numbers for each feature: how many values were seen, their mean, and their squared deviations.
    """

    indptr: Integers
    idx: NDArray[np.int32]
    val: Floats
    seen: Floats


class Rounds(NamedTuple):
    """The truths and importance weights of a call, and room for what happens."""

    y: Floats
    h: Floats
    scores: Floats
    updated: NDArray[np.uint8]
    deviations: Floats


# ---- forward ---------------------------------------------------------------------------------------------------------


@reassociate
def add_rows(out: Floats, w: Floats, places: Integers, amounts: Floats) -> None:
    """Add rows of a matrix, each by its amount: four at a time, so that the sums are read and written less often."""
    size, count = out.size, places.size
    for i in range(size):
        out[i] = 0.0
    k = 0
    while k + 4 <= count:
        a, b = w[places[k] : places[k] + size], w[places[k + 1] : places[k + 1] + size]
        c, d = w[places[k + 2] : places[k + 2] + size], w[places[k + 3] : places[k + 3] + size]
        x, y, z, u = amounts[k], amounts[k + 1], amounts[k + 2], amounts[k + 3]
        for i in range(size):
            out[i] += (x * a[i] + y * b[i]) + (z * c[i] + u * d[i])
        k += 4
    while k < count:
        a, x = w[places[k] : places[k] + size], amounts[k]
        for i in range(size):
            out[i] += x * a[i]
        k += 1


def is_sound(values: Floats) -> bool:
    """Whether all numbers are far from an overflow."""
    wrong = 0
    for i in range(values.size):
        wrong += 0 if abs(values[i]) <= LARGEST else 1
    return wrong == 0


def scale_value(x: float, seen: Floats, rounds: float) -> float:
    """A value in units of the earlier values of its feature.

    Of a feature that every round had: deviations from the mean. Of one that came in some rounds only: the value over
    the root mean square, this value included, so that 0 stays 0 and an indicator stays 1.
    """
    count, mean, spread = seen[0], seen[1], seen[2]
    if count == rounds:
        scaled = (x - mean) / math.sqrt(spread / count) if spread > 0.0 else 0.0
    else:
        squares = spread + count * mean * mean + x * x
        scaled = x / math.sqrt(squares / (count + 1.0)) if squares > 0.0 else 0.0
    return min(max(scaled, -FARTHEST), FARTHEST)


def learn_value(x: float, seen: Floats) -> None:
    """Count a value of a feature (Welford 1962)."""
    seen[0] += 1.0
    off = x - seen[1]
    seen[1] += off / seen[0]
    seen[2] += off * (x - seen[1])


def read_row(net: Any, rows: Any, t: Any, n: Floats, learns: bool) -> bool:
    """List the rows of the first matrix that a row of the data uses; False where a value is too large."""
    bias, stride, first, count = net.options[BIAS], net.strides[0], net.firsts[0], 0
    if bias == 1:
        net.active[0], net.amounts[0], count = first, 1.0, 1
    start, stop, shift, scales = rows.indptr[t], rows.indptr[t + 1], 0, net.options[SCALES] == 1
    if net.options[DENSE] == 1:
        shift = start
    if not is_sound(rows.val[start:stop]):
        return False
    for k in range(start, stop):
        x, j = rows.val[k], np.int64(rows.idx[k - shift])
        if scales:
            seen = rows.seen[3 * j : 3 * j + 3]
            scaled = scale_value(x, seen, n[ROUNDS])
            if learns:
                learn_value(x, seen)
            x = scaled
        net.active[count] = first + (j + bias) * stride
        net.amounts[count] = x
        count += 1 if x != 0.0 else 0
    net.counts[0] = count
    return True


def read_units(net: Any, level: Any) -> None:
    """List the rows of a matrix whose units are not zero."""
    bias, stride, first, at = net.options[BIAS], net.strides[level], net.firsts[level], net.active_at[level]
    size, unit = net.sizes[level], net.unit_at[level]
    count = 0
    if bias == 1:
        net.active[at], net.amounts[at], count = first, 1.0, 1
    values, active, amounts = net.units[unit : unit + size], net.active[at:], net.amounts[at:]
    for j in range(size):  # without a branch, which could not be predicted
        active[count] = first + (j + bias) * stride
        amounts[count] = values[j]
        count += 1 if values[j] != 0.0 else 0
    net.counts[level] = count


def forward(s: Any, net: Any) -> bool:
    """The sums of all matrices; False where some are too large."""
    levels = net.options[LEVELS]
    for level in range(levels + 1):
        at, count, out_at = net.active_at[level], net.counts[level], net.out_at[level]
        out = net.outs[out_at : out_at + net.strides[level]]
        add_rows(out, s.w, net.active[at : at + count], net.amounts[at : at + count])
        if not is_sound(out):
            return False
        if level < levels:
            size, unit = net.sizes[level + 1], net.unit_at[level + 1]
            activate(net.options[ACTIVATION], out[:size], net.units[unit : unit + size], net.slopes[unit : unit + size])
            read_units(net, level + 1)
    return True


# ---- heads -----------------------------------------------------------------------------------------------------------


def head_at(net: Any, level: Any) -> Any:
    """Where the outputs of a head begin, in `outs` and `grads`."""
    return net.out_at[level] + (0 if level == net.options[LEVELS] else net.sizes[level + 1])


def logistic(x: float) -> float:
    if x >= 0.0:
        return 1.0 / (1.0 + math.exp(-x))
    e = math.exp(x)
    return e / (1.0 + e)


def softmax(f: Floats, out: Floats) -> None:
    """Write the probabilities of classes with these scores."""
    top, total = f[0], 0.0
    for c in range(1, f.size):
        top = max(top, f[c])
    for c in range(f.size):
        out[c] = math.exp(f[c] - top)
        total += out[c]
    for c in range(f.size):
        out[c] /= total


def mix_heads(net: Any, hedge: Any) -> None:
    """Write the prediction of all heads: scores of a single one, otherwise the logarithms of mixed probabilities."""
    task, levels, mixed = net.options[TASK], net.options[LEVELS], net.mixed
    if net.options[HEADS] == 1:
        at = head_at(net, levels)
        for c in range(mixed.size):
            mixed[c] = net.outs[at + c]
        return
    for c in range(mixed.size):
        mixed[c] = 0.0
    other = 0.0
    for level in range(levels + 1):
        if net.heads[level] == 0:
            continue
        at, share = head_at(net, level), hedge.weights[level]
        f, p = net.outs[at : at + mixed.size], net.grads[at : at + mixed.size]
        if task == BINARY:
            mixed[0] += share * logistic(f[0])
            other += share * logistic(-f[0])
        else:
            softmax(f, p)
            for c in range(f.size):
                mixed[c] += share * p[c]
    if task == BINARY:
        mixed[0] = math.log(max(mixed[0], SMALLEST)) - math.log(max(other, SMALLEST))
    else:
        for c in range(mixed.size):
            mixed[c] = math.log(max(mixed[c], SMALLEST))


def judge_head(net: Any, level: Any, y: float, weight: float) -> float:
    """Write the gradient of the loss of a head for its outputs, times a weight; return the loss."""
    task, at, size = net.options[TASK], head_at(net, level), net.options[OUTPUTS]
    f, g = net.outs[at : at + size], net.grads[at : at + size]
    if task == REGRESSION:
        g[0] = weight * (f[0] - y)
        return float(0.5 * (f[0] - y) * (f[0] - y))
    if task == BINARY:
        margin = y * f[0]
        g[0] = -weight * y * logistic(-margin)
        return math.log1p(math.exp(-margin)) if margin > 0.0 else math.log1p(math.exp(margin)) - margin
    softmax(f, g)
    truth = int(y)
    loss = -math.log(max(g[truth], SMALLEST))
    g[truth] -= 1.0
    for c in range(g.size):
        g[c] *= weight
    return loss


# ---- backward --------------------------------------------------------------------------------------------------------


def backward(s: Any, net: Any) -> bool:
    """The gradients of all sums, from the last level to the first; False where some are too large."""
    bias = net.options[BIAS]
    for level in range(net.options[LEVELS], 0, -1):
        stride, size, unit = net.strides[level], net.sizes[level], net.unit_at[level]
        at, below = net.out_at[level], net.out_at[level - 1]
        g, slopes, down = net.grads[at : at + stride], net.slopes[unit : unit + size], net.grads[below : below + size]
        if not is_sound(g):
            return False
        first, count, moving = net.firsts[level] + bias * stride, 0, net.moving
        for j in range(size):
            down[j] = 0.0
            moving[count] = j
            count += 1 if slopes[j] != 0.0 else 0
        for k in range(count):
            j = moving[k]
            down[j] = slopes[j] * dense_dot(s.w[first + j * stride : first + (j + 1) * stride], g)
    return is_sound(net.grads[: net.strides[0]])


def squared_gradient(net: Any) -> float:
    """The squared norm of the gradient of one round: every matrix has the outer product of its units and grads."""
    total = 0.0
    for level in range(net.options[LEVELS] + 1):
        at, count, out_at = net.active_at[level], net.counts[level], net.out_at[level]
        amounts, g = net.amounts[at : at + count], net.grads[out_at : out_at + net.strides[level]]
        total += dense_dot(amounts, amounts) * dense_dot(g, g)
    return total


def numbers_of_step(p: Any, net: Any, n: Floats) -> Any:
    """Count a step; what the optimizer reads in it."""
    n[STEPS] += 1.0
    return correct_start(p, n[STEPS]) if net.options[CORRECTS] == 1 else p


def update_row(p: Any, s: Any, g: Floats, amount: float) -> None:
    """One step of every weight in a row."""
    for i in range(g.size):
        gradient = amount * g[i]
        if rests or gradient != 0.0:
            step(p, s, i, gradient)


def update(p: Any, s: Any, net: Any, share: float) -> None:
    """One step of every weight whose gradient is not zero; the gradient is scaled by a share."""
    for level in range(net.options[LEVELS] + 1):
        at, stride, out_at = net.active_at[level], net.strides[level], net.out_at[level]
        g = net.grads[out_at : out_at + stride]
        for k in range(net.counts[level]):
            a, b = net.active[at + k], net.active[at + k] + stride
            row = Weights(
                s.w[a:b], s.squares[a:b], s.moves[a:b], s.velocity[a:b], s.mean[a:b], s.seen[a:b], s.importance[a:b],
                s.anchor[a:b], s.pending[a:b],
            )  # fmt: skip
            update_row(p, row, g, share * net.amounts[at + k])


def gather(s: Any, net: Any) -> None:
    """Add the gradient of a round to those of its mini-batch."""
    for level in range(net.options[LEVELS] + 1):
        at, stride, out_at = net.active_at[level], net.strides[level], net.out_at[level]
        g = net.grads[out_at : out_at + stride]
        for k in range(net.counts[level]):
            row, amount = s.pending[net.active[at + k] : net.active[at + k] + stride], net.amounts[at + k]
            for i in range(stride):
                row[i] += amount * g[i]


def clip_share(limit: float, squares: float) -> float:
    """By what share a gradient is shortened to the largest norm allowed; 0 allows any."""
    return limit / math.sqrt(squares) if limit > 0.0 and squares > limit * limit else 1.0


def learn_round(p: Any, s: Any, net: Any, hedge: Any) -> None:
    """A step by the gradient of this round, or by the mean of those of the mini-batch that it completes."""
    n, limit, batch = hedge.counters, hedge.numbers[2], net.options[BATCH]
    if batch == 1:
        share = clip_share(limit, squared_gradient(net)) if limit > 0.0 else 1.0
        update(numbers_of_step(p, net, n), s, net, share)
        return
    gather(s, net)
    pending = s.pending
    n[GATHERED] += 1.0
    if n[GATHERED] >= batch:
        share = clip_share(limit, dense_dot(pending, pending) / (batch * batch)) / batch
        update_row(numbers_of_step(p, net, n), s, pending, share)
        for i in range(pending.size):
            pending[i] = 0.0
        n[GATHERED] = 0.0


def weigh_heads(net: Any, hedge: Any) -> None:
    """Hedge (Freund and Schapire 1997): a head of loss l keeps beta^l of its weight, and at least the floor."""
    weights, losses, beta, floor = hedge.weights, hedge.losses, hedge.numbers[0], hedge.numbers[1]
    low, high, total = math.inf, 0.0, 0.0
    for i in range(losses.size):
        if net.heads[i] == 1:
            low, high = min(low, losses[i]), max(high, losses[i])
    for i in range(weights.size):
        if net.heads[i] == 1:
            loss = losses[i]
            if net.options[RESCALE] == CLIPPED:
                loss = min(loss, 1.0)
            elif net.options[RESCALE] == SPREAD:
                loss = (loss - low) / (high - low) if high > low else 0.0
            weights[i] = max(weights[i] * beta**loss, floor)
            total += weights[i]
    for i in range(weights.size):
        weights[i] /= total


# ---- rounds ----------------------------------------------------------------------------------------------------------


def target_deviation(net: Any, n: Floats) -> float:
    """The deviation of the targets so far; 1 where they are not scaled."""
    if net.options[TASK] != REGRESSION or net.options[SCALES_TARGET] == 0:
        return 1.0
    return math.sqrt(n[TARGET_SQUARES] / n[TARGETS]) if n[TARGETS] > 0.0 else 0.0


def learn_target(n: Floats, y: float, h: float) -> None:
    """The mean and the squared deviations of the targets, each as much as its round weighs."""
    off, before = y - n[TARGET_MEAN], n[TARGETS]
    n[TARGETS] += h
    move = off * (h / n[TARGETS])
    n[TARGET_MEAN] += move
    n[TARGET_SQUARES] += before * off * move


def score_row(s: Any, net: Any, hedge: Any) -> bool:
    """Write the prediction of the row that was read; False where it overflows."""
    sound = forward(s, net)
    if sound:
        mix_heads(net, hedge)
    return sound


def write_scores(net: Any, n: Floats, deviation: float, scores: Floats, t: Any) -> None:
    """The prediction as a transcript tells it."""
    k = net.options[OUTPUTS]
    for c in range(k):
        scores[t * k + c] = net.mixed[c]
    if net.options[TASK] == REGRESSION:
        scores[t] = n[TARGET_MEAN] + deviation * net.mixed[0]


def train_on(s: Any, net: Any, hedge: Any, y: float, h: float) -> bool:
    """The gradients for a truth, after its row was scored; False where they overflow."""
    for level in range(net.options[LEVELS] + 1):
        if net.heads[level] == 1:
            hedge.losses[level] = judge_head(net, level, y, h * hedge.weights[level])
    return backward(s, net)


def play_rounds(p: Any, s: Any, net: Any, hedge: Any, rows: Any, rounds: Any) -> None:
    """Predict, then learn, every round; stop at one whose sums or gradients overflow, and tell its number."""
    n, task = hedge.counters, net.options[TASK]
    for t in range(rounds.y.size):
        n[FAULT] = t + 1.0
        deviation, y, h = target_deviation(net, n), rounds.y[t], rounds.h[t]
        if abs(y) > LARGEST or not read_row(net, rows, t, n, True) or not score_row(s, net, hedge):
            return
        n[ROUNDS] += 1.0
        write_scores(net, n, deviation, rounds.scores, t)
        rounds.deviations[t] = deviation
        if h > 0.0:
            if deviation > 0.0:
                truth = (y - n[TARGET_MEAN]) / deviation if task == REGRESSION else y
                if not train_on(s, net, hedge, truth, h):
                    return
                learn_round(p, s, net, hedge)
                if net.options[HEADS] > 1:
                    weigh_heads(net, hedge)
                rounds.updated[t] = 1
            if task == REGRESSION and net.options[SCALES_TARGET] == 1:
                learn_target(n, y, h)
    n[FAULT] = 0.0


def score_rows(s: Any, net: Any, hedge: Any, rows: Any, rounds: Any) -> None:
    """Predict every row."""
    n = hedge.counters
    deviation = target_deviation(net, n)
    for t in range(rounds.h.size):
        n[FAULT] = t + 1.0
        if not read_row(net, rows, t, n, False) or not score_row(s, net, hedge):
            return
        write_scores(net, n, deviation, rounds.scores, t)
    n[FAULT] = 0.0
