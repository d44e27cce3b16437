"""Synthetic streams, each with a property that theorems assume: a margin, a small disjunction, a change of concept.

They are opened by name, with parameters: separable, or separable:margin=0.1,rows=5000,seed=3. The rows do not depend on
the batch size: they are drawn in blocks of a fixed size, each with a seed of its own.
"""

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from noregret.data.batch import Batch
from noregret.data.blocks import Rows, SparseBlock
from noregret.data.settings import Setting, Settings, check_settings, parse_settings
from noregret.errors import BadValue
from noregret.streams.drift import DRIFTING
from noregret.streams.generators import BLOCK, SLACK, Generator, unit
from noregret.streams.ratings import Ratings
from noregret.streams.source import Source, read_position

ROWS = 8192
COMMON = {"rows": Setting(10_000, 0, whole=True), "seed": Setting(0, 0, 2**63 - 1, whole=True)}


class Separable(Generator):
    """Rows with |x| <= 1 and y u.x >= margin for a hidden unit vector u; half of them close to the hyperplane."""

    about = "two classes, |x| <= 1, with a margin: y u.x >= margin for a hidden unit vector u"
    settings: ClassVar[Settings] = {
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
    settings: ClassVar[Settings] = {**Separable.settings, "noise": Setting(0.1, 0.0, 0.5)}

    def __init__(self, rng: np.random.Generator, noise: float, **params: Any) -> None:
        super().__init__(rng, **params)
        self.noise = noise

    def draw(self, rng: np.random.Generator, first: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        X, y = super().draw(rng, first)
        return X, np.where(rng.random(BLOCK) < self.noise, -y, y)


class Disjunction(Generator):
    """Rows of Boolean variables, +1 when one of a few relevant variables is on."""

    about = "Boolean variables; +1 exactly when one of the few relevant ones is on"
    settings: ClassVar[Settings] = {
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


GENERATORS: dict[str, type[Generator]] = {
    "separable": Separable,
    "noisy": Noisy,
    "disjunction": Disjunction,
    "ratings": Ratings,
    **DRIFTING,
}


class Synthetic(Source):
    """The rows of a generator; rows=0 makes an endless stream."""

    kind = "synthetic"

    def __init__(self, spec: str, seed: int = 0, batch: int = ROWS) -> None:
        super().__init__()
        self.name, self.batch = spec, batch
        name, _, text = spec.partition(":")
        known = {**GENERATORS[name].settings, **COMMON}
        params = check_settings(name, {"seed": seed, **parse_settings(name, text, known)}, known)
        self.seed, count = int(params.pop("seed")), int(params.pop("rows"))
        self.rows = count or None
        self.learner_defaults = GENERATORS[name].learner_defaults
        try:
            self.generator = GENERATORS[name](np.random.default_rng([self.seed, 0]), **params)
        except BadValue as error:
            raise BadValue(f"{name}: {error}") from None

    def __iter__(self) -> Iterator[Batch]:
        start = read_position(self.start, "row")
        while self.rows is None or start < self.rows:
            size = self.batch if self.rows is None else min(self.batch, self.rows - start)
            X, y = self.draw_rounds(start, start + size)
            start += size
            progress = None if self.rows is None else start / self.rows
            yield Batch(X, y, None, progress, position={"row": start})

    @property
    def changes(self) -> list[int]:
        """The rounds, counted from 0, at which the concept changes; none where it never jumps or the rows never end."""
        return [] if self.rows is None else self.generator.find_changes(self.rows)

    def draw_rounds(self, first: int, last: int) -> tuple[Any, NDArray[np.int64]]:
        """Return the rounds from first up to, but not including, last."""
        parts = []
        for number in range(first // BLOCK, (last + BLOCK - 1) // BLOCK):
            begin = number * BLOCK
            X, y = self.generator.draw(np.random.default_rng([self.seed, 1, number]), begin)
            part = slice(max(first - begin, 0), min(last - begin, BLOCK))
            parts.append((X[part], y[part]))
        return concatenate([X for X, _ in parts]), np.concatenate([y for _, y in parts])


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
