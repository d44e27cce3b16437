"""Two learners merge into one by the law on their card."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.learner.model_file import pack
from noregret.rules.merge_law import NO_MERGE
from tests.conformance.plays import (
    CARDS,
    CLASSES,
    NAMES,
    Play,
    near,
    plays,
    rows_of,
    same_bits,
    some,
    state,
    stream,
    unusual,
)
from tests.naive.rules import Array

MERGING = [card for card in CARDS if card.merge.law != "none"]
MIXED = [play for play in some(plays()) if play.card.merge.method == "mix"]
ADDED = [
    play
    for play in some(plays(algebras=["sparse", "dense", "reference"]))
    if play.card.merge.method == "add" and all(field.law == "add" for field in play.card.state.values())
]
POOLED = [play for play in plays(algebras=["sparse", "dense", "reference"]) if play.card.merge.method == "pool"]


def of(name: str, *algebras: str) -> pytest.MarkDecorator:
    """Every play of one learner, as a parameter of a test."""
    return pytest.mark.parametrize("play", [play for play in plays(algebras=algebras) if play.name == name], ids=str)


def shards(play: Play, **told: Any) -> tuple[nr.RuleLearner, nr.RuleLearner, nr.RuleLearner, Array]:
    """Two learners, one of 13 rounds and one of 27, their merger, and all rows."""
    X, y = stream(play.task, dense=False, seed=30)
    of_task: dict[str, Any] = {"multiclass": {"classes": range(CLASSES)}, "regression": {"scale_target": False}}
    numbers = {**unusual(play.card, play.algebra, play.options), "random_start": 0.0}
    told = {**{name: numbers[name] for name in play.card.numbers}, **of_task.get(play.task, {}), **told}
    told["columns"] = "grow"
    a = play.make(**told).learn(X[:13, :9], y[:13])
    b = play.make(**told).learn(X[13:], y[13:])
    return a, b, a.merge(b), X


def wide(found: Array, start: float) -> Array:
    """A state of fewer features as one of twelve: the rest is as it was in the beginning."""
    if found.ndim == 3:
        full = np.array([start * np.eye(12) for _ in found])
        full[:, : found.shape[1], : found.shape[2]] = np.tril(found) + np.swapaxes(np.tril(found, -1), 1, 2)
        return full
    full = np.full((len(found), 12), start)
    full[:, : found.shape[1]] = found
    return full


@pytest.mark.parametrize("play", MIXED, ids=str)
def test_mixed_weights_are_the_average_by_rounds(play: Play) -> None:
    a, b, merged, X = shards(play)
    near(merged.scores(X), (13.0 * a.scores(X) + 27.0 * b.scores(X)) / 40.0)


@of("perceptron_averaged", "sparse", "dense", "kernel", "reference")
def test_the_sums_of_all_averaged_vectors_add(play: Play) -> None:
    a, b, merged, X = shards(play)
    near(41.0 * merged.scores(X), 14.0 * a.scores(X) + 28.0 * b.scores(X))


@of("rda", "sparse", "dense", "reference")
def test_dual_averaging_adds_gradients_and_rounds(play: Play) -> None:
    a, b, merged, X = shards(play)
    G = wide(state(a)["G"], 0.0) + wide(state(b)["G"], 0.0)
    near(state(merged)["G"], G)
    p, mean = merged.params, G / 40.0
    w = -np.sqrt(40.0) / p["gamma"] * np.sign(mean) * np.maximum(0.0, np.abs(mean) - p["lam"])
    near(merged.scores(X), X @ w.T if play.task == "multiclass" else X @ w[0])


@pytest.mark.parametrize("play", ADDED, ids=str)
def test_states_that_are_sums_add(play: Play) -> None:
    a, b, merged, X = shards(play)
    for name in play.card.state:
        near(state(merged)[name], wide(state(a)[name], 0.0) + wide(state(b)[name], 0.0))
    assert not np.allclose(merged.scores(X), a.scores(X))


@of("sop", "sparse", "dense", "reference")
def test_the_second_order_perceptron_adds_its_sums(play: Play) -> None:
    a, b, merged, _ = shards(play)
    near(state(merged)["v"], wide(state(a)["v"], 0.0) + wide(state(b)["v"], 0.0))
    seen = [precision(learner) - one(play) for learner in (a, b, merged)]
    near(seen[2], seen[0] + seen[1], tolerance=1e-8)


@pytest.mark.parametrize("play", POOLED, ids=str)
@pytest.mark.thinned(4)
def test_pooling_adds_precisions_and_precisions_times_weights(play: Play) -> None:
    a, b, merged, _ = shards(play)
    P = [precision(learner) for learner in (a, b, merged)]
    near(P[2], P[0] + P[1] - one(play), tolerance=1e-8)
    theta = [times(P[i], wide(state(learner)["w"], 0.0)) for i, learner in enumerate((a, b, merged))]
    near(theta[2], theta[0] + theta[1], tolerance=1e-8)


def is_square(play: Play) -> bool:
    return play.algebra == "reference" or ("covariance", "full") in play.options


def one(play: Play) -> Array:
    return np.eye(12) if is_square(play) else np.ones(12)


def precision(learner: nr.RuleLearner) -> Array:
    sigma = wide(state(learner)["sigma"], 1.0)
    return np.asarray(np.linalg.inv(sigma) if sigma.ndim == 3 else 1.0 / sigma)


def times(P: Array, w: Array) -> Array:
    return np.asarray(np.einsum("cij,cj->ci", P, w) if P.ndim == 3 else P * w)


def test_merged_arow_is_the_ridge_regression_on_all_updates() -> None:
    X, y = stream("binary", dense=False, seed=31)
    a, b = (nr.make("arow", r=0.5, covariance="full", native=False) for _ in range(2))
    moved = np.concatenate([a.play(X[:13], y[:13]).updated, b.play(X[13:], y[13:]).updated])
    Z = (y[:, None] * X)[moved]
    w = np.linalg.solve(0.5 * np.eye(12) + Z.T @ Z, Z.sum(axis=0))
    near(a.merge(b).scores(np.eye(12)), w, tolerance=1e-9)


@of("winnow", "sparse", "dense", "reference")
def test_winnow_adds_its_exponents(play: Play) -> None:
    a, b, merged, _ = shards(play)
    factors = [wide(state(learner)["w"], 1.0) for learner in (a, b, merged)]
    near(factors[2], factors[0] * factors[1])


@pytest.mark.parametrize("card", MERGING, ids=lambda card: card.name)
def test_rounds_updates_and_mistakes_add_and_the_shards_stay_as_they_were(card: nr.RuleCard) -> None:
    X, y = stream("binary", dense=False, seed=32)
    a, b = (nr.make(card, native=False) for _ in range(2))
    a.learn(X[:13], y[:13])
    b.learn(X[13:], y[13:])
    before = pack(a), pack(b)
    merged = a.merge(b)
    assert (merged.rounds, merged.updates) == (40, a.updates + b.updates)
    assert merged.mistakes == a.mistakes + b.mistakes
    assert merged.model.arrays.n.t == 40.0
    merged.learn(X, y)
    assert (pack(a), pack(b)) == before


@pytest.mark.parametrize("card", MERGING, ids=lambda card: card.name)
@pytest.mark.thinned(4)
def test_a_learner_that_saw_nothing_adds_nothing(card: nr.RuleCard) -> None:
    X, y = stream("multiclass", dense=False, seed=33)
    learner, empty = nr.make(card, native=False).learn(X, y), nr.make(card, native=False)
    for merged in (learner.merge(empty), empty.merge(learner)):
        assert same_bits(merged.scores(X), learner.scores(X))


@pytest.mark.thinned(4)
@pytest.mark.parametrize("card", CARDS, ids=NAMES)
def test_a_rule_without_a_merge_law_refuses(card: nr.RuleCard) -> None:
    X, y = stream("binary", dense=False, seed=34)
    stubborn = replace(card, merge=NO_MERGE)
    a, b = (nr.make(stubborn, native=False).learn(X, y) for _ in range(2))
    with pytest.raises(nr.BadValue, match=f"{card.name} cannot be merged"):
        a.merge(b)


@pytest.mark.thinned(3)
@pytest.mark.parametrize("card", [card for card in MERGING if card.numbers], ids=lambda card: card.name)
def test_learners_of_different_parameters_are_not_merged(card: nr.RuleCard) -> None:
    X, y = stream("binary", dense=False, seed=34)
    a = nr.make(card, native=False).learn(X, y)
    b = nr.make(card, native=False, **unusual(card)).learn(X, y)
    with pytest.raises(nr.BadValue, match="the same parameters"):
        a.merge(b)


# ---- names and labels in another order ----------------------------------------------------------------------------


def strangers(name: str, **told: Any) -> tuple[nr.RuleLearner, nr.RuleLearner, list[dict[str, float]]]:
    """Two learners that met some features, and the classes, in different orders; the second knows one class more."""
    X, y = stream("multiclass", dense=False, seed=35)
    rows, labels = rows_of(X), np.array(["ant", "bee", "cat", "dog"])[y]
    few = [t for t in range(20) if y[t] < 3]
    a = nr.make(name, task="multiclass", native=False, **told)
    b = nr.make(name, task="multiclass", native=False, **told)
    a.learn([{n: v for n, v in rows[t].items() if n != "f0"} for t in few], labels[few].tolist())
    b.learn([dict(reversed(rows[t].items())) for t in range(39, 19, -1)], labels[:19:-1].tolist())
    return a, b, rows


TOLD: list[tuple[str, dict[str, Any]]] = [
    *((card.name, {}) for card in MERGING),
    *((card.name, {"covariance": "full"}) for card in MERGING if card.keeps_covariance),
]
SUMS = [card for card in CARDS if card.weight is None and card.score is None and card.final is None]


MIXING = [
    (card, algebra)
    for card in SUMS
    for algebra in ("sparse", "dense", "kernel")
    if card.merge.method == "mix" and algebra in card.algebras
]


@pytest.mark.parametrize(("card", "algebra"), MIXING, ids=lambda value: getattr(value, "name", value))
@pytest.mark.thinned(6)
def test_features_meet_by_name_and_classes_by_label(card: nr.RuleCard, algebra: str) -> None:
    gamma = {"gamma": 0.5} if algebra == "kernel" else {}
    a, b, rows = strangers(card.name, algebra=algebra, **gamma)
    assert a.classes != b.classes[: len(a.classes)]
    merged, share = a.merge(b), a.rounds / (a.rounds + b.rounds)
    for x in rows:
        mine, theirs, both = a.scores_one(x), b.scores_one(x), merged.scores_one(x)
        assert both.keys() == mine.keys() | theirs.keys()
        for label, score in both.items():
            assert score == pytest.approx(share * mine.get(label, 0.0) + (1.0 - share) * theirs.get(label, 0.0))


@pytest.mark.parametrize(("name", "told"), TOLD)
@pytest.mark.thinned(4)
def test_it_does_not_matter_who_is_asked_to_merge(name: str, told: dict[str, Any]) -> None:
    a, b, rows = strangers(name, **told)
    one_way, other_way = a.merge(b), b.merge(a)
    for x in rows:
        assert one_way.scores_one(x) == pytest.approx(other_way.scores_one(x), rel=1e-9, abs=1e-12)


ONE_SIDED = {"winnow", "winnow_balanced", "eg"}  # of these, opposite labels do not make opposite scores


@pytest.mark.parametrize(
    "card",
    [card for card in MERGING if card.name not in ONE_SIDED and "binary" in card.tasks],
    ids=lambda card: card.name,
)
def test_two_classes_met_in_the_other_order_are_turned_around(card: nr.RuleCard) -> None:
    X, y = stream("binary", dense=False, seed=36)
    words = np.where(y > 0.0, "yes", "no")
    first = [int(np.flatnonzero(words == word)[0]) for word in ("no", "yes")]
    a, b = (nr.make(card, native=False) for _ in range(2))
    a.learn(X[[*first, *range(20)]], words[[*first, *range(20)]])
    b.learn(X[[*first[::-1], *range(20, 40)]], words[[*first[::-1], *range(20, 40)]])
    assert (a.classes, b.classes) == (["no", "yes"], ["yes", "no"])
    one_way, other_way = a.merge(b), b.merge(a)
    near(one_way.scores(X), -other_way.scores(X))
    sure = one_way.scores(X) != 0.0
    assert one_way.predict(X)[sure].tolist() == other_way.predict(X)[sure].tolist()
