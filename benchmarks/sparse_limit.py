"""The sparse path beside scipy's product of the same rows with one vector: what reading them costs at least."""

from typing import Any

import numpy as np

import noregret
from benchmarks.epoch import ours
from benchmarks.measure import Act, Prepare, Row, best, in_turn
from benchmarks.stream import Text, text

TITLE = "Sparse rows beside scipy's X @ w (164 000 rows, 61 non-zeros, 47 236 features)"
NOTE = "Times over that of `X @ w`, which reads every value and one weight for it, and changes nothing."
ROWS = 164_000  # ten million non-zeros
LIMIT = "X @ w"
SCORES = {"pa1": 1.3, "arow": 1.3}
LEARN = {"perceptron": None, "pa1": 1.6, "arow": 2.5, "scw1": 2.5, "ogd": None, "ftrl": 5.0}


def product(data: Text) -> Prepare:
    w = np.random.default_rng(0).standard_normal(data.X.shape[1])
    return lambda: lambda: data.X @ w


def scoring(rule: str, data: Text) -> Prepare:
    learner: Any = noregret.make(rule).learn(data.X, data.y)

    def prepare() -> Act:
        return lambda: learner.scores(data.X)

    return prepare


def run() -> list[Row]:
    data = text(ROWS)
    contestants = {LIMIT: product(data)}
    contestants |= {f"{rule}, scores": scoring(rule, data) for rule in SCORES}
    for rule in LEARN:
        noregret.make(rule).learn(data.X[:100], data.y[:100])  # compiled before the clock starts
        contestants[f"{rule}, learn"] = ours(rule, data)
    times = in_turn(contestants, repeats=11)
    limit = best(times, LIMIT)
    targets: dict[str, float | None] = {f"{rule}, scores": most for rule, most in SCORES.items()}
    targets |= {f"{rule}, learn": most for rule, most in LEARN.items()}
    return [
        Row(
            work,
            f"{1e9 * best(times, work) / data.X.nnz:.2f} ns a non-zero",
            f"scipy {LIMIT} {1e9 * limit / data.X.nnz:.2f} ns",
            best(times, work) / limit,
            "x",
            at_most=most,
            seconds={name: times[name] for name in (work, LIMIT)},
        )
        for work, most in targets.items()
    ]
