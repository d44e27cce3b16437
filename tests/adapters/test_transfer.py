"""Transfer: a warm start goes on where the source stood, and Hedge does nearly as well as the better of two."""

import math
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.adapters.transfer import Transfer
from noregret.learner.model_file import pack
from tests.support import by_name, refusal, refused

rng = np.random.default_rng(0)
X = rng.normal(size=(400, 5))
U = rng.normal(size=5)
NEAR = np.where(X @ U > 0.0, 1, -1)


def plain(rule: str = "pa1", **told: Any) -> nr.RuleLearner:
    return nr.make(rule, native=False, **told)


SOURCE = plain().learn(X[:200], NEAR[:200])


# ---- warm start ---------------------------------------------------------------------------------------------------


def test_a_warm_start_without_changes_is_the_learner_going_on() -> None:
    warm = nr.warm_start(SOURCE).learn(X[200:], NEAR[200:])
    assert pack(warm) == pack(plain().learn(X, NEAR))
    assert SOURCE.rounds == 200


def test_numbers_change_on_the_way_and_weights_do_not() -> None:
    warm = nr.warm_start(SOURCE, C=0.01)
    assert warm.params["C"] == 0.01
    assert warm.scores(X).tolist() == SOURCE.scores(X).tolist()
    before = warm.scores(X[:1])[0]
    warm.learn(X[:1], [-NEAR[0]])
    assert abs(warm.scores(X[:1])[0] - before) == pytest.approx(0.01 * (X[0] ** 2).sum())
    assert warm.copy().params["C"] == 0.01


@pytest.mark.parametrize("native", [False, True])
def test_the_loops_of_a_warm_start_heed_the_new_number(native: bool) -> None:
    rows = [by_name(row) for row in X[:50]]
    m = nr.make("pa1", native=native).learn(rows, NEAR[:50])
    warm = nr.warm_start(m, C=0.001)
    for row, label in zip(rows, -NEAR[:50], strict=True):
        warm.learn_one(row, int(label))
        m.learn_one(row, int(label))
    assert warm.scores(rows).tolist() != m.scores(rows).tolist()
    moved = np.abs(warm.scores(rows) - nr.make("pa1", native=native).learn(rows, NEAR[:50]).scores(rows)).max()
    assert moved <= 50 * 0.001 * (X**2).sum(axis=1).max()


def test_a_learner_that_has_not_learned_can_be_started_too() -> None:
    assert (
        nr.warm_start(plain(), C=0.5).learn(X, NEAR).scores(X).tolist()
        == plain(C=0.5).learn(X, NEAR).scores(X).tolist()
    )


def test_a_warm_start_from_a_near_task_errs_less_than_a_fresh_one() -> None:
    turned = np.where(X @ (U + 0.2 * rng.normal(size=5)) > 0.0, 1, -1)
    fresh = plain().learn(X[200:260], turned[200:260])
    warm = nr.warm_start(SOURCE)
    warm.learn(X[200:260], turned[200:260])
    assert warm.mistakes - SOURCE.mistakes < fresh.mistakes


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"gate": "mistake"}, "may change C"),
        ({"task": "regression"}, "may change C"),
        ({"C": -1.0}, "C must be"),
        ({"D": 1.0}, "cannot change 'D'"),
    ],
)
def test_other_changes_are_refused(changes: Any, words: str) -> None:
    assert words in refused(SOURCE, lambda: nr.warm_start(SOURCE, **changes))


# ---- hedge --------------------------------------------------------------------------------------------------------


def obvious(
    source: nr.RuleLearner, target: nr.RuleLearner, X: Any, y: Any, rate: float
) -> tuple[list[float], list[float]]:
    """Two experts and their losses, one round after the other."""
    lost, answers = [0.0, 0.0], []
    for x, label in zip(X, y, strict=True):
        f = [float(source.scores([x])[0]), float(target.scores([x])[0]) if target.model.arrays is not None else 0.0]
        p = [min(1.0, max(0.0, (value + 1.0) / 2.0)) for value in f]
        w = [math.exp(-rate * loss) for loss in lost]
        answers.append((w[0] * p[0] + w[1] * p[1]) / sum(w))
        truth = 1.0 if label > 0 else 0.0
        lost = [loss + (one - truth) ** 2 for loss, one in zip(lost, p, strict=True)]
        target.learn([x], [label])
    return answers, lost


@pytest.mark.parametrize("rate", [0.5, 0.1, 3.0])
def test_answers_are_those_of_the_obvious_loop(rate: float) -> None:
    y = np.where(rng.random(200) < 0.3, -NEAR[200:], NEAR[200:])
    answers, lost = obvious(SOURCE, plain(classes=[-1, 1]), X[200:], y, rate)
    both = nr.transfer(SOURCE, plain(), rate)
    transcript = both.play(X[200:], y)
    assert transcript.scores + 0.5 == pytest.approx(answers, rel=1e-9)
    assert transcript.losses.sum() == pytest.approx(both.loss)
    assert transcript.predictions.tolist() == [1 if answer >= 0.5 else -1 for answer in answers]
    assert both.losses == pytest.approx(lost)
    assert sum(both.weights) == pytest.approx(1.0)
    assert both.mistakes == sum((a >= 0.5) != (label > 0) for a, label in zip(answers, y, strict=True))


@pytest.mark.parametrize("size", [1, 7])
def test_chunks_change_nothing(size: int) -> None:
    whole, bitten = nr.transfer(SOURCE, plain()).learn(X, NEAR), nr.transfer(SOURCE, plain())
    for start in range(0, 400, size):
        bitten.learn(X[start : start + size], NEAR[start : start + size])
    assert bitten.losses.tolist() == whole.losses.tolist()
    assert (bitten.loss, bitten.mistakes, bitten.rounds) == (whole.loss, whole.mistakes, whole.rounds)
    assert pack(bitten.target) == pack(whole.target)


STREAMS = {
    "the same task": NEAR,
    "the opposite task": -NEAR,
    "noise": np.where(np.random.default_rng(1).random(400) < 0.5, 1, -1),
    "turns half way": np.where(np.arange(400) < 200, NEAR, -NEAR),
    "turns every round": np.where(np.arange(400) % 2 == 0, NEAR, -NEAR),
    "one label only": np.ones(400, int),
}


@pytest.mark.parametrize("rate", [0.5, 0.05])
@pytest.mark.parametrize("stream", STREAMS)
def test_the_loss_is_at_most_that_of_the_better_and_a_constant(stream: str, rate: float) -> None:
    both = nr.transfer(SOURCE, plain(), rate)
    for start in range(0, 400, 50):
        both.learn(X[start : start + 50], STREAMS[stream][start : start + 50])
        assert both.regret_bound == pytest.approx(math.log(2.0) / rate)
        assert both.loss <= both.losses.min() + math.log(2.0) / rate + 1e-9


def test_the_bound_is_nearly_met_by_experts_that_never_agree() -> None:
    """Of two that always say 0 and 1, the better loses nothing, and who trusts both alike at first loses something."""
    sure = plain(classes=[-1, 1]).learn([[5.0]], [1])
    other = plain(classes=[-1, 1]).learn([[5.0]], [-1])
    both = nr.transfer(sure, other)
    both.target.learn([[5.0]], [-1])
    before = both.losses.copy()
    both.learn([[5.0]], [1])
    assert before.tolist() == [0.0, 0.0]
    assert both.loss == pytest.approx(0.25)
    assert both.losses == pytest.approx([0.0, 1.0])
    assert both.weights[0] == pytest.approx(1.0 / (1.0 + math.exp(-0.5)))


def test_for_a_large_rate_no_constant_is_promised() -> None:
    assert nr.transfer(SOURCE, plain(), 0.7).regret_bound is None


def test_trust_goes_to_the_one_that_does_better() -> None:
    assert nr.transfer(SOURCE, plain()).learn(X[200:], -NEAR[200:]).weights[1] > 0.99
    same = nr.transfer(SOURCE, plain(C=1e-6)).learn(X[200:], NEAR[200:])
    assert same.weights[0] > 0.99
    assert (same.predict(X) == SOURCE.predict(X)).mean() > 0.98


def test_the_source_is_frozen_and_named_classes_keep_their_sides() -> None:
    words = ["spam" if label > 0 else "ham" for label in NEAR]
    source = plain().learn(X[:200], words[:200])
    before = pack(source)
    both = nr.transfer(source, plain()).learn(X[200:], words[200:])
    assert pack(source) == pack(both.source_learner) == before
    assert set(both.predict(X).tolist()) == {"spam", "ham"}
    assert both.mistakes < 30
    fresh = nr.transfer(source, plain())
    assert fresh.predict(X).tolist() == source.predict(X).tolist()


def test_rounds_of_neither_class_move_no_weight() -> None:
    both = nr.transfer(SOURCE, plain())
    transcript = both.play(X[:2], [nr.UNIVERSUM, nr.UNIVERSUM])
    assert both.losses.tolist() == transcript.losses.tolist() == [0.0, 0.0]
    assert not transcript.mistakes.any()


def test_refused_rounds_change_nothing() -> None:
    both = nr.transfer(SOURCE, plain()).learn(X[:50], NEAR[:50])
    seen = (both.losses.tolist(), both.loss, both.mistakes, both.rounds)
    bad = X[:3].copy()
    bad[2, 0] = np.inf
    for rows, labels in ((bad, [1, 1, 1]), (X[:2], [1, 7]), (X[:2], [1])):
        refused(both.target, lambda rows=rows, labels=labels: both.learn(rows, labels))  # type: ignore[misc]
        assert (both.losses.tolist(), both.loss, both.mistakes, both.rounds) == seen


@pytest.mark.parametrize(
    ("source", "target", "told", "words"),
    [
        (plain(), plain(), {}, "source that has learned"),
        (SOURCE, plain(task="regression"), {}, "two classes"),
        (SOURCE, plain().learn(X[:9], ["a", "b", "b"] * 3), {}, "classes must be the same"),
        (SOURCE, plain(), {"rate": 0.0}, "rate must be"),
    ],
)
def test_what_makes_no_sense_is_refused(source: Any, target: Any, told: Any, words: str) -> None:
    assert words in refusal(lambda: Transfer(source, target, **told))
