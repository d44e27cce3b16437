"""Late labels: flights of January 2008, each asked before it lands and told when it has, in the order of the clock."""

import csv
import gzip
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import noregret as nr

FILES = ("airlines/airlines_delayed_labels.csv.gz",)
LEARNERS = ("perceptron_averaged", "pa1", "arow", "adagrad")
WORDS = ("UniqueCarrier", "Origin", "DayOfWeek")
NUMBERS = ("CRSArrTime", "CRSDepTime", "CRSElapsedTime", "Distance")
HEAD = ("learner", "labels at once", "labels when the flight has landed", "waiting at most")

Event = tuple[str, dict[str, float], str | None]


def run(base: Path) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    events = list(flights(base / FILES[0]))
    rows = [compared(name, partial(nr.make, name, bias=True, scale=True), events) for name in LEARNERS]
    rows.append(compared("river: softmax regression", River, events))
    rows.append(majority(events))
    return HEAD, rows


def flights(path: Path) -> Iterator[Event]:
    """(number, features, label), first without a label and later with it."""
    with gzip.open(path, "rt", newline="") as file:
        for row in csv.DictReader(file):
            x = {f"{name}={row[name]}": 1.0 for name in WORDS}
            x |= {name: float(row[name]) for name in NUMBERS}
            label = row["ValueToPredict"]
            yield row["instanceId"], x, None if label == "?" else label


class River:
    """A peer with the same two calls."""

    def __init__(self) -> None:
        from river import linear_model, optim, preprocessing

        model = linear_model.SoftmaxRegression(optim.SGD(0.01))
        self.model = preprocessing.StandardScaler() | model

    def predict_one(self, x: Any) -> Any:
        return self.model.predict_one(x)

    def learn_one(self, x: Any, y: Any) -> None:
        self.model.learn_one(x, y)


def compared(name: str, make: Any, events: list[Event]) -> tuple[str, ...]:
    """The same flights with their labels at once, and as they come."""
    truth = {key: label for key, _, label in events if label is not None}
    asked = [(key, x) for key, x, label in events if label is None and key in truth]
    learner, wrong = make(), 0
    for key, x in asked:
        wrong += learner.predict_one(x) != truth[key]
        learner.learn_one(x, truth[key])
    late, most = later(make(), events)
    return name, f"{wrong / len(asked):.4f}", f"{late:.4f}", f"{most:,}"


def later(learner: Any, events: list[Event]) -> tuple[float, int]:
    """The rate of mistakes of predictions made when asked, and how many flights were in the air at once."""
    if isinstance(learner, nr.RuleLearner):
        waiting, most = nr.delayed(learner), 0
        for event in events:
            waiting.play_events([event])
            most = max(most, len(waiting))
        return waiting.report()["rate"], most
    kept: dict[str, Any] = {}
    wrong = rounds = most = 0
    for key, x, label in events:
        if label is None:
            kept[key] = x, learner.predict_one(x)
            most = max(most, len(kept))
        elif key in kept:
            row, said = kept.pop(key)
            wrong, rounds = wrong + (said != label), rounds + 1
            learner.learn_one(row, label)
    return wrong / rounds, most


def majority(events: list[Event]) -> tuple[str, ...]:
    labels = [label for _, _, label in events if label is not None]
    most = max(set(labels), key=labels.count)
    return f"always {most}", f"{1 - labels.count(most) / len(labels):.4f}", "", ""
