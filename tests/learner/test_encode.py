"""Between what is handed over and what is played: named rows, running scaling, the constant feature."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.data.blocks import Rows, SparseBlock
from tests.naive.scaling import scaled

rng = np.random.default_rng(5)
WIDTHS = np.array([1.0, 10.0, 1e-3, 1e4])
X = rng.normal(size=(120, 4)) * WIDTHS + np.array([3.0, -50.0, 0.0, 1e5])
y = np.where((X[:, 0] - 3.0) + (X[:, 1] + 50.0) / 10.0 + 0.1 * rng.normal(size=120) > 0.3, 1, -1)
names = ["height", "depth", "grain", "load"]
dicts = [dict(zip(names, row, strict=True)) for row in X.tolist()]
ALGEBRAS = ("reference", "dense", "sparse", "kernel")


def named(rows: np.ndarray, order: list[str], indicator: np.ndarray | None = None) -> Rows:
    count, width = rows.shape
    idx = np.tile(np.arange(width, dtype=np.int32), count)
    block = SparseBlock(np.arange(0, count * width + 1, width, dtype=np.int64), idx, rows.ravel().copy(), width)
    return Rows(block, order, indicator)


@pytest.mark.thinned(2)
@pytest.mark.parametrize("native", [True, False])
def test_scaling_measures_every_value_by_those_before_it(native: bool) -> None:
    learner = nr.make("perceptron", scale=True, native=native).learn(dicts, y)
    twin = nr.make("perceptron", native=native).learn(scaled(dicts), y)
    assert learner.mistakes == twin.mistakes
    next_row = {"height": 4.0, "depth": -48.0, "grain": 1e-3, "load": 99_000.0}
    by_hand = scaled([*dicts, next_row])[-1]
    assert learner.scores_one(next_row) == pytest.approx(twin.scores_one(by_hand), abs=1e-9)


@pytest.mark.parametrize("algebra", ALGEBRAS)
@pytest.mark.parametrize("told", [{"scale": True}, {"bias": True}, {"scale": True, "bias": True}])
@pytest.mark.thinned(4)
def test_chunks_of_any_size_leave_the_same_bits(algebra: str, told: dict[str, Any]) -> None:
    whole = nr.make("pa1", algebra=algebra, **told).learn(X, y)
    parts = nr.make("pa1", algebra=algebra, **told)
    for start in range(0, 120, 7):
        parts.learn(X[start : start + 7], y[start : start + 7])
    assert np.array_equal(whole.scores(X), parts.scores(X))
    one_by_one = nr.make("pa1", algebra=algebra, **told)
    for row, label in zip(X, y.tolist(), strict=True):
        one_by_one.learn_one(row, label)
    assert np.array_equal(whole.scores(X), one_by_one.scores(X))


@pytest.mark.parametrize("algebra", ALGEBRAS)
def test_the_bias_is_a_constant_feature(algebra: str) -> None:
    learner = nr.make("pa2", algebra=algebra, bias=True).learn(X, y)
    by_hand = nr.make("pa2", algebra=algebra).learn(np.hstack([np.ones((120, 1)), X]), y)
    assert np.array_equal(learner.scores(X), by_hand.scores(np.hstack([np.ones((120, 1)), X])))


def test_scaled_values_are_never_further_out_than_they_can_be() -> None:
    learner = nr.make("perceptron", scale=True, native=False)
    learner.learn([{"a": 1.0}, {"a": 1.0 + 1e-9}], [1, -1])
    assert abs(learner.scores_one({"a": 1e6})) <= 2.0 * np.sqrt(2.0)


@pytest.mark.parametrize("told", [{"scale": True}, {"bias": True}, {"scale": True, "bias": True}])
def test_saved_loaded_and_taught_on_equals_never_stopped(tmp_path: Path, told: dict[str, Any]) -> None:
    through = nr.make("arow", **told).learn(dicts, y)
    half = nr.make("arow", **told).learn(dicts[:50], y[:50])
    half.save(tmp_path / "half.nr")
    again = nr.load(tmp_path / "half.nr").learn(dicts[50:], y[50:])
    assert np.array_equal(through.scores(dicts), again.scores(dicts))
    again.save(tmp_path / "again.nr")
    through.save(tmp_path / "through.nr")
    assert (tmp_path / "again.nr").read_bytes() == (tmp_path / "through.nr").read_bytes()


def test_a_refused_call_leaves_the_scaling_as_it_was() -> None:
    learner = nr.make("pa1", scale=True, bias=True).learn(dicts[:60], y[:60])
    before = learner.scores(dicts)
    bad: list[tuple[Any, Any]] = [
        ([*dicts[60:70], {"height": float("nan")}], y[60:71]),
        (dicts[60:70], [0.5] * 10),
        (dicts[60:70], y[60:69]),
        ([{"height": 1e200}, {"height": -1e200}], y[:2]),
    ]
    for rows, labels in bad:
        with pytest.raises(nr.Error):
            learner.learn(rows, labels)
        assert np.array_equal(learner.scores(dicts), before)


def test_predicting_teaches_the_scaling_nothing() -> None:
    learner = nr.make("pa1", scale=True).learn(dicts[:60], y[:60])
    before = learner.scores(dicts[:60])
    learner.predict(dicts[60:])
    learner.predict_one({"height": 1e9, "new": 5.0})
    assert np.array_equal(learner.scores(dicts[:60]), before)


def test_rows_of_a_stream_are_known_by_their_names_whatever_their_order() -> None:
    learner = nr.make("arow", scale=True, bias=True).learn(named(X, names), y)
    same = nr.make("arow", scale=True, bias=True).learn(dicts, y)
    assert np.array_equal(learner.scores(dicts), same.scores(dicts))
    turned = named(X[:, ::-1], names[::-1])
    assert np.array_equal(learner.scores(turned), learner.scores(dicts))
    wider = named(np.hstack([X, X[:, :1]]), [*names, "unheard of"])
    assert learner.scores(wider) == pytest.approx(learner.scores(dicts), abs=1e-12)
    more = nr.make("arow", scale=True, bias=True).learn(named(X, names), y).learn(turned, y)
    assert np.array_equal(more.scores(dicts), same.learn(dicts, y).scores(dicts))


def test_features_that_only_say_yes_are_not_scaled() -> None:
    rows = np.hstack([X[:, :1], np.ones((120, 1))])
    indicator = np.array([False, True])
    learner = nr.make("perceptron", scale=True).learn(named(rows, ["height", "city=Paris"], indicator), y)
    plain = nr.make("perceptron", scale=True, bias=True).learn(named(rows[:, :1], ["height"]), y)
    assert learner.scores_one({"height": 3.0, "city=Paris": 1.0}) == plain.scores_one({"height": 3.0})
    assert learner.copy().scores_one({"city=Paris": 1.0}) == learner.scores_one({"city=Paris": 1.0})


def test_merging_with_a_bias_is_merging_with_a_constant_feature() -> None:
    halves = [nr.make("perceptron", bias=True).learn(dicts[a:b], y[a:b]) for a, b in ((0, 60), (60, 120))]
    constant = [{"one": 1.0, **row} for row in dicts]
    by_hand = [nr.make("perceptron").learn(constant[a:b], y[a:b]) for a, b in ((0, 60), (60, 120))]
    merged, expected = halves[0].merge(halves[1]), by_hand[0].merge(by_hand[1])
    assert np.array_equal(merged.scores(dicts), expected.scores(constant))
    with pytest.raises(nr.BadValue, match="min_max"):
        (nr.min_max() | nr.make("perceptron")).learn(dicts, y).merge(
            (nr.min_max() | nr.make("perceptron")).learn(dicts, y)
        )


@pytest.mark.parametrize("told", [{"scale": 1}, {"bias": "yes"}])
def test_bias_and_scale_are_true_or_false(told: dict[str, Any]) -> None:
    with pytest.raises(nr.BadValue, match="must be True"):
        nr.make("pa1", **told)


def test_the_row_at_fault_is_known() -> None:
    learner = nr.make("pa1")
    with pytest.raises(nr.BadValue) as caught:
        learner.learn(X[:3], [1, -1, 0.5])
    assert caught.value.row == 2


def test_a_model_damaged_in_its_scaling_is_refused(tmp_path: Path) -> None:
    from noregret.learner.model_file import pack, unpack

    learner = nr.make("pa1", scale=True).learn(dicts, y)
    assert learner.model.scaling is not None
    learner.model.scaling.mean[0] = np.nan
    with pytest.raises(nr.Error, match="corrupt"):
        unpack(pack(learner), "model.nr")


@pytest.mark.parametrize("told", [{}, {"scale": True}])
def test_rows_of_different_length_get_their_constant_too(told: dict[str, Any]) -> None:
    ragged = [{name: row[name] for name in names[: t % 5]} for t, row in enumerate(dicts)]
    learner = nr.make("pa1", bias=True, **told).learn(ragged, y)
    by_hand = nr.make("pa1").learn([{"one": 1.0, **row} for row in (scaled(ragged) if told else ragged)], y)
    found = learner.scores([{}, *({name: 1.0} for name in names)])
    if not told:
        expected = by_hand.scores([{"one": 1.0}, *({"one": 1.0, name: 1.0} for name in names)])
        assert np.array_equal(found, expected)
    assert found[0] == pytest.approx(by_hand.scores_one({"one": 1.0}), abs=1e-9)


def test_looking_at_features_never_learned_leaves_no_trace() -> None:
    looked, plain = (nr.make("pa1", scale=True).learn(named(X[:60, :2], names[:2]), y[:60]) for _ in range(2))
    looked.predict(named(np.ones((3, 1)), ["city=Paris"], np.array([True])))
    for learner in (looked, plain):
        learner.learn(named(X[60:], names), y[60:])
    assert np.array_equal(looked.scores(dicts), plain.scores(dicts))


@pytest.mark.parametrize("where", ["learner.transaction.count", "learner.transaction.Transaction.play"])
def test_an_interrupt_at_any_moment_leaves_the_learner_as_it_was(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from noregret.learner.model_file import pack

    learner = nr.make("pa1", scale=True, bias=True).learn(dicts[:60], y[:60])
    before = pack(learner)

    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(f"noregret.{where}", interrupted)
    with pytest.raises(KeyboardInterrupt):
        learner.learn([*dicts[60:], {"new": 1.0}], [*y[60:].tolist(), 7])
    monkeypatch.undo()
    assert pack(learner) == before


def test_broken_sparse_rows_are_refused_with_a_bias_too() -> None:
    import scipy.sparse as sp

    broken = sp.csr_array((np.ones(2), np.array([0, 1], np.int32), np.array([0, 1, 2])), shape=(2, 3))
    broken.indices[1] = -1
    with pytest.raises(nr.BadValue, match="feature number -1"):
        nr.make("pa1", bias=True).learn(broken, [1, -1])
    bad = sp.csr_array(np.array([[0.0, 0.0, 0.0, np.nan]]))
    with pytest.raises(nr.BadValue, match="row 0, feature 3"):
        nr.make("pa1", bias=True).learn(bad, [1])


def test_rows_without_rows_teach_nothing() -> None:
    learner = nr.make("pa1").learn(named(np.zeros((0, 2)), ["a", "b"]), [])
    assert learner.copy().rounds == 0


def test_a_row_is_named_by_its_number_in_the_data() -> None:
    rows, labels = np.ones((9000, 2)), np.ones(9000)
    rows[8500, 1] = np.nan
    with pytest.raises(nr.BadValue, match=r"^row 8500, feature 1"):
        nr.race((rows, labels), ["pa1"], native=False)
    labels[8600] = 0.5
    with pytest.raises(nr.BadValue, match=r"^row 8600: the label 0\.5"):
        nr.race((np.ones((9000, 2)), labels), ["pa1"], native=False)
