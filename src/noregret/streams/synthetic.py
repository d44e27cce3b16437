"""Synthetic streams, each with a property that theorems assume: a margin, a small disjunction, a steady drift.

They are opened by name, with parameters: separable, or separable:margin=0.1,rows=5000,seed=3. The rows do not depend on
the batch size: they are drawn in blocks of a fixed size, each with a seed of its own.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import inf, pi
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from noregret.data.batch import Batch
from noregret.data.blocks import Rows, SparseBlock
from noregret.errors import BadValue, find_closest, shown
from noregret.streams.source import Source

ROWS = 8192
BLOCK = 1024  # rows drawn with one seed
SLACK = 1e-9  # the distance kept from every bound, so that rounding cannot violate it


@dataclass(frozen=True)
class Setting:
    """A parameter of a synthetic stream, with its limits."""

    default: float
    low: float
    high: float = inf
    whole: bool = False

    @property
    def limits(self) -> str:
        """The limits, for error messages."""
        kind = "a whole number" if self.whole else "a number"
        return f"{kind} of at least {self.low:g}" + (f" and at most {self.high:g}" if self.high < inf else "")

    def check(self, name: str, value: Any) -> float:
        """Return the value as a number, or raise an error that states the limits."""
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = inf
        if not self.low <= number <= self.high or number == inf or (self.whole and number != int(number)):
            raise BadValue(f"{name} must be {self.limits}, not {shown(value)}")
        return int(number) if self.whole else number


COMMON = {"rows": Setting(10_000, 0, whole=True), "seed": Setting(0, 0, 2**63 - 1, whole=True)}


class Generator(ABC):
    """Draws rows and labels -1 and +1; the hidden target is drawn first."""

    about: ClassVar[str]
    settings: ClassVar[Mapping[str, Setting]]

    @abstractmethod
    def __init__(self, rng: np.random.Generator, **params: Any) -> None: ...

    @abstractmethod
    def draw(self, rng: np.random.Generator, first: int) -> tuple[Any, NDArray[np.int64]]:
        """Draw BLOCK rows and their labels, from round `first` on."""


class Separable(Generator):
    """Rows with |x| <= 1 and y u.x >= margin for a hidden unit vector u; half of them close to the hyperplane."""

    about = "two classes, |x| <= 1, with a margin: y u.x >= margin for a hidden unit vector u"
    settings: ClassVar[Mapping[str, Setting]] = {
        "features": Setting(20, 2, 100_000, whole=True),
        "margin": Setting(0.1, 1e-6, 0.9),
    }

    def __init__(self, rng: np.random.Generator, features: int, margin: float) -> None:
        self.margin = margin
        self.u = unit(rng.normal(size=features))

    def draw(self, rng: np.random.Generator, first: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        y = rng.choice([-1, 1], size=BLOCK)
        least, most = self.margin + SLACK, 1.0 - SLACK
        reach = np.where(rng.random(BLOCK) < 0.5, min(most, 3.0 * self.margin), most)
        along = least + (reach - least) * rng.random(BLOCK)
        across = rng.normal(size=(BLOCK, self.u.size))
        across -= np.outer(across @ self.u, self.u)
        width = np.sqrt(most**2 - along**2) * rng.random(BLOCK) ** (1.0 / (self.u.size - 1))
        across *= (width / np.linalg.norm(across, axis=1))[:, None]
        return np.outer(y * along, self.u) + across, y


class Noisy(Separable):
    """Separable rows with label noise."""

    about = "separable, and every label is flipped with probability noise"
    settings: ClassVar[Mapping[str, Setting]] = {**Separable.settings, "noise": Setting(0.1, 0.0, 0.5)}

    def __init__(self, rng: np.random.Generator, noise: float, **params: Any) -> None:
        super().__init__(rng, **params)
        self.noise = noise

    def draw(self, rng: np.random.Generator, first: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        X, y = super().draw(rng, first)
        return X, np.where(rng.random(BLOCK) < self.noise, -y, y)


class Hyperplane(Generator):
    """Rows uniform in the unit ball, labelled by a hyperplane that rotates a little every round (concept drift)."""

    about = "concept drift: two classes by the side of a hyperplane that rotates by drift degrees every 1000 rounds"
    settings: ClassVar[Mapping[str, Setting]] = {
        "features": Setting(10, 2, 100_000, whole=True),
        "drift": Setting(10.0, 0.0, 180.0),
    }

    def __init__(self, rng: np.random.Generator, features: int, drift: float) -> None:
        self.speed = drift * pi / 180.0 / 1000.0
        self.start = unit(rng.normal(size=features))
        other = rng.normal(size=features)
        self.other = unit(other - (other @ self.start) * self.start)

    def at(self, rounds: Any) -> NDArray[np.float64]:
        """Return the normal vector of the hyperplane in each of these rounds."""
        angle = self.speed * np.asarray(rounds, np.float64)
        return np.asarray(np.cos(angle)[..., None] * self.start + np.sin(angle)[..., None] * self.other)

    def draw(self, rng: np.random.Generator, first: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        X = rng.normal(size=(BLOCK, self.start.size))
        X *= (rng.random(BLOCK) ** (1.0 / self.start.size) * (1.0 - SLACK) / np.linalg.norm(X, axis=1))[:, None]
        side = (X * self.at(np.arange(first, first + BLOCK))).sum(axis=1)
        return X, np.where(side >= 0.0, 1, -1)


class Disjunction(Generator):
    """Rows of Boolean variables, +1 when one of a few relevant variables is on."""

    about = "Boolean variables; +1 exactly when one of the few relevant ones is on"
    settings: ClassVar[Mapping[str, Setting]] = {
        "features": Setting(200, 2, 10_000_000, whole=True),
        "relevant": Setting(5, 1, 10_000, whole=True),
        "active": Setting(10, 0, 10_000, whole=True),
    }

    def __init__(self, rng: np.random.Generator, features: int, relevant: int, active: int) -> None:
        if relevant + active > features:
            raise BadValue(
                f"relevant and active together must be at most features, {features}, not {relevant} + {active}"
            )
        self.features, self.active = features, active
        order = rng.permutation(features).astype(np.int32)
        self.relevant, self.others = np.sort(order[:relevant]), order[relevant:]

    def draw(self, rng: np.random.Generator, first: int) -> tuple[Rows, NDArray[np.int64]]:
        y = rng.choice([-1, 1], size=BLOCK)
        # Distinct variables in every row: sorted draws with repetition, shifted by their rank.
        distinct = np.sort(rng.integers(self.others.size - self.active + 1, size=(BLOCK, self.active)), axis=1)
        idx = np.empty((BLOCK, self.active + 1), np.int32)
        idx[:, 1:] = self.others[distinct + np.arange(self.active)]
        idx[:, 0] = np.where(y > 0, rng.choice(self.relevant, size=BLOCK), self.features)
        idx.sort(axis=1)
        on = idx < self.features
        indptr = np.concatenate(([0], np.cumsum(on.sum(axis=1)))).astype(np.int64)
        return Rows(SparseBlock(indptr, idx[on], np.ones(int(indptr[-1])), self.features)), y


def unit(vector: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scale a vector to length 1."""
    return np.asarray(vector / np.linalg.norm(vector))


GENERATORS: dict[str, type[Generator]] = {
    "separable": Separable,
    "noisy": Noisy,
    "hyperplane": Hyperplane,
    "disjunction": Disjunction,
}


class Synthetic(Source):
    """The rows of a generator; rows=0 makes an endless stream."""

    kind = "synthetic"

    def __init__(self, spec: str, seed: int = 0, batch: int = ROWS) -> None:
        super().__init__()
        self.name, self.batch = spec, batch
        name, _, text = spec.partition(":")
        params = parse_params(name, text, {"seed": seed})
        self.seed, count = int(params.pop("seed")), int(params.pop("rows"))
        self.rows = count or None
        try:
            self.generator = GENERATORS[name](np.random.default_rng([self.seed, 0]), **params)
        except BadValue as error:
            raise BadValue(f"{name}: {error}") from None

    def __iter__(self) -> Iterator[Batch]:
        start = 0
        while self.rows is None or start < self.rows:
            size = self.batch if self.rows is None else min(self.batch, self.rows - start)
            X, y = self.draw_rounds(start, start + size)
            start += size
            yield Batch(X, y, None, None if self.rows is None else start / self.rows)

    def draw_rounds(self, first: int, last: int) -> tuple[Any, NDArray[np.int64]]:
        """Return the rounds from first up to, but not including, last."""
        parts = []
        for number in range(first // BLOCK, (last + BLOCK - 1) // BLOCK):
            begin = number * BLOCK
            X, y = self.generator.draw(np.random.default_rng([self.seed, 1, number]), begin)
            part = slice(max(first - begin, 0), min(last - begin, BLOCK))
            parts.append((X[part], y[part]))
        return concatenate([X for X, _ in parts]), np.concatenate([y for _, y in parts])


def parse_params(name: str, text: str, given: dict[str, Any]) -> dict[str, float]:
    """Parse the parameters of a generator, written as key=value,key=value."""
    known = {**GENERATORS[name].settings, **COMMON}
    params = dict(given)
    for part in filter(None, text.split(",")):
        key, sign, value = (piece.strip() for piece in part.partition("="))
        if key not in known:
            close = find_closest(key, known)
            hint = f"; did you mean {close}?" if close else ""
            raise BadValue(f"{name}: there is no setting {key!r}{hint}; there are {', '.join(known)}")
        if not sign:
            raise BadValue(f"{name}: give {key} a value, as in {name}:{key}={known[key].default:g}")
        params[key] = value
    return {key: one.check(f"{name}: {key}", params.get(key, one.default)) for key, one in known.items()}


def concatenate(parts: list[Any]) -> Any:
    """Concatenate rows."""
    if len(parts) == 1 or not isinstance(parts[0], Rows):
        return parts[0] if len(parts) == 1 else np.concatenate(parts)
    blocks = [part.block for part in parts]
    starts = np.cumsum([0, *(block.idx.size for block in blocks[:-1])])
    indptr = [block.indptr[1:] + start for block, start in zip(blocks, starts, strict=True)]
    return Rows(
        SparseBlock(
            np.concatenate(([0], *indptr)),
            np.concatenate([block.idx for block in blocks]),
            np.concatenate([block.val for block in blocks]),
            blocks[0].width,
        )
    )
