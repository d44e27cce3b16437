"""Transforms before a learner: what they do, by obvious versions of them, from the past alone; and how they are kept."""

import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import noregret as nr
from noregret.chunk import DenseBlock, Rows, SparseBlock
from noregret.intake import taken
from noregret.modelfile import pack
from tests.naive import transforms as naive

PIPELINES: dict[str, tuple[Any, list[naive.Step]]] = {
    "scale": (nr.scale(), [naive.scale]),
    "min_max": (nr.min_max(), [naive.min_max]),
    "unit_norm": (nr.unit_norm(), [naive.unit_norm(2.0)]),
    "unit_norm 1": (nr.unit_norm(1), [naive.unit_norm(1.0)]),
    "unit_norm 3": (nr.unit_norm(3.0), [naive.unit_norm(3.0)]),
    "clip": (nr.clip(0.5), [naive.clip(0.5)]),
    "log1p": (nr.log1p(), [naive.log1p]),
    "tf_idf": (nr.tf_idf(), [naive.tf_idf(False)]),
    "counts": (nr.squares() | nr.log1p(), [naive.squares, naive.log1p]),
    "zero": (nr.missing(), [naive.missing_zero]),
    "mean": (nr.missing("mean"), [naive.missing_mean]),
    "indicator": (nr.missing("indicator"), [naive.missing_indicator]),
    "squares": (nr.squares(), [naive.squares]),
    "pairs": (nr.pairs(), [naive.pairs]),
    "one_hot": (nr.one_hot(), [naive.one_hot]),
    "long": (
        nr.missing("mean") | nr.clip(2.0) | nr.tf_idf() | nr.squares() | nr.min_max() | nr.pairs() | nr.unit_norm(1),
        [naive.missing_mean, naive.clip(2.0), naive.tf_idf(False), naive.squares, naive.min_max, naive.pairs,
         naive.unit_norm(1.0)],
    ),
    "made twice": (nr.pairs() | nr.scale() | nr.squares(), [naive.pairs, naive.scale, naive.squares]),
}  # fmt: skip
GAPS = ("zero", "mean", "indicator", "long")
ROWS = 60


def stream(name: str, seed: int = 0, rows: int = ROWS) -> list[dict[str, float]]:
    """Sparse rows by name; features appear in the course of the stream, values repeat, and some are missing."""
    rng = np.random.default_rng(seed)
    found = []
    for t in range(rows):
        known = [f"f{j}" for j in range(3 + t // 8)]
        chosen = rng.permutation(known)[: rng.integers(0, 6)]
        values = np.round(rng.normal(1.0, 2.0, size=chosen.size), 1) * np.where(rng.random(chosen.size) < 0.1, 0.0, 1.0)
        if name in GAPS:
            values[rng.random(chosen.size) < 0.2] = np.nan
        found.append(dict(zip(chosen.tolist(), values.tolist(), strict=True)))
    return found


def table(name: str, seed: int = 0, rows: int = ROWS) -> np.ndarray:
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(0.5, 2.0, size=(rows, 4)), 1)
    X[rng.random(X.shape) < 0.2] = 0.0
    if name in GAPS:
        X[rng.random(X.shape) < 0.2] = np.nan
    return X


y = np.where(np.random.default_rng(7).random(ROWS) < 0.5, -1, 1).tolist()


def after(learner: nr.Learner, X: Any, learn: bool = True) -> list[dict[Any, float]]:
    """What a learner's transforms make of rows, by name."""
    block = taken(learner, X, learn, False)
    for one in learner.transforms:
        one.keep()
    names = learner.names.listed()
    namer: Any = names.__getitem__ if learner.names.mode == "names" else int
    for one in learner.transforms:
        namer = one.namer(namer)
    if isinstance(block, DenseBlock):
        called = [namer(number) for number in range(block.width)]
        return [dict(zip(called, row, strict=True)) for row in block.val.tolist()]
    cuts = zip(block.indptr[:-1], block.indptr[1:], strict=True)
    return [{namer(int(j)): float(x) for j, x in zip(block.idx[a:b], block.val[a:b], strict=True)} for a, b in cuts]


def close(found: list[dict[Any, float]], expected: list[dict[Any, float]], dense: bool = False) -> None:
    for mine, its in zip(found, expected, strict=True):
        if dense:  # a table has a value everywhere, the obvious version only where there is something to say
            mine = {name: value for name, value in mine.items() if value != 0.0 or name in its}
        assert mine.keys() == its.keys()
        assert mine == pytest.approx(its, rel=1e-9, abs=1e-9)


# ---- what they do ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("native", [True, False])
@pytest.mark.parametrize("name", PIPELINES)
def test_rows_by_name_are_measured_by_the_rows_before_them(name: str, native: bool) -> None:
    steps, obvious = PIPELINES[name]
    rows = stream(name)
    close(after(steps | nr.make("pa1", native=native), rows), naive.transformed(obvious, rows))


@pytest.mark.parametrize("name", PIPELINES)
def test_rows_of_a_table_have_a_value_in_every_column(name: str) -> None:
    steps, obvious = PIPELINES[name]
    X = table(name)
    expected = naive.transformed(obvious, [dict(enumerate(row)) for row in X.tolist()])
    close(after(steps | nr.make("pa1"), X), expected, dense=True)


@pytest.mark.parametrize("name", PIPELINES)
def test_rows_of_a_sparse_matrix_have_only_what_is_stored(name: str) -> None:
    steps, obvious = PIPELINES[name]
    X = csr_array(table(name))
    cuts = zip(X.indptr[:-1], X.indptr[1:], strict=True)
    rows = [dict(zip(X.indices[a:b].tolist(), X.data[a:b].tolist(), strict=True)) for a, b in cuts]
    close(after(steps | nr.make("pa1"), X), naive.transformed(obvious, rows))


def test_sublinear_counts() -> None:
    rows = [{name: abs(value) for name, value in row.items()} for row in stream("counts")]
    found = after(nr.tf_idf(sublinear=True) | nr.make("pa1"), rows)
    close(found, naive.transformed([naive.tf_idf(True)], rows))
    with pytest.raises(nr.BadValue, match=r"^row 1: a value is -2\.0; tf_idf with sublinear=yes takes counts"):
        nr.make("pa1", transforms="tf_idf:sublinear=yes").learn([{"a": 1.0}, {"a": -2.0}], [1, -1])


def test_scikit_learn_measures_the_past_alike() -> None:
    from sklearn.feature_extraction.text import TfidfTransformer
    from sklearn.preprocessing import MinMaxScaler, Normalizer, PolynomialFeatures, StandardScaler

    X = np.random.default_rng(3).poisson(1.0, size=(40, 6)).astype(float)
    rarity = taken(nr.tf_idf() | nr.unit_norm() | nr.make("pa1"), csr_array(X), True, False)
    deviations = taken(nr.scale() | nr.make("pa1"), X, True, False)
    ranges = taken(nr.min_max() | nr.make("pa1"), X, True, False)
    scaler = StandardScaler()
    for t in range(1, len(X)):
        scaler.partial_fit(X[t - 1 : t])
        weighed = TfidfTransformer().fit(csr_array(X[:t])).transform(csr_array(X[t : t + 1]))
        assert isinstance(rarity, SparseBlock)
        here = slice(rarity.indptr[t], rarity.indptr[t + 1])
        row = np.zeros(6)
        row[rarity.idx[here]] = rarity.val[here]
        assert row == pytest.approx(weighed.toarray()[0], abs=1e-12)
        spread = X[:t].std(axis=0) > 0
        expected = np.clip(np.where(spread, scaler.transform(X[t : t + 1])[0], 0.0), -math.sqrt(t), math.sqrt(t))
        assert deviations.val[t] == pytest.approx(expected, abs=1e-9)
        placed = MinMaxScaler(clip=True).fit(X[:t]).transform(X[t : t + 1])[0]
        assert np.where(spread, ranges.val[t], 0.0) == pytest.approx(np.where(spread, placed, 0.0), abs=1e-12)
    made = PolynomialFeatures(2, interaction_only=True, include_bias=False).fit_transform(X)
    assert np.array_equal(taken(nr.pairs() | nr.make("pa1"), X, True, False).val, made)
    lengths = taken(nr.unit_norm(1) | nr.make("pa1"), X, True, False).val
    assert lengths == pytest.approx(Normalizer("l1").fit_transform(X))


@pytest.mark.parametrize("name", PIPELINES)
def test_a_learner_behind_transforms_is_one_of_transformed_rows(name: str) -> None:
    steps, obvious = PIPELINES[name]
    rows = stream(name)
    learner = (steps | nr.make("perceptron")).learn(rows, y)
    twin = nr.make("perceptron").learn(naive.transformed(obvious, rows), y)
    assert learner.mistakes == twin.mistakes
    assert sorted(learner.features) == sorted(twin.features)
    row = stream(name, seed=1)[-1]
    by_hand = naive.transformed(obvious, [*rows, row])[-1]
    assert learner.scores_one(row) == pytest.approx(twin.scores_one(by_hand), abs=1e-9)


def test_large_values_stay_finite() -> None:
    rows = [{"a": 1.7e308, "b": -1.7e308}, {"a": -1.7e308, "b": 1.7e308}, {"a": 0.0, "b": 1.0}]
    assert after(nr.min_max() | nr.make("pa1"), rows)[-1] == {"a": 0.5, "b": pytest.approx(0.5)}
    assert after(nr.unit_norm() | nr.make("pa1"), rows)[0]["a"] == pytest.approx(math.sqrt(0.5))
    gone = [*rows[:2], {"a": None}]
    assert after(nr.missing("mean") | nr.make("pa1"), gone)[-1]["a"] == pytest.approx(0.0, abs=1e293)
    for steps in (nr.squares(), nr.pairs(), nr.tf_idf()):
        learner = steps | nr.make("perceptron")
        with pytest.raises(nr.BadValue, match=r"row \d: after \w+ a value is no longer finite") as caught:
            learner.learn([{"a": 1.0}, {"c": 1.0}, *rows], [1, 1, -1, 1, 1])
        assert caught.value.row in (2, 3)
        assert learner.rounds == 0


# ---- the past only -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PIPELINES)
@pytest.mark.parametrize("kind", ["names", "table"])
def test_a_row_is_seen_before_it_is_learned_as_it_is_while_it_is_learned(name: str, kind: str) -> None:
    steps, _ = PIPELINES[name]
    X: Any = stream(name) if kind == "names" else table(name)
    whole = (steps | nr.make("arow")).play(X, y)
    learner = steps | nr.make("arow")
    for t in range(ROWS):
        if learner.rounds:
            assert learner.scores(X[t : t + 1])[0] == whole.scores[t]
        learner.learn(X[t : t + 1], y[t : t + 1])


@pytest.mark.parametrize("name", PIPELINES)
def test_no_row_moves_the_measures_of_those_before_it_or_its_own(name: str) -> None:
    steps, _ = PIPELINES[name]
    rows = stream(name)
    other = [*rows[:40], {"f0": 77.0, "f2": -3.0, "new": 5.0}, *rows[41:]]
    mine, its = (after(steps | nr.make("pa1"), some) for some in (rows, other))
    assert mine[:40] == its[:40]
    learner = steps | nr.make("pa1")
    after(learner, rows[:40])
    looked, heeded, learned = (
        taken(learner, other[40:41], *how).val for how in ((False, False), (False, True), (True, True))
    )
    assert looked.tolist() == heeded.tolist() == learned.tolist() == list(its[40].values())


@pytest.mark.parametrize("name", PIPELINES)
@pytest.mark.parametrize("kind", ["names", "table", "sparse"])
def test_chunks_of_any_size_leave_the_same_bytes(name: str, kind: str) -> None:
    steps, _ = PIPELINES[name]
    X: Any = stream(name) if kind == "names" else table(name)
    X = csr_array(X) if kind == "sparse" else X
    whole = (steps | nr.make("arow", bias=True)).learn(X, y)
    sevens, ones = (steps | nr.make("arow", bias=True) for _ in range(2))
    for start in range(0, ROWS, 7):
        sevens.learn(X[start : start + 7], y[start : start + 7])
    for t in range(ROWS):
        ones.learn_one(X[t : t + 1] if kind == "sparse" else X[t], y[t])
    assert pack(whole) == pack(sevens) == pack(ones)
    sevens.predict(X)
    assert pack(whole) == pack(sevens)


@pytest.mark.parametrize("name", PIPELINES)
def test_saved_loaded_and_taught_on_equals_never_stopped(name: str, tmp_path: Path) -> None:
    steps, _ = PIPELINES[name]
    rows = stream(name)
    through = (steps | nr.make("pa1")).learn(rows, y)
    half = (steps | nr.make("pa1")).learn(rows[:25], y[:25])
    half.save(tmp_path / "half.nr")
    again = nr.load(tmp_path / "half.nr")
    assert again.settings.transforms == half.settings.transforms
    assert pack(again) == pack(half)
    assert pack(again.learn(rows[25:], y[25:])) == pack(through)
    assert pack(pickle.loads(pickle.dumps(through))) == pack(through.copy()) == pack(through)
    assert again.features == through.features


@pytest.mark.parametrize("algebra", ["sparse", "kernel", "dense", "reference"])
@pytest.mark.parametrize("name", ["scale", "long", "one_hot", "indicator", "made twice"])
def test_looking_at_rows_leaves_no_trace(name: str, algebra: str) -> None:
    steps, _ = PIPELINES[name]
    rows = stream(name)
    learner = (steps | nr.make("pa1", algebra=algebra)).learn(rows[:30], y[:30])
    before = pack(learner)
    scores = learner.scores(rows)
    learner.predict_one({"never seen": 3.0, "f0": 1.0, "nor this": 2.0})
    learner.explain_one({"never seen": 3.0, "f0": 1.0})
    assert pack(learner) == before
    assert np.array_equal(learner.scores(rows), scores)
    looked_twice = np.concatenate([learner.scores(rows[t : t + 1]) for t in range(ROWS)])
    assert looked_twice == pytest.approx(scores, abs=1e-12)


@pytest.mark.parametrize("name", PIPELINES)
def test_a_refused_call_leaves_every_bit_as_it_was(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    steps, _ = PIPELINES[name]
    rows = stream(name)
    learner = (steps | nr.make("arow")).learn(rows[:30], y[:30])
    before, scores = pack(learner), learner.scores(rows)
    bad: list[tuple[Any, Any]] = [
        ([*rows[30:50], {"f1": math.inf}], y[:21]),
        (rows[30:50], [0.5] * 20),
        (rows[30:50], y[:19]),
        ([{"f0": 1e300, "f1": -1e300, "new": 1e300}, {"f0": -1e300, "f1": 1e300}], [1, None]),
    ]
    for some, labels in bad:
        with pytest.raises(nr.Error):
            learner.learn(some, labels)
        assert pack(learner) == before

    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    for where in ("learner.counts", "rounds.Call.run"):
        monkeypatch.setattr(f"noregret.{where}", interrupted)
        with pytest.raises(KeyboardInterrupt):
            learner.learn([*rows[30:], {"new": 1.0}], [*y[30:], 1])
        monkeypatch.undo()
        assert pack(learner) == before
    assert np.array_equal(learner.scores(rows), scores)
    untouched = (steps | nr.make("arow")).learn(rows[:30], y[:30])
    assert pack(learner.learn(rows[30:], y[30:])) == pack(untouched.learn(rows[30:], y[30:]))


def test_what_one_row_needs_to_be_undone_is_no_larger_than_the_row() -> None:
    learner = nr.scale() | nr.make("pa1")
    learner.learn([{f"f{j}": float(j) for j in range(5000)}], [1])
    learner.transforms[0].apply(learner.names.block([{"f3": 1.0, "f9": 2.0}], True), True, np.zeros(0, np.int32), False)
    _, touched, cells, _ = learner.transforms[0].before
    assert touched.size == 2 == max(old.size for old in cells.values())


# ---- missing values ----------------------------------------------------------------------------------------------


def test_what_is_missing_is_refused_unless_somebody_says_what_it_means() -> None:
    plain = nr.make("pa1")
    for row in ({"a": math.nan}, {"a": None}, [1.0, math.nan], [1.0, None]):
        with pytest.raises(nr.BadValue):
            plain.learn_one(row, 1)
    for policy in ("zero", "mean", "indicator"):
        for row in ({"a": math.inf}, [1.0, -math.inf], {"a": "x"}, [[1.0], None], [1.0, "x"]):
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
    assert weighed.settings.class_weight == {1: 2.0}
    assert pack(weighed.copy()) == pack(weighed)


def test_what_cannot_be_put_together_is_refused() -> None:
    learner: Any = nr.make("pa1").learn([{"a": 1.0}], [1])
    anything: Any = 5
    with pytest.raises(nr.BadValue, match="has learned from rows as they were"):
        nr.scale() | learner
    with pytest.raises(nr.BadValue, match="stands before a learner"):
        learner | nr.scale()
    with pytest.raises(nr.BadValue, match="not before 5"):
        nr.scale() | anything
    with pytest.raises(nr.BadValue, match="stands before a learner"):
        anything | (nr.scale() | nr.clip())
    with pytest.raises(nr.BadValue, match="before a learner stands a transform"):
        anything | learner


WRONG: dict[str, Any] = {
    "there is no transform 'clop'; did you mean 'clip'": lambda: nr.make("pa1", transforms=["clop"]),
    "there is no transform 'x'; there are scale, min_max": lambda: nr.make("pa1", transforms="x"),
    "clip has no parameter 'limits'; it takes limit": lambda: nr.make("pa1", transforms=["clip:limits=3"]),
    "scale has no parameter 'a'; it takes none": lambda: nr.make("pa1", transforms=["scale:a=3"]),
    "say name:parameter=value": lambda: nr.make("pa1", transforms=["clip:3"]),
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
    with pytest.raises(nr.BadValue, match=r"^row 1: it has 4 features, of which pairs would make 10; its limit is 3"):
        learner.learn([{"a": 1.0}, {"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0}], [1, 1])
    with pytest.raises(nr.BadValue, match="row 0: it has 4 features"):
        (nr.pairs(3) | nr.make("pa1")).learn(np.ones((2, 4)), [1, 1])


def test_many_pairs_are_made_piece_by_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = stream("pairs")
    whole = (nr.pairs() | nr.make("pa1")).learn(rows, y)
    for piece in (1, 10):
        monkeypatch.setattr("noregret.features.maps.PIECE", piece)
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


def test_learners_are_merged_where_no_transform_remembers() -> None:
    rows = stream("clip")
    halves = [
        (nr.clip(1.0) | nr.unit_norm() | nr.make("perceptron")).learn(rows[a:b], y[a:b]) for a, b in ((0, 30), (30, 60))
    ]
    by_hand = [nr.make("perceptron").learn(after(nr.clip(1.0) | nr.unit_norm() | nr.make("pa1"), rows[a:b]), y[a:b])
               for a, b in ((0, 30), (30, 60))]  # fmt: skip
    merged = halves[0].merge(halves[1])
    expected = by_hand[0].merge(by_hand[1]).scores(after(nr.clip(1.0) | nr.unit_norm() | nr.make("pa1"), rows))
    assert np.array_equal(merged.scores(rows), expected)
    for name in ("scale", "min_max", "tf_idf", "mean", "indicator", "squares", "pairs", "one_hot"):
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


def test_confidence_and_other_games_work_behind_transforms() -> None:
    rows = stream("long")
    sure = (PIPELINES["long"][0] | nr.make("arow")).learn(rows, y).confidence(rows)
    assert ((sure >= 0.5) & (sure <= 1.0)).all()
    many = (PIPELINES["long"][0] | nr.make("arow")).learn(rows, [t % 3 for t in range(ROWS)])
    assert many.game == "multiclass"
    assert pack(many.copy()) == pack(many)
    real = (PIPELINES["long"][0] | nr.make("pa1", game="regression")).learn(rows, [t / 7 for t in range(ROWS)])
    assert np.isfinite(real.predict(rows)).all()
