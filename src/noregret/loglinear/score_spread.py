"""The spread of the scores of a system, by which they are divided, so that first weights suit any system."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from noregret.learner.header_fields import corrupt, read_count, read_list, read_number
from noregret.learner.model_file import Header


class Spread(NamedTuple):
    """How far scores of the system lie apart: the sum of their standard deviations within lists, and how many lists."""

    total: float = 0.0
    lists: int = 0

    @property
    def mean(self) -> float:
        """The mean deviation, by which scores are divided; 1 where all are equal."""
        return self.total / self.lists if self.total else 1.0

    def with_list(self, rows: Sequence[Mapping[str, float]]) -> "Spread":
        """The same after one more list."""
        with np.errstate(all="ignore"):
            found = float(np.std([row["score"] for row in rows]))
        return Spread(self.total + found, self.lists + 1) if math.isfinite(self.total + found) else self


def read_spread(header: Header) -> Spread:
    """The spread of the scores, checked."""
    given = read_list(header, "spread")
    if len(given) != 2:
        raise corrupt("spread must be two numbers")
    total = read_number(given[0], "spread")
    if total < 0.0:
        raise corrupt("spread must not be negative")
    return Spread(total, read_count({"lists": given[1]}, "lists", least=1 if total else 0))
