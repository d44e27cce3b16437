"""Online LDA: equal to the paper's equations, and what these equations promise."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sparse
from numpy.typing import NDArray
from scipy.special import gammaln, psi

import noregret as nr
from noregret.algebra.gamma_functions import digamma, exp_digamma, log_gamma
from tests.naive.lda import NaiveLDA
from tests.support import refusal

Floats = NDArray[np.float64]
RNG = np.random.default_rng(8)
TOPICS = RNG.dirichlet(np.full(12, 0.2), 3)
COUNTS = np.array([RNG.multinomial(15, RNG.dirichlet(np.full(3, 0.3)) @ TOPICS) for _ in range(24)], float)


def make(**options: Any) -> Any:
    return nr.make("lda", **{"k": 3, "batch": 6, "tau0": 2.0, "native": False, **options})


def make_twin(learner: Any, words: int = 12) -> NaiveLDA:
    start = learner.start_state(words).topics.parameters().T
    given = learner.given
    return NaiveLDA(start, learner.alpha, learner.eta, given["tau0"], given["kappa"], given["documents"])


# ---- special functions ---------------------------------------------------------------------------------------------


def test_special_functions_are_those_of_scipy() -> None:
    x = np.concatenate((10.0 ** np.random.default_rng(1).uniform(-2.5, 12.0, 3000), np.linspace(0.05, 20.0, 2000)))
    for own, theirs in ((digamma, psi), (log_gamma, gammaln)):
        expected = theirs(x)
        error = np.abs([own(value) for value in x.tolist()] - expected) / np.maximum(np.abs(expected), 1.0)
        assert error.max() < 1e-12
    ratio = np.array([exp_digamma(value) for value in x.tolist()]) / np.exp(psi(x))
    assert np.abs(ratio - 1.0).max() < 1e-12
    assert exp_digamma(1e300) == 1e300


def test_special_functions_are_exact_to_the_last_places_where_their_series_begin() -> None:
    x = np.linspace(8.0, 9.0, 200)
    assert np.abs([digamma(value) for value in x.tolist()] - psi(x)).max() < 3e-15
    assert np.abs([log_gamma(value) for value in x.tolist()] - gammaln(x)).max() < 8e-15
    x = np.linspace(0.5, 1.0, 200)
    ratio = np.array([exp_digamma(value) for value in x.tolist()]) / np.exp(psi(x))
    assert np.abs(ratio - 1.0).max() < 6e-15


# ---- twins ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [{}, {"kappa": 0.0}, {"documents": 500.0, "alpha": 0.7, "eta": 0.05, "kappa": 0.9}, {"k": 1, "tau0": 0.0},
     {"k": 5, "iterations": 2}, {"tolerance": 1e-9, "batch": 24}, {"tolerance": 0.5, "alpha": 2.0}],
    ids=str,
)  # fmt: skip
def test_learns_as_its_twin(options: dict[str, Any]) -> None:
    learner = make(**options)
    twin = make_twin(learner)
    how = {"tolerance": learner.tolerance, "iterations": learner.iterations}
    losses = learner.play(COUNTS).losses
    for start in range(0, 24, learner.batch):
        batch = COUNTS[start : start + learner.batch]
        if start:  # before the first mini-batch no word is known
            expected = [twin.loss(counts, **how) for counts in batch]
            np.testing.assert_allclose(losses[start : start + learner.batch], expected, rtol=1e-9)
        twin.learn(batch, **how)
    np.testing.assert_allclose(learner.state.topics.parameters().T, twin.lam, rtol=1e-9)
    np.testing.assert_allclose(learner.state.topics.totals, twin.lam.sum(axis=1), rtol=1e-11)
    np.testing.assert_allclose(learner.components, twin.lam / twin.lam.sum(axis=1, keepdims=True), rtol=1e-9)
    gammas = np.array([twin.infer(counts, **how)[0] for counts in COUNTS])
    np.testing.assert_allclose(learner.transform(COUNTS), gammas / gammas.sum(axis=1, keepdims=True), rtol=1e-8)


def test_long_and_short_documents_of_many_topics_learn_as_the_twin() -> None:
    """More words and topics than fit into one vector, and documents of any length in any order."""
    rng = np.random.default_rng(3)
    lengths = (90, 3, 40, 1, 200, 17, 5, 60, 2, 33, 120, 8)
    rows = np.array([rng.multinomial(length, rng.dirichlet(np.full(45, 0.3))) for length in lengths], float)
    learner = make(k=11, batch=4, documents=12)
    twin = make_twin(learner, 45)
    losses = learner.play(rows).losses
    for start in range(0, 12, 4):
        if start:
            expected = [twin.loss(counts) for counts in rows[start : start + 4]]
            np.testing.assert_allclose(losses[start : start + 4], expected, rtol=1e-8)
        twin.learn(rows[start : start + 4])
    np.testing.assert_allclose(learner.state.topics.parameters().T, twin.lam, rtol=1e-7)


def test_scikit_learn_infers_the_same_shares() -> None:
    decomposition = pytest.importorskip("sklearn.decomposition")
    learner = make(batch=24, tolerance=1e-9, iterations=1000).learn(COUNTS)
    theirs = decomposition.LatentDirichletAllocation(3, mean_change_tol=1e-9, max_doc_update_iter=1000)
    theirs.partial_fit(COUNTS)
    theirs.components_ = learner.state.topics.parameters().T
    expected = theirs.components_
    theirs.exp_dirichlet_component_ = np.exp(psi(expected) - psi(expected.sum(axis=1, keepdims=True)))
    np.testing.assert_allclose(learner.transform(COUNTS), theirs.transform(COUNTS), atol=1e-6)


# ---- identities ----------------------------------------------------------------------------------------------------


def test_a_step_at_rate_1_with_the_whole_corpus_is_the_batch_step() -> None:
    """kappa = 0 and S = D: lambda = eta + the expected counts, whatever it was before."""
    learner = make(kappa=0.0, batch=24, documents=24)
    twin = make_twin(learner)
    for _ in range(3):
        expected = learner.eta + sum((twin.infer(counts)[1] * counts[:, None]).T for counts in COUNTS)
        twin.learn(COUNTS)
        learner.learn(COUNTS)
        np.testing.assert_allclose(twin.lam, expected, rtol=1e-12)
        np.testing.assert_allclose(learner.state.topics.parameters().T, expected, rtol=1e-9)


def test_batch_steps_never_lower_the_bound() -> None:
    learner, before = make(kappa=0.0, batch=24, tolerance=1e-8, iterations=500, documents=24), -np.inf
    for _ in range(5):
        learner.learn(COUNTS)
        twin = make_twin(learner)
        twin.lam = learner.state.topics.parameters().T
        bound = twin.bound(COUNTS, tolerance=1e-8, iterations=500)
        assert bound >= before - 1e-6
        before = bound


def test_gamma_is_a_fixed_point_of_inference() -> None:
    learner = make(tolerance=1e-12, iterations=5000).learn(COUNTS)
    twin = make_twin(learner)
    twin.lam = learner.state.topics.parameters().T
    for counts in COUNTS[:4]:
        gamma = learner.transform(counts[None])[0] * (counts.sum() + 3 * learner.alpha)
        log_theta = psi(gamma) - psi(gamma.sum())
        phi = np.exp(log_theta + twin.expected_log_beta().T)
        phi /= phi.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(learner.alpha + counts @ phi, gamma, rtol=1e-6)


def test_lazy_decay_is_that_of_all_words() -> None:
    """Words that do not come decay towards eta by every step, and the totals are their sums."""
    learner = make(batch=2, kappa=0.9, tau0=0.0)
    learner.learn(COUNTS[:2])
    start = learner.state.topics.parameters()
    few = np.zeros((400, 12))
    few[:, :2] = RNG.integers(1, 5, (400, 2))
    decay = np.prod([1.0 - t**-0.9 for t in range(2, 202)])
    topics = learner.learn(few).state.topics
    np.testing.assert_allclose(topics.parameters()[2:], learner.eta + decay * (start[2:] - learner.eta), rtol=1e-9)
    np.testing.assert_allclose(topics.totals, topics.parameters().sum(axis=0), rtol=1e-12)
    assert topics.scale >= 1e-100


def test_a_scale_that_becomes_too_small_is_folded_into_the_weights() -> None:
    topics, other = (make().start_state(5).topics for _ in range(2))
    expected = other.parameters()
    for _ in range(2000):
        topics.step(0.3, np.array([1]), 1.0, np.full((1, 3), 7.0))
        expected *= 0.7
        expected += 0.3 * other.eta
        expected[1] += 0.3 * 7.0
    assert topics.scale >= 1e-100
    np.testing.assert_allclose(topics.parameters(), expected, rtol=1e-10)
    np.testing.assert_allclose(topics.totals, expected.sum(axis=0), rtol=1e-10)
    topics.grow(6)
    assert topics.parameters()[5] == pytest.approx(other.eta)


# ---- documents -----------------------------------------------------------------------------------------------------


def test_words_can_come_at_any_time() -> None:
    """A word that comes late has the parameters it would have had from the start, had it never been seen."""
    early, late = make(), make()
    wide = np.zeros((24, 13))
    wide[:, :12] = COUNTS
    early.learn(sparse.csr_matrix(wide))
    late.learn(sparse.csr_matrix(COUNTS))
    late.state.grow(13)
    expected = early.state.topics.parameters()[12] - early.eta
    np.testing.assert_allclose(late.state.topics.parameters()[12] - late.eta, expected, rtol=1e-9)


def test_words_that_come_late_are_learned() -> None:
    wide = np.hstack((COUNTS[:6], COUNTS[6:12, :3]))
    learner = make(columns="grow", documents=30)
    twin = make_twin(learner)
    for batch in (COUNTS[:6], COUNTS[6:12]):
        learner.learn(sparse.csr_matrix(batch))
        twin.learn(batch)
    grown = learner.state.copy()
    grown.grow(15)
    twin.lam = np.hstack((twin.lam, grown.topics.parameters()[12:].T))
    twin.learn(wide)
    learner.learn(sparse.csr_matrix(wide))
    assert (learner.state.features, learner.state.documents) == (15, 18)
    np.testing.assert_allclose(learner.state.topics.parameters().T, twin.lam, rtol=1e-9)


def test_documents_may_be_texts_lists_dicts_or_rows() -> None:
    texts = ["Cats chase mice, cats sleep", "stocks fell", "mice sleep a lot", "stocks rose and stocks fell"] * 3
    lists = [[word.strip(",") for word in text.lower().split() if len(word) > 1] for text in texts]
    dicts = [{word: words.count(word) for word in dict.fromkeys(words)} for words in lists]
    learners = [make(batch=4).learn(documents) for documents in (texts, lists, dicts)]
    assert all(one.topics(4) == learners[0].topics(4) for one in learners)
    assert learners[0].transform_one("stocks fell").tolist() == learners[1].transform([["stocks", "fell"]])[0].tolist()
    names = learners[0].feature_names
    rows = np.array([[one.get(name, 0) for name in names] for one in dicts])
    assert make(batch=4).learn(sparse.csr_matrix(rows)).rounds == 12


def test_words_are_those_of_the_text_reader() -> None:
    from noregret.decomposition.documents import count_words
    from noregret.streams.words import WordCounter

    texts = ["Ärger über A1, x y_z 3.14 co-op don't", "", "ТЕКСТ  12 a bb BB", "naïve café—dash"]
    counts = WordCounter().count(texts)
    for row, text in enumerate(texts):
        part = slice(counts.offsets[row], counts.offsets[row + 1])
        found = {
            counts.new_words[number]: n for number, n in zip(counts.numbers[part], counts.counts[part], strict=True)
        }
        assert found == count_words(text, row)


def test_an_empty_document_has_the_shares_of_the_prior_and_teaches_nothing() -> None:
    learner = make(batch=2).learn(COUNTS)
    assert learner.state.documents == 24
    assert learner.count_numbers(7) == 21
    assert learner.transform([np.zeros(12)]).tolist() == [[1 / 3] * 3]
    assert learner.evaluate(np.zeros((1, 12))).losses.tolist() == [0.0]
    assert learner.transform_one({}).tolist() == [1 / 3] * 3 if learner.encoder.names.mode == "names" else True
    one, other = make(batch=2, documents=100), make(batch=1, documents=50)
    for counts in COUNTS:  # half of each mini-batch is empty: as if the other half were alone, at half the size
        one.learn([counts, np.zeros(12)])
        other.learn([counts])
    np.testing.assert_allclose(one.components, other.components, rtol=1e-12)


def test_words_that_are_not_known_count_in_the_loss_before_they_are_learned_and_nowhere_else() -> None:
    learner: Any = nr.make("lda", k=2, batch=2, native=False)
    losses = learner.play([{"a": 1, "b": 1}, {"c": 2}]).losses
    assert losses == pytest.approx([2 * np.log(2), 2 * np.log(3)])  # nothing is learned yet: all words so far are alike
    topics = learner.state.topics.copy()
    mass = topics.totals + 2 * topics.eta
    gamma = learner.transform([{"a": 1}])[0] * (1 + 2 * learner.alpha)
    log_theta = psi(gamma) - psi(gamma.sum())
    before = learner.evaluate([{"a": 1}]).losses[0]
    a = topics.parameters()[0]
    known = np.log(np.exp(log_theta) @ (a / topics.totals)) - np.log(np.exp(log_theta) @ (a / mass))
    loss = learner.play([{"a": 1, "new": 1, "newer": 2}]).losses[0]
    assert loss == pytest.approx(before + known - 3 * (gamma / gamma.sum()) @ np.log(topics.eta / mass))


@pytest.mark.parametrize(("document", "problem"), [
    ({"cat": -1}, "the count of 'cat' is -1"), ({"cat": 1, "dog": 0.5}, "the count of 'dog' is 0.5"),
    (3, "a document is a text"), (["a", 2], "a document is a text"), ({"cat": float("nan")}, "nan"),
])  # fmt: skip
def test_documents_that_are_no_counts_are_refused_by_row_and_word(document: Any, problem: str) -> None:
    learner: Any = nr.make("lda", k=2, batch=2, native=False).learn(["the cat sat", "a dog barked", "the cat"])
    before, shown = learner.dump()[0], learner.topics(3)
    with pytest.raises(nr.BadValue, match=problem) as caught:
        learner.learn(["cat dog bird", document])
    assert "row 1" in str(caught.value)
    assert learner.dump()[0] == before
    assert learner.topics(3) == shown
    assert "bird" not in learner.feature_names


def test_columns_of_texts_are_documents_and_single_ones_are_refused() -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    texts = ["the cat sat", "a dog barked", ""]
    plain: Any = nr.make("lda", k=2, native=False).learn(texts)
    for given in (np.array(texts), np.array(texts, object), pandas.Series(texts), polars.Series(texts)):
        learner: Any = nr.make("lda", k=2, native=False).learn(given)
        assert learner.components.tolist() == plain.components.tolist()
        assert learner.transform(given).shape == (3, 2)
    with pytest.raises(nr.BadValue, match="row 1: a document is a text"):
        learner.learn(pandas.Series(["cat", None]))
    for single in ("the cat sat", {"cat": 1}, b"cat"):
        with pytest.raises(nr.BadValue, match="documents come in a list"):
            learner.learn(single)
    for words in (1.5, -1, "3"):
        with pytest.raises(nr.BadValue, match="n_words must be a whole number of at least 0"):
            learner.topics(words)


def test_parameters_are_whole_numbers_or_in_their_limits() -> None:
    for options in ({"k": 2.5}, {"iterations": 1.5}, {"k": 0}, {"scale": True}, {"batch": 1.5}, {"alpha": 2e6}):
        with pytest.raises(nr.BadValue):
            make(**options)
    assert "alpha must be 0, or at least 1e-06, not 1e-07" in refusal(lambda: make(alpha=1e-7))
    assert "eta must be 0, or at least 0.002, not 0.001" in refusal(lambda: make(eta=0.001))


def test_priors_are_1_over_k_unless_they_are_given() -> None:
    assert (make(k=4).alpha, make(k=4).eta) == (0.25, 0.25)
    assert (make(k=4, alpha=0.7).alpha, make(k=4, eta=0.6).eta) == (0.7, 0.6)
    assert (make(alpha=1e-6).alpha, make(eta=0.002).eta) == (1e-6, 0.002)
    assert (make(k=1000).alpha, make(k=1000).eta) == (0.001, 0.002)  # a smaller eta is too small for a float


@pytest.mark.parametrize("options", [{"alpha": 1e-6}, {"alpha": 1e6}, {"eta": 0.002}, {"eta": 1e6}], ids=str)
def test_losses_are_finite_at_the_limits_of_the_priors(options: dict[str, float]) -> None:
    losses = make(batch=2, **options).play(COUNTS).losses
    assert np.isfinite(losses).all()
    assert (losses >= 0.0).all()


# ---- results -------------------------------------------------------------------------------------------------------


def test_topics_are_found_again() -> None:
    """Documents from two topics without common words: the topics are separated."""
    rng = np.random.default_rng(4)
    parts = np.array([rng.multinomial(20, np.full(10, 0.1)) for _ in range(200)])
    rows = np.zeros((200, 20))
    for number, counts in enumerate(parts):
        rows[number, 10 * (number % 2) : 10 * (number % 2) + 10] = counts
    learner: Any = nr.make("lda", k=2, batch=20, tau0=1.0, native=False).learn(rows)
    sides = sorted(sum(p for _, p in topic.words if _ < 10) for topic in learner.topics(10))
    assert sides[0] < 0.05 < 0.95 < sides[1]
    assert learner.topic_shares.sum() == pytest.approx(1.0)
    assert sum(topic.share for topic in learner.topics()) == pytest.approx(1.0)
    assert learner.perplexity(rows) == pytest.approx(10.0, rel=0.25)
    assert len(learner.describe_results()) == 2


@pytest.mark.parametrize("rows", [2, 7, 17])
def test_documents_that_wait_count_for_their_share_of_a_mini_batch(rows: int) -> None:
    """Of the first mini-batch, as if it were full."""
    learner = make(batch=6)
    twin = make_twin(learner)
    learner.learn(COUNTS[:rows])
    for start in range(0, rows, 6):
        batch = COUNTS[start : min(start + 6, rows)]
        twin.learn(batch, share=len(batch) / 6 if start else 1.0)
    assert learner.latest.documents == rows
    np.testing.assert_allclose(learner.latest.topics.parameters().T, twin.lam, rtol=1e-9)


@pytest.mark.compiles
def test_compiled_is_interpreted_bit_for_bit() -> None:
    rows = sparse.csr_matrix(COUNTS)
    one, other = make(k=6, native=True), make(k=6)
    assert one.play(rows).losses.tolist() == other.play(rows).losses.tolist()
    assert one.components.tolist() == other.components.tolist()
