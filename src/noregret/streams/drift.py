"""Synthetic streams whose concept changes: abruptly, gradually, incrementally, or with concepts that come back.

Concepts are numbered 0, 1, 2, ... A schedule says for every round where between them the stream is: a whole number is a
concept, 1.25 is a quarter of the way from concept 1 to concept 2. What a concept is, each generator decides.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import pi
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from noregret.data.settings import Setting, Settings, Words
from noregret.errors import BadValue
from noregret.streams.generators import BLOCK, SLACK, Generator, Labels, unit

Floats = NDArray[np.float64]
CHANGE = Words("abrupt", ("abrupt", "gradual", "incremental", "recurring"), "how one concept follows another")
EVERY = Setting(2500, 1, whole=True, about="rounds from one change to the next")
SCHEDULE: Settings = {
    "change": CHANGE,
    "every": EVERY,
    "width": Setting(500, 1, whole=True, about="gradual: rounds in which both concepts occur"),
    "concepts": Setting(2, 2, 1000, whole=True, about="recurring: concepts until the first comes back"),
}


@dataclass(frozen=True)
class Schedule:
    """When concepts change.

    abrupt: the next concept begins every `every` rounds. gradual: around that round, for `width` rounds, each round
    belongs to the next concept with a probability that rises from 0 to 1. incremental: the stream is always on its
    way from a concept to the next, which it reaches after `every` rounds. recurring: abrupt, and after `concepts`
    concepts the first comes back.
    """

    change: str
    every: int
    width: int
    concepts: int

    def __post_init__(self) -> None:
        if self.change == "gradual" and self.width > self.every:
            raise BadValue(f"width must be at most every, {self.every}, not {self.width}")

    def place(self, rng: np.random.Generator, first: int) -> Floats:
        """Where between the concepts each round of a block is."""
        rounds = np.arange(first, first + BLOCK)
        if self.change == "incremental":
            return rounds / self.every
        if self.change == "recurring":
            return (rounds // self.every % self.concepts).astype(np.float64)
        if self.change == "abrupt":
            return (rounds // self.every).astype(np.float64)
        begun, left = np.divmod(rounds + self.width // 2, self.every)
        begun = np.where(left < self.width, begun - (rng.random(BLOCK) >= (left + 0.5) / self.width), begun)
        return np.maximum(begun, 0).astype(np.float64)

    def find_changes(self, rows: int) -> list[int]:
        """The rounds from which on another concept holds; of a gradual change, the middle."""
        return [] if self.change == "incremental" else list(range(self.every, rows, self.every))


class Drifting(Generator):
    """A generator with a schedule."""

    schedule: Schedule

    def find_changes(self, rows: int) -> list[int]:
        return self.schedule.find_changes(rows)


class Hyperplane(Drifting):
    """Rows uniform in the unit ball, labelled by a hyperplane that rotates: steadily, or in jumps."""

    about = "concept drift: two classes by the side of a hyperplane that rotates by drift degrees every 1000 rounds"
    settings: ClassVar[Settings] = {
        "features": Setting(10, 2, 100_000, whole=True),
        "drift": Setting(10.0, 0.0, 180.0, about="degrees in 1000 rounds; a jump has those of all rounds before it"),
        **SCHEDULE,
        "change": Words("incremental", CHANGE.among, CHANGE.about),
        "every": Setting(1000, 1, whole=True, about=EVERY.about),
    }

    def __init__(self, rng: np.random.Generator, features: int, drift: float, **schedule: Any) -> None:
        self.schedule = Schedule(**schedule)
        self.speed = drift * pi / 180.0 / 1000.0
        self.start = unit(rng.normal(size=features))
        other = rng.normal(size=features)
        self.other = unit(other - (other @ self.start) * self.start)

    def at(self, rounds: Any) -> Floats:
        """Return the normal vector of the hyperplane after it has rotated for so many rounds."""
        angle = self.speed * np.asarray(rounds, np.float64)
        return np.asarray(np.cos(angle)[..., None] * self.start + np.sin(angle)[..., None] * self.other)

    def draw(self, rng: np.random.Generator, first: int) -> tuple[Floats, Labels]:
        X = rng.normal(size=(BLOCK, self.start.size))
        X *= (rng.random(BLOCK) ** (1.0 / self.start.size) * (1.0 - SLACK) / np.linalg.norm(X, axis=1))[:, None]
        if self.schedule.change == "incremental":
            rotated = np.arange(first, first + BLOCK, dtype=np.float64)
        else:
            rotated = self.schedule.place(rng, first) * self.schedule.every
        side = (X * self.at(rotated)).sum(axis=1)
        return X, np.where(side >= 0.0, 1, -1)


class Sea(Drifting):
    """Three numbers from 0 to 10, of which two matter: +1 where x0 + x1 is at most the threshold of the concept."""

    about = "concept drift (SEA): +1 where two of three numbers sum to at most a threshold: 8, 9, 7, 9.5 and again"
    thresholds: ClassVar[tuple[float, ...]] = (8.0, 9.0, 7.0, 9.5)  # Street and Kim, KDD 2001
    columns = 3
    learner_defaults: ClassVar[Mapping[str, Any]] = MappingProxyType({"scale": True, "bias": True})
    settings: ClassVar[Settings] = {
        "noise": Setting(0.1, 0.0, 0.5, about="the probability that a label is flipped"),
        **SCHEDULE,
    }

    def __init__(self, rng: np.random.Generator, noise: float, **schedule: Any) -> None:
        self.schedule, self.noise = Schedule(**schedule), noise

    def thresholds_at(self, places: Floats) -> Floats:
        """The threshold of each round; between two concepts, between theirs."""
        known, before = np.array(self.thresholds), np.floor(places).astype(np.int64)
        low, high = known[before % known.size], known[(before + 1) % known.size]
        return np.asarray(low + (places - before) * (high - low))

    def draw(self, rng: np.random.Generator, first: int) -> tuple[Floats, Labels]:
        X = 10.0 * rng.random((BLOCK, 3))
        flipped = rng.random(BLOCK) < self.noise
        inside = X[:, 0] + X[:, 1] <= self.thresholds_at(self.schedule.place(rng, first))
        return X, np.where(inside != flipped, 1, -1)


class RotatingClasses(Drifting):
    """Classes around centres on a circle; with every concept each class moves to the place of the next one."""

    about = "concept drift with several classes: their centres on a circle rotate, each to the place of the next one"
    task = "multiclass"
    settings: ClassVar[Settings] = {
        "features": Setting(10, 2, 100_000, whole=True),
        "classes": Setting(4, 2, 1000, whole=True),
        "spread": Setting(0.25, 0.0, 1000.0, about="the standard deviation of a class; the circle has radius 1"),
        **SCHEDULE,
    }

    def __init__(self, rng: np.random.Generator, features: int, classes: int, spread: float, **schedule: Any) -> None:
        self.schedule, self.classes, self.spread = Schedule(**schedule), classes, spread
        first, second = unit(rng.normal(size=features)), rng.normal(size=features)
        self.plane = np.stack((first, unit(second - (second @ first) * first)))

    def centres(self, classes: Any, places: Any) -> Floats:
        """The centres of classes, at places between concepts."""
        angle = 2.0 * pi * (np.asarray(classes) + places) / self.classes
        return np.asarray(np.stack((np.cos(angle), np.sin(angle)), axis=-1) @ self.plane)

    def draw(self, rng: np.random.Generator, first: int) -> tuple[Floats, Labels]:
        y = rng.integers(self.classes, size=BLOCK)
        noise = self.spread * rng.normal(size=(BLOCK, self.plane.shape[1]))
        return self.centres(y, self.schedule.place(rng, first)) + noise, y


class LabelShift(Drifting):
    """Classes that stay where they are and change how often they occur: with every concept another one is frequent."""

    about = "label shift: rows of a class stay alike; another class is the frequent one after every change"
    task = "multiclass"
    settings: ClassVar[Settings] = {
        "features": Setting(10, 2, 100_000, whole=True),
        "classes": Setting(3, 2, 1000, whole=True),
        "share": Setting(0.8, 0.0, 1.0, about="the probability of the frequent class; the others share the rest"),
        "distance": Setting(2.0, 0.0, 1e6, about="of the centres from 0, in standard deviations"),
        **SCHEDULE,
    }

    def __init__(self, rng: np.random.Generator, features: int, classes: int, share: float, distance: float,
                 **schedule: Any) -> None:  # fmt: skip
        self.schedule, self.share = Schedule(**schedule), share
        self.centres = distance * np.array([unit(rng.normal(size=features)) for _ in range(classes)])

    def priors(self, places: Floats) -> Floats:
        """The probability of every class in each round; between two concepts, between theirs."""
        classes, before = len(self.centres), np.floor(places).astype(np.int64)
        of_concept = np.full((classes, classes), (1.0 - self.share) / (classes - 1))
        np.fill_diagonal(of_concept, self.share)
        low, high = of_concept[before % classes], of_concept[(before + 1) % classes]
        return np.asarray(low + (places - before)[:, None] * (high - low))

    def draw(self, rng: np.random.Generator, first: int) -> tuple[Floats, Labels]:
        drawn, noise = rng.random(BLOCK), rng.normal(size=(BLOCK, self.centres.shape[1]))
        below = np.cumsum(self.priors(self.schedule.place(rng, first)), axis=1)[:, :-1]
        y = (drawn[:, None] >= below).sum(axis=1)
        return self.centres[y] + noise, y


DRIFTING: dict[str, type[Generator]] = {
    "hyperplane": Hyperplane,
    "sea": Sea,
    "rotating_classes": RotatingClasses,
    "label_shift": LabelShift,
}
