"""Online backpropagation, written once for all networks: forward, losses, backward, a step of the optimizer.

A network has levels 0 (the inputs) to L. Matrix l takes the units of level l to the sums of level l + 1 and, where the
level has a head, to the outputs of that head. An ordinary network has one head, on the last level; hedge
backpropagation has one on every level, and mixes their predictions by weights. A matrix is stored by rows: one for the
bias, then one for each unit it reads, so that new features are new rows and units that are zero are skipped.
"""

import math
from typing import Any

from noregret.algebra.vectors import dense_dot
from noregret.algebra.verbs import reassociate, unbound
from noregret.neural.activations import activate
from noregret.neural.inputs import is_sound
from noregret.neural.net import (
    ACTIVATION,
    BATCH,
    BIAS,
    BINARY,
    CLIPPED,
    CORRECTS,
    GATHERED,
    HEADS,
    LEVELS,
    OUTPUTS,
    REGRESSION,
    RESCALE,
    SMALLEST,
    SPREAD,
    STEPS,
    TASK,
    Floats,
    Integers,
)
from noregret.neural.optimizers import Weights, correct_start

step = unbound
rests: Any = unbound  # whether a step changes nothing where the gradient is zero


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
        if total > 0.0:
            weights[i] /= total
        else:  # without a floor, losses beyond all measure leave no weight: begin again
            weights[i] = net.heads[i] / net.options[HEADS]
