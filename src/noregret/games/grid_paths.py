"""The paths of a grid: their number, the cheapest one, and the way that is left to a destination."""

import heapq
import math
from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noregret.cached_property import cached_property
from noregret.errors import BadValue, shown
from noregret.learner.arguments import check_integer
from noregret.learner.header_fields import corrupt

Floats = NDArray[np.float64]
Cell = tuple[int, int]
Path = tuple[Cell, ...]
Moves = Literal["right_down", "all"]
STEPS = {"right_down": ((0, 1), (1, 0)), "all": ((0, 1), (1, 0), (0, -1), (-1, 0))}
LARGEST = 1_000_000  # cells


class GridPaths:
    """All paths over a grid from a start to one of some ends.

    Moves go right and down, or with moves="all" in four directions. Entering a cell costs a number from 0 to 1, which
    may change in every round; cells in `walls` cannot be entered. With one end it is the destination, by default the
    opposite corner. With several (a list of cells, or "border": the last row and column) the destination is unknown: it
    is one of the ends and shown after the path was chosen, and whoever ended elsewhere pays for the way that is left.
    """

    def __init__(
        self,
        rows: int,
        columns: int,
        *,
        start: Any = (0, 0),
        ends: Any = None,
        walls: Any = (),
        moves: Moves = "right_down",
    ) -> None:
        self.rows, self.columns = check_integer("rows", rows, 1), check_integer("columns", columns, 1)
        if self.rows * self.columns > LARGEST:
            raise BadValue(f"a grid has at most {LARGEST:,} cells, not {self.rows} x {self.columns}")
        if moves not in STEPS:
            raise BadValue(f'moves must be "right_down" or "all", not {shown(moves)}')
        self.moves: Moves = moves
        self.walls = frozenset(self.check_cell(cell, "a wall") for cell in check_list(walls, "walls"))
        self.start = self.check_cell(start, "the start")
        self.ends = self.read_ends(ends)
        for cell in (self.start, *self.ends):
            if cell in self.walls:
                raise BadValue(f"the cell {cell} cannot be a wall: it is the start or an end")
        connected = spread([self.number(self.start)], self.all_moves)
        for cell in self.ends:
            if self.number(cell) not in connected:
                raise BadValue(f"the end {cell} cannot be reached from the start {self.start}: walls are in between")
        self.after = [[self.number(to) for to in self.neighbours(cell, moves)] for cell in self.cells()]
        self.end_numbers = frozenset(self.number(cell) for cell in self.ends)
        self.used = self.find_used()
        if not self.used:
            raise BadValue(
                f"no path leads from {self.start} to an end with these moves; remove walls or change the ends"
            )
        self.ways_left = {end: self.measure_way_left(end) for end in self.ends}

    def __repr__(self) -> str:
        about = f"{self.count:,} paths" if self.moves == "right_down" else "moves in four directions"
        return f"<GridPaths: {self.rows} x {self.columns}, {about}>"

    # ---- cells ---------------------------------------------------------------------------------------------------

    def cells(self) -> Iterator[Cell]:
        return ((row, column) for row in range(self.rows) for column in range(self.columns))

    def number(self, cell: Cell) -> int:
        return cell[0] * self.columns + cell[1]

    def cell(self, number: int) -> Cell:
        return divmod(number, self.columns)

    def neighbours(self, cell: Cell, moves: Moves) -> list[Cell]:
        """The cells that one move leads to."""
        if cell in self.walls:
            return []
        found = [(cell[0] + down, cell[1] + right) for down, right in STEPS[moves]]
        return [
            one for one in found if 0 <= one[0] < self.rows and 0 <= one[1] < self.columns and one not in self.walls
        ]

    def check_cell(self, given: Any, what: str) -> Cell:
        try:
            row, column = (check_integer(what, at, 0) for at in given)
        except (TypeError, ValueError):
            raise BadValue(f"{what} must be a cell of the grid, as in (0, 2), not {shown(given)}") from None
        if row >= self.rows or column >= self.columns:
            raise BadValue(f"{what} {shown(given)} is outside of the grid, which has {self.rows} rows and "
                           f"{self.columns} columns, numbered from 0")  # fmt: skip
        return row, column

    def read_ends(self, given: Any) -> tuple[Cell, ...]:
        if given is None:
            return ((self.rows - 1, self.columns - 1),)
        if isinstance(given, str) and given == "border":
            last = (self.rows - 1, self.columns - 1)
            return tuple(c for c in self.cells() if (c[0] == last[0] or c[1] == last[1]) and c not in self.walls)
        listed = check_list(given, "ends")
        single = len(listed) == 2 and all(isinstance(one, (int, np.integer)) for one in listed)
        found = tuple(
            dict.fromkeys(self.check_cell(cell, "an end") for cell in ([tuple(listed)] if single else listed))
        )
        if not found:
            raise BadValue("there must be at least one end")
        return found

    # ---- what paths there are ------------------------------------------------------------------------------------

    def find_used(self) -> tuple[int, ...]:
        """The cells that lie on a walk from the start to an end, in order."""
        before: list[list[int]] = [[] for _ in self.after]
        for number, targets in enumerate(self.after):
            for to in targets:
                before[to].append(number)
        ahead = spread([self.number(self.start)], self.after)
        return tuple(sorted(ahead & spread(list(self.end_numbers & ahead), before)))

    @cached_property
    def count(self) -> int:
        """The number of paths, by dynamic programming."""
        self.require_right_down("count")
        ways = dict.fromkeys(range(len(self.after)), 0)
        for number in reversed(self.used):
            ways[number] = (number in self.end_numbers) + sum(ways[to] for to in self.after[number])
        return ways[self.number(self.start)]

    @cached_property
    def log_count(self) -> float:
        return math.log(self.count)

    @cached_property
    def steps(self) -> int:
        """The largest number of cells that a path enters."""
        if self.moves == "all":
            return len(self.used) - 1
        return int(self.longest(dict.fromkeys(self.ends, 0.0)))

    @cached_property
    def largest_cost(self) -> float:
        """What a round can cost at most: the cells entered and the way that is left."""
        if self.moves == "all":
            return self.steps + max(self.ways_left.values())
        return self.longest(self.ways_left)

    @cached_property
    def summed_costs(self) -> float:
        """What the costs of all cells, and of all ways left, sum to at most in a round."""
        return max(len(self.used) - 1 + sum(self.ways_left.values()), 1.0)

    def longest(self, at_end: dict[Cell, float]) -> float:
        """The largest number of steps of a path, with a number added for its end."""
        far = dict.fromkeys(range(len(self.after)), -math.inf)
        for number in reversed(self.used):
            far[number] = max((1.0 + far[to] for to in self.after[number]), default=-math.inf)
            if number in self.end_numbers:
                far[number] = max(far[number], at_end[self.cell(number)])
        return far[self.number(self.start)]

    def measure_way_left(self, end: Cell) -> float:
        """The number of steps, in four directions, to the end that is farthest from this one."""
        if len(self.ends) == 1:
            return 0.0
        found = spread_costs([(0.0, self.number(end))], self.all_moves, np.ones(len(self.after)))[0]
        return max(found[self.number(other)] for other in self.ends)

    @cached_property
    def all_moves(self) -> list[list[int]]:
        """The moves of every cell in four directions."""
        return [[self.number(to) for to in self.neighbours(cell, "all")] for cell in self.cells()]

    def list_paths(self, most: int = 100_000) -> list[Path]:
        """All paths; refused where there are more than `most`."""
        if self.count > most:
            raise BadValue(f"there are {self.count:,} paths, more than {most:,}; give most= to list so many")
        found: list[Path] = []

        def extend(path: Path) -> None:
            number = self.number(path[-1])
            if number in self.end_numbers:
                found.append(path)
            for to in self.after[number]:
                if to in used:
                    extend((*path, self.cell(to)))

        used = set(self.used)
        extend((self.start,))
        return found

    def require_right_down(self, what: str) -> None:
        if self.moves != "right_down":
            raise BadValue(f'{what} is for moves="right_down"; in four directions paths cannot be counted by dynamic '
                           "programming")  # fmt: skip

    # ---- costs ---------------------------------------------------------------------------------------------------

    def check_costs(self, costs: ArrayLike) -> Floats:
        """A cost from 0 to 1 for every cell; those of walls and of the start do not matter."""
        try:
            given = np.array(costs, np.float64)
        except (TypeError, ValueError):
            given = np.zeros(0)
        if given.shape != (self.rows, self.columns):
            raise BadValue(f"the costs must be a matrix of {self.rows} x {self.columns} numbers, one for each cell, "
                           f"not {shown(costs)}")  # fmt: skip
        for wall in self.walls:
            given[wall] = 0.0
        wrong = np.argwhere(~((given >= 0.0) & (given <= 1.0)))
        if len(wrong):
            cell = (int(wrong[0][0]), int(wrong[0][1]))
            raise BadValue(f"cell {cell}: the cost must be from 0 to 1, not {given[cell]:g}")
        return given.ravel()

    def price_ends(self, costs: Floats, destination: Any) -> Floats:
        """What is left to pay after a path that ends at a cell: the cheapest way from there to the destination."""
        prices = np.zeros(len(self.after))
        if destination is None:
            return prices
        target = self.check_cell(destination, "the destination")
        if target not in self.ends:
            raise BadValue(f"the destination {target} is not one of the ends {shown(list(self.ends))}")
        if len(self.ends) > 1:
            reached = spread_costs([(0.0, self.number(target))], self.all_moves, costs, backward=True)[0]
            for end in self.end_numbers:
                prices[end] = min(reached[end], self.ways_left[self.cell(end)])
        return prices

    def cost_of(self, path: Path, costs: Floats, ends: Floats) -> float:
        """What a path costs: the cells that it enters, and what its end costs."""
        numbers = [self.number(cell) for cell in path]
        return float(sum(costs[number] for number in numbers[1:]) + ends[numbers[-1]])

    def find_cheapest(self, costs: Floats, ends: Floats) -> tuple[Path, float]:
        """The cheapest path by Dijkstra's algorithm, for costs that are not negative, and what it costs."""
        reached, came = spread_costs([(0.0, self.number(self.start))], self.after, costs)
        last = min(sorted(self.end_numbers), key=lambda end: reached[end] + ends[end])
        numbers = [last]
        while came[numbers[-1]] >= 0:
            numbers.append(came[numbers[-1]])
        return tuple(self.cell(number) for number in reversed(numbers)), float(reached[last] + ends[last])


def dump_grid(grid: GridPaths) -> dict[str, Any]:
    """A grid for the header of a model file."""
    listed = {"ends": [list(cell) for cell in grid.ends], "walls": sorted(list(cell) for cell in grid.walls)}
    return {"rows": grid.rows, "columns": grid.columns, "start": list(grid.start), "moves": grid.moves, **listed}


def restore_grid(header: Any) -> GridPaths:
    """The grid of a header, or an error that says what is wrong with it."""
    try:
        size = header["rows"], header["columns"]
        return GridPaths(*size, **{name: header[name] for name in ("start", "ends", "walls", "moves")})
    except (BadValue, KeyError, TypeError) as error:
        raise corrupt(f"the grid is not valid: {error}") from None


def spread(first: list[int], after: list[list[int]]) -> set[int]:
    """All that can be reached."""
    reached, left = set(first), list(first)
    while left:
        for to in after[left.pop()]:
            if to not in reached:
                reached.add(to)
                left.append(to)
    return reached


def spread_costs(
    first: list[tuple[float, int]], after: list[list[int]], costs: Floats, backward: bool = False
) -> tuple[list[float], list[int]]:
    """Dijkstra's algorithm: the least costs to enter every cell, and the cell each was entered from (-1: none).

    Backward, what it costs to go from every cell to the first one, over moves that lead both ways.
    """
    reached, came = [math.inf] * len(after), [-1] * len(after)
    queue = list(first)
    for cost, number in first:
        reached[number] = cost
    entering = costs.tolist()
    while queue:
        cost, number = heapq.heappop(queue)
        if cost > reached[number]:
            continue
        for to in after[number]:
            new = cost + entering[number if backward else to]
            if new < reached[to]:
                reached[to], came[to] = new, number
                heapq.heappush(queue, (new, to))
    return reached, came


def check_list(given: Any, what: str) -> list[Any]:
    if isinstance(given, (str, bytes)) or not hasattr(given, "__iter__"):
        raise BadValue(f"{what} must be a list of cells, not {shown(given)}")
    return list(given)
