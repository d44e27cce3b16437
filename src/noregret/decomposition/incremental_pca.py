"""Incremental principal component analysis: the singular value decomposition of rows less their mean so far."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from noregret.decomposition.base import Scored
from noregret.decomposition.component_table import describe_components
from noregret.decomposition.factors import Factors, Limits, upright_rows
from noregret.decomposition.factors_file import LONGEST, dump_factors, read_array, restore_factors
from noregret.decomposition.matrix_rows import FARTHEST, SMALLEST_SQUARE, MatrixRows
from noregret.decomposition.mini_batches import FEW, free_batch_param, quickest_batch
from noregret.decomposition.parameters import check_whole, rank_param, threshold_param
from noregret.decomposition.row_encoder import ROW_OPTIONS
from noregret.decomposition.steady import SteadyLearner
from noregret.learner.header_fields import corrupt, read_count, read_number
from noregret.learner.model_file import Arrays, Header, register_kind
from noregret.rules.method_card import method_card

Floats = NDArray[np.float64]


@dataclass
class Centred:
    """The factors of centred rows, their mean, and the sum of the squares of what was centred."""

    factors: Factors
    mean: Floats
    squares: float = 0.0
    rows: int = 0

    @property
    def features(self) -> int:
        return self.factors.features

    def grow(self, features: int) -> None:
        self.factors.grow(features)
        self.mean = np.concatenate((self.mean, np.zeros(features - self.mean.size)))

    def copy(self) -> Self:
        return replace(self, factors=self.factors.copy())

    def is_finite(self) -> bool:
        return self.factors.is_finite() and bool(np.isfinite(self.mean).all()) and bool(np.isfinite(self.squares))

    def append(self, rows: Floats) -> None:
        """Append rows; the mean moves, which is one more row: how far it moved, weighed by how many rows it moves.

        Means are taken of differences, which are exactly 0 where a feature is constant.
        """
        count, before = len(rows), self.rows
        own = rows[0] + (rows - rows[0]).mean(axis=0)
        shift = own - self.mean
        moved = np.sqrt(before * count / (before + count)) * shift
        centred = np.concatenate((rows - own, moved[None]))
        self.factors.append(centred)
        self.squares += float(np.sum(centred * centred))
        self.rows = before + count
        self.mean = self.mean + (count / self.rows) * shift


@register_kind
@method_card(
    name="pca_incremental",
    paper="Ross et al., Incremental learning for robust visual tracking, International Journal of Computer Vision 77, "
    "2008",
    kind="pca_incremental",
    tasks=("unsupervised",),
    params={"rank": rank_param(20), "batch": free_batch_param(), "threshold": threshold_param()},
    options=ROW_OPTIONS,
)
class IncrementalPCA(SteadyLearner[Centred]):
    """Principal components of all rows so far, centred by their mean."""

    kind: ClassVar[str] = "pca_incremental"

    def __init__(self, rank: float, batch: float, threshold: float, **options: Any) -> None:
        super().__init__(batch, **options)
        self.looks_early = not self.batch
        self.rank, self.threshold = check_whole(self.card.name, "rank", rank), threshold

    @property
    def params(self) -> dict[str, Any]:
        return {"rank": self.rank, "batch": self.batch, "threshold": self.threshold}

    # ---- rounds --------------------------------------------------------------------------------------------------

    def start_state(self, features: int) -> Centred:
        spare = max(self.rank, (self.batch or FEW) + 1)
        limits = Limits(self.rank, self.threshold, spare=spare, steady=self.steady)
        return Centred(Factors.start(features, limits), np.zeros(features))

    def next_batch(self, state: Centred | None, width: int) -> int:
        return self.batch or quickest_batch(width if state is None else state.features, self.rank)

    def learn_rows(self, state: Centred, rows: MatrixRows) -> None:
        state.append(rows.dense)

    def score_rows(self, state: Centred, rows: MatrixRows) -> Scored:
        centred = rows.dense - state.mean
        components = state.factors.project(centred)
        errors = state.factors.errors(centred, components)
        return Scored(self.describe(state, components, self.rank), errors + rows.beyond)

    # ---- results -------------------------------------------------------------------------------------------------

    @property
    def mean(self) -> Floats:
        """The mean of all rows."""
        return self.latest.mean.copy()

    @property
    def singular_values(self) -> Floats:
        """The singular values of the centred rows, the largest first."""
        return self.latest.factors.values.copy()

    def origin_of(self, state: Centred) -> Floats:
        return state.mean

    @property
    def explained_variance(self) -> Floats:
        """The variance along every component."""
        state = self.latest
        return np.asarray(state.factors.values**2 / (state.rows - 1))

    @property
    def explained_variance_ratio(self) -> Floats:
        """The share of every component in the variance of all features together."""
        state = self.latest
        return np.asarray(state.factors.values**2 / max(state.squares, np.finfo(float).tiny))

    @property
    def components(self) -> Floats:
        """The directions of the largest variance, one in each row; the largest entry of each is positive."""
        return upright_rows(self.latest.factors.right)

    def factors_of(self, state: Centred) -> Factors:
        return state.factors

    def describe_results(self) -> list[str]:
        """The share of variance of each component, and its largest entries."""
        if not self.rounds:
            return []
        names = self.feature_names
        return describe_components("variance share", self.explained_variance_ratio, self.components, names)

    # ---- model files ---------------------------------------------------------------------------------------------

    def dump_state(self, state: Centred) -> tuple[Header, Arrays]:
        header, arrays = dump_factors(state.factors)
        return {**header, "squares": state.squares, "mean_of": state.rows}, {**arrays, "mean": state.mean}

    def restore_state(self, header: Header, arrays: Arrays, features: int) -> Centred:
        fresh = self.start_state(features)
        restore_factors(fresh.factors, header, arrays)
        mean, squares = read_array(arrays, "mean", 1), read_number(header.get("squares"), "squares")
        rows = read_count(header, "mean_of", self.learned_rows, 1)
        longest = float(np.sqrt(max(squares, SMALLEST_SQUARE))) * LONGEST
        if (
            mean.shape != (features,)
            or squares < 0.0
            or (fresh.factors.values > longest).any()
            or (np.abs(mean) > FARTHEST).any()
        ):
            raise corrupt("the mean and the squares of its rows do not fit")
        return replace(fresh, mean=mean, squares=squares, rows=rows)
