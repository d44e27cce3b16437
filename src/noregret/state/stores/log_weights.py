"""Log weights: theta stands for exp(theta), and sums of these over all cells are up to date."""

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from noregret.algebra.log_weights import NUMBERS, LogWeights, bounded_exp
from noregret.state.fields import Field
from noregret.state.space import Space
from noregret.state.stores.base import Parts, Store, Vector
from noregret.state.stores.plain import PlainStore, initial_cells


class LogWeightsStore(Store[LogWeights]):
    """The cells; for each a theta it had and its exponential, which is valid for as long as theta is the same."""

    kind = "log_weights"
    numbers = NUMBERS
    former_numbers: ClassVar[Mapping[str, str]] = {"moved": "nonzeros"}

    @classmethod
    def choose(cls, space: Space) -> Store[Any]:
        return PlainStore.choose(space) if space.algebra == "reference" else cls()

    def build(self, field: Field, space: Space, parts: Parts) -> LogWeights:
        cells = initial_cells(field, space)
        return LogWeights(cells, np.zeros(2 * cells.size), parts.numbers)

    def vectors(self, value: LogWeights) -> list[Vector]:
        return [value.v]

    def settle(self, value: LogWeights) -> None:
        value.n[:] = list(NUMBERS.values())

    def check_numbers(self, value: LogWeights) -> str | None:
        sides, nonzeros, order = float(value.n[2]), float(value.n[6]), float(value.n[7])
        if sides not in (-1.0, 0.0, 1.0, 2.0) or not 0.0 <= nonzeros <= value.v.size or order < 0.0:
            return f"log weights with sums over {sides} sides of {nonzeros} cells, order {order}"
        if sides != 0.0 and nonzeros != np.count_nonzero(value.v):
            return f"log weights with a sum of {nonzeros} terms, not of {np.count_nonzero(value.v)}"
        if not math.isclose(value.n[4], bounded_exp(-float(value.n[3])), rel_tol=1e-9):
            return f"log weights whose largest exponent is {value.n[3]}, with the factor {value.n[4]}"
        return None
