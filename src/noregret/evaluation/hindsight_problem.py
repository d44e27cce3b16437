"""What the best fixed weights of a run minimise: the losses of its rounds, over the weights a learner may have."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from noregret.data.query_groups import group_slices
from noregret.errors import BadValue
from noregret.evaluation.capabilities import config_of
from noregret.evaluation.encoded_rounds import EncodedRounds
from noregret.evaluation.hindsight import Rounds, extents
from noregret.evaluation.kernel_rows import as_vectors, learned_norm
from noregret.learner.config import Config
from noregret.learner.protocol import Learner
from noregret.learner.rule_learner import RuleLearner
from noregret.metrics.centre_comparator import CentreProblem, find_centre
from noregret.metrics.comparator import Comparator, find_comparator
from noregret.metrics.comparator_problem import Problem
from noregret.metrics.comparator_sets import Ball, Box, Everywhere, Simplex, WeightSet
from noregret.metrics.pair_losses import PairLosses, Pairs, pair_up
from noregret.metrics.round_losses import (
    ClassRounds,
    RoundLosses,
    ShiftedLosses,
    SignedRounds,
    SoftmaxRounds,
    TargetRounds,
)
from noregret.rules.own_functions import OwnFunction
from noregret.tasks.multiclass import Multiclass

Floats = NDArray[np.float64]
MOST_PAIRS = 5_000_000
ABOUT_STEPS = ("loss", "schedule")  # options that do not change where weights may be


@dataclass(frozen=True)
class Hindsight:
    """The rounds of a run for learners of one configuration, and the problem of their best fixed weights.

    `norm` is that of what a kernel learner learned: its comparator is not longer, since some longer one fits any rows.
    """

    rounds: Rounds
    config: Config
    norm: float | None = None
    kernel_params: tuple[float, ...] = ()
    owed: Floats | None = None  # by how much a class must beat each other one, where mistakes have costs

    @property
    def key(self) -> tuple[object, ...]:
        """Learners that agree in it, on the same rows, have the same comparator."""
        config = self.config
        task = tuple({**config.task.numbers, **config.task.chosen}.items())
        shifts = (has_threshold(config) and config.numbers["theta"], config.task.cost)
        kernel = (config.kernel, self.kernel_params) if self.rounds.of_kernel else None
        return (self.rounds.kind, loss_name(config), task, repr(self.find_set()), shifts, kernel)

    def solve(self, rows: int, start: Floats | None) -> Comparator:
        """The best fixed weights for the first rows; one-class, the best centre."""
        rounds = self.rounds.cut(rows)
        if rounds.kind == "sides":
            centre = None if start is None else start[:, 0]
            return find_centre(CentreProblem(rounds.X[rounds.truths > 0.0], self.config.task.numbers["radius"]), centre)
        problem = self.problem(rounds)
        if start is not None and start.shape[1] < problem.shape[1]:
            start = np.hstack((start, np.zeros((start.shape[0], problem.shape[1] - start.shape[1]))))
        return find_comparator(problem, self.find_set(), start)

    @property
    def title(self) -> str:
        """What the comparator is."""
        if self.rounds.kind == "sides":
            return f"the best fixed centre of a ball of radius {self.config.task.numbers['radius']:g}"
        what = "fixed weights" if self.norm is None else "fixed function of the kernel"
        longest = "" if self.norm is None else ", the norm of the one learned"
        return f"the best {what}{self.find_set().title}{longest}"

    def problem(self, rounds: Rounds) -> Problem:
        """The losses of some of the rounds."""
        losses = make_losses(rounds, self.config)
        if has_threshold(self.config) and rounds.kind != "codes":  # between classes a threshold cancels
            losses = ShiftedLosses(losses, -self.thresholds(rounds))
        if self.owed is not None:
            missing = self.owed[rounds.truths, : rounds.classes] - 1.0
            missing[np.arange(len(missing)), rounds.truths] = 0.0
            losses = ShiftedLosses(losses, missing)
        return Problem(rounds.X, losses)

    def thresholds(self, rounds: Rounds) -> Floats:
        """The threshold of every round: as given, or the number of features so far."""
        theta = float(self.config.numbers["theta"])
        return np.full(len(rounds.truths), theta) if theta > 0.0 else np.maximum.accumulate(extents(rounds.X))

    def find_set(self) -> WeightSet:
        """The set that the weights of the learner are in, by the options in force; all weights where there is none."""
        config = self.config
        if self.norm is not None:
            return Ball(self.norm)
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


def look_back(encoded: EncodedRounds, learner: Learner) -> Hindsight:
    """The rounds of a learner as its comparator sees them."""
    config = config_of(learner)
    assert config is not None
    rounds = make_rounds(encoded, config)
    if isinstance(config.task, Multiclass) and config.task.cost is not None:
        return Hindsight(rounds, config, owed=config.task.required_margins(encoded.model.labels, rounds.classes))
    if config.algebra != "kernel" or not isinstance(learner, RuleLearner):
        return Hindsight(rounds, config)
    vectors = as_vectors(rounds.X, learner.model)
    norm = learned_norm(learner.model, rounds.X, vectors)
    return Hindsight(replace(rounds, X=vectors, of_kernel=True), config, norm, learner.model.kernel_params)


def make_rounds(encoded: EncodedRounds, config: Config) -> Rounds:
    """The rounds that were kept, with signs where there are two classes and one vector of weights."""
    model, truths = encoded.model, encoded.all_truths()
    if model.task.needs_query:
        return Rounds(encoded.rows(), np.column_stack((encoded.all_places(), truths[:, 1])), "lists")
    if model.task.truth_dimensions > 1:
        return Rounds(encoded.rows(), truths, "sets", len(model.labels))
    if not model.task.needs_labels:
        return Rounds(encoded.rows(), truths, "sides")
    if not model.task.labelled:
        return Rounds(encoded.rows(), truths.astype(np.float64), "targets")
    if len(model.labels) <= 2 and not config.task.many:
        return Rounds(encoded.rows(), model.labels.signs(len(model.labels))[truths], "signs")
    joint = config.task.loss.of_all_scores
    return Rounds(encoded.rows(), truths.astype(np.int64), "codes", len(model.labels), all_rivals=joint)


def make_losses(rounds: Rounds, config: Config) -> RoundLosses:
    """The losses of rounds as a function of scores."""
    loss, competitor = loss_name(config), shape_of(config)
    if rounds.kind == "lists":
        return PairLosses(loss, pair_rows(rounds.truths), 1, mean=True)
    if rounds.kind == "sets":
        pairs = pair_labels(rounds, config.task.chosen["threshold"] == "virtual")
        return PairLosses(loss, pairs, rounds.classes + 1)
    if rounds.kind == "targets":
        scaled = config.task.chosen.get("scale_target") == "yes"
        deviation = running_deviation(rounds.truths) if scaled else np.ones(len(rounds.truths))
        return TargetRounds(loss, rounds.truths, config.task.numbers["eps"] * deviation, deviation)
    if rounds.kind == "signs":
        return SignedRounds(loss, rounds.truths)
    if competitor == "predicted":
        raise BadValue("the loss against the predicted class is not convex, so no best comparator is computed")
    if competitor == "softmax":
        return SoftmaxRounds(rounds.truths, rounds.classes)
    if competitor == "rest":
        return SignedRounds(loss, np.where(np.arange(rounds.classes) == rounds.truths[:, None], 1.0, -1.0))
    return ClassRounds(loss, rounds.truths, rounds.classes)


def pair_rows(truths: Floats) -> Pairs:
    """All pairs of rows of a list with different relevance; a list is a group."""
    larger, smaller, count = [], [], 0
    for rows in group_slices(truths[:, 0]):
        relevance = truths[rows, 1]
        above, below = np.nonzero(relevance[:, None] > relevance)
        count = check_pairs(count + above.size)
        larger.append(rows.start + above)
        smaller.append(rows.start + below)
    return pair_up(larger, smaller, list(range(len(larger))), len(larger))


def pair_labels(rounds: Rounds, virtual: bool) -> Pairs:
    """Labels of each row above the virtual one, and that above all others; or each label above all others."""
    larger, smaller, round_of, count = [], [], [], 0
    blocks = rounds.classes + 1
    for t, labels in enumerate(rounds.truths):
        first = t * blocks
        own, others = first + 1 + labels, first + 1 + np.setdiff1d(np.arange(rounds.classes), labels)
        if virtual:
            groups = [(own, np.full(own.size, first)), (np.full(others.size, first), others)]
        else:
            groups = [(np.repeat(own, others.size), np.tile(others, own.size))]
        for above, below in groups:
            count = check_pairs(count + above.size)
            larger.append(above)
            smaller.append(below)
            round_of.append(t)
    return pair_up(larger, smaller, round_of, len(rounds.truths))


def check_pairs(count: int) -> int:
    if count > MOST_PAIRS:
        raise BadValue(f"the rounds have more than {MOST_PAIRS:,} pairs to compare, so no best comparator is computed")
    return count


def running_deviation(targets: Floats) -> Floats:
    """The standard deviation of the targets before each round."""
    from noregret.metrics import TargetBaselines

    baselines = TargetBaselines()
    found = baselines.deviations(targets) if targets.size else np.zeros(0)
    found[:1] = 0.0
    return found
