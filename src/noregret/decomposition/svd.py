"""The online singular value decomposition: rows are appended to a matrix whose factors are kept up to date."""

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from noregret.data.inputs import RowLike, RowsLike
from noregret.decomposition import factor_changes
from noregret.decomposition.base import Scored
from noregret.decomposition.component_table import describe_components
from noregret.decomposition.factors import Factors, Limits, leading_signs, upright_rows
from noregret.decomposition.factors_file import dump_factors, restore_factors
from noregret.decomposition.matrix_rows import LARGEST, MatrixRows, read_matrix, take_rows
from noregret.decomposition.merge_features import align_features
from noregret.decomposition.mini_batches import FEW, free_batch_param, quickest_batch
from noregret.decomposition.missing_entries import fill_missing, find_observed
from noregret.decomposition.parameters import check_whole, rank_param, threshold_param
from noregret.decomposition.row_encoder import ROW_OPTIONS
from noregret.decomposition.steady import SteadyLearner
from noregret.errors import BadValue, shown
from noregret.learner.arguments import check_integer
from noregret.learner.encode import one_row
from noregret.learner.model_file import Arrays, Header, register_kind
from noregret.rules.merge_law import Merge
from noregret.rules.method_card import method_card
from noregret.rules.parameters import Choice

Floats = NDArray[np.float64]


@register_kind
@method_card(
    name="svd",
    paper="Brand, Fast low-rank modifications of the thin singular value decomposition, "
    "Linear Algebra and its Applications 415, 2006",
    kind="svd",
    tasks=("unsupervised",),
    params={
        "rank": rank_param(20),
        "batch": free_batch_param(),
        "threshold": threshold_param(),
        "ceiling": Choice(
            "drop",
            {"drop": False, "project": True},
            "at the rank ceiling the smallest direction is dropped, or rows are projected on those there are",
            search=("drop",),
        ),
        "keep_rows": Choice(
            "no", {"yes": True, "no": False}, "whether the factors of all rows are kept, too", search=("no",)
        ),
        "missing": Choice(
            "refuse",
            {"refuse": None, "nan": False, "absent": True},
            "values that are missing: none; those that are NaN; also features that a dict or a sparse row leaves out",
            search=("refuse",),
        ),
        "fill": Choice(
            "ridge",
            {"ridge": True, "pinv": False},
            "missing values are filled in with a penalty for the noise that the rank leaves out, or by least squares",
            search=("ridge",),
        ),
    },
    options=ROW_OPTIONS,
    merge=Merge("exact", "the decomposition of the rows of both, up to the rank"),
)
class SVD(SteadyLearner[Factors]):
    """Singular value decomposition of all rows so far, up to a rank."""

    kind: ClassVar[str] = "svd"

    def __init__(self, rank: float, batch: float, threshold: float, **options: Any) -> None:
        chosen = {name: options.pop(name) for name in ("ceiling", "keep_rows", "missing", "fill")}
        super().__init__(batch, missing=chosen["missing"] != "refuse", **options)
        self.chosen, self.rank, self.threshold = chosen, check_whole("svd", "rank", rank), threshold
        filled_or_projected = self.missing_values or chosen["ceiling"] == "project"  # by the rows before them
        self.looks_early = not self.batch and not filled_or_projected

    @property
    def params(self) -> dict[str, Any]:
        return {"rank": self.rank, "batch": self.batch, "threshold": self.threshold, **self.chosen}

    # ---- rounds --------------------------------------------------------------------------------------------------

    def start_state(self, features: int) -> Factors:
        project, spare = self.chosen["ceiling"] == "project", max(self.rank, self.batch or FEW)
        limits = Limits(self.rank, self.threshold, project, spare, self.steady)
        return Factors.start(features, limits, self.chosen["keep_rows"] == "yes")

    def next_batch(self, state: Factors | None, width: int) -> int:
        """Rows that are filled in or projected by those before them do not wait for many others."""
        width = width if state is None else state.features
        return self.batch or (quickest_batch(width, self.rank) if self.looks_early else FEW)

    def learn_rows(self, state: Factors, rows: MatrixRows) -> None:
        state.append(self._fill_learned(state, rows) if self.missing_values else rows.dense)

    def score_rows(self, state: Factors, rows: MatrixRows) -> Scored:
        if self.missing_values:
            _, components, errors = self._fill(state, rows)
        else:
            components = state.project(rows.dense)
            errors = state.errors(rows.dense, components)
        return Scored(self.describe(state, components, self.rank), errors + rows.beyond)

    def _fill(self, state: Factors, rows: MatrixRows) -> Any:
        return fill_missing(state, rows.dense, find_observed(rows, self.chosen["missing"] == "absent"))

    def _fill_learned(self, state: Factors, rows: MatrixRows) -> Floats:
        """The rows to be learned, filled in; counts what they tell of the noise."""
        observed = find_observed(rows, self.chosen["missing"] == "absent")
        filled: Floats = fill_missing(state, rows.dense, observed).rows
        if self.chosen["fill"] == "ridge":
            state.freedom += float(np.maximum(observed.sum(axis=1) - self.rank, 0).sum())
        return filled

    # ---- results -------------------------------------------------------------------------------------------------

    @property
    def singular_values(self) -> Floats:
        """The singular values of the matrix of all rows, the largest first."""
        return self.latest.values.copy()

    @property
    def components(self) -> Floats:
        """The right singular vectors, one in each row; the largest entry of each is positive."""
        return upright_rows(self.latest.right)

    @property
    def row_factors(self) -> Floats:
        """The left singular vectors: a row for every row learned, a column for every singular value."""
        state = self._keeping_rows()
        return np.asarray(factor_changes.kept_rows(state).whole(state.rank) * leading_signs(state.right))

    @property
    def mean(self) -> Floats:
        """The mean of all rows, as far as the rank allows."""
        return self.latest.mean

    def factors_of(self, state: Factors) -> Factors:
        return state

    def impute(self, X: RowsLike) -> Floats:
        """The rows with what the factors say in the place of missing values; for missing="nan" and "absent".

        Of a learner with transforms, such as scale=True, these are the transformed rows.
        """
        if not self.missing_values:
            raise BadValue('impute needs a learner of rows with missing values: nr.make("svd", missing="nan")')
        with self._lock:
            state, (block, _) = self.latest, self.encoder.encode(X, learn=False)
            rows = take_rows(block, 0, block.rows, self.features, missing=True)
            return np.asarray(self._fill(state, rows.cut(state.features)).rows)

    def describe_results(self) -> list[str]:
        """The singular values, and the largest entries of the first components."""
        if not self.rounds:
            return []
        return describe_components("singular value", self.singular_values, self.components, self.feature_names)

    # ---- changes of rows that were learned -----------------------------------------------------------------------

    def _keeping_rows(self) -> Factors:
        return require_rows(self.latest)

    def revise(self, row: int, x: RowLike) -> Self:
        """Replace a row that was learned, by its number; needs keep_rows="yes"."""

        def change(state: Factors) -> None:
            number = check_row(state, row)
            block, widths = self.encoder.encode(one_row(x, self.missing_values), learn=True)
            rows = take_rows(block, 0, 1, int(widths[0]), self.missing_values)
            self.make_room(state, rows.width)
            values = self._fill_learned(state, rows) if self.missing_values else rows.dense
            factor_changes.revise_row(state, number, values[0])

        return self._alter(change)

    def remove(self, row: int) -> Self:
        """Forget a row that was learned (downdate); rows after it have numbers one smaller. Needs keep_rows="yes"."""
        return self._alter(lambda state: factor_changes.remove_row(state, check_row(state, row)))

    def recenter(self) -> Self:
        """Take the mean of all rows so far out of them; their factors are then those of PCA."""
        return self._alter(factor_changes.recenter)

    def append_columns(self, values: Any) -> Self:
        """New features, with a value in every row so far: a matrix of as many rows. Needs keep_rows="yes"."""

        def change(state: Factors) -> None:
            wanted = f"columns are a matrix of {require_rows(state).rows} rows, one for each row learned"
            columns = read_matrix(values, wanted, LARGEST)
            if columns.shape[0] != state.rows or not columns.shape[1]:
                raise BadValue(f"{wanted}, not {shown(values)}")
            if (
                self.encoder.names.mode != "columns"
                or self.encoder.transforms
                or state.features != self.encoder.features
            ):
                raise BadValue("columns can be appended where features are known by column number, without transforms")
            factor_changes.append_columns(state, columns)
            self.encoder.features = state.features

        return self._alter(change)

    def merge(self, other: Any) -> Self:
        """A learner of the rows of both, this one's first: exact, but for what the rank leaves out."""
        if not isinstance(other, type(self)) or (other.params, other.row_config) != (self.params, self.row_config):
            raise BadValue(f"svd can be merged only with one made with the same parameters, not with {shown(other)}")
        new, right = self.copy().flush(), other.copy().flush()
        if right.state is None or new.state is None:
            return right if new.state is None else new
        order = align_features(new.encoder, right.encoder)
        added, features = right.state, new.encoder.features
        basis = np.zeros((features, added.basis.shape[1]), order="F")
        basis[order[: added.features]] = added.basis
        added.basis = basis
        state = new.state.copy()
        state.grow(features)
        state.merge(added)
        new.state = state
        new.rounds, new.updates = new.rounds + right.rounds, new.updates + right.updates
        return new

    # ---- model files ---------------------------------------------------------------------------------------------

    def dump_state(self, state: Factors) -> tuple[Header, Arrays]:
        return dump_factors(state)

    def restore_state(self, header: Header, arrays: Arrays, features: int) -> Factors:
        return restore_factors(self.start_state(features), header, arrays)


def require_rows(state: Factors) -> Factors:
    """A state that has the factors of its rows; others are an error."""
    if state.left is None:
        raise BadValue('svd did not keep the factors of its rows; make it with keep_rows="yes"')
    return state


def check_row(state: Factors, row: Any) -> int:
    """The number of a row that was learned."""
    rows, number = require_rows(state).rows, check_integer("row", row, 0)
    if number >= rows:
        raise BadValue(f"row must be below {rows}, the number of rows, not {number}")
    return number
