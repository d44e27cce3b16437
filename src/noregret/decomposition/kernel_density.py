"""Kernel density estimates with a budget: a Gaussian kernel on each of the rows that are kept."""

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from noregret.data.inputs import RowsLike
from noregret.decomposition.base import Scored
from noregret.decomposition.density_learner import PRIOR, VARIANCE, DensityLearner
from noregret.decomposition.factors_file import read_array
from noregret.decomposition.gaussian_scores import check_size
from noregret.decomposition.kept import keep
from noregret.decomposition.kernel_supports import Kernel, Limits, Supports
from noregret.decomposition.matrix_rows import FARTHEST, MatrixRows
from noregret.decomposition.memory import require_sample_memory
from noregret.decomposition.parameters import batch_param, check_whole
from noregret.decomposition.row_encoder import ROW_OPTIONS
from noregret.errors import BadValue
from noregret.learner.arguments import check_integer
from noregret.learner.header_fields import corrupt, read_count
from noregret.learner.model_file import Arrays, Header, register_kind
from noregret.rules.merge_law import Merge
from noregret.rules.method_card import method_card
from noregret.rules.parameters import Choice, Param

Floats = NDArray[np.float64]
ZHOU = (
    "Zhou, Cai, Heinz, M-kernel merging: towards density estimation over data streams, DASFAA 2003; "
    "bandwidths: Scott, Multivariate density estimation, 1992, Silverman, Density estimation, 1986"
)
SHOWN = 20  # features
MOST_MERGED = 1 << 12  # supports whose distances to each other are in memory together


@register_kind
@method_card(
    name="kernel_density",
    paper=ZHOU,
    kind="kernel_density",
    title="Kernel density estimate",
    tasks=("unsupervised",),
    params={
        "budget": Param(300.0, at_least=2.0, at_most=1 << 16, about="the most rows that are kept",
                        untuned="more are more exact and slower"),
        "policy": Choice("merge", {"merge": 0, "random": 1, "oldest": 2},
                         "above the budget the nearest rows are merged, a random sample is kept, or the oldest go"),
        "bandwidth": Choice("scott", {"scott": 0, "silverman": 1, "fixed": 2},
                       "bandwidths by the deviation of each feature and the number of rows, or the same for all"),
        "shape": Choice("full", {"full": 1, "diagonal": 0},
                        "whether kernels follow the covariance of the rows, or have a bandwidth for each feature"),
        "width": Param(1.0, above=1e-100, at_most=1e100, search=(0.1, 10.0, "log"),
                           about="times the bandwidths of the rule; the bandwidth itself where it is fixed"),
        "batch": batch_param(256),
        "prior": PRIOR,
        "variance": VARIANCE,
    },
    options=ROW_OPTIONS,
    merge=Merge("none", "rows that two learners have kept are of different numbers of rows"),
)  # fmt: skip
class KernelDensity(DensityLearner[Supports]):
    """Kernel density estimate with a budget; the loss of a row is -log of its density."""

    kind: ClassVar[str] = "kernel_density"
    shows_distance: ClassVar[bool] = True

    def __init__(self, budget: float, policy: str, bandwidth: str, batch: float, **options: Any) -> None:
        names = ("shape", "width", "prior", "variance")
        self.shape, self.width, self.prior, self.variance = (options.pop(name) for name in names)
        super().__init__(batch, **options)
        self.budget, self.policy, self.bandwidth = check_whole("kernel_density", "budget", budget), policy, bandwidth
        if policy == "merge" and self.budget > MOST_MERGED:
            raise BadValue(f'kernel_density: policy="merge" takes a budget of at most {MOST_MERGED}')
        if bandwidth == "fixed" and self.shape == "full":
            raise BadValue('kernel_density: bandwidth="fixed" has one bandwidth for all features: set shape="diagonal"')

    @property
    def params(self) -> dict[str, Any]:
        names = ("budget", "policy", "bandwidth", "shape", "width", "batch", "prior", "variance")
        return {name: getattr(self, name) for name in names}

    # ---- rounds --------------------------------------------------------------------------------------------------

    def start_state(self, features: int) -> Supports:
        return Supports.start(features, Limits(self.budget, self.policy == "merge", self.shape == "full"))

    def count_numbers(self, features: int) -> int:
        check_size("kernel_density", self.budget if self.policy == "merge" else 1, features, self.shape == "full")
        return self.budget * features

    def learn_rows(self, state: Supports, rows: MatrixRows) -> None:
        new = rows.dense
        if self.policy == "random":
            key = np.array([self.row_config.seed, state.count], np.uint64)
            state.keep_sample(new, np.random.Generator(np.random.Philox(key=key)))
        elif self.policy == "oldest":
            state.keep_latest(new)
        else:
            state.keep_merged(new, self.smoothed(state)[2])

    def smoothed(self, state: Supports) -> tuple[float, Floats, Floats]:
        """The weight and mean of what is kept, and its covariance or variances, with the start as `prior` rows more."""
        total, mean, squares = state.moments()
        start = np.full(state.features, self.prior * self.variance)
        return (
            total,
            mean,
            (squares + (np.diag(start) if self.shape == "full" else start)) / (max(total - 1.0, 0.0) + self.prior),
        )

    def find_kernel(self, state: Supports) -> Kernel:
        """The kernel by the rule, found once for each state."""
        own = (state.points, state.weights, state.spreads, self.width, self.prior, self.variance)
        state.kernel = keep(state.kernel, lambda: self.make_kernel(state), *own)
        return state.kernel.value

    def make_kernel(self, state: Supports) -> Kernel:
        """A share of the deviations that falls with the number of rows."""
        total, mean, variances = self.smoothed(state)
        d = state.features
        if self.bandwidth == "fixed":
            return Kernel(mean, np.full(d, self.width**2))
        rows = total * (d + 2.0) / 4.0 if self.bandwidth == "silverman" else total
        return Kernel(mean, np.asarray(variances * (self.width * rows ** (-1.0 / (d + 4.0))) ** 2))

    def score_rows(self, state: Supports, rows: MatrixRows) -> Scored:
        """Distance of every row from the nearest that is kept, in bandwidths, and -log of the density."""
        far = rows.beyond / self.variance
        if not len(state.points):
            return Scored(np.sqrt(far)[:, None], 0.5 * far)
        logs, distances = state.score(rows.dense, self.find_kernel(state))
        return Scored(np.sqrt(distances + far)[:, None], 0.5 * far - logs)

    # ---- results -------------------------------------------------------------------------------------------------

    @property
    def points(self) -> Floats:
        """The rows that are kept, or the means of those that were merged."""
        return self.latest.points.copy()

    @property
    def weights(self) -> Floats:
        """How many rows each of them stands for, as shares of all."""
        weights = self.latest.weights
        return np.asarray(weights / weights.sum())

    @property
    def bandwidths(self) -> Floats:
        """The standard deviations of the kernel, by feature."""
        found = self.find_kernel(self.latest).covariance
        return np.sqrt(np.diag(found) if self.shape == "full" else found)

    def predict(self, X: RowsLike) -> Floats:
        """The log-density of every row."""
        return self.log_density(X)

    def sample(self, n: int = 1, seed: int = 0) -> Floats:
        """Rows drawn from the density."""
        random, count = np.random.default_rng(check_integer("seed", seed, 0)), check_integer("n", n, 0)
        state = self.latest
        require_sample_memory("kernel_density", count, self.features ** (1 + state.limits.full))
        return state.draw(count, self.find_kernel(state), random)

    def describe_results(self) -> list[str]:
        """How many rows are kept, and the bandwidths of the first features."""
        if not self.rounds:
            return []
        kept = f"{len(self.latest.points):,} of {self.rounds:,} rows are kept"
        widths = self.bandwidths
        lines = [f"{widths[at]:>14.6g}  {name}" for at, name in enumerate(self.feature_names[:SHOWN])]
        more = [f"    and {self.features - SHOWN} more"] if self.features > SHOWN else []
        return [kept, f"{'bandwidth':>14}  feature", *lines, *more]

    # ---- model files ---------------------------------------------------------------------------------------------

    def dump_state(self, state: Supports) -> tuple[Header, Arrays]:
        arrays: Arrays = {"points": state.points, "weights": state.weights, "spreads": state.spreads}
        return {"count": state.count}, {name: np.ascontiguousarray(array) for name, array in arrays.items()}

    def restore_state(self, header: Header, arrays: Arrays, features: int) -> Supports:
        points, spreads, weights = (
            read_array(arrays, *it) for it in (("points", 2), ("spreads", 2 + (self.shape == "full")), ("weights", 1))
        )
        if not 1 <= weights.size <= self.budget or points.shape != (weights.size, features):
            raise corrupt("the rows that it has kept do not fit its features or its budget")
        if (np.abs(points) > FARTHEST).any():
            raise corrupt("a row that it has kept is farther away than any row can be")
        count, merges = read_count(header, "count", least=weights.size), self.policy == "merge"
        wide = features if merges else 0
        variances = np.diagonal(spreads, axis1=1, axis2=2) if self.shape == "full" else spreads
        if spreads.shape[1:] != ((wide, wide) if self.shape == "full" else (wide,)) or len(spreads) != weights.size:
            raise corrupt("the variances of the rows that it has merged do not fit its features")
        if (variances < 0.0).any() or (weights < 1.0).any():
            raise corrupt("a variance is negative, or a weight below 1")
        if not merges and ((weights != 1.0).any() or weights.size != min(count, self.budget)):
            raise corrupt("rows that it has kept are missing")
        if merges and weights.sum() != count:
            raise corrupt("the weights of its rows are not those of all rows")
        return replace(self.start_state(features), points=points, weights=weights, spreads=spreads, count=count)
