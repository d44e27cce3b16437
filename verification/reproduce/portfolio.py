"""Final wealth of portfolio strategies on the data sets of online portfolio selection."""

import gzip
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import noregret as nr
from verification.reproduce.report import AGREES, MISS, Row, Table

SETS = {"NYSE(O)": "nyse_o", "NYSE(N)": "nyse_n", "TSE": "tse", "SP500": "sp500", "MSCI": "msci", "DJIA": "djia"}
FILES = tuple(f"olps/{name}.csv.gz" for name in SETS.values())
STRATEGIES = {
    "buy & hold": "buy_and_hold",
    "best stock": "best_stock",
    "uniform CRP": "crp",
    "BCRP": "bcrp",
    "EG eta .05": "eg_portfolio(eta=0.05)",
    "PAMR eps .5": "pamr(eps=0.5)",
}
PUBLISHED = {
    "NYSE(O)": ("14.50", "54.14", "27.08", "250.60", "27.09", "5.14e15"),
    "NYSE(N)": ("18.06", "83.51", "31.55", "", "31.00", "1.25e6"),
    "TSE": ("1.61", "6.28", "1.60", "", "1.59", "264.9"),
    "SP500": ("1.34", "3.78", "1.65", "", "1.63", "5.09"),
    "MSCI": ("0.91", "1.50", "0.93", "", "0.93", "15.23"),
    "DJIA": ("0.76", "1.19", "0.81", "", "0.81", "0.68"),
}
SOURCE = (
    "Wealth that 1 becomes, from the literature of online portfolio selection (Cover 1991; Helmbold et al. 1998; Li et "
    "al. 2012), recomputed on the data of Li and Hoi's OLPS"
)
PROTOCOL = (
    "Price relatives of all days, no costs. The wealth must agree to the printed digits. BCRP is solved until no "
    "portfolio can have a higher growth rate of a day by more than 1e-12 (the duality gap)."
)


def relatives(base: Path, name: str) -> np.ndarray:
    with gzip.open(base / "olps" / f"{name}.csv.gz", "rt") as lines:
        return np.loadtxt(lines, delimiter=",", skiprows=1)


def write_as(published: str, wealth: float) -> str:
    """A wealth with as many digits as a printed one has."""
    digits, power, exponent = published.partition("e")
    _, _, places = digits.partition(".")
    if power:
        return f"{wealth / 10 ** int(exponent):.{len(places)}f}e{exponent}"
    return f"{wealth:.{len(places)}f}"


def run(base: Path) -> Iterator[Table]:
    rows = []
    for market, printed in PUBLISHED.items():
        race = nr.race_portfolios(relatives(base, SETS[market]), list(STRATEGIES.values()))
        best = race.best.hindsight
        assert best is not None
        for (title, name), published, wealth in zip(STRATEGIES.items(), printed, race.wealth.values(), strict=True):
            hindsight = name in ("best_stock", "bcrp")
            remark = "chosen in hindsight" if hindsight else ""
            if name == "bcrp":
                remark += f"; duality gap {best.gap:.0e}"
            ours = write_as(published or "1.00", wealth)
            agrees = ours == published if published else best.gap <= 1e-12
            learner = "" if hindsight else name.partition("(")[0]
            rows.append(
                Row(f"{market} {title}", learner, published or "not printed", ours, AGREES if agrees else MISS, remark)
            )
    yield Table("Online portfolio selection", SOURCE, PROTOCOL, rows)
