"""Players of paths at their borders: costs and rates that are just too large, and two ends."""

import numpy as np

import noregret as nr
from noregret.learner.model_file import pack
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


def test_an_explorer_first_undoes_a_round_that_was_cut_off() -> None:
    torn, whole = (nr.games.PathExplorer(GridPaths(2, 3), seed=2, native=False) for _ in range(2))
    path = whole.play()
    torn._change.undo = torn._own_state()
    torn.rounds, torn.cost = 7, 3.0
    for player in (torn, whole):
        player.observe_path([0.5] * (len(path) - 1))
    assert torn._change.undo is None
    assert pack(torn) == pack(whole)
