"""CRFs: marginals and log Z against all sequences, gradients against finite differences, one token is softmax."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.special import logsumexp

import noregret as nr
from noregret.tasks import crf as crf_task
from noregret.tasks.decoders import DECODERS, forward_backward
from noregret.tasks.decoders.layout import KNOWN, LOSS, TRUTH
from tests.naive.tagger import count
from tests.structured.sentences import tagged_sentences
from tests.structured.test_sequence_search import ORDERS, group, score
from tests.support import refusal

FEW = ["word", "suffix1", "word[-1]", "bias"]
WORDS, Y = tagged_sentences(40)
SIZES = list(product((1, 2, 4), (1, 2, 3)))


def crf(rule: str = "ogd", order: int = 1, **options: Any) -> Any:
    learner = nr.make(rule, **{"loss": "crf", "native": False, **options})
    return nr.make("tagger", learner=learner, order=order, templates=FEW)


def by_enumeration(name: str, f: Any, y: Any, length: int, classes: int, known: int) -> tuple[float, Any]:
    """log Z, and the expected counts of all parts, from every sequence."""
    sequences = list(product(range(known), repeat=length))
    scores = np.array([score(name, f, length, tags, classes) for tags in sequences])
    log_z = float(logsumexp(scores))
    expected = np.zeros(DECODERS[name].rows(length, classes) * classes)
    truth = y[2 : 2 + length, TRUTH].copy()
    for tags, value in zip(sequences, scores, strict=True):
        y[2 : 2 + length, TRUTH] = tags
        DECODERS[name].tally(y, expected, 2, TRUTH, float(np.exp(value - log_z)))
    y[2 : 2 + length, TRUTH] = truth
    return log_z, expected


@pytest.mark.parametrize("scale", [1.0, 30.0, 2000.0])
@pytest.mark.parametrize("name", ORDERS)
def test_marginals_and_log_z_are_those_of_all_sequences(name: str, scale: float) -> None:
    """With large scores exponentials underflow, and sums are computed term by term."""
    decoder = DECODERS[name]
    for seed, (length, classes) in product(range(4), SIZES):
        known = max(1, classes - seed % 2)
        f, y = group(name, length, classes, known, seed)
        f *= scale
        log_z, expected = by_enumeration(name, f, y, length, classes, known)
        rows = decoder.rows(length, classes)
        work, counts = np.full(decoder.scratch(rows, length, classes), np.nan), np.zeros(rows * classes)
        assert decoder.expect is not None
        assert decoder.expect(f, y, work, counts, 2, known) == pytest.approx(log_z, rel=1e-12, abs=1e-10)
        np.testing.assert_allclose(-counts, expected, atol=1e-9 * max(1.0, scale))
        np.testing.assert_allclose(counts[: length * classes].reshape(length, -1).sum(axis=1), -1.0, rtol=1e-9)


@pytest.mark.parametrize("name", ORDERS)
def test_sums_lost_to_underflow_are_computed_again(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    whole = forward_backward.log_sum

    def counted(*given: Any) -> Any:
        calls.append(1)
        return whole(*given)

    monkeypatch.setattr(forward_backward, "log_sum", counted)
    test_marginals_and_log_z_are_those_of_all_sequences(name, 2000.0)
    large = len(calls)
    test_marginals_and_log_z_are_those_of_all_sequences(name, 1.0)
    assert large > len(calls) - large == 4 * len(SIZES)


def test_a_sum_of_numbers_with_few_digits_left_is_computed_again() -> None:
    """The exponential of -735 is above 0, but has only a few bits."""
    f, work = np.array([[0.0, -735.0], [0.0, -735.0]]), np.full(20, np.nan)
    top = forward_backward.fill_factors(f, work, 0, 2, 2)
    work[4] = 0.5
    forward_backward.sum_before(f, work, (4, 1, 1, 1, 1, 0, 10), top, 6, 2)
    assert work[6:8].tolist() == [0.5, -734.5]


@pytest.mark.parametrize("name", ORDERS)
def test_expected_counts_are_the_slopes_of_log_z(name: str) -> None:
    decoder = DECODERS[name]
    for length, classes in SIZES:
        f, y = group(name, length, classes, classes, 0)
        rows = decoder.rows(length, classes)

        def log_z(scores: Any, y: Any = y, shape: Any = f.shape, length: int = length, rows: int = rows) -> float:
            work, counts = np.zeros(decoder.scratch(rows, length, shape[1])), np.zeros(rows * shape[1])
            assert decoder.expect is not None
            return float(decoder.expect(scores.reshape(shape), y, work, counts, 2, shape[1]))

        work, counts = np.zeros(decoder.scratch(rows, length, classes)), np.zeros(rows * classes)
        assert decoder.expect is not None
        decoder.expect(f, y, work, counts, 2, classes)
        slopes = approx_fprime(f.ravel(), log_z, 1e-6).reshape(f.shape)
        np.testing.assert_allclose(slopes[2 : 2 + rows].ravel(), -counts, atol=1e-5)


@pytest.mark.parametrize("asked", [True, False])
@pytest.mark.parametrize("name", ORDERS)
def test_scores_without_a_truth_become_marginals_where_these_are_asked_for(
    name: str, asked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoder = DECODERS[name]
    for part in ("tally", "expect"):
        monkeypatch.setattr(crf_task, part, getattr(decoder, part))
    f, y = group(name, 3, 3, 3, 0)
    rows, before = decoder.rows(3, 3), f.copy()
    expected = by_enumeration(name, f, y, 3, 3, 3)[1].reshape(rows, 3)
    y[2, [TRUTH, LOSS, KNOWN]] = -1.0, float(asked), 3.0
    work = np.full(rows * 3 + decoder.scratch(rows, 3, 3), np.nan)
    assert crf_task.minus_log_p(f, y, work, 2) == 0.0
    np.testing.assert_allclose(f[2 : 2 + rows], expected if asked else before[2 : 2 + rows], atol=1e-12)
    assert f[:2].tolist() == before[:2].tolist()


# ---- learners --------------------------------------------------------------------------------------------------------


def test_a_step_is_the_rate_times_the_features_observed_minus_expected() -> None:
    """By enumeration of all sequences of tags, with the weights before each sentence."""
    learner = crf(eta0=0.2, schedule="constant")
    learner.learn(WORDS[:8], Y[:8])
    for sentence, truth in [(one, tags) for one, tags in zip(WORDS[8:], Y[8:], strict=True) if len(one) <= 5][:6]:
        before, tags = weights(learner), learner.classes
        rows = [dict.fromkeys(row, 1.0) for row in token_names(learner, sentence)]
        sequences = list(product(tags, repeat=len(sentence)))
        counts: list[dict[Any, float]] = []
        for one in sequences:
            counts.append({})
            count(rows, one, 1.0, counts[-1])
        value = np.array([sum(before[tag].get(name, 0.0) * n for (name, tag), n in one.items()) for one in counts])
        p = np.exp(value - logsumexp(value))
        z = dict(counts[sequences.index(tuple(truth))])
        loss = -float(np.log(p[sequences.index(tuple(truth))]))
        for share, parts in zip(p, counts, strict=True):
            for key, n in parts.items():
                z[key] = z.get(key, 0.0) - share * n
        told = learner.play([sentence], [truth])
        assert told.losses[0] == pytest.approx(loss, rel=1e-9)
        after = weights(learner)
        for (name, tag), amount in z.items():
            moved = after[tag].get(name, 0.0) - before[tag].get(name, 0.0)
            assert moved == pytest.approx(0.2 * amount, abs=1e-9)


def test_averaged_weights_are_the_mean_of_those_without_averages() -> None:
    """Those at the start, which are zero, included: averages predict, but steps go by the weights of now."""
    plain, averaged, size = crf(), crf(average=True), 6
    averaged.learn(WORDS[:size], Y[:size])
    sums: dict[Any, float] = {}
    for sentence, truth in zip(WORDS[:size], Y[:size], strict=True):
        plain.learn([sentence], [truth])
        for tag, own in weights(plain).items():
            for name, weight in own.items():
                sums[tag, name] = sums.get((tag, name), 0.0) + weight / (size + 1)
    found = {(tag, name): weight for tag, own in weights(averaged).items() for name, weight in own.items()}
    assert {key for key, weight in sums.items() if abs(weight) > 1e-12} <= set(found)
    assert found == pytest.approx({key: sums[key] for key in found}, abs=1e-12)


def test_before_anything_was_learned_there_are_no_probabilities() -> None:
    learner: Any = nr.make("crf")
    assert learner.predict_proba_one(WORDS[0]) == []
    with pytest.raises(nr.NotLearned, match="crf has not seen an output yet"):
        learner.predict_proba(WORDS)


def weights(learner: Any) -> dict[str, dict[str, float]]:
    """Weights by tag, then by feature; contexts by the names of the twin."""
    rows = learner.learner.weights.items()
    return {tag: {name.replace("str:", ""): value for name, value in row.items()} for tag, row in rows}


def token_names(learner: Any, sentence: list[str]) -> list[list[str]]:
    """The names of the features of every token."""
    parts = learner.encode([sentence]).parts
    ends = zip(parts.indptr[:-1], parts.indptr[1:], strict=True)
    return [[parts.names.order[at] for at in parts.idx[start:stop]] for start, stop in ends]


@pytest.mark.parametrize("name", ["ogd", "adagrad"])
def test_a_sentence_of_one_token_is_softmax(name: str) -> None:
    rng = np.random.default_rng(0)
    labels = [str(label) for label in rng.integers(4, size=80)]
    rows = [{name: float(value) for name, value in zip("abc", rng.normal(size=3), strict=True)} for _ in labels]
    rate = {"eta0": 0.3} if name == "ogd" else {"eta": 0.3}
    inner = nr.make(name, loss="crf", native=False, **rate)
    one: Any = nr.make("tagger", learner=inner, templates=["first"])
    told = one.play([[row] for row in rows], [[label] for label in labels])
    many = nr.make(name, loss="softmax", native=False, **rate)
    full = [{**row, "first": 1.0, "after=<start>": 1.0} for row in rows]
    expected = many.play(full, labels)
    np.testing.assert_allclose(told.losses, expected.losses, rtol=1e-9, atol=1e-12)
    found = np.concatenate(list(one.predict_proba([[row] for row in rows])))
    np.testing.assert_allclose(found, many.predict_proba(full), rtol=1e-9)


@pytest.mark.parametrize("order", [1, 2])
def test_probabilities_of_tags_are_marginals(order: int) -> None:
    learner = crf("adagrad", order).learn(WORDS[:15], Y[:15])
    found = learner.predict_proba(WORDS[:10])
    assert [one.shape for one in found] == [(len(sentence), len(learner.classes)) for sentence in WORDS[:10]]
    for one in found:
        np.testing.assert_allclose(one.sum(axis=1), 1.0, rtol=1e-12)
    single = learner.predict_proba_one(WORDS[0])
    np.testing.assert_allclose([[row[tag] for tag in learner.classes] for row in single], found[0], rtol=1e-12)
    before = learner.predict(WORDS[:10]).tolist()
    learner.predict_proba(WORDS[:10])
    assert learner.predict(WORDS[:10]).tolist() == before


@pytest.mark.parametrize(("rule", "options"), [("ogd", {"average": True}), ("fobos", {}), ("ftrl", {}), ("rda", {})])
def test_rules_play_it_alike_in_both_algebras(rule: str, options: dict[str, Any]) -> None:
    one, other = crf(rule, **options), crf(rule, algebra="reference", **options)
    a, b = one.play(WORDS[:6], Y[:6]), other.play(WORDS[:6], Y[:6])
    np.testing.assert_allclose(a.losses, b.losses, rtol=1e-9)
    assert a.mistakes.tolist() == b.mistakes.tolist()


@pytest.mark.thinned(2)
@pytest.mark.compiles
@pytest.mark.parametrize("order", [1, 2])
def test_compiled_crfs_equal_plain_ones(order: int) -> None:
    plain, fast = crf("adagrad", order), crf("adagrad", order, native=True)
    a, b = plain.play(WORDS, Y), fast.play(WORDS, Y)
    assert a.losses.tolist() == b.losses.tolist()
    assert plain.learner.weights == fast.learner.weights
    np.testing.assert_array_equal(
        np.concatenate(list(plain.predict_proba(WORDS))), np.concatenate(list(fast.predict_proba(WORDS)))
    )


def test_sentences_that_weigh_nothing_have_a_loss_and_teach_nothing() -> None:
    learner = crf("adagrad").learn(WORDS, Y)
    before = learner.learner.weights
    told = learner.play(WORDS[:3], Y[:3], weight=[0.0, 0.0, 0.0])
    assert (told.losses > 0.0).all()
    assert learner.learner.weights == before


def test_the_card_is_a_tagger_with_the_likelihood_of_its_tags() -> None:
    one: Any = nr.make("crf", templates=FEW).learn(WORDS, Y)
    steps = nr.make("adagrad", loss="crf", eta=0.2, delta=0.1)
    other: Any = nr.make("tagger", learner=steps, templates=FEW).learn(WORDS, Y)
    assert one.learner.weights == other.learner.weights
    assert one.card.name == "crf"
    assert (
        np.mean([a == b for x, y in zip(one.predict(WORDS), Y, strict=True) for a, b in zip(x, y, strict=True)]) > 0.9
    )


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: nr.make("tagger", learner="pa1", loss="crf"), "tagger: pa1 has no loss to choose"),
        (lambda: nr.make("crf", learner="arow"), "crf: arow has no loss to choose; use a gradient rule"),
        (lambda: nr.make("crf", learner="adagrad(loss=hinge)"), "its loss is crf, and that of its learner hinge"),
        (lambda: nr.make("tagger", learner="adagrad", loss="crf", margin="unit"), "the crf loss asks for no margin"),
        (lambda: nr.make("tagger", learner="adagrad", loss="crf", competitor="max_loss"), "leave competitor out"),
        (lambda: nr.make("tagger", learner="adagrad", competitor="softmax"), 'is for loss="softmax" and "crf"'),
        (lambda: nr.make("adagrad", task="multiclass", loss="crf"), "the loss 'crf' does not fit multiclass"),
        (lambda: nr.make("tagger", learner="adagrad").learn(WORDS, Y).predict_proba(WORDS), 'only with loss="crf"'),
    ],
)
def test_what_makes_no_sense_with_it_is_refused(make: Any, said: str) -> None:
    assert said in refusal(make)
