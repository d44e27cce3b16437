"""The first rounds of a pool, before all classes are known: nobody predicts a class that comes later."""

from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.adapters.pool_votes import Appeared, ClassVotes
from noregret.learner.model_file import pack

RNG = np.random.default_rng(5)
X = [{f"f{j}": value for j, value in enumerate(row)} for row in np.round(RNG.normal(size=(12, 3)), 2).tolist()]
STREAMS: dict[str, list[Any]] = {
    "zeros first": [0, 0, 0, 1, 0, 1, 1, 0, 0, 1, 1, 0],
    "ones first": [1, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0],
    "one class": [1] * 12,
    "signs": [-1, -1, 1, 1, -1, 1, -1, 1, 1, -1, 1, -1],
    "texts": ["a", "a", "b", "a", "b", "b", "a", "a", "a", "b", "b", "a"],
    "three classes": ["a", "a", "b", "a", "c", "b", "a", "c", "a", "b", "c", "a"],
    "numbers": [1, 1, 1, 3, 0, 2, 3, 1, 0, 2, 2, 1],
    "truth values": [True, True, False, True, False, False] * 2,
    "mixed": [1, 1, "x", 1, "x", "x", 2, 1, 2, "x", 1, 2],
}
POOLS: dict[str, dict[str, Any]] = {
    "rules": {"pool": ["pa1", "arow", "perceptron"]},
    "tied": {"pool": ["arow", "mlp"]},
    "many": {"pool": ["pa1", "arow"], "task": "multiclass"},
    "sleeping": {"pool": ["pa1", "perceptron"], "prune": "yes"},
    "given classes": {"pool": ["pa1", "arow"]},
}


@pytest.mark.parametrize("pool", POOLS)
@pytest.mark.parametrize("stream", STREAMS)
def test_a_transcript_says_what_would_have_been_predicted_before_each_round(stream: str, pool: str) -> None:
    y, options = STREAMS[stream], {**POOLS[pool], "native": False}
    if pool == "many" and stream == "truth values":
        return
    if pool == "given classes":
        options["classes"] = list(dict.fromkeys([*y, 0, 1]))
    whole, halves, rows, singles = (nr.make("auto", **options) for _ in range(4))
    played = whole.play(X, y)
    parts = [halves.play(X[part], y[part]) for part in (slice(0, 2), slice(2, 12))]
    before, one_by_one = [], []
    for x, label in zip(X, y, strict=True):
        before.append(rows.predict_one(x))
        one_by_one.append(rows.play([x], [label]))
        singles.learn_one(x, label)
    predictions = played.predictions.tolist()
    known = pool == "given classes"  # then the first score, 0, is that of a class
    assert predictions[known:] == before[known:]
    assert (predictions[0] is None) == (not known)
    for some in (parts, one_by_one):
        assert [label for one in some for label in one.predictions.tolist()] == predictions
        assert [wrong for one in some for wrong in one.mistakes.tolist()] == played.mistakes.tolist()
    assert played.mistakes.tolist() == [said != label for said, label in zip(predictions, y, strict=True)]
    assert pack(whole) == pack(halves) == pack(rows) == pack(singles)


@pytest.mark.parametrize("task", ["binary", "multiclass"])
def test_no_rounds_have_no_predictions(task: str) -> None:
    """Neither before a class is known nor after; the learner stays as it is."""
    learner = nr.make("auto", pool=["pa1", "arow"], task=task, native=False)
    for _ in range(2):
        before = pack(learner)
        assert learner.play([], []).predictions.tolist() == []
        assert pack(learner) == before
        learner.play(X[:3], [1, 1, 0])


@pytest.mark.parametrize(("binary", "named"), [(True, ["a", "b", "c"]), (False, ["a", "a", "c"])])
def test_who_wins_a_tie_of_two_known_classes_depends_on_whether_there_were_only_two(
    binary: bool, named: list[str]
) -> None:
    """Of two classes it is the positive one, of many the one seen first; then a third class appears."""
    votes = ClassVotes(nr.make("pa1", task="multiclass", classes=["a", "b", "c"], native=False).model)
    said, shares = [np.array(["a", "a", "c"]), np.array(["a", "b", "c"])], np.full((3, 2), 0.5)
    appeared = Appeared.of(np.array([1, 2, 0]), 1, binary)
    assert appeared.known.tolist() == [1, 2, 3, 3]
    assert votes.name_rounds(votes.combine(said, shares), said, shares, appeared).tolist() == named
