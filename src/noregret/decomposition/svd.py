"""The online singular value decomposition: rows are appended to a matrix whose factors are kept up to date."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from noregret.decomposition.base import Scored, UnsupervisedLearner
from noregret.decomposition.component_table import describe_components
from noregret.decomposition.factors import Factors, leading_signs
from noregret.decomposition.factors_file import dump_factors, restore_factors
from noregret.decomposition.matrix_rows import MatrixRows
from noregret.decomposition.parameters import batch_param, rank_param, threshold_param
from noregret.decomposition.row_encoder import ROW_OPTIONS
from noregret.learner.model_file import Arrays, Header, register_kind
from noregret.rules.merge_law import Merge
from noregret.rules.method_card import method_card
from noregret.rules.parameters import Choice

Floats = NDArray[np.float64]
BRAND = (
    "Brand, Fast low-rank modifications of the thin singular value decomposition, Linear Algebra and its Applications "
    "415, 2006"
)


@register_kind
@method_card(
    name="svd",
    paper=BRAND,
    kind="svd",
    tasks=("unsupervised",),
    params={
        "rank": rank_param(20),
        "batch": batch_param(16),
        "threshold": threshold_param(),
        "keep_rows": Choice("no", {"yes": True, "no": False}, "whether the factors of all rows are kept, too"),
    },
    options=ROW_OPTIONS,
    merge=Merge("exact", "the decomposition of both blocks of rows together, up to the rank"),
)
class SVD(UnsupervisedLearner[Factors]):
    """Singular value decomposition of all rows so far, up to a rank."""

    kind: ClassVar[str] = "svd"

    def __init__(self, rank: float, batch: float, threshold: float, keep_rows: str, **options: Any) -> None:
        super().__init__(batch, **options)
        self.rank, self.threshold, self.keep_rows = int(rank), threshold, keep_rows == "yes"

    @property
    def params(self) -> dict[str, Any]:
        keep = "yes" if self.keep_rows else "no"
        return {"rank": self.rank, "batch": self.batch, "threshold": self.threshold, "keep_rows": keep}

    # ---- rounds --------------------------------------------------------------------------------------------------

    def start_state(self, features: int) -> Factors:
        return Factors.start(features, self.rank, self.threshold, self.keep_rows, self.batch)

    def learn_rows(self, state: Factors, rows: MatrixRows) -> None:
        state.append(rows.dense)

    def score_rows(self, state: Factors, rows: MatrixRows) -> Scored:
        components = state.project(rows.dense)
        losses = state.errors(rows.dense, components) + rows.beyond
        return Scored(pad_columns(components, self.rank), losses)

    # ---- results -------------------------------------------------------------------------------------------------

    @property
    def singular_values(self) -> Floats:
        """The largest singular values of the matrix of all rows, the largest first."""
        return self.latest.values.copy()

    @property
    def components(self) -> Floats:
        """The right singular vectors, one in each row; the largest entry of each is positive."""
        right = self.latest.right
        return np.asarray((right * leading_signs(right)).T)

    def transform(self, X: Any) -> Floats:
        """The coordinates of every row along the components, of shape (rows, rank)."""
        signs = np.ones(self.rank)
        signs[: self.latest.values.size] = leading_signs(self.latest.right)
        return np.asarray(self.score(X).components * signs)

    def describe_results(self) -> list[str]:
        """The singular values, and the largest entries of the first components."""
        return describe_components("singular value", self.singular_values, self.components, self.feature_names)

    # ---- model files ---------------------------------------------------------------------------------------------

    def dump_state(self, state: Factors) -> tuple[Header, Arrays]:
        return dump_factors(state)

    def restore_state(self, header: Header, arrays: Arrays, features: int) -> Factors:
        return restore_factors(self.start_state(features), header, arrays)


def pad_columns(matrix: Floats, columns: int) -> Floats:
    """The matrix with columns of zeros after its own, up to so many."""
    padded = np.zeros((matrix.shape[0], columns))
    padded[:, : matrix.shape[1]] = matrix
    return padded
