"""One row at a time with every option, compared with River's scaled logistic regression and with our plain rounds."""

from importlib import import_module
from typing import Any

import numpy as np

import noregret
from benchmarks.measure import Act, Prepare, Row, best, in_turn, installed, micros, missing
from benchmarks.stream import dictionaries

TITLE = "One row at a time with options: predict_one, then learn_one, 10 features"
PEER = "River StandardScaler + LogisticRegression"
ROUNDS, FEATURES = 5_000, 10
PLAIN = "arow"
AGAINST_RIVER: dict[str, tuple[str, dict[str, Any]]] = {
    "scale + arow": ("arow", {"scale": True}),
    "scale + ogd(logistic)": ("ogd", {"scale": True, "loss": "logistic"}),
}
AGAINST_PLAIN: dict[str, dict[str, Any]] = {
    "bias": {"bias": True},
    "scale": {"scale": True},
    "bits=18": {"bits": 18},
    "class_weight, given": {"class_weight": {True: 2.0}},
    'class_weight="balanced"': {"class_weight": "balanced"},
    "tf_idf": {"transforms": ["tf_idf"]},
    "min_max + clip": {"transforms": ["min_max", "clip"]},
    "bits=18, scale, bias": {"bits": 18, "scale": True, "bias": True},
    "scale, only some": {"transforms": [noregret.scale(only=["feature_1", "feature_2", "feature_3"])]},
    "squares": {"transforms": ["squares"]},
    "pairs": {"transforms": ["pairs"]},
    "conjunctions": {"transforms": ["conjunctions"]},
}
OTHER_LEARNERS: dict[str, dict[str, Any]] = {
    "fobos_group": {},
    "fobos_infinity": {},
    "ofs": {"B": 10},
    "ofs_partial": {"B": 10},
    "perceptron_truncated": {"B": 10},
}
ROWS_OF_NUMBERS: dict[str, dict[str, Any]] = {
    "rows of numpy": {},
    "rows of numpy, scale, bias": {"scale": True, "bias": True},
}


def playing(make: Any, rounds: list[tuple[Any, Any]], **weight: float) -> Prepare:
    """Predict, then learn every round; the names of the features are known before the clock starts."""

    def prepare() -> Act:
        learner = make()
        for x, y in rounds[:1000]:
            learner.learn_one(x, y)
        learner.predict_one(rounds[0][0])

        def act() -> None:
            for x, y in rounds:
                learner.predict_one(x)
                learner.learn_one(x, y, **weight)

        return act

    return prepare


def of_river() -> Any:
    models, scalers = import_module("river.linear_model"), import_module("river.preprocessing")
    return scalers.StandardScaler() | models.LogisticRegression()


def run() -> list[Row]:
    rounds = list(dictionaries(ROUNDS, FEATURES, vocabulary=100))
    rng = np.random.default_rng(3)
    arrays = [(row, bool(row[0] > 0.0)) for row in rng.normal(size=(ROUNDS, FEATURES))]
    contestants: dict[str, Prepare] = {PLAIN: playing(lambda: noregret.make(PLAIN), rounds)}
    if installed("river"):
        contestants[PEER] = playing(of_river, rounds)
    for work, (name, options) in AGAINST_RIVER.items():
        contestants[work] = playing(lambda name=name, options=options: noregret.make(name, **options), rounds)
    for work, options in AGAINST_PLAIN.items():
        contestants[work] = playing(lambda options=options: noregret.make(PLAIN, **options), rounds)
    for work, options in OTHER_LEARNERS.items():
        contestants[work] = playing(lambda name=work, options=options: noregret.make(name, **options), rounds)
    coarse = [({name: round(value, 1) for name, value in x.items()}, y) for x, y in rounds]
    contestants["one_hot of ten values"] = playing(lambda: noregret.make(PLAIN, transforms=["one_hot"]), coarse)
    contestants["weight=0.5"] = playing(lambda: noregret.make(PLAIN), rounds, weight=0.5)
    for work, options in ROWS_OF_NUMBERS.items():
        contestants[work] = playing(lambda options=options: noregret.make(PLAIN, **options), arrays)
    times = in_turn(contestants, repeats=5)
    plain = best(times, PLAIN)
    table = []
    for work in contestants:
        if work in (PLAIN, PEER):
            continue
        ours = f"{micros(best(times, work) / ROUNDS)} a round"
        if work not in AGAINST_RIVER:
            peer = f"{PLAIN} without options {micros(plain / ROUNDS)} a round"
            figure = best(times, work) / plain
            table.append(Row(work, ours, peer, figure, "x", at_most=4.0, seconds={work: times[work]}))
        elif PEER not in times:
            table.append(missing(work, ours, PEER, "x", 3.0, times))
        else:
            peer = f"{PEER} {micros(best(times, PEER) / ROUNDS)} a round"
            figure = best(times, PEER) / best(times, work)
            table.append(Row(work, ours, peer, figure, "x", at_least=3.0, seconds={work: times[work]}))
    return table
