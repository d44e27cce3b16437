"""A network and its rounds as the compiled loop sees them."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
BINARY, SOFTMAX, REGRESSION = 0, 1, 2
# Places in `Net.options`, then in `Hedge.counters`.
TASK, LEVELS, OUTPUTS, BIAS, BATCH, ACTIVATION, RESCALE = range(7)
SCALES_TARGET, DENSE, CORRECTS, HEADS, SCALES, REPLAYS, LEARNS = range(7, 14)
STEPS, TARGETS, TARGET_MEAN, TARGET_SQUARES, GATHERED, ROUNDS, REMEMBERED, RANDOM, ANCHORED, FAULT = range(10)
NONE, CLIPPED, SPREAD = 0, 1, 2  # how hedge losses are brought into [0, 1]
LARGEST = 1e60  # beyond, a value, a sum or a gradient is taken for an overflow: squares of products are finite below
SMALLEST = 1e-300  # of a probability whose logarithm is taken
FARTHEST = 3.0  # a scaled value is at most so many deviations away from the mean


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


class Memory(NamedTuple):
    """Rounds that are replayed: room for some rows of one length, with their truths, weights and numbers of values."""

    idx: NDArray[np.int32]
    val: Floats
    sizes: Integers
    y: Floats
    h: Floats


class Rows(NamedTuple):
    """The rows of a call; of dense rows `idx` holds the numbers of all columns once.

    `seen` has three numbers for each feature: how many values were seen, their mean, and their squared deviations.
    """

    indptr: Integers
    idx: NDArray[np.int32]
    val: Floats
    seen: Floats
    memory: Memory


class Rounds(NamedTuple):
    """The truths and importance weights of a call, and room for what happens."""

    y: Floats
    h: Floats
    scores: Floats
    updated: NDArray[np.uint8]
    deviations: Floats
