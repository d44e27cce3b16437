"""Every learner does, round by round, what its independent twin does."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import noregret as nr
from tests.conformance.plays import CLASSES, FEW_IN, Play, in_first_task, leads, near, plays, stream, unusual
from tests.naive.rules import Array
from tests.support.cover import ALL

EPS = float(np.finfo(float).eps)

# Every rule in the sparse algebra and, in its first task, in the others; there few rules play the other tasks, and
# few the reference, which no user needs.
PLAIN = [
    play
    for play in plays()
    if ALL or leads(play) or (in_first_task(play) and play.algebra != "reference") or play.name in FEW_IN[play.algebra]
]
FIXED = [play for play in PLAIN if play.task == "multiclass" and play.algebra in ("sparse", "kernel")]
OF_MARGIN: dict[str, Callable[[float], float]] = {
    "hinge": lambda m: max(0.0, 1.0 - m),
    "logistic": lambda m: float(np.logaddexp(0.0, -m)),
    "squared": lambda m: (1.0 - m) ** 2,
    "perceptron": lambda m: max(0.0, -m),
    "squared_hinge": lambda m: max(0.0, 1.0 - m) ** 2,
    "exponential": lambda m: math.exp(-m) if m > -50.0 else math.exp(50.0) * (-49.0 - m),
}


def losses(play: Play, scores: Array, y: Any, begun: Array) -> Array:
    """What each round costs, from its score alone; `begun` also has the score that a class begins with."""
    loss = dict(play.options).get("loss", "hinge")
    if play.task == "regression":
        size = np.abs(scores - y)
        spread = np.array([y[:t].std() if t > 0 else 0.0 for t in range(len(y))])
        in_units = {
            "squared": size**2,
            "absolute": size,
            "huber": np.where(size <= spread, 0.5 * size**2, spread * (size - 0.5 * spread)),
        }
        return np.asarray(in_units.get(loss, np.maximum(0.0, size - 0.1 * spread)))
    if play.task == "multiclass" and loss == "softmax":
        known = scores.copy()
        own = known[np.arange(len(y)), y]
        own = known[np.arange(len(y)), y] = np.where(np.isneginf(own), begun[np.arange(len(y)), y], own)
        return np.asarray(np.logaddexp.reduce(known, axis=1) - own)
    if play.task == "multiclass":
        own = scores[np.arange(len(y)), y]
        rest = scores.copy()
        rest[np.arange(len(y)), y] = -np.inf
        margin = np.where(np.isneginf(own), begun[np.arange(len(y)), y], own) - rest.max(axis=1)
    else:
        margin = y * scores
    suffered = np.array([OF_MARGIN[loss](float(m)) for m in margin])
    return np.where(np.isposinf(margin), 0.0, suffered)  # without a rival there is nothing to lose


def agree(play: Play, told: dict[str, float], X: Array, y: Any, fixed: bool = False) -> tuple[nr.Transcript, Array]:
    """Play the learner and its twin on the same rounds, and hold every number against its like.

    Returns the transcript, and the scores of the twin with those that classes begin with.
    """
    learner = play.make(**told, **({"classes": range(CLASSES)} if fixed else {}))
    numbers = {name: learner.params[name] for name in play.card.numbers}
    twin = play.twin(numbers, fixed)
    transcript = learner.play(X, y)
    scores, updated = twin.run(X, y)
    begun = scores.copy()
    if play.task == "multiclass" and not fixed:
        first = [int(np.flatnonzero(y == c)[0]) for c in range(CLASSES)]
        scores[first, range(CLASSES)] = -np.inf  # a class has no score before its first label was seen
    tied = first_tie(transcript.scores, scores, y) if play.task == "multiclass" else None
    if tied is not None:  # rounding decides which rival the round is about, and what follows from it
        near(transcript.scores[: tied + 1], scores[: tied + 1])
        return transcript, begun
    try:
        near(transcript.scores, scores)
    except AssertionError:
        shaken = [play.twin(numbers, fixed).run(shake(X, seed), y)[0] for seed in range(8)]
        within_rounding(transcript.scores, begun, shaken)
        return transcript, begun
    assert transcript.updated.tolist() == updated.tolist()
    near(learner.scores(X), twin.final(X))
    assert learner.updates == updated.sum()
    assert learner.rounds == len(X)
    assert learner.mistakes == transcript.mistakes.sum()
    return transcript, begun


def shake(X: Array, seed: int) -> Array:
    """The rows, with their last bits changed at random."""
    return X * (1.0 + EPS * np.random.default_rng(seed).integers(-1, 2, X.shape))


def within_rounding(found: Array, expected: Array, shaken: list[Array]) -> None:
    """Where the last bits of the rows change the scores of the twin, those of the learner may differ by as much.

    So it is where steps explode, where a nearly singular matrix is inverted, and where rounding decides on a mistake.
    """
    moved = np.maximum.accumulate(np.max([np.abs(one - expected) for one in shaken], axis=0))
    known = np.isfinite(found)
    assert (np.abs(found - expected)[known] <= 4.0 * moved[known] + 1e-10 * np.abs(expected[known])).all()


def first_tie(scores: Array, expected: Array, y: Any) -> int | None:
    """The first round on which rounding decides who the rival is, or on which side of a kink the margin lies."""
    rows = np.arange(len(y))
    rivals, others = scores.copy(), expected.copy()
    rivals[rows, y] = others[rows, y] = -np.inf
    scale = np.abs(expected[np.isfinite(expected)]).max(initial=0.0)
    with np.errstate(invalid="ignore"):
        chosen = others[rows, rivals.argmax(axis=1)]
        tied = (rivals.argmax(axis=1) != others.argmax(axis=1)) & (others.max(axis=1) - chosen <= 1e-13 * scale)
        margins = [one[rows, y] - rival.max(axis=1) for one, rival in ((scores, rivals), (expected, others))]
        for kink in (0.0, 1.0):
            sides = np.sign(margins[0] - kink) != np.sign(margins[1] - kink)
            tied |= sides & (np.abs(margins[0] - margins[1]) <= 1e-13 * scale)
    return int(np.argmax(tied)) if tied.any() else None


def consistent(play: Play, played: tuple[nr.Transcript, Array], y: Any) -> None:
    """Predictions, mistakes and losses follow from the scores."""
    transcript, begun = played
    scores: Any = transcript.scores
    predicted: Any
    if play.task == "regression":
        predicted, wrong = scores, np.zeros(len(y), bool)
    elif play.task == "multiclass":
        nothing = np.isneginf(scores).all(axis=1)
        predicted = np.where(nothing, None, scores.argmax(axis=1))
        wrong = predicted != y
    else:
        predicted = np.where(scores >= 0.0, 1.0, -1.0)
        wrong = predicted != y
    assert transcript.predictions.tolist() == predicted.tolist()
    assert transcript.mistakes.tolist() == wrong.tolist()
    near(transcript.losses, losses(play, scores, y, begun))


def rounds(play: Play) -> int:
    """Twins with kernels take their time: where a rule also plays with weights, fewer rounds do."""
    return 40 if ALL or leads(play) or play.algebra != "kernel" else 25


@pytest.mark.thinned(6)
@pytest.mark.parametrize("play", PLAIN, ids=str)
def test_plays_as_its_twin_on_sparse_rows(play: Play) -> None:
    X, y = stream(play.task, dense=False, rounds=rounds(play))
    consistent(play, agree(play, {}, X, y), y)


@pytest.mark.thinned(6)
@pytest.mark.parametrize("play", PLAIN, ids=str)
def test_plays_as_its_twin_on_dense_rows_with_unusual_parameters(play: Play) -> None:
    X, y = stream(play.task, dense=True, rounds=rounds(play))
    consistent(play, agree(play, unusual(play.card, play.algebra, play.options), X, y), y)


@pytest.mark.thinned(6)
@pytest.mark.parametrize("play", FIXED, ids=str)
def test_plays_as_its_twin_when_the_classes_are_fixed_beforehand(play: Play) -> None:
    X, y = stream("multiclass", dense=False, seed=1)
    consistent(
        play, agree(play, unusual(play.card, play.algebra, play.options), X, y[::-1].copy(), fixed=True), y[::-1]
    )
