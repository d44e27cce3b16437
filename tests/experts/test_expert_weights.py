"""The weights of experts: every algorithm equals its naive twin; rounds, sleep, arrivals, files and merging."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import noregret as nr
from noregret.algebra.partial_features import first_random
from noregret.experts.card import list_algorithms
from noregret.experts.expert_weights import ExpertWeights
from tests.naive import experts as naive
from tests.support.cover import ALL

Floats = NDArray[np.float64]
ALGORITHMS = list_algorithms()
NAMES = sorted(ALGORITHMS)
SLEEPERS = [name for name in NAMES if ALGORITHMS[name].why_awake is None]


def make(name: str, experts: int, **params: Any) -> ExpertWeights:
    return ExpertWeights(name, experts, native=False, **params)


def draw(rounds: int, experts: int, seed: int = 0, zero_one: bool = False) -> Floats:
    losses = np.random.default_rng(seed).random((rounds, experts)) * np.linspace(1.0, 0.6, experts)
    return np.round(losses) if zero_one else losses


@pytest.mark.parametrize("name", NAMES)
def test_the_losses_of_the_caller_stay_as_they_are(name: str) -> None:
    losses = draw(20, 4)
    losses.setflags(write=False)
    before = losses.copy()
    make(name, 4).play(losses)
    if name in SLEEPERS:
        make(name, 4).play(losses, np.arange(80).reshape(20, 4) % 3 > 0)
    np.testing.assert_array_equal(losses, before)


# ---- twins ---------------------------------------------------------------------------------------------------------

CASES: list[tuple[str, dict[str, Any]]] = [
    ("hedge", {}),
    ("hedge", {"eta": 0.3}),
    ("weighted_majority", {}),
    ("weighted_majority", {"beta": 0.0}),
    ("weighted_majority_randomised", {"beta": 0.9}),
    ("fixed_share", {}),
    ("fixed_share", {"eta": 2.0, "alpha": 0.3}),
    ("follow_the_leader", {}),
    ("follow_the_perturbed_leader", {}),
    ("follow_the_perturbed_leader", {"eta": 0.2}),
    ("adahedge", {}),
    ("squint", {}),
    ("exp3_experts", {}),
    ("exp3_experts", {"eta": 0.5, "gamma": 0.1, "rate": "inv_sqrt"}),
]


def play_naively(name: str, losses: Floats, params: dict[str, Any]) -> Floats:
    name = name.removesuffix("_randomised")
    first = {"first": int(first_random(0))} if name in ("follow_the_perturbed_leader", "exp3_experts") else {}
    return np.asarray(getattr(naive, name)(losses, **first, **params))


@pytest.mark.parametrize(("name", "params"), CASES)
@pytest.mark.parametrize("experts", [1, 2, 5])
def test_every_algorithm_equals_its_naive_twin(name: str, params: dict[str, Any], experts: int) -> None:
    for seed in range(5 if ALL else 1):
        losses = draw(60, experts, seed, zero_one="majority" in name)
        played = make(name, experts, **params).play(losses)
        np.testing.assert_allclose(played, play_naively(name, losses, params), rtol=1e-9, atol=1e-12)


@pytest.mark.compiles
@pytest.mark.parametrize("name", NAMES if ALL else ["hedge", "fixed_share"])
def test_compiled_rounds_are_the_interpreted_ones(name: str) -> None:
    losses = draw(200, 4)
    asleep = np.random.default_rng(1).random(losses.shape) < 0.3
    asleep[:, 0] = False
    plain, fast = make(name, 4), ExpertWeights(name, 4)
    for mask in (None, ~asleep) if name in SLEEPERS else (None,):
        assert np.array_equal(plain.play(losses, mask), fast.play(losses, mask))
    assert np.array_equal(plain.current(), fast.current())
    assert all(
        np.array_equal(one, other) for one, other in zip(plain.dump()[1].values(), fast.dump()[1].values(), strict=True)
    )


def test_hedge_halves_the_weight_of_a_loss_with_the_rate_ln_2() -> None:
    w = make("hedge", 2, eta=math.log(2))
    played = [w.play([row])[0].tolist() for row in ([0, 1], [0, 1], [1, 0])]
    np.testing.assert_allclose([*played[1:], w.current()], [[2 / 3, 1 / 3], [0.8, 0.2], [2 / 3, 1 / 3]])


def test_the_rate_of_hedge_may_be_anytime() -> None:
    assert make("hedge", 3, eta="anytime").params == make("hedge", 3).params == {"eta": 0.0}


# ---- rounds --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_every_round_is_played_with_a_distribution_that_was_known_before(name: str) -> None:
    w, losses = make(name, 3), draw(30, 3)
    for row in losses:
        before = w.current()
        played = w.play(row[None])
        assert np.array_equal(played[0], before)
        assert played.min() >= 0.0
        assert played.sum() == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_a_batch_is_the_same_as_a_loop_of_single_rounds(name: str) -> None:
    losses = draw(50, 3)
    whole, parts = make(name, 3, seed=5), make(name, 3, seed=5)
    played = whole.play(losses)
    split = [parts.play(losses[a:b]) for a, b in ((0, 1), (1, 8), (8, 8), (8, 50))]
    assert np.array_equal(played, np.concatenate(split))
    assert whole.loss == parts.loss
    assert np.array_equal(whole.current(), parts.current())


def test_the_loss_and_the_regret_are_those_of_the_weights_played() -> None:
    w, losses = make("hedge", 4), draw(100, 4)
    played = w.play(losses)
    assert w.rounds == 100
    assert w.loss == pytest.approx(float((played * losses).sum()))
    np.testing.assert_allclose(w.cumulative_losses, losses.sum(axis=0))
    assert w.losses_of_best == w.cumulative_losses.min()
    assert w.regret == pytest.approx(w.loss - w.losses_of_best)
    assert w.lost_votes == int(((played * losses).sum(axis=1) >= 0.5).sum())


@pytest.mark.parametrize(
    ("losses", "said"),
    [
        ([[0.1, 0.2], [0.3, math.nan]], "round 1, expert 1: the loss must be in \\[0, 1\\], not nan"),
        ([[0.1, 1.5]], "round 0, expert 1: the loss must be in \\[0, 1\\], not 1.5"),
        ([[-0.1, 0.5]], "round 0, expert 0"),
        ([[0.1, math.inf]], "round 0, expert 1"),
        ([[0.1, 0.2, 0.3]], "a column for each of 2 experts"),
        ([["a", "b"]], "matrix of numbers"),
        ([[0.1, 0.2], [0.3]], "matrix of numbers"),
    ],
)
def test_bad_losses_are_refused_and_change_nothing(losses: Any, said: str) -> None:
    w = make("hedge", 2)
    w.play([[0.2, 0.4]])
    before = w.current()
    with pytest.raises(nr.BadValue, match=said):
        w.play(losses)
    assert np.array_equal(w.current(), before)
    assert w.rounds == 1


def test_parameters_are_checked() -> None:
    with pytest.raises(nr.BadValue, match="did you mean 'hedge'"):
        make("hegde", 2)
    with pytest.raises(nr.BadValue, match="no parameter 'beta'"):
        make("hedge", 2, beta=0.5)
    with pytest.raises(nr.BadValue, match="eta must be at least 0"):
        make("hedge", 2, eta=-1)
    with pytest.raises(nr.BadValue, match="experts must be a whole number of at least 1"):
        make("hedge", 0)


# ---- sleep and arrivals --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SLEEPERS)
def test_experts_that_sleep_have_no_weight_and_nothing_of_their_losses_is_seen(name: str) -> None:
    losses, asleep = draw(40, 4), np.random.default_rng(2).random((40, 4)) < 0.4
    asleep[:, 1] = False
    w, other = make(name, 4), make(name, 4)
    played = w.play(losses, ~asleep)
    assert np.array_equal(played, other.play(np.where(asleep, math.nan, losses), ~asleep))
    assert (played[asleep] == 0.0).all()
    np.testing.assert_allclose(played.sum(axis=1), 1.0)
    own = (played * losses).sum(axis=1)
    np.testing.assert_allclose(w.cumulative_losses, np.where(asleep, 0.0, losses).sum(axis=0))
    np.testing.assert_allclose(w.regrets, np.where(asleep, 0.0, own[:, None] - losses).sum(axis=0), atol=1e-9)


@pytest.mark.parametrize(("name", "eta"), [("hedge", 0.7), ("hedge", 400.0), ("weighted_majority", 0.0)])
def test_an_expert_that_sleeps_keeps_its_share_of_all_weights(name: str, eta: float) -> None:
    w = make(name, 3, **({"eta": eta} if eta else {}))
    w.play(draw(10, 3))
    before = w.current()
    w.play([[0.9, 0.0, 0.2]], [[True, False, True]])
    assert w.current()[1] == pytest.approx(before[1], rel=1e-9, abs=1e-300)


@pytest.mark.parametrize("eta", [0.1, 5.0])
def test_fixed_share_changes_the_weight_of_one_that_sleeps_only_by_sharing(eta: float) -> None:
    w = make("fixed_share", 3, eta=eta, alpha=0.2)
    w.play(draw(10, 3))
    before = w.current()[1]
    w.play([[0.9, 0.0, 0.2]], [[True, False, True]])
    assert w.current()[1] == pytest.approx(0.8 * before + 0.1 * (1.0 - before))


@pytest.mark.parametrize("name", [name for name in NAMES if name not in SLEEPERS])
def test_algorithms_without_weights_refuse_sleep_and_arrivals(name: str) -> None:
    with pytest.raises(nr.BadValue, match="does not support experts that sleep"):
        make(name, 2).play([[0.1, 0.2]], [[True, False]])
    with pytest.raises(nr.BadValue, match="cannot take new experts"):
        make(name, 2).add(1)


def test_a_round_in_which_all_sleep_is_refused() -> None:
    with pytest.raises(nr.BadValue, match="round 1: all experts sleep"):
        make("hedge", 2).play([[0.1, 0.2]] * 2, [[True, True], [False, False]])
    with pytest.raises(nr.BadValue, match="boolean matrix"):
        make("hedge", 2).play([[0.1, 0.2]], [[1, 0]])


@pytest.mark.parametrize("name", ["hedge", "weighted_majority", "fixed_share", "adahedge"])
def test_new_experts_start_with_the_mean_weight(name: str) -> None:
    w = make(name, 3)
    w.play(draw(20, 3))
    before = w.current()
    w.add(2)
    after = w.current()
    np.testing.assert_allclose(after[3:], 1 / 5, rtol=1e-9)
    if name not in ("hedge", "adahedge"):  # whose rates follow the number of experts
        np.testing.assert_allclose(after[:3], before * 3 / 5, rtol=1e-9)
    w.play(draw(5, 5))
    assert (w.bound() is None) == (name == "weighted_majority")  # its theorem is about all rounds
    assert w.cumulative_losses[3:].max() <= 5.0


@pytest.mark.parametrize(("name", "params"), [("hedge", {"eta": 0.5}), ("squint", {})])
def test_an_expert_that_arrives_is_one_that_slept_so_far(name: str, params: dict[str, Any]) -> None:
    losses = draw(40, 4)
    awake = np.ones((40, 4), bool)
    awake[:15, 3] = False
    slept, arrived = make(name, 4, **params), make(name, 3, **params)
    all_rounds = slept.play(losses, awake)
    arrived.play(losses[:15, :3])
    arrived.add(1)
    np.testing.assert_allclose(arrived.play(losses[15:]), all_rounds[15:], rtol=1e-9)
    np.testing.assert_allclose(arrived.regrets, slept.regrets, atol=1e-9)


def test_an_expert_that_sleeps_does_not_hide_the_others_however_far_ahead_it_is() -> None:
    w = make("hedge", 3, eta=50.0)
    w.play(np.tile([0.0, 1.0, 1.0], (40, 1)))
    np.testing.assert_allclose(w.current([False, True, True]), [0.0, 0.5, 0.5])


def test_with_halving_a_new_expert_starts_beside_the_leaders() -> None:
    w = make("weighted_majority", 3, beta=0.0)
    w.play([[0.0, 0.0, 1.0]])
    w.add(1)
    np.testing.assert_allclose(w.current(), [1 / 3, 1 / 3, 0.0, 1 / 3])


# ---- copies, files, merging ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_weights_restored_from_a_file_go_on_as_if_never_stopped(name: str) -> None:
    losses = draw(40, 3)
    w = make(name, 3, seed=3)
    w.play(losses[:20])
    copy, again = w.copy(), ExpertWeights.restore(*w.dump(), native=False)
    played = w.play(losses[20:])
    assert np.array_equal(copy.play(losses[20:]), played)
    assert np.array_equal(again.play(losses[20:]), played)
    assert again.bound() == w.bound()


@pytest.mark.parametrize("name", NAMES)
def test_a_damaged_file_is_refused(name: str) -> None:
    w = make(name, 3)
    w.play(draw(20, 3))
    header, arrays = w.dump()
    for entry, value in (("algorithm", "nobody"), ("algorithm", 3), ("experts", 4), ("params", {"x": 1}), ("seed", -1)):
        with pytest.raises(nr.BadValue, match="corrupt model file"):
            ExpertWeights.restore({**header, entry: value}, arrays)
    for array, saved in arrays.items():
        wrong = 1e9 if array in ("scores", "steps") else -1e9
        for bad in (saved[:-1], saved.astype(np.float32), np.full_like(saved, math.nan), np.full_like(saved, wrong)):
            with pytest.raises(nr.BadValue, match="corrupt model file"):
                ExpertWeights.restore(header, {**arrays, array: bad})


def test_shares_of_a_file_are_above_0_and_sum_to_1() -> None:
    w = make("fixed_share", 3)
    assert w.state.share.sum() == pytest.approx(1.0)
    w.add(2)
    assert w.state.share.tolist() == pytest.approx([0.2] * 5)
    header, arrays = w.dump()
    for shares in ([0.5, 0.5, 0.0, 0.0, 0.0], [0.1] * 5, [0.4] * 5, [0.3, 0.3, 0.3, 0.3, -0.2]):
        with pytest.raises(nr.BadValue, match="the shares must be above 0 and sum to 1"):
            ExpertWeights.restore(header, {**arrays, "share": np.array(shares)})


@pytest.mark.parametrize("name", [name for name in NAMES if ALGORITHMS[name].merge.law == "exact"])
def test_merged_weights_are_those_of_all_rounds_together(name: str) -> None:
    losses = draw(60, 3)
    parts = [make(name, 3), make(name, 3), make(name, 3)]
    for part, rows in zip(parts, np.split(losses, 3), strict=True):
        part.play(rows)
    whole = make(name, 3)
    whole.play(losses)
    merged = parts[0].merge(parts[1]).merge(parts[2])
    np.testing.assert_allclose(merged.current(), whole.current(), rtol=1e-9)
    np.testing.assert_allclose(merged.cumulative_losses, whole.cumulative_losses)
    assert merged.rounds == 60
    assert merged.loss == pytest.approx(sum(part.loss for part in parts))


def test_what_cannot_be_merged_says_why() -> None:
    with pytest.raises(nr.BadValue, match="fixed_share cannot be merged: the state depends on the order"):
        make("fixed_share", 2).merge(make("fixed_share", 2))
    with pytest.raises(nr.BadValue, match="must be the same"):
        make("hedge", 2).merge(make("hedge", 3))
    with pytest.raises(nr.BadValue, match="must be the same"):
        make("hedge", 2).merge(make("hedge", 2, eta=1.0))
    late = make("hedge", 2)
    late.play([[0.1, 0.2]])
    late.add(1)
    with pytest.raises(nr.BadValue, match="slept or arrived later"):
        make("hedge", 3).merge(late)


# ---- bounds on any losses --------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=200 if ALL else 30)
@given(data=st.data())
def test_no_regret_exceeds_its_bound(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(["hedge", "fixed_share", "adahedge", "squint"]))
    experts, rounds = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 30))
    cells = st.one_of(st.sampled_from([0.0, 1.0]), st.floats(0.0, 1.0))
    losses = np.array(data.draw(st.lists(cells, min_size=rounds * experts, max_size=rounds * experts)))
    eta = {"eta": data.draw(st.sampled_from([0.01, 0.5, 3.0, 50.0]))} if name == "hedge" and rounds % 2 else {}
    w = make(name, experts, **eta)
    asleep = np.array(data.draw(st.lists(st.booleans(), min_size=rounds * experts, max_size=rounds * experts)))
    awake = ~asleep.reshape(rounds, experts)
    awake[:, 0] = True
    w.play(losses.reshape(rounds, experts), awake if data.draw(st.booleans()) else None)
    bound = w.bound()
    assert bound is not None
    assert bound.measure == "regret"
    assert w.regret <= bound.value + 1e-9


@pytest.mark.parametrize(
    ("regrets", "squares", "sound"),
    [
        ([2.0, 0.0], [4.0, 0.0], True),
        ([-2.0, 0.0], [1.0, 0.0], True),
        ([4.0, 0.0], [4.0, 0.0], True),
        ([2.1, 0.0], [1.0, 0.0], False),
        ([0.0, 0.0], [4.5, 0.0], False),
        ([0.0, 0.0], [0.0, -0.5], False),
        ([0.0, 0.5], [4.0, 0.0], False),
    ],
)
def test_squares_of_a_file_are_within_the_rounds_and_regrets_within_them(
    regrets: list[float], squares: list[float], sound: bool
) -> None:
    w = make("squint", 2)
    w.play(np.full((4, 2), 0.5))
    header, arrays = w.dump()
    changed = {**arrays, "regrets": np.array(regrets), "squares": np.array(squares)}
    if sound:
        assert ExpertWeights.restore(header, changed).rounds == 4
    else:
        with pytest.raises(nr.BadValue, match="the squares must be at most the rounds"):
            ExpertWeights.restore(header, changed)
