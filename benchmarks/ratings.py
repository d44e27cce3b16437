"""Ratings: compiled rounds of factorisation compared with the same rounds in numpy and in River."""

import os
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

import noregret as nr
from benchmarks.measure import Act, Prepare, Row, best, in_turn, installed, micros, missing

TITLE = "Factorisation of ratings, 10 factors, compared with numpy a rating at a time"
NOTE = (
    "One core; 400 users and 300 items (`ratings` of `noregret datasets`). Both predict and learn the same "
    "ratings, without biases; predictions are those before learning. "
    "RMF reads all ratings of the user in every round. Rows of one rating are the first 20,000, those of a file and of "
    "recommendations the first 4,000 ratings, with biases unless it says so, beside River's factorisations."
)
Floats = NDArray[np.float64]
ROUNDS, SINGLE_ROUNDS, PEER_ROUNDS, K = 40_000, 20_000, 4_000, 10
FASTER, FASTER_ONE = 20.0, 1.5
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


Play = Callable[[Any, Any, float], object]


def one_by_one(make: Callable[[], Any], play: Callable[[Any], Play], rounds: list[Any]) -> Prepare:
    """Predict, then learn every rating by a call of its own; users and items are new to the learner."""

    def prepare() -> Act:
        act = play(make())
        return lambda: [act(user, item, rating) for user, item, rating in rounds]

    return prepare


def by_pairs(learner: Any) -> Play:
    learn, predict = learner.learn_one, learner.predict_one
    return lambda user, item, rating: (predict((user, item)), learn((user, item), rating))


def by_dicts(learner: Any) -> Play:
    learn, predict = learner.learn_one, learner.predict_one

    def play(user: Any, item: Any, rating: float) -> None:
        row = {"user": user, "item": item}
        predict(row)
        learn(row, rating)

    return play


def by_river(learner: Any) -> Play:
    learn, predict = learner.learn_one, learner.predict_one
    return lambda user, item, rating: (predict(user, item), learn(user, item, rating))


def by_numpy(learner: Any) -> Play:
    return lambda user, item, rating: learner.learn([(user, item)], [(rating - 1.0) / 4.0])


def of_river(name: str) -> Callable[[], Any]:
    steps = {"FunkMF": {"optimizer": 0.01}, "BiasedMF": {"bias_optimizer": 0.01, "latent_optimizer": 0.01}}[name]

    def make() -> Any:
        sgd = import_module("river.optim").SGD  # with its own steps of 0.1 factors overflow
        return getattr(import_module("river.reco"), name)(
            n_factors=K, seed=0, **{option: sgd(step) for option, step in steps.items()}
        )

    return make


def ours(**options: Any) -> Callable[[], Any]:
    return lambda: nr.make("factorisation", **options)


def single_rounds(rounds: list[Any], river: bool) -> list[Row]:
    """One rating at a time, by calls of their own."""
    rows = []
    for work, biases, play, of_peer in (
        ("pairs", "yes", by_pairs, "BiasedMF"), ("dicts", "yes", by_dicts, "BiasedMF"),
        ("pairs, without biases", "no", by_pairs, "FunkMF"),
    ):  # fmt: skip
        contestants = {"ours": one_by_one(ours(biases=biases), play, rounds)}
        peers = {f"River {of_peer}": (of_river(of_peer), by_river)} if river else {}
        if biases == "no":
            peers["numpy"] = (lambda: InNumpy("pmf", "sgd"), by_numpy)
        contestants |= {peer: one_by_one(make, by, rounds) for peer, (make, by) in peers.items()}
        times = in_turn(contestants, repeats=5)
        own, work = best(times, "ours") / len(rounds), f"predict_one, then learn_one: {work}"
        for peer in peers:
            theirs = best(times, peer) / len(rounds)
            target = None if peer == "numpy" else FASTER_ONE  # numpy checks nothing, and undoes nothing
            rows.append(Row(work, micros(own), f"{peer} {micros(theirs)}", theirs / own, "x", target, seconds=times))
        if not river:
            rows.append(missing(work, micros(own), f"River {of_peer}", "x", FASTER_ONE, times))
    return rows


def whole_file(path: Path, river: bool) -> Row:
    """From the text of a CSV file, each rating predicted before it is learned."""

    def learn() -> None:
        learner = nr.make("factorisation")
        for batch in nr.open_source(path, label="rating", targets=True, categorical=("user", "item")):
            learner.learn(batch.X, batch.y)

    def learn_by_river() -> None:
        play, read = by_river(of_river("BiasedMF")()), import_module("river.stream").iter_csv
        for x, y in read(str(path), target="rating", converters={"rating": float}):
            play(x["user"], x["item"], y)

    learn()  # compiled before the clock starts
    times = in_turn({"ours": lambda: learn, **({"river": lambda: learn_by_river} if river else {})}, repeats=3)
    own, work = best(times, "ours") / PEER_ROUNDS, f"{PEER_ROUNDS:,} ratings of a CSV file, default"
    if not river:
        return missing(work, micros(own), "River BiasedMF", "x", FASTER_ONE, times)
    theirs = best(times, "river") / PEER_ROUNDS
    return Row(work, micros(own), f"River BiasedMF {micros(theirs)}", theirs / own, "x", FASTER_ONE, seconds=times)


def recommendations(rounds: list[Any], river: bool) -> Row:
    """The ten items with the highest ratings, of those that a user has not rated."""
    learner, users, rated = nr.make("factorisation"), sorted({user for user, _, _ in rounds}), dict[Any, set[Any]]()
    learner.learn([(user, item) for user, item, _ in rounds], [rating for _, _, rating in rounds])
    learner.recommend(users[0])  # type: ignore[attr-defined]
    contestants: dict[str, Prepare] = {"ours": lambda: lambda: [learner.recommend(user) for user in users]}  # type: ignore[attr-defined]
    if river:
        peer = of_river("BiasedMF")()
        for user, item, rating in rounds:
            peer.learn_one(user, item, rating)
            rated.setdefault(user, set()).add(item)
        items = {item for _, item, _ in rounds}
        contestants["river"] = lambda: lambda: [peer.rank(user, items - rated[user])[:10] for user in users]
    times = in_turn(contestants, repeats=3)
    own, work = best(times, "ours") / len(users), "recommend 10 of 300 items"
    if not river:
        return missing(work, micros(own), "River BiasedMF.rank", "x", FASTER_ONE, times)
    theirs = best(times, "river") / len(users)
    return Row(work, micros(own), f"River BiasedMF.rank {micros(theirs)}", theirs / own, "x", FASTER_ONE, seconds=times)


def run() -> list[Row]:
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    X, y = stream()
    rows, river = [], installed("river") is not None
    for model in ("pmf", "rmf"):
        for method in ("sgd", "da"):
            options = {"model": model, "method": method, "biases": "no"}
            some = X[:PEER_ROUNDS], y[:PEER_ROUNDS]
            batch = compiled(*(some if model == "rmf" else (X, y)), options)  # a round of RMF costs what its user rated
            times = in_turn({"ours": batch, "numpy": in_numpy(X, y, options)}, repeats=5)
            own = best(times, "ours") / (PEER_ROUNDS if model == "rmf" else ROUNDS)
            peer = best(times, "numpy") / PEER_ROUNDS
            work = f"{model} by {method}, without biases"
            rows.append(Row(work, micros(own), f"numpy {micros(peer)}", peer / own, "x", FASTER, seconds=times))
    times = in_turn({"biases": compiled(X, y, {})}, repeats=5)
    rows.append(Row("pmf by sgd, with biases (default)", micros(best(times, "biases") / ROUNDS), "", None, "x",
                    seconds=times))  # fmt: skip
    every = [(user, item, rating) for (user, item), rating in zip(X.tolist(), y.tolist(), strict=True)]
    rounds = every[:PEER_ROUNDS]
    rows += single_rounds(every[:SINGLE_ROUNDS], river)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "ratings.csv"
        path.write_text("user,item,rating\n" + "".join(f"{user},{item},{rating}\n" for user, item, rating in rounds))
        rows.append(whole_file(path, river))
    rows.append(recommendations(rounds, river))
    return rows
