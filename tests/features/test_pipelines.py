"""Transforms put before learners: missing values, ways to ask, what is refused, and all that a learner can do."""

import math
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import noregret as nr
from noregret.data.blocks import Rows, SparseBlock
from noregret.learner.model_file import pack
from tests.features.passing import PIPELINES, ROWS, after, stream, table, y

# ---- missing values ----------------------------------------------------------------------------------------------


def test_what_is_missing_is_refused_unless_somebody_says_what_it_means() -> None:
    plain = nr.make("pa1")
    gaps: list[Any] = [{"a": math.nan}, {"a": None}, [1.0, math.nan], [1.0, None]]
    for row in gaps:
        with pytest.raises(nr.BadValue):
            plain.learn_one(row, 1)
    for policy in ("zero", "mean", "indicator"):
        unusable: list[Any] = [{"a": math.inf}, [1.0, -math.inf], {"a": "x"}, [[1.0], None], [1.0, "x"]]
        for row in unusable:
            with pytest.raises(nr.BadValue):
                nr.make("pa1", transforms=[nr.missing(policy)]).learn_one(row, 1)
    with pytest.raises(nr.BadValue, match=r"row 1, feature 'b': the value is inf"):
        (nr.missing() | plain).learn([{"a": None}, {"b": math.inf}], [1, -1])
    with pytest.raises(nr.BadValue, match=r"row 1, feature 0: the value is -inf"):
        (nr.missing() | plain).learn(np.array([[np.nan], [-np.inf]]), [1, -1])
    with pytest.raises(nr.BadValue, match=r"row 0, feature 1: the value is inf"):
        (nr.missing() | plain).learn(csr_array(np.array([[np.nan, np.inf]])), [1])


def test_none_and_nan_are_the_same_in_any_kind_of_row() -> None:
    for policy in ("zero", "mean", "indicator"):
        steps = nr.missing(policy)
        lists, arrays = (steps | nr.make("pa1") for _ in range(2))
        for row, label in (([1.0, 2.0], 1), ([None, 3.0], -1), ([4.0, None], 1)):
            lists.learn_one(row, label)
            arrays.learn(np.array([row], float), [label])
        assert pack(lists) == pack(arrays)
        assert lists.predict_one([None, None]) == arrays.predict(np.array([[np.nan, np.nan]]))[0]
        assert set(lists.explain_one([None, 2.0])) == {0, 1}
        named = (steps | nr.make("pa1")).learn([{"a": None, "b": 1.0}, {"a": 2.0, "b": math.nan}], [1, -1])
        assert named.scores_one({"a": None}) == named.scores_one({"a": math.nan})


def test_unsorted_sparse_rows_with_gaps_are_sorted() -> None:
    X = csr_array((np.array([np.nan, 1.0, 2.0]), np.array([2, 0, 1]), np.array([0, 2, 3])), shape=(2, 3))
    learner = (nr.missing("indicator") | nr.make("perceptron")).learn(X, [1, -1])
    assert learner.features == [0, "2 is missing", 1]


def test_missing_comes_first() -> None:
    with pytest.raises(nr.BadValue, match="missing must be the first"):
        nr.scale() | nr.missing()
    with pytest.raises(nr.BadValue, match="missing must be the first"):
        nr.clip(1.0) | (nr.missing() | nr.make("pa1"))


# ---- putting them together ---------------------------------------------------------------------------------------


def test_scale_is_the_pipeline_of_scale_alone() -> None:
    rows = stream("scale")
    told, piped = nr.make("arow", scale=True).learn(rows, y), (nr.scale() | nr.make("arow")).learn(rows, y)
    assert np.array_equal(told.scores(rows), piped.scores(rows))
    last = nr.make("arow", scale=True, transforms=[nr.log1p()]).learn(rows, y)
    assert np.array_equal(last.scores(rows), (nr.log1p() | nr.scale() | nr.make("arow")).learn(rows, y).scores(rows))
    assert pack(last.copy()) == pack(last)


def test_all_ways_to_ask_are_one() -> None:
    asked: list[Any] = [
        nr.clip(3.0) | nr.log1p(), [nr.clip(3), nr.log1p()], ["clip:limit=3", "log1p"], ("clip", "log1p"),
        [nr.clip(3.0) | nr.log1p()],
    ]  # fmt: skip
    made = [nr.make("pa1", C=0.5, transforms=one) for one in asked]
    made += [nr.clip(3.0) | nr.log1p() | nr.make("pa1", C=0.5), nr.clip() | (nr.log1p() | nr.make("pa1", C=0.5))]
    assert {repr(one) for one in made} == {"<clip(limit=3.0) | log1p() | pa1, C=0.5: binary, 0 rounds, 0 mistakes>"}
    assert len({pack(one) for one in made}) == 1
    assert made[0].params == nr.make("pa1", C=0.5).params
    weighed = nr.scale() | nr.make("arow", class_weight={1: 2.0}, classes=[1, -1], bias=True, seed=3)
    assert weighed.config.class_weight == {1: 2.0}
    assert pack(weighed.copy()) == pack(weighed)


def test_what_cannot_be_put_together_is_refused() -> None:
    learner: Any = nr.make("pa1").learn([{"a": 1.0}], [1])
    anything: Any = 5
    with pytest.raises(nr.BadValue, match="cannot add transforms to a trained learner"):
        nr.scale() | learner
    with pytest.raises(nr.BadValue, match="comes before a learner"):
        learner | nr.scale()
    with pytest.raises(nr.BadValue, match="not before 5"):
        nr.scale() | anything
    with pytest.raises(nr.BadValue, match="comes before a learner"):
        anything | (nr.scale() | nr.clip())
    with pytest.raises(nr.BadValue, match="before a learner stands a transform"):
        anything | learner


WRONG: dict[str, Any] = {
    "there is no transform 'clop'; did you mean 'clip'": lambda: nr.make("pa1", transforms=["clop"]),
    "there is no transform 'x'; there are scale, min_max": lambda: nr.make("pa1", transforms="x"),
    "clip has no parameter 'limits'; it takes limit=, only=": lambda: nr.make("pa1", transforms=["clip:limits=3"]),
    "scale has no parameter 'a'; it takes only=": lambda: nr.make("pa1", transforms=["scale:a=3"]),
    "write name:parameter=value": lambda: nr.make("pa1", transforms=["clip:3"]),
    "transforms must be a list such as": lambda: nr.make("pa1", transforms=7),
    "7 is none": lambda: nr.make("pa1", transforms=[7]),
    "clip: limit must be above 0, not 0": lambda: nr.clip(0),
    "clip: limit must be above 0, not inf": lambda: nr.clip(math.inf),
    "clip: limit must be a number above 0, not 'a'": lambda: nr.make("pa1", transforms=["clip:limit=a"]),
    "unit_norm: p must be at least 1, not 0.5": lambda: nr.unit_norm(0.5),
    "tf_idf: sublinear must be one of no, yes, not 'maybe'": lambda: nr.tf_idf("maybe"),
    "missing: policy must be one of zero, mean, indicator, not 'median'": lambda: nr.missing("median"),
    "pairs: limit must be at least 1, not 0": lambda: nr.pairs(0),
}


@pytest.mark.parametrize("words", WRONG)
def test_wrong_parameters_are_named(words: str) -> None:
    with pytest.raises(nr.BadValue) as caught:
        WRONG[words]()
    assert words in str(caught.value)


def test_rows_too_long_for_pairs_are_refused() -> None:
    learner = (nr.pairs(3) | nr.make("pa1")).learn([{"a": 1.0, "b": 2.0, "c": 3.0}], [1])
    assert learner.features == ["a", "b", "c", "a*b", "a*c", "b*c"]
    with pytest.raises(nr.BadValue, match=r"^row 1: it has 4 features, of which pairs would make 10; the limit is 3"):
        learner.learn([{"a": 1.0}, {"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0}], [1, 1])
    with pytest.raises(nr.BadValue, match="row 0: it has 4 features"):
        (nr.pairs(3) | nr.make("pa1")).learn(np.ones((2, 4)), [1, 1])


def test_many_pairs_are_made_piece_by_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = stream("pairs")
    whole = (nr.pairs() | nr.make("pa1")).learn(rows, y)
    for piece in (1, 10):
        monkeypatch.setattr("noregret.features.expansions.BATCH", piece)
        assert pack((nr.pairs() | nr.make("pa1")).learn(rows, y)) == pack(whole)


def test_features_that_only_say_yes_are_left_as_they_are() -> None:
    block = SparseBlock(np.array([0, 2, 4, 6]), np.array([0, 1] * 3, np.int32), np.array([3.0, 1, 5, 1, 4, 1]), 2)
    rows = Rows(block, ["height", "city=Paris"], np.array([False, True]))
    for steps in (nr.min_max(), nr.scale(), nr.squares() | nr.scale(), nr.pairs() | nr.min_max()):
        learner = (steps | nr.make("perceptron")).learn(rows, [1, -1, 1])
        seen = after(learner, [{"city=Paris": 1.0}], learn=False)[0]
        assert set(seen.values()) == {1.0}
    marked = (nr.missing("indicator") | nr.scale() | nr.make("pa1")).learn([{"a": None}, {"a": 1.0}] * 4, [1, -1] * 4)
    assert after(marked, [{"a": None}], learn=False) == [{"a is missing": 1.0}]
    chosen = (nr.one_hot() | nr.scale() | nr.make("pa1")).learn([{"a": 3.0}, {"a": 4.5}] * 4, [1, -1] * 4)
    assert chosen.features == ["a=3", "a=4.5"]
    assert after(chosen, [{"a": 3.0}], learn=False) == [{"a=3": 1.0}]
    assert after(chosen, [{"a": -0.0}]) == after(chosen, [{"a": 0.0}]) == [{"a=0": 1.0}]


def growing(t: int) -> Rows:
    """Row t of a stream whose names grow: two new numbers, two new features that say yes, one of each from before."""
    idx = np.array([2 * (t // 2), 2 * (t // 2) + 1, 4 * t, 4 * t + 1, 4 * t + 2, 4 * t + 3], np.int32)
    val = np.where(idx % 2 == 1, 1.0, 1.0 + idx * 0.37 % 2.0)
    width = 4 * t + 4
    return Rows(
        SparseBlock(np.array([0, 6]), idx, val, width), [f"n{j}" for j in range(width)], np.arange(width) % 2 == 1
    )


@pytest.mark.thinned(4)
@pytest.mark.parametrize(
    "name", ["scale", "unit_norm", "indicator", "squares", "pairs", "conjunctions", "one_hot", "long"]
)
def test_new_features_of_a_row_are_not_put_together_before_they_are_learned(name: str) -> None:
    steps = (PIPELINES[name][0] | nr.scale() | nr.unit_norm(), PIPELINES[name][0] | nr.unit_norm() | nr.min_max())
    for pipeline in steps:
        for algebra in ("sparse", "kernel"):
            learner = pipeline | nr.make("pa1", algebra=algebra)
            for t in range(1, 9):
                row = growing(t)
                if t > 2:
                    assert learner.scores(row)[0] == learner.copy().play(row, [t % 2]).scores[0]
                learner.learn(row, [t % 2])


def test_new_gaps_are_not_put_together_with_new_values() -> None:
    learner = nr.missing("indicator") | nr.scale() | nr.unit_norm() | nr.make("arow")
    learner.learn([{"a": 1.0, "b": None}, {"a": 2.0, "b": 3.0}, {"a": 0.0, "b": None}], [1, -1, 1])
    row: Any = {"a": 5.0, "b": 4.0, "c": 7.0, "d": None}
    assert learner.scores_one(row) == learner.copy().play([row], [1]).scores[0]


@pytest.mark.parametrize("steps", [nr.scale(), nr.min_max()])
def test_what_was_looked_at_as_a_yes_may_be_learned_as_a_number(steps: nr.Transform) -> None:
    looked, plain = ((steps | nr.make("pa1")).learn([{"a": 1.0}, {"a": 2.0}], [1, -1]) for _ in range(2))
    looked.predict(Rows(SparseBlock(np.array([0, 1]), np.zeros(1, np.int32), np.ones(1), 1), ["b"], np.array([True])))
    for learner in (looked, plain):
        learner.learn([{"b": 3.0}, {"b": 5.0}, {"b": 4.0}], [1, -1, 1])
    assert pack(looked) == pack(plain)


@pytest.mark.parametrize("steps", [nr.scale(), nr.min_max(), nr.tf_idf(), nr.missing("mean")])
def test_more_features_than_memory_are_refused_and_not_tried(
    steps: nr.Transform, monkeypatch: pytest.MonkeyPatch
) -> None:
    learner = (steps | nr.make("pa1")).learn([{0: 1.0, 1: 2.0}, {1: 1.0}], [1, -1])
    before = pack(learner)
    monkeypatch.setattr("noregret.learner.encode.physical_memory", lambda: 1 << 20)
    for act in (lambda: learner.learn([{10**6: 1.0}], [1]), lambda: learner.predict([{10**6: 1.0}])):
        with pytest.raises(nr.BadValue, match="does not fit in memory"):
            act()
    assert pack(learner) == before
    assert (nr.pairs() | nr.make("pa1")).learn([{10**6: 1.0, 5: 2.0}], [1]).features == [10**6, 5, f"5*{10**6}"]


def test_learners_are_merged_where_no_transform_remembers() -> None:
    rows = stream("clip")
    halves = [
        (nr.clip(1.0) | nr.unit_norm() | nr.make("perceptron")).learn(rows[a:b], y[a:b])
        for a, b in ((0, 24), (24, ROWS))
    ]
    by_hand = [nr.make("perceptron").learn(after(nr.clip(1.0) | nr.unit_norm() | nr.make("pa1"), rows[a:b]), y[a:b])
               for a, b in ((0, 24), (24, ROWS))]  # fmt: skip
    merged = halves[0].merge(halves[1])
    expected = by_hand[0].merge(by_hand[1]).scores(after(nr.clip(1.0) | nr.unit_norm() | nr.make("pa1"), rows))
    assert np.array_equal(merged.scores(rows), expected)
    for name in ("min_max", "tf_idf", "mean", "indicator", "squares", "pairs", "conjunctions", "one_hot"):
        steps, _ = PIPELINES[name]
        one, other = ((steps | nr.make("perceptron")).learn(rows, y) for _ in range(2))
        with pytest.raises(nr.BadValue, match="cannot be merged: each goes by what it saw"):
            one.merge(other)
    with pytest.raises(nr.BadValue, match="only learners of one rule"):
        halves[0].merge(nr.clip(2.0) | nr.unit_norm() | nr.make("perceptron"))


def test_an_explanation_adds_up_to_the_score() -> None:
    learner = (nr.scale() | nr.make("perceptron")).learn(table("scale"), y)
    row = table("scale", seed=2)[0]
    assert sum(learner.explain_one(row).values()) == pytest.approx(learner.scores_one(row), abs=1e-9)
    crossed = (nr.pairs() | nr.make("perceptron")).learn([{"a": 1.0, "b": 1.0}, {"a": 1.0}, {"b": 1.0}], [1, -1, -1])
    assert set(crossed.explain_one({"a": 1.0, "b": 1.0})) == {"a", "b"}


def test_confidence_and_other_tasks_work_behind_transforms() -> None:
    rows = stream("long")
    sure = (PIPELINES["long"][0] | nr.make("arow")).learn(rows, y).confidence(rows)
    assert ((sure >= 0.5) & (sure <= 1.0)).all()
    many = (PIPELINES["long"][0] | nr.make("arow")).learn(rows, [t % 3 for t in range(ROWS)])
    assert many.task == "multiclass"
    assert pack(many.copy()) == pack(many)
    real = (PIPELINES["long"][0] | nr.make("pa1", task="regression")).learn(rows, [t / 7 for t in range(ROWS)])
    assert np.isfinite(real.predict(rows)).all()
