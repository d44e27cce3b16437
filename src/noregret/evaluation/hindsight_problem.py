"""What the best fixed weights of a run minimise: the losses of its rounds, over the weights a learner may have."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from noregret.errors import BadValue
from noregret.evaluation.encoded_rounds import EncodedRounds
from noregret.evaluation.hindsight import Rounds, extents
from noregret.learner.config import Config
from noregret.metrics.comparator_problem import Problem
from noregret.metrics.comparator_sets import Ball, Box, Everywhere, Simplex, WeightSet
from noregret.metrics.round_losses import ClassRounds, RoundLosses, ShiftedLosses, SignedRounds, TargetRounds
from noregret.rules.own_functions import OwnFunction

Floats = NDArray[np.float64]
ABOUT_STEPS = ("loss", "schedule")  # options that do not change where weights may be


@dataclass(frozen=True)
class Hindsight:
    """The rounds of a run for learners of one configuration, and the problem of their best fixed weights."""

    rounds: Rounds
    config: Config

    @property
    def key(self) -> tuple[object, ...]:
        """Learners that agree in it, on the same rows, have the same comparator."""
        config = self.config
        options = (loss_name(config), shape_of(config), tuple(config.task.numbers.items()))
        return (self.rounds.kind, *options, repr(self.find_set()), has_threshold(config) and config.numbers["theta"])

    def problem(self, rounds: Rounds) -> Problem:
        """The losses of some of the rounds."""
        losses = make_losses(rounds, self.config)
        if has_threshold(self.config) and rounds.kind != "codes":  # between classes a threshold cancels
            losses = ShiftedLosses(losses, -self.thresholds(rounds))
        return Problem(rounds.X, losses)

    def thresholds(self, rounds: Rounds) -> Floats:
        """The threshold of every round: as given, or the number of features so far."""
        theta = float(self.config.numbers["theta"])
        return np.full(len(rounds.truths), theta) if theta > 0.0 else np.maximum.accumulate(extents(rounds.X))

    def find_set(self) -> WeightSet:
        """The set that the weights of the learner are in, by the options in force; all weights where there is none."""
        config = self.config
        p, chosen = config.card.in_force({**config.numbers, **dict(config.choices)})
        kinds = {
            one.comparator
            for one in config.card.guarantees
            if all(chosen.get(name) in among for name, among in one.options.items() if name not in ABOUT_STEPS)
        }
        if "simplex" in kinds:
            return Simplex(1.0, at_most=getattr(p, "features", 0.0) > self.rounds.X.shape[1])
        if "l1 ball" in kinds and p.U > 0.0:
            return Simplex(p.U, signed=True)
        if "in set" in kinds:
            return named_set(chosen.get("onto"), p)
        return Box(0.0, np.inf) if config.card.nonnegative else Everywhere()


def named_set(onto: object, p: object) -> WeightSet:
    """The set that weights are projected onto; without a name, the ball of Pegasos."""
    radius, lam = float(getattr(p, "radius", 0.0)), float(getattr(p, "lam", 0.0))
    if onto is None and lam > 0.0:
        return Ball(float(1.0 / np.sqrt(lam)))
    if isinstance(onto, OwnFunction):
        return Everywhere()
    sets: dict[object, WeightSet] = {
        "ball": Ball(radius),
        "box": Box(-radius, radius),
        "orthant": Box(0.0, np.inf),
        "l1": Simplex(radius, signed=True),
        "simplex": Simplex(radius),
    }
    return sets.get(onto, Everywhere())


def has_threshold(config: Config) -> bool:
    """Whether the scores are w.x less a threshold, with weights that are never negative (Winnow)."""
    return config.card.nonnegative and "theta" in config.numbers


def loss_name(config: Config) -> str:
    """The loss that a learner suffers."""
    return config.task.rule_options.get("loss", config.task.default_loss)


def shape_of(config: Config) -> str:
    """Whether a class is compared with the best of the others, or with all of them."""
    return str(config.task.chosen.get("competitor", "runner_up"))


def make_rounds(encoded: EncodedRounds, config: Config) -> Rounds:
    """The rounds that were kept, with signs where there are two classes and one vector of weights."""
    model, truths = encoded.model, encoded.all_truths()
    if not model.task.labelled:
        return Rounds(encoded.rows(), truths.astype(np.float64), "targets")
    if len(model.labels) <= 2 and not config.task.many:
        return Rounds(encoded.rows(), model.labels.signs(len(model.labels))[truths], "signs")
    return Rounds(encoded.rows(), truths.astype(np.int64), "codes", len(model.labels))


def make_losses(rounds: Rounds, config: Config) -> RoundLosses:
    """The losses of rounds as a function of scores."""
    loss, competitor = loss_name(config), shape_of(config)
    if rounds.kind == "targets":
        scaled = config.task.chosen.get("scale_target") == "yes"
        deviation = running_deviation(rounds.truths) if scaled else np.ones(len(rounds.truths))
        return TargetRounds(loss, rounds.truths, config.task.numbers["eps"] * deviation, deviation)
    if rounds.kind == "signs":
        return SignedRounds(loss, rounds.truths)
    if competitor == "predicted":
        raise BadValue("the loss against the predicted class is not convex, so no best comparator is computed")
    if competitor == "rest":
        return SignedRounds(loss, np.where(np.arange(rounds.classes) == rounds.truths[:, None], 1.0, -1.0))
    return ClassRounds(loss, rounds.truths, rounds.classes)


def running_deviation(targets: Floats) -> Floats:
    """The standard deviation of the targets before each round."""
    from noregret.metrics import TargetBaselines

    baselines = TargetBaselines()
    found = baselines.deviations(targets) if targets.size else np.zeros(0)
    found[:1] = 0.0
    return found
