"""Weights of all paths of a grid without listing them: they are pushed back along the moves (Takimoto, Warmuth 2003).

The weight of a path is a product over its cells. So the summed weights of all ways from a cell to an end follow from
those of its neighbours, and the probabilities of moves, ends and cells follow from these sums, exactly.
"""

import math
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.errors import BadValue
from noregret.games.grid_paths import GridPaths
from noregret.games.player import draw_index
from noregret.jit.compiled import compile_function, unbound

LARGEST = 1e200  # of losses, so that sums of them are finite
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
read_used = read_first = read_after = read_ends = read_losses = read_end_losses = unbound
read_sums = read_moves = read_stops = read_cells = unbound


def push_weights(table: Any) -> int:
    push(
        (read_used(table), read_first(table), read_after(table), read_ends(table)),
        (read_losses(table), read_end_losses(table)),
        (read_sums(table), read_moves(table), read_stops(table), read_cells(table)),
    )
    return 0


def push(grid: Any, losses: Any, out: Any) -> None:
    """The probabilities of all moves, ends and cells, where a path of loss l has a weight in proportion to exp(-l).

    `used` holds the cells in an order in which moves lead forward; the moves of cell v are first[v] to first[v + 1].
    """
    used, first, after, ends = grid
    cell_losses, end_losses = losses
    sums, moves, stops, cells = out  # sums: the logarithms of the summed weights of all ways from a cell to an end
    for k in range(used.size - 1, -1, -1):
        v = used[k]
        most = -end_losses[v] if ends[v] else -math.inf
        for at in range(first[v], first[v + 1]):
            most = max(most, sums[after[at]] - cell_losses[after[at]])
        total = math.exp(-end_losses[v] - most) if ends[v] else 0.0
        for at in range(first[v], first[v + 1]):
            total += math.exp(sums[after[at]] - cell_losses[after[at]] - most)
        sums[v] = most + math.log(total)
    cells[used[0]] = 1.0
    for k in range(used.size):
        v = used[k]
        stops[v] = math.exp(-end_losses[v] - sums[v]) if ends[v] else 0.0
        for at in range(first[v], first[v + 1]):
            u = after[at]
            moves[at] = math.exp(sums[u] - cell_losses[u] - sums[v])
            cells[u] += cells[v] * moves[at]


ARRAYS = {
    "used": np.int64, "first": np.int64, "after": np.int64, "ends": np.uint8, "losses": np.float64,
    "end_losses": np.float64, "sums": np.float64, "moves": np.float64, "stops": np.float64, "cells": np.float64,
}  # fmt: skip
PLACES = {name: (2 * at, np.zeros(1, kind)) for at, (name, kind) in enumerate(ARRAYS.items())}


@cache
def compiled_push() -> Callable[..., None]:
    return compile_function(push_weights, PLACES)


class PathWeights:
    """The moves of a grid as arrays, and the probabilities of its paths by their losses."""

    def __init__(self, grid: GridPaths, native: bool = True) -> None:
        grid.require_right_down("Hedge over paths")
        self.grid, self.native = grid, native
        used = set(grid.used)
        targets = [[to for to in moves if to in used] if at in used else [] for at, moves in enumerate(grid.after)]
        self.used = np.array(grid.used, np.int64)  # the start is the first: moves only lead on
        self.first = np.cumsum([0, *map(len, targets)], dtype=np.int64)
        self.after = np.array([to for moves in targets for to in moves] or [0], np.int64)
        self.ends = np.zeros(len(grid.after), np.uint8)
        self.ends[list(grid.end_numbers)] = 1

    def weigh(self, eta: float, costs: Floats, end_costs: Floats) -> "PathChances":
        """The probabilities where a path has a weight in proportion to exp(-eta times its cost)."""
        with np.errstate(over="ignore"):
            losses, end_losses = eta * costs, eta * end_costs
        if not max(losses.max(), end_losses.max()) < LARGEST:
            raise BadValue(f"the weights of the paths are not finite with eta = {eta:g}; use a smaller one")
        count = len(self.grid.after)
        out = np.full(count, -math.inf), np.zeros(len(self.after)), np.zeros(count), np.zeros(count)
        arrays = self.used, self.first, self.after, self.ends
        if self.native:
            compiled_push()(np.zeros(2 * len(PLACES), np.int64), *arrays, losses, end_losses, *out)
        else:
            push(arrays, (losses, end_losses), out)
        return PathChances(self, *out[1:])


class PathChances:
    """The probabilities of moves (by number), of ending at a cell that was reached, and of passing every cell."""

    def __init__(self, of: PathWeights, moves: Floats, stops: Floats, cells: Floats) -> None:
        self.of, self.moves, self.stops, self.cells = of, moves, stops, cells

    @property
    def at_end(self) -> Floats:
        """The probability of ending at every cell."""
        return np.asarray(self.cells * self.stops)

    def draw(self, numbers: Floats) -> tuple[tuple[int, int], ...]:
        """A path drawn by the probabilities, one random number for each step."""
        of, at = self.of, int(self.of.used[0])
        path = [of.grid.cell(at)]
        for number in numbers:
            move = draw_index(np.append(self.stops[at], self.moves[of.first[at] : of.first[at + 1]]), float(number))
            if move == 0:
                break
            at = int(of.after[of.first[at] + move - 1])
            path.append(of.grid.cell(at))
        return tuple(path)

    def chance_of(self, path: tuple[tuple[int, int], ...]) -> float:
        """The probability of a path."""
        of, chance = self.of, 1.0
        numbers = [of.grid.number(cell) for cell in path]
        for at, to in pairwise(numbers):
            row = of.after[of.first[at] : of.first[at + 1]].tolist()
            chance *= float(self.moves[of.first[at] + row.index(to)])
        return chance * float(self.stops[numbers[-1]])

    def mean_cost(self, costs: Floats, ends: Floats) -> float:
        """The mean cost of a path."""
        start = int(self.of.used[0])
        return float(self.cells @ costs - costs[start] + self.at_end @ ends)
