"""The terms of the universal portfolio of two stocks, one step at a time: numbers are a 2^(512 e), e a whole number."""

from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from noregret.experts.portfolio.universal import (
    add_term,
    begin_at_mean,
    find_problem,
    learn_exactly,
    shift_scaled_terms,
    term_shape,
)

HUGE = Fraction(2) ** 512


def state(terms: list[float], powers: list[float], rounds: int = 0, deep: float = 1.0) -> Any:
    n = SimpleNamespace(t=float(rounds), deep=deep)
    return SimpleNamespace(n=n, b=np.zeros(2), terms=np.array(terms), powers=np.array(powers), points=np.zeros((0, 2)))


@pytest.mark.parametrize(("before", "own", "up", "stay", "expected"), [
    ((2.0, 3.0), (8.0, 3.0), 0.5, 4.0, (33.0, 3.0)),  # of one power
    ((2.0, 3.0), (1.0, 3.0), 0.5, 1.0, (2.0, 3.0)),
    ((2.0, -4.0), (8.0, 3.0), 0.5, 0.0, (1.0, -4.0)),  # nothing stays
    ((2.0, 7.0), (8.0, 3.0), 0.0, 4.0, (32.0, 3.0)),  # nothing comes up
    ((2.0, -3.0), (8.0, -5.0), 0.5, 4.0, (1.0, -3.0)),  # two powers more
    ((2.0, 1.0), (8.0, 3.0), 0.5, 4.0, (32.0, 3.0)),  # two powers less
    ((2.0**-249, 4.0), (2.0**250, 3.0), 0.5, 2.0, (2.0**-250 + 2.0**-261, 4.0)),  # one power more
    ((2.0**250, 2.0), (2.0**-249, 3.0), 2.0, 0.5, (2.0**-250 + 2.0**-261, 3.0)),  # one power less
    ((2.0, 3.0), (2.0**-256, 3.0), 0.0, 1.0, (2.0**-256, 3.0)),  # up to where numbers are scaled, and beyond
    ((2.0, 3.0), (2.0**-256, 3.0), 0.0, 0.5, (2.0**255, 2.0)),
    ((2.0, 3.0), (2.0**256, 3.0), 0.0, 1.0, (2.0**256, 3.0)),
    ((2.0, 3.0), (2.0**256, 3.0), 0.0, 2.0, (2.0**-255, 4.0)),
    ((2.0, 3.0), (0.0, 3.0), 0.0, 1.0, (0.0, 3.0)),
])  # fmt: skip
def test_a_term_is_a_sum_of_numbers_of_any_power(
    before: tuple[float, float], own: tuple[float, float], up: float, stay: float, expected: tuple[float, float]
) -> None:
    for k in (1, 2):
        s = state([7.0, 7.0, 7.0], [9.0, 9.0, 9.0])
        (s.terms[k - 1], s.powers[k - 1]), (s.terms[k], s.powers[k]) = before, own
        add_term(s, k, up, stay)
        assert (s.terms[k], s.powers[k]) == expected


def test_the_first_term_has_none_before_it() -> None:
    s = state([3.0, 5.0], [1.0, 1.0])
    add_term(s, 0, 2.0, 4.0)
    assert (s.terms.tolist(), s.powers.tolist()) == ([12.0, 5.0], [1.0, 1.0])


@pytest.mark.parametrize(("powers", "counted"), [
    ([0.0, 0.0], [0, 1, 2]), ([1.0, 1.0], [0, 1, 2]), ([-1.0, -1.0], [0, 1, 2]), ([-2.0, -2.0], []),
    ([-1.0, 1.0], [0, 1, 2]), ([2.0, 2.0], []),
])  # fmt: skip
def test_sums_count_terms_by_their_powers(powers: list[float], counted: list[int]) -> None:
    """Those that are much smaller or larger than 1 are kept, but not counted."""
    s = state([3.0, 5.0, 0.0], [*powers, powers[-1]])
    top, bottom = shift_scaled_terms(s, 2, 0.25, 0.5)
    assert s.powers.tolist() in ([powers[0], powers[1], powers[1]], [powers[0], powers[-1], powers[-1]])
    exact = [Fraction(value) * HUGE ** int(power) for value, power in zip(s.terms, s.powers, strict=True)]
    assert bottom == pytest.approx(float(sum((exact[k] for k in counted), Fraction(0))), rel=1e-15, abs=0.0)
    assert top == pytest.approx(float(sum((exact[k] * (k + 1) for k in counted), Fraction(0))), rel=1e-15, abs=0.0)
    assert (bottom > 0.0) == bool(counted)


def test_the_new_term_has_the_power_of_the_one_before_it_whatever_was_in_its_place() -> None:
    """Also where the first stock has lost all its value, so that nothing comes up."""
    s = state([4.0, 2.0, 1.0, 9.0, 9.0], [0.0, -1.0, -3.0, 5.0, -9.0], rounds=2)
    learn_exactly(s, np.array([0.0, 1.0]), 1.0)
    assert (s.terms[3], s.powers[3]) == (0.0, -3.0)
    assert s.terms[4] == 9.0


SMALL = 2.0**-256


@pytest.mark.parametrize(("terms", "x", "deep"), [
    ([SMALL], (4.0, 1.0), 0.0), ([SMALL], (1.0, 4.0), 0.0), ([SMALL], (4.0, 0.99), 1.0), ([SMALL], (0.99, 4.0), 1.0),
    ([1.0, 4.0], (1.0, SMALL / 4.0), 1.0), ([4.0, 1.0], (SMALL / 4.0, 1.0), 1.0), ([1.0, 1.0], (1.0, 1.0), 0.0),
])  # fmt: skip
def test_terms_are_scaled_once_the_first_or_the_last_is_below_the_limit(
    terms: list[float], x: tuple[float, float], deep: float
) -> None:
    s = state([*terms, 0.0], [0.0] * (len(terms) + 1), rounds=len(terms) - 1, deep=0.0)
    learn_exactly(s, np.array(x), 1.0)
    assert s.n.deep == deep


def test_the_mean_of_given_points_sums_to_1() -> None:
    s = state([0.0], [0.0])
    begin_at_mean(s)
    assert s.terms.tolist() == [1.0]
    s.points = np.array([[0.5 + 4e-10, 0.5], [0.25, 0.75]])
    begin_at_mean(s)
    assert s.b.sum() == pytest.approx(1.0, abs=2e-16)


def test_there_is_a_term_for_each_day_and_one_more() -> None:
    params: dict[str, Any] = {"prior": "uniform", "points": 0, "samples": 9}
    assert term_shape(2, 5, params) == (6,)
    assert term_shape(3, 5, params) == (0,)


def test_what_a_file_holds_are_portfolios_with_some_wealth() -> None:
    def wrong(points: Any = ((0.5, 0.5),), wealths: Any = (1.0,), terms: Any = ()) -> str | None:
        given = {"points": points, "wealths": wealths, "terms": terms, "powers": (0.0,)}
        return find_problem(SimpleNamespace(**{name: np.array(value) for name, value in given.items()}))

    assert wrong() is wrong(points=((1.0, 0.0),)) is wrong(wealths=(0.0,)) is wrong(terms=(0.0, 0.5)) is None
    assert wrong(points=((0.5, 0.5), (-0.5, 1.5))) == "points must be portfolios"
    assert wrong(terms=(-0.5, 1.0)) == wrong(terms=(0.0, 0.0)) == "the wealth of portfolios must not be negative"
