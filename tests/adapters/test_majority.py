"""The majority label: the guess of the baseline, round by round, also as an entry of a pool."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.adapters import majority as module
from noregret.data.transcript import Transcript
from noregret.learner.model_file import FORMAT, KEY, digest, pack, unpack
from noregret.metrics.baselines import LabelBaselines
from tests.naive.majority import NaiveMajority
from tests.support import refusal

CLASSES: dict[str, list[Any]] = {
    "signs": [1, -1],
    "words": ["no", "yes", "perhaps"],
    "truth values": [True, False],
    "numbers": list(range(12)),
    "mixed": ["a", 3, "b", 2.0],
}


def labels_of(classes: Sequence[Any], rounds: int = 60, seed: int = 0) -> list[Any]:
    draws = np.random.default_rng(seed).integers(0, len(classes), rounds)
    return [classes[at] for at in draws]


def make(name: str = "majority", **options: Any) -> Any:
    return nr.make(name, **options)


def rows(rounds: int) -> np.ndarray:
    return np.ones((rounds, 2))


def baseline(y: list[Any]) -> float:
    """The mistakes of the majority label as metrics count them."""
    metric, none = LabelBaselines(), np.zeros(len(y), bool)
    truth = np.empty(len(y), object)
    truth[:] = y
    metric.see(None, Transcript(None, None, np.zeros(len(y)), none, none, truth))
    return metric.report()["majority"]


# ---- guesses ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", CLASSES)
def test_guesses_are_those_of_the_twin_and_mistakes_those_of_the_baseline(kind: str, seed: int) -> None:
    y = labels_of(CLASSES[kind], seed=seed)
    learner, twin = make(), NaiveMajority()
    transcript = learner.play(rows(len(y)), y)
    assert transcript.predictions.tolist() == twin.play(y)
    assert learner.mistakes == np.count_nonzero(transcript.mistakes) == transcript.losses.sum() == baseline(y)
    assert learner.predict_one({"a": 1.0}) == twin.guess()
    assert learner.task == ("binary" if len(set(y)) == 2 else "multiclass")


@pytest.mark.parametrize("kind", CLASSES)
def test_classes_that_are_given_do_not_decide_ties(kind: str) -> None:
    for seed in range(6):
        classes, y = CLASSES[kind][:: 1 - seed % 2 * 2], labels_of(CLASSES[kind], 40, seed)
        learner = make(classes=classes)
        assert learner.play(rows(40), y).predictions.tolist() == NaiveMajority().play(y)
        assert learner.classes == classes
        assert learner.mistakes == baseline(y)
    for first, second in ("ab", "ba"):
        learner = make(classes=["a", "b"]).learn(rows(2), [first, second])
        assert learner.predict_one({}) == first


def test_weights_count_and_nothing_depends_on_how_rounds_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    y = labels_of(CLASSES["words"], 80, 3)
    weights = np.random.default_rng(4).choice([0.0, 0.3, 1.0, 2.5], 80)
    learner, twin = make(), NaiveMajority()
    whole = learner.play(rows(80), y, weights)
    assert whole.predictions.tolist() == twin.play(y, weights.tolist())
    assert learner.updates == np.count_nonzero(weights)
    np.testing.assert_allclose(learner.predict_proba(rows(1))[0], twin.shares(learner.classes))
    monkeypatch.setattr(module, "CELLS", 20)
    again = make()
    cut = again.play(rows(80), y, weights)
    assert cut.predictions.tolist() == whole.predictions.tolist()
    assert np.array_equal(cut.scores, whole.scores)
    assert pack(again) == pack(learner)
    assert pack(make().learn(rows(80), y, weights)) == pack(learner)


@pytest.mark.parametrize("seed", range(3))
def test_no_label_would_have_erred_less(seed: int) -> None:
    """The guess is the constant prediction that errs least, by weight, on all rounds so far."""
    rng = np.random.default_rng(seed)
    learner = make()
    y, weights = rng.integers(0, 4, 50), rng.integers(0, 4, 50).astype(float)
    for t in range(50):
        learner.learn_one({"a": 1.0}, int(y[t]), weights[t])
        errors = [float(weights[: t + 1][y[: t + 1] != label].sum()) for label in learner.classes]
        assert errors[learner.classes.index(learner.predict_one({}))] == min(errors)


# ---- scores and probabilities ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", CLASSES)
def test_probabilities_are_smoothed_shares_and_scores_their_logarithms(kind: str) -> None:
    y = labels_of(CLASSES[kind], seed=7)
    learner, twin = make().learn(rows(60), y), NaiveMajority()
    twin.play(y)
    shares, scores = learner.predict_proba(rows(2))[1], learner.scores(rows(2))[1]
    np.testing.assert_allclose(shares, twin.shares(learner.classes))
    assert list(learner.predict_proba_one({"a": None}).values()) == shares.tolist()
    if learner.task == "binary":
        positive = learner.labels.signs(2) > 0.0
        np.testing.assert_allclose(scores, float(np.log(shares[positive] / shares[~positive])[0]), atol=1e-12)
    else:
        np.testing.assert_allclose(scores, np.log(shares))


def test_one_class_is_sure_and_nothing_learned_is_nothing_known() -> None:
    learner = make()
    assert learner.predict_one({}) is None
    assert learner.predict_proba_one({}) == {}
    for ask in (learner.predict, learner.scores, learner.predict_proba):
        with pytest.raises(nr.NotLearned):
            ask(rows(1))
    learner.learn(rows(2), ["a", "a"])
    assert learner.predict_proba_one({}) == {"a": 1.0}
    assert learner.predict(rows(2)).tolist() == ["a", "a"]


def test_rows_are_not_looked_at() -> None:
    learner = make()
    learner.learn(np.full((2, 3), np.nan), ["a", "b"]).learn([{"colour": "red", "size": None}], ["b"])
    learner.learn(["texts", "too"], ["b", "a"])
    assert learner.predict_one({"colour": "blue"}) == "b"
    behind = nr.scale() | make(scale=True, bias=True, bits=8, reads="table", seed=3)
    assert pack(behind.learn(rows(5), ["a", "b", "b", "b", "a"])) == pack(learner)
    assert "has learned already" in refusal(lambda: nr.scale() | behind)


# ---- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "y", "weight", "says"),
    [
        ({}, ["a", None], None, "row 1: a label must be"),
        ({}, ["a", 0.5], None, "row 1: the label 0.5 is not a class"),
        ({}, ["a"], None, "X has 2 rows and y has 1 labels"),
        ({}, None, None, "y must be a list or an array of labels"),
        ({}, ["a", "b"], [1.0, np.nan], "row 1: the weight is nan"),
        ({}, ["a", "b"], 1e308, "sum to more than a float"),
        ({"classes": ["a", "b"]}, ["a", "c"], None, "the label 'c' is not one of the classes"),
    ],
)
def test_bad_rounds_are_refused_and_change_nothing(options: Any, y: Any, weight: Any, says: str) -> None:
    learner = make(**options)
    before = pack(learner)
    assert says in refusal(lambda: learner.play(rows(2), y, weight))
    assert pack(learner) == before


def test_a_third_class_is_refused_where_two_were_asked_for() -> None:
    learner = make(task="binary").learn(rows(2), ["a", "b"])
    before = pack(learner)
    with pytest.raises(nr.BadValue, match="row 1: the binary task has two classes, and 'c' is a third") as caught:
        learner.learn(rows(2), ["a", "c"])
    assert caught.value.row == 1
    assert pack(learner) == before
    assert "'c' is a third" in refusal(lambda: make(task="binary", classes=["a", "b", "c"]))
    assert "query" in refusal(lambda: learner.learn(rows(1), ["a"], query=[1]))
    assert "X must be" in refusal(lambda: learner.predict("abc"))


# ---- merging and files -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", CLASSES)
def test_merged_counts_are_those_of_all_rounds(kind: str) -> None:
    first, second = labels_of(CLASSES[kind], 20, 1), labels_of(CLASSES[kind][::-1], 31, 2)
    one, other = make().learn(rows(20), first), make().learn(rows(31), second)
    states = pack(one), pack(other)
    merged, whole = one.merge(other), make().learn(rows(51), first + second)
    merged.mistakes = whole.mistakes  # guesses were made with fewer rounds
    assert pack(merged) == pack(whole)
    assert (pack(one), pack(other)) == states


def test_learners_that_differ_are_not_merged() -> None:
    plain, signs = make(), make(task="binary")
    assert "same task and classes" in refusal(lambda: plain.merge(make(classes=[0, 1])))
    assert "one of its kind" in refusal(lambda: plain.merge(nr.make("pa1")))
    signs.learn(rows(2), ["a", "b"])
    other = make(task="binary").learn(rows(2), ["a", "c"])
    assert "'c' is a third" in refusal(lambda: signs.merge(other))


HOSTILE: dict[str, tuple[dict[str, Any], Any]] = {
    "an unknown task": ({"task": "regression"}, None),
    "classes that differ": ({"labels": ["a", "a"]}, None),
    "a label that is none": ({"labels": ["a", 0.5]}, None),
    "one class too many": ({"task": "binary", "labels": ["a", "b", "c"], "seen": [0, 1, 2]}, [1.0, 1.0, 1.0]),
    "a count of a label that never came": ({"fixed": True, "seen": [0]}, None),
    "a code beyond the labels": ({"seen": [0, 2]}, None),
    "a code below": ({"seen": [0, -1]}, None),
    "a code twice": ({"seen": [0, 0]}, None),
    "no code": ({"seen": []}, None),
    "another order": ({"seen": [1, 0]}, None),
    "fewer rounds than labels": ({"rounds": 1, "mistakes": 1, "updates": 1}, None),
    "counts without updates": ({"updates": 0}, None),
    "a negative count": ({}, [3.0, -1.0]),
    "no number": ({}, [3.0, np.nan]),
    "an infinite count": ({}, [3.0, np.inf]),
    "whole numbers": ({}, np.array([3, 1])),
    "one count too many": ({}, [3.0, 1.0, 1.0]),
    "a table": ({}, [[3.0, 1.0]]),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_files_are_refused(kind: str) -> None:
    from safetensors.numpy import save

    header, arrays = make().learn(rows(4), ["a", "a", "b", "a"]).dump()
    changes, counts = HOSTILE[kind]
    header = json.loads(json.dumps({"format": FORMAT, "kind": "majority", **header, **changes}))
    arrays = arrays if counts is None else {"counts": np.asarray(counts)}
    text = json.dumps(header)
    content = save(arrays, metadata={KEY: text, "sha256": digest(text, arrays)})
    assert "corrupt model file" in refusal(lambda: unpack(content, "model.nr"), nr.Error)


def test_classes_that_never_came_have_no_count_in_files(tmp_path: Path) -> None:
    learner = make(classes=["a", "b", "c"]).learn(rows(3), ["c", "b", "c"])
    learner.save(tmp_path / "m.nr")
    again = nr.load(tmp_path / "m.nr")
    assert again.predict_one({}) == "c"
    assert again.classes == ["a", "b", "c"]
    again.learn(rows(1), ["b"])
    assert again.predict_one({}) == "c"  # a tie: it came first


# ---- in a pool -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("task", [None, "multiclass"])
def test_a_pool_with_it_is_never_much_worse_than_guessing(task: str | None) -> None:
    """Rare positives that rows say nothing of: the perceptron errs about twice as often as the guess."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1000, 5)), np.where(rng.random(1000) < 0.05, 1, 0).tolist()
    options: dict[str, Any] = {} if task is None else {"task": task, "classes": [0, 1]}
    alone = nr.make("perceptron", native=False, **options).learn(X, y)
    guess = make().learn(X, y)
    pool = make("auto", pool=["perceptron", "majority"], native=False, **options)
    transcript = pool.play(X, y)
    report = pool.report()
    assert {entry.name: entry.loss for entry in report.entries} == {
        "perceptron": alone.mistakes,
        "majority": guess.mistakes,
    }
    assert transcript.losses.sum() == pytest.approx(report.loss)
    assert report.best == "majority"
    assert 0.0 <= report.regret <= report.bound
    assert alone.mistakes > 1.6 * guess.mistakes
    assert pool.mistakes <= guess.mistakes + 5
    shares = pool.predict_proba(X[:3])
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert shares[:, 0].min() > 0.8


def test_pools_with_it_grow_and_merge(tmp_path: Path) -> None:
    def pool() -> Any:
        return make("auto", pool=["perceptron", "majority"], native=False)

    y = labels_of(CLASSES["words"], 60)
    X = np.random.default_rng(1).normal(size=(60, 3))
    whole, half, other = pool().learn(X, y), pool().learn(X[:30], y[:30]), pool().learn(X[30:], y[30:])
    assert whole.task == "multiclass"
    merged = half.merge(other)
    assert merged["majority"].predict_one({}) == whole["majority"].predict_one({})
    half.save(tmp_path / "pool.nr")
    assert pack(nr.load(tmp_path / "pool.nr").learn(X[30:], y[30:])) == pack(whole)
