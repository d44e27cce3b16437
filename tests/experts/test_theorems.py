"""The theorems of expert algorithms, on streams made to reach them; one-step properties; numbers at their limits."""

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import quad
from scipy.optimize import minimize

from noregret.experts.card import list_algorithms
from noregret.experts.expert_weights import ExpertWeights
from noregret.experts.squint import log_evidence, scaled_erfc, squint_regret
from noregret.metrics.tracking import best_sequences
from tests.support.cover import ALL, only_in_test_all

Floats = NDArray[np.float64]
NAMES = sorted(list_algorithms())
EXACT = [
    name
    for name in NAMES
    if list_algorithms()[name].guarantees and name not in ("follow_the_perturbed_leader", "exp3_experts")
]


def make(name: str, experts: int, **params: Any) -> ExpertWeights:
    return ExpertWeights(name, experts, native=False, **params)


def measure(w: ExpertWeights, kind: str) -> float:
    """What a bound is about."""
    return {"regret": w.regret, "mistakes": w.lost_votes, "expected mistakes": w.loss}[kind]


# ---- adversaries -----------------------------------------------------------------------------------------------------


def against_the_leader(rounds: int) -> Floats:
    """Whoever leads loses next."""
    return np.array([[0.5, 0.0], *([[0.0, 1.0], [1.0, 0.0]] * (rounds // 2))])[:rounds]


def against_the_weights(name: str, rounds: int, experts: int, **params: Any) -> ExpertWeights:
    """In every round the expert with the most weight loses 1."""
    w = make(name, experts, **params)
    for _ in range(rounds):
        w.play(np.eye(experts)[np.argmax(w.current())][None])
    return w


def alternate(rounds: int, experts: int, length: int) -> Floats:
    """The expert without loss changes every so many rounds."""
    losses = np.ones((rounds, experts))
    losses[np.arange(rounds), (np.arange(rounds) // length) % experts] = 0.0
    return losses


def test_the_leader_can_be_made_to_lose_every_round() -> None:
    w = make("follow_the_leader", 2)
    w.play(against_the_leader(100))
    assert (w.loss, w.losses_of_best) == (99.5, 49.5)


@pytest.mark.parametrize("name", EXACT)
def test_the_stream_against_the_leader_does_not_break_a_bound(name: str) -> None:
    w = make(name, 2)
    w.play(against_the_leader(300))
    bound = w.bound()
    assert bound is not None
    assert measure(w, bound.measure) <= bound.value


@pytest.mark.parametrize("experts", [2, 5])
@pytest.mark.parametrize("name", EXACT)
def test_losses_chosen_against_the_weights_do_not_break_a_bound(name: str, experts: int) -> None:
    w = against_the_weights(name, 400 if ALL else 120, experts)
    bound = w.bound()
    assert bound is not None
    assert measure(w, bound.measure) <= bound.value


def test_fair_coins_make_the_bound_of_hedge_tight_up_to_a_constant() -> None:
    """Of losses drawn at random, the regret of any algorithm grows as sqrt(T ln N / 2)."""
    rounds, experts, regrets = 2000, 8, []
    eta = math.sqrt(8.0 * math.log(experts) / rounds)
    for seed in range(20 if ALL else 6):
        w = make("hedge", experts, eta=eta)
        w.play(np.random.default_rng(seed).integers(0, 2, (rounds, experts)).astype(float))
        regrets.append(w.regret)
        bound = w.bound()
        assert bound is not None
        assert bound.value <= math.sqrt(rounds * math.log(experts) / 2.0) * (1.0 + 1e-9)
        assert w.regret <= bound.value
    assert np.mean(regrets) >= 0.5 * math.sqrt(rounds * math.log(experts) / 2.0)


def test_the_bound_of_the_anytime_rate_is_within_that_of_the_textbook() -> None:
    for experts in (2, 10):
        for rounds in (1, 2, 10, 200):
            w = make("hedge", experts)
            w.play(np.random.default_rng(rounds).random((rounds, experts)))
            bound = w.bound()
            textbook = 2.0 * math.sqrt(rounds * math.log(experts) / 2.0) + math.sqrt(math.log(experts) / 8.0)
            assert bound is not None
            assert bound.value <= textbook
            assert bound.value <= 3.0 * math.sqrt(rounds * math.log(experts) / 8.0) + 1e-9


@pytest.mark.parametrize(("length", "eta", "alpha"), [(20, 1.0, 0.1), (50, 0.5, 0.02), (30, 3.0, 0.3)])
def test_fixed_share_follows_alternating_experts_and_keeps_its_bound(length: int, eta: float, alpha: float) -> None:
    losses = alternate(300, 4, length)
    share, fixed = make("fixed_share", 4, eta=eta, alpha=alpha), make("hedge", 4)
    share.play(losses)
    fixed.play(losses)
    switches = 300 // length - 1
    for k, best in enumerate(best_sequences(np.ascontiguousarray(losses.T), switches)):
        bound = share.bound(k)
        assert bound is not None
        assert share.loss - best.loss <= bound.value + 1e-9
    assert best.loss == 0.0
    assert share.loss < 0.6 * fixed.loss
    assert fixed.bound(1) is None  # Hedge has no theorem about sequences


@pytest.mark.parametrize("seed", range(20 if ALL else 3))
def test_second_order_bounds_hold_and_are_small_where_losses_are_easy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    hard, easy = rng.integers(0, 2, (500, 4)).astype(float), rng.random((500, 4)) * 0.5 + [0.4, 0.5, 0.5, 0.0]
    for losses in (hard, easy):
        ada, sq = make("adahedge", 4), make("squint", 4)
        for w in (ada, sq):
            w.play(losses)
            bound = w.bound()
            assert bound is not None
            assert w.regret <= bound.value
        variance, gap = float(ada.state.n.variance), float(ada.state.n.gap)
        assert ada.regret <= 2.0 * math.sqrt(variance * math.log(4)) + 4.0 / 3.0 * math.log(4) + 2.0
        assert ada.regret <= 2.0 * gap + 1e-9
        for i in range(4):
            assert sq.regrets[i] <= squint_regret(None, 4.0, 500.0, float(sq.state.squares[i]))
    assert ada.regret < 10.0  # sqrt(T ln N / 2) is 18.6


@pytest.mark.parametrize(
    ("name", "params"),
    [("follow_the_perturbed_leader", {}), ("follow_the_perturbed_leader", {"eta": 0.2}), ("exp3_experts", {})],
)
def test_expected_regret_keeps_its_bound(name: str, params: dict[str, Any]) -> None:
    for losses in (against_the_leader(200), alternate(200, 3, 1)):
        regrets, bound = [], None
        for seed in range(100 if ALL else 15):
            w = ExpertWeights(name, losses.shape[1], seed=seed, native=False, **params)
            w.play(losses)
            regrets.append(w.loss - w.losses_of_best)
            bound = w.bound()
        assert bound is not None
        assert bound.measure == "expected regret"
        assert np.mean(regrets) <= bound.value


def test_halving_makes_at_most_log2_of_the_experts_mistakes() -> None:
    for seed in range(10):
        losses = np.random.default_rng(seed).integers(0, 2, (60, 16)).astype(float)
        losses[:, 5] = 0.0
        w = make("weighted_majority", 16, beta=0.0)
        w.play(losses)
        assert w.lost_votes <= 4
        bound = w.bound()
        assert bound is not None
        assert bound.value == pytest.approx(4.0)


def test_merged_runs_keep_the_sum_of_their_bounds_also_when_they_go_on() -> None:
    rng = np.random.default_rng(0)
    for params in ({}, {"eta": 0.5}, {"eta": 4.0}):
        parts = [make("hedge", 3, **params) for _ in range(3)]
        for part in parts:
            part.play(rng.integers(0, 2, (60, 3)).astype(float))
        merged = parts[0].merge(parts[1]).merge(parts[2])
        for _ in range(2):
            bound = merged.bound()
            assert bound is not None
            assert merged.regret <= bound.value
            merged.play(np.eye(3)[np.full(50, np.argmax(merged.current()))])


def test_new_experts_keep_the_bound() -> None:
    rng = np.random.default_rng(1)
    for name in ("hedge", "adahedge", "squint"):
        w = make(name, 2)
        for turn in range(6):
            w.play(rng.integers(0, 2, (25, w.experts)) * np.linspace(1.0, 0.1, w.experts))
            w.add(1 + turn % 2)
            bound = w.bound()
            assert bound is not None
            assert w.regret <= bound.value


# ---- one step --------------------------------------------------------------------------------------------------------


def test_the_weights_of_hedge_minimise_loss_plus_divergence_from_the_uniform() -> None:
    losses = np.random.default_rng(4).random((20, 4))
    w = make("hedge", 4, eta=0.7)
    w.play(losses)
    summed = losses.sum(axis=0)

    def objective(z: Floats) -> float:
        q = np.exp(z - z.max()) / np.exp(z - z.max()).sum()
        return float(q @ summed + (q * np.log(4 * q)).sum() / 0.7)

    found = minimize(objective, np.zeros(4), tol=1e-14)
    assert objective(np.log(w.current())) <= found.fun + 1e-12
    np.testing.assert_allclose(np.exp(found.x) / np.exp(found.x).sum(), w.current(), atol=1e-4)


def test_the_share_that_each_expert_gives_goes_to_the_others_in_equal_parts() -> None:
    w = make("fixed_share", 3, eta=1.0, alpha=0.3)
    w.play([[0.2, 0.9, 0.4]])
    v = np.exp([-0.2, -0.9, -0.4]) / np.exp([-0.2, -0.9, -0.4]).sum()
    np.testing.assert_allclose(w.current(), 0.7 * v + 0.15 * (1.0 - v))


def test_the_potential_of_squint_never_grows() -> None:
    """The sum over experts of the integral of (exp(eta R - eta^2 V) - 1) / eta: at most 0 after any losses."""

    def potential(w: ExpertWeights) -> float:
        pairs = zip(w.state.regrets, w.state.squares, strict=True)
        return sum(
            quad(lambda eta, r=r, v=v: math.expm1(eta * r - eta**2 * v) / eta if eta else r, 0.0, 0.5, limit=200)[0]
            for r, v in pairs
        )

    w, last = make("squint", 3), 0.0
    for t in range(25):
        w.play(np.random.default_rng(t).integers(0, 2, (1, 3)).astype(float))
        assert potential(w) <= last + 1e-9
        last = potential(w)


def test_the_bound_of_squint_follows_from_its_potential() -> None:
    """Potentials that sum to at most 0 keep each at most (N - 1) (1/2 + ln(T + 1)); the bound stands for more."""
    grid = np.exp(np.linspace(math.log(1e-13), math.log(0.5), 20001))
    for experts in (2, 10, 1000):
        for rounds in (1, 10, 1000, 10**6):
            for V in {0.0, 0.01, 1.0, rounds / 100.0, float(rounds)}:
                if rounds < V:
                    continue
                R = squint_regret(None, experts, rounds, V)
                value = np.trapezoid(np.expm1(np.minimum(grid * R - grid**2 * V, 600.0)), np.log(grid))
                assert value >= (experts - 1) * (0.5 + math.log(rounds + 1.0))


@pytest.mark.parametrize("V", [0.0, 1e-20, 1e-3, 0.99, 1.0, 5.0, 400.0, 1e5])
@pytest.mark.parametrize("share", [-1.0, -0.3, -1e-9, 0.0, 0.2, 0.9, 1.0])
def test_the_evidence_of_squint_is_its_integral(V: float, share: float) -> None:
    R = share * (math.sqrt(1e6 * V) if V < 1.0 else V)
    top = max(0.0, R / 2 - V / 4, R * R / (4 * V) if V > 0.0 and 0.0 < R < V else 0.0)
    peak = min(max(R / (2 * V), 0.0), 0.5) if V else 0.0
    width = 1.0 / math.sqrt(2.0 * V + 1.0)
    points = sorted(
        {min(max(peak + k * width, 0.0), 0.5) for k in (-8, -3, -1, 0, 1, 3, 8)}
        | {min(0.5, k / (abs(R) + 1.0)) for k in (1, 5, 30)}
    )
    value = quad(lambda eta: math.exp(eta * R - eta**2 * V - top), 0.0, 0.5, points=points, limit=500, epsabs=0.0)[0]
    assert log_evidence(R, V) == pytest.approx(math.log(value) + top, rel=1e-9, abs=1e-9)


def test_the_scaled_error_function_is_smooth_where_the_series_takes_over() -> None:
    assert scaled_erfc(25.0) == pytest.approx(scaled_erfc(25.0 - 1e-9), rel=1e-9)
    assert scaled_erfc(1e8) == pytest.approx(1.0 / (1e8 * math.sqrt(math.pi)), rel=1e-14)


# ---- numbers at their limits -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_losses_at_the_extremes_and_extreme_rates_keep_a_distribution(name: str) -> None:
    params = list_algorithms()[name].algorithm_params
    extremes = [
        {},
        *({"eta": eta} for eta in (1e-12, 1e6) if "eta" in params),
        *({"beta": b} for b in (0.0, 1e-300) if "beta" in params),
    ]
    for given in extremes:
        w = make(name, 3, **given)
        for losses in (
            np.zeros((30, 3)),
            np.ones((30, 3)),
            np.tile([0.0, 1.0, 1.0], (200, 1)),
            np.tile([1.0, 0.0, 1.0], (300, 1)),
        ):
            played = w.play(losses)
            np.testing.assert_allclose(played.sum(axis=1), 1.0, atol=1e-9)
            assert (played >= 0.0).all()


@only_in_test_all
@pytest.mark.compiles
@pytest.mark.parametrize("name", NAMES)
def test_a_million_rounds_neither_underflow_nor_drift(name: str) -> None:
    w = ExpertWeights(name, 4)
    losses = np.tile([[1.0, 0.0, 0.5, 1.0], [0.0, 1.0, 0.5, 1.0]], (500_000, 1))
    losses[500_000:, 2] = 0.0
    last = w.play(losses)[-1]
    assert last.sum() == pytest.approx(1.0)
    assert w.rounds == 10**6
    bound = w.bound()
    if bound is not None and bound.measure == "regret" and name != "fixed_share":
        assert w.regret <= bound.value
    if name not in ("follow_the_perturbed_leader", "exp3_experts"):
        assert last[2] > 0.9


@pytest.mark.parametrize("name", ["hedge", "squint"] if not ALL else NAMES)
def test_ten_thousand_experts_keep_a_distribution(name: str) -> None:
    w = make(name, 10_000)
    played = w.play(np.random.default_rng(0).random((2, 10_000)))
    np.testing.assert_allclose(played.sum(axis=1), 1.0, atol=1e-9)
