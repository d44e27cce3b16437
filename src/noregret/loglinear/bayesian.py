"""Bayesian predictive adaptation: predictions are averaged over weights, by how likely these make earlier lists."""

import math
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from noregret.errors import BadValue
from noregret.learner.header_fields import corrupt, read_count, read_param
from noregret.learner.model_file import Arrays, Header, register_kind
from noregret.loglinear.feature_columns import Table
from noregret.loglinear.list_learner import ListLearner, read_array
from noregret.loglinear.quality import QUALITY
from noregret.loglinear.weight_samples import Samples, add_draws, add_grid, effective_size, normalise, resample
from noregret.rules.merge_law import Merge
from noregret.rules.method_card import method_card
from noregret.rules.parameters import Choice, Param

Floats = NDArray[np.float64]
SAMPLES = Param(200, at_least=1.0, at_most=1 << 20, about='weight vectors that are drawn, with design="random"',
                untuned="more samples are more exact and cost more")  # fmt: skip
S2 = Param(1.0, above=0.0, about="the variance of the weights around the first weights", search=(1e-3, 1e2, "log"))
DELTA = Param(1.0, above=0.0, about="the exponent of the likelihood of a list: how fast it adapts",
              search=(0.01, 10.0, "log"))  # fmt: skip
DESIGN = Choice("random", {"random": None, "grid": None}, "random draws, or a grid of values for every feature")
LEAST = Param(0.1, at_least=0.0, at_most=1.0, about="samples are drawn again when their effective number falls below "
              "this share", untuned="it only guards against few samples with all the weight")  # fmt: skip
JITTER = Param(0.1, at_least=0.0, at_most=1.0, about="how far samples that are drawn again are moved, in deviations",
               untuned="mean and variances stay what they are")  # fmt: skip
POINTS = Param(7, at_least=1.0, at_most=1001.0, about='values of every feature, with design="grid"',
               untuned="more points are more exact and cost more")  # fmt: skip
WIDTH = Param(3.0, above=0.0, about="how far the grid reaches, in standard deviations of the prior",
              untuned="the prior beyond is negligible")  # fmt: skip
PARAMS = {
    "samples": SAMPLES, "s2": S2, "delta": DELTA, "least": LEAST, "jitter": JITTER, "points": POINTS, "width": WIDTH,
}  # fmt: skip


def list_probabilities(points: Floats, table: Table) -> Floats:
    """The probability of every candidate (column) by every weight vector (row), each log-linear."""
    scores = points[:, table.columns] @ table.H.T
    found = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def log_likelihood(points: Floats, table: Table, best: int) -> Floats:
    """log p of the best candidate by every weight vector."""
    scores = points[:, table.columns] @ table.H.T
    top = scores.max(axis=1)
    return np.asarray(scores[:, best] - top - np.log(np.exp(scores - top[:, None]).sum(axis=1)))


@register_kind
@method_card(
    paper="Sanchis-Trilles and Casacuberta, Improving translation quality stability using Bayesian predictive "
    "adaptation, Computer Speech and Language 34, 2015",
    kind="bayesian_reranker",
    tasks=("structured",),
    params={**PARAMS, "design": DESIGN, "quality": QUALITY},
    options=("start", "seed"),
    merge=Merge("exact", "log-weights of the same samples add; not once samples were drawn again (least=0 never does)"),
)
class BayesianReranker(ListLearner[Samples]):
    """Rerank lists by the average of many log-linear models, weighed by how well they predicted earlier lists.

    Weights are drawn from a normal distribution around the first weights. Every list adds delta log p(best candidate)
    to the log-weight of each. When few samples are left with all the weight, they are drawn again with jitter.
    """

    kind: ClassVar[str] = "bayesian_reranker"

    def __init__(
        self,
        samples: float = 200,
        s2: float = 1.0,
        delta: float = 1.0,
        least: float = 0.1,
        jitter: float = 0.1,
        points: float = 7,
        width: float = 3.0,
        design: str = "random",
        quality: str = "bleu",
        start: Any = None,
        seed: int = 0,
    ) -> None:
        given = {"samples": samples, "s2": s2, "delta": delta, "least": least, "jitter": jitter, "points": points}
        self.numbers = {name: PARAMS[name].check(self.kind, name, value) for name, value in given.items()}
        self.numbers["width"] = WIDTH.check(self.kind, "width", width)
        for name in ("samples", "points"):
            if self.numbers[name] != int(self.numbers[name]):
                raise BadValue(f"{self.kind}: {name} must be a whole number, not {self.numbers[name]!r}")
        self.design = DESIGN.check(self.kind, "design", design)
        self.seed = check_seed(self.kind, seed)
        super().__init__(quality, start)

    @property
    def params(self) -> dict[str, Any]:
        return {**self.numbers, "design": self.design, "quality": self.quality, "seed": self.seed}

    @property
    def weights(self) -> dict[str, float]:
        """The mean of the weights, by feature, the largest first."""
        return self.by_feature(self.state.mean)

    @property
    def effective_samples(self) -> float:
        """How many samples of equal weight these are worth."""
        return effective_size(self.state.log_weights)

    # ---- the method --------------------------------------------------------------------------------------------------

    def start_state(self) -> Samples:
        size = int(self.numbers["samples"]) if self.design == "random" else 1
        return Samples(np.zeros((size, 0)), np.zeros(size))

    def grow(self, state: Samples, names: list[str], start: Floats) -> None:
        deviation = math.sqrt(self.numbers["s2"])
        if self.design == "grid":
            add_grid(state, start, deviation, int(self.numbers["points"]), self.numbers["width"])
            return
        add_draws(state, self.seed, names, start, deviation)

    def rank(self, state: Samples, table: Table) -> Floats:
        """p(candidate), averaged over the samples."""
        return np.asarray(normalise(state.log_weights) @ list_probabilities(state.points, table))

    def learn_list(self, state: Samples, table: Table, losses: Floats) -> bool:
        if not losses.any():
            return False
        state.log_weights += self.numbers["delta"] * log_likelihood(state.points, table, int(np.argmin(losses)))
        state.log_weights -= state.log_weights.max()
        if self.design == "random":
            size = effective_size(state.log_weights)
            if size < self.numbers["least"] * state.log_weights.size:
                resample(state, self.seed, self.numbers["jitter"])
        return True

    # ---- merging and model files -------------------------------------------------------------------------------------

    def merge(self, other: Any) -> Self:
        """A new learner of the lists of both: the log-weights of the same samples add."""
        self.check_same(other)
        if self.state.resampled or other.state.resampled:
            raise BadValue("bayesian_reranker cannot be merged once samples were drawn again; make both with least=0")
        if self.design == "grid" and list(self.columns.known) != list(other.columns.known):
            raise BadValue('learners with design="grid" can be merged if both have seen the same features in one order')
        new = self.copy()
        known = len(new.columns)
        new.columns.add([other.columns.known])
        new._grow(new.state, new.columns.since(known))
        new.state.log_weights = new.state.log_weights + other.state.log_weights
        if self.design == "grid":
            fresh = self.start_state()
            self._grow(fresh, list(self.columns.known))
            new.state.log_weights = new.state.log_weights - fresh.log_weights  # the prior counts once
        new.state.log_weights -= new.state.log_weights.max()
        new.rounds, new.mistakes = self.rounds + other.rounds, self.mistakes + other.mistakes
        new.updates = self.updates + other.updates
        return new

    def dump_state(self) -> tuple[Header, Arrays]:
        header = {**self.params, "resampled": self.state.resampled}
        return header, {"points": self.state.points.copy(), "log_weights": self.state.log_weights.copy()}

    @classmethod
    def restore_with(cls, header: Header, arrays: Arrays, common: dict[str, Any]) -> Self:
        numbers: dict[str, Any] = {name: read_param(header, name, one) for name, one in PARAMS.items()}
        new = cls(**numbers, design=header["design"], seed=read_count(header, "seed"), **common)
        new.state.resampled = read_count(header, "resampled")
        return new

    def restore_state(self, arrays: Arrays, features: int) -> Samples:
        size = int(self.numbers["samples"])
        if self.design == "grid":
            log_weights = arrays.get("log_weights")
            size = 0 if log_weights is None else log_weights.size
            if size != int(self.numbers["points"]) ** features:
                raise corrupt("the grid does not have a point for all values of its features")
        points = read_array(arrays, "points", (size, features))
        return Samples(points, read_array(arrays, "log_weights", (size,)), self.state.resampled)


def check_seed(owner: str, seed: Any) -> int:
    """A seed: a whole number that is not negative."""
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or not 0 <= seed < 1 << 62:
        raise BadValue(f"{owner}: seed must be a whole number of at least 0, not {seed!r}")
    return int(seed)
