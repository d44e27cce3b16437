"""Ratings: compiled rounds of factorisation compared with the same rounds in numpy, a rating at a time."""

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import noregret as nr
from benchmarks.measure import Act, Prepare, Row, best, in_turn, micros

TITLE = "Factorisation of ratings, 10 factors, compared with numpy a rating at a time"
NOTE = (
    "One core; 400 users and 300 items (`ratings` of `noregret datasets`). Both predict and learn the same "
    "ratings, without biases; predictions are those before learning. "
    "RMF reads all ratings of the user in every round."
)
Floats = NDArray[np.float64]
ROUNDS, PEER_ROUNDS, K = 40_000, 4_000, 10
FASTER = 20.0
ETAS = {"pmf": 3.0, "rmf": 20.0}
BETAS = {"pmf": 0.05, "rmf": 0.01}
LAM = 0.0003


class InNumpy:
    """The four variants, in vectors of numpy and dicts of users and items."""

    def __init__(self, model: str, method: str) -> None:
        self.learns_order, self.averages = model == "rmf", method == "da"
        self.eta, self.beta = ETAS[model], BETAS[model]
        self.random = np.random.default_rng(0)
        self.factors: tuple[dict[int, Floats], dict[int, Floats]] = ({}, {})
        self.means: tuple[dict[int, Floats], dict[int, Floats]] = ({}, {})
        self.steps: tuple[dict[int, int], dict[int, int]] = ({}, {})
        self.rated: dict[int, dict[int, float]] = {}

    def learn(self, pairs: Sequence[tuple[int, int]], shares: Sequence[float]) -> list[float]:
        found = []
        for (user, item), x in zip(pairs, shares, strict=True):
            for side, name in ((0, user), (1, item)):
                if name not in self.factors[side]:
                    self.factors[side][name] = 0.1 * self.random.standard_normal(K)
                    self.means[side][name], self.steps[side][name] = np.zeros(K), 0
            own, other = self.factors[0][user], self.factors[1][item]
            mine = self.rated.setdefault(user, {})
            mine[item] = x
            g = float(1.0 / (1.0 + np.exp(-(own @ other))))
            found.append(g)
            if self.learns_order:
                items = list(mine)
                V = np.array([self.factors[1][one] for one in items])
                guesses = 1.0 / (1.0 + np.exp(-(V @ own)))
                p, q = np.exp(np.fromiter(mine.values(), float, len(mine))), np.exp(guesses)
                slopes = (q / q.sum() - p / p.sum()) * guesses * (1.0 - guesses)
                gradients = slopes @ V, slopes[items.index(item)] * own
            else:
                slope = (g - x) * g * (1.0 - g)
                gradients = slope * other, slope * own
            for side, name, gradient in ((0, user, gradients[0]), (1, item, gradients[1])):
                self.step(side, name, gradient)
        return found

    def step(self, side: int, name: int, gradient: Floats) -> None:
        t = self.steps[side][name] = self.steps[side][name] + 1
        if self.averages:
            mean = self.means[side][name]
            mean += (gradient - mean) / t
            self.factors[side][name] = -mean / (LAM + self.beta / np.sqrt(t))
        else:
            factors = self.factors[side][name]
            factors -= self.eta * (gradient + LAM * factors)


def stream() -> tuple[Any, Any]:
    batches = list(nr.open_source(f"ratings:rows={ROUNDS}"))
    return np.concatenate([batch.X for batch in batches]), np.concatenate([batch.y for batch in batches])


def compiled(X: Any, y: Any, options: dict[str, Any]) -> Prepare:
    nr.make("factorisation", **options).learn(X[:10], y[:10])  # compiled before the clock starts

    def prepare() -> Act:
        learner = nr.make("factorisation", **options)
        return lambda: learner.learn(X, y)

    return prepare


def in_numpy(X: Any, y: Any, options: dict[str, Any]) -> Prepare:
    pairs, shares = list(map(tuple, X[:PEER_ROUNDS].tolist())), ((y[:PEER_ROUNDS] - 1.0) / 4.0).tolist()

    def prepare() -> Act:
        peer = InNumpy(options["model"], options["method"])
        return lambda: peer.learn(pairs, shares)

    return prepare


def one_by_one(X: Any, y: Any) -> Prepare:
    rows, ratings = list(map(tuple, X[:PEER_ROUNDS].tolist())), y[:PEER_ROUNDS].tolist()

    def prepare() -> Act:
        learner = nr.make("factorisation")
        return lambda: [learner.learn_one(row, rating) for row, rating in zip(rows, ratings, strict=True)]

    return prepare


def run() -> list[Row]:
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    X, y = stream()
    rows = []
    for model in ("pmf", "rmf"):
        for method in ("sgd", "da"):
            options = {"model": model, "method": method, "biases": "no"}
            some = X[:PEER_ROUNDS], y[:PEER_ROUNDS]
            ours = compiled(*(some if model == "rmf" else (X, y)), options)  # a round of RMF costs what its user rated
            times = in_turn({"ours": ours, "numpy": in_numpy(X, y, options)}, repeats=5)
            own = best(times, "ours") / (PEER_ROUNDS if model == "rmf" else ROUNDS)
            peer = best(times, "numpy") / PEER_ROUNDS
            work = f"{model} by {method}, without biases"
            rows.append(Row(work, micros(own), f"numpy {micros(peer)}", peer / own, "x", FASTER, seconds=times))
    times = in_turn({"biases": compiled(X, y, {}), "one": one_by_one(X, y)}, repeats=5)
    own, one = best(times, "biases") / ROUNDS, best(times, "one") / PEER_ROUNDS
    rows.append(Row("pmf by sgd, with biases (default)", micros(own), "", None, "x", seconds=times))
    rows.append(Row("learn_one, default", micros(one), "", None, "x", seconds=times))
    return rows
