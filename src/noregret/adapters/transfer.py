"""Transfer learning: reuse what was learned on one stream for another."""

import math
import time
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from noregret.data.inputs import LabelsLike, RowsLike, WeightsLike
from noregret.data.labels import UNIVERSUM
from noregret.data.transcript import Transcript
from noregret.errors import BadValue, shown
from noregret.experts.expert_weights import ExpertWeights
from noregret.jit.cache import seconds_waited
from noregret.learner.arguments import as_rule_learner, check_rule_learner, describe
from noregret.learner.base_learner import BaseLearner
from noregret.learner.factory import make
from noregret.learner.header_fields import corrupt, read_list, read_number, read_param
from noregret.learner.model_file import Arrays, FindCard, Header, dump_part, register_kind, restore_part
from noregret.learner.rule_learner import RuleLearner
from noregret.learner.whole_change import run_whole
from noregret.rules.guarantee import Guarantee
from noregret.rules.method_card import method_card
from noregret.rules.parameters import Component, Param

Floats = NDArray[np.float64]
RATE = Param(0.5, above=0.0, about="how fast the weight of a learner falls with its loss", search=(0.01, 5.0, "log"))
EXP_CONCAVE = 0.5  # up to this rate the squared loss is exp-concave, and the regret does not grow with the rounds


def regret_bound(p: Any) -> float:
    """ln(2) / rate."""
    return math.log(2.0) / float(p.rate)


def is_exp_concave(p: Any) -> str | None:
    return None if p.rate <= EXP_CONCAVE else f"it is proved for rate <= {EXP_CONCAVE:g}, not for rate={p.rate:g}"


GUARANTEE = Guarantee(
    "regret",
    "squared losses <= those of the better of source and target + ln(2) / rate",
    "rate <= 1/2",
    regret_bound,
    requires=is_exp_concave,
    comparator="in set",
)


def warm_start(learner: RuleLearner, **changes: float) -> RuleLearner:
    """A copy of a learner that continues from its weights, with some numbers of its card changed."""
    check_rule_learner(learner, "warm_start", "it starts from weights")
    for name in changes:
        if name not in learner.card.numbers or name == "random_start":
            able = ", ".join(one for one in learner.card.numbers if one != "random_start") or "none"
            raise BadValue(f"warm_start cannot change {name!r}: of {learner.card.name} it may change {able}")
    model = learner.model.copy()
    model.config = make(learner.config.card, **{**learner.config.given, **changes}).config
    return RuleLearner.of(model)


@register_kind
@method_card(
    paper="Zhao, Hoi, Wang and Li, Online transfer learning, Artificial Intelligence 216, 2014",
    kind="transfer",
    tasks=("binary",),
    params={
        "source": Component("perceptron", "the learner that is reused and stays as it is"),
        "target": Component("pa1", "the learner that goes on learning"),
        "rate": RATE,
    },
    guarantees=(GUARANTEE,),
)
class Transfer(BaseLearner):
    """Hedge between a frozen source learner and a target learner that goes on learning.

    Each gives p = (score + 1) / 2, clipped to [0, 1], for the positive class; the answer is their weighted mean. A
    weight falls by the factor exp(-rate * squared loss) in each round. For a rate of at most 1/2 the squared losses of
    the answers sum to at most those of the better of the two, plus ln(2) / rate (Kivinen and Warmuth 1999; Zhao et
    al. 2014). In transcripts the score is the answer minus 1/2, and the loss the squared loss of the answer.
    """

    kind: ClassVar[str] = "transfer"

    def __init__(self, source: RuleLearner | str, target: RuleLearner | str, rate: float = 0.5) -> None:
        super().__init__()
        first, second = (as_rule_learner(one, "transfer", "it needs scores of two classes") for one in (source, target))
        self.rate = RATE.check("transfer", "rate", rate)
        self.source_learner, self.target = first.copy(), match_classes(first, second)
        self.hedge = ExpertWeights("hedge", 2, native=second.config.native, eta=self.rate)
        self.loss = 0.0  # the summed squared losses of the answers

    @property
    def task(self) -> str:
        return self.target.task

    @property
    def params(self) -> dict[str, Any]:
        return {"source": describe(self.source_learner), "target": describe(self.target), "rate": self.rate}

    def __repr__(self) -> str:
        source, target = self.weights
        experts = f"{source:.3f} * {self.source_learner!r} + {target:.3f} * {self.target!r}"
        return f"<transfer: {experts}: {self.rounds} rounds, {self.mistakes} mistakes>"

    @property
    def weights(self) -> tuple[float, float]:
        """The weights of the source and of the target; they sum to 1."""
        source, target = self.hedge.current().tolist()
        return source, target

    @property
    def losses(self) -> Floats:
        """The summed squared losses of the source and of the target."""
        return self.hedge.cumulative_losses

    @property
    def regret_bound(self) -> float | None:
        """By how much the loss may exceed that of the better of the two, after any number of rounds.

        None for a rate above 1/2.
        """
        return math.log(2.0) / self.rate if self.rate <= EXP_CONCAVE else None

    # ---- rounds ------------------------------------------------------------------------------------------------------

    def play(
        self, X: RowsLike, y: LabelsLike = None, weight: WeightsLike = None, query: LabelsLike = None
    ) -> Transcript:
        """Predict, then learn, every round: the target by its rule, and the weights by the losses; all, or none."""
        began = time.perf_counter() - seconds_waited()
        if weight is not None:
            raise BadValue("transfer does not support weight=: its guarantee is for rounds of equal importance")
        with self._lock:
            self._change.settle()

            def play() -> Transcript:
                return self.play_both(X, y, query, began)

            return run_whole(self._change, lambda: [self.target], self._own_state, play)

    def play_both(self, X: RowsLike, y: LabelsLike, query: LabelsLike, began: float) -> Transcript:
        """Play every round with the source and the target."""
        from_source = as_shares(self.source_learner.scores(X))
        played = self.target.play(X, y, None, query)  # all or nothing; nothing can fail from here on
        shares = np.stack((from_source, as_shares(played.scores)), axis=1)
        truth, scored = self.encode_truth(played.truth)
        losses = np.where(scored[:, None], (shares - truth[:, None]) ** 2, 0.0)
        hedge = self.hedge.copy()
        answers = np.asarray((hedge.play(losses) * shares).sum(axis=1))
        suffered = np.where(scored, (answers - truth) ** 2, 0.0)
        mistakes = scored & ((answers >= 0.5) != (truth > 0.5))
        updated = played.updated | (losses[:, 0] != losses[:, 1])
        self.hedge = hedge
        self.loss = float(np.cumsum(np.concatenate(([self.loss], suffered)))[-1])
        self.rounds += len(truth)
        self.mistakes += int(np.count_nonzero(mistakes))
        self.updates += int(np.count_nonzero(updated))
        predictions = self.source_learner.decide(answers - 0.5)
        seconds = time.perf_counter() - seconds_waited() - began
        return Transcript(answers - 0.5, predictions, suffered, mistakes, updated, played.truth, seconds)

    def encode_truth(self, labels: NDArray[Any]) -> tuple[Floats, NDArray[np.bool_]]:
        """1 for the positive class and 0 for the negative one, and which rounds have a class at all."""
        positive = self.source_learner.model.labels.sides(2)[1]
        listed = labels.tolist()
        truth = np.array([float(label == positive) for label in listed])
        return truth, np.array([label is not UNIVERSUM for label in listed], bool)

    def scores(self, X: RowsLike) -> Floats:
        """The answer for every row: the share of the positive class, from 0 to 1."""
        with self._lock:
            self._change.settle()
            learned = self.target.model.arrays is not None
            from_source = as_shares(self.source_learner.scores(X))
            from_target = as_shares(self.target.scores(X)) if learned else np.full(len(from_source), 0.5)
            return np.asarray((np.array(self.weights) * np.stack((from_source, from_target), axis=1)).sum(axis=1))

    def predict(self, X: RowsLike) -> NDArray[Any]:
        """The label of every row."""
        return self.source_learner.decide(self.scores(X) - 0.5)

    # ---- model files -------------------------------------------------------------------------------------------------

    def dump(self) -> tuple[Header, Arrays]:
        """Both learners, the rate and the losses."""
        with self._lock:
            self._change.settle()
            source, arrays = dump_part("source", self.source_learner)
            target, more = dump_part("target", self.target)
            numbers = {"rate": self.rate, "losses": self.losses.tolist(), "loss": self.loss}
            return {"source_learner": source, "target": target, **numbers, **self.dump_counts()}, {**arrays, **more}

    @classmethod
    def restore(cls, header: Header, arrays: Arrays, find_card: FindCard) -> Self:
        """Both learners, the rate and the losses, all checked."""
        source = restore_part("source", header.get("source_learner"), arrays, find_card)
        target = restore_part("target", header.get("target"), arrays, find_card)
        try:
            new = cls(source, target, read_param(header, "rate", RATE))
        except BadValue as error:
            raise corrupt(str(error)) from None
        new.target = target  # with its own classes, also if it has learned nothing yet
        losses = [read_number(loss, "a loss") for loss in (*read_list(header, "losses"), header.get("loss"))]
        if len(losses) != 3 or min(losses) < 0.0:
            raise corrupt("there must be three losses, none of them negative")
        new.restore_counts(header)
        if max(losses) > new.rounds * (1.0 + 1e-9):
            raise corrupt("a squared loss cannot be above 1 in a round")
        new.hedge.state.losses[:], new.hedge.state.n.t = losses[:2], new.rounds
        new.loss = losses[2]
        return new


def as_shares(scores: Floats) -> Floats:
    """Scores as shares of the positive class."""
    return np.clip(0.5 * (scores + 1.0), 0.0, 1.0)


def match_classes(source: RuleLearner, target: RuleLearner) -> RuleLearner:
    """The target with the classes of the source: a fresh target is made anew for them."""
    if source.task != "binary" or len(source.classes) != 2 or source.model.arrays is None:
        raise BadValue(f"transfer needs a source that has learned two classes, not {shown(source)}")
    if target.task != "binary":
        raise BadValue(f"transfer is for learners of two classes; the target plays {target.task}")
    if not target.classes:
        return make(target.config.card, **{**target.config.given, "classes": list(source.classes)})
    if target.model.labels.sides(len(target.classes)) != source.model.labels.sides(2):
        raise BadValue(f"the source knows {source.classes}, the target {target.classes}; classes must be the same")
    return target


def transfer(source: RuleLearner, target: RuleLearner | str, rate: float = 0.5) -> Transfer:
    """Hedge between a frozen source and a target that learns; a fresh target gets the classes of the source."""
    return Transfer(source, target, rate)
