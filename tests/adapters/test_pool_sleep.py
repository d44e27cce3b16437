"""Who sleeps in a pool, and for how long."""

from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.adapters.pool_sleep import BLOCK, LONGEST, NEGLIGIBLE, Sleep, cut_blocks

ALL = (True, True, True)
LIMIT = NEGLIGIBLE / 3


def test_all_are_awake_at_first() -> None:
    assert Sleep.none(3).awake(0).tolist() == [True] * 3


def test_an_entry_sleeps_for_twice_as_many_blocks_every_time() -> None:
    """Up to 2^6 of them; a block in which its weight counts makes it start again."""
    sleep, rounds = Sleep.none(3), BLOCK
    for time in range(LONGEST + 2):
        sleep = sleep.decide(np.array([0.9, 0.0, 0.1]), rounds, ALL)
        blocks = 2 ** min(time, LONGEST)
        assert sleep.until == (0, rounds + blocks * BLOCK, 0)
        assert sleep.times == (0, min(time + 1, LONGEST), 0)
        assert sleep.awake(rounds + blocks * BLOCK - 1).tolist() == [True, False, True]
        rounds += blocks * BLOCK
        assert sleep.awake(rounds).all()
    sleep = sleep.decide(np.array([0.9, 0.05, 0.05]), rounds, ALL)
    assert sleep.times == (0, 0, 0)
    assert sleep.awake(rounds).all()


def test_one_that_sleeps_or_may_not_sleep_is_left_as_it_is() -> None:
    sleep = Sleep((0, 5 * BLOCK, 0), (0, 2, 3))
    decided = sleep.decide(np.array([0.0, 0.0, 0.0]), 4 * BLOCK, (False, True, True))
    assert decided == Sleep((0, 5 * BLOCK, 12 * BLOCK), (0, 2, 4))
    assert sleep == Sleep((0, 5 * BLOCK, 0), (0, 2, 3))


def test_one_that_wakes_now_may_sleep_again() -> None:
    assert Sleep((BLOCK,) * 3, (1,) * 3).decide(np.zeros(3), BLOCK, ALL).until == (3 * BLOCK,) * 3


@pytest.mark.parametrize(("share", "sleeps"), [(LIMIT, False), (np.nextafter(LIMIT, 0.0), True)])
def test_a_hundredth_of_an_equal_share_is_not_negligible(share: float, sleeps: bool) -> None:
    assert (Sleep.none(3).decide(np.array([1.0, share, 0.5]), BLOCK, ALL).until[1] > 0) == sleeps


def test_a_saved_sleep_is_the_same() -> None:
    sleep = Sleep((0, 5 * BLOCK, 7), (0, LONGEST, 3))
    assert Sleep.restore(sleep.dump(), 3) == sleep


FORGED: list[Any] = [
    None,
    [],
    {"until": [0, 0, 0]},
    {"until": [0, 0], "times": [0, 0, 0]},
    {"until": [0, 0, 0], "times": [0, 0, 0, 0]},
    {"until": [0, 0, -1], "times": [0, 0, 0]},
    {"until": [0, 0, 1.0], "times": [0, 0, 0]},
    {"until": [0, 0, True], "times": [0, 0, 0]},
    {"until": (0, 0, 0), "times": [0, 0, 0]},
    {"until": [0, 0, 0], "times": [0, LONGEST + 1, 0]},
]


@pytest.mark.parametrize("header", FORGED)
def test_a_forged_sleep_is_refused(header: Any) -> None:
    with pytest.raises(nr.BadValue, match="until when it sleeps"):
        Sleep.restore(header, 3)


@pytest.mark.parametrize(
    ("before", "rounds", "sizes"),
    [
        (0, 10, [10]),
        (0, BLOCK, [BLOCK]),
        (0, BLOCK + 1, [BLOCK, 1]),
        (BLOCK, 5, [5]),
        (BLOCK - 1, BLOCK + 2, [1, BLOCK, 1]),
        (2 * BLOCK + 3, 2 * BLOCK, [BLOCK - 3, BLOCK, 3]),
    ],
)
def test_rounds_are_cut_where_decisions_are_due(before: int, rounds: int, sizes: list[int]) -> None:
    parts = cut_blocks(before, rounds)
    assert [part.stop - part.start for part in parts] == sizes
    assert [part.start for part in parts] == [0, *np.cumsum(sizes)[:-1].tolist()]
