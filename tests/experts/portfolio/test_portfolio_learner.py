"""Portfolio strategies as learners: they equal their twins, follow the protocol, and name the day at fault."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import expit

import noregret as nr
from noregret.experts.portfolio import days
from noregret.experts.portfolio.card import list_strategies
from tests.conformance.protocol import CHECKS, Case, check_save_and_go_on
from tests.experts.portfolio.streams import draw_relatives, make
from tests.naive import portfolio as naive
from tests.support.cover import ALL

NAMES = sorted(list_strategies())
X = draw_relatives(40, 3, seed=1)
POINTS = np.random.default_rng(0).dirichlet(np.ones(3), 7)
DICTS = [dict(zip(("IBM", "KO", "GM"), row, strict=True)) for row in X.tolist()]
NONE = [None] * len(X)
BAD = np.array([1.0, math.nan, 1.0])


def case(name: str, rows: Any = X, bad: Any = BAD, **options: Any) -> Case:
    return Case(lambda: make(name, **options), rows, NONE, bad, gains=True)


CASES = {
    **{name: case(name, **({"samples": 20} if name == "universal" else {})) for name in NAMES},
    "two stocks": case("universal", X[:, :2], BAD[:2]),
    "points": case("universal", points=POINTS, cost=0.01),
    "dicts": case("eg_portfolio", DICTS, {"IBM": 1.0, "KO": math.nan, "GM": 1.0}, cost=0.002),
    "a portfolio given": case("crp", DICTS, {"IBM": 1.0, "KO": 1.0, "GM": -1.0}, portfolio={"KO": 0.25, "GM": 0.75}),
    "named": case("pamr", names=["a", "b", "c"], variant=2),
    "compiled": Case(lambda: make("eg_portfolio", native=True), X, NONE, BAD, gains=True),
}


@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
@pytest.mark.thinned(6)
def test_strategies_follow_the_protocol(case: Case, check: Callable[[Case], None]) -> None:
    check(case)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_strategies_saved_and_loaded_go_on(case: Case, tmp_path: Path) -> None:
    check_save_and_go_on(case, tmp_path)


# ---- twins -----------------------------------------------------------------------------------------------------------

SETTINGS: list[tuple[str, dict[str, Any]]] = [
    ("buy_and_hold", {}),
    ("crp", {}),
    ("eg_portfolio", {}),
    ("eg_portfolio", {"eta": 2.0}),
    ("ons", {}),
    ("ons", {"beta": 0.5, "delta": 1.0, "eta": 0.1}),
    ("pamr", {}),
    ("pamr", {"eps": 1.0}),
    ("pamr", {"variant": 1, "C": 10.0}),
    ("pamr", {"variant": 2, "C": 10.0}),
    ("olmar", {}),
    ("olmar", {"window": 3, "eps": 1.01}),
    ("olmar", {"variant": 2}),
    ("olmar", {"variant": 2, "alpha": 0.9, "eps": 2.0}),
    ("olmar", {"first_days": "level"}),
    ("olmar", {"first_days": "level", "window": 3, "eps": 1.01}),
    ("olmar", {"first_days": "level", "variant": 2, "eps": 1.5}),
    ("universal", {"points": POINTS}),
]


@pytest.mark.parametrize(("name", "params"), SETTINGS, ids=[f"{name} {params}"[:40] for name, params in SETTINGS])
@pytest.mark.parametrize("seed", range(6 if ALL else 2))
def test_equals_its_twin(name: str, params: dict[str, Any], seed: int) -> None:
    relatives = draw_relatives(60, 3, seed, spread=0.02 + 0.1 * seed)
    cost = 0.01 * seed
    portfolios, factors = naive.play(name, relatives, cost, **params)
    learner = make(name, cost=cost, **params)
    told = learner.play(relatives)
    assert np.abs(told.predictions - portfolios).max() < 1e-9
    assert np.abs(told.losses + np.log(factors)).max() < 1e-9
    assert learner.wealth == pytest.approx(factors.prod(), rel=1e-9)
    assert learner.log_wealth == pytest.approx(-told.losses.sum(), rel=1e-12)


def test_the_universal_portfolio_of_two_stocks_is_the_exact_integral() -> None:
    for seed, spread in enumerate((0.02, 0.5)):
        relatives = draw_relatives(100, 2, seed, spread)
        portfolios, factors = naive.play("universal", relatives)
        learner = make("universal")
        assert np.abs(learner.play(relatives).predictions - portfolios).max() < 1e-10
        assert learner.wealth == pytest.approx(factors.prod(), rel=1e-10)


def test_portfolios_of_all_strategies_stay_on_the_simplex() -> None:
    relatives = draw_relatives(80, 5, seed=4, spread=0.5)
    for name in NAMES:
        told = make(name).play(relatives).predictions
        assert (told >= 0.0).all(), name
        assert np.abs(told.sum(axis=1) - 1.0).max() < 1e-12, name


@pytest.mark.compiles
def test_compiled_strategies_are_those_of_plain_python() -> None:
    """Bit for bit, also the loops that are chosen by the number of stocks and by options."""
    for stocks in (2, 3):
        relatives = draw_relatives(30, stocks, seed=7, spread=0.1)
        for name, params in SETTINGS:
            if stocks == 2 and "points" in params:
                params = {}
            one, other = (make(name, native=native, cost=0.01, **params) for native in (True, False))
            told, expected = one.play(relatives), other.play(relatives)
            assert told.predictions.tolist() == expected.predictions.tolist(), (name, params)
            assert told.losses.tolist() == expected.losses.tolist(), (name, params)


@pytest.mark.parametrize("name", NAMES)
def test_a_day_is_an_update_where_another_portfolio_follows(name: str) -> None:
    learner = make(name)
    told = learner.play(X)
    after = np.vstack([told.predictions[1:], list(learner.portfolio.values())])
    assert told.updated.tolist() == (told.predictions != after).any(axis=1).tolist()
    assert told.updated.any() == (name != "crp")
    assert learner.updates == np.count_nonzero(told.updated)


# ---- vectors ---------------------------------------------------------------------------------------------------------


def test_one_step_of_eg_and_pamr() -> None:
    x = [[1.1, 0.9]]
    assert make("eg_portfolio").learn(x).predict_one()[0] == pytest.approx(0.5025, abs=1e-6)
    assert make("pamr").learn(x).portfolio == {0: 0.0, 1: 1.0}
    assert make("pamr", variant=1, C=1.0).learn(x).portfolio == pytest.approx({0: 0.4, 1: 0.6})


@pytest.mark.parametrize("name", ["pamr", "olmar"])
def test_days_without_a_loss_and_days_on_which_all_stocks_move_alike_change_nothing(name: str) -> None:
    learner = make(name, eps=1.02).learn([[1.3, 1.1, 1.2]])
    before = learner.portfolio
    told = learner.play([[0.9, 0.9, 0.9], [1.1, 1.1, 1.1]]) if name == "pamr" else None
    if told is None:
        learner = make(name, window=2, eps=1.0)
        before, told = make(name, names=[0, 1, 2]).portfolio, learner.play([[1.1, 1.1, 1.1], [0.9, 0.8, 0.7]])
    assert not told.updated.any()
    assert learner.portfolio == before
    if name == "pamr":  # not even one that grew less than eps although its stocks differ
        assert learner.learn([[0.5, 0.6, 0.7]]).portfolio == before


def test_large_rates_do_not_overflow() -> None:
    relatives = draw_relatives(60, 2, spread=0.3)
    told = make("eg_portfolio", eta=5000.0).play(relatives)
    assert np.isfinite(told.predictions).all()
    sums = 5000.0 * np.cumsum(relatives / (told.predictions * relatives).sum(axis=1)[:, None], axis=0)
    assert told.predictions[1:, 0] == pytest.approx(expit(sums[:-1, 0] - sums[:-1, 1]), abs=1e-9)


def test_rebalancing_between_cash_and_a_flat_volatile_stock_grows() -> None:
    relatives = np.array([[1.0, 2.0], [1.0, 0.5]] * 10)
    assert make("crp").learn(relatives).wealth == pytest.approx(1.125**10)
    assert make("buy_and_hold").learn(relatives).wealth == pytest.approx(1.0)


def test_trading_costs_what_is_traded() -> None:
    relatives = np.array([[2.0, 1.0], [1.0, 1.0]])
    learner = make("crp", cost=0.1).learn(relatives)  # after the first day 2/3 and 1/3 are held: 1/3 is traded
    assert learner.turnover == pytest.approx(1.0 / 3.0)
    assert learner.wealth == pytest.approx(1.5 * (1.0 - 0.05 / 3.0))
    assert make("buy_and_hold", cost=0.1).learn(relatives).wealth == pytest.approx(1.5)


def test_a_portfolio_can_be_given() -> None:
    learner = make("crp", portfolio={"a": 0.25, "b": 0.75}).learn([{"a": 2.0, "b": 1.0}, {"a": 1.0, "b": 2.0}])
    assert learner.wealth == pytest.approx(1.25 * 1.75)
    assert learner.predict_one() == {"a": 0.25, "b": 0.75}
    assert make("buy_and_hold", portfolio=[1.0, 0.0]).learn([[1.5, 1.0]]).wealth == pytest.approx(1.5)
    assert make("buy_and_hold", portfolio=[1.0, 0.0]).learn([[1.5, 1.0]]).bound() is None


# ---- what is read ----------------------------------------------------------------------------------------------------


def test_rows_of_all_forms_are_the_same_days() -> None:
    pandas = pytest.importorskip("pandas")
    expected = make("eg_portfolio", names=["IBM", "KO", "GM"]).play(X).predictions
    frame = pandas.DataFrame(X, columns=["IBM", "KO", "GM"])
    turned = [dict(reversed(row.items())) for row in DICTS]
    for rows in (X.tolist(), DICTS, turned, frame, frame[["GM", "IBM", "KO"]]):
        assert np.array_equal(make("eg_portfolio", names=["IBM", "KO", "GM"]).play(rows).predictions, expected)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([[1.0, 1.1], [1.0, math.nan]], "day 2, stock 1: the price relative is missing; give a number"),
        ([[1.0, 1.1], [1.0, None]], "day 2, stock 1: the price relative is missing"),
        ([[1.0, 0.0]], "day 1, stock 1: a price relative must be positive and finite, not 0; for prices"),
        ([[1.0, math.inf]], "day 1, stock 1: a price relative must be positive and finite, not inf"),
        ([{"a": 1.0, "b": "x"}], "day 1, stock 'b': a price relative must be a number, not 'x'"),
        ([{"a": 1.0, "b": 1.0}, {"a": 1.0}], "day 2, stock 'b': the price relative is missing"),
        ([[1.0, 1.0], [1.0]], "row 1 has 1 values, the first has 2"),
        ([[], []], "there are no stocks"),
        ({"a": 1.0}, "not a single dict"),
    ],
)
def test_bad_days_are_refused_by_day_and_stock(rows: Any, said: str) -> None:
    learner = make("pamr")
    with pytest.raises(nr.BadValue, match=said):
        learner.learn(rows)
    assert learner.rounds == 0
    assert learner.state is None


def test_days_are_counted_from_the_first_one_learned() -> None:
    learner = make("pamr").learn(DICTS)
    with pytest.raises(nr.BadValue, match="day 41, stock 'KO': the price relative is missing"):
        learner.learn_one({"IBM": 1.0, "GM": 1.0})
    with pytest.raises(nr.BadValue, match="there is no stock 'X' among those learned"):
        learner.learn_one({"IBM": 1.0, "GM": 1.0, "KO": 1.0, "X": 1.0})
    with pytest.raises(nr.BadValue, match="there are 3 stocks, and 2 columns"):
        learner.learn([[1.0, 1.0]])
    with pytest.raises(nr.BadValue, match="takes price relatives, without labels"):
        learner.learn(DICTS, [1] * 40)
    assert learner.rounds == 40


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("pamr", {"variant": 3}, "variant must be at least 0 and at most 2"),
        ("pamr", {"variant": 0.5}, "variant must be a whole number"),
        ("pamr", {"cost": -0.1}, "cost must be a number at least 0 and below 1"),
        ("pamr", {"cost": 1}, "cost must be a number at least 0 and below 1"),
        ("pamr", {"names": ["a", "a"]}, "two stocks are named 'a'"),
        ("pamr", {"portfolio": [1.0]}, "has no parameter 'portfolio'"),
        ("crp", {"portfolio": [0.5, 0.6], "names": ["a", "b"]}, "portfolio must be shares that .* sum to 1"),
        ("crp", {"portfolio": {"x": 1.0}, "names": ["a", "b"]}, "portfolio: there is no stock 'x'"),
        ("universal", {"points": [[0.5, 0.4]]}, "points must be shares"),
        ("universal", {"points": [[0.5, 0.5]], "names": ["a", "b", "c"]}, "points are portfolios of 2 stocks"),
        ("olmar", {"window": 1}, "window must be at least 2"),
    ],
)
def test_bad_options_are_refused(name: str, options: dict[str, Any], said: str) -> None:
    with pytest.raises(nr.BadValue, match=said):
        make(name, **options)


def test_relatives_too_extreme_for_numbers_are_refused_and_change_nothing() -> None:
    learner = make("olmar").learn(X)
    before = learner.portfolio
    with pytest.raises(nr.BadValue, match="the portfolio is not finite"):
        learner.learn([[1e200, 1.0, 1.0]] * 3)
    assert learner.portfolio == before


def test_interpreted_days_compile_nothing_and_compiled_ones_only_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same strategy with the same options shares what was compiled; it is called with a fresh table each time."""
    compiled: list[Any] = []
    played: list[tuple[Any, ...]] = []

    def run(table: Any, *given: Any) -> None:
        played.append((table.tolist(), given))

    def compile_once(function: Any, names: Any, values: Any) -> Any:
        compiled.append(function)
        return run, 5

    monkeypatch.setattr(days, "compile_entry", compile_once)
    monkeypatch.setattr(days, "_compiled", {})
    relatives = draw_relatives(3, 2)
    assert make("eg_portfolio").play(relatives).losses.shape == (3,)
    assert not compiled
    card: Any = nr.learners()["eg_portfolio"]
    chosen = tuple((name, choice.default) for name, choice in card.choices.items())
    for values in ((1, 2), (3, 4)):
        days.run_days(card, chosen, True, values)
    assert len(compiled) == 1
    assert played == [([0] * 5, (1, 2)), ([0] * 5, (3, 4))]
