"""Players that learn approach the equilibria of matrix games, at the rates of their theorems."""

import math
import pickle
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

import noregret as nr
from noregret.games.swap_regret import find_stationary
from noregret.learner.model_file import pack
from tests.naive import games as naive
from tests.support import refusal
from tests.support.cover import ALL

MatrixGame, SwapPlayer = nr.games.MatrixGame, nr.games.SwapPlayer
solve_by_hedge, find_correlated_equilibrium = nr.games.solve_by_hedge, nr.games.find_correlated_equilibrium

PENNIES = MatrixGame([[1.0, -1.0], [-1.0, 1.0]])
CHICKEN = MatrixGame([[0.0, 7.0], [2.0, 6.0]], [[0.0, 2.0], [7.0, 6.0]])
SHAPLEY = MatrixGame([[1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 1, 0], [0, 0, 1], [1, 0, 0]])


def random_game(seed: int, rows: int = 5, columns: int = 5) -> Any:
    return MatrixGame(np.random.default_rng(seed).normal(size=(rows, columns)))


# ---- zero-sum --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(20 if ALL else 3))
def test_two_hedge_players_approach_the_value_of_random_games(seed: int) -> None:
    game = random_game(seed, 5, 4 + seed % 3)
    found, exact = solve_by_hedge(game, 2000), game.solve()
    low, high = found.limits
    assert low <= exact.value + 1e-9
    assert exact.value <= high + 1e-9
    assert found.gap == pytest.approx(high - low)
    assert abs(found.value - exact.value) <= found.bound
    assert found.gap <= found.bound
    width = float(np.ptp(game.row))
    textbook = sum(math.sqrt(2000 * math.log(size) / 2.0) for size in game.actions) * width / 2000
    assert found.bound == pytest.approx(textbook)


@pytest.mark.parametrize("seed", [None, 0, 1])
@pytest.mark.parametrize("algorithm", ["hedge", "adahedge"])
def test_the_gap_of_mean_strategies_is_the_sum_of_the_regrets(algorithm: str, seed: int | None) -> None:
    for game in (random_game(7), MatrixGame([[2.0, -1.0], [-1.0, 1.0]])):
        found = solve_by_hedge(game, 300, algorithm, seed=seed)
        assert found.gap == pytest.approx(sum(found.regrets) / 300, abs=1e-9)
        if seed is None:
            assert all(regret <= bound for regret, bound in zip(found.regrets, found.bounds, strict=True))
        assert found.curve[-1][0] == 300
        assert found.curve[-1][1] == pytest.approx(found.gap)


def test_matching_pennies_by_drawn_actions_comes_to_an_even_mixture() -> None:
    found = solve_by_hedge(PENNIES, 4000, seed=3)
    deviation = math.sqrt(4000 * math.log(100.0) / 2.0) * 2.0  # Hoeffding, of the draws of both players
    assert found.gap <= found.bound + deviation / 4000 * 2.0
    np.testing.assert_allclose(found.row, 0.5, atol=0.06)
    np.testing.assert_allclose(found.column, 0.5, atol=0.06)
    assert abs(found.value) < 0.06
    assert solve_by_hedge(PENNIES, 100).gap == pytest.approx(0.0, abs=1e-12)


def test_more_rounds_bring_a_smaller_gap() -> None:
    game = random_game(11)
    gaps = [solve_by_hedge(game, rounds).gap for rounds in (50, 500, 4000)]
    assert gaps[0] > 2.0 * gaps[1] > 4.0 * gaps[2]


@pytest.mark.parametrize("seed", range(30 if ALL else 4))
def test_exact_solutions_have_no_gap(seed: int) -> None:
    game = random_game(seed, 1 + seed % 5, 6 - seed % 4)
    found = game.solve()
    assert game.gap(found.row, found.column) == pytest.approx(0.0, abs=1e-8)
    assert found.value == pytest.approx(game.value_of(found.row, found.column)[0], abs=1e-9)


def test_games_without_choices_are_solved() -> None:
    for payoffs in ([[3.0]], [[2.0, 2.0], [2.0, 2.0]], [[1.0, 2.0]]):
        game = MatrixGame(payoffs)
        assert solve_by_hedge(game, 50, native=False).limits[1] >= game.solve().value - 1e-9


# ---- swap regret -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(10 if ALL else 3))
def test_swap_regret_is_that_of_the_best_of_all_maps(seed: int) -> None:
    rng = np.random.default_rng(seed)
    played, losses = rng.dirichlet(np.ones(3), size=30), rng.random((30, 3))
    assert nr.games.swap_regret(played, losses) == pytest.approx(naive.swap_regret(played, losses))
    best = min(losses.sum(axis=0))
    assert nr.games.external_regret(played, losses) == pytest.approx((played * losses).sum() - best)
    assert nr.games.swap_regret(played, losses) >= nr.games.external_regret(played, losses) - 1e-12


def test_the_player_is_that_of_the_reduction_and_keeps_its_books() -> None:
    losses = np.random.default_rng(0).integers(0, 2, (25, 3)).astype(float)
    player, played = SwapPlayer(3, eta=0.8, native=False), []
    for row in losses:
        played.append(player.chances)
        player.observe(row)
    np.testing.assert_allclose(played, naive.swap_hedge(losses, 0.8), atol=1e-9)
    assert player.swap_regret == pytest.approx(nr.games.swap_regret(played, losses))
    squares = float((np.array(played) ** 2).sum())
    assert player.bound == pytest.approx(3 * math.log(3) / 0.8 + 0.8 * squares / 8.0)


@pytest.mark.parametrize("actions", [2, 4])
@pytest.mark.parametrize("options", [{"rounds": 300}, {}, {"eta": 2.0}])
def test_losses_chosen_against_the_chances_do_not_break_the_bound_on_swap_regret(
    actions: int, options: dict[str, Any]
) -> None:
    player, rng = SwapPlayer(actions, **options), np.random.default_rng(0)
    for t in range(300):
        heaviest = int(np.argmax(player.chances))
        losses = np.eye(actions)[heaviest] if t % 3 else rng.random(actions)
        player.observe(losses)
        assert player.swap_regret <= player.bound + 1e-9
    if "rounds" in options:
        assert player.bound <= math.sqrt(300 * actions * math.log(actions) / 2.0) + 1e-9


def test_the_rate_for_so_many_rounds_has_the_least_bound() -> None:
    for actions, rounds in ((2, 50), (5, 700)):
        player = SwapPlayer(actions, rounds=rounds, native=False)
        assert player.weights.eta == pytest.approx(math.sqrt(8 * actions * math.log(actions) / rounds))
        assert player.bound == 0.0
    single = SwapPlayer(1, rounds=9, native=False).observe([0.5])
    assert single.play() == 0
    assert single.bound == single.swap_regret == 0.0
    assert single.weights.eta == pytest.approx(math.sqrt(8 * math.log(2) / 9))


def test_the_stationary_distribution_is_one_also_of_chains_that_fall_apart() -> None:
    rng = np.random.default_rng(1)
    for chain in (
        rng.dirichlet(np.ones(4), size=4),
        np.eye(3),
        np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0, 0, 1]]),
    ):
        p = find_stationary(np.asarray(chain, float))
        np.testing.assert_allclose(p @ chain, p, atol=1e-12)
        assert p.sum() == pytest.approx(1.0)
        assert p.min() >= 0.0


# ---- correlated equilibria -------------------------------------------------------------------------------------------


def best_correlated(game: Any, gap: float) -> float:
    """The largest sum of payoffs of all joint distributions whose swap gains are at most so large, by a program."""
    rows, columns = game.actions
    wanted, limits = -(game.row + game.column).ravel(), []
    for i in range(rows):
        for j in range(rows):
            matrix = np.zeros((rows, columns))
            matrix[i] = game.row[j] - game.row[i]
            limits.append(matrix.ravel())
    for i in range(columns):
        for j in range(columns):
            matrix = np.zeros((rows, columns))
            matrix[:, i] = game.column[:, j] - game.column[:, i]
            limits.append(matrix.ravel())
    found: Any = linprog(wanted, limits, np.full(len(limits), gap), np.ones((1, rows * columns)), [1.0])
    return float(-found.fun)


@pytest.mark.parametrize("game", [CHICKEN, SHAPLEY], ids=["chicken", "shapley"])
def test_joint_play_comes_near_a_correlated_equilibrium(game: Any) -> None:
    found = find_correlated_equilibrium(game, 1000)
    assert found.joint.sum() == pytest.approx(1.0)
    assert found.gap <= found.bound
    gains = game.swap_gains(found.joint)
    for gain, regret, bound in zip(gains, found.regrets, found.bounds, strict=True):
        assert gain == pytest.approx(regret / 1000, abs=1e-9)
        assert regret <= bound
    assert sum(found.values) <= best_correlated(game, found.gap) + 1e-9
    assert found.curve[-1][0] == 1000


def test_the_textbook_equilibrium_of_chicken_has_no_gap_and_play_that_is_none_has_one() -> None:
    assert max(CHICKEN.swap_gains([[0.0, 1 / 3], [1 / 3, 1 / 3]])) == pytest.approx(0.0, abs=1e-12)
    assert CHICKEN.swap_gains([[0.0, 0.0], [0.0, 1.0]]) == (1.0, 1.0)  # both would rather dare
    assert CHICKEN.swap_gains([[1.0, 0.0], [0.0, 0.0]]) == (2.0, 2.0)
    rng = np.random.default_rng(4)
    game, joint = MatrixGame(rng.random((2, 3)), rng.random((2, 3))), rng.dirichlet(np.ones(6)).reshape(2, 3)
    row = sum(max((game.row[j] - game.row[i]) @ joint[i] for j in range(2)) for i in range(2))
    column = sum(max((game.column[:, j] - game.column[:, i]) @ joint[:, i] for j in range(3)) for i in range(3))
    assert game.swap_gains(joint) == pytest.approx((row, column))
    assert abs(row - column) > 1e-3
    assert PENNIES.gains([1.0, 0.0], [1.0, 0.0]) == (0.0, 2.0)


# ---- files and bad input ---------------------------------------------------------------------------------------------


def test_a_swap_player_goes_on_from_its_file_with_the_same_bits(tmp_path: Any) -> None:
    losses = np.random.default_rng(2).random((40, 3))
    whole, cut = SwapPlayer(3, seed=5, native=False), SwapPlayer(3, seed=5, native=False)
    actions, again = [], []
    for t, row in enumerate(losses):
        if t == 15:
            cut.save(tmp_path / "p.nr")
            cut = nr.load(tmp_path / "p.nr")
            cut = pickle.loads(pickle.dumps(cut.copy()))
        actions.append(whole.play())
        again.append(cut.play())
        whole.observe(row)
        cut.observe(row)
    assert actions == again
    assert pack(whole) == pack(cut)


def test_bad_games_strategies_and_losses_are_refused() -> None:
    for bad in ([[1.0, float("nan")]], [1.0, 2.0], [], [["a"]], [[1.0], [1.0, 2.0]], [[1e200]]):
        refusal(lambda bad=bad: MatrixGame(bad))  # type: ignore[misc]
    assert "2 x 2, the column player 1 x 2" in refusal(lambda: MatrixGame(np.eye(2), [[1.0, 2.0]]))
    assert "must be 2 probabilities that sum to 1" in refusal(lambda: PENNIES.gap([0.5, 0.6], [1.0, 0.0]))
    assert "joint distribution must be 2 x 2" in refusal(lambda: CHICKEN.swap_gains([0.5, 0.5]))
    for wrong_one in ([1.5, -0.5], [1.0], "x", [0.5, 0.5, 0.0], [float("nan"), 1.0], [0.5, 0.4]):
        assert "probabilities that sum to 1" in refusal(lambda one=wrong_one: PENNIES.gap(one, [1.0, 0.0]))  # type: ignore[misc]
    for joint in ("x", [[1.5, -0.5], [0.0, 0.0]], [[0.5, 0.0], [0.0, 0.4]]):
        assert "probabilities that sum to 1" in refusal(lambda one=joint: CHICKEN.swap_gains(one))  # type: ignore[misc]
    refusal(lambda: MatrixGame([[-1e200, 1.0]]))
    with pytest.raises(ValueError, match="read-only"):
        PENNIES.row[0, 0] = 5.0
    assert repr(MatrixGame([[1, 2]])) == "<MatrixGame: zero-sum, 1 x 2 actions>"
    assert repr(CHICKEN) == "<MatrixGame: general-sum, 2 x 2 actions>"
    assert "zero-sum games only" in refusal(lambda: solve_by_hedge(CHICKEN))
    assert "zero-sum games only" in refusal(CHICKEN.solve)
    assert "rounds must be a whole number of at least 1" in refusal(lambda: solve_by_hedge(PENNIES, 0))
    wrong: Any = [[1, -1], [-1, 1]]
    assert "give a game" in refusal(lambda: solve_by_hedge(wrong))
    player = SwapPlayer(3, native=False)
    before = pack(player)
    for losses in ([0.1, 0.2], [0.1, 0.2, 2.0], [0.1, 0.2, float("nan")], np.zeros((2, 3)), "x"):
        refusal(lambda losses=losses: player.observe(losses))  # type: ignore[misc]
    assert pack(player) == before
    assert "not both" in refusal(lambda: SwapPlayer(3, rounds=5, eta=0.1))
    for pair in ((np.zeros(2), np.zeros(2)), ("x", [[1.0]]), ([[1.0]], "x")):
        assert "same shape" in refusal(lambda pair=pair: nr.games.swap_regret(*pair))  # type: ignore[misc]
    assert "same shape" in refusal(lambda: nr.games.swap_regret([[0.5, 0.5]], [[0.1]]))
    assert "round 1" in refusal(lambda: nr.games.swap_regret([[0.5, 0.5], [1.0, 1.0]], np.zeros((2, 2))))
