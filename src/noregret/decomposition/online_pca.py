"""Online PCA with a regret bound: matrix exponentiated gradient over the subspaces to leave out."""

import math
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from noregret.decomposition.base import Scored, UnsupervisedLearner
from noregret.decomposition.component_table import describe_components
from noregret.decomposition.density import Density
from noregret.decomposition.factors import leading_signs, upright_rows
from noregret.decomposition.factors_file import are_orthonormal, read_array
from noregret.decomposition.matrix_rows import MatrixRows, pad_columns, row_dots, row_products
from noregret.decomposition.parameters import batch_param, check_whole, rank_param
from noregret.decomposition.row_encoder import ROW_OPTIONS
from noregret.errors import BadValue
from noregret.learner.header_fields import corrupt, read_count, read_number
from noregret.learner.model_file import Arrays, Header, register_kind
from noregret.rules.guarantee import Guarantee
from noregret.rules.method_card import method_card
from noregret.rules.parameters import Choice, Param

Floats = NDArray[np.float64]
MOST_FEATURES = 4096  # a matrix of their square is decomposed in every round


def subspace_bound(p: Any, features: float, best_subspace_loss: float) -> float:
    """(eta L* / R^2 + m ln(n/m)) R^2 / (1 - exp(-eta)), with m = n - rank directions left out."""
    left_out = features - p.rank
    if left_out <= 0.0:
        return 0.0
    square = p.radius**2
    entropy = left_out * math.log(features / left_out)
    return float((p.eta * best_subspace_loss / square + entropy) * square / -math.expm1(-p.eta))


@register_kind
@method_card(
    name="pca",
    title="OnlinePCA",
    paper="Warmuth and Kuzmin, Randomized online PCA algorithms with regret bounds that are logarithmic in the "
    "dimension, JMLR 9, 2008",
    kind="pca",
    tasks=("unsupervised",),
    params={
        "rank": rank_param(20),
        "eta": Param(0.5, above=0.0, about="the learning rate", search=(0.05, 5.0, "log")),
        "radius": Param(0.0, at_least=0.0, untuned="it is the size of the rows",
                        about="the length of the longest row; 0: that of the longest row so far"),
        "choose": Choice("lightest", {"lightest": False, "draw": True}, "the directions to keep: those with the "
                         "smallest weights, or drawn at random by the weights"),
        "batch": batch_param(1),
    },
    options=ROW_OPTIONS,
    guarantees=(
        Guarantee(
            "expected loss",
            "E loss <= (eta L* + m R^2 ln(n / m)) / (1 - exp(-eta)), m = n - rank, L* the loss of the best subspace",
            "no row is longer than the radius R, which is given; mini-batches of one row",
            subspace_bound,
            options={"choose": ("draw",)},
            requires=lambda p: None if p.radius > 0.0 and p.batch == 1 else "it needs a radius, and batch = 1",
        ),
    ),
)  # fmt: skip
class OnlinePCA(UnsupervisedLearner[Density]):
    """Principal components by exponentiated gradient steps, with a bound on the loss for any rows."""

    kind: ClassVar[str] = "pca"

    def __init__(self, rank: float, eta: float, radius: float, choose: str, batch: float, **options: Any) -> None:
        super().__init__(batch, **options)
        self.rank, self.eta, self.radius = check_whole(self.card.name, "rank", rank), eta, radius
        self.choose = choose

    @property
    def params(self) -> dict[str, Any]:
        own = {"rank": self.rank, "eta": self.eta, "radius": self.radius, "choose": self.choose}
        return {**own, "batch": self.batch}

    # ---- rounds --------------------------------------------------------------------------------------------------

    def start_state(self, features: int) -> Density:
        return Density(self.rank, self.row_config.seed, np.eye(features), np.full(features, -np.log(max(features, 1))))

    def count_numbers(self, features: int) -> int:
        if features > MOST_FEATURES:
            raise BadValue(f"pca decomposes a matrix of all features in every round, of at most {MOST_FEATURES:,}; "
                           f"here are {features:,}: use svd or oja")  # fmt: skip
        return features * features

    def learn_rows(self, state: Density, rows: MatrixRows) -> None:
        values = rows.dense
        longest = float(np.sqrt(row_dots(values, values).max()))
        if self.radius and longest > self.radius * (1.0 + 1e-12):
            raise BadValue(f"pca: a row has the length {longest:g}, above radius={self.radius:g}; give a larger radius")
        state.radius = self.radius or max(state.radius, longest)
        state.expected += state.expect(values)
        state.step(values / (state.radius or 1.0), self.eta)

    def _kept(self, state: Density) -> Floats:
        """The directions that are kept in the next round, one in each column."""
        return state.vectors[:, self._numbers_kept(state)]

    def _numbers_kept(self, state: Density) -> NDArray[np.int64]:
        return state.draw() if self.choose == "draw" else state.keep_lightest()

    def score_rows(self, state: Density, rows: MatrixRows) -> Scored:
        kept = np.ascontiguousarray(self._kept(state))
        components = row_products(rows.dense, kept)
        rest = rows.dense - row_products(components, kept.T)
        return Scored(pad_columns(components, self.rank), row_dots(rest, rest) + rows.beyond)

    # ---- results -------------------------------------------------------------------------------------------------

    @property
    def components(self) -> Floats:
        """The directions that are kept now, one in each row; the largest entry of each is positive."""
        return upright_rows(self._kept(self.latest))

    @property
    def weights_of_directions(self) -> Floats:
        """The weight of every direction, the smallest first: the larger, the more likely it is left out."""
        return np.sort(self.latest.weights)

    @property
    def expected_loss(self) -> float:
        """The sum over all rounds of the expected loss, which the theorem bounds; for choose="draw"."""
        return self.latest.expected

    def find_signs(self, state: Density) -> Floats:
        return leading_signs(self._kept(state))

    def describe_results(self) -> list[str]:
        """The weight of each direction kept, and its largest entries."""
        if not self.rounds:
            return []
        weights = self.latest.weights[self._numbers_kept(self.latest)]
        return describe_components("weight", weights, self.components, self.feature_names)

    # ---- model files ---------------------------------------------------------------------------------------------

    def dump_state(self, state: Density) -> tuple[Header, Arrays]:
        arrays = {"vectors": np.ascontiguousarray(state.vectors), "logs": state.logs}
        return {"radius": state.radius, "expected": state.expected, "rows": state.rows}, arrays

    def restore_state(self, header: Header, arrays: Arrays, features: int) -> Density:
        vectors, logs = read_array(arrays, "vectors", 2), read_array(arrays, "logs", 1)
        radius, expected = (read_number(header.get(name), name) for name in ("radius", "expected"))
        if vectors.shape != (features, features) or logs.shape != (features,) or radius < 0.0 or expected < 0.0:
            raise corrupt("its directions do not fit its features")
        if not are_orthonormal(vectors):
            raise corrupt("its directions are not orthonormal")
        fits = not features or abs(float(np.exp(logs).sum()) - 1.0) < 1e-6
        if not fits or (logs > 1e-9 - np.log(max(features - self.rank, 1))).any():
            raise corrupt("the weights of its directions do not sum to 1")
        rows = read_count(header, "rows", self.learned_rows)
        return Density(self.rank, self.row_config.seed, vectors, logs, radius, expected, rows)
