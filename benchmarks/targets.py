"""Real targets of real streams, each predicted before it is learned, beside River and scikit-learn in the same run.

NOREGRET_DATA names the folder of the data. `python -m benchmarks.targets` prints the table of docs/tasks.md.
"""

import csv
import gzip
import os
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

import noregret
from benchmarks.measure import Act, Prepare, Row, best, in_turn, installed, micros

TITLE = "Regression: mean absolute error of one pass, and its time"
LEARNER = "adadelta"  # the best by default on five other streams: ailerons, elevators, kin8nm, puma8nh, winequality
OURS = f"noregret {LEARNER}"
SETS = {
    "abalone": ("regression/abalone.csv.gz", "Class_Rings", ()),
    "cpu_act": ("regression/cpu_act.csv.gz", "usr", ()),
    "cal_housing": ("regression/cal_housing.csv.gz", "medianHouseValue", ()),
    "bike_sharing": ("bike_sharing/hour.csv.gz", "cnt", ("instant", "dteday", "casual", "registered")),
}
FASTER = 20.0


def table(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Rows and targets in the order of the file; a column of words becomes one of 0 and 1 for each word."""
    path, target, dropped = SETS[name]
    with gzip.open(Path(os.environ.get("NOREGRET_DATA", "")) / path, "rt") as file:
        rows = list(csv.DictReader(file))
    columns: list[list[float]] = []
    for column in [one for one in rows[0] if one != target and one not in dropped]:
        cells = [row[column] for row in rows]
        try:
            columns.append([float(cell) for cell in cells])
        except ValueError:
            columns += [[float(cell == word) for cell in cells] for word in sorted(set(cells))]
    return np.array(columns).T, np.array([float(row[target]) for row in rows])


Pass = Callable[[np.ndarray, np.ndarray], np.ndarray]


def ours(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """All rounds in one call: `play` predicts each before it learns it."""
    return np.asarray(noregret.make(LEARNER, task="regression", scale=True, bias=True).play(X, y).scores)


def of_river(name: str) -> Pass:
    """The loop River's documentation shows."""
    models: Any = import_module("river.linear_model")
    scaler: Any = import_module("river.preprocessing").StandardScaler

    def passed(X: np.ndarray, y: np.ndarray) -> np.ndarray:
        model = scaler() | getattr(models, name)()
        found = []
        for x, target in zip(map(dict, map(enumerate, X.tolist())), y.tolist(), strict=True):
            found.append(model.predict_one(x))
            model.learn_one(x, target)
        return np.array(found)

    return passed


def of_scikit(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """partial_fit row by row, behind a scaler that is told of every row after it was predicted."""
    model: Any = import_module("sklearn.linear_model").SGDRegressor()
    scaler: Any = import_module("sklearn.preprocessing").StandardScaler()
    found = np.zeros(y.size)
    for t in range(y.size):
        x = X[t : t + 1]
        if t > 0:
            found[t] = model.predict(scaler.transform(x))[0]
        scaler.partial_fit(x)
        model.partial_fit(scaler.transform(x), y[t : t + 1])
    return found


def peers() -> dict[str, Pass]:
    found: dict[str, Pass] = {}
    if installed("river"):
        found |= {f"River {name}": of_river(name) for name in ("LinearRegression", "PARegressor")}
    return found | {"scikit-learn SGDRegressor": of_scikit}


def error(found: np.ndarray, y: np.ndarray) -> float:
    return float(np.abs(found - y).mean())


def measured(name: str) -> tuple[int, dict[str, float], dict[str, list[float]]]:
    """The rows of a set, and every contestant's error and times."""
    X, y = table(name)
    ours(X[:50], y[:50])  # compiled before the clock runs
    errors: dict[str, float] = {}

    def contestant(who: str, play: Pass) -> Prepare:
        def prepare() -> Act:
            def act() -> None:
                found = play(X, y)
                errors[who] = error(found, y)

            return act

        return prepare

    slow = in_turn({who: contestant(who, play) for who, play in peers().items()}, repeats=1)
    return y.size, errors, slow | in_turn({OURS: contestant(OURS, ours)}, repeats=5)


def run() -> list[Row]:
    if not os.environ.get("NOREGRET_DATA"):
        return [Row("NOREGRET_DATA names no folder of data", "-", "-", None, "x")]
    return [row for name in SETS for row in rows_of(name)]


def rows_of(name: str) -> Iterator[Row]:
    rows, errors, times = measured(name)
    nearest = min((who for who in errors if who != OURS), key=errors.__getitem__)
    mine = f"{LEARNER} {errors[OURS]:.5g}"
    yield Row(
        f"{name}: mean absolute error", mine, f"{nearest} {errors[nearest]:.5g}", errors[OURS] / errors[nearest],
        "x", at_most=1.0, seconds=times,
    )  # fmt: skip
    river = [who for who in times if who.startswith("River")]
    if river:
        fastest = min(river, key=lambda who: best(times, who))
        speed = best(times, fastest) / best(times, OURS)
        peer = f"{fastest} {micros(best(times, fastest) / rows)} a round"
        yield Row(f"{name}: time", f"{micros(best(times, OURS) / rows)} a round", peer, speed, "x", at_least=FASTER)


def main() -> None:
    """The table of docs/tasks.md."""
    for number, name in enumerate(SETS):
        rows, errors, times = measured(name)
        if number == 0:
            print(
                "| data | rounds | " + " | ".join([OURS, *(who for who in errors if who != OURS)]) + " | River's time |"
            )
            print("|---" * (len(errors) + 3) + "|")
        mean = [f"{errors[who]:.5g}" for who in [OURS, *(who for who in errors if who != OURS)]]
        river = min((best(times, who) for who in times if who.startswith("River")), default=float("nan"))
        print(f"| {name} | {rows:,} | " + " | ".join(mean) + f" | {river / best(times, OURS):.0f} x ours |")


if __name__ == "__main__":
    main()
