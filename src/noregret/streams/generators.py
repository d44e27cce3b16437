"""What draws the rows of a synthetic stream: a hidden target, then rows in blocks of a fixed size."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from noregret.data.settings import Settings

BLOCK = 1024  # rows drawn with one seed
SLACK = 1e-9  # the distance kept from every bound, so that rounding cannot violate it

Labels = NDArray[np.int64]


class Generator(ABC):
    """Draws rows and labels; the hidden target is drawn first."""

    about: ClassVar[str]
    settings: ClassVar[Settings]
    task: ClassVar[str] = "binary"
    columns: ClassVar[int | None] = None  # the number of features, where it is not a setting
    learner_defaults: ClassVar[Mapping[str, Any]] = MappingProxyType({})  # options of learners that suit the rows

    @abstractmethod
    def __init__(self, rng: np.random.Generator, **params: Any) -> None: ...

    @abstractmethod
    def draw(self, rng: np.random.Generator, first: int) -> tuple[Any, Labels]:
        """Draw BLOCK rows and their labels, from round `first` on."""

    @classmethod
    def default_columns(cls) -> int:
        """The number of features without settings."""
        return cls.columns if cls.columns is not None else int(cls.settings["features"].default)

    def find_changes(self, rows: int) -> list[int]:
        """The rounds, counted from 0, from which on another target labels the rows; none where it never jumps."""
        return []


def unit(vector: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scale a vector to length 1."""
    return np.asarray(vector / np.linalg.norm(vector))
