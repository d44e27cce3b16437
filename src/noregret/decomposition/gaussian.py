"""The Gaussian density of a stream: mean and covariance of all rows so far, exact, and the log-loss of every row."""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from noregret.data.blocks import DenseBlock, all_finite
from noregret.data.inputs import RowsLike
from noregret.decomposition.base import Scored, UnsupervisedLearner
from noregret.decomposition.factors_file import read_array
from noregret.decomposition.matrix_rows import MatrixRows, row_dots, row_products
from noregret.decomposition.parameters import batch_param
from noregret.decomposition.row_encoder import ROW_OPTIONS
from noregret.errors import BadValue
from noregret.learner.header_fields import corrupt, read_count
from noregret.learner.model_file import Arrays, Header, register_kind
from noregret.rules.merge_law import Merge
from noregret.rules.method_card import method_card
from noregret.rules.parameters import Param

Floats = NDArray[np.float64]
CHAN = (
    "Chan, Golub, LeVeque, Algorithms for computing the sample variance: analysis and recommendations, The American "
    "Statistician 37, 1983"
)
LOG_TWO_PI = float(np.log(2.0 * np.pi))
SHOWN = 20  # features


@dataclass
class Moments:
    """How many rows there were, their mean, and the sum of (x - mean)(x - mean)'."""

    mean: Floats
    scatter: Floats
    count: int = 0

    @property
    def features(self) -> int:
        return int(self.mean.size)

    def grow(self, features: int) -> None:
        wider = np.zeros((features, features))
        wider[: self.features, : self.features] = self.scatter
        self.mean, self.scatter = np.concatenate((self.mean, np.zeros(features - self.features))), wider

    def copy(self) -> Self:
        return type(self)(self.mean.copy(), self.scatter.copy(), self.count)

    def is_finite(self) -> bool:
        return all_finite(self.mean) and all_finite(self.scatter)

    def add(self, rows: Floats) -> None:
        """The moments of all rows, from those of the rows so far and those of the new ones, each about its own mean."""
        new, total = len(rows), self.count + len(rows)
        own = rows.mean(axis=0)
        around, shift = rows - own, own - self.mean
        self.scatter = self.scatter + around.T @ around + (self.count * new / total) * np.outer(shift, shift)
        self.mean = self.mean + (new / total) * shift
        self.count = total


@register_kind
@method_card(
    name="gaussian",
    paper=CHAN,
    kind="gaussian",
    title="Gaussian density",
    tasks=("unsupervised",),
    params={
        "batch": batch_param(16),
        "prior": Param(1.0, above=0.0, at_most=1e12, search=(0.01, 100.0, "log"),
                       about="how many rows the variance of the start counts for"),
        "variance": Param(1.0, above=1e-100, at_most=1e100, search=(0.01, 100.0, "log"),
                          about="the variance of every feature at the start"),
    },
    options=ROW_OPTIONS,
    merge=Merge("none", "features of two learners may be numbered differently"),
)  # fmt: skip
class Gaussian(UnsupervisedLearner[Moments]):
    """Gaussian density with the mean and covariance of all rows so far; the loss of a row is -log of its density."""

    kind: ClassVar[str] = "gaussian"

    def __init__(self, batch: float, prior: float, variance: float, **options: Any) -> None:
        super().__init__(batch, **options)
        self.prior, self.variance = prior, variance

    @property
    def params(self) -> dict[str, Any]:
        return {"batch": self.batch, "prior": self.prior, "variance": self.variance}

    # ---- rounds --------------------------------------------------------------------------------------------------

    def start_state(self, features: int) -> Moments:
        return Moments(np.zeros(features), np.zeros((features, features)))

    def count_numbers(self, features: int) -> int:
        return features * features

    def learn_rows(self, state: Moments, rows: MatrixRows) -> None:
        state.add(rows.dense)

    def smoothed(self, state: Moments) -> Floats:
        """The covariance by which rows are scored: that of the rows, and that of the start as `prior` rows more."""
        start = np.diag(np.full(state.features, self.prior * self.variance))
        return np.asarray((state.scatter + start) / (state.count + self.prior))

    def score_rows(self, state: Moments, rows: MatrixRows) -> Scored:
        """Log-density and distance in standard deviations of every row."""
        try:
            root = np.linalg.cholesky(self.smoothed(state))
        except np.linalg.LinAlgError:
            raise BadValue(
                "gaussian: the covariance of the rows is too close to singular; scale the rows, or set a larger prior"
            ) from None
        whiten = np.linalg.solve(root, np.eye(state.features))
        distances = row_products(rows.dense - state.mean, np.ascontiguousarray(whiten.T))
        squares = row_dots(distances, distances) + rows.beyond / self.variance
        losses = 0.5 * (squares + state.features * LOG_TWO_PI) + float(np.log(np.diag(root)).sum())
        return Scored(np.column_stack((-losses, np.sqrt(squares))), losses)

    def _score(self, state: Moments | None, rows: MatrixRows, start: int) -> Scored:
        """Scores of rows; features that are new and not 0 in a row have the variance of the start."""
        known = 0 if state is None else state.features
        components, losses = super()._score(state, rows, start)
        more = 0.5 * (LOG_TWO_PI + float(np.log(self.variance))) * count_beyond(rows, known)
        return Scored(np.column_stack((components[:, 0] - more, components[:, 1])), losses + more)

    # ---- results -------------------------------------------------------------------------------------------------

    @property
    def mean(self) -> Floats:
        """The mean of all rows."""
        return self.latest.mean.copy()

    @property
    def covariance(self) -> Floats:
        """The covariance of all rows, divided by their number."""
        state = self.latest
        return np.asarray(state.scatter / max(state.count, 1))

    def predict(self, X: RowsLike) -> Floats:
        """The log-density of every row."""
        return self.score(X).components[:, 0].copy()

    def describe_results(self) -> list[str]:
        """Mean and standard deviation of the first features."""
        lines = [f"{'mean':>14}{'deviation':>14}  feature"]
        deviations = np.sqrt(np.diag(self.covariance))
        table = zip(self.mean.tolist(), deviations.tolist(), self.feature_names, strict=False)
        lines += [f"{mean:>14.6g}{deviation:>14.6g}  {name}" for mean, deviation, name in list(table)[:SHOWN]]
        return lines if self.features <= SHOWN else [*lines, f"    and {self.features - SHOWN} more"]

    # ---- model files ---------------------------------------------------------------------------------------------

    def dump_state(self, state: Moments) -> tuple[Header, Arrays]:
        return {"count": state.count}, {"mean": state.mean, "scatter": np.ascontiguousarray(state.scatter)}

    def restore_state(self, header: Header, arrays: Arrays, features: int) -> Moments:
        mean, scatter = read_array(arrays, "mean", 1), read_array(arrays, "scatter", 2)
        if mean.shape != (features,) or scatter.shape != (features, features):
            raise corrupt("its mean and covariance do not fit its features")
        if (np.diag(scatter) < 0.0).any():
            raise corrupt("a variance is negative")
        return Moments(mean, scatter, read_count(header, "count", self.learned_rows, 1))


def count_beyond(rows: MatrixRows, known: int) -> Floats:
    """How many features from number `known` on are not 0, in each row."""
    if isinstance(rows.block, DenseBlock):
        return np.asarray(np.count_nonzero(rows.block.val[:, known:], axis=1), np.float64)
    block = rows.block
    size = int(block.indptr[-1])
    after = (block.idx[:size] >= known) & (block.val[:size] != 0.0)
    owner = np.repeat(np.arange(block.rows), np.diff(block.indptr))
    return np.bincount(owner[after], minlength=block.rows).astype(np.float64)
