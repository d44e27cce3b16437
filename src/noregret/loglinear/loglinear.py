"""Log-linear models: p(candidate) is proportional to exp(w . h), and a round is a step along the gradient of log p."""

from types import SimpleNamespace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from noregret.learner.header_fields import corrupt, read_count, read_param
from noregret.learner.model_file import Arrays, Header, register_kind
from noregret.loglinear.feature_columns import Table
from noregret.loglinear.list_learner import ListLearner, read_array
from noregret.loglinear.quality import QUALITY
from noregret.rules.method_card import method_card
from noregret.rules.parameters import Choice, Param
from noregret.rules.schedules import NUMBERS, OF_STEPS, SCHEDULES

Floats = NDArray[np.float64]
ETA0 = Param(0.1, above=0.0, about="the first learning rate", search=(1e-3, 10.0, "log"))
SCHEDULE = Choice("constant", {**SCHEDULES, **OF_STEPS}, "how the rate falls", search=("constant", "inv_sqrt"))
OBJECTIVE = Choice("likelihood", {"likelihood": None, "expected_loss": None}, "what a step improves: the likelihood of "
                   "the best candidate, or the loss expected under the model (minimum risk)")  # fmt: skip
L2 = Param(0.0, at_least=0.0, about="the strength of the penalty l2 |w - start|^2 / 2 on the features of a list",
           search=(1e-6, 1.0, "log"))  # fmt: skip
PARAMS = {"eta0": ETA0, "l2": L2, **NUMBERS}


def softmax(scores: Floats) -> Floats:
    """Probabilities proportional to exp(score)."""
    weights = np.exp(scores - scores.max())
    return np.asarray(weights / weights.sum())


def ascent(H: Floats, p: Floats, losses: Floats, objective: str) -> Floats:
    """The gradient of the log-likelihood of the best candidate, h(best) - E[h]; or that of the expected gain."""
    if objective == "likelihood":
        return np.asarray(H[np.argmin(losses)] - p @ H)
    return np.asarray((p * (p @ losses - losses)) @ H)


class LogLinearState:
    """The weights, the first weights, and the counters that schedules read: lists, and those with a gradient."""

    def __init__(self, weights: Floats, start: Floats, lists: int = 0, steps: int = 0) -> None:
        self.weights, self.start, self.lists, self.steps = weights, start, lists, steps

    def copy(self) -> "LogLinearState":
        return LogLinearState(self.weights.copy(), self.start.copy(), self.lists, self.steps)

    def is_finite(self) -> bool:
        return bool(np.isfinite(self.weights).all())


@register_kind
@method_card(
    paper="Och and Ney, Discriminative training and maximum entropy models for statistical machine translation, ACL, "
    "2002",
    kind="loglinear_reranker",
    tasks=("structured",),
    params={"eta0": ETA0, "schedule": SCHEDULE, "objective": OBJECTIVE, "l2": L2, "quality": QUALITY, **NUMBERS},
    options=("start",),
)
class LoglinearReranker(ListLearner[LogLinearState]):
    """Rerank lists by a log-linear model (conditional maximum entropy), trained by stochastic gradient steps.

    The probability of a candidate is the softmax of w . h over its list. objective="likelihood" climbs the
    log-likelihood of the best candidate, objective="expected_loss" goes down the loss expected under the model.
    """

    kind: ClassVar[str] = "loglinear_reranker"

    def __init__(
        self,
        eta0: float = 0.1,
        schedule: str = "constant",
        objective: str = "likelihood",
        l2: float = 0.0,
        quality: str = "bleu",
        power: float = 0.5,
        decay: float = 1e-4,
        start: Any = None,
    ) -> None:
        given = {"eta0": eta0, "l2": l2, "power": power, "decay": decay}
        self.numbers = {name: PARAMS[name].check(self.kind, name, value) for name, value in given.items()}
        self.schedule = SCHEDULE.check(self.kind, "schedule", schedule)
        self.objective = OBJECTIVE.check(self.kind, "objective", objective)
        super().__init__(quality, start)

    @property
    def params(self) -> dict[str, Any]:
        return {**self.numbers, "schedule": self.schedule, "objective": self.objective, "quality": self.quality}

    @property
    def weights(self) -> dict[str, float]:
        """The weights that are not zero, by feature, the largest first."""
        return self.by_feature(self.state.weights)

    # ---- the method --------------------------------------------------------------------------------------------------

    def start_state(self) -> LogLinearState:
        return LogLinearState(np.zeros(0), np.zeros(0))

    def grow(self, state: LogLinearState, names: list[str], start: Floats) -> None:
        state.weights, state.start = np.append(state.weights, start), np.append(state.start, start)

    def rank(self, state: LogLinearState, table: Table) -> Floats:
        return np.asarray(table.H @ state.weights[table.columns])

    def learn_list(self, state: LogLinearState, table: Table, losses: Floats) -> bool:
        state.lists += 1
        w = state.weights[table.columns]
        slope = ascent(table.H, softmax(table.H @ w), losses, self.objective) if losses.any() else np.zeros(w.size)
        slope = slope - self.numbers["l2"] * (w - state.start[table.columns])
        if not slope.any():
            return False
        state.steps += 1
        rate = SCHEDULE.among[self.schedule]
        eta = rate(SimpleNamespace(**self.numbers), self.numbers["eta0"], float(state.lists), float(state.steps))
        state.weights[table.columns] = w + eta * slope
        return True

    # ---- model files -------------------------------------------------------------------------------------------------

    def dump_state(self) -> tuple[Header, Arrays]:
        counts = {"lists": self.state.lists, "steps": self.state.steps}
        return {**self.params, **counts}, {"weights": self.state.weights.copy()}

    @classmethod
    def restore_with(cls, header: Header, arrays: Arrays, common: dict[str, Any]) -> Self:
        numbers: dict[str, Any] = {name: read_param(header, name, one) for name, one in PARAMS.items()}
        new = cls(**numbers, schedule=header["schedule"], objective=header["objective"], **common)
        new.state.lists = read_count(header, "lists")
        new.state.steps = read_count(header, "steps", new.state.lists)
        return new

    def restore_state(self, arrays: Arrays, features: int) -> LogLinearState:
        start = self.first_weights(self.columns.known)
        weights = read_array(arrays, "weights", (features,))
        if not features and self.state.steps:
            raise corrupt("steps without features")
        return LogLinearState(weights, start, self.state.lists, self.state.steps)
