"""Bipartite matching: the search finds what trying all matchings finds, and matchings are learned."""

from itertools import product
from typing import Any

import numpy as np
import pytest

import noregret as nr
from tests.naive.structured import NaiveStructured, Output, matchings


class Fixed:
    """Weights from a dict."""

    def __init__(self, w: dict[str, float]) -> None:
        self.w = w

    def dots(self, rows: Any) -> Any:
        return np.array([self.dot(row) for row in rows])

    def dot(self, features: Any) -> float:
        return float(sum(self.w.get(name, 0.0) * value for name, value in features.items()))

    def __getitem__(self, name: Any) -> float:
        return self.w.get(name, 0.0)


def likeness(left: Any, right: Any) -> dict[str, float]:
    """Features of two points: how far apart they are along each axis, and that they are a pair."""
    return {"pair": 1.0} | {f"d{k}": abs(a - b) for k, (a, b) in enumerate(zip(left, right, strict=True))}


def lonely(item: Any) -> dict[str, float]:
    return {"alone": 1.0, "size": abs(item[0])}


def points(rng: np.random.Generator, count: int) -> list[tuple[float, ...]]:
    return [tuple(row) for row in rng.normal(size=(count, 2)).tolist()]


def decoder(partial: bool, alone: bool) -> nr.Matching:
    return nr.Matching(likeness, partial, lonely if alone else None)


SIZES = [(0, 0), (0, 2), (1, 1), (2, 2), (3, 2), (2, 4), (3, 3)]


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("partial", [True, False])
@pytest.mark.parametrize("alone", [True, False])
def test_both_searches_find_what_trying_all_matchings_finds(sizes: tuple[int, int], partial: bool, alone: bool) -> None:
    rng, own = np.random.default_rng(list(sizes)), decoder(partial, alone)
    every = list(matchings(*sizes, partial))
    for _ in range(20):
        x = points(rng, sizes[0]), points(rng, sizes[1])
        w = Fixed(dict(zip(["pair", "d0", "d1", "alone", "size"], rng.normal(size=5).tolist(), strict=True)))
        truth = every[rng.integers(len(every))]
        own.check(x, truth)
        score = {y: w.dot(own.features(x, y)) for y in every}
        assert score[own.argmax(w, x)] == pytest.approx(max(score.values()), abs=1e-12)
        augmented = {y: score[y] + own.loss(truth, y) for y in every}
        assert augmented[own.argmax_augmented(w, x, truth)] == pytest.approx(max(augmented.values()), abs=1e-12)


def test_the_loss_counts_wrong_pairs_and_where_items_may_stay_alone_missed_ones() -> None:
    truth = [(0, 1), (1, 0), (2, 2)]
    assert decoder(True, False).loss(truth, [(0, 1), (1, 2)]) == 3.0
    assert decoder(True, False).loss(truth, []) == 3.0
    assert decoder(False, False).loss(truth, [(0, 1), (1, 2), (2, 0)]) == 2.0
    assert decoder(True, False).same(truth, tuple(reversed(truth)))


def stream(rounds: int, size: int = 3) -> tuple[list[Any], list[Any]]:
    """Points that moved a little along the first axis and far along the second, in another order; some are missing."""
    rng = np.random.default_rng(5)
    X, Y = [], []
    for _ in range(rounds):
        left = points(rng, size)
        order = rng.permutation(size)[: rng.integers(1, size + 1)]
        right = [(left[i][0] + 0.05 * rng.normal(), left[i][1] + 3.0 * rng.normal()) for i in order]
        X.append((left, right))
        Y.append(tuple(sorted((int(i), j) for j, i in enumerate(order))))
    return X, Y


@pytest.mark.thinned(2)
@pytest.mark.parametrize("rule", ["perceptron", "pa", "pa1", "pa2"])
@pytest.mark.parametrize("alone", [True, False])
def test_matchings_are_learned_as_by_the_obvious_loop(rule: str, alone: bool) -> None:
    X, Y = stream(25)
    own, competitor = decoder(True, alone), "predicted" if rule == "perceptron" else "max_loss"
    learner: Any = nr.make("structured", decoder=own, learner=nr.make(rule, native=False))
    assert learner.params["competitor"] == competitor
    naive = NaiveStructured(rule, competitor, "unit" if rule == "perceptron" else "loss")
    for x, y in zip(X, Y, strict=True):
        every = list(matchings(len(x[0]), len(x[1]), True))
        outputs = [Output(one, own.features(x, one), own.loss(y, one)) for one in every]
        if learner.rounds:
            w = Fixed(naive.w)
            assert learner.score(x, learner.predict_one(x)) == pytest.approx(
                max(w.dot(one.features) for one in outputs), abs=1e-9
            )
        naive.learn(outputs)
        learner.learn_one(x, y)
        found = learner.weights
        assert {name: found.get(name, 0.0) for name in naive.w} == pytest.approx(naive.w, abs=1e-9)


def test_points_are_matched_by_the_axis_that_tells() -> None:
    X, Y = stream(300, 5)
    learner: Any = nr.make("structured", decoder=decoder(True, False), learner="pa1(C=0.05)")
    learner.learn(X[:250], Y[:250])
    found = learner.predict(X[250:])
    wrong = sum(learner.decoder.loss(y, one) for y, one in zip(Y[250:], found, strict=True))
    nearest = sum(learner.decoder.loss(y, one) for y, one in zip(Y[250:], map(by_distance, X[250:]), strict=True))
    assert 3 * wrong < nearest


def by_distance(x: Any) -> Any:
    """The matching of the smallest distance, without learning."""
    return nr.Matching(likeness, partial=False).argmax(Fixed({"d0": -1.0, "d1": -1.0}), x)


BAD: list[tuple[Any, Any, str]] = [
    (([1], [2]), [(0, 1)], r"row 1: Matching.check: the pair \(0, 1\) is outside of lists of 1 and 1 items"),
    (([1, 2], [2]), [(0, 0), (1, 0)], "an item has two partners"),
    (([1], [2]), [(0,)], r"a list of pairs \(i, j\) of places"),
    (([1], [2]), [(0, "a")], r"a list of pairs \(i, j\) of places"),
    (([1], [2]), 3, r"a matching is a list of pairs \(i, j\), not 3"),
    ([1], [], "an input of a matching is a pair of lists"),
    ((1, 2), [], "an input of a matching is a pair of lists"),
]


@pytest.mark.parametrize(("x", "y", "words"), BAD, ids=str)
def test_what_is_no_matching_is_refused(x: Any, y: Any, words: str) -> None:
    own = nr.Matching(lambda left, right: {"pair": 1.0})
    learner: Any = nr.make("structured", decoder=own, learner=nr.make("pa1", native=False))
    with pytest.raises(nr.BadValue, match=words) as caught:
        learner.learn([([1], [2]), x], [[(0, 0)], y])
    assert (caught.value.row, learner.rounds, learner.learner.rounds) == (1, 0, 0)


def test_a_full_matching_leaves_nobody_alone() -> None:
    with pytest.raises(nr.BadValue, match="an item has no partner"):
        decoder(False, False).check(([1, 2], [3, 4]), [(0, 1)])
    assert len(decoder(False, False).argmax(Fixed({"pair": -1.0}), ([(0.0, 1.0)] * 3, [(1.0, 0.0)] * 2))) == 2
    not_a_function: Any = 3
    with pytest.raises(nr.BadValue, match="must be functions"):
        nr.Matching(not_a_function)


def test_sizes_are_all_tried() -> None:
    """The obvious list of matchings is complete: sums of n! / (n - k)! m! / (m - k)! / k!."""
    for (n, m), counts in {(2, 2): 7, (3, 2): 13, (3, 3): 34}.items():
        assert len(set(matchings(n, m, True))) == counts
    assert len(set(product(matchings(3, 3, False), [0]))) == 6
