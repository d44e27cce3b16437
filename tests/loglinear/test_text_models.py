"""Generative models equal their twins after every sentence, are distributions, and merge exactly."""

import math
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.loglinear.kneser_ney import END, UNKNOWN
from tests.loglinear.lists import text_lists
from tests.naive import text_models as naive

X, Y = text_lists(40)
SOURCES, TARGETS = [one["source"] for one in X], Y
S = [tuple(text.split()) for text in SOURCES]
T = [tuple(text.split()) for text in TARGETS]


# ---- twins -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_the_language_model_equals_counting_from_the_start(order: int) -> None:
    learner: Any = nr.make("language_model", order=order)
    for t in range(0, 20, 3):
        twin = naive.KneserNey(T[:t], order)
        losses = learner.copy().play(TARGETS[t : t + 1]).losses
        assert losses[0] == pytest.approx(-twin.log_probability(T[t]), abs=1e-12)
        assert learner.state.discounts() == pytest.approx([twin.discount(n + 1) for n in range(order)])
        learner.learn(TARGETS[t : t + 3])


def test_continuations_are_counted_once_for_every_word_in_front() -> None:
    learner: Any = nr.make("language_model", order=2).learn(["a c", "b c", "b c", "b d"])
    c, d = (learner.state.words[word] for word in "cd")
    assert learner.state.grams[0][(c,)] == 2
    assert learner.state.grams[0][(d,)] == 1
    assert learner.state.grams[1][(learner.state.words["b"], c)] == 2
    assert learner.state.of_counts[0] == {1: 3, 2: 2}  # a, b, d; c and the end
    assert learner.state.of_counts[1] == {1: 4, 2: 1} or sum(learner.state.of_counts[1].values()) <= 7


def test_the_lexicon_equals_its_twin_pair_by_pair() -> None:
    learner: Any = nr.make("translation_lexicon", smoothing=0.3)
    twin = naive.Lexicon(0.3)
    for t in range(12):
        loss = learner.play(SOURCES[t : t + 1], TARGETS[t : t + 1]).losses[0]
        assert loss == pytest.approx(-twin.log_probability(S[t], T[t]), abs=1e-12)
        twin.learn(S[t], T[t])
    for (e, f), count in twin.counts.items():
        assert learner.state.counts[e][f] == pytest.approx(count, abs=1e-12)


def test_the_cache_equals_summing_over_all_sentences() -> None:
    learner: Any = nr.make("recent_cache", tau=4.0, order=2)
    for t in range(20):
        loss = learner.play(TARGETS[t : t + 1]).losses[0]
        assert loss == pytest.approx(-naive.cache_log_probability(T[:t], T[t], 4.0), abs=1e-12)
    for gram in (*((word,) for word in T[3]), T[5][:2], T[19][1:3], ("never",)):
        assert learner.state.value(gram, 4.0) == pytest.approx(naive.cache_value(T[:20], gram, 4.0), abs=1e-12)


# ---- what they are ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [1, 2, 3])
def test_probabilities_of_the_next_word_sum_to_one(order: int) -> None:
    learner: Any = nr.make("language_model", order=order).learn(TARGETS)
    state = learner.state
    numbers = [*state.words.values(), END, UNKNOWN]
    for context in ((), (2,), (0, 0), (5, 3), (3, UNKNOWN), (UNKNOWN, 4), (2, 2)):
        if len(context) < order:
            total = sum(state.probability((*context, word), state.discounts()) for word in numbers)
            assert total == pytest.approx(1.0, abs=1e-12)


def test_translation_probabilities_sum_to_one() -> None:
    learner: Any = nr.make("translation_lexicon").learn(SOURCES, TARGETS)
    for source in ("", "tac", "never"):
        words = [*learner.state.targets, "unknown"]
        assert sum(learner.state.probability(word, source, 0.1) for word in words) == pytest.approx(1.0)


def test_the_cache_is_a_distribution() -> None:
    learner: Any = nr.make("recent_cache", tau=3.0).learn(TARGETS)
    words = [*{word for sentence in T for word in sentence}, "unknown"]
    assert sum(math.exp(learner.predict_one([word])) for word in words) == pytest.approx(1.0)


def test_expected_counts_of_a_pair_sum_to_its_words() -> None:
    learner: Any = nr.make("translation_lexicon").learn(SOURCES[:9], TARGETS[:9])
    before = sum(learner.state.totals.values())
    learner.learn_one(SOURCES[9], TARGETS[9])
    assert sum(learner.state.totals.values()) - before == pytest.approx(len(T[9]))


def test_the_lexicon_finds_the_translations() -> None:
    """Every source word is its target word spelled backwards."""
    sources, targets = text_lists(400, seed=4)
    learner: Any = nr.make("translation_lexicon").learn([one["source"] for one in sources], targets)
    assert learner.predict_one("tac eht") == "cat the"
    assert next(iter(learner.translations("esuoh"))) == "house"
    assert learner.play(["tac eht"], ["cat the"]).mistakes.tolist() == [False]


@pytest.mark.parametrize("name", ["translation_lexicon", "language_model", "recent_cache"])
def test_losses_fall(name: str) -> None:
    """Sentences about few things, in which words follow each other as they do in a language."""
    rng = np.random.default_rng(0)
    parts = [
        ["the dog", "a cat", "the big man"],
        ["sees", "runs to", "sleeps near"],
        ["the house", "a tree", "the sea"],
    ]
    targets = [" ".join(one[rng.integers(3)] for one in parts) for _ in range(200)]
    sources = [" ".join(word[::-1] for word in text.split()) for text in targets]
    losses = nr.make(name).play(*((sources, targets) if name == "translation_lexicon" else (targets, None))).losses
    assert losses[100:].mean() < 0.9 * losses[1:11].mean()


# ---- merging and calls -----------------------------------------------------------------------------------------------


def test_counts_merge_exactly() -> None:
    for name in ("translation_lexicon", "language_model", "recent_cache"):
        pairs = name == "translation_lexicon"

        def learn(a: int, b: int, name: str = name, pairs: bool = pairs) -> Any:
            fresh = nr.make(name)
            return fresh.learn(SOURCES[a:b], TARGETS[a:b]) if pairs else fresh.learn(TARGETS[a:b])

        parts = learn(0, 15), learn(15, 40)
        merged = parts[0].merge(parts[1])
        assert merged.rounds == 40
        if name == "language_model":
            found = merged.predict(TARGETS).tolist()
            assert found == learn(0, 40).predict(TARGETS).tolist()
        elif name == "recent_cache":
            np.testing.assert_allclose(merged.predict(TARGETS), learn(0, 40).predict(TARGETS), atol=1e-12)
        else:
            for source in {*parts[0].state.counts, *parts[1].state.counts}:
                rows = [part.state.counts.get(source, {}) for part in parts]
                total = {word: rows[0].get(word, 0.0) + rows[1].get(word, 0.0) for word in {**rows[0], **rows[1]}}
                assert merged.state.counts[source] == total
                assert merged.state.totals[source] == sum(part.state.totals.get(source, 0.0) for part in parts)
        with pytest.raises(nr.BadValue, match="same parameters"):
            merged.merge(nr.make("pa1"))


@pytest.mark.parametrize("name", ["translation_lexicon", "language_model", "recent_cache"])
def test_a_large_call_learns_the_same_as_small_ones(name: str) -> None:
    """A call of many sentences copies the counts, one of few keeps a log."""
    sources, targets = text_lists(90, seed=4)
    rounds: Any = ([one["source"] for one in sources], targets) if name == "translation_lexicon" else (targets, None)
    whole, parts = nr.make(name), nr.make(name)
    losses = whole.play(*rounds).losses.tolist()
    found = [
        loss
        for start in range(0, 90, 9)
        for loss in parts.play(*(None if one is None else one[start : start + 9] for one in rounds)).losses
    ]
    assert losses == found


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda m: m.learn(["a", ""]), "row 1: the sentence in X has no words"),
        (lambda m: m.learn(["a", 7]), "row 1: X must have a text or a list of words, not 7"),
        (lambda m: m.learn([["a", ""]]), "row 0: X must have a text"),
        (lambda m: m.learn("a b"), "X must be a list"),
        (lambda m: m.learn(["a"], weight=[1.0]), "does not support weight"),
        (lambda m: m.learn(["a"], query=[1]), "leave query out"),
        (lambda m: nr.make("language_model", order=2.5), "order must be a whole number"),
        (lambda m: nr.make("translation_lexicon").learn(["a"], ["b", "c"]), "X has 1 rows and y has 2"),
        (lambda m: nr.make("translation_lexicon").learn(["a"]), "y must be a list"),
    ],
)
def test_bad_sentences_are_refused(call: Any, says: str) -> None:
    with pytest.raises(nr.BadValue, match=says):
        call(nr.make("language_model"))
