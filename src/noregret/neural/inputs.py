"""What the loop of networks reads: values in units of their feature, and rounds that are remembered for replay."""

import math
from typing import Any

import numpy as np

from noregret.algebra.partial_features import PRIME, next_random
from noregret.neural.net import (
    BIAS,
    DENSE,
    FARTHEST,
    LARGEST,
    RANDOM,
    REGRESSION,
    REMEMBERED,
    ROUNDS,
    SCALES,
    SCALES_TARGET,
    TARGET_MEAN,
    TARGET_SQUARES,
    TARGETS,
    TASK,
    Floats,
)


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


def read_row(net: Any, idx: Any, val: Floats, seen: Floats, rounds: float, learns: bool) -> None:
    """List the rows of the first matrix that a row of the data uses, and with `learns` count its values."""
    bias, stride, first, count = net.options[BIAS], net.strides[0], net.firsts[0], 0
    if bias == 1:
        net.active[0], net.amounts[0], count = first, 1.0, 1
    scales = net.options[SCALES] == 1
    for k in range(val.size):
        x, j = val[k], np.int64(idx[k])
        if scales:
            own = seen[3 * j : 3 * j + 3]
            scaled = scale_value(x, own, rounds)
            if learns:
                learn_value(x, own)
            x = scaled
        net.active[count] = first + (j + bias) * stride
        net.amounts[count] = x
        count += 1 if x != 0.0 else 0
    net.counts[0] = count


def read_given(net: Any, rows: Any, t: Any, n: Floats, learns: bool) -> bool:
    """Read a row of the call; False where a value is too large."""
    start, stop = rows.indptr[t], rows.indptr[t + 1]
    val = rows.val[start:stop]
    if not is_sound(val):
        return False
    first = 0 if net.options[DENSE] == 1 else start
    read_row(net, rows.idx[first : first + val.size], val, rows.seen, n[ROUNDS], learns)
    return True


# ---- replay ----------------------------------------------------------------------------------------------------------


def draw_below(n: Floats, limit: float) -> int:
    """A random number from 0 to before a limit."""
    n[RANDOM] = next_random(n[RANDOM])
    return int((n[RANDOM] - 1.0) / (PRIME - 1.0) * limit)


def read_remembered(net: Any, rows: Any, n: Floats) -> Any:
    """Read a row that is drawn from the memory; its number there."""
    memory = rows.memory
    place = draw_below(n, min(n[REMEMBERED], float(memory.y.size)))
    room = memory.val.size // memory.y.size
    first, size = place * room, memory.sizes[place]
    read_row(net, memory.idx[first : first + size], memory.val[first : first + size], rows.seen, n[ROUNDS], False)
    return place


def remember(net: Any, rows: Any, rounds: Any, t: Any, n: Floats) -> None:
    """Keep a round in the memory, which is a uniform sample of all rounds (Vitter 1985)."""
    memory, start, size = rows.memory, rows.indptr[t], rows.indptr[t + 1] - rows.indptr[t]
    n[REMEMBERED] += 1.0
    place = int(n[REMEMBERED]) - 1
    if place >= memory.y.size:
        place = draw_below(n, n[REMEMBERED])
        if place >= memory.y.size:
            return
    first, at = 0 if net.options[DENSE] == 1 else start, place * (memory.val.size // memory.y.size)
    for k in range(size):
        memory.idx[at + k] = rows.idx[first + k]
        memory.val[at + k] = rows.val[start + k]
    memory.sizes[place], memory.y[place], memory.h[place] = size, rounds.y[t], rounds.h[t]


# ---- targets ---------------------------------------------------------------------------------------------------------


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
