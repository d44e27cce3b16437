"""Single rows: a round of a network that stands ready, without what a call with many rows needs.

The loop over one row is bound once, to rows and rounds that stay in memory. It changes weights only in a round that it
ends, so that nothing but counters must be saved before. Whatever is not the usual case (a new name or label, a value
that is not finite, several threads) is left to the call with many rows, which also writes all errors.
"""

import threading
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from noregret.data.blocks import DenseBlock, SparseBlock
from noregret.neural.net import FAULT, ROUNDS, Rounds
from noregret.neural.network import NO_MEMORY, SEEN, Network, rows_of
from noregret.neural.run import BoundLoop

if TYPE_CHECKING:
    from noregret.neural.network_learner import NetworkLearner

Floats = NDArray[np.float64]
ROOM = 64  # values of a row, at least


class OneRow:
    """The loop over a single row of a network, to learn it or to predict it, while no array of the network moves."""

    def __init__(self, network: Network, task: str, dense: bool, room: int, learns: bool) -> None:
        self.room, self.outputs = room, network.layout.outputs
        self.val, self.indptr = np.zeros(room), np.array([0, room], np.int64)
        self.block: Any = DenseBlock(self.val.reshape(1, -1))
        if not dense:
            self.block = SparseBlock(self.indptr, np.zeros(room, np.int32), self.val, network.room, True)
        rows, _ = rows_of(self.block, network.seen)
        self.idx, self.rows = rows.idx, rows._replace(indptr=self.indptr, val=self.val, memory=NO_MEMORY)
        weight = np.array([1.0 if learns else 0.0])
        self.rounds = Rounds(np.zeros(1), weight, np.zeros(self.outputs), np.zeros(1, np.uint8), np.zeros(1))
        self.loop = BoundLoop(network.made.optimizer, network.values(task, self.block, room, learns))
        self.loop.bind(self.rows, self.rounds)
        self.bound_to = (network.weights, network.shares, network.counters, network.seen, network.memory)

    def write(self, idx: list[int] | None, val: Any) -> None:
        """Put a row where the loop reads it."""
        self.val[: len(val)] = val
        if idx is not None:
            self.idx[: len(val)] = idx
            self.indptr[1] = len(val)

    def fits(self, network: Network, size: int) -> bool:
        """Whether the arrays of the network are where they were, and a row of so many values has room."""
        now = (network.weights, network.shares, network.counters, network.seen, network.memory)
        return size <= self.room and all(one is other for one, other in zip(now, self.bound_to, strict=True))


class SingleRows:
    """Learns and predicts single rows for a network learner, where that is all there is to do.

    A loop is taken out while it is in use, so that a call from a signal handler makes one of its own.
    """

    def __init__(self) -> None:
        self.ready = dict[bool, OneRow]()

    def take(self, learner: "NetworkLearner", x: Any, learns: bool) -> OneRow | None:
        """The loop, with the row where it is read; None where the call with many rows must read it."""
        network, reader = learner.network, learner.reader
        if network is None or len(reader.labels) < 2 or not is_plain(learner):
            return None
        row = read_dense(network, x) if reader.algebra == "dense" else read_sparse(learner, x)
        if row is None:
            return None
        idx, val = row
        one = self.ready.pop(learns, None)
        if one is None or not one.fits(network, len(val)):
            room = network.features if idx is None else max(ROOM, 2 * len(val))
            one = OneRow(network, reader.task.name, idx is None, room, learns)
        try:
            one.write(idx, val)
        except OverflowError:
            return None
        return one if isfinite(float(one.val[: len(val)].sum())) else None

    def score(self, learner: "NetworkLearner", x: Any) -> Floats | None:
        """The scores of a row, which is not learned; None where the call with many rows must find them."""
        one, network = self.take(learner, x, False), learner.network
        if one is None or network is None:
            return None
        one.loop.run_bound()
        fault, network.counters[FAULT] = network.counters[FAULT], 0.0
        found = one.rounds.scores.copy()
        self.ready[False] = one
        return None if fault else found

    def learn(self, learner: "NetworkLearner", x: Any, y: Any) -> bool:
        """Learn a row, or change nothing and return False."""
        task, labels = learner.reader.task, learner.reader.labels
        try:
            code = labels.code.get(y)
        except TypeError:
            return False
        if code is None:
            return False
        finish: Finish | None = None

        def play() -> bool:
            nonlocal finish
            one = self.take(learner, x, True)
            if one is None:
                return False
            one.rounds.y[0] = code if task.many else labels.signs(2)[code]
            finish = Finish(learner, one)
            one.loop.run_bound()
            finish()
            self.ready[True] = one
            return finish.learned

        return learner._change.run(play, lambda: finish and finish())


def is_plain(learner: "NetworkLearner") -> bool:
    """Whether its rows are learned as they are, by the compiled loop."""
    config = learner.reader.config
    plain = config.native and config.class_weight is None and config.bits is None and not config.transforms
    return plain and not learner.architecture.replay and not learner.reads_targets


def read_dense(network: Network, x: Any) -> tuple[None, Any] | None:
    """A row of a network that learns matrices."""
    plain = type(x) is np.ndarray and x.shape == (network.features,) and x.dtype == np.float64
    return (None, x) if plain else None


def read_sparse(learner: "NetworkLearner", x: Any) -> tuple[list[int], list[float]] | None:
    """The numbers of the features of a dict, in order, and their values; None where a name or value is not plain."""
    names = learner.reader.names
    if type(x) is not dict or names.mode != "names" or threading.active_count() > 1:
        return None
    known, val = names.known, list(x.values())
    idx = [known.get(name, -1) for name in x]
    if -1 in idx or not all(type(value) is float or type(value) is int for value in val):
        return None
    order = sorted(range(len(idx)), key=idx.__getitem__)
    return [idx[at] for at in order], [val[at] for at in order]


class Finish:
    """Ends a round, wherever it was cut off: counts it if its loop ended, or else brings back what the loop counted."""

    def __init__(self, learner: "NetworkLearner", one: OneRow) -> None:
        network = learner.network
        assert network is not None
        self.learner, self.network, self.one, self.learned = learner, network, one, False
        self.totals, self.counters = learner.reader.totals.copy(), network.counters.copy()
        self.shares, seen = network.shares.copy(), network.seen.reshape(-1, SEEN)
        self.place = one.idx[: one.indptr[1] if seen.size else 0].copy()
        self.seen = seen[self.place]

    def __call__(self) -> None:
        """May be repeated."""
        network, learner = self.network, self.learner
        if network.counters[FAULT] != 0.0:
            network.seen.reshape(-1, SEEN)[self.place] = self.seen
            network.shares[:], network.counters[:] = self.shares, self.counters
        elif network.counters[ROUNDS] != self.counters[ROUNDS]:
            learner.reader.totals[:] = np.add(self.totals, (1, bool(self.one.rounds.updated[0]), self.is_mistake()))
            learner.rounds, learner.updates, learner.mistakes = learner.reader.counts()
            self.learned = True

    def is_mistake(self) -> bool:
        scores, y = self.one.rounds.scores, self.one.rounds.y[0]
        if self.learner.reader.task.many:
            return bool(scores.argmax() != y)
        return bool((scores[0] >= 0.0) != (y > 0.0))
