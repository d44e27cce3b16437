"""The state of a network: its weights and what the optimizer keeps, how they grow, are undone, copied and saved."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.algebra.partial_features import first_random
from noregret.data.blocks import Block, DenseBlock, SparseBlock
from noregret.features.draws import GOLDEN, OTHER, S11, STEP, mix
from noregret.learner.outside_rounds import require_memory
from noregret.neural.memory import copy_memory, empty_memory
from noregret.neural.memory import make_room as make_memory_room
from noregret.neural.net import (
    ANCHORED,
    BINARY,
    FAULT,
    GATHERED,
    RANDOM,
    REGRESSION,
    SOFTMAX,
    STEPS,
    Hedge,
    Net,
    Rounds,
    Rows,
)
from noregret.neural.optimizers import SIGNED, Numbers, Optimizer, Weights
from noregret.neural.run import BoundLoop, Values, run_interpreted

Floats = NDArray[np.float64]
COUNTERS = 10
SEEN = 3  # numbers that are kept of every feature
TASKS = {"binary": BINARY, "multiclass": SOFTMAX, "regression": REGRESSION}
LEVEL_SHIFT = np.uint64(40)  # rows of one level are numbered below 2^40
NOTHING = np.zeros(0)
NO_MEMORY = empty_memory(0)
NO_ROWS = Rows(np.zeros(1, np.int64), np.zeros(0, np.int32), NOTHING, NOTHING, NO_MEMORY)
NO_ROUNDS = Rounds(NOTHING, NOTHING, NOTHING, np.zeros(0, np.uint8), NOTHING)
INITS: dict[str, Callable[[int, int], float]] = {
    "fan_in": lambda reads, writes: 1.0 / math.sqrt(max(reads, 1)),
    "glorot": lambda reads, writes: math.sqrt(6.0 / max(reads + writes, 1)),
    "he": lambda reads, writes: math.sqrt(6.0 / max(reads, 1)),
}
UNSIGNED = ("squares", "moves", "seen", "importance")


@dataclass(frozen=True)
class Architecture:
    """What a network is made of, whatever it has learned."""

    hidden: tuple[int, ...]
    activation: int
    heads: tuple[bool, ...]  # which levels have one
    bias: bool
    init: str  # how large the first weights are
    drawn_outputs: bool  # whether the weights of outputs are drawn at random; otherwise they begin at 0
    optimizer: Optimizer
    numbers: Numbers
    batch: int
    hedge: tuple[float, float, float]  # beta, the floor of a head's weight, the largest norm of a gradient
    prior: float  # the first weight of a head, as a share of that of the head below
    rescale: int  # how hedge losses are brought into [0, 1]
    scales: bool  # whether features are scaled by their earlier values
    scales_target: bool
    replay: int  # rounds that are remembered
    replays: int  # how many of them are learned again after each round
    seed: int

    @property
    def levels(self) -> int:
        return len(self.hidden)

    @property
    def keeps(self) -> tuple[str, ...]:
        """The arrays that stand beside the weights."""
        return (*self.optimizer.keeps, *(("pending",) if self.batch > 1 else ()))


@dataclass(frozen=True)
class Layout:
    """Where the matrices of a network stand in its arrays: those of hidden levels first, then that of the inputs."""

    hidden: tuple[int, ...]
    heads: tuple[bool, ...]
    bias: int
    outputs: int

    def stride(self, level: int) -> int:
        inside = self.hidden[level] if level < len(self.hidden) else 0
        return inside + (self.outputs if self.heads[level] else 0)

    def first(self, level: int) -> int:
        """Where the rows of a matrix begin."""
        before = range(1, level if level else len(self.hidden) + 1)
        return sum((self.hidden[one - 1] + self.bias) * self.stride(one) for one in before)

    def length(self, room: int) -> int:
        """The length of the arrays for so many features."""
        return self.first(0) + (room + self.bias) * self.stride(0)

    def matrix(self, values: Floats, level: int) -> Floats:
        """A matrix in one of the arrays."""
        first, stride = self.first(level), self.stride(level)
        if level:
            rows = self.hidden[level - 1] + self.bias
            return values[first : first + rows * stride].reshape(rows, stride)
        return values[first:].reshape(-1, stride) if stride else values[first:].reshape(0, 0)

    def split(self, matrix: Floats, level: int) -> tuple[Floats, Floats]:
        """The columns of a matrix that lead to hidden units, and those of its head."""
        inside = self.hidden[level] if level < len(self.hidden) else 0
        return matrix[:, :inside], matrix[:, inside:]


class Network:
    """The weights of a network, for so many features and outputs; there may be room for more features."""

    def __init__(self, made: Architecture, inputs: int, outputs: int) -> None:
        """`inputs` is how many features the first row has: it sets the size of the first weights."""
        self.made, self.inputs, self.features, self.room = made, inputs, 0, 0
        self.layout = Layout(made.hidden, made.heads, int(made.bias), outputs)
        size = self.layout.length(0)
        require_memory("the network", size * (1 + len(made.keeps)))
        self.weights = Weights(
            *(np.zeros(size) if name == "w" or name in made.keeps else NOTHING for name in Weights._fields)
        )
        self.shares = np.array(made.heads) * made.prior ** np.arange(len(made.heads))
        self.shares /= self.shares.sum()
        self.counters, self.seen = np.zeros(COUNTERS), NOTHING
        self.counters[RANDOM] = first_random(made.seed)
        self.memory = empty_memory(made.replay)
        self.bound: tuple[Any, int, BoundLoop] | None = None
        for level in range(made.levels + 1):
            rows = self.layout.matrix(self.weights.w, level)
            self.draw(rows, level, 0)

    @property
    def arrays(self) -> dict[str, Floats]:
        """The arrays in use."""
        used = {"w", *self.made.keeps}
        return {name: values for name, values in self.weights._asdict().items() if name in used}

    # ---- beginning and growing -----------------------------------------------------------------------------------

    def draw(self, rows: Floats, level: int, start: int) -> None:
        """Draw the first weights of some rows of a matrix, by their numbers from `start` on and nothing else."""
        reads = self.inputs if level == 0 else self.made.hidden[level - 1]
        inside, head = self.layout.split(rows, level)
        spread = INITS[self.made.init]
        inside[:] = spread(reads, inside.shape[1]) * uniform(self.made.seed, level, start, inside.shape)
        if self.made.drawn_outputs:
            head[:] = spread(reads, head.shape[1]) * uniform(self.made.seed + 1, level, start, head.shape)
        if self.made.init != "fan_in" and start < self.layout.bias:
            rows[: self.layout.bias - start] = 0.0

    def make_room(self, features: int) -> None:
        """Rows of the first matrix for so many features, with some to spare; in new arrays."""
        if features <= self.room:
            return
        room = max(features, 2 * self.room)
        stride, bias = self.layout.stride(0), self.layout.bias
        require_memory("the network", 2 * self.layout.length(room) * (1 + len(self.made.keeps)))
        more = (room - self.room) * stride
        grown = {name: np.concatenate((values, np.zeros(more))) for name, values in self.arrays.items()}
        fresh = grown["w"][-more:].reshape(room - self.room, stride)
        self.draw(fresh, 0, self.room + bias)
        if self.made.scales:
            self.seen = np.concatenate((self.seen, np.zeros(SEEN * (room - self.room))))
        self.weights, self.room = self.weights._replace(**grown), room

    def change_outputs(self, outputs: int, change: Callable[[Floats, bool], Floats]) -> None:
        """Give every head so many outputs, in new arrays; `change(columns, signed)` makes the new columns of a head."""
        old, new = self.layout, Layout(self.layout.hidden, self.layout.heads, self.layout.bias, outputs)
        grown = {}
        for name, values in self.arrays.items():
            grown[name] = np.zeros(new.length(self.room))
            for level, has_head in enumerate(old.heads):
                inside, head = old.split(old.matrix(values, level), level)
                to_inside, to_head = new.split(new.matrix(grown[name], level), level)
                to_inside[:] = inside
                if has_head:
                    to_head[:] = change(head, name in SIGNED)
        self.layout, self.weights = new, self.weights._replace(**grown)
        self.draw_spare()

    def draw_spare(self) -> None:
        """Draw the weights of features that are still to come, as if they were made when they come."""
        start = self.layout.bias + self.features
        for values in self.arrays.values():
            self.layout.split(self.layout.matrix(values, 0)[start:], 0)[1][:] = 0.0  # a change of sign leaves -0.0
        self.draw(self.layout.matrix(self.weights.w, 0)[start:], 0, start)

    def add_outputs(self, outputs: int) -> None:
        """More classes: their outputs begin as those of the first did."""
        before = self.layout.outputs
        self.change_outputs(outputs, lambda head, signed: np.pad(head, ((0, 0), (0, outputs - before))))
        self.draw_outputs(before)

    def draw_outputs(self, first: int) -> None:
        """Draw the weights of outputs from a number on."""
        if not self.made.drawn_outputs:
            return
        for level, has_head in enumerate(self.layout.heads):
            if has_head:
                matrix = self.layout.matrix(self.weights.w, level)
                fresh = np.zeros_like(matrix)
                self.draw(fresh, level, 0)
                self.layout.split(matrix, level)[1][:, first:] = self.layout.split(fresh, level)[1][:, first:]

    def flip(self) -> None:
        """The two classes change their signs."""
        self.memory = self.memory._replace(y=-self.memory.y)
        self.change_outputs(self.layout.outputs, lambda head, signed: -head if signed else head)

    def become_multiclass(self, negative: int, outputs: int) -> None:
        """Two classes, of which this one is negative, become many: each takes half of the weights with its sign."""

        def change(head: Floats, signed: bool) -> Floats:
            both = np.zeros((len(head), outputs))
            for code in (0, 1):
                both[:, code] = (-0.5 if code == negative else 0.5) * head[:, 0] if signed else head[:, 0]
            return both

        self.change_outputs(outputs, change)
        self.draw_outputs(2)
        self.memory = self.memory._replace(y=np.where(self.memory.y < 0.0, float(negative), 1.0 - negative))

    # ---- running -------------------------------------------------------------------------------------------------

    def net(self, task: str, block: Block, longest: int, learns: bool) -> Net:
        """The network as the loop sees it, with room for rows of so many features."""
        made, layout, levels = self.made, self.layout, self.made.levels
        sizes = (0, *made.hidden)
        strides = [layout.stride(level) for level in range(levels + 1)]
        used = [longest + layout.bias, *(size + layout.bias for size in made.hidden)]
        options = (
            TASKS[task], levels, layout.outputs, layout.bias, made.batch, made.activation, made.rescale,
            made.scales_target, isinstance(block, DenseBlock), made.optimizer.corrects,
            sum(made.heads), made.scales, made.replays, learns,
        )  # fmt: skip
        firsts = [layout.first(level) for level in range(levels + 1)]
        places: list[Any] = [
            np.array(values, np.int64)
            for values in (options, sizes, firsts, strides, layout.heads, starts(strides), starts(sizes), starts(used))
        ]
        total, units = sum(used), max(sum(sizes), 1)
        places += [np.zeros(size, np.int64) for size in (levels + 1, total + 1, units + 1)]
        room = (total + 1, sum(strides), sum(strides), units, units, layout.outputs)
        return Net(*places, *(np.zeros(size) for size in room))

    def run(self, task: str, block: Block, rounds: Rounds, native: bool, learns: bool) -> int:
        """Play rounds, or predict rows; the number of the first that overflows, or -1."""
        made = self.made
        rows, longest = rows_of(block, self.seen)
        if learns and made.replay:
            self.memory = make_memory_room(self.memory, longest)
        rows = rows._replace(memory=self.memory)
        longest = max(longest, int(self.memory.sizes.max(initial=0)))
        if not native:
            run_interpreted(
                made.optimizer, self.values(task, block, longest, learns)._replace(rows=rows, rounds=rounds)
            )
        else:
            self.bind(task, block, longest, learns).run(rows, rounds)
        fault, self.counters[FAULT] = int(self.counters[FAULT]) - 1, 0.0
        return fault

    def values(self, task: str, block: Block, longest: int, learns: bool) -> Values:
        """All that the loop reads and writes, but for rows and rounds, which are examples."""
        made = self.made
        hedge = Hedge(self.shares, np.zeros(made.levels + 1), np.array(made.hedge), self.counters)
        return Values(made.numbers, self.weights, self.net(task, block, longest, learns), hedge, NO_ROWS, NO_ROUNDS)

    def bind(self, task: str, block: Block, longest: int, learns: bool) -> BoundLoop:
        """The compiled loop over this network; that of the last call, where nothing has changed place since."""
        key, known = (task, type(block), learns), self.bound
        if known is not None and known[0] == key and longest <= known[1]:
            values = known[2].values
            same = values.hedge.weights is self.shares and values.hedge.counters is self.counters
            if same and values.weights is self.weights:
                return known[2]
        loop = BoundLoop(self.made.optimizer, self.values(task, block, longest, learns))
        self.bound = key, longest, loop
        return loop

    def ends_batch(self, rounds: int) -> bool:
        """Whether so many rounds more complete a mini-batch, whose step moves the weights of all features."""
        return self.made.batch > 1 and bool(self.counters[GATHERED] + rounds >= self.made.batch)

    def consolidate(self) -> None:
        """Make the weights of now the anchor; those matter whose gradients were large since the last time."""
        n, s = self.counters.copy(), self.weights
        rounds = max(n[STEPS] - n[ANCHORED], 1.0)
        n[ANCHORED] = n[STEPS]
        self.weights = s._replace(
            importance=s.importance + s.seen / rounds, anchor=s.w.copy(), seen=np.zeros_like(s.seen)
        )
        self.counters = n

    def matrices(self) -> list[Floats]:
        """Copies of all matrices, for the features that were learned."""
        length = self.layout.length(self.features)
        return [self.layout.matrix(self.weights.w[:length], level).copy() for level in range(self.made.levels + 1)]

    # ---- undoing and copying -------------------------------------------------------------------------------------

    def copy(self) -> "Network":
        new = object.__new__(Network)
        vars(new).update(vars(self))
        new.weights = Weights(*(values.copy() for values in self.weights))
        new.shares, new.counters, new.seen = self.shares.copy(), self.counters.copy(), self.seen.copy()
        new.memory, new.bound = copy_memory(self.memory), None
        return new


class NetworkSavepoint:
    """A network before a call; of the first matrix only the rows that the call touches are saved."""

    def __init__(self, network: Network, touched: NDArray[Any] | None) -> None:
        self.network, self.own = network, dict(vars(network))
        self.shares, self.counters = network.shares.copy(), network.counters.copy()
        self.memory = copy_memory(network.memory)
        layout = network.layout
        self.saved: list[tuple[Any, Floats]] = []
        if touched is None:
            self.saved = [(values, values.copy()) for values in (*network.weights, network.seen)]
            return
        touched = touched[touched < network.room]
        for values in filter(np.size, network.weights):
            deep, rows = values[: layout.first(0)], layout.matrix(values, 0)
            places = np.concatenate((np.arange(layout.bias), touched + layout.bias))
            self.saved += [(deep, deep.copy()), ((rows, places), rows[places])]
        if network.seen.size:
            rows = network.seen.reshape(-1, SEEN)
            self.saved.append(((rows, touched), rows[touched]))

    def rollback(self) -> None:
        """Bring the network back; may be repeated."""
        vars(self.network).update(self.own, memory=copy_memory(self.memory))
        for place, content in self.saved:
            if isinstance(place, tuple):
                place[0][place[1]] = content
            else:
                place[:] = content
        self.network.shares[:], self.network.counters[:] = self.shares, self.counters


def starts(sizes: Any) -> list[int]:
    """Where parts of these sizes begin, one after the other, and where the last ends."""
    return [0, *np.cumsum(sizes).tolist()]


def rows_of(block: Block, seen: Floats) -> tuple[Rows, int]:
    """Rows as the loop reads them, and the length of the longest."""
    if isinstance(block, SparseBlock):
        longest = int(np.diff(block.indptr).max(initial=0))
        return Rows(np.ascontiguousarray(block.indptr, np.int64), block.idx, block.val, seen, NO_MEMORY), longest
    indptr = np.arange(block.rows + 1, dtype=np.int64) * block.width
    return Rows(indptr, np.arange(block.width, dtype=np.int32), block.val.reshape(-1), seen, NO_MEMORY), block.width


def uniform(seed: int, level: int, start: int, shape: tuple[int, ...]) -> Floats:
    """Numbers between -1 and 1 that depend on the seed, the level, the row and the column, and on nothing else."""
    rows, columns = shape
    with np.errstate(over="ignore"):
        number = np.arange(start, start + rows, dtype=np.uint64) + (np.uint64(level + 1) << LEVEL_SHIFT)
        key = mix(mix(np.uint64(seed) + GOLDEN) + number * OTHER)
        bits = mix(key[:, None] + np.arange(1, columns + 1, dtype=np.uint64)[None, :] * GOLDEN)
    return np.asarray((2.0 * STEP) * ((bits >> S11).astype(np.float64) + 0.5) - 1.0)
