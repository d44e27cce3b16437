"""Players of paths at their borders: costs and rates that are just too large, and two ends."""

import numpy as np

import noregret as nr
from tests.support import refusal

GridPaths, PathHedge, PathLeader = nr.games.GridPaths, nr.games.PathHedge, nr.games.PathLeader


def test_costs_and_random_numbers_are_below_their_limits() -> None:
    grid = GridPaths(2, 3)
    weights = PathHedge(GridPaths(2, 3, ends="border"), native=False).weights
    for at in range(6):
        large = np.where(np.arange(6) == at, 1e200, 0.0)
        for pair in ((large, np.zeros(6)), (np.zeros(6), large)):
            assert "use a smaller one" in refusal(lambda pair=pair: weights.weigh(1.0, *pair))  # type: ignore[misc]
    for eta in (1e-100, 1e-200):
        assert "eta must be above 1e-100" in refusal(lambda eta=eta: PathLeader(grid, eta=eta).play())  # type: ignore[misc]


def test_the_perturbed_leader_adds_random_numbers_to_two_ends() -> None:
    grid = GridPaths(2, 3, ends=[(0, 2), (1, 2)])
    assert PathLeader(grid).parts == grid.steps + 1
    assert PathLeader(GridPaths(2, 3)).parts == 3
    found = set()
    for seed in range(20):
        noise = np.random.default_rng([seed, 0]).random(12) / 0.2
        listed = {path: grid.cost_of(path, noise[:6], noise[6:]) for path in grid.list_paths()}
        assert PathLeader(grid, seed=seed, eta=0.2).play() == min(listed, key=listed.__getitem__)
        found.add(min(listed, key=listed.__getitem__)[-1])
    assert found == {(0, 2), (1, 2)}
