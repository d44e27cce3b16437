"""Hedge over all paths of a grid, with the costs of all cells or only of those on the way."""

import math
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from noregret.errors import BadValue, shown
from noregret.games.grid_paths import GridPaths, Path
from noregret.games.matrix_game import is_numeric
from noregret.games.path_player import PathPlayer, divide
from noregret.games.path_weights import PathChances, PathWeights
from noregret.games.player import Floats
from noregret.learner.model_file import register_kind

TAKIMOTO_2003 = "Takimoto and Warmuth, Path kernels and multiplicative updates, JMLR 4, 2003"


class WeighedPaths(PathPlayer):
    """Draws paths with weights in proportion to exp(-eta loss so far)."""

    shared: ClassVar[tuple[str, ...]] = ("grid", "weights")

    def __init__(self, grid: GridPaths, **options: Any) -> None:
        super().__init__(grid, **options)
        self.weights = PathWeights(grid, self.native)

    @property
    def chances(self) -> PathChances:
        """The probabilities of moves, ends, cells and paths in this round."""
        return self.weights.weigh(self.rate, self.total, self.end_total)

    def choose_path(self) -> Path:
        return self.chances.draw(self.draw_numbers(self.grid.steps + 1))


@register_kind
class PathHedge(WeighedPaths):
    """Hedge over all paths of a grid: a path is drawn with a weight in proportion to exp(-eta cost so far).

    Weights are sums over cells, so that N paths need no list: dynamic programming counts, weighs and draws them. The
    expected regret to the best fixed path is at most C sqrt(T ln N / 2), where a round costs at most C.
    """

    kind: ClassVar[str] = "path_hedge"
    numbers: ClassVar[tuple[str, ...]] = ("cost", "last_eta", "etas", "expected_cost")

    def __init__(self, grid: GridPaths, **options: Any) -> None:
        super().__init__(grid, **options)
        self.expected_cost = 0.0  # the sum over rounds of the mean cost of the paths by their weights

    def best_rate(self, rounds: int) -> float:
        """sqrt(8 ln N / T) over the largest cost of a round; of a single path as of two."""
        return math.sqrt(8.0 * max(self.grid.log_count, math.log(2.0)) / rounds) / max(self.grid.largest_cost, 1.0)

    def learn(self, path: Path, costs: Floats, ends: Floats) -> None:
        mean = self.chances.mean_cost(costs, ends)
        super().learn(path, costs, ends)
        self.expected_cost += mean

    @property
    def regret(self) -> float:
        """The expected cost less that of the best single path."""
        return self.expected_cost - self.best_cost

    @property
    def bound(self) -> float:
        """ln N / eta_T + C^2 (eta_1 + ... + eta_T) / 8: what the regret is at most."""
        if not self.rounds:
            return 0.0
        return divide(self.grid.log_count, self.last_eta) + self.grid.largest_cost**2 * self.etas / 8.0


@register_kind
class PathExplorer(WeighedPaths):
    """Explores unknown terrain: Hedge over all paths that sees only the costs of the cells on its own path.

    The cost of a cell is estimated by the cost seen over the probability of passing it, which is known exactly; cells
    that were not passed count 0. The estimates are unbiased.
    """

    kind: ClassVar[str] = "path_explorer"

    numbers: ClassVar[tuple[str, ...]] = ("cost", "last_eta", "etas", "moments", "weighed_moments")

    def __init__(self, grid: GridPaths, **options: Any) -> None:
        super().__init__(grid, **options)
        self.moments = self.weighed_moments = 0.0  # the sums over rounds of Q_t, and of eta_t Q_t

    def best_rate(self, rounds: int) -> float:
        """sqrt(2 ln N / (C A T)): C is what a round costs at most, A what all cells and ways left sum to at most."""
        log_count = max(self.grid.log_count, math.log(2.0))
        return math.sqrt(2.0 * log_count / (self.limit * self.grid.summed_costs * rounds))

    @property
    def rate(self) -> float:
        """The learning rate of this round: what is given, or sqrt(ln N / (C^2 + Q_1 + ... + Q_t))."""
        return self.eta or math.sqrt(max(self.grid.log_count, math.log(2.0)) / (self.limit**2 + self.moments))

    @property
    def limit(self) -> float:
        """What a round costs at most."""
        return max(self.grid.largest_cost, 1.0)

    def observe(self, costs: ArrayLike, destination: Any = None) -> Self:
        """Not known to this player, which sees only its own path: use observe_path."""
        raise BadValue("path_explorer sees only the costs on its own path: use observe_path(costs_on_path), or "
                       "path_hedge where all costs are known")  # fmt: skip

    def observe_path(self, costs: ArrayLike, way_left: Any = 0.0) -> Self:
        """End the round with the costs of the cells entered, in order, and of the way left to the destination."""
        with self._lock:
            self._change.settle()
            self._change.save_and_run(self._own_state, lambda: self._learn_seen(costs, way_left))
        return self

    def _learn_seen(self, costs: ArrayLike, way_left: Any) -> None:
        path = self._choose()
        seen = np.asarray(costs, np.float64) if is_numeric(costs) else np.zeros((0, 0))
        if seen.shape != (len(path) - 1,) or not ((seen >= 0.0) & (seen <= 1.0)).all():
            raise BadValue(f"the path enters {len(path) - 1} cells, each at a cost from 0 to 1, not {shown(costs)}")
        limit = self.grid.ways_left[path[-1]]
        if isinstance(way_left, bool) or not isinstance(way_left, (int, float)) or not 0.0 <= way_left <= limit:
            raise BadValue(f"the way left from {path[-1]} must cost from 0 to {limit:g}, not {shown(way_left)}")
        self.learn_path(path, seen, float(way_left))

    def learn_path(self, path: Path, seen: Floats, way_left: float) -> None:
        """Learn from the estimates of all costs; what was paid is what was seen.

        Q = C (sum of cost_k^2 / (c_k P_k)), c_k the limit of a cost, bounds the mean square of the estimated cost of a
        path by the weights: (sum of e_k)^2 <= (sum of c_k) (sum of e_k^2 / c_k), and e_k = cost_k / P_k on the path.
        """
        chances, numbers, rate = self.chances, [self.grid.number(cell) for cell in path], self.rate
        given, ends = np.zeros(len(self.total)), np.zeros(len(self.total))
        passing, ending = chances.cells[numbers[1:]], float(chances.at_end[numbers[-1]])
        given[numbers[1:]] = seen / passing
        ends[numbers[-1]] = way_left / ending
        squares = float((seen**2 / passing).sum())
        if way_left:
            squares += way_left**2 / (self.grid.ways_left[path[-1]] * ending)
        paid = self.cost + float(seen.sum()) + way_left
        self.learn(path, given, ends)
        self.cost = paid
        self.moments += self.limit * squares
        self.weighed_moments += rate * self.limit * squares

    @property
    def regret(self) -> float:
        """Not known to this player: only the costs on its own paths are."""
        raise BadValue("path_explorer does not know what other paths would have cost; compare cost with that of the "
                       "best path of all costs, as GridPaths.find_cheapest finds it")  # fmt: skip

    @property
    def bound(self) -> float:
        """ln N / eta_T + (eta_1 Q_1 + ... + eta_T Q_T) / 2: on average at least the expected regret."""
        if not self.rounds:
            return 0.0
        return divide(self.grid.log_count, self.last_eta) + self.weighed_moments / 2.0
