"""Prediction with expert advice as a learner: losses, or predictions with the truth, go in; predictions come out."""

import time
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from noregret.algebra.partial_features import PRIME, first_random, next_random
from noregret.data.inputs import LabelsLike, RowLike, RowsLike, WeightsLike
from noregret.data.labels import as_array
from noregret.data.transcript import Transcript
from noregret.errors import BadValue, NotLearned, check_digits, shown
from noregret.experts.advice import Advice, AdviceReader
from noregret.experts.card import ExpertCard
from noregret.experts.expert_rows import Name, read_table
from noregret.experts.expert_weights import ExpertBound, ExpertWeights, check_params
from noregret.experts.prediction_losses import PREDICTION_LOSSES, check_range, vote
from noregret.jit.cache import seconds_waited
from noregret.learner.arguments import check_integer
from noregret.learner.base_learner import BaseLearner
from noregret.learner.header_fields import corrupt, read_label, read_list, read_number
from noregret.learner.model_file import Arrays, FindCard, Header, register_kind

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


@register_kind
class ExpertLearner(BaseLearner):
    """N experts under one algorithm.

    With loss="none" rows are losses, one for each expert; otherwise they are predictions, and y holds the truths. With
    a convex loss (squared, absolute, log) the weighted mean of the predictions predicts; with zero_one the weighted
    vote, or an expert that is drawn. Scores in transcripts are the weights that each round was played with.
    """

    kind: ClassVar[str] = "experts"
    task: str = "experts"
    shared = ("card",)

    def __init__(self, card: ExpertCard, params: dict[str, Any], **options: Any) -> None:
        super().__init__()
        self.card: ExpertCard = card  # type: ignore[misc]
        self.loss_name, self.missing = params.pop("loss", "none"), params.pop("missing", "refuse")
        self.algorithm_params = check_params(card, params)
        self.seed = check_integer("seed", options.get("seed", 0), 0)
        self.native = bool(options.get("native", True))
        given = options.get("loss_range")
        self.loss_range = PREDICTION_LOSSES[self.loss_name].range if given is None else check_range(given)
        if self.missing == "sleep" and card.why_awake is not None:
            raise BadValue(f"{card.name} does not support experts that sleep: {card.why_awake}")
        self.names: list[Name] | None = None
        self.state: ExpertWeights | None = None
        self.random = first_random(self.seed)  # of the expert that is drawn next
        if options.get("names") is not None:
            self.names, self.state = self.start(check_expert_names(options["names"]))

    @property
    def params(self) -> dict[str, Any]:
        return {**self.algorithm_params, "loss": self.loss_name, "missing": self.missing}

    def __repr__(self) -> str:
        if self.state is None:
            return f"<{self.card.name}: no experts yet>"
        best = (
            f"best expert {self.best_expert!r}: {self.losses[self.best_expert]:.6g}" if self.rounds else "none played"
        )
        return f"<{self.card.name}: {self.state.experts} experts, {self.rounds} rounds, loss {self.loss:.6g}; {best}>"

    # ---- what happened -------------------------------------------------------------------------------------------

    def require_state(self) -> tuple[list[Name], ExpertWeights]:
        if self.names is None or self.state is None:
            raise NotLearned("the experts are not known yet; learn a round first, or give names=[...] to make")
        return self.names, self.state

    @property
    def weights(self) -> dict[Name, float]:
        """The weights of the next round by expert, the largest first."""
        names, state = self.require_state()
        found = dict(zip(names, state.current().tolist(), strict=True))
        return dict(sorted(found.items(), key=lambda pair: -pair[1]))

    @property
    def reader(self) -> AdviceReader:
        return AdviceReader(self.card, self.loss_name, self.loss_range, self.missing)

    @property
    def width(self) -> float:
        """The width of the range of losses."""
        return self.loss_range[1] - self.loss_range[0]

    @property
    def loss(self) -> float:
        """The loss that the theorem is about: in every round the mean of the losses of the experts by the weights."""
        return 0.0 if self.state is None else self.loss_range[0] * self.rounds + self.width * self.state.loss

    @property
    def losses(self) -> dict[Name, float]:
        """The summed losses of every expert, over the rounds in which it was awake."""
        names, state = self.require_state()
        awake = self.rounds - state.state.asleep
        found = self.loss_range[0] * awake + self.width * state.cumulative_losses
        return dict(zip(names, found.tolist(), strict=True))

    @property
    def regrets(self) -> dict[Name, float]:
        """The loss less that of every expert, over the rounds in which the expert was awake."""
        names, state = self.require_state()
        return dict(zip(names, (self.width * state.regrets).tolist(), strict=True))

    @property
    def regret(self) -> float:
        """The largest of the regrets."""
        return max(self.regrets.values())

    @property
    def best_expert(self) -> Name:
        """The expert with the largest regret; where none slept, the one with the least loss."""
        return max(self.regrets.items(), key=lambda pair: pair[1])[0]

    def bound(self, switches: int = 0) -> ExpertBound | None:
        """The theorem for the rounds played: what it bounds, and by how much; None where none holds."""
        found = self.require_state()[1].bound(switches)
        return found if found is None or "mistakes" in found.measure else found._replace(value=self.width * found.value)

    # ---- rounds --------------------------------------------------------------------------------------------------

    def play(
        self, X: RowsLike, y: LabelsLike = None, weight: WeightsLike = None, query: LabelsLike = None
    ) -> Transcript:
        """Predict, then learn, every round; all of them, or none."""
        began = time.perf_counter() - seconds_waited()
        if weight is not None:
            raise BadValue(
                f"{self.card.name} does not support weight=: its guarantee is for rounds of equal importance"
            )
        with self._lock:
            self._change.settle()
            return self._change.save_and_run(self._own_state, lambda: self.play_rounds(X, y, began))

    def play_rounds(self, X: RowsLike, y: LabelsLike, began: float) -> Transcript:
        truth = self.reader.read_truth(X, y)
        advice = self.reader.read(read_table(X, self.names), truth)
        names, state = self.start(advice.names) if self.state is None else (advice.names, self.state.copy())
        slept = not advice.awake.all()
        weights = state.play(advice.losses, advice.awake if slept else None)
        drawn, random = self.draw_experts(weights)
        predictions = self.combine(weights, advice, drawn)
        losses, mistakes = self.judge(weights, advice, predictions, truth)
        updated = advice.find_differences()
        self.names, self.state, self.random = names, state, random
        self.rounds += len(losses)
        self.mistakes += int(np.count_nonzero(mistakes))
        self.updates += int(np.count_nonzero(updated))
        told = None if truth is None else as_array(truth)
        seconds = time.perf_counter() - seconds_waited() - began
        return Transcript(weights, predictions, losses, mistakes, updated, told, seconds)

    def start(self, names: list[Name]) -> tuple[list[Name], ExpertWeights]:
        """Fresh weights for these experts."""
        return names, ExpertWeights(self.card, len(names), self.seed, self.native, **self.algorithm_params)

    def draw_experts(self, weights: Floats) -> tuple[NDArray[np.int64], float]:
        """The expert that is followed in every round, and the random number after them: drawn, or the heaviest one."""
        if not self.card.follows:
            return np.argmax(weights, axis=1) if len(weights) else np.zeros(0, np.int64), self.random
        random, chosen = self.random, np.zeros(len(weights), np.int64)
        for t, row in enumerate(weights):
            sums = np.cumsum(row)
            chosen[t] = min(int(np.searchsorted(sums, random / PRIME * sums[-1], side="right")), len(row) - 1)
            random = next_random(random)
        return chosen, random

    def combine(self, weights: Floats, advice: Advice, chosen: NDArray[np.int64]) -> NDArray[Any]:
        """The prediction of every round: the expert followed, the weighted mean, or the weighted vote."""
        rounds = np.arange(len(weights))
        if self.loss_name == "none":
            return as_array([advice.names[at] for at in chosen])
        if PREDICTION_LOSSES[self.loss_name].convex:
            return np.asarray((weights * advice.values).sum(axis=1))
        if not len(weights):
            return np.zeros(0, object)
        followed = advice.values[rounds, chosen] if self.card.follows else vote(weights, advice.values, advice.awake)
        return as_array(followed.tolist())

    def judge(
        self, weights: Floats, advice: Advice, predictions: NDArray[Any], truth: list[Any] | None
    ) -> tuple[Floats, Flags]:
        """The loss of every round, and whether the prediction was wrong, where it can be.

        The loss is that of the weighted mean where this predicts; otherwise the mean, by the weights, of the losses.
        """
        own = np.asarray((weights * advice.losses).sum(axis=1))
        compute = PREDICTION_LOSSES[self.loss_name].compute
        if compute is not None and truth:
            return compute(predictions, self.reader.truth_numbers(truth)), np.zeros(len(own), bool)
        losses = self.loss_range[0] + self.width * own
        if truth is not None and compute is None:
            return losses, np.array(
                [one != other for one, other in zip(predictions.tolist(), truth, strict=True)], bool
            )
        return losses, own >= 0.5 if self.card.votes else np.zeros(len(own), bool)

    def learn_one(self, x: RowLike, y: Any = None, weight: float | None = None) -> Self:
        """Learn one round: a loss for each expert, or predictions and the truth."""
        return self.learn([x], None if y is None else [y], weight)

    def predict(self, X: RowsLike) -> NDArray[Any]:
        """The prediction for every row, with the weights of now."""
        with self._lock:
            self._change.settle()
            advice = self.reader.read(read_table(X, self.names), None) if self.loss_name != "none" else None
            if advice is None:
                rows = len(read_table(X, self.names).values)
                names, state = self.require_state()
                weights = np.tile(state.current(), (rows, 1))
                return as_array([names[self.draw_experts(weights[:1])[0][0]]] * rows if rows else [])
            state = self.state if self.state is not None else self.start(advice.names)[1]
            awake = advice.awake
            weights = np.array([state.current(row if not row.all() else None) for row in awake]).reshape(awake.shape)
            chosen = np.array([self.draw_experts(row[None])[0][0] for row in weights], np.int64)
            return self.combine(weights, advice, chosen)

    def predict_one(self, x: RowLike) -> Any:
        """The prediction for one row; None before the experts are known."""
        try:
            found = self.predict([x])[0]
        except NotLearned:
            return None
        return found.item() if hasattr(found, "dtype") else found

    def add(self, *names: Name) -> Self:
        """Add experts that arrive now, each with the mean of the current weights; see `ExpertWeights.add`."""

        def act() -> None:
            old, state = self.require_state()
            both = check_expert_names([*old, *names])
            new = state.copy()
            new.add(len(names))
            self.names, self.state = both, new

        with self._lock:
            self._change.settle()
            self._change.save_and_run(self._own_state, act)
            return self

    def merge(self, other: Any) -> Self:
        """A learner with the weights after the rounds of both, where the algorithm allows that."""
        if not isinstance(other, ExpertLearner):
            raise BadValue(f"{self.card.name} can be merged only with one of its kind, not with {shown(other)}")
        (names, state), (others, more) = self.require_state(), other.require_state()
        same = (self.loss_name, self.loss_range, names) == (other.loss_name, other.loss_range, others)
        if not same:
            raise BadValue("only learners with the same experts, loss and loss_range can be merged")
        new = self.copy()
        new.state = state.merge(more)
        new.rounds, new.mistakes, new.updates = (
            self.rounds + other.rounds, self.mistakes + other.mistakes, self.updates + other.updates,
        )  # fmt: skip
        return new

    # ---- model files ---------------------------------------------------------------------------------------------

    def dump(self) -> tuple[Header, Arrays]:
        """The weights, the names of the experts and the options."""
        with self._lock:
            self._change.settle()
            weights, arrays = (None, {}) if self.state is None else self.state.dump()
            own: Header = {"algorithm": self.card.name, "params": self.params, "seed": self.seed, "native": self.native}
            own |= {"loss_range": list(self.loss_range), "random": self.random, "names": self.names, "weights": weights}
            return {**own, **self.dump_counts()}, arrays

    @classmethod
    def restore(cls, header: Header, arrays: Arrays, find_card: FindCard) -> Self:
        """The learner of a header and arrays, all checked."""
        name, params, native = header.get("algorithm"), header.get("params"), header.get("native", True)
        card = find_card(name) if isinstance(name, str) else None
        if not isinstance(card, ExpertCard) or not isinstance(params, dict) or not isinstance(native, bool):
            raise corrupt("algorithm must be that of experts, params its parameters, and native true or false")
        try:
            options = {"seed": header.get("seed"), "native": native, "loss_range": read_list(header, "loss_range")}
            new: Self = card.build(**params, **options)
        except (BadValue, TypeError) as error:
            raise corrupt(str(error).removeprefix("corrupt model file: ")) from None
        new.random = read_number(header.get("random"), "random")
        if not (new.random.is_integer() and 1.0 <= new.random < PRIME):
            raise corrupt("random must be a random number")
        new.restore_counts(header)
        if header.get("weights") is not None:
            read = [read_label(one, "a name") for one in read_list(header, "names")]
            if not isinstance(header["weights"], dict) or header["weights"].get("algorithm") != name:
                raise corrupt("weights must be those of the algorithm")
            new.state = ExpertWeights.restore(header["weights"], arrays, native)
            try:
                new.names = check_expert_names(read)
            except BadValue as error:
                raise corrupt(str(error)) from None
            same = (new.state.params, new.state.seed) == (new.algorithm_params, new.seed)
            if not same or len(new.names) != new.state.experts or new.state.rounds != new.rounds:
                raise corrupt("the weights contradict the names, the rounds or the parameters")
        elif new.rounds or header.get("names") is not None:
            raise corrupt("there are rounds or names, but no weights")
        return new


def check_expert_names(names: Any) -> list[Name]:
    """Names of experts: different texts or whole numbers."""
    given = list(names) if isinstance(names, (list, tuple)) else []
    if not given or any(isinstance(one, bool) or not isinstance(one, (str, int)) for one in given):
        raise BadValue(f"experts need names, a list of texts or whole numbers, not {shown(names)}")
    for one in given:
        check_digits(one, "the name of one of the experts")
    twice = next((one for one in given if given.count(one) > 1), None) if len(set(given)) < len(given) else None
    if twice is not None:
        raise BadValue(f"two experts are named {twice!r}; names must differ")
    return given
