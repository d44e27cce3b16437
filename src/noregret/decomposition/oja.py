"""Oja's rule: stochastic gradient ascent on the variance of a few directions, which are kept orthonormal."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from noregret.decomposition.base import Scored, UnsupervisedLearner
from noregret.decomposition.component_table import describe_components
from noregret.decomposition.factors import leading_signs, orthonormal_columns, upright_rows
from noregret.decomposition.factors_file import are_orthonormal, read_array
from noregret.decomposition.matrix_rows import SMALLEST_SQUARE, MatrixRows, pad_columns, row_dots, row_products
from noregret.decomposition.parameters import batch_param, check_whole, rank_param
from noregret.decomposition.row_encoder import ROW_OPTIONS
from noregret.learner.header_fields import corrupt, read_count, read_number
from noregret.learner.model_file import Arrays, Header, register_kind
from noregret.rules.method_card import method_card
from noregret.rules.parameters import Param

Floats = NDArray[np.float64]


@dataclass
class Directions:
    """Orthonormal columns, as many as there are features for; arrays are replaced, never changed."""

    rank: int
    seed: int
    columns: Floats  # features x min(rank, features)
    variances: Floats  # the mean square of the rows along each of them, as they were when the rows came
    squares: float = 0.0  # the sum of |x|^2
    rows: int = 0

    @property
    def features(self) -> int:
        return int(self.columns.shape[0])

    def grow(self, features: int) -> None:
        """New features have random numbers in every column, which do not depend on when they come."""
        count, old = min(self.rank, features), self.columns.shape[1]
        larger = np.zeros((features, count))
        for number in range(self.features if count == old else 0, features):
            random = np.random.default_rng([self.seed, number])
            larger[number] = random.normal(size=self.rank)[:count] / np.sqrt(features)
        larger[: self.features, :old] = self.columns
        self.columns = orthonormal_columns(larger)
        self.variances = np.concatenate((self.variances, np.zeros(count - old)))

    def copy(self) -> Self:
        return replace(self)

    def is_finite(self) -> bool:
        return bool(np.isfinite(self.columns).all()) and bool(np.isfinite(self.squares))

    def step(self, rows: Floats, eta: float, delay: float) -> None:
        """W = orth(W + eta_t / b sum x x' W), where eta_t is measured in units of the mean of |x|^2."""
        count = len(rows)
        self.rows += count
        self.squares += float(np.sum(rows * rows))
        along = rows @ self.columns
        self.variances = self.variances + (np.mean(along * along, axis=0) - self.variances) * (count / self.rows)
        if self.squares > SMALLEST_SQUARE:
            rate = eta / (delay + self.rows) * self.rows / self.squares
            self.columns = orthonormal_columns(self.columns + rate * (rows.T @ along))


@register_kind
@method_card(
    name="oja",
    paper="Oja, A simplified neuron model as a principal component analyzer, Journal of Mathematical Biology 15, 1982",
    kind="oja",
    tasks=("unsupervised",),
    params={
        "rank": rank_param(20),
        "eta": Param(
            100.0, above=0.0, about="the learning rate is eta / (delay + t), in units of the mean of |x|^2",
            search=(3.0, 300.0, "log"),
        ),
        "delay": Param(10.0, at_least=0.0, about="rounds by which the learning rate begins lower",
                       search=(3.0, 300.0, "log")),
        "batch": batch_param(1),
    },
    options=ROW_OPTIONS,
)  # fmt: skip
class Oja(UnsupervisedLearner[Directions]):
    """Principal directions by gradient steps: little memory, one pass, no decomposition of a matrix."""

    kind: ClassVar[str] = "oja"

    def __init__(self, rank: float, eta: float, delay: float, batch: float, **options: Any) -> None:
        super().__init__(batch, **options)
        self.rank, self.eta, self.delay = check_whole(self.card.name, "rank", rank), eta, delay

    @property
    def params(self) -> dict[str, Any]:
        return {"rank": self.rank, "eta": self.eta, "delay": self.delay, "batch": self.batch}

    # ---- rounds --------------------------------------------------------------------------------------------------

    def start_state(self, features: int) -> Directions:
        fresh = Directions(self.rank, self.row_config.seed, np.zeros((0, 0)), np.zeros(0))
        fresh.grow(features)
        return fresh

    def count_numbers(self, features: int) -> int:
        return self.rank * features

    def learn_rows(self, state: Directions, rows: MatrixRows) -> None:
        state.step(rows.dense, self.eta, self.delay)

    def score_rows(self, state: Directions, rows: MatrixRows) -> Scored:
        components = row_products(rows.dense, state.columns)
        rest = rows.dense - row_products(components, state.columns.T)
        return Scored(pad_columns(components, self.rank), row_dots(rest, rest) + rows.beyond)

    # ---- results -------------------------------------------------------------------------------------------------

    @property
    def components(self) -> Floats:
        """The directions, one in each row; the largest entry of each is positive."""
        return upright_rows(self.latest.columns)

    @property
    def variances(self) -> Floats:
        """The mean square of the rows along every direction, as it was when each row came."""
        return self.latest.variances.copy()

    def find_signs(self, state: Directions) -> Floats:
        return leading_signs(state.columns)

    def describe_results(self) -> list[str]:
        """The mean square along each direction, and its largest entries."""
        if not self.rounds:
            return []
        return describe_components("mean square", self.variances, self.components, self.feature_names)

    # ---- model files ---------------------------------------------------------------------------------------------

    def dump_state(self, state: Directions) -> tuple[Header, Arrays]:
        arrays = {"columns": np.ascontiguousarray(state.columns), "variances": state.variances}
        return {"squares": state.squares, "rows": state.rows}, arrays

    def restore_state(self, header: Header, arrays: Arrays, features: int) -> Directions:
        columns, variances = read_array(arrays, "columns", 2), read_array(arrays, "variances", 1)
        squares, rows = read_number(header.get("squares"), "squares"), read_count(header, "rows", self.learned_rows)
        count = min(self.rank, features)
        if columns.shape != (features, count) or variances.shape != (count,) or squares < 0.0:
            raise corrupt("its directions do not fit its features")
        if not are_orthonormal(columns) or (variances < 0.0).any():
            raise corrupt("its directions are not orthonormal, or a variance is negative")
        return Directions(self.rank, self.row_config.seed, columns, variances, squares, rows)
