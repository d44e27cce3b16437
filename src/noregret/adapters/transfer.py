"""Transfer: what was learned on one stream, put to use on another."""

from typing import Any

import numpy as np

from noregret.errors import BadValue, shown
from noregret.learner.factory import make
from noregret.learner.rule_learner import RuleLearner
from noregret.rules.parameters import Param
from noregret.training.lesson import is_learner

RATE = Param(0.5, above=0.0)
EXACT = 0.5  # up to this rate the squared loss is exp-concave, and the regret does not grow with the rounds


def warm_start(learner: RuleLearner, **changes: float) -> RuleLearner:
    """A copy of a learner that goes on from its weights, with some numbers of its card changed on the way."""
    is_learner(learner, "warm_start")
    for name in changes:
        if name not in learner.card.numbers or name == "random_start":
            able = ", ".join(one for one in learner.card.numbers if one != "random_start") or "none"
            raise BadValue(f"warm_start cannot change {name!r}: of {learner.card.name} it may change {able}")
    model = learner.model.copy()
    model.config = make(learner.card, **{**learner.config.given, **changes}).config
    return RuleLearner.of(model)


class Transfer:
    """A source that stays as it is and a target that learns, each trusted by how well it did so far.

    Each says p = (score + 1) / 2, cut to [0, 1], for the positive class; the answer is their mean by weights that fall
    by exp(-rate * squared loss) each round. For a rate of at most 1/2 the squared losses of the answers sum to at most
    those of the better of the two, plus ln(2) / rate (Kivinen, Warmuth 1999; Zhao et al. 2014).
    """

    def __init__(self, source: RuleLearner, target: RuleLearner, rate: float = 0.5, losses: Any = (0.0, 0.0)) -> None:
        for one in (source, target):
            is_learner(one, "transfer")
        self.rate = RATE.check("transfer", "rate", rate)
        self.source, self.target = source.copy(), alike(source, target)
        self.losses = np.array(losses, np.float64)  # of the source and of the target
        if self.losses.shape != (2,) or not (np.isfinite(self.losses) & (self.losses >= 0.0)).all():
            raise BadValue(f"losses must be two numbers that are not negative, not {shown(losses)}")
        self.rounds = self.mistakes = 0
        self.loss = 0.0

    @property
    def weights(self) -> tuple[float, float]:
        """How much the source and the target are trusted."""
        trust = trusts(self.losses[None], self.rate)[0]
        return float(trust[0]), float(trust[1])

    @property
    def regret_bound(self) -> float | None:
        """By how much the loss may exceed that of the better of the two, however many rounds; None for a large rate."""
        return float(np.log(2.0) / self.rate) if self.rate <= EXACT else None

    def learn(self, X: Any, y: Any) -> "Transfer":
        """Predict, then learn, every round: the target by its rule, and whom to trust by the losses."""
        self.play(X, y)
        return self

    def play(self, X: Any, y: Any) -> np.ndarray:
        """The same; returns what was said for the positive class, round by round, before each label."""
        said = [shares(self.source.scores(X))]
        transcript = self.target.play(X, y)  # all or nothing; from here on nothing can fail
        said.append(shares(transcript.scores))
        positive = self.source.model.labels.sides(2)[1]
        truth = np.array([float(label == positive) for label in transcript.truth.tolist()])
        each = np.stack(said, axis=1)
        sums = np.cumsum(np.concatenate((self.losses[None], (each - truth[:, None]) ** 2)), axis=0)
        answers = (trusts(sums[:-1], self.rate) * each).sum(axis=1)
        self.losses = sums[-1]
        self.loss = float(np.cumsum(np.concatenate(([self.loss], (answers - truth) ** 2)))[-1])
        self.rounds += len(truth)
        self.mistakes += int(np.count_nonzero((answers >= 0.5) != (truth > 0.5)))
        return np.asarray(answers)

    def scores(self, X: Any) -> np.ndarray:
        """What is said now for the positive class, from 0 to 1."""
        source, target = self.weights
        met = self.target.model.arrays is not None
        own = shares(self.target.scores(X)) if met else 0.5
        return np.asarray(source * shares(self.source.scores(X)) + target * own)

    def predict(self, X: Any) -> np.ndarray:
        """The label of every row."""
        return self.source.decide(self.scores(X) - 0.5)


def shares(scores: np.ndarray) -> np.ndarray:
    """Scores as shares for the positive class."""
    return np.clip(0.5 * (scores + 1.0), 0.0, 1.0)


def trusts(losses: np.ndarray, rate: float) -> np.ndarray:
    """Weights that fall with the losses; the smaller loss is subtracted first, so that none overflows."""
    powers = np.exp(-rate * (losses - losses.min(axis=1, keepdims=True)))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def alike(source: RuleLearner, target: RuleLearner) -> RuleLearner:
    """The target with the classes of the source: a fresh one made for them, one that has learned as it is."""
    if source.task != "binary" or len(source.classes) != 2:
        raise BadValue(f"transfer needs a source that has learned two classes, not {shown(source)}")
    if target.task != "binary":
        raise BadValue(f"transfer is for learners of two classes; the target plays {target.task}")
    if not target.classes:
        return make(target.card, **{**target.config.given, "classes": list(source.classes)})
    if target.model.labels.sides(len(target.classes)) != source.model.labels.sides(2):
        raise BadValue(f"the source tells {source.classes} apart, the target {target.classes}; they must be the same")
    return target


def transfer(source: RuleLearner, target: RuleLearner, rate: float = 0.5) -> Transfer:
    """Hedge between a frozen source and a learning target; a target that has not learned gets the source's classes."""
    return Transfer(source, target, rate)
