"""Covariances: diagonal by precision, diagonal by drop, or full; in the reference algebra, always a whole matrix."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from noregret.algebra.covariance import Diagonal, Dropped
from noregret.algebra.full_covariance import Full
from noregret.algebra.reference_sigma import ReferenceSigma
from noregret.state.fields import Field
from noregret.state.space import Space
from noregret.state.stores.base import Parts, Places, Saved, Store, Vector


@dataclass(frozen=True)
class CovarianceStore(Store[Diagonal | Dropped]):
    """One variance for every class and feature."""

    drops: bool = False

    kind = "covariance"
    is_vector = False

    @classmethod
    def choose(cls, space: Space) -> Store[Any]:
        if space.algebra == "reference":
            return ReferenceSigmaStore()
        return FullStore() if space.covariance == "full" else cls(space.covariance == "drop")

    def build(self, field: Field, space: Space, parts: Parts) -> Diagonal | Dropped:
        cells = np.full(space.room * space.class_room, field.start)
        return Dropped(cells) if self.drops else Diagonal(cells)

    def vectors(self, value: Diagonal | Dropped) -> list[Vector]:
        return [value.v]

    def check(self, name: str, saved: Saved, space: Space) -> str | None:
        problem = super().check(name, saved, space)
        if problem is None and (saved.arrays[f"state.{name}"] < 0.0).any():
            return f"state.{name} has negative variances"
        return problem


class MatrixStore(Store[Any]):
    """A matrix for every class, of which the lower triangle counts."""

    is_vector = False

    def vectors(self, value: Any) -> list[Vector]:
        return [value.S]

    def cells(self, value: Any, space: Space) -> list[Vector]:
        return [value.S]

    def cell_shape(self, space: Space) -> tuple[int, ...]:
        return (space.classes, space.features, space.features)

    def count_cells(self, space: Space) -> int:
        return space.class_room * space.room * space.room

    def rearrange(self, source: tuple[Any, Space], target: tuple[Any, Space], classes: Places, features: Places) -> Any:
        (value, old), (fresh, _) = source, target
        used = value.S[: classes.size, : old.features, : old.features]
        fresh.S[np.ix_(classes, features, features)] = symmetrize(used)
        return fresh

    def initial_matrices(self, field: Field, space: Space) -> Vector:
        S = np.zeros((space.class_room, space.room, space.room))
        S[:, range(space.room), range(space.room)] = field.start
        return S


class FullStore(MatrixStore):
    """A matrix for every class, scratch rows, and how many features are in use."""

    kind = "full_covariance"

    def build(self, field: Field, space: Space, parts: Parts) -> Full:
        scratch = np.zeros((2, space.room))
        return Full(self.initial_matrices(field, space), scratch, np.array([space.features]))

    def use_features(self, value: Full, features: int) -> None:
        value.used[0] = max(int(value.used[0]), features)


class ReferenceSigmaStore(MatrixStore):
    """A matrix for every class, and what of it is kept."""

    kind = "reference_covariance"

    def build(self, field: Field, space: Space, parts: Parts) -> ReferenceSigma:
        return ReferenceSigma(self.initial_matrices(field, space), space.covariance)


def symmetrize(lower: Vector) -> Vector:
    """Return matrices of which only the lower triangle counts, in full."""
    return np.asarray(np.tril(lower) + np.swapaxes(np.tril(lower, -1), 1, 2))
