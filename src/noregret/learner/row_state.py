"""What reading rows needs to know of a learner, whatever else it is: how it was made, and which features it knows."""

from collections.abc import Sequence
from typing import Protocol

from noregret.features.feature_selectors import FeatureSelectors
from noregret.features.fitted import FittedTransform
from noregret.features.hashing import HashedNames
from noregret.features.names import Names
from noregret.features.transforms import Pipeline
from noregret.rules.card import Card


class RowOptions(Protocol):
    """The options of a learner that say how its rows are read."""

    @property
    def allows_missing(self) -> bool: ...

    @property
    def transforms(self) -> Pipeline: ...

    @property
    def scale(self) -> bool: ...

    @property
    def bits(self) -> int | None: ...

    @property
    def grows(self) -> bool: ...

    @property
    def native(self) -> bool: ...

    @property
    def seed(self) -> int: ...


class RowState(Protocol):
    """The features that a learner knows, and what its transforms have seen."""

    names: Names | HashedNames
    columns: int  # of dense rows that were learned, where a transform makes other features of them; 0 before

    @property
    def config(self) -> RowOptions: ...

    @property
    def card(self) -> Card: ...

    @property
    def selectors(self) -> FeatureSelectors: ...

    @property
    def transforms(self) -> Sequence[FittedTransform]: ...

    @property
    def algebra(self) -> str | None: ...

    @property
    def learned_features(self) -> int: ...

    @property
    def makes_features(self) -> bool: ...
