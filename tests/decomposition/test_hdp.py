"""The online hierarchical Dirichlet process: equal to its equations, and what these equations promise."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sparse

import noregret as nr
from noregret.decomposition.stick_loops import run_sticks
from tests.naive.hdp import NaiveHDP
from tests.support import refusal

RNG = np.random.default_rng(8)
TOPICS = RNG.dirichlet(np.full(14, 0.1), 4)
COUNTS = np.array([RNG.multinomial(30, RNG.dirichlet(np.full(4, 0.2)) @ TOPICS) for _ in range(18)], float)


def make(**options: Any) -> Any:
    """A learner of fast rates: only in the first mini-batch are topics mostly as they were drawn."""
    return nr.make("hdp", **{"t": 7, "k": 3, "batch": 6, "tau": 1.0, "native": False, **options})


def make_twin(learner: Any, words: int = 14) -> NaiveHDP:
    start = learner.start_state(words).topics.parameters().T - learner.given["eta"]
    return NaiveHDP(start, learner.k, learner.given, learner.start == "uniform")


@pytest.mark.parametrize(
    "options",
    [{}, {"tau": 4.0}, {"tau": 16.0}, {"start": "uniform"}, {"start": "uniform", "iterations": 2},
     {"documents": 500.0, "alpha": 0.4, "gamma": 3.0, "eta": 0.2, "kappa": 0.9, "tau": 5.0},
     {"t": 3, "k": 2, "iterations": 2}, {"tolerance": 1e-8, "batch": 9, "t": 12, "k": 4},
     {"t": 40, "k": 3, "documents": 18.0, "eta": 0.01}, {"t": 40, "k": 17, "iterations": 3},
     {"t": 20, "start": "uniform", "iterations": 5}],
    ids=str,
)  # fmt: skip
def test_learns_as_its_twin(options: dict[str, Any]) -> None:
    learner = make(**options)
    twin = make_twin(learner)
    learner.learn(COUNTS)
    for start in range(0, 18, learner.batch):
        twin.learn(COUNTS[start : start + learner.batch])
    state = learner.state
    order = state.order()
    np.testing.assert_allclose(state.topics.parameters()[:, order].T, twin.lam + learner.given["eta"], rtol=1e-6)
    np.testing.assert_allclose(state.counts[order], twin.slots, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(state.prior()[order], twin.prior(), rtol=1e-6)
    np.testing.assert_allclose(state.stick()[1], twin.b, rtol=1e-6)


def test_documents_are_assigned_as_wholes_while_most_of_the_topics_is_as_they_were_drawn() -> None:
    learner = make(t=40, alpha=2.0, iterations=50)
    whole, apart = [1e-4, 3.0, 3.0, 40.0, 2.0, 0.0, 0.0], [1e-4, 50.0, 3.0, 16.0, 2.0, 0.0, 5.0]
    for unlearned, expected in ((1.0, whole), (np.nextafter(0.5, 1.0), whole), (0.5, apart), (0.0, apart)):
        assert learner.choose_start(unlearned).tolist() == expected
        published = make(t=40, alpha=2.0, iterations=50, start="uniform").choose_start(unlearned)
        assert published.tolist() == [1e-4, 50.0, *whole[2:]]
    assert make(t=40, iterations=2).choose_start(1.0)[1] == 2.0
    topics = learner.start_state(14).topics
    assert topics.unlearned == 1.0
    for rate, left in ((0.25, 0.75), (0.5, 0.375)):
        topics.step(rate, np.arange(1), 1.0, np.ones((1, 40)))
        assert topics.unlearned == left
        topics.fold_scale()
        assert topics.unlearned == left


def test_words_that_come_late_are_learned() -> None:
    wide = np.hstack((COUNTS[:6], COUNTS[6:12, :3]))
    learner = make(columns="grow", documents=30)
    twin = make_twin(learner)
    for batch in (COUNTS[:6], COUNTS[6:12]):
        learner.learn(sparse.csr_matrix(batch))
        twin.learn(batch)
    grown = learner.state.copy()
    grown.grow(17)
    late = grown.topics.parameters()[14:, learner.state.order()].T - learner.given["eta"]
    twin.lam = np.hstack((twin.lam, late))
    twin.put_in_order()
    learner.learn(sparse.csr_matrix(wide))
    twin.learn(wide)
    state = learner.state
    assert (state.features, state.documents) == (17, 18)
    found = state.topics.parameters()[:, state.order()].T
    np.testing.assert_allclose(found, twin.lam + learner.given["eta"], rtol=1e-6)


@pytest.mark.parametrize("rows", [2, 7, 17])
def test_documents_that_wait_count_for_their_share_of_a_mini_batch(rows: int) -> None:
    """Of the first mini-batch, as if it were full."""
    learner = make()
    twin = make_twin(learner)
    learner.learn(COUNTS[:rows])
    for start in range(0, rows, 6):
        batch = COUNTS[start : min(start + 6, rows)]
        twin.learn(batch, share=len(batch) / 6 if start else 1.0)
    state = learner.latest
    order = state.order()
    np.testing.assert_allclose(state.topics.parameters()[:, order].T, twin.lam + learner.given["eta"], rtol=1e-6)
    np.testing.assert_allclose(state.counts[order], twin.slots, rtol=1e-6, atol=1e-9)


def test_long_and_short_documents_learn_as_the_twin() -> None:
    rng = np.random.default_rng(3)
    lengths = (90, 3, 40, 1, 200, 17, 5, 60)
    rows = np.array([rng.multinomial(length, rng.dirichlet(np.full(45, 0.3))) for length in lengths], float)
    learner = make(t=25, k=6, batch=4, documents=8)
    twin = make_twin(learner, 45)
    learner.learn(rows)
    for start in (0, 4):
        twin.learn(rows[start : start + 4])
    order = learner.state.order()
    found = learner.state.topics.parameters()[:, order].T
    np.testing.assert_allclose(found, twin.lam + learner.given["eta"], rtol=1e-6)


def test_coordinate_ascent_never_lowers_the_bound() -> None:
    """In the twin, whose slots and assignments the learner has: iteration by iteration, once the sticks count."""
    learner = make(tolerance=1e-10)
    twin = make_twin(learner)
    for start in range(0, 18, 6):
        twin.learn(COUNTS[start : start + 6])
    steps = [later - earlier for bounds in twin.bounds for earlier, later in pairwise(bounds[1:])]
    assert len(steps) > 50
    assert min(steps) > -1e-9


@pytest.mark.parametrize("options", [{}, {"start": "uniform"}, {"start": "uniform", "iterations": 2}], ids=str)
def test_the_loop_reports_the_bound_of_its_twin(options: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []

    def keep(*parts: Any) -> None:
        run_sticks(*parts)
        seen.append(parts[2])

    monkeypatch.setattr("noregret.decomposition.hdp.run_sticks", keep)
    learner = make(batch=6, **options).learn(COUNTS[:6])
    twin = make_twin(learner)
    twin.learn(COUNTS[:6])
    np.testing.assert_allclose(-seen[0].losses, [bounds[-1] for bounds in twin.bounds], rtol=1e-9)


def test_all_words_are_assigned_to_topics() -> None:
    """Statistics of a step at a rate of nearly 1 are the counts of the words: no token is lost."""
    learner = make(batch=18, documents=18, tau=0.0, kappa=0.0).learn(COUNTS)
    topics = learner.state.topics
    before = learner.start_state(14).topics.parameters() - topics.eta
    found = (topics.parameters() - topics.eta - 1e-4 * before).sum(axis=1)
    np.testing.assert_allclose(found, 0.9999 * COUNTS.sum(axis=0), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(learner.state.counts.sum(), 0.9999 * 18 * learner.k, rtol=1e-9)
    np.testing.assert_allclose(topics.totals, topics.parameters().sum(axis=0), rtol=1e-9)


def test_documents_of_three_topics_use_about_three() -> None:
    rng = np.random.default_rng(4)
    rows = np.zeros((240, 30))
    for number in range(240):
        first = 10 * (number % 3)
        rows[number, first : first + 10] = rng.multinomial(40, np.full(10, 0.1))
    learner = nr.make("hdp", t=12, k=4, batch=20, documents=240, tau=1.0, alpha=1.0, native=True)
    for _ in range(3):
        learner.learn(sparse.csr_matrix(rows))
    model: Any = learner
    assert 3 <= model.used_topics <= 8
    assert len(model.topics()) == model.used_topics
    for topic in model.topics(10)[:3]:
        sides = [sum(p for word, p in topic.words if word // 10 == side) for side in range(3)]
        assert max(sides) > 0.9
    assert model.perplexity(rows) == pytest.approx(10.0, rel=0.2)
    assert len(set(model.transform(rows).argmax(axis=1)[:3])) == 3


def test_the_start_has_100_words_in_each_document_of_the_corpus() -> None:
    for documents, size in ((0.0, 10_000.0), (50.0, 50.0)):
        learner = make(documents=documents)
        for features in (0, 1, 14):
            topics = learner.start_state(features).topics
            assert topics.words == features
            assert (topics.shape, topics.mean) == (1.0, size * 100.0 / (7 * max(features, 1)))


def test_used_topics_have_99_percent_of_all_words() -> None:
    learner = make(t=5, k=2).learn(COUNTS)
    several = ([50.0, 0.0, 9.4, 0.6, 40.0], 3), ([0.0, 1.5, 98.0, 0.3, 0.2], 2), ([-1.0, 0.0, 0.0, 7.0, 0.0], 1)
    for counts, used in (*several, ([0.0] * 5, 5)):
        learner.state.topics.sums = np.array(counts)
        assert learner.used_topics == used
        assert len(learner.topics()) == used
    assert [topic.number for topic in learner.topics()] == [0, 1, 2, 3, 4]


def test_topics_have_equal_shares_at_first_and_at_least_a_share_of_1e_12() -> None:
    learner = make(alpha=2.0)
    state = learner.start_state(14)
    np.testing.assert_allclose(state.prior(), 2.0 / 7, rtol=1e-12)
    np.testing.assert_allclose(state.log_shares(), state.log_shares()[0], rtol=1e-12)
    state.steps, state.counts = 1, np.where(np.isin(np.arange(7), state.order()[:2]), 1e15, 0.0)
    prior = state.prior()[state.order()]
    np.testing.assert_allclose(prior[:2], 1.0, rtol=1e-9)
    assert prior[2:].tolist() == [2.0 * 1e-12] * 5


def test_a_state_with_counts_that_overflow_is_not_finite() -> None:
    state = make().learn(COUNTS).state
    assert state.is_finite()
    state.counts[2] = np.inf
    assert not state.is_finite()


def test_what_a_file_says_of_the_stick_is_checked() -> None:
    learner = make(t=3, k=2, documents=1.0).learn(COUNTS)
    header, arrays = learner.dump_state(learner.state)
    assert header["mean"] == 100.0 / (3 * 14)
    state = learner.restore_state({**header, "mean": 0.5}, {**arrays, "counts": np.array([0.0, 0.5, 2.0])}, 14)
    assert state.topics.mean == 0.5
    assert state.counts.tolist() == [0.0, 0.5, 2.0]
    assert (state.steps, state.documents) == (3, 18)
    for counts in ([0.0, 0.5], [0.0, -0.5, 2.0], [[0.0, 0.5, 2.0]]):
        refusal(lambda: learner.restore_state(header, {**arrays, "counts": np.array(counts)}, 14))  # noqa: B023
    for mean in (0.0, -1.0, float("inf"), None):
        assert "mean must be" in refusal(lambda: learner.restore_state({**header, "mean": mean}, arrays, 14))  # noqa: B023


def test_an_empty_document_teaches_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = make(batch=2, documents=100), make(batch=1, documents=50)
    start = one.start_state
    monkeypatch.setattr(other, "start_state", start)  # the same weights, though the corpus is half as large
    for counts in COUNTS:
        one.learn([counts, np.zeros(14)])
        other.learn([counts])
    np.testing.assert_allclose(one.components, other.components, rtol=1e-9)
    shares = one.transform(np.zeros((1, 14)))[0]
    np.testing.assert_allclose(shares, one.latest.prior() / one.latest.prior().sum())


def test_parameters_are_whole_numbers_or_in_their_limits() -> None:
    several: list[dict[str, Any]] = [{"t": 7.5}, {"k": 2.5}, {"iterations": 2.5}]
    for options in several:
        assert refusal(lambda: make(**options)) == "hdp: t, k and iterations must be whole numbers"  # noqa: B023
    several = [{"eta": 1e-4}, {"start": "random"}, {"alpha": 0.0}]
    for options in several:
        refusal(lambda: make(**options))  # noqa: B023
    assert refusal(lambda: make(k=8)) == "hdp: k, the topics of a document, must be at most t = 7, not 8"
    assert make(k=7).k == make().t == 7


@pytest.mark.compiles
def test_compiled_is_interpreted_bit_for_bit() -> None:
    rows = sparse.csr_matrix(COUNTS)
    one, other = make(native=True), make()
    assert one.play(rows).losses.tolist() == other.play(rows).losses.tolist()
    assert one.components.tolist() == other.components.tolist()
    assert one.state.counts.tolist() == other.state.counts.tolist()
