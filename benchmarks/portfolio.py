"""Portfolio strategies beside universal-portfolios: the same wealth, and how much faster it is computed."""

import gzip
import os
import warnings
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

import noregret as nr
from benchmarks.measure import Act, Prepare, Row, best, in_turn, installed

TITLE = "Portfolio strategies: all days of a market, compared with universal-portfolios"
NOTE = (
    "The market is NYSE(O), 5,651 days of 36 stocks (without NOREGRET_DATA: as many random days). CPU time; loops are "
    "compiled before the clock starts, which takes 0.1 to 0.8 s for each, once for a machine. That the wealth of both "
    "agrees to 1e-6 is checked, so the same is computed: universal over the same random portfolios, olmar with the "
    "first days as there (first_days=level), and ons of universal-portfolios with tolerances of 1e-12. With 10,000 "
    "portfolios both are bound by arithmetic. Of two stocks ours is the exact integral, and the peer an average over "
    "10,000 random portfolios. universal-portfolios 0.4 needs pandas below 3 (extra bench-portfolio)."
)
Floats = NDArray[np.float64]
FASTER, SAME = 10.0, 1e-6
SAMPLED = 0.05  # how far an average over 10,000 random portfolios may be from the integral


def market() -> Floats:
    """Price relatives of NYSE(O), or random ones of the same size."""
    path = Path(os.environ.get("NOREGRET_DATA", "")) / "olps" / "nyse_o.csv.gz"
    if not path.is_file():
        return np.exp(0.02 * np.random.default_rng(0).standard_normal((5651, 36)))
    with gzip.open(path, "rt") as lines:
        return np.loadtxt(lines, delimiter=",", skiprows=1)


def ours(name: str, relatives: Floats, options: dict[str, Any]) -> tuple[Prepare, Callable[[], float]]:
    """How to time a strategy, and its wealth."""
    if name == "bcrp":
        nr.best_constant_portfolio(relatives[:10])
        return (
            lambda: lambda: nr.best_constant_portfolio(relatives),
            lambda: nr.best_constant_portfolio(relatives).wealth,
        )
    nr.make(name, **options).learn(relatives[:3])

    def prepare() -> Act:
        learner = nr.make(name, **options)
        return lambda: learner.play(relatives)

    def wealth() -> float:
        learner: Any = nr.make(name, **options)
        return float(learner.learn(relatives).wealth)

    return prepare, wealth


def theirs(make: Callable[[], Any], relatives: Floats) -> tuple[Prepare, Callable[[], float]]:
    import pandas

    prices = pandas.DataFrame(np.vstack([np.ones(relatives.shape[1]), np.cumprod(relatives, axis=0)]))

    def run() -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return make().run(prices)

    return lambda: run, lambda: float(run().total_wealth)


def with_points(points: Floats) -> Any:
    """The universal portfolio of universal-portfolios, over given portfolios."""
    from universal import algos

    class Given(algos.UP):  # type: ignore[misc]
        def init_step(self, X: Any) -> None:
            self.W, self.S = np.asmatrix(points), np.asmatrix(np.ones(len(points))).T

    return Given()


Contest = tuple[str, dict[str, Any], Callable[[], Any], float | None]


def contests(stocks: int) -> list[Contest]:
    """Our strategy with its options, that of universal-portfolios, and the target."""
    from cvxopt import solvers
    from universal import algos

    solvers.options.update({"abstol": 1e-12, "reltol": 1e-12, "feastol": 1e-12})
    few, many = (np.random.default_rng(0).dirichlet(np.ones(stocks), count) for count in (2000, 10_000))
    return [
        ("buy_and_hold", {}, algos.BAH, FASTER),
        ("crp", {}, algos.CRP, FASTER),
        ("bcrp", {}, algos.BCRP, FASTER),
        ("eg_portfolio", {}, algos.EG, FASTER),
        ("ons", {}, algos.ONS, FASTER),
        *[
            ("pamr", {"variant": number}, lambda number=number: algos.PAMR(variant=number), FASTER)
            for number in range(3)
        ],
        ("olmar", {"first_days": "level"}, algos.OLMAR, FASTER),
        ("olmar", {"variant": 2, "first_days": "level"}, lambda: algos.OLMAR(ma_type="EMA"), FASTER),
        ("universal", {"points": few}, lambda: with_points(few), FASTER),
        ("universal", {"points": many}, lambda: with_points(many), None),
    ]


def run() -> list[Row]:
    if installed("universal-portfolios") is None or (installed("pandas") or "3").split(".")[0] >= "3":
        why = "universal-portfolios 0.4 with pandas below 3 is not installed"
        return [Row("all strategies", "-", why, None, "x", at_least=FASTER)]
    from universal import algos

    relatives = market()
    rows = [compare(contest, relatives, SAME) for contest in contests(relatives.shape[1])]
    return [*rows, compare(("universal", {}, algos.UP, FASTER), relatives[:, :2], SAMPLED)]


def compare(contest: Contest, relatives: Floats, tolerance: float) -> Row:
    """The row of a strategy; without a figure where the wealth is not the same."""
    name, options, make, target = contest
    (prepare, wealth), (peer_prepare, peer_wealth) = ours(name, relatives, options), theirs(make, relatives)
    difference = abs(wealth() / peer_wealth() - 1.0)
    repeats = 7 if name in ("buy_and_hold", "crp", "bcrp") else 2
    times = in_turn({"noregret": prepare, "universal-portfolios": peer_prepare}, repeats, process_time)
    mine, its = best(times, "noregret"), best(times, "universal-portfolios")
    title = name + "".join(f" {describe(key, value)}" for key, value in options.items() if key != "first_days")
    return Row(
        title if tolerance == SAME else f"{title}, two stocks",
        f"{1e3 * mine:.2f} ms",
        f"universal-portfolios {1e3 * its:.0f} ms; wealth differs by {difference:.0e}",
        its / mine if difference <= tolerance else None,
        "x",
        at_least=target,
        seconds=times,
    )


def describe(key: str, value: Any) -> str:
    return f"{len(value):,} points" if key == "points" else f"{key}={value}"
