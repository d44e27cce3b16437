"""Bandit feedback: one class is drawn and played, and the learner sees only how good it was.

A class that was played before comes with its probability at that time; otherwise it is drawn here and compared with
the truth.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.algebra.internal_verbs import row
from noregret.algebra.partial_features import PRIME, next_random
from noregret.algebra.verbs import helper, sqnorm, unbound
from noregret.data.inputs import LabelsLike
from noregret.data.labels import Labels, as_array
from noregret.state.space import Space
from noregret.tasks import multiclass
from noregret.tasks.hooks import take_steps
from noregret.tasks.outcome import Outcome, Segment
from noregret.tasks.task import Flags, Floats, G, P, R, S, Task

scores = chances = rule = unbound
TRUTH, PLAYED, CHANCE, LOSS = 0, 1, 2, 3  # the columns of y; below zero where something is not known


def play(p: P, g: G, s: S, X: R, y: Floats, h: Floats, out: Floats, updated: Flags, aux: Floats) -> None:
    for t in range(aux.size):
        x = row(X, t)
        f = out[t]
        scores(p, s, x, X.stride, f)
        played, chance, loss = int(y[t, PLAYED]), y[t, CHANCE], y[t, LOSS]
        if played < 0:
            odds = g.odds[: f.size]
            chances(p, s, f, odds)
            s.n.random = next_random(s.n.random)
            played = drawn(odds, s.n.random)
            chance = odds[played]
            loss = 0.0 if played == y[t, TRUTH] else 1.0
        aux[t] = played
        s.n.t += 1.0
        if sqnorm(x) > 0.0:
            steps = g.steps[: f.size]
            for c in range(f.size):
                steps[c] = 0.0
            updated[t] = rule(p, s, steps, f, chance, played, loss)
            take_steps(s, x, steps, X.stride)


@helper
def drawn(odds: Any, random: Any) -> Any:
    """The class that a random number falls to; never one without a chance, however sums are rounded."""
    left = random / PRIME
    last = 0
    for c in range(odds.size):
        if odds[c] > 0.0:
            last = c
            left -= odds[c]
            if left < 0.0:
                break
    return last


class Plays:
    """Classes that were played before: the columns that the loop reads, a row for every round."""

    def __init__(self, columns: Floats) -> None:
        self.columns = columns

    def __len__(self) -> int:
        return len(self.columns)

    def __getitem__(self, some: slice) -> "Plays":
        return Plays(self.columns[some])


class Bandit(Task):
    """Scores are those of all classes; the prediction is the class played, its loss 0 or 1 or as given. aux: played."""

    name = "bandit"
    about = "bandit feedback: sees only whether its choice was correct"
    arrays = ("steps", "odds")
    many = True
    one_label = True
    truth_dimensions = 2
    full_feedback = False
    needs_classes = "the bandit task needs classes=[...]: a class that is never played could not be known"
    play, score_rows = staticmethod(play), staticmethod(multiclass.score_rows)

    def make_arrays(self, space: Space, labels: Labels) -> list[NDArray[Any]]:
        return [np.zeros(space.class_room), np.zeros(space.class_room)]

    def encode(self, labels: Labels, y: LabelsLike, rows: int) -> tuple[Any, list[Segment]]:
        segments = [Segment(0, rows, len(labels))] if rows else []
        if isinstance(y, Plays):
            return y.columns, segments
        columns = np.full((rows, 4), -1.0)
        columns[:, TRUTH] = codes = labels.encode(y)
        labels.refuse_new(labels.committed, codes)
        return columns, segments

    def decide(self, labels: Labels, scores: Floats) -> NDArray[Any]:
        return np.asarray(as_array(labels.order)[np.argmax(scores, axis=1)])

    def predictions(self, labels: Labels, outcome: Outcome) -> NDArray[Any]:
        return np.asarray(as_array(labels.order)[outcome.aux.astype(int)])

    def mistakes(self, labels: Labels, outcome: Outcome) -> NDArray[np.bool_]:
        return np.asarray(self.losses(labels, outcome) > 0.0)

    def losses(self, labels: Labels, outcome: Outcome) -> Floats:
        known = outcome.truth
        return np.where(known[:, PLAYED] >= 0.0, known[:, LOSS], (outcome.aux != known[:, TRUTH]).astype(float))


def past_plays(played: Floats, chance: Floats, loss: Floats) -> Plays:
    """Rounds whose class was chosen before."""
    columns = np.full((len(played), 4), -1.0)
    columns[:, PLAYED], columns[:, CHANCE], columns[:, LOSS] = played, chance, loss
    return Plays(columns)
