"""Gaussian mixtures by online EM: k components that follow the rows, one mini-batch at a time."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from noregret.data.inputs import RowLike, RowsLike
from noregret.decomposition.base import Scored
from noregret.decomposition.density_learner import PRIOR, VARIANCE, DensityLearner
from noregret.decomposition.factors_file import read_array
from noregret.decomposition.gaussian_components import Components, Smoothing
from noregret.decomposition.gaussian_scores import check_size
from noregret.decomposition.matrix_rows import FARTHEST, MatrixRows, pad_columns
from noregret.decomposition.memory import require_sample_memory
from noregret.decomposition.parameters import batch_param, check_whole
from noregret.decomposition.row_encoder import ROW_OPTIONS
from noregret.errors import NotLearned
from noregret.learner.arguments import check_integer
from noregret.learner.encode import one_row
from noregret.learner.header_fields import corrupt, read_count, read_number
from noregret.learner.model_file import Arrays, Header, register_kind
from noregret.rules.merge_law import Merge
from noregret.rules.method_card import method_card
from noregret.rules.parameters import Choice, Param

Floats = NDArray[np.float64]
CAPPE = (
    "Cappe, Moulines, On-line expectation-maximization algorithm for latent data models, Journal of the Royal "
    "Statistical Society B 71, 2009; Titterington, Recursive parameter estimation using incomplete data, ibid. 46, 1984"
)
SHOWN = 20  # components
LEAST_EFFECTIVE = 1e-12  # 1 over it is far from infinite
PER_COMPONENT = 50  # rows of the start for each component, where nothing else is asked for
FEWEST = 10  # rows for each component, of which results are made that are asked for earlier


@register_kind
@method_card(
    name="mixture",
    paper=CAPPE,
    kind="mixture",
    title="Gaussian mixture",
    tasks=("unsupervised",),
    params={
        "k": Param(8.0, at_least=1.0, at_most=1 << 12, about="the number of components",
                   grid=(2.0, 4.0, 8.0, 16.0, 32.0)),
        "shape": Choice("full", {"full": True, "diagonal": False},
                        "whether components have covariances, or only a variance for each feature"),
        "batch": batch_param(128),
        "decay": Param(0.65, above=0.5, at_most=1.0, search=(0.55, 1.0, "linear"),
                       about="mini-batch number t is learned at the rate t^-decay; with 1 all rows count the same"),
        "start": Param(0.0, at_least=0.0, at_most=1 << 16, untuned="more rows make a better start, which comes later",
                       about="rows among which the first components are found; 0: 50 for each"),
        "shrink": Param(0.1, above=0.0, at_most=1e12, search=(0.001, 10.0, "log"),
                        about="how many rows the variances of all rows count for in each component"),
        "least": Param(0.01, at_least=0.0, below=1.0, untuned="larger values also move components of rare rows",
                       about="a component is placed anew when its weight is below this share of 1/k"),
        "prior": PRIOR,
        "variance": VARIANCE,
    },
    options=ROW_OPTIONS,
    merge=Merge("none", "components of two learners have no common order"),
)  # fmt: skip
class Mixture(DensityLearner[Components]):
    """Gaussian mixture by online EM; the loss of a row is -log of its density."""

    kind: ClassVar[str] = "mixture"

    def __init__(self, k: float, shape: str, batch: float, decay: float, start: float, **options: Any) -> None:
        self.shrink, self.least = options.pop("shrink"), options.pop("least")
        self.prior, self.variance = options.pop("prior"), options.pop("variance")
        super().__init__(batch, **options)
        self.k, self.start = check_whole("mixture", "k", k), check_whole("mixture", "start", start)
        self.shape, self.decay = shape, decay
        self.start_rows = self.start or PER_COMPONENT * self.k

    @property
    def params(self) -> dict[str, Any]:
        names = ("k", "shape", "batch", "decay", "start", "shrink", "least", "prior", "variance")
        return {name: getattr(self, name) for name in names}

    # ---- rounds --------------------------------------------------------------------------------------------------

    def start_state(self, features: int) -> Components:
        smoothing = Smoothing(self.prior, self.variance, self.shrink)
        return Components.start(features, self.shape == "full", smoothing)

    def count_numbers(self, features: int) -> int:
        check_size("mixture", self.k, features, self.shape == "full")
        return self.k * features

    def learn_rows(self, state: Components, rows: MatrixRows) -> None:
        """A step of EM; until there are enough rows to find components, one of the Gaussian of all rows."""
        new, found = rows.dense, len(state.weights) == self.k
        share = len(new) / (state.count + len(new))
        distances = state.step(new, share**self.decay if found else share)
        state.see(new)
        if (dead := state.find_dead(self.least)).size:
            state.revive(dead, new, distances, self.random(state))
        if not found:
            state.waiting = np.concatenate((state.waiting, new))
            if len(state.waiting) >= self.start_rows:
                state.begin(self.k, self.random(state))

    def random(self, state: Components) -> np.random.Generator:
        key = np.array([self.row_config.seed, state.count], np.uint64)
        return np.random.Generator(np.random.Philox(key=key))

    def score_rows(self, state: Components, rows: MatrixRows) -> Scored:
        """The share of every component in every row, and -log of the density."""
        logs, shares = state.score(rows.dense, rows.beyond / self.variance)
        return Scored(pad_columns(shares, self.k), -logs)

    # ---- results -------------------------------------------------------------------------------------------------

    @property
    def latest(self) -> Components:
        """The components after all rows; they are found among few rows where results are asked for that early."""
        state = super().latest
        if FEWEST * self.k <= len(state.waiting):
            state = state.copy()
            state.begin(self.k, self.random(state))
            self._latest = state
        return state

    @property
    def weights(self) -> Floats:
        """The weights of the components; their sum is 1."""
        return self.latest.weights.copy()

    @property
    def means(self) -> Floats:
        """The means of the components, one in each row."""
        return self.latest.means.copy()

    @property
    def components(self) -> Floats:
        """The same."""
        return self.means

    @property
    def covariances(self) -> Floats:
        """The covariance matrix of each component, or its variances, by which rows are scored."""
        return self.latest.covariances()

    @property
    def classes(self) -> list[int]:
        """The numbers of the components, which are the columns of `predict_proba`."""
        return list(range(self.k))

    def predict_proba(self, X: RowsLike) -> Floats:
        """The probability of every component, given the row (its responsibilities)."""
        return np.asarray(self.score(X).components)

    def predict_proba_one(self, x: RowLike) -> dict[int, float]:
        """The same for one row, by the number of the component; empty before anything was learned."""
        try:
            found = self.predict_proba(one_row(x, self.row_config.allows_missing))
        except NotLearned:
            return {}
        return dict(enumerate(found[0].tolist()))

    def predict(self, X: RowsLike) -> NDArray[np.int64]:
        """The number of the most probable component of every row."""
        return np.asarray(np.argmax(self.score(X).components, axis=1))

    def component_names(self, count: int) -> list[str]:
        """Components count from 0."""
        return [f"component {number}" for number in range(count)]

    def column_titles(self, count: int) -> list[str]:
        """The columns of `transform` are the probabilities of the components."""
        return [f"probability {number}" for number in range(count)]

    def sample(self, n: int = 1, seed: int = 0) -> Floats:
        """Rows drawn from the density."""
        random, count = np.random.default_rng(check_integer("seed", seed, 0)), check_integer("n", n, 0)
        state = self.latest
        require_sample_memory("mixture", count, self.features ** (1 + state.full))
        return state.draw(count, random)

    def describe_results(self) -> list[str]:
        """A line for every component, the heaviest first: its weight, and what sets it apart from the mean."""
        if not self.rounds:
            return []
        state, names = self.latest, self.feature_names
        deviations = np.sqrt(state.spread_of_all())
        lines = [f"{'component':>9}{'weight':>10}  largest differences from the mean, in standard deviations"]
        for number in np.argsort(-state.weights, kind="stable")[:SHOWN].tolist():
            difference = (state.means[number] - state.mean) / deviations
            order = np.argsort(-np.abs(difference), kind="stable")[:5].tolist()
            entries = ", ".join(f"{names[at]} {difference[at]:+.3g}" for at in order if difference[at] != 0.0)
            lines.append(f"{number:>9}{state.weights[number]:>10.4f}  {entries}")
        return lines

    # ---- model files ---------------------------------------------------------------------------------------------

    def dump_state(self, state: Components) -> tuple[Header, Arrays]:
        arrays: Arrays = {name: np.ascontiguousarray(getattr(state, name)) for name in ARRAYS}
        return {"count": state.count, "effective": state.effective}, arrays

    def restore_state(self, header: Header, arrays: Arrays, features: int) -> Components:
        state, full = self.start_state(0), self.shape == "full"
        for name, dimensions in ARRAYS.items():
            setattr(state, name, read_array(arrays, name, dimensions - (name == "spreads" and not full)))
        k = state.weights.size
        if k not in (1, self.k) or state.means.shape != (k, features) or state.mean.shape != (features,):
            raise corrupt("its components do not fit its features")
        fits = state.spreads.shape == (k, features, features) if full else state.spreads.shape == (k, features)
        if not fits or state.squares.shape != (features,) or state.waiting.shape[1] != features:
            raise corrupt("its covariances do not fit its features")
        variances = np.diagonal(state.spreads, axis1=1, axis2=2) if full else state.spreads
        if (variances < 0.0).any() or (state.squares < 0.0).any():
            raise corrupt("a variance is negative")
        if any((np.abs(part) > FARTHEST).any() for part in (state.means, state.mean, state.waiting)):
            raise corrupt("a component or a row is farther away than any row can be")
        if (state.weights < 0.0).any() or not abs(float(state.weights.sum()) - 1.0) < 1e-6:
            raise corrupt("the weights of its components are not positive, or their sum is not 1")
        state.count = read_count(header, "count", least=1)
        state.effective = read_number(header.get("effective"), "effective")
        if not LEAST_EFFECTIVE < state.effective <= state.count * (1.0 + 1e-6):
            raise corrupt("effective must be positive, and not above the number of rows")
        if len(state.waiting) not in ((state.count,) if k < self.k else (0,)):
            raise corrupt("the rows that wait for components are not those it has seen")
        return state


ARRAYS = {"weights": 1, "means": 2, "spreads": 3, "mean": 1, "squares": 1, "waiting": 2}
"""The arrays of a model file, and how many dimensions they have."""
