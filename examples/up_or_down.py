"""Predict every day whether a stock goes up or down, with the advice of simple experts.

    python examples/up_or_down.py FILE.csv [STOCK]

FILE.csv holds prices or price relatives, as for `noregret portfolio`. Each expert is a rule of thumb; the algorithms
weigh them by their mistakes so far, and lose little more than the best of them in hindsight.
"""

import sys

import numpy as np
import numpy.typing as npt

import noregret as nr
from noregret.streams.price_tables import hover_around_one, read_price_table

Floats = npt.NDArray[np.float64]
WORDS = {True: "Up", False: "Down"}


def advise(relatives: Floats, stock: int) -> tuple[list[dict[str, str]], list[str]]:
    """What every expert says in the evening about the next day, and what happened; unchanged prices do not count."""
    own, market = np.log(relatives[:, stock]), np.log(relatives).mean(axis=1)
    calls, truth = [], []
    for day in range(5, len(own)):
        if own[day] == 0.0:
            continue
        week = own[day - 5 : day].sum()
        up = {
            "always up": True,
            "always down": False,
            "as yesterday": own[day - 1] > 0.0,
            "turns": own[day - 1] < 0.0,
            "trend of the week": week > 0.0,
            "turn of the week": week < 0.0,
            "as the market": market[day - 1] > 0.0,
            "more often up": np.mean(own[:day] > 0.0) > 0.5,
        }
        calls.append({name: WORDS[bool(says)] for name, says in up.items()})
        truth.append(WORDS[bool(own[day] > 0.0)])
    return calls, truth


def main(arguments: list[str]) -> None:
    table = read_price_table(arguments[0])
    values = table.values if hover_around_one(table.values) else table.values[1:] / table.values[:-1]
    stock = arguments[1] if len(arguments) > 1 else table.names[0]
    calls, truth = advise(values, table.names.index(stock))
    print(f"{stock}: {len(truth):,} days on which its price changed, {truth.count('Up') / len(truth):.1%} of them up\n")
    print(nr.race_experts(calls, truth, ["hedge", "adahedge", "fixed_share", "weighted_majority"], switches=0))


if __name__ == "__main__":
    main(sys.argv[1:])
