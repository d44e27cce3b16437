"""The mean of all rows so far: the baseline that components and clusters have to beat."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from noregret.data.blocks import all_finite
from noregret.data.inputs import RowsLike
from noregret.decomposition.base import Scored, UnsupervisedLearner
from noregret.decomposition.component_table import describe_components
from noregret.decomposition.factors_file import read_array
from noregret.decomposition.matrix_rows import FARTHEST, MatrixRows, row_dots
from noregret.decomposition.parameters import batch_param
from noregret.decomposition.row_encoder import ROW_OPTIONS
from noregret.learner.header_fields import corrupt, read_count
from noregret.learner.model_file import Arrays, Header, register_kind
from noregret.rules.merge_law import Merge
from noregret.rules.method_card import method_card

Floats = NDArray[np.float64]
WELFORD = "Welford, Note on a method for calculating corrected sums of squares and products, Technometrics 4, 1962"


@dataclass
class Mean:
    """The mean of so many rows; the array is replaced, never changed."""

    mean: Floats
    count: int = 0

    @property
    def features(self) -> int:
        return int(self.mean.size)

    def grow(self, features: int) -> None:
        self.mean = np.concatenate((self.mean, np.zeros(features - self.features)))

    def copy(self) -> Self:
        return replace(self)

    def is_finite(self) -> bool:
        return all_finite(self.mean)


@register_kind
@method_card(
    name="mean_row",
    paper=WELFORD,
    kind="mean_row",
    title="Mean row",
    tasks=("unsupervised",),
    params={"batch": batch_param(1)},
    options=ROW_OPTIONS,
    merge=Merge("none", "features of two learners may be numbered differently"),
)
class MeanRow(UnsupervisedLearner[Mean]):
    """The mean of all rows so far; the loss of a row is its squared distance to it. A baseline for decompositions."""

    kind: ClassVar[str] = "mean_row"

    @property
    def params(self) -> dict[str, Any]:
        return {"batch": self.batch}

    # ---- rounds --------------------------------------------------------------------------------------------------

    def start_state(self, features: int) -> Mean:
        return Mean(np.zeros(features))

    def learn_rows(self, state: Mean, rows: MatrixRows) -> None:
        """mean = mean + (sum of the new rows - their number times mean) / all rows."""
        state.count += rows.rows
        state.mean = state.mean + (rows.dense - state.mean).sum(axis=0) / state.count

    def score_rows(self, state: Mean, rows: MatrixRows) -> Scored:
        """The distance of every row to the mean, and its square."""
        rest = rows.dense - state.mean
        squares = row_dots(rest, rest) + rows.beyond
        return Scored(np.sqrt(squares)[:, None], squares)

    # ---- results -------------------------------------------------------------------------------------------------

    @property
    def mean(self) -> Floats:
        """The mean of all rows."""
        return self.latest.mean.copy()

    @property
    def components(self) -> Floats:
        """The mean, as the only row."""
        return self.mean[None]

    def predict(self, X: RowsLike) -> Floats:
        """The distance of every row to the mean."""
        return self.score(X).components[:, 0].copy()

    def column_titles(self, count: int) -> list[str]:
        """The only column is the distance to the mean."""
        return ["distance"]

    def describe_results(self) -> list[str]:
        """The length of the mean, and its largest entries."""
        if not self.rounds:
            return []
        mean = self.mean
        length = np.sqrt(mean @ mean)
        return describe_components("length", np.array([length]), mean[None], self.feature_names)

    # ---- model files ---------------------------------------------------------------------------------------------

    def dump_state(self, state: Mean) -> tuple[Header, Arrays]:
        return {"count": state.count}, {"mean": state.mean}

    def restore_state(self, header: Header, arrays: Arrays, features: int) -> Mean:
        mean = read_array(arrays, "mean", 1)
        if mean.shape != (features,) or (np.abs(mean) > FARTHEST).any():
            raise corrupt("the mean of its rows does not fit its features")
        return Mean(mean, read_count(header, "count", self.learned_rows, 1))
