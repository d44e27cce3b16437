"""Fields: how a rule declares the parts of its state. `state={"w": plain, "sigma": covariance}` on a card names two."""

from dataclasses import dataclass
from typing import Literal

Law = Literal["add", "multiply", "copy", "keep"]
"""What becomes of a cell w when two classes become many, and when they swap their signs.

add: -w/2 and w/2; -w. multiply: w^(-1/2) and w^(1/2); 1/w. copy, keep: w for both; w. In a merge precisions add (copy).
"""


@dataclass(frozen=True)
class Field:
    """One part of a rule's state: its kind of store, the value of every cell before any round, the law for classes."""

    name: str
    kind: str
    start: float
    law: Law
    random: bool = False  # whether the cells begin at random where a learner has a random start
    measured: bool = True  # whether a scaled vector keeps its norm up to date


plain = Field("plain", "vector", 0.0, "add")
positive = Field("positive", "vector", 1.0, "multiply")
random_init = Field("random_init", "vector", 0.0, "add", random=True)
counts = Field("counts", "vector", 0.0, "keep")
scaled = Field("scaled", "scaled", 0.0, "add")
lazy = Field("lazy", "lazy", 0.0, "add")
lazy_groups = Field("lazy_groups", "lazy_groups", 0.0, "add")
grouped = Field("grouped", "grouped", 0.0, "add")
top_k = Field("top_k", "top_k", 0.0, "add")
log_weights = Field("log_weights", "log_weights", 0.0, "add")
snapshot = Field("snapshot", "snapshot", 0.0, "add")
averaged = Field("averaged", "averaged", 0.0, "add")
decayed = Field("decayed", "decayed", 0.0, "add")
centre = Field("centre", "centre", 0.0, "add")
covariance = Field("covariance", "covariance", 1.0, "copy")
basis = Field("basis", "basis", 0.0, "keep")
reservoir = Field("reservoir", "reservoir", 0.0, "keep")
