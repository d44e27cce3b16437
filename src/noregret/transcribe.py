"""From what the loops left behind to a transcript: scores, predictions, losses, mistakes, for every round."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from noregret.chunk import Transcript
from noregret.labels import as_array
from noregret.losses import LOSSES

if TYPE_CHECKING:
    from noregret.learner import Learner
    from noregret.rounds import Outcome


def known_at_first(outcome: "Outcome") -> int:
    """How many classes were known when the first round of a slice was predicted."""
    first = outcome.segment.fresh and outcome.start == outcome.segment.start
    return outcome.segment.known - 1 if first else outcome.segment.known


def is_multiclass(outcome: "Outcome") -> bool:
    return outcome.scores.ndim == 2


def mistaken(learner: "Learner", outcome: "Outcome") -> np.ndarray:
    """Which rounds were predicted wrongly."""
    f, y = outcome.scores, outcome.truth
    if learner.game == "regression":
        return np.zeros(len(y), bool)
    if is_multiclass(outcome):
        wrong = np.argmax(f, axis=1) != y
        wrong[np.isneginf(f).all(axis=1)] = True
        return np.asarray(wrong)
    wrong = (f >= 0.0) != (y > 0.0)
    negative, positive = learner.labels.sides(outcome.segment.known)
    if outcome.segment.known == 1 and negative == positive:
        wrong[:] = False
    if known_at_first(outcome) < outcome.segment.known:
        wrong[0] = first_sides(learner, outcome)[int(f[0] >= 0.0)] != true_label(learner, outcome)
    return np.asarray(wrong)


def first_sides(learner: "Learner", outcome: "Outcome") -> tuple[Any, Any]:
    """The two labels that could be predicted on the round that brought a new class."""
    known = known_at_first(outcome)
    negative, positive = learner.labels.sides(known)
    if known == 0:
        negative, positive = learner.labels.sides(1)
        if negative == positive:
            return None, None
    elif learner.labels.turns(2):
        return positive, negative
    elif learner.labels.signed():
        return learner.labels.sides(2)
    return negative, positive


def true_label(learner: "Learner", outcome: "Outcome") -> Any:
    return learner.labels.order[outcome.segment.known - 1]


def predicted(learner: "Learner", outcome: "Outcome") -> np.ndarray:
    """The labels (or targets) predicted in a slice."""
    f = outcome.scores
    if learner.game == "regression":
        return f
    if is_multiclass(outcome):
        labels = learner.labels.order[: outcome.segment.known]
        nothing = np.atleast_1d(np.isneginf(f).all(axis=1))
        if nothing.any():
            chosen = [None if none else labels[c] for none, c in zip(nothing, np.argmax(f, axis=1), strict=True)]
            return as_array(chosen)
        return np.asarray(as_array(labels)[np.argmax(f, axis=1)])
    labels_of_sides = as_array(list(learner.labels.sides(outcome.segment.known)))
    labels_found = labels_of_sides[(f >= 0.0).astype(int)]
    if known_at_first(outcome) < outcome.segment.known:
        first = first_sides(learner, outcome)[int(f[0] >= 0.0)]
        return as_array([first, *labels_found[1:].tolist()])
    return np.asarray(labels_found)


def margins(learner: "Learner", outcome: "Outcome") -> np.ndarray:
    """What the loss is a function of."""
    f, y = outcome.scores, outcome.truth
    if learner.game == "regression":
        return np.asarray(1.0 - np.abs(y - f) + learner.settings.setting["eps"])
    if not is_multiclass(outcome):
        return np.asarray(y * f)
    rounds = np.arange(len(y))
    others = f.copy()
    own = np.where(np.isneginf(f), 0.0, f)[rounds, y.astype(int)]
    others[rounds, y.astype(int)] = -np.inf
    best = others.max(axis=1) if f.shape[1] > 1 else np.full(len(y), -np.inf)
    return np.asarray(own - best)


def loss_of(learner: "Learner", errors: np.ndarray) -> np.ndarray:
    """What a regression learner would suffer for predictions so far from their targets."""
    loss = LOSSES[dict(learner.settings.choices).get("loss", "eps_insensitive")].value
    with np.errstate(over="ignore"):
        return suffered(loss, 1.0 - np.abs(errors) + learner.settings.setting["eps"])


def suffered(loss: Callable[[Any], Any], margin: np.ndarray) -> np.ndarray:
    """The losses at these margins; where a class has no rival yet there is nothing to lose."""
    return np.where(np.isposinf(margin), 0.0, loss(margin))


def joined(pieces: list[np.ndarray]) -> np.ndarray:
    kinds = {piece.dtype.kind for piece in pieces}
    if len(pieces) == 1:
        return pieces[0]
    if len(kinds) == 1 or kinds <= set("fiu"):
        return np.concatenate(pieces)
    return as_array([label for piece in pieces for label in piece.tolist()])


def all_scores(learner: "Learner", outcomes: "list[Outcome]") -> np.ndarray:
    """One array for all rounds; when a third class came on the way, earlier rounds are shown as it sees them."""
    if not any(map(is_multiclass, outcomes)):
        return np.concatenate([outcome.scores for outcome in outcomes])
    classes = max(outcome.segment.known for outcome in outcomes)
    pieces = []
    for outcome in outcomes:
        piece = np.full((len(outcome.truth), classes), -np.inf)
        if is_multiclass(outcome):
            piece[:, : outcome.scores.shape[1]] = outcome.scores
        else:
            signs = learner.labels.signs(outcome.segment.known)
            for code, sign in enumerate(signs):
                piece[:, code] = 0.5 * sign * outcome.scores
            if known_at_first(outcome) < outcome.segment.known:
                piece[0, outcome.segment.known - 1] = -np.inf
        pieces.append(piece)
    return np.concatenate(pieces)


def transcribe(learner: "Learner", outcomes: "list[Outcome]", y: Any, seconds: float) -> Transcript:
    """All that a user may want to know of the rounds just played."""
    chosen = dict(learner.settings.choices).get("loss", "hinge")
    loss = LOSSES[chosen].value
    truth = y if isinstance(y, np.ndarray) else as_array(list(y))
    if not outcomes:
        nothing = np.zeros(0)
        return Transcript(nothing, nothing, nothing, np.zeros(0, bool), np.zeros(0, bool), truth, seconds)
    with np.errstate(over="ignore"):  # scores are finite, but their difference or its square may not be
        losses = np.concatenate([suffered(loss, margins(learner, outcome)) for outcome in outcomes])
    return Transcript(
        scores=all_scores(learner, outcomes),
        predictions=joined([predicted(learner, outcome) for outcome in outcomes]),
        losses=losses,
        mistakes=np.concatenate([mistaken(learner, outcome) for outcome in outcomes]),
        updated=np.concatenate([outcome.moved for outcome in outcomes]).astype(bool),
        truth=truth,
        seconds=seconds,
    )
