"""Online k-means: centres that move towards the rows nearest to them, one row or one mini-batch at a time."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from noregret.data.inputs import RowsLike
from noregret.decomposition.base import Scored, UnsupervisedLearner
from noregret.decomposition.centres import Centres, squares_to
from noregret.decomposition.factors_file import read_array
from noregret.decomposition.matrix_rows import FARTHEST, MatrixRows
from noregret.decomposition.parameters import batch_param
from noregret.decomposition.row_encoder import ROW_OPTIONS
from noregret.errors import BadValue
from noregret.learner.header_fields import corrupt, read_count
from noregret.learner.model_file import Arrays, Header, register_kind
from noregret.rules.merge_law import Merge
from noregret.rules.method_card import method_card
from noregret.rules.parameters import Param

Floats = NDArray[np.float64]
MACQUEEN = (
    "MacQueen, Some methods for classification and analysis of multivariate observations, Berkeley Symposium 1967; "
    "mini-batches: Sculley, Web-scale k-means clustering, WWW 2010"
)
SHOWN = 20  # clusters
REFINEMENTS = 10  # iterations of k-means on the first mini-batch
PER_CENTRE = 30  # rows of the first mini-batch for each centre, where nothing else is asked for


@register_kind
@method_card(
    name="kmeans",
    paper=MACQUEEN,
    kind="kmeans",
    title="k-means",
    tasks=("unsupervised",),
    params={
        "k": Param(8.0, at_least=1.0, at_most=1 << 14, about="the number of clusters",
                   untuned="more clusters always have smaller losses"),
        "batch": batch_param(32),
        "start": Param(0.0, at_least=0.0, at_most=1 << 20, untuned="more rows make a better start, which comes later",
                       about="rows among which k-means++ chooses the first centres; 0: 30 for each centre"),
    },
    options=ROW_OPTIONS,
    merge=Merge("none", "centres of two learners have no common order"),
)  # fmt: skip
class KMeans(UnsupervisedLearner[Centres]):
    """Online k-means: each centre is the mean of the rows that were nearest to it when they came."""

    kind: ClassVar[str] = "kmeans"

    def __init__(self, k: float, batch: float, start: float, **options: Any) -> None:
        super().__init__(batch, **options)
        self.k, self.start = int(k), int(start)
        if k != self.k or start != self.start:
            raise BadValue("kmeans: k and start must be whole numbers")
        self.first_batch = max(self.batch, self.start or PER_CENTRE * self.k)

    @property
    def params(self) -> dict[str, Any]:
        return {"k": self.k, "batch": self.batch, "start": self.start}

    # ---- rounds --------------------------------------------------------------------------------------------------

    def start_state(self, features: int) -> Centres:
        return Centres.start(features)

    def learn_rows(self, state: Centres, rows: MatrixRows) -> None:
        """Find centres where there are fewer than k, then move them; the first mini-batch is clustered as a whole."""
        random = np.random.Generator(np.random.Philox(key=np.array([self.row_config.seed, state.steps], np.uint64)))
        if not state.steps:
            found = Centres.find(rows.dense, self.k, random, REFINEMENTS)
            state.centres, state.counts, state.steps = found.centres, found.counts, found.steps
            return
        if len(state.centres) < self.k:
            state.seed(rows.dense, self.k, random)
        state.step(rows.dense)

    def score_rows(self, state: Centres, rows: MatrixRows) -> Scored:
        """Distances to all centres, infinite where one is not known yet, and the square of the smallest."""
        found = np.full((rows.rows, self.k), np.inf)
        squares = state.distances(rows.dense) + rows.beyond[:, None]
        found[:, : len(state.centres)] = np.sqrt(squares)
        if not len(state.centres):
            return Scored(found, rows.beyond)
        nearest = state.centres[np.argmin(squares, axis=1)]
        return Scored(found, squares_to(rows.dense, nearest) + rows.beyond)

    # ---- results -------------------------------------------------------------------------------------------------

    @property
    def centres(self) -> Floats:
        """The centres, one in each row."""
        return self.latest.centres.copy()

    @property
    def components(self) -> Floats:
        """The same."""
        return self.centres

    @property
    def counts(self) -> NDArray[np.int64]:
        """How many rows each centre has learned."""
        return self.latest.counts.copy()

    def predict(self, X: RowsLike) -> NDArray[np.int64]:
        """The number of the nearest centre of every row."""
        return np.asarray(np.argmin(self.score(X).components, axis=1))

    def inertia(self, X: RowsLike) -> float:
        """The sum of squared distances of rows to their nearest centres."""
        return float(self.score(X).losses.sum())

    def component_names(self, count: int) -> list[str]:
        """Clusters count from 0."""
        return [f"cluster {number}" for number in range(count)]

    def column_titles(self, count: int) -> list[str]:
        """The columns of `transform` are distances to the centres, which count from 0."""
        return [f"distance to {number}" for number in range(count)]

    def describe_results(self) -> list[str]:
        """A line for every cluster, the largest first: how many rows it has, and what sets it apart from the mean."""
        if not self.rounds:
            return []
        state, names = self.latest, self.feature_names
        centres, counts = state.centres, state.counts
        mean = counts @ centres / int(counts.sum())
        lines = [f"{'cluster':>9}{'rows':>10}  largest differences from the mean of all rows"]
        for number in np.argsort(-counts, kind="stable")[:SHOWN].tolist():
            difference = centres[number] - mean
            order = np.argsort(-np.abs(difference), kind="stable")[:5].tolist()
            entries = ", ".join(f"{names[at]} {difference[at]:+.3g}" for at in order if difference[at] != 0.0)
            lines.append(f"{number:>9}{counts[number]:>10,}  {entries}")
        return lines

    # ---- model files ---------------------------------------------------------------------------------------------

    def dump_state(self, state: Centres) -> tuple[Header, Arrays]:
        return {"steps": state.steps}, {"centres": state.centres, "counts": state.counts}

    def restore_state(self, header: Header, arrays: Arrays, features: int) -> Centres:
        centres, counts = read_array(arrays, "centres", 2), arrays.get("counts")
        if counts is None or counts.dtype != np.int64 or counts.ndim != 1 or (counts < 0).any():
            raise corrupt("counts must be whole numbers from 0 on")
        if centres.shape != (counts.size, features) or not 1 <= counts.size <= self.k:
            raise corrupt("its centres and their counts do not fit together")
        if (np.abs(centres) > FARTHEST).any():
            raise corrupt("a centre is farther away than any row can be")
        if not 1 <= sum(counts.tolist()) <= self.learned_rows:
            raise corrupt("its centres have learned no rows, or more than there were")
        return Centres(centres, counts.copy(), read_count(header, "steps"))
