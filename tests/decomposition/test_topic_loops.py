"""The loops of topic models, one part at a time: when inference ends, borders, memory that is used again."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import psi

import noregret as nr
from noregret.decomposition import document_loops, stick_loops, topic_words
from noregret.decomposition.document_loops import Documents, Topics, allocate, find_powers, place_values, run_inference
from noregret.decomposition.stick_loops import Sticks, break_stick, run_sticks, take_largest
from noregret.jit.layout import count_words
from tests.naive.hdp import NaiveHDP, expected_logs
from tests.naive.lda import NaiveLDA

Floats = NDArray[np.float64]
COUNTS = np.random.default_rng(6).poisson(0.7, (12, 9)).astype(float)
SMALL: dict[str, dict[str, Any]] = {"lda": {"k": 3}, "hdp": {"t": 6, "k": 3}, "unigram": {}}


def make_documents(counts: Floats) -> Documents:
    """Documents of all words that are in them."""
    rows, words = np.nonzero(counts)
    offsets = np.concatenate(([0], np.cumsum((counts > 0).sum(axis=1)))).astype(np.int64)
    return Documents(offsets, words.astype(np.int32), counts[rows, words], np.zeros((len(counts), 2)))


def make_topics(lam: Floats, alpha: float, eta: float = 0.1) -> Topics:
    words = np.arange(lam.shape[1])
    return Topics(lam.T - eta, np.array([eta, 1.0]), words, lam.sum(axis=1), np.full(len(lam), alpha))


def draw_topics(k: int, words: int) -> Floats:
    return np.random.default_rng(k).gamma(2.0, size=(k, words))


def infer(
    counts: Floats, topics: Topics, tolerance: float, iterations: int, scoring: bool = False, unknown: Any = 0.0
) -> Any:
    out = document_loops.allocate_results(len(counts), topics.words.size, topics.alpha.size, scoring)
    numbers = np.array([tolerance, iterations, float(scoring)])
    documents = make_documents(counts)
    documents.unknown[:] = unknown
    run_inference(documents, topics, out, numbers, False)
    return out


# ---- inference -------------------------------------------------------------------------------------------------------


def test_inference_ends_when_the_mean_change_is_smaller_than_the_tolerance() -> None:
    """And at the tolerance it goes on: the change of the first iteration is known exactly, from gamma = 1."""
    lam = draw_topics(3, 2)
    topics, document = make_topics(lam, 0.25), np.array([[1.0, 1.0]])
    once, twice = (infer(document, topics, 0.0, iterations).gamma[0].tolist() for iterations in (1, 2))
    change = 0.0
    for value in once:
        change += abs(value - 1.0)
    change /= 3
    assert once != twice
    assert infer(document, topics, float(np.nextafter(change, 1.0)), 9).gamma[0].tolist() == once
    assert infer(document, topics, change, 2).gamma[0].tolist() == twice
    twin = NaiveLDA(lam, 0.25, 0.1, 1.0, 1.0, 1.0)
    np.testing.assert_allclose(twice, twin.infer(document[0], 0.0, 2)[0], rtol=1e-9)


def test_powers_are_those_of_the_digamma_function_and_0_in_a_topic_without_words() -> None:
    """Also where the total of a topic is less than 1."""
    lam = np.array([[0.2, 0.5], [3.0, 0.05], [0.1, 0.1]])
    topics = make_topics(lam, 1.0)
    memory = allocate(make_documents(np.ones((1, 2))), 2, 3)
    topics.totals[2] = 0.0
    find_powers(topics, memory)
    expected = np.exp(psi(lam[:2]) - psi(lam[:2].sum(axis=1, keepdims=True)))
    np.testing.assert_allclose(memory.powers[:, :2].T, expected, rtol=1e-9)
    assert memory.powers[:, 2:].tolist() == [[0.0, 0.0]] * 2


@pytest.mark.parametrize("words", [1, 2, 3, 4, 5, 9])
@pytest.mark.parametrize("k", [1, 4, 5])
def test_documents_of_any_length_after_longer_ones_are_inferred_as_by_the_twin(words: int, k: int) -> None:
    lam, counts = draw_topics(k, 9), np.zeros((3, 9))
    counts[0], counts[2] = 2.0, 1.0
    counts[1, :words] = np.arange(1.0, words + 1.0)
    twin = NaiveLDA(lam, 0.3, 0.1, 1.0, 1.0, 1.0)
    found, scored = (infer(counts, make_topics(lam, 0.3), 1e-6, 50, scoring) for scoring in (False, True))
    np.testing.assert_allclose(found.gamma, [twin.infer(row, 1e-6, 50)[0] for row in counts], rtol=1e-9)
    expected = sum(row[:, None] * twin.infer(row, 1e-6, 50)[1] for row in counts)
    np.testing.assert_allclose(found.statistics, expected, rtol=1e-9)
    np.testing.assert_allclose(
        scored.losses, [twin.loss(row, tolerance=1e-6, iterations=50) for row in counts], rtol=1e-9
    )
    assert scored.statistics.size == 0


def test_no_loss_is_negative_by_rounding() -> None:
    """Documents of the only word there is: its probability is 1."""
    for eta in np.linspace(0.1, 2.0, 40):
        out = infer(np.array([[7.0]]), make_topics(np.full((1, 1), 0.7 + eta), 1.0, float(eta)), 0.0, 3, scoring=True)
        assert 0.0 <= out.losses[0] < 1e-13


@pytest.mark.parametrize("size", [0.02, 3.0])
def test_the_loss_of_a_document_is_that_of_the_twin_also_where_topics_have_few_words(size: float) -> None:
    lam, row = size * draw_topics(3, 4), np.array([1.0, 0.0, 2.0, 0.0])
    twin = NaiveLDA(lam, 0.3, 0.005, 1.0, 1.0, 1.0)
    found = infer(row[None], make_topics(lam, 0.3, 0.005), 1e-6, 50, scoring=True).losses[0]
    assert found == pytest.approx(twin.loss(row, tolerance=1e-6, iterations=50), rel=1e-9)


@pytest.mark.parametrize("tokens", [1.0, 5.0])
def test_the_loss_of_new_words_is_that_of_words_with_the_prior_alone(tokens: float) -> None:
    """Of one new word, which all topics have with lambda = eta."""
    lam = draw_topics(3, 4)
    totals, gamma = lam.sum(axis=1), np.full(3, 0.3)
    out = infer(np.zeros((1, 4)), make_topics(lam, 0.3, 0.1), 0.0, 3, True, [1.0, tokens])
    assert out.losses[0] == pytest.approx(-tokens * (gamma / gamma.sum()) @ np.log(0.1 / (totals + 0.1)), rel=1e-12)
    nothing = Topics(np.zeros((0, 3)), np.array([0.1, 1.0]), np.zeros(0, np.int64), np.zeros(3), gamma)
    assert str(infer(np.zeros((2, 0)), nothing, 0.0, 3, True).losses.tolist()) == "[0.0, 0.0]"


def test_losses_are_the_same_to_the_last_bit_compiled_and_interpreted() -> None:
    """Of words with many probabilities near 1, where the logarithm of numpy often differs in the last place."""
    documents, numbers = make_documents(np.ones((1, 1))), np.array([0.0, 1.0, 1.0])
    for total in np.linspace(1.01, 1.09, 300):
        topics = make_topics(np.ones((1, 1)), 1.0)._replace(totals=np.array([total]))
        plain, compiled = (document_loops.allocate_results(1, 1, 1, scoring=True) for _ in range(2))
        run_inference(documents, topics, plain, numbers, False)
        run_inference(documents, topics, compiled, numbers, True)
        assert plain.losses[0] == compiled.losses[0] > 0.0


# ---- sticks ----------------------------------------------------------------------------------------------------------


def infer_sticks(
    counts: Floats, lam: Floats, k: int, iterations: int, *, alpha: float = 2.0, tolerance: float = 0.0,
    uniform: bool = False,
) -> tuple[Any, NaiveHDP, Floats]:  # fmt: skip
    """What the loop finds, the twin that found the same, and how many slots the loop gave to every topic."""
    given = {"eta": 0.1, "alpha": alpha, "gamma": 1.0, "iterations": iterations, "tolerance": tolerance}
    twin = NaiveHDP(lam - 0.1, k, given, uniform)
    twin.drawn = 0.0
    topics = make_topics(lam, 1.0)._replace(alpha=twin.prior())
    out = document_loops.allocate_results(len(counts), lam.shape[1], len(lam), scoring=False)
    sticks = Sticks(expected_logs(twin.a, twin.b), np.zeros(len(lam)))
    numbers = np.array([tolerance, iterations, k, len(lam), alpha, 0.0, 0.0 if uniform else 5.0])
    run_sticks(make_documents(counts), topics, out, numbers, sticks, False)
    return out, twin, sticks.counts


@pytest.mark.parametrize("uniform", [False, True])
@pytest.mark.parametrize(("words", "iterations"), [(1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (6, 1), (7, 20)])
def test_documents_are_inferred_as_by_the_twin_after_any_number_of_iterations(
    words: int, iterations: int, uniform: bool
) -> None:
    lam, counts = draw_topics(6, 9), np.zeros((4, 9))
    counts[0], counts[3] = 2.0, 1.0
    counts[1, :words] = np.arange(1.0, words + 1.0)
    out, twin, slots = infer_sticks(counts, lam, 3, iterations, uniform=uniform)
    statistics, expected, logs = np.zeros((9, 6)), np.zeros(6), twin.log_beta()
    for row in counts[[0, 1, 3]]:
        present = np.flatnonzero(row)
        phi, assigned, candidates = twin.infer(row[present], logs[:, present])
        expected[candidates] += assigned.sum(axis=0)
        statistics[np.ix_(present, candidates)] += (phi.T * row[present]).T @ assigned
    np.testing.assert_allclose(out.statistics, statistics, rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(slots, expected, rtol=1e-10)
    np.testing.assert_allclose(out.losses[[0, 1, 3]], [-bounds[-1] for bounds in twin.bounds], rtol=1e-10)
    assert out.losses[2] == 0.0


@pytest.mark.parametrize(("size", "alpha"), [(1.0, 1e-6), (1e5, 1.0), (1e5, 1e-6)])
def test_long_documents_and_short_sticks_do_not_overflow(size: float, alpha: float) -> None:
    lam, row = draw_topics(6, 9), size * np.arange(1.0, 10.0)
    out, twin, slots = infer_sticks(row[None], lam, 3, 4, alpha=alpha)
    phi, assigned, candidates = twin.infer(row, twin.log_beta())
    np.testing.assert_allclose(slots[candidates], assigned.sum(axis=0), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(out.losses[0], -twin.bounds[0][-1], rtol=1e-9)
    np.testing.assert_allclose(out.statistics[:, candidates], (phi.T * row).T @ assigned, rtol=1e-8, atol=1e-9 * size)


def test_words_of_other_topics_are_assigned_as_well() -> None:
    """Also a word that only a topic has which is no candidate; a topic gets nothing of words that no slot has of it."""
    lam = np.full((3, 6), 1e-4)
    lam[0, :2] = lam[1, 2:4] = lam[2, 4] = 50.0
    lam[:, 5] = 1e20  # not in the document: beside it, the powers of words that a topic does not have are 0
    row = np.array([40.0, 40.0, 30.0, 30.0, 1.0, 0.0])
    out = document_loops.allocate_results(1, 6, 3, scoring=False)
    sticks = Sticks(np.zeros(3), np.zeros(3))
    numbers = np.array([1e-4, 50.0, 2.0, 2.0, 1.0, 0.0, 5.0])
    run_sticks(make_documents(row[None]), make_topics(lam, 0.1, 5e-5), out, numbers, sticks, False)
    np.testing.assert_allclose(out.statistics.sum(axis=1), row, rtol=1e-12)
    assert out.statistics[:, 2].tolist() == [0.0] * 6
    np.testing.assert_allclose(sticks.counts, [1.0, 1.0, 0.0])
    whole = document_loops.allocate_results(1, 6, 3, scoring=False)
    numbers[-1] = 0.0  # equal slots: E log beta of words that a topic does not have is finite
    numbers[1:4] = 3.0, 2.0, 3.0
    run_sticks(make_documents(row[None]), make_topics(lam, 0.1, 5e-5), whole, numbers, sticks, False)
    np.testing.assert_allclose(whole.statistics.sum(axis=1), row, rtol=1e-12)
    assert np.isfinite(whole.losses[0])


@pytest.mark.parametrize("place", [4, 5, 6, 7])
@pytest.mark.parametrize(("share", "counts"), [(1e-17, 0.0), (2e-17, 1.0)])
def test_a_share_of_a_slot_up_to_1e_17_is_none(share: float, counts: float, place: int) -> None:
    """Candidates are looked at in fours; one of the last four has the only share here that is that small."""
    one, room, small = np.ones(1), stick_loops.allocate_room(4, 8, 1, 8), np.arange(8) == place
    room.candidates[:], room.assigned[0] = range(8), share * small
    room.assigned[0, 0] = 1.0
    room.across[:, 0] = -600.0 * small
    room.across[0, 0] = -1.0
    bound = stick_loops.assign_slots(one, 1, 8, room)
    assert bound == -1.0 - counts * share * 600.0
    assert room.slots[0, 0] == room.words[0] == 1.0
    parts = stick_loops.Parts(allocate(make_documents(np.ones((1, 1))), 1, 8), room, Sticks(np.zeros(8), np.zeros(8)))
    statistics = np.zeros((1, 8))
    numbers = np.array([0.0, 1.0, 1.0, 8.0])
    stick_loops.add_statistics(np.zeros(1, np.int32), 5.0 * one, statistics, numbers, parts)
    assert statistics[0].tolist() == [5.0, 0.0, 0.0, 0.0, *(counts * 5.0 * share * small[4:])]
    assert parts.sticks.counts.tolist() == [1.0, 0.0, 0.0, 0.0, *(share * small[4:])]


def test_slots_whose_shares_differ_by_much_do_not_overflow() -> None:
    one, room = np.ones(1), stick_loops.allocate_room(4, 1, 3, 1)
    room.assigned[:], room.second[:], room.across[0, 0] = 1.0, [-2000.0, 0.0, -1000.0], -3.0
    assert stick_loops.assign_slots(one, 3, 1, room) == -3.0
    np.testing.assert_allclose(room.words, [0.0, 1.0, 0.0], atol=1e-300)


def test_ascent_ends_when_the_bound_grows_by_a_smaller_share_than_the_tolerance() -> None:
    """And at the tolerance it goes on."""
    lam, found = draw_topics(6, 9), 0
    for seed in range(20):
        row = np.random.default_rng(seed).integers(1, 5, (1, 9)).astype(float)
        first, second, third = (-infer_sticks(row, lam, 3, iterations)[0].losses[0] for iterations in (1, 2, 3))
        tolerance = abs(second - first) / abs(first)
        above = float(np.nextafter(tolerance, 1.0))
        if tolerance * abs(first) == abs(second - first) < above * abs(first):
            found += 1
            assert -infer_sticks(row, lam, 3, 3, tolerance=above)[0].losses[0] == second
            assert -infer_sticks(row, lam, 3, 3, tolerance=tolerance)[0].losses[0] == third != second
    assert found > 3


def test_the_largest_mass_is_taken_once_the_first_of_equal_ones() -> None:
    masses = np.array([1.0, 3.0, 3.0, 2.0])
    assert [take_largest(masses) for _ in range(4)] == [1, 2, 3, 0]
    assert [take_largest(np.array(masses)) for masses in ([5.0, 1.0], [1.0, 5.0])] == [0, 1]


def test_no_piece_of_a_stick_is_negative_by_rounding() -> None:
    """The sum of all words, without those of the first slots, is less than 0 here."""
    words = np.array([1e16, 0.1, 0.1])
    assert 1e16 + 0.1 + 0.1 - 1e16 - 0.1 < 0.0
    room = stick_loops.allocate_room(4, 3, 3, 3)
    room.words[:] = words
    assert np.isfinite(break_stick(3, 1e-6, room))
    np.testing.assert_allclose(room.second, expected_logs(1.0 + words[:2], np.full(2, 1e-6)), rtol=1e-9)


# ---- memory ----------------------------------------------------------------------------------------------------------


def test_large_arrays_are_used_again() -> None:
    kept: dict[str, Any] = vars(document_loops._large)
    for name in ("lda", "hdp"):
        learner: Any = nr.make(name, batch=6, native=False, **SMALL[name])
        kept.clear()
        learner.learn(COUNTS[:6])
        first = dict(kept)
        assert sorted(first) == ["powers", "statistics"]
        learner.learn(COUNTS[6:])
        assert all(kept[key] is room for key, room in first.items())
        assert len(kept) == 2


def test_room_is_taken_by_one_at_a_time_and_is_as_large_as_asked_for() -> None:
    vars(document_loops._large).clear()
    first, second = document_loops.take_room("room", (10, 4)), document_loops.take_room("room", (10, 4))
    assert first.shape == (10, 4)
    assert not np.shares_memory(first, second)
    assert first.base is not None
    assert first.base.size == 50  # a quarter more
    document_loops.return_room("room", first)
    again = document_loops.take_room("room", (5, 10))
    assert np.shares_memory(again, first)
    document_loops.return_room("room", again)
    larger = document_loops.take_room("room", (51, 1))
    assert larger.shape == (51, 1)
    assert not np.shares_memory(larger, first)


def test_memory_is_for_the_longest_document_in_multiples_of_four() -> None:
    vars(document_loops._large).clear()
    document_loops.return_room("powers", document_loops.take_room("powers", (9, 8)))
    vars(document_loops._large)["powers"][:] = 7.0
    counts = np.zeros((3, 9))
    counts[0, :2] = counts[1, :6] = counts[2, :1] = 1.0
    memory = allocate(make_documents(counts), 9, 5)
    assert memory.powers.shape == (9, 8)
    assert (memory.powers[:, :5] == 7.0).all()
    assert (memory.powers[:, 5:] == 0.0).all()
    assert [array.shape for array in memory[1:]] == [(8,), (8, 8), (8, 8), (8,), (8,), (8,), (8,)]
    assert [document_loops.pad(size) for size in (0, 1, 4, 5)] == [0, 4, 4, 8]
    assert allocate(make_documents(np.zeros((0, 9))), 9, 5).norms.size == 0


# ---- compiled calls --------------------------------------------------------------------------------------------------


def test_places_follow_each_other() -> None:
    examples = {"rows": np.zeros((1, 1)), "pair": (np.zeros(1), np.zeros(1)), "last": np.zeros(1)}
    sizes = [count_words(one) for one in examples.values()]
    places, slots = place_values(examples)
    assert list(places) == list(examples)
    assert [slot for slot, _ in places.values()] == [0, sizes[0], sizes[0] + sizes[1]]
    assert all(places[name][1] is example for name, example in examples.items())
    assert slots == sum(sizes)


@pytest.mark.parametrize("name", SMALL)
def test_compiled_loops_have_all_values_and_room_for_their_places(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their stand-ins here are the same loops, interpreted."""
    loops: dict[Any, Callable[..., None]] = {
        document_loops.entry: document_loops.infer,
        stick_loops.entry: stick_loops.infer_sticks,
        topic_words.entry: topic_words.add_rows,
    }
    called = set[Any]()

    def compile_nothing(entry: Any, places: dict[str, Any]) -> Callable[..., None]:
        def run(table: Any, *values: Any) -> None:
            called.add(entry)
            assert table.dtype == np.int64
            assert table.size == sum(count_words(example) for _, example in places.values())
            assert [count_words(value) for value in values] == [count_words(example) for _, example in places.values()]
            loops[entry](*values)

        return run

    for module in (document_loops, stick_loops, topic_words):
        monkeypatch.setattr(module, "compile_function", compile_nothing)
    plain, native = (nr.make(name, batch=4, native=native, **SMALL[name]) for native in (False, True))
    losses, shares = plain.play(COUNTS).losses.tolist(), plain.predict(COUNTS).tolist()
    assert not called
    assert native.play(COUNTS).losses.tolist() == losses
    assert native.predict(COUNTS).tolist() == shares
    assert len(called) == {"unigram": 1, "lda": 2, "hdp": 3}[name]
