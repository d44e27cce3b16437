"""The best sequence of learners is that of all sequences, tried one by one."""

from itertools import combinations, product

import numpy as np
import pytest

from noregret.metrics.tracking import BLOCKS, best_sequences
from tests.support.cover import seeds


def naive(losses: np.ndarray, switches: int) -> float:
    learners, rounds = losses.shape
    best = np.inf
    for cuts in combinations(range(1, rounds), switches):
        edges = [0, *cuts, rounds]
        for who in product(range(learners), repeat=switches + 1):
            best = min(best, sum(losses[one, a:b].sum() for one, a, b in zip(who, edges, edges[1:], strict=False)))
    return best


@seeds(20, usual=4)
def test_no_sequence_is_better(seed: int) -> None:
    losses = np.random.default_rng(seed).integers(0, 3, size=(3, 8)).astype(float)
    for switches, found in enumerate(best_sequences(losses, 3)):
        assert found.loss == min(naive(losses, some) for some in range(switches + 1))
        assert found.switches <= switches
        edges = [start for start, _ in found.parts] + [losses.shape[1]]
        parts = zip(found.parts, edges[1:], strict=True)
        assert sum(losses[one, start:stop].sum() for (start, one), stop in parts) == found.loss


def test_a_switch_is_found_where_the_better_learner_changes() -> None:
    losses = np.zeros((2, 10_000))
    losses[0, 5000:] = losses[1, :5000] = 1.0
    none, one, two = best_sequences(losses, 2)
    assert none.loss == 5000.0
    assert one.parts[0] == (0, 0)
    assert one.parts[1][1] == 1
    assert abs(one.parts[1][0] - 5000) <= 10_000 / BLOCKS + 1
    assert two == one


def change_at(rounds: int, change: int) -> np.ndarray:
    """The first learner is without loss before a round, the second from it on."""
    later = np.arange(rounds) >= change
    return np.array([later, ~later], float)


@pytest.mark.parametrize("change", range(1, 8))
def test_any_round_can_be_that_of_a_switch(change: int) -> None:
    _, one = best_sequences(change_at(8, change), 1)
    assert (one.loss, one.parts, one.switches) == (0.0, ((0, 0), (change, 1)), 1)


def test_of_many_rounds_only_blocks_can_be_switched() -> None:
    starts = {700 * k // BLOCKS for k in range(BLOCKS)}
    for change in range(3, 700, 41):
        assert (best_sequences(change_at(700, change), 1)[1].loss == 0.0) == (change in starts)


def test_of_rounds_that_are_as_good_the_first_is_that_of_the_switch() -> None:
    losses = np.array([[0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0]])
    assert best_sequences(losses, 1)[1].parts == ((0, 0), (1, 1))


@pytest.mark.parametrize("shape", [(0, 5), (3, 0)])
def test_nothing_has_no_sequence(shape: tuple[int, int]) -> None:
    assert best_sequences(np.zeros(shape), 2) == []
