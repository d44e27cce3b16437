"""Generate orders.csv and new_orders.csv: orders of a shop, some of them fraudulent."""

import csv
from pathlib import Path

import numpy as np

COUNTRIES = ("AT", "BR", "DE", "IN", "JP", "US")
RISK = np.array([-0.6, 0.9, -0.4, 0.2, -0.9, 0.3])
HEAD = ("amount", "items", "hour", "country", "fraud")


def main(folder: Path) -> None:
    rng = np.random.default_rng(7)
    rows = []
    for _ in range(2200):
        fraud_lean = rng.normal()
        amount = round(float(np.exp(3.5 + 0.8 * rng.normal() + 0.5 * fraud_lean)), 2)
        items = int(1 + rng.poisson(2.0))
        hour = int(rng.integers(24))
        country = int(rng.integers(len(COUNTRIES)))
        night = 1.2 if hour < 6 else 0.0
        danger = 0.02 * amount - 0.4 * items + RISK[country] + night + 0.4 * rng.normal() - 0.8
        rows.append((amount, items, hour, COUNTRIES[country], "yes" if danger > 0 else "no"))
    for name, some, width in (("orders.csv", rows[:2000], 5), ("new_orders.csv", rows[2000:], 4)):
        with open(folder / name, "w", newline="", encoding="utf-8") as file:
            out = csv.writer(file, lineterminator="\n")
            out.writerows([HEAD[:width], *(row[:width] for row in some)])


if __name__ == "__main__":
    main(Path(__file__).parent)
