"""The state that is kept is the one a plain loop of single rounds and copies finds."""

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import noregret as nr
from noregret.learner.model_file import pack
from tests.learners.reading import weights
from tests.naive import streams
from tests.support import by_name, refusal, refused, small_stream
from tests.support.cover import ALL

X, Y = streams.dense(70, 5, seed=2)
HELD_OUT = small_stream(rows=40, columns=5, seed=9)
RULES = ["perceptron", "pa1", "arow", "adaline"]


def plain(rule: Any = "perceptron", **options: Any) -> nr.RuleLearner:
    return nr.make(rule, native=False, **options)


def states(learner: nr.RuleLearner) -> Iterator[nr.RuleLearner]:
    """The learner before the first round, and after every round."""
    yield learner.copy()
    for x, y in zip(X, Y, strict=True):
        yield learner.learn_one(x, y).copy()


def errors(learner: nr.RuleLearner) -> int:
    rows, labels = HELD_OUT
    return sum(learner.predict_one(x) != y for x, y in zip(rows, labels, strict=True))


@pytest.mark.parametrize("rule", RULES)
def test_last_is_the_state_after_all_rounds(rule: str) -> None:
    assert pack(nr.online_to_batch(plain(rule), X, Y)) == pack(list(states(plain(rule)))[-1])


@pytest.mark.parametrize("rule", RULES)
def test_random_is_the_state_before_a_round_drawn_uniformly(rule: str) -> None:
    all_states = [pack(state) for state in states(plain(rule))]
    for seed in range(5):
        drawn = int(np.random.default_rng(seed).integers(70))
        assert pack(nr.online_to_batch(plain(rule), X, Y, by="random", seed=seed)) == all_states[drawn]


def test_every_round_may_be_drawn_and_the_state_after_the_last_never() -> None:
    rounds = [nr.online_to_batch(plain(), X[:5], Y[:5], by="random", seed=seed).rounds for seed in range(200)]
    assert set(rounds) == {0, 1, 2, 3, 4}
    assert min(rounds.count(number) for number in range(5)) > 20


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("before", [0, 30])
def test_the_longest_survivor_is_the_one_a_pocket_would_hold(rule: str, before: int) -> None:
    start = plain(rule)
    if before:
        start.learn(HELD_OUT[0][:before], HELD_OUT[1][:before])
    going = start.copy()
    candidate, run = going.copy(), 0
    pocket, longest = candidate, -1
    for x, y in zip(X, Y, strict=True):
        updates = going.updates
        going.learn_one(x, y)
        if going.updates == updates:
            run += 1
            continue
        if run >= longest:
            pocket, longest = candidate, run
        candidate, run = going.copy(), 0
    if run >= longest:
        pocket, longest = candidate, run
    found = nr.online_to_batch(start, X, Y, by="longest_survivor")
    assert pack(found) == pack(pocket)
    assert rule != "perceptron" or longest >= 3


def test_the_survivor_of_the_worked_example_lived_two_rounds() -> None:
    rows, labels = streams.four()
    assert weights(nr.online_to_batch(plain(), rows, labels, by="longest_survivor"), 2).tolist() == [3.0, -1.0]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(
    ("every", "before"), list(product([1, 7, 70, 500], [0, 10])) if ALL else [(1, 0), (7, 10), (70, 10), (500, 0)]
)
@pytest.mark.thinned(6)
def test_the_best_on_validation_is_the_first_with_the_fewest_errors_at_a_checkpoint(
    rule: str, every: int, before: int
) -> None:
    start = plain(rule)
    if before:
        start.learn(*(part[:before] for part in HELD_OUT))
    looked_at = [
        state for number, state in enumerate(states(start.copy())) if number == 70 or (number % every == 0)
    ][0 if before else 1 :]  # fmt: skip
    best = min(looked_at, key=errors)
    assert pack(nr.online_to_batch(start, X, Y, by="best_on_validation", validation=HELD_OUT, every=every)) == pack(
        best
    )


def test_without_being_told_it_looks_twenty_times() -> None:
    every_third = nr.online_to_batch(plain(), X, Y, by="best_on_validation", validation=HELD_OUT, every=3)
    by_default = nr.online_to_batch(plain(), X, Y, by="best_on_validation", validation=HELD_OUT)
    assert pack(by_default) == pack(every_third)


@pytest.mark.parametrize("rule", ["perceptron", "pa1"])
def test_the_average_is_the_mean_of_all_weight_vectors_the_first_included(rule: str) -> None:
    _, *others = states(plain(rule))
    mean = np.sum([weights(state, 5) for state in others], axis=0) / 71
    np.testing.assert_allclose(
        weights(nr.online_to_batch(plain(rule), X, Y, by="average"), 5), mean, rtol=1e-9, atol=1e-12
    )


def test_the_average_starts_fresh() -> None:
    started = plain().learn(X[:3], Y[:3])
    words = refused(started, lambda: nr.online_to_batch(started, X, Y, by="average"))
    assert "fresh learner; this one has learned 3 rounds" in words


# ---- for any rows, and for none -----------------------------------------------------------------------------------

KINDS: dict[str, Callable[[], Any]] = {
    "sparse": lambda: sp.csr_array(X),
    "dicts": lambda: [by_name(row) for row in X],
    "lists": lambda: X.tolist(),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("by", ["last", "random", "longest_survivor", "best_on_validation"])
def test_rows_of_every_kind_give_the_same_learner(kind: str, by: str) -> None:
    rows = KINDS[kind]()
    options: dict[str, Any] = {"by": by, "seed": 3}
    other = dict(options)
    if by == "best_on_validation":
        options["validation"], other["validation"] = (rows, Y), (X, Y)
    found, expected = (
        nr.online_to_batch(plain(), rows, Y.tolist(), **options),
        nr.online_to_batch(plain(), X, Y, **other),
    )
    assert found.rounds == expected.rounds
    np.testing.assert_allclose(found.scores(rows), expected.scores(X), atol=1e-12)


@pytest.mark.parametrize("by", ["last", "random", "longest_survivor", "best_on_validation"])
def test_the_learner_itself_stays_as_it_was(by: str) -> None:
    learner = plain().learn(X[:9], Y[:9])
    before = pack(learner)
    found = nr.online_to_batch(learner, X, Y, by=by, validation=HELD_OUT if by == "best_on_validation" else None)
    assert pack(learner) == before
    found.learn(X, Y)
    assert pack(learner) == before


def test_weights_are_learned_with() -> None:
    weight = np.linspace(0.1, 3.0, 70)
    assert pack(nr.online_to_batch(plain("pa1"), X, Y, weight=weight)) == pack(plain("pa1").learn(X, Y, weight))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"by": "first"}, "by must be one of last, random, longest_survivor, average, best_on_validation"),
        ({"by": "best_on_validation"}, "needs validation rows; give validation=(X, y)"),
        ({"by": "last", "validation": HELD_OUT}, 'by="last" takes no validation rows'),
        ({"by": "best_on_validation", "validation": HELD_OUT, "every": 0}, "every must be"),
        ({"by": "random", "seed": -3}, "seed must be"),
    ],
)
def test_what_makes_no_sense_is_refused(options: dict[str, Any], words: str) -> None:
    learner = plain()
    assert words in refused(learner, lambda: nr.online_to_batch(learner, X, Y, **options))


@pytest.mark.parametrize("by", ["last", "longest_survivor", "best_on_validation"])
def test_a_bad_row_is_named_as_it_was_handed_over(by: str) -> None:
    bad = X.copy()
    bad[66, 1] = np.inf
    options: dict[str, Any] = {"validation": HELD_OUT} if by == "best_on_validation" else {}
    assert "row 66, feature 1" in refusal(lambda: nr.online_to_batch(plain(), bad, Y, by=by, **options))
