"""Reranking: the best of a list of candidates, with losses as margins and all constraints in one step."""

from typing import Any

import numpy as np
import pytest

import noregret as nr
from tests.structured.test_matching import Fixed


def lists(rounds: int, seed: int = 0) -> tuple[list[Any], list[list[float]]]:
    """Lists of candidates that a hidden weighing of three features orders, with the loss of each."""
    rng, hidden = np.random.default_rng(seed), np.array([2.0, -1.0, 0.5])
    X, Y = [], []
    for _ in range(rounds):
        table = rng.normal(size=(rng.integers(2, 7), 3))
        quality = table @ hidden + 0.1 * rng.normal(size=len(table))
        X.append([{f"f{k}": value for k, value in enumerate(row)} for row in table.tolist()])
        Y.append([float(np.count_nonzero(quality > one)) for one in quality])
    return X, Y


def test_both_searches_find_what_trying_all_candidates_finds() -> None:
    rng, own = np.random.default_rng(0), nr.Reranking()
    for x, y in zip(*lists(50), strict=True):
        w = Fixed({f"f{k}": value for k, value in enumerate(rng.normal(size=3).tolist())})
        scores = [w.dot(candidate) for candidate in x]
        assert own.argmax(w, x) == int(np.argmax(scores))
        augmented = np.add(scores, y)
        assert own.argmax_augmented(w, x, y) == int(np.argmax(augmented))
        assert own.k_best(w, x, y, 3) == np.argsort(-augmented).tolist()[:3]
        assert own.argmax_augmented(w, x, 1) == int(np.argmax([f + (c != 1) for c, f in enumerate(scores)]))


def test_losses_count_from_the_best_of_the_list() -> None:
    own = nr.Reranking()
    y = [4.0, 2.5, 7.0, 2.5]
    assert [own.loss(y, place) for place in range(4)] == [1.5, 0.0, 4.5, 0.0]
    assert [own.same(y, place) for place in range(4)] == [False, True, False, True]
    assert own.features([{"a": 1.0}, {"b": 1.0}], [2.0, 1.0]) == {"b": 1.0}
    assert [own.loss(2, place) for place in range(3)] == [1.0, 1.0, 0.0]


@pytest.mark.parametrize("competitor", ["predicted", "max_loss", "k_best", "all"])
def test_a_hidden_order_is_found(competitor: str) -> None:
    X, Y = lists(300)
    learner: Any = nr.make(
        "structured", decoder=nr.Reranking(), learner=nr.make("pa1", C=0.1, native=False), competitor=competitor
    )
    learner.learn(X[:200], Y[:200])
    found = sum(learner.decoder.loss(y, one) for y, one in zip(Y[200:], learner.predict(X[200:]), strict=True))
    first = sum(learner.decoder.loss(y, 0) for y in Y[200:])
    assert 8 * found < first


def test_candidates_as_good_as_the_best_are_no_rivals() -> None:
    """Two candidates share the smallest loss: neither must beat the other."""
    learner: Any = nr.make(
        "structured", decoder=nr.Reranking(), learner=nr.make("pa", native=False), competitor="all"
    ).learn([[{"a": 1.0}, {"b": 1.0}, {"c": 1.0}]], [[1.0, 1.0, 3.0]])
    assert learner.weights == pytest.approx({"a": 1.0, "c": -1.0})
    assert not learner.play([[{"b": 1.0}, {"a": 1.0}]], [[1.0, 1.0]]).updated[0]


@pytest.mark.parametrize("rule", ["pa", "pa1", "pa2"])
def test_a_wrong_candidate_that_looks_like_the_best_does_not_hide_the_others(rule: str) -> None:
    """No weights can tell them apart, so its constraint is left out; the slack is not spent on it."""
    truth, other = {"a": 1.0}, {"b": 1.0}
    with_twin: Any = nr.make(
        "structured", decoder=nr.Reranking(), learner=nr.make(rule, native=False), competitor="all"
    )
    without = with_twin.copy().learn([[truth, other]], [[0.0, 1.0]])
    with_twin.learn([[truth, dict(truth), other]], [[0.0, 50.0, 1.0]])
    assert with_twin.weights == pytest.approx(without.weights)


def test_all_required_margins_hold_after_a_step_of_pa() -> None:
    """With no slack every candidate is beaten by its loss; a single step is enough where features are independent."""
    x = [{"a": 1.0, "z": 1.0}, {"b": 1.0, "z": 1.0}, {"c": 2.0}, {"d": 1.0, "z": -1.0}]
    y = [2.0, 0.0, 1.0, 5.0]
    learner: Any = nr.make("structured", decoder=nr.Reranking(), learner=nr.make("pa", native=False), competitor="all")
    assert learner.play([x], [y]).updated[0]
    margins = [learner.score(x, 1) - learner.score(x, place) for place in range(4)]
    assert all(margin >= loss - 1e-9 for margin, loss in zip(margins, y, strict=True))
    assert not learner.play([x], [y]).mistakes[0]


def test_candidates_can_be_anything_that_has_features() -> None:
    own = nr.Reranking(lambda text: dict.fromkeys(text.split(), 1.0))
    learner: Any = nr.make("structured", decoder=own, learner=nr.make("perceptron", native=False))
    learner.learn([["a cat", "the cat"], ["a dog", "the dog"]], [1, 1])
    assert learner.predict_one(["a bird", "the bird"]) == 1


BAD: list[tuple[Any, Any, str]] = [
    ([], 0, "a list of at least one candidate"),
    ({"a": 1.0}, 0, "a list of at least one candidate"),
    ([{"a": 1.0}], 1, "there is no candidate 1 in a list of 1"),
    ([{"a": 1.0}], -1, "there is no candidate -1 in a list of 1"),
    ([{"a": 1.0}] * 2, [1.0], "a list of 2 finite losses"),
    ([{"a": 1.0}] * 2, [1.0, float("nan")], "a list of 2 finite losses"),
    ([{"a": 1.0}] * 2, "ab", "a list of 2 finite losses"),
    ([{"a": 1.0}] * 2, True, "a list of 2 finite losses"),
    ([1.0, 2.0], 0, "argmax: expected a dict of features, not 1.0"),
]


@pytest.mark.parametrize(("x", "y", "words"), BAD, ids=str)
def test_what_is_no_list_of_candidates_is_refused(x: Any, y: Any, words: str) -> None:
    learner: Any = nr.make("structured", decoder=nr.Reranking(), learner=nr.make("pa1", native=False))
    with pytest.raises(nr.BadValue, match=words) as caught:
        learner.learn([[{"a": 1.0}, {}], x], [0, y])
    assert (caught.value.row, learner.rounds, learner.learner.rounds) == (1, 0, 0)
    not_a_function: Any = 3
    with pytest.raises(nr.BadValue, match="must be a function of a candidate"):
        nr.Reranking(not_a_function)


class OnlyLists:
    """A decoder that knows k-best lists by score, and no search that adds losses."""

    def __init__(self, own_search: bool) -> None:
        self.listed = nr.Reranking()
        for name in ("features", "argmax", "loss", "same", "check"):
            setattr(self, name, getattr(self.listed, name))
        if own_search:
            self.argmax_augmented = lambda w, x, y: nr.best_augmented(self, w, x, y, self.k_best(w, x, y, 9))

    def k_best(self, w: Any, x: Any, y: Any, k: int) -> list[int]:
        scores = w.dots([self.listed.features(x, place) for place in range(len(x))])
        return [int(place) for place in np.argsort(-scores, kind="stable")[:k]]


@pytest.mark.parametrize("own_search", [True, False], ids=["by the helper", "by the learner"])
def test_a_k_best_list_stands_in_for_the_search_that_adds_losses(own_search: bool) -> None:
    X, Y = lists(60)
    inner = nr.make("pa1", native=False)
    whole: Any = nr.make("structured", decoder=nr.Reranking(), learner=inner, competitor="max_loss")
    expected = whole.copy().learn(X, Y).weights
    for k, same in ((9, True), (1, own_search)):
        decoder = OnlyLists(own_search)
        learner: Any = nr.make("structured", decoder=decoder, learner=nr.make("pa1", native=False), k=k)
        assert learner.params["competitor"] == "max_loss"
        assert (learner.learn(X, Y).weights == pytest.approx(expected, abs=1e-12)) == same
