"""Players that choose paths equal those that list all paths; their regret keeps the bounds of their theorems."""

import math
import pickle
from collections import Counter
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.learner.model_file import pack
from tests.naive import experts as naive_experts
from tests.naive import games as naive
from tests.support import refusal
from tests.support.cover import ALL

GridPaths, PathHedge = nr.games.GridPaths, nr.games.PathHedge
PathLeader, PathExplorer = nr.games.PathLeader, nr.games.PathExplorer
BORDER = [(0, 3), (1, 3), (2, 0), (2, 1), (2, 2), (2, 3)]


def terrain(rounds: int, rows: int, columns: int, seed: int = 0) -> np.ndarray:
    """Costs that change in every round, around means of their own."""
    rng = np.random.default_rng(seed)
    return np.clip(0.7 * rng.random((rows, columns)) + 0.3 * rng.random((rounds, rows, columns)), 0.0, 1.0)


# ---- the paths of a grid ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (1, 4), (3, 4), (5, 5)])
def test_paths_are_counted_and_listed(rows: int, columns: int) -> None:
    grid = GridPaths(rows, columns)
    expected = naive.all_paths(rows, columns, [(rows - 1, columns - 1)])
    assert sorted(grid.list_paths()) == expected
    assert grid.count == len(expected) == math.comb(rows + columns - 2, rows - 1)
    assert grid.steps == grid.largest_cost == rows + columns - 2


def test_walls_and_several_ends_are_respected() -> None:
    walls = ((1, 1), (0, 2))
    grid = GridPaths(3, 4, ends="border", walls=walls)
    assert sorted(grid.list_paths()) == naive.all_paths(3, 4, BORDER, walls)
    assert grid.count == len(grid.list_paths())
    assert GridPaths(30, 30).count == math.comb(58, 29)
    assert GridPaths(3, 4, ends=(2, 1)).ends == ((2, 1),)


@pytest.mark.parametrize("seed", range(20 if ALL else 4))
def test_the_cheapest_path_and_the_way_left_are_those_of_slower_methods(seed: int) -> None:
    rng = np.random.default_rng(seed)
    grid, costs = GridPaths(3, 4, ends="border"), rng.random((3, 4))
    goal = BORDER[seed % len(BORDER)]
    prices = grid.price_ends(costs.ravel(), goal)
    for end in BORDER:
        assert prices[grid.number(end)] == pytest.approx(naive.way_left(costs, end, goal))
    path, cost = grid.find_cheapest(costs.ravel(), prices)
    listed = [naive.path_cost(one, costs, goal) for one in naive.all_paths(3, 4, BORDER)]
    assert cost == pytest.approx(min(listed))
    assert grid.cost_of(path, costs.ravel(), prices) == pytest.approx(cost)
    free = GridPaths(3, 4, moves="all", walls=[(1, 1)])
    assert free.find_cheapest(costs.ravel(), np.zeros(12))[1] == pytest.approx(
        naive.way_left(costs, (0, 0), (2, 3), ((1, 1),))
    )


def test_no_path_costs_more_than_the_largest_cost() -> None:
    grid, ones = GridPaths(3, 4, ends="border"), np.ones((3, 4))
    worst = max(naive.path_cost(path, ones, goal) for path in naive.all_paths(3, 4, BORDER) for goal in BORDER)
    assert grid.largest_cost == worst == 8.0


# ---- Hedge over paths equals Hedge over a list of paths --------------------------------------------------------------


def hedge_over_a_list(costs: np.ndarray, goals: list[Any], ends: list[Any], eta: float) -> tuple[Any, Any, Any]:
    """All paths, the weights of every round and the costs of all paths in every round."""
    paths = naive.all_paths(costs.shape[1], costs.shape[2], ends)
    losses = np.array([[naive.path_cost(p, c, g) for p in paths] for c, g in zip(costs, goals, strict=True)])
    return paths, naive_experts.hedge(losses, eta), losses


@pytest.mark.parametrize("unknown", [False, True], ids=["one end", "unknown destination"])
def test_hedge_over_paths_is_hedge_over_the_list_of_all_paths(unknown: bool) -> None:
    rng, rounds = np.random.default_rng(3), 40 if ALL else 12
    costs = terrain(rounds, 3, 4)
    goals = [BORDER[k] for k in rng.integers(0, 6, rounds)] if unknown else [None] * rounds
    ends = BORDER if unknown else [(2, 3)]
    paths, weights, losses = hedge_over_a_list(costs, goals, ends, 0.4)
    player = PathHedge(GridPaths(3, 4, ends="border" if unknown else None), eta=0.4, native=False)
    for t in range(rounds):
        chances = player.chances
        np.testing.assert_allclose([chances.chance_of(path) for path in paths], weights[t], atol=1e-12)
        for r in range(3):
            for c in range(4):
                passing = sum(w for path, w in zip(paths, weights[t], strict=True) if (r, c) in path)
                ending = sum(w for path, w in zip(paths, weights[t], strict=True) if path[-1] == (r, c))
                assert chances.cells[4 * r + c] == pytest.approx(passing, abs=1e-12)
                assert chances.at_end[4 * r + c] == pytest.approx(ending, abs=1e-12)
        player.observe(costs[t], goals[t])
    assert player.expected_cost == pytest.approx((weights * losses).sum())
    assert player.best_cost == pytest.approx(losses.sum(axis=0).min())
    assert naive.path_cost(player.best_path, costs.sum(axis=0)) >= 0.0
    largest = 8.0 if unknown else 5.0
    assert player.bound == pytest.approx(math.log(len(paths)) / 0.4 + 0.4 * largest**2 * rounds / 8.0)
    assert player.regret <= player.bound


def test_paths_are_drawn_by_their_probabilities() -> None:
    grid = GridPaths(3, 3, ends="border")
    costs = terrain(6, 3, 3, 1)
    drawn: Counter[Any] = Counter()
    count = 3000 if ALL else 600
    for seed in range(count):
        player = PathHedge(grid, eta=0.5, seed=seed, native=False)
        player.total, player.rounds = costs.sum(axis=0).ravel(), 6
        drawn[player.play()] += 1
    chances = player.chances
    for path in grid.list_paths():
        chance = chances.chance_of(path)
        assert abs(drawn[path] / count - chance) < 4.5 * math.sqrt(chance * (1 - chance) / count)


@pytest.mark.compiles
def test_compiled_and_interpreted_weights_are_the_same_bits() -> None:
    players = [PathHedge(GridPaths(4, 5, ends="border"), seed=2, native=native) for native in (True, False)]
    for costs in terrain(20, 4, 5):
        assert players[0].play() == players[1].play()
        for player in players:
            player.observe(costs, (3, 0))
    np.testing.assert_array_equal(players[0].chances.cells, players[1].chances.cells)
    assert players[0].expected_cost == players[1].expected_cost


def test_weights_neither_vanish_nor_overflow_after_many_rounds() -> None:
    player = PathHedge(GridPaths(6, 6), eta=5.0, native=False)
    player.total = 1e6 * np.random.default_rng(0).random(36)
    chances = player.chances
    assert np.isfinite(chances.moves).all()
    assert chances.chance_of(player.grid.find_cheapest(player.total, np.zeros(36))[0]) == pytest.approx(1.0)
    assert player.play() == player.grid.find_cheapest(player.total, np.zeros(36))[0]
    player = PathHedge(GridPaths(3, 3, ends="border"), eta=5.0, native=False)
    player.end_total = 1e6 + np.arange(9.0)
    cells = player.chances.cells
    assert np.isfinite(cells).all()
    assert player.chances.at_end.sum() == pytest.approx(1.0)


# ---- theorems --------------------------------------------------------------------------------------------------------


def against_the_chances(player: Any, t: int) -> np.ndarray:
    """Whatever is passed most often costs 1."""
    cells = player.chances.cells.reshape(player.grid.rows, player.grid.columns)
    return np.asarray(cells >= np.quantile(cells, 0.6 + 0.2 * (t % 2)), float)


@pytest.mark.parametrize("options", [{}, {"rounds": 150}, {"eta": 1.0}])
def test_costs_chosen_against_the_weights_do_not_break_the_bound(options: dict[str, Any]) -> None:
    player = PathHedge(GridPaths(4, 4), native=False, **options)
    for t in range(150):
        player.observe(against_the_chances(player, t))
        assert player.regret <= player.bound + 1e-9
    if "rounds" in options:
        assert player.bound == pytest.approx(6.0 * math.sqrt(150 * math.log(20) / 2.0))
    assert player.regret > 3.0


@pytest.mark.parametrize("moves", ["right_down", "all"])
def test_the_perturbed_leader_keeps_the_bound_of_its_expected_regret(moves: Any) -> None:
    costs = terrain(80, 4, 4, 5)
    costs[:, :, 1] = np.arange(80)[:, None] % 2  # the leader is wrong in every other round
    costs[:, 1, :] = (np.arange(80)[:, None] + 1) % 2
    regrets = []
    for seed in range(30 if ALL else 5):
        player = PathLeader(GridPaths(4, 4, moves=moves), seed=seed)
        for one in costs:
            player.observe(one)
        regrets.append(player.regret)
    assert np.mean(regrets) <= player.bound
    L, A = (15, 15) if moves == "all" else (6, 15)
    etas = [math.sqrt(2 * L / (L * A * t)) for t in range(1, 81)]
    assert player.bound == pytest.approx(2 * L / etas[-1] + L * A * sum(etas))


def test_the_perturbed_leader_takes_the_cheapest_perturbed_path() -> None:
    player = PathLeader(GridPaths(3, 4), seed=9, eta=0.3)
    paths = naive.all_paths(3, 4, [(2, 3)])
    total = np.zeros((3, 4))
    for t, costs in enumerate(terrain(15, 3, 4)):
        noise = np.random.default_rng([9, t]).random(24)[:12].reshape(3, 4) / 0.3
        expected = min(paths, key=lambda path: naive.path_cost(path, total + noise))
        assert player.play() == expected
        player.observe(costs)
        total += costs


def test_the_perturbed_leader_adds_random_numbers_to_open_ends_too() -> None:
    grid, player = GridPaths(3, 4, ends="border"), PathLeader(GridPaths(3, 4, ends="border"), seed=4, eta=0.2)
    total, ends = np.zeros(12), np.zeros(12)
    for t, costs in enumerate(terrain(15, 3, 4)):
        noise = np.random.default_rng([4, t]).random(24) / 0.2
        listed = {path: grid.cost_of(path, total + noise[:12], ends + noise[12:]) for path in grid.list_paths()}
        assert player.play() == min(listed, key=listed.__getitem__)
        player.observe(costs, BORDER[t % 6])
        total, ends = total + costs.ravel(), ends + grid.price_ends(costs.ravel(), BORDER[t % 6])
    ways = sum(max(abs(a - c) + abs(b - d) for c, d in BORDER) for a, b in BORDER)
    assert player.bound == pytest.approx(2 * (5 + 1) / 0.2 + 8.0 * (11 + ways) * 15 * 0.2)
    assert PathLeader(grid, rounds=9).eta == pytest.approx(math.sqrt(2 * 6 / (8 * (11 + ways) * 9)))


def test_grids_without_choices_are_played() -> None:
    single = PathExplorer(GridPaths(1, 1), eta=0.25, native=False)
    assert single.observe_path([]).bound == single.cost == 0.0
    assert single.rate == single.last_eta == 0.25
    assert PathExplorer(GridPaths(1, 1), rounds=2, native=False).eta == pytest.approx(math.sqrt(math.log(2)))
    assert PathExplorer(GridPaths(1, 1), native=False).rate == pytest.approx(math.sqrt(math.log(2)))
    for kind in (PathHedge, PathLeader):
        player = kind(GridPaths(1, 1), seed=1)
        assert player.play() == ((0, 0),)
        assert player.bound == 0.0
        for _ in range(3):
            player.observe([[0.7]])
        assert player.regret == player.cost == 0.0
        assert 0.0 <= player.bound < 10.0
        assert kind(GridPaths(1, 3)).observe([[0.5, 0.25, 0.5]]).cost == 0.75
    assert PathLeader(GridPaths(1, 1), rounds=2).eta == pytest.approx(1.0)
    assert PathHedge(GridPaths(1, 1), rounds=2).eta == pytest.approx(math.sqrt(4 * math.log(2)))


def explore(grid: Any, costs: np.ndarray, goals: Any, **options: Any) -> tuple[Any, float]:
    """An explorer after all rounds, and the cost of the best path in hindsight."""
    player, total, ends = PathExplorer(grid, native=False, **options), np.zeros(costs[0].size), np.zeros(costs[0].size)
    for one, goal in zip(costs, goals, strict=True):
        prices = grid.price_ends(one.ravel(), goal)
        path = player.play()
        player.observe_path([one[cell] for cell in path[1:]], float(prices[grid.number(path[-1])]))
        total, ends = total + one.ravel(), ends + prices
    return player, grid.find_cheapest(total, ends)[1]


@pytest.mark.parametrize("options", [{}, {"eta": 0.5}, {"rounds": 150}])
def test_the_explorer_keeps_the_bound_of_its_expected_regret(options: dict[str, Any]) -> None:
    costs, regrets, bounds = terrain(150, 3, 3, 4), [], []
    costs[:, 0, 1] = np.arange(150) % 2
    for seed in range(30 if ALL else 4):
        player, best = explore(GridPaths(3, 3), costs, [None] * 150, seed=seed, **options)
        regrets.append(player.cost - best)
        bounds.append(player.bound)
    assert np.mean(regrets) <= np.mean(bounds)
    if "rounds" in options:
        assert player.eta == pytest.approx(math.sqrt(2 * math.log(6) / (4 * 8 * 150)))


def test_the_bound_of_the_explorer_is_that_of_hedge_on_its_estimates() -> None:
    """The regret of the weights on the estimated costs never exceeds it; Q is at least the mean square."""
    grid, goals = GridPaths(3, 3, ends="border"), [(2, 0), (0, 2), (2, 2)]
    paths = naive.all_paths(3, 3, [(0, 2), (1, 2), (2, 0), (2, 1), (2, 2)])
    player, own, moments = PathExplorer(grid, seed=2, native=False), 0.0, 0.0
    limit, paid, weighed = grid.largest_cost, 0.0, 0.0
    assert player.bound == 0.0
    for t, costs in enumerate(terrain(40, 3, 3, 6)):
        prices, chances, path = grid.price_ends(costs.ravel(), goals[t % 3]), player.chances, player.play()
        before, ends, moments = player.total, player.end_total, player.moments
        assert player.rate == pytest.approx(math.sqrt(math.log(len(paths)) / (limit**2 + moments)))
        passing = {cell: sum(chances.chance_of(p) for p in paths if cell in p) for cell in path}
        ending = sum(chances.chance_of(p) for p in paths if p[-1] == path[-1])
        squares = sum(costs[cell] ** 2 / passing[cell] for cell in path[1:])
        squares += prices[grid.number(path[-1])] ** 2 / (grid.ways_left[path[-1]] * ending)
        weighed += player.rate * limit * squares
        paid += naive.path_cost(path, costs, goals[t % 3])
        player.observe_path([costs[cell] for cell in path[1:]], float(prices[grid.number(path[-1])]))
        estimates = [grid.cost_of(p, player.total - before, player.end_total - ends) for p in paths]
        weights = [chances.chance_of(p) for p in paths]
        own += float(np.dot(weights, estimates))
        assert np.dot(weights, np.square(estimates)) <= player.moments - moments + 1e-9
        least = min(grid.cost_of(p, player.total, player.end_total) for p in paths)
        assert own - least <= player.bound + 1e-9
        assert player.moments - moments == pytest.approx(limit * squares)
        assert player.cost == pytest.approx(paid)
    assert player.bound == pytest.approx(math.log(len(paths)) / player.last_eta + weighed / 2.0)


def test_the_estimates_of_the_explorer_are_unbiased() -> None:
    grid, costs = GridPaths(3, 3, ends="border"), terrain(1, 3, 3, 8)[0]
    prices = grid.price_ends(costs.ravel(), (2, 0))
    chances = PathExplorer(grid, native=False).chances
    cells, ends = np.zeros(9), np.zeros(9)
    for path in grid.list_paths():
        numbers = [grid.number(cell) for cell in path]
        player = PathExplorer(grid, native=False)
        player._next = 0, path
        player.observe_path([costs[cell] for cell in path[1:]], float(prices[numbers[-1]]))
        cells += chances.chance_of(path) * player.total
        ends += chances.chance_of(path) * player.end_total
    np.testing.assert_allclose(cells[1:], costs.ravel()[1:], atol=1e-12)
    np.testing.assert_allclose(ends, prices, atol=1e-12)


def test_all_players_come_to_the_cheap_path() -> None:
    costs = np.full((300, 3, 3), 0.9)
    for cell in ((0, 1), (0, 2), (1, 2), (2, 2)):
        costs[:, cell[0], cell[1]] = 0.1
    for player in (PathHedge(GridPaths(3, 3), native=False), PathLeader(GridPaths(3, 3, moves="all"))):
        for one in costs:
            player.observe(one)
        assert player.best_path == ((0, 0), (0, 1), (0, 2), (1, 2), (2, 2))
        assert player.regret < 0.1 * 300
    explorer, best = explore(GridPaths(3, 3), costs, [None] * 300, seed=1)
    assert explorer.cost < 0.5 * (best + 300 * 3.6)


# ---- files, copies, bad input ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [PathHedge, PathLeader, PathExplorer], ids=lambda kind: kind.kind)
def test_saved_and_loaded_a_player_goes_on_as_if_never_stopped(kind: Any, tmp_path: Any) -> None:
    grid, costs = GridPaths(3, 4, ends="border", walls=[(1, 1)]), terrain(20, 3, 4)

    def step(player: Any, one: Any) -> Any:
        if kind is PathExplorer:
            return player.observe_path([one[cell] for cell in player.play()[1:]], 0.5)
        return player.observe(one, (2, 0))

    whole, cut = (kind(grid, seed=3, native=False) for _ in range(2))
    for t, one in enumerate(costs):
        if t == 7:
            cut.play()
            cut.save(tmp_path / "p.nr")
            cut = nr.load(tmp_path / "p.nr")
            assert repr(cut) == repr(whole)
            cut = pickle.loads(pickle.dumps(cut.copy()))
        assert whole.play() == cut.play()
        step(whole, one)
        step(cut, one)
    assert pack(whole) == pack(cut)
    other = kind(grid, seed=4, native=False)
    for one in costs:
        step(other, one)
    assert pack(other) != pack(whole)


def test_bad_grids_costs_and_destinations_are_refused() -> None:
    grid = GridPaths(2, 3)
    assert "rows must be a whole number" in refusal(lambda: GridPaths(0, 3))
    assert "at most 1,000,000 cells" in refusal(lambda: GridPaths(10_000, 10_000))
    assert 'moves must be "right_down" or "all"' in refusal(lambda: GridPaths(2, 2, moves="up"))  # type: ignore[arg-type]
    assert "(2, 0) is outside of the grid" in refusal(lambda: GridPaths(2, 3, ends=(2, 0)))
    assert "as in (0, 2), not 'ab'" in refusal(lambda: GridPaths(2, 3, ends=["ab"]))
    assert "cannot be a wall" in refusal(lambda: GridPaths(2, 3, walls=[(0, 0)]))
    assert "walls are in between" in refusal(lambda: GridPaths(2, 3, walls=[(0, 1), (1, 1)]))
    assert "no path leads" in refusal(lambda: GridPaths(2, 3, start=(1, 0), ends=(0, 2)))
    assert "walls must be a list of cells" in refusal(lambda: GridPaths(2, 3, walls="x"))
    assert "for moves=" in refusal(lambda: PathHedge(GridPaths(2, 2, moves="all")))
    assert "more than 2" in refusal(lambda: grid.list_paths(most=2))
    assert "give a grid" in refusal(lambda: PathHedge((2, 3)))  # type: ignore[arg-type]
    assert "not both" in refusal(lambda: PathLeader(grid, rounds=5, eta=0.1))
    player = PathHedge(grid, native=False)
    before = pack(player)
    for costs, said in (
        (np.zeros((3, 2)), "must be a matrix of 2 x 3 numbers"),
        ("x", "must be a matrix of 2 x 3 numbers"),
        ([[0, 0, 0], [0, 1.5, 0]], "cell (1, 1): the cost must be from 0 to 1, not 1.5"),
        ([[0, 0, 0], [float("nan"), 1, 0]], "cell (1, 0): the cost must be from 0 to 1, not nan"),
    ):
        assert said in refusal(lambda costs=costs: player.observe(costs))  # type: ignore[misc]
    assert "is not one of the ends" in refusal(lambda: player.observe(np.zeros((2, 3)), (0, 0)))
    assert pack(player) == before
    explorer = PathExplorer(grid, native=False)
    before = pack(explorer)
    assert "the path enters 3 cells" in refusal(lambda: explorer.observe_path([0.5, 0.5]))
    assert "from 0 to 1" in refusal(lambda: explorer.observe_path([0.5, 0.5, 2.0]))
    assert "the path enters 3 cells" in refusal(lambda: explorer.observe_path("abc"))
    for way in (True, "x", None, float("nan")):
        assert "must cost from 0 to 0" in refusal(lambda way=way: explorer.observe_path([0.5] * 3, way))  # type: ignore[misc]
    assert "must cost from 0 to 0" in refusal(lambda: explorer.observe_path([0.5, 0.5, 0.5], 1.0))
    assert "use observe_path" in refusal(lambda: explorer.observe(np.zeros((2, 3))))
    assert "does not know" in refusal(lambda: explorer.regret)
    assert pack(explorer) == before


def test_rates_beyond_all_measure_are_refused() -> None:
    grid, costs = GridPaths(2, 3), np.full((2, 3), 0.5)
    for native in (True, False):
        player = PathHedge(grid, eta=1e308, native=native)
        player.total = np.full(6, 1e5)
        before = pack(player)
        assert "use a smaller one" in refusal(lambda player=player: player.observe(costs))  # type: ignore[misc]
        assert pack(player) == before
        open_ends = PathHedge(GridPaths(2, 3, ends="border"), eta=1e200, native=native)
        open_ends.end_total = np.full(6, 1e5)
        assert "use a smaller one" in refusal(open_ends.play)
        open_ends.end_total, open_ends.total = np.zeros(6), np.array([0, 0, 0, 0, 0, 1e5])
        assert "use a smaller one" in refusal(open_ends.play)
    assert "eta must be above" in refusal(lambda: PathLeader(grid, eta=1e-320).play())
    assert PathHedge(grid, eta=1e308, native=False).observe(costs).rounds == 1
