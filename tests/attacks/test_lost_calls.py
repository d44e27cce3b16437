"""What a signal handler has a learner learn just before a change begins is kept, whether the change succeeds or not."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
import pytest

import noregret as nr
from noregret import games
from tests.attacks import test_adapters
from tests.attacks.cut_off import NEW, ROWS, WIDE, Act, Y, check_calls_are_kept, learned
from tests.loglinear.lists import hidden_lists, text_lists
from tests.structured.sentences import tagged_sentences

HUGE = {"a": 1e308, "n2": 1e308}
BITS = [dict.fromkeys(row, 1) for row in ROWS]
DAYS = [{"x": 1.1, "y": 0.9}, {"x": 0.8, "y": 1.3}, {"x": 1.0, "y": 1.2}]
LISTS, BEST = hidden_lists(6)
TEXTS, TOLD = text_lists(6, candidates=2)
SENTENCES, TAGS = tagged_sentences(6)
RATED = [("u1", 1), ("u2", 2), ("u1", 3), ("u3", 1)]
GRID, COSTS = games.GridPaths(2, 3), np.full((2, 3), 0.25)


class Kind(NamedTuple):
    """A way to make a learner, what a handler has it learn, and what is under way then."""

    make: Callable[[], Any]
    call: Act
    acts: Iterable[Act]


def labelled(make: Callable[[], Any], *more: Act) -> Kind:
    """A learner of rows with labels: rounds that are learned, refused, and one alone."""
    acts: list[Act] = [
        lambda m: m.learn([ROWS[2], NEW], [0, 1]),
        lambda m: m.learn([ROWS[2], NEW, {"a": float("nan")}], [0, 1, 1]),
        lambda m: m.learn_one(NEW, 1),
    ]
    return Kind(make, lambda m: m.learn_one(ROWS[6], 1), [*acts, *more])


def single(**options: Any) -> Kind:
    """A compiled learner of single rows whose names are new."""
    acts: list[Act] = [lambda m: m.learn_one(NEW, 1), lambda m: m.learn_one(HUGE, 1)]
    return Kind(lambda: learned("arow", **options), lambda m: m.learn_one({"zz": 1.0}, 1), acts)


def decomposed() -> Any:
    first: Any = nr.make("svd", rank=2, batch=2, native=False)
    return (first | nr.make("arow", native=False)).learn(ROWS, Y)


def drift_aware(on_drift: str) -> Any:
    learner = nr.drift_aware(nr.make("arow", native=False), "ddm", on_drift)
    return learner.learn(ROWS, Y)


def convex(**options: Any) -> Any:
    return nr.make("ogd", task="convex", dimension=3, native=False, **options)


def concept(name: str, **options: Any) -> Kind:
    def make() -> Any:
        return nr.make(name, concept="disjunction", contradiction="refuse", **options).learn(BITS[:2], [1, 1])

    acts: list[Act] = [lambda m: m.learn(BITS[3:5], [1, 1]), lambda m: m.learn([BITS[3], {"a": 0.5}], [1, 0])]
    return Kind(make, lambda m: m.learn_one(BITS[2], 1), acts)


def text_model(name: str, *said: Any) -> Kind:
    first, second, third = ([[one[at]] for one in said] for at in range(3))
    return Kind(lambda: nr.make(name).learn(*first), lambda m: m.learn(*second), [lambda m: m.learn(*third)])


def reranker(name: str, X: Any, y: Any, *refused: Any, **options: Any) -> Kind:
    acts: list[Act] = [lambda m: m.learn([X[3], *refused], [y[3], *(0 for _ in refused)])]
    return Kind(lambda: nr.make(name, **options).learn(X[:1], y[:1]), lambda m: m.learn_one(X[2], y[2]), acts)


def tagger() -> Any:
    return nr.make("tagger", learner=nr.make("pa1", native=False, task="factored", decoder="sequence"))


OVERFLOWS = [{"score": 1e308, "f0": 1e308}, {"score": -1e308, "f0": -1e308}]
PLAIN = {"learner": "pa1", "native": False}
KINDS: dict[str, Kind] = {
    "rule": labelled(lambda: learned("arow", native=False), lambda m: m.scores([WIDE, NEW])),
    "rule, hashed": labelled(lambda: learned("pa1", native=False, bits=6, scale=True)),
    "rule, nothing learned": labelled(lambda: nr.make("arow", native=False)),
    "rule, compiled": single(),
    "rule, squares": single(transforms=[nr.squares()]),
    "bandit": Kind(lambda: nr.make("exp3", classes=[0, 1, 2], native=False), lambda m: m.learn_one(ROWS[0], 2),
                   [lambda m: m.choose_one(ROWS[1]), lambda m: m.learn_one(ROWS[1], 1)]),
    "convex": Kind(convex, lambda m: m.suffer([1.0, 0.0, 0.5]), [lambda m: m.point, lambda m: m.suffer([0.5, 0.5, 0])]),
    "concept": concept("elimination"),
    "concept class": concept("halving", features=[*"abcdefg"], k=4),
    "experts": Kind(lambda: nr.make("hedge", native=False).learn([{"x": 1.0, "y": 0.0}]),
                    lambda m: m.learn_one({"x": 0.0, "y": 1.0}),
                    [lambda m: m.learn([{"x": 0.5, "y": 0.5}]), lambda m: m.learn([{"x": 0.5, "y": 0.5}, {"q": 1.0}])]),
    "more experts": Kind(lambda: nr.make("hedge", native=False, names=["x", "y"]),
                         lambda m: m.add("z"), [lambda m: m.learn([{"x": 0.5, "y": 0.5}]), lambda m: m.add("u")]),
    "portfolio": Kind(lambda: nr.make("eg_portfolio", native=False).learn(DAYS[:1]), lambda m: m.learn_one(DAYS[1]),
                      [lambda m: m.learn(DAYS[1:]), lambda m: m.learn([DAYS[2], {"x": -1.0, "y": 1.0}])]),
    "swap player": Kind(lambda: games.SwapPlayer(2, native=False), lambda m: m.observe([0.0, 1.0]),
                        [lambda m: m.observe([1.0, 0.5])]),
    "path player": Kind(lambda: games.PathHedge(GRID, native=False), lambda m: m.observe(COSTS),
                        [lambda m: m.observe(1.0 - COSTS)]),
    "path explorer": Kind(lambda: games.PathExplorer(GRID, native=False),
                          lambda m: m.observe_path([0.5] * (len(m.play()) - 1)),
                          [lambda m: m.observe_path([0.25] * 3)]),
    "rock paper scissors": Kind(lambda: games.RockPaperScissors(native=False), lambda m: m.observe("rock"),
                                [lambda m: m.observe("paper")]),
    "decomposition": labelled(lambda: learned("svd", rank=2, batch=2, native=False)),
    "decomposed": labelled(decomposed),
    "ratings": Kind(lambda: nr.make("factorisation", k=2).learn(RATED, [1.0, 2.0, 3.0, 4.0]),
                    lambda m: m.learn_one(("u9", 9), 2.0), [lambda m: m.learn_one(("u8", 8), 3.0)]),
    "network": labelled(lambda: learned("mlp", native=False, layers=[2]), lambda m: m.learn([NEW], [2])),
    "network, compiled": Kind(lambda: learned("mlp", layers=[2]), lambda m: m.learn_one(ROWS[6], 1),
                              [lambda m: m.learn_one(ROWS[3], 1), lambda m: m.learn_one({"a": 1e308}, 1)]),
    "network, anchor": Kind(lambda: learned("mlp", native=False, layers=[2], anchor=1.0),
                            lambda m: m.learn_one(ROWS[6], 1), [lambda m: m.consolidate()]),
    "ridge": reranker("ridge_reranker", LISTS, BEST, OVERFLOWS),
    "adaptive": reranker("adaptive_reranker", TEXTS, TOLD, **PLAIN),
    "adaptive ridge": reranker("adaptive_reranker", TEXTS, TOLD, learner="ridge_reranker"),
    "language model": text_model("language_model", ["a b", "b c", "c a"]),
    "lexicon": text_model("translation_lexicon", ["a b", "b c", "c a"], ["x y", "y z", "z x"]),
    "cache": text_model("recent_cache", ["a b", "b c", "c a"], ["x y", "y z", "z x"]),
    "tagger": Kind(lambda: tagger().learn(SENTENCES[:1], TAGS[:1]), lambda m: m.learn_one(SENTENCES[2], TAGS[2]),
                   [lambda m: m.learn(SENTENCES[3:4], TAGS[3:4])]),
    "drift": labelled(lambda: drift_aware("reset")),
    "drift, shadow": labelled(lambda: drift_aware("shadow")),
    "drift of others": labelled(lambda: nr.drift_aware(nr.make("majority"), "ddm").learn(ROWS, Y)),
}  # fmt: skip
LOOKS = ("predict_proba", "scores", "copy")  # what adapters only look at
KINDS |= {
    name: Kind(make, lambda m: m.learn_one(ROWS[6], 1), [act for what, act in acts.items() if what not in LOOKS])
    for name, (make, acts) in test_adapters.MAKERS.items()
}


@pytest.mark.thinned(3)
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_learned_just_before_a_change_begins_is_kept(kind: str) -> None:
    make, call, acts = KINDS[kind]
    for act in acts:
        check_calls_are_kept(make, call, act)
