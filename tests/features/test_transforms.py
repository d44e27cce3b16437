"""Transforms, beside obvious versions of them: what they do, and that they know the past alone."""

import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import noregret as nr
from noregret.data.blocks import SparseBlock
from noregret.features.fitted import PipelineRows
from noregret.learner.model_file import pack
from tests.features.passing import KEEPING, PIPELINES, ROWS, after, close, stream, table, y
from tests.naive import transforms as naive
from tests.support.encoding import encoded

# ---- what they do ------------------------------------------------------------------------------------------------


@pytest.mark.thinned(2)
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
    with pytest.raises(nr.BadValue, match=r"^row 1: a value is -2\.0; tf_idf with sublinear=yes needs counts"):
        nr.make("pa1", transforms="tf_idf:sublinear=yes").learn([{"a": 1.0}, {"a": -2.0}], [1, -1])


def test_scikit_learn_measures_the_past_alike() -> None:
    from sklearn.feature_extraction.text import TfidfTransformer
    from sklearn.preprocessing import MinMaxScaler, Normalizer, PolynomialFeatures, StandardScaler

    X = np.random.default_rng(3).poisson(1.0, size=(40, 6)).astype(float)
    rarity = encoded(nr.tf_idf() | nr.unit_norm() | nr.make("pa1"), csr_array(X), True, False)
    deviations = encoded(nr.scale() | nr.make("pa1"), X, True, False)
    ranges = encoded(nr.min_max() | nr.make("pa1"), X, True, False)
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
    assert np.array_equal(encoded(nr.pairs() | nr.make("pa1"), X, True, False).val, made)
    lengths = encoded(nr.unit_norm(1) | nr.make("pa1"), X, True, False).val
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
    for steps in (nr.squares(), nr.pairs(), nr.conjunctions(), nr.tf_idf()):
        learner = steps | nr.make("perceptron")
        with pytest.raises(nr.BadValue, match=r"row \d: after \w+ a value is no longer finite") as caught:
            learner.learn([{"a": 1.0}, {"c": 1.0}, *rows], [1, 1, -1, 1, 1])
        assert caught.value.row in (2, 3)
        assert learner.rounds == 0


# ---- the past only -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", KEEPING)
@pytest.mark.parametrize("kind", ["names", "table"])
@pytest.mark.thinned(4)
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
        encoded(learner, other[40:41], *how).val for how in ((False, False), (False, True), (True, True))
    )
    assert looked.tolist() == heeded.tolist() == learned.tolist() == list(its[40].values())


@pytest.mark.parametrize("name", KEEPING)
@pytest.mark.parametrize("kind", ["names", "table", "sparse"])
@pytest.mark.thinned(6)
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


@pytest.mark.thinned(2)
@pytest.mark.parametrize("name", PIPELINES)
def test_saved_loaded_and_taught_on_equals_never_stopped(name: str, tmp_path: Path) -> None:
    steps, _ = PIPELINES[name]
    rows = stream(name)
    through = (steps | nr.make("pa1")).learn(rows, y)
    half = (steps | nr.make("pa1")).learn(rows[:25], y[:25])
    half.save(tmp_path / "half.nr")
    again = nr.load(tmp_path / "half.nr")
    assert again.config.transforms == half.config.transforms
    assert pack(again) == pack(half)
    assert pack(again.learn(rows[25:], y[25:])) == pack(through)
    assert pack(pickle.loads(pickle.dumps(through))) == pack(through.copy()) == pack(through)
    assert again.features == through.features


@pytest.mark.thinned(4)
@pytest.mark.parametrize("algebra", ["sparse", "kernel", "dense", "reference"])
@pytest.mark.parametrize("name", ["scale", "long", "one_hot", "indicator", "made twice", "negated"])
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


@pytest.mark.parametrize("name", KEEPING)
def test_a_refused_call_leaves_every_bit_as_it_was(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    steps, _ = PIPELINES[name]
    rows = stream(name)
    learner = (steps | nr.make("arow")).learn(rows[:30], y[:30])
    before, scores = pack(learner), learner.scores(rows)
    bad: list[tuple[Any, Any]] = [
        ([*rows[30:46], {"f1": math.inf}], y[:17]),
        (rows[30:46], [0.5] * 16),
        (rows[30:46], y[:15]),
        ([{"f0": 1e300, "f1": -1e300, "new": 1e300}, {"f0": -1e300, "f1": 1e300}], [1, None]),
    ]
    for some, labels in bad:
        with pytest.raises(nr.Error):
            learner.learn(some, labels)
        assert pack(learner) == before

    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    for where in ("learner.transaction.count", "learner.transaction.Transaction.play"):
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
    learner.model.transforms[0].apply(
        PipelineRows(learner.model.names.encode_dicts([{"f3": 1.0, "f9": 2.0}], True), np.zeros(0, np.int32)),
        True,
        False,
    )
    _, touched, cells, _ = learner.model.transforms[0].savepoint
    assert touched.size == 2 == max(old.size for old in cells.values())
