"""Online-to-batch conversion: one of the states that an online learner goes through, chosen for later predictions."""

import contextlib
from dataclasses import dataclass
from typing import Any, TypedDict, TypeVar, Unpack

import numpy as np

from noregret.data.inputs import LabelsLike, RowsLike, WeightsLike
from noregret.errors import BadValue, NotLearned, shown
from noregret.learner.arguments import check_integer, check_round_learner, check_rule_learner
from noregret.learner.factory import make
from noregret.learner.labelled_rows import LabelledRows, check_validation
from noregret.learner.protocol import Learner, SelfEvaluating

METHODS = ("last", "random", "longest_survivor", "average", "best_on_validation")
CHECKPOINTS = 20
AnyLearner = TypeVar("AnyLearner", bound=Learner)


class ConversionOptions(TypedDict, total=False):
    """The options of `online_to_batch`."""

    seed: int
    validation: tuple[RowsLike, LabelsLike] | None
    every: int | None
    weight: WeightsLike


@dataclass(frozen=True)
class Plan:
    """The options of `online_to_batch`."""

    seed: int = 0
    validation: Any = None
    every: int | None = None
    weight: Any = None


def online_to_batch(
    learner: AnyLearner, X: RowsLike, y: LabelsLike, by: str = "last", **options: Unpack[ConversionOptions]
) -> AnyLearner:
    """A learner in one of the states that this one would go through on these rounds; this one does not change.

    Options: seed=0, validation=(X, y), every, weight.

    last: after all rounds. random: before a round drawn with the seed, whose expected loss is the mean loss of the
    rounds (Cesa-Bianchi, Conconi and Gentile 2004). longest_survivor: the state that lasted the most rounds without an
    update, the latest of several (Gallant 1990). average: predicts with the mean of all weight vectors; needs a fresh
    rule learner. best_on_validation: the state with the smallest error on the validation rows, measured after `every`
    so many rounds, by default 20 times; the first of several.
    """
    check_round_learner(learner, "online_to_batch")
    plan = Plan(**options)
    objects = isinstance(learner, SelfEvaluating)
    rows = LabelledRows(X, y, plan.weight, objects=objects).require_rows()
    held_out = check_validation(plan.validation, objects)
    if by not in METHODS:
        raise BadValue(f"by must be one of {', '.join(METHODS)}, not {shown(by)}")
    if (by == "best_on_validation") != (held_out is not None):
        verb = "needs" if held_out is None else "takes no"
        raise BadValue(f'by="{by}" {verb} validation rows' + ("; give validation=(X, y)" if held_out is None else ""))
    if by == "average":
        return learn_average(learner, rows)
    if held_out is not None:
        return select_best(learner, rows, held_out, plan.every)
    rounds = len(rows)
    if by == "random":
        rounds = int(np.random.default_rng(check_integer("seed", plan.seed, 0)).integers(rounds))
    elif by == "longest_survivor":
        rounds = start_of_longest(learner, rows)
    return learn_first(learner, rows, rounds)


def learn_first(learner: AnyLearner, rows: LabelledRows, rounds: int) -> AnyLearner:
    """A copy of the learner that has also learned the first rounds."""
    return rows.slice(0, rounds).teach(learner.copy()) if rounds else learner.copy()


def start_of_longest(learner: Learner, rows: LabelledRows) -> int:
    """After how many rounds the state begins that lasts the most rounds without an update."""
    starts = np.concatenate(([0], 1 + np.flatnonzero(rows.play(learner.copy()).updated)))
    ends = np.concatenate((starts[1:] - 1, [len(rows)]))  # the round of the next update is not survived
    survived = ends - starts
    return int(starts[::-1][np.argmax(survived[::-1])])


def learn_average(learner: AnyLearner, rows: LabelledRows) -> AnyLearner:
    """A fresh learner that predicts with the mean of its weight vectors."""
    rule = check_rule_learner(learner, 'by="average"', "other learners have no weights to average")
    if rule.rounds:
        raise BadValue(f'by="average" starts from a fresh learner; this one has learned {rule.rounds} rounds')
    averaged: Any = make(rule.config.card, **{**rule.config.given, "average": True})
    return rows.teach(averaged)  # type: ignore[no-any-return]


def select_best(learner: AnyLearner, rows: LabelledRows, held_out: LabelledRows, every: int | None) -> AnyLearner:
    """The state with the smallest error on the rows held out."""
    every = max(1, len(rows) // CHECKPOINTS) if every is None else check_integer("every", every, 1)
    trial, best, least = learner.copy(), learner.copy(), np.inf
    with contextlib.suppress(NotLearned):
        least = held_out.measure_error(trial)
    for start in range(0, len(rows), every):
        rows.slice(start, min(start + every, len(rows))).teach(trial)
        error = held_out.measure_error(trial)
        if error < least:
            best, least = trial.copy(), error
    return best
