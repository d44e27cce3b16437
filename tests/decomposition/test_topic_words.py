"""Topics over a growing vocabulary: draws that do not depend on how words come, lazy decay, sums that are kept."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import noregret as nr
from noregret.decomposition.topic_words import COLUMNS, TopicWords

MANY = 3 * COLUMNS + 5


def make(words: int, seed: int = 1) -> TopicWords:
    topics = TopicWords.empty(3, 0.1, seed)
    topics.grow(words)
    return topics


def test_draws_do_not_depend_on_how_words_come() -> None:
    whole, parts = make(MANY), make(0)
    for words in (1, 2, COLUMNS - 1, COLUMNS, COLUMNS + 1, 2 * COLUMNS + 7, MANY):
        parts.grow(words)
        assert parts.words == words
        assert parts.weights.tolist() == whole.weights[:words].tolist()
        np.testing.assert_allclose(parts.sums, parts.weights.sum(axis=0), rtol=1e-12)
    assert len(np.unique(whole.weights)) == 3 * MANY
    assert make(5, seed=2).weights.tolist() != whole.weights[:5].tolist()


def test_new_words_have_the_lambda_that_is_drawn_in_blocks_that_are_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn, draw_block = list[int](), TopicWords.draw_block

    def note(self: TopicWords, block: int) -> NDArray[np.float64]:
        drawn.append(block)
        return draw_block(self, block)

    topics = make(0)
    monkeypatch.setattr(TopicWords, "draw_block", note)
    for words in (5, COLUMNS + 1, 2 * COLUMNS):
        topics.grow(words)
    assert drawn == [0, 0, 1, 1]
    expected = np.concatenate([draw_block(topics, block) for block in (0, 1)])
    np.testing.assert_allclose(topics.parameters(), expected, rtol=1e-12)


def test_draws_have_the_shape_and_mean_that_are_asked_for() -> None:
    for shape, mean in ((100.0, 1.0), (1.0, 5.0), (4.0, 2.0)):
        topics = TopicWords.empty(3, 0.1, 7)
        topics.shape, topics.mean = shape, mean
        drawn = topics.draw(0, 4000)
        assert drawn.mean() == pytest.approx(mean, rel=0.05)
        assert drawn.var() == pytest.approx(mean**2 / shape, rel=0.1)
        assert topics.draw(100, 103).tolist() == drawn[100:103].tolist()
    assert make(0).draw(5, 5).shape == (0, 3)


def test_new_words_begin_as_if_they_had_decayed_from_the_start() -> None:
    early, late = make(MANY), make(COLUMNS)
    for rate in (0.2, 0.5):
        for topics in (early, late):
            topics.step(rate, np.array([1, 3]), 2.0, np.full((2, 3), 1.5))
    early.fold_scale()
    late.fold_scale()
    for topics in (early, late):
        topics.step(0.25, np.array([0]), 1.0, np.ones((1, 3)))
    late.grow(MANY)
    np.testing.assert_allclose(late.parameters(), early.parameters(), rtol=1e-12)
    np.testing.assert_allclose(late.totals, early.totals, rtol=1e-12)
    np.testing.assert_allclose(late.totals, late.parameters().sum(axis=0), rtol=1e-12)
    decayed = 0.8 * 0.5 * 0.75 * (make(MANY).parameters()[-1] - 0.1)
    np.testing.assert_allclose(late.parameters()[-1], 0.1 + decayed, rtol=1e-12)


def test_a_step_at_rate_1_forgets_all() -> None:
    topics = make(4)
    topics.step(1.0, np.array([2]), 3.0, np.full((1, 3), 2.0))
    expected = np.full((4, 3), 0.1)
    expected[2] += 6.0
    np.testing.assert_allclose(topics.parameters(), expected, rtol=1e-12)
    topics.grow(5)
    np.testing.assert_allclose(topics.parameters()[4], 0.1, rtol=1e-12)


def test_folding_changes_only_how_it_is_written() -> None:
    topics = make(6)
    for _ in range(300):
        topics.step(0.9, np.array([5]), 1.0, np.ones((1, 3)))
    assert 1e-100 <= topics.scale <= 1.0
    assert np.abs(topics.weights).max() < 1e101
    before, totals = topics.parameters(), topics.totals
    topics.fold_scale()
    one = make(2)
    one.scale = 2e-100
    one.step(0.5, np.array([1]), 1.0, np.ones((1, 3)))
    assert one.scale == 1e-100  # the smallest that is not folded
    one.step(0.5, np.array([1]), 1.0, np.ones((1, 3)))
    assert (one.scale, one.start) == (1.0, 5e-101)
    one.scale = 0.5
    one.fold_scale()
    assert one.start == 2.5e-101
    assert topics.scale == 1.0
    np.testing.assert_allclose(topics.parameters(), before, rtol=1e-12)
    np.testing.assert_allclose(topics.totals, totals, rtol=1e-12)


def test_copies_share_nothing_and_room_grows_ahead() -> None:
    topics = make(10)
    copied = topics.copy()
    topics.step(0.5, np.array([1]), 1.0, np.ones((1, 3)))
    topics.grow(11)
    assert copied.words == 10
    assert copied.parameters().tolist() == make(10).parameters().tolist()
    assert copied.sums.tolist() == make(10).sums.tolist()
    assert len(topics.room) == 20
    room = topics.room
    topics.grow(20)
    assert topics.room is room
    assert len(make(0).room) == 0
    assert topics.is_finite()
    topics.sums[0] = np.inf
    assert not topics.is_finite()
    topics.sums[0], topics.scale = 1e300, 1e300
    with np.errstate(over="ignore"):
        assert not topics.is_finite()


@pytest.mark.parametrize("name", ["unigram", "lda", "hdp"])
def test_before_anything_is_learned_every_word_so_far_is_as_probable_as_all_others(name: str) -> None:
    """Words of documents that still wait for a mini-batch are known to be words: to learn late gains nothing."""

    def make_fresh() -> Any:
        return nr.make(name, batch=64, native=False)

    words = [[f"w{number}" for number in range(first, first + 4)] for first in (0, 2, 8)]
    losses = make_fresh().play(words).losses
    assert losses == pytest.approx(4 * np.log([4, 6, 10]))
    assert make_fresh().play(np.eye(5)).losses == pytest.approx(np.log([5.0] * 5))
    one = make_fresh()
    assert [one.play([row]).losses[0] for row in words] == losses.tolist()


@pytest.mark.thinned(2)
@pytest.mark.parametrize(
    "options", [{}, {"stop_words": "english", "least_documents": 2}], ids=["all words", "some words"]
)
@pytest.mark.parametrize("name", ["unigram", "lda", "hdp"])
def test_topics_do_not_depend_on_the_order_of_words_in_a_document(name: str, options: dict[str, Any]) -> None:
    """So a stream that is read on from its middle, whose reader numbers words anew, leads to the same topics."""
    rng = np.random.default_rng(3)
    documents = [[f"w{number}" for number in rng.integers(0, 30, 8)] for _ in range(12)]
    found = []
    for order in (list, sorted, reversed):
        learner: Any = nr.make(name, batch=4, native=False, **options)
        for document in documents:
            learner.learn([list(order(document))])
        found.append((learner.feature_names, learner.components.tolist()))
    assert found[0] == found[1] == found[2]
