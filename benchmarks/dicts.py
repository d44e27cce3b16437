"""Round by round on dicts with string names: predict, then learn, beside River's PAClassifier."""

from importlib import import_module
from typing import Any

import noregret
from benchmarks.measure import Act, Prepare, Row, best, in_turn, installed, micros, missing
from benchmarks.stream import Round, dictionaries

TITLE = "One dict at a time: predict_one, then learn_one"
PEER = "River PAClassifier"
ROUNDS = 20_000


def peer(rounds: tuple[Round, ...]) -> Prepare:
    """The loop River's documentation shows."""
    river: Any = import_module("river.linear_model")

    def prepare() -> Act:
        model = river.PAClassifier()

        def act() -> None:
            for x, y in rounds:
                model.predict_one(x)
                model.learn_one(x, y)

        return act

    return prepare


def one_by_one(rounds: tuple[Round, ...]) -> Prepare:
    """The same loop with ours."""

    def prepare() -> Act:
        learner = noregret.make("pa1")

        def act() -> None:
            for x, y in rounds:
                learner.predict_one(x)
                learner.learn_one(x, y)

        return act

    return prepare


def at_once(rounds: tuple[Round, ...]) -> Prepare:
    """The same rounds in one call: `play` predicts each before it learns it."""
    xs = [x for x, _ in rounds]
    ys = [y for _, y in rounds]

    def prepare() -> Act:
        learner = noregret.make("pa1")
        return lambda: learner.play(xs, ys)

    return prepare


def run() -> list[Row]:
    table = []
    for nonzeros, loop_target in ((10, 4.0), (60, 3.0)):
        rounds = dictionaries(ROUNDS, nonzeros)
        contestants: dict[str, Prepare] = {"loop": one_by_one(rounds), "play": at_once(rounds)}
        for prepare in (one_by_one(rounds[:100]), at_once(rounds[:100])):
            prepare()()
        if installed("river"):
            contestants = {PEER: peer(rounds), **contestants}
        times = in_turn(contestants, repeats=5)
        for name, at_least in (("loop", loop_target), ("play", 4.0)):
            call = "predict_one + learn_one" if name == "loop" else "play on the list"
            work = f"{call}, {nonzeros} features"
            ours = f"{micros(best(times, name) / ROUNDS)} a round"
            if PEER not in times:
                table.append(missing(work, ours, PEER, "x", at_least, times))
                continue
            table.append(
                Row(
                    work,
                    ours,
                    peer=f"{PEER} {micros(best(times, PEER) / ROUNDS)} a round",
                    figure=best(times, PEER) / best(times, name),
                    unit="x",
                    at_least=at_least,
                    seconds={key: times[key] for key in (PEER, name)},
                )
            )
    return table
