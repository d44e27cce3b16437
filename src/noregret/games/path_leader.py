"""Follow the perturbed leader over the paths of a grid: Dijkstra's algorithm on costs with random numbers added."""

import math
from typing import ClassVar

from noregret.errors import BadValue
from noregret.games.grid_paths import Path
from noregret.games.path_player import PathPlayer, divide
from noregret.learner.model_file import register_kind

KALAI_2005 = (
    "Kalai and Vempala, Efficient algorithms for online decision problems, J. Computer and System Sciences 71, 2005"
)
LARGEST = 1e100  # of random numbers, so that sums of them are finite


@register_kind
class PathLeader(PathPlayer):
    """The path with the least cost so far after a random number from 0 to 1 / eta was added to every cell.

    Random numbers are drawn anew in every round and never negative, so that Dijkstra's algorithm finds the path, also
    with moves in four directions, where paths cannot be counted.
    """

    kind: ClassVar[str] = "path_leader"

    @property
    def parts(self) -> int:
        """The costs that a path may be made of: the cells it enters, and where the end is open its end."""
        return self.grid.steps + (len(self.grid.ends) > 1)

    def best_rate(self, rounds: int) -> float:
        """sqrt(D / (R A T)): D the distance of two paths, R the largest cost of a path, A that of all cells."""
        return math.sqrt(
            2.0 * max(self.parts, 1) / (max(self.grid.largest_cost, 1.0) * self.grid.summed_costs * rounds)
        )

    def choose_path(self) -> Path:
        cells = len(self.total)
        most = 1.0 / self.rate
        if not most < LARGEST:
            raise BadValue(f"eta must be above {1.0 / LARGEST:g}, not {self.rate:g}")
        noise = most * self.draw_numbers(2 * cells)
        ends = noise[cells:] if len(self.grid.ends) > 1 else 0.0
        return self.grid.find_cheapest(self.total + noise[:cells], self.end_total + ends)[0]

    @property
    def bound(self) -> float:
        """D / eta_T + R A (eta_1 + ... + eta_T): what the expected regret is at most."""
        if not self.rounds:
            return 0.0
        return divide(2.0 * self.parts, self.last_eta) + self.grid.largest_cost * self.grid.summed_costs * self.etas
