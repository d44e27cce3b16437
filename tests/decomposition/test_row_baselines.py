"""Baselines without labels: one distribution over words, and the mean of all rows."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.learner.model_file import pack, unpack
from tests.conformance.protocol import CHECKS, Case, check_save_and_go_on
from tests.naive.row_baselines import NaiveUnigram, naive_mean_losses
from tests.support import by_name, refusal

RNG = np.random.default_rng(5)
X = RNG.normal(size=(24, 4)) + np.array([1.0, -2.0, 0.0, 5.0])
ROWS = [{name: value for at, (name, value) in enumerate(by_name(row).items()) if (number + at) % 4} for number, row
        in enumerate(X)]  # fmt: skip
COUNTS = RNG.poisson(0.8, (24, 5)).astype(float)
DOCUMENTS = [{name: count for name, count in by_name(row).items() if count} for row in COUNTS]
TEXTS = [" ".join(name * 2 for name, count in row.items() for _ in range(int(count))) for row in DOCUMENTS]
NONE, LABELS = [None] * 24, [number % 3 for number in range(24)]
BAD_ROW, BAD_DICT = np.full(4, np.nan), {"f1": float("inf")}


def make(name: str, **options: Any) -> Any:
    return nr.make(name, native=False, **options)


CASES = {
    "mean of columns": Case(lambda: make("mean_row"), X, NONE, BAD_ROW),
    "mean of dicts": Case(lambda: make("mean_row", batch=5, scale=True), ROWS, LABELS, BAD_DICT),
    "words of columns": Case(lambda: make("unigram"), COUNTS, NONE, np.full(5, -1.0)),
    "words of dicts": Case(lambda: make("unigram", batch=5, eta=0.5), DOCUMENTS, LABELS, {"f1": 0.5}),
    "words of texts": Case(lambda: make("unigram", least_documents=2.0, most_share=0.9), TEXTS, NONE, 7),
}


@pytest.mark.thinned(6)
@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_baselines_follow_the_protocol(case: Case, check: Callable[[Case], None]) -> None:
    check(case)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_baselines_saved_and_loaded_go_on(case: Case, tmp_path: Path) -> None:
    check_save_and_go_on(case, tmp_path)


# ---- the mean of all rows --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("batch", [1, 5])
def test_the_mean_learns_as_its_twin_and_as_a_single_cluster(batch: int) -> None:
    losses = make("mean_row", batch=batch).play(X).losses
    np.testing.assert_allclose(losses, naive_mean_losses(X, batch), rtol=1e-10)
    single = make("kmeans", k=1, batch=batch, start=1).play(X).losses
    np.testing.assert_allclose(losses[8:], single[8:], rtol=1e-10)


def test_the_mean_is_the_point_with_the_smallest_sum_of_squares() -> None:
    learner = make("mean_row").learn(X)
    least = learner.score(X).losses.sum()
    for step in np.vstack((np.eye(4), -np.eye(4))):
        assert ((X - learner.mean - 1e-3 * step) ** 2).sum() > least
    np.testing.assert_allclose(learner.mean, X.mean(axis=0))


def test_losses_before_learning_make_the_variance() -> None:
    """Welford 1962: row t adds (1 - 1/t) |x - mean before it|^2 to the sum of squares about the mean."""
    losses = make("mean_row").play(X).losses
    shares = 1.0 - 1.0 / np.arange(1.0, 25.0)
    assert shares @ losses == pytest.approx(((X - X.mean(axis=0)) ** 2).sum())


def test_the_mean_is_told_in_words() -> None:
    learner = make("mean_row").learn([{"a": 3.0, "b": 4.0}])
    assert learner.components.tolist() == [[3.0, 4.0]]
    assert learner.predict([{"a": 3.0}]).tolist() == [4.0]
    assert learner.describe_results()[1] == f"{1:>4}{5:>16}  b +4.000, a +3.000"


def test_features_that_come_later_were_zero_in_all_rows_of_the_mean() -> None:
    learner = make("mean_row").learn([{"a": 3.0, "b": 3.0}, {"a": 6.0}, {"c": 6.0, "b": 3.0}])
    assert learner.mean.tolist() == [3.0, 2.0, 2.0]
    assert learner.learn([{"d": 8.0}]).mean.tolist() == [2.25, 1.5, 1.5, 2.0]


# ---- one distribution over words -------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"eta": 2.0}, {"batch": 5}], ids=str)
@pytest.mark.parametrize("native", [False, True], ids=["plain", "compiled"])
def test_the_unigram_learns_as_its_twin(options: dict[str, Any], native: bool) -> None:
    learner: Any = nr.make("unigram", native=native, **options)
    twin, losses = NaiveUnigram(learner.eta), learner.play(DOCUMENTS).losses
    for start in range(0, 24, learner.batch):
        batch = DOCUMENTS[start : start + learner.batch]
        np.testing.assert_allclose(losses[start : start + learner.batch], list(map(twin.loss, batch)), atol=1e-9)
        twin.learn(batch)
    np.testing.assert_allclose(learner.score(DOCUMENTS).losses, list(map(twin.loss, DOCUMENTS)))


def test_the_probability_of_a_word_is_its_smoothed_share() -> None:
    learner = make("unigram", eta=0.5).learn([{"a": 3, "b": 1}, {"c": 2}])
    assert learner.components.tolist() == [[3.5 / 7.5, 1.5 / 7.5, 2.5 / 7.5]]
    (topic,) = learner.topics(2)
    assert topic.share == 1.0
    assert topic.words == [("a", 3.5 / 7.5), ("c", 2.5 / 7.5)]
    assert learner.transform([{"a": 1}, {}]).tolist() == [[1.0], [1.0]]


def test_its_losses_are_those_of_a_topic_model_with_this_topic_alone() -> None:
    """So losses of the same words can be compared with those of all topic models."""
    learner, other = make("unigram", eta=0.3).learn(COUNTS), make("lda", k=1, eta=0.3, batch=24).learn(COUNTS)
    other.state.topics.room, other.state.topics.scale = learner.state.topics.weights, 1.0
    other.state.topics.sums = learner.state.topics.sums
    more = [*COUNTS, np.full(5, 3.0)]
    np.testing.assert_allclose(other.score(more).losses, learner.score(more).losses, rtol=1e-9)


@pytest.mark.parametrize("kind", ["constant", "uniform", "in turn", "late"])
def test_with_eta_one_half_the_regret_is_that_of_krichevsky_and_trofimov(kind: str) -> None:
    """Documents of one word: loss <= that of the best distribution + (m - 1) / 2 ln n + ln m, for every sequence."""
    words, rounds = 4, 200
    streams = {
        "constant": [0] * rounds,
        "uniform": np.random.default_rng(2).integers(words, size=rounds).tolist(),
        "in turn": [number % words for number in range(rounds)],
        "late": [0] * (rounds - 5) + [1, 2, 3, 1, 2],
    }
    learner = make("unigram", eta=0.5).learn(np.zeros((1, words)))  # which knows all columns
    X = np.eye(words)[streams[kind]]
    counts = X.sum(axis=0)
    best = -sum(count * math.log(count / rounds) for count in counts.tolist() if count)
    regret = learner.play(X).losses.sum() - best
    assert 0.0 <= regret <= (words - 1) / 2 * math.log(rounds) + math.log(words)


def test_topics_are_raced_with_the_baseline() -> None:
    random = np.random.default_rng(4)
    both = [
        {f"{kind}{number}": 1.0 for number in random.integers(9, size=12)} for kind in ("a", "b") for _ in range(40)
    ]
    texts = [both[at] for at in random.permutation(80)]
    race = nr.race((texts, None), ["unigram", "lda(k=2, batch=4, tau0=1)"])
    assert race.best.name.startswith("lda")


def test_options_and_files_that_make_no_sense_are_refused() -> None:
    assert "eta" in refusal(lambda: make("unigram", eta=0.0))
    learner = make("unigram").learn(COUNTS)
    header, arrays = learner.dump()
    for name, wrong in (("start", 1.0), ("scale", 0.5), ("documents", 25)):
        changed = {**header, "state": {**header["state"], name: wrong}}
        with pytest.raises(nr.Error, match="corrupt"):
            type(learner).restore(changed, arrays, lambda card: card)
    assert pack(unpack(pack(learner), "m.nr")) == pack(learner)


@pytest.mark.parametrize("name", ["mean_row", "unigram", "lda", "hdp"])
def test_nothing_is_described_before_anything_was_learned(name: str) -> None:
    """As `noregret show` does with a model that was saved before its first row."""
    assert make(name).describe_results() == []
