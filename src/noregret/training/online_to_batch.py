"""From online to batch: of all the states a learner goes through, one to keep."""

from typing import Any

import numpy as np

from noregret.errors import BadValue, shown
from noregret.learner.factory import make
from noregret.learner.rule_learner import RuleLearner
from noregret.training.lesson import Lesson, is_learner, validated, whole

WAYS = ("last", "random", "longest_survivor", "average", "best_on_validation")
CHECKPOINTS = 20


def online_to_batch(
    learner: RuleLearner,
    X: Any,
    y: Any,
    by: str = "last",
    *,
    seed: int = 0,
    validation: tuple[Any, Any] | None = None,
    every: int | None = None,
    weight: Any = None,
) -> RuleLearner:
    """A learner in one of the states that this one would go through on these rounds; this one stays as it is.

    last: after all rounds. random: before a round drawn with the seed, whose expected loss is the mean loss of the
    rounds (Cesa-Bianchi, Conconi and Gentile 2004). longest_survivor: the state that stood the most rounds without an
    update, the latest of several (Gallant 1990). average: predicts with the mean of all weight vectors; from a fresh
    learner. best_on_validation: the one with the smallest error on the validation rows, looked at `every` so many
    rounds, by default 20 times; the first of several.
    """
    is_learner(learner, "online_to_batch")
    lesson, held_out = Lesson(X, y, weight), validated(validation)
    if by not in WAYS:
        raise BadValue(f"by must be one of {', '.join(WAYS)}, not {shown(by)}")
    if (by == "best_on_validation") != (held_out is not None):
        verb = "needs" if held_out is None else "takes no"
        raise BadValue(f'by="{by}" {verb} validation rows' + ("; give validation=(X, y)" if held_out is None else ""))
    if by == "average":
        return averaged(learner, lesson)
    if held_out is not None:
        return best(learner, lesson, held_out, every)
    rounds = len(lesson)
    if by == "random":
        rounds = int(np.random.default_rng(whole("seed", seed, 0)).integers(rounds))
    elif by == "longest_survivor":
        rounds = birth_of_longest(learner, lesson)
    return after(learner, lesson, rounds)


def after(learner: RuleLearner, lesson: Lesson, rounds: int) -> RuleLearner:
    """A copy of the learner that has learned so many rounds more."""
    return lesson.part(0, rounds).teach(learner.copy()) if rounds else learner.copy()


def birth_of_longest(learner: RuleLearner, lesson: Lesson) -> int:
    """The number of rounds after which the state came to be that stood the most of them without an update."""
    born = np.concatenate(([0], 1 + np.flatnonzero(lesson.updates_of(learner.copy()))))
    ends = np.concatenate((born[1:] - 1, [len(lesson)]))  # the round of the next update is not survived
    survived = ends - born
    return int(born[::-1][np.argmax(survived[::-1])])


def averaged(learner: RuleLearner, lesson: Lesson) -> RuleLearner:
    if learner.rounds:
        raise BadValue(f'by="average" starts from a fresh learner; this one has learned {learner.rounds} rounds')
    return lesson.teach(make(learner.card, **{**learner.config.given, "average": True}))


def best(learner: RuleLearner, lesson: Lesson, held_out: Lesson, every: int | None) -> RuleLearner:
    every = max(1, len(lesson) // CHECKPOINTS) if every is None else whole("every", every, 1)
    going = learner.copy()
    least = np.inf
    kept: RuleLearner | None = None
    for start in range(0 if learner.model.arrays is None else -every, len(lesson), every):
        if start >= 0:
            lesson.part(start, min(start + every, len(lesson))).teach(going)
        error = held_out.error_of(going)
        if kept is None or error < least:
            least, kept = error, going.copy()
    assert kept is not None
    return kept
