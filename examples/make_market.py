"""Write market.csv: prices of four invented stocks on the weekdays of a year.

Two of them swing a lot and end where they began, one grows slowly, and one is cash.
"""

from datetime import date, timedelta
from pathlib import Path

import numpy as np

DAYS = 250


def main() -> None:
    rng = np.random.default_rng(5)
    swings = [np.exp(0.05 * rng.standard_normal(DAYS)) for _ in "ab"]
    growth = np.exp(np.cumsum(0.0004 + 0.01 * rng.standard_normal(DAYS)))
    prices = np.round(np.column_stack([40.0 * swings[0], 15.0 * swings[1], 80.0 * growth, np.ones(DAYS)]), 2)
    day, lines = date(2024, 1, 1), ["date,Harbour,Mill,Rail,Cash"]
    for row in prices:
        lines.append(f"{day.isoformat()},{','.join(f'{price:.2f}' for price in row)}")
        day += timedelta(days=3 if day.weekday() == 4 else 1)
    Path(__file__).with_name("market.csv").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
