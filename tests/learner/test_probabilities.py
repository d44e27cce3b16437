"""Probabilities of classes: calibrated on past rounds only, the same in a batch and a loop, kept in the model file."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

import noregret as nr
from noregret.learner.calibration import fit
from noregret.learner.model_file import FORMAT
from noregret.learner.recent_scores import LEAST, MOST, UNSEEN, RecentScores, capacity
from tests.learner.test_model_file import sealed
from tests.support import refusal


def noisy(rows: int = 400, classes: int = 2, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 4))
    scores = X @ rng.normal(size=(4, classes)) + rng.gumbel(size=(rows, classes))
    return X, np.argmax(scores, axis=1)


def plain(**options: Any) -> nr.RuleLearner:
    return nr.make("pa1", native=False, **options)


def window(learner: nr.RuleLearner) -> np.ndarray:
    assert learner.model.recent is not None
    return learner.model.recent.remembered()


# ---- what is recorded ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [2, 4])
def test_the_scores_of_a_round_are_those_before_it_was_learned(classes: int) -> None:
    X, y = noisy(60, classes)
    learner, said = plain(), []
    seen: set[int] = set()
    for x, label in zip(X, y.tolist(), strict=True):
        if learner.rounds and label in seen and len(seen) == classes:
            said.append(np.atleast_1d(learner.scores(x[None])[0]))
        learner.learn(x[None], [label])
        seen.add(label)
    np.testing.assert_array_equal(window(learner)[-len(said) :, 1:], said)


@pytest.mark.parametrize(("sizes", "classes"), [([1], 12), ([3, 50], 12), ([7, 301], 2)])
def test_batches_leave_the_window_that_single_rounds_leave(sizes: list[int], classes: int) -> None:
    X, y = noisy(1200 if classes == 2 else 500, classes)
    whole, parts, start = plain().learn(X, y), plain(), 0
    while start < len(y):
        for size in sizes:
            parts.learn(X[start : start + size], y[start : start + size])
            start += size
    np.testing.assert_array_equal(window(whole), window(parts))
    assert len(window(whole)) == capacity(1 if classes == 2 else classes)
    np.testing.assert_array_equal(whole.predict_proba(X[:50]), parts.predict_proba(X[:50]))


@pytest.mark.parametrize("options", [{}, {"scale": True, "bias": True, "class_weight": "balanced"}])
def test_compiled_single_rounds_leave_the_same_window(options: dict[str, Any]) -> None:
    X, y = noisy(1200)
    rows = [{f"f{j}": float(value) for j, value in enumerate(x)} for x in X]
    loop, batch = nr.make("pa1", **options), nr.make("pa1", **options).learn(rows, y)
    for row, label in zip(rows, y.tolist(), strict=True):
        loop.predict_one(row)
        loop.learn_one(row, label)
    np.testing.assert_array_equal(window(loop), window(batch))
    assert loop.predict_proba_one(rows[0]) == batch.predict_proba_one(rows[0])
    if options:
        return
    many = nr.make("pa1", classes=["a", "b", "c"]).learn(rows[:3], ["a", "b", "c"])
    for row in rows[3:40]:
        many.learn_one(row, "b")
    many.learn_one(rows[0], "a", weight=0.0)
    assert len(window(many)) == 40
    assert set(window(many)[3:, 0]) == {1.0}


def test_rounds_without_weight_or_class_are_not_recorded() -> None:
    learner = plain(classes=[-1, 1])
    X = np.ones((4, 2))
    learner.learn(X, [1, -1, nr.UNIVERSUM, 1], weight=[1.0, 0.0, 1.0, 2.0])
    assert window(learner)[:, 0].tolist() == [1.0, 1.0]
    before = window(learner)
    learner.learn(X, [1, -1, 1, -1], weight=[0.0] * 4)
    np.testing.assert_array_equal(window(learner), before)


def test_a_refused_call_leaves_the_window_as_it_was() -> None:
    X, y = noisy(50)
    learner = nr.make("perceptron", native=False).learn(X, y)
    before, cells = window(learner), learner.model.recent.cells  # type: ignore[union-attr]
    refusal(lambda: learner.learn([[1.0, 2.0, 3.0, 4.0], [1.0, 2.0, np.nan, 4.0]], [0, 1]))
    third = [*X[:5].tolist(), [1e200] * 4, [1e200] * 4, [1e200] * 4]
    refusal(lambda: learner.learn(third, [0, 2, 3, 4, 0, 1, 2, 0]))
    np.testing.assert_array_equal(window(learner), before)
    assert learner.model.recent.cells is cells  # type: ignore[union-attr]


def test_a_third_class_sees_the_rounds_of_two() -> None:
    X, y = noisy(30)
    learner = plain().learn(X, y)
    two = window(learner)
    learner.learn([[1.0, 0.0, 0.0, 0.0]], [7])
    three = window(learner)
    assert three.shape == (len(two), 4)
    signs = learner.model.labels.signs(2)
    np.testing.assert_array_equal(three[:, 1] * 2.0 * signs[0], two[:, 1])
    np.testing.assert_array_equal(signs[three[:, 0].astype(int)], two[:, 0])
    assert (three[:, 3] == UNSEEN).all()


# ---- what is made of it ----------------------------------------------------------------------------------------------


def test_a_fit_is_the_one_a_solver_finds() -> None:
    rng = np.random.default_rng(3)
    scores = rng.normal(size=(300, 3)) * 20.0
    truth = np.argmax(scores * 0.1 + rng.gumbel(size=scores.shape), axis=1)
    found = fit(scores, truth)
    assert found.offsets == ()
    doubt = 1.0 / 302.0
    target = np.full(scores.shape, doubt / 2)
    target[np.arange(300), truth] = 1.0 - doubt

    def loss(slope: Any) -> float:
        z = slope[0] * scores
        return float((np.log(np.exp(z).sum(axis=1)) - (target * z).sum(axis=1)).mean())

    best = minimize(loss, [0.05], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-13}).x[0]
    assert found.slope == pytest.approx(best, rel=1e-5)
    assert found.slope == pytest.approx(0.1, rel=0.2)


def test_offsets_are_fitted_where_rounds_ask_for_them_and_only_there() -> None:
    rng = np.random.default_rng(4)
    score = rng.normal(size=800)
    columns = np.column_stack([-0.5 * score, 0.5 * score])
    truth = (rng.random(800) < 1.0 / (1.0 + np.exp(-(2.0 * score - 1.5)))).astype(np.int64)
    found = fit(columns, truth)
    assert found.slope == pytest.approx(2.0, rel=0.2)
    assert found.offsets[1] - found.offsets[0] == pytest.approx(-1.5, abs=0.3)
    balanced = (rng.random(800) < 1.0 / (1.0 + np.exp(-2.0 * score))).astype(np.int64)
    assert fit(columns, balanced).offsets == ()


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", ["pa1", "arow"])
def test_labels_of_probability_p_are_right_about_as_often(name: str, classes: int) -> None:
    X, y = noisy(3000, classes)
    X, y, new, truth = X[:1500], y[:1500], X[1500:], y[1500:]
    learner = nr.make(name, native=False).learn(X, y)
    p = learner.predict_proba(new)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    labels = np.array(learner.classes)[p.argmax(axis=1)]
    assert abs(p.max(axis=1).mean() - (labels == truth).mean()) < 0.05
    if not learner.calibration.offsets:
        np.testing.assert_array_equal(labels, learner.predict(new))
    report = nr.evaluate((new, truth), learner)
    assert report["calibration_error"] < 0.08
    assert report["log_loss"] < np.log(classes)


def test_class_weights_do_not_distort_probabilities() -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(4000, 2))
    y = (rng.random(4000) < 1.0 / (1.0 + np.exp(2.5 - 1.5 * X[:, 0]))).astype(int)
    learner = nr.make("ogd", bias=True, class_weight={1: 8.0}, native=False).learn(X[:3000], y[:3000])
    p = learner.predict_proba(X[3000:])[:, learner.classes.index(1)]
    assert learner.predict(X[3000:]).mean() > 1.5 * y[3000:].mean()  # it says 1 more often than 1 comes
    assert abs(p.mean() - y[3000:].mean()) < 0.05


def test_the_logistic_loss_gives_log_odds() -> None:
    X, y = noisy(200)
    learner = nr.make("ogd", loss="logistic", native=False).learn(X, np.where(y, "b", "a"))
    assert learner.model.recent is None
    sure = 1.0 / (1.0 + np.exp(-learner.scores(X)))
    p = learner.predict_proba(X)
    np.testing.assert_allclose(p[:, learner.classes.index(learner.model.labels.sides(2)[1])], sure)
    rest = nr.make("adagrad", loss="logistic", task="multiclass", competitor="rest", native=False)
    X, y = noisy(300, 3)
    each = 1.0 / (1.0 + np.exp(-rest.learn(X, y).scores(X)))
    np.testing.assert_allclose(rest.predict_proba(X), each / each.sum(axis=1, keepdims=True))


def test_the_first_rounds_have_probabilities_too() -> None:
    learner = plain()
    assert learner.predict_proba_one({"a": 1.0}) == {}
    learner.learn_one({"a": 1.0}, "x")
    assert learner.predict_proba_one({"a": 1.0}) == {"x": 1.0}
    learner.learn_one({"b": 1.0}, "y")
    found = learner.predict_proba_one({"b": 1.0})
    assert found["y"] > 0.5 > found["x"]
    with pytest.raises(nr.NotLearned):
        plain().predict_proba([[1.0]])


@pytest.mark.parametrize(("classes", "options"), [(2, {}), (4, {}), (2, {"class_weight": {1: 9.0}})])
def test_one_row_has_the_probabilities_of_many(classes: int, options: dict[str, Any]) -> None:
    X, y = noisy(600, classes)
    for name in ("pa1", "ogd"):
        loss = {"loss": "logistic"} if name == "ogd" else {}
        learner = nr.make(name, native=False, **loss, **options).learn(X, y)
        single = [list(learner.predict_proba_one(x).values()) for x in X[:20]]
        np.testing.assert_allclose(single, learner.predict_proba(X[:20]), rtol=1e-12)


def test_a_fit_serves_many_predictions() -> None:
    X, y = noisy(2000)
    learner = plain().learn(X, y)
    first = learner.calibration
    learner.learn(X[:1], y[:1])
    assert learner.calibration is first
    learner.learn(X[:MOST], y[:MOST])
    assert learner.calibration is not first


# ---- kept, merged, refused -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [2, 3])
def test_a_saved_learner_goes_on_with_the_same_probabilities(classes: int, tmp_path: Path) -> None:
    X, y = noisy(1500, classes)
    learner = plain().learn(X[:1300], y[:1300])
    learner.save(tmp_path / "m.nr")
    loaded, copy = nr.load(tmp_path / "m.nr"), learner.copy()
    for one in (learner, loaded, copy):
        one.learn(X[1300:], y[1300:])
    for one in (loaded, copy):
        np.testing.assert_array_equal(one.predict_proba(X), learner.predict_proba(X))
    loaded.save(tmp_path / "again.nr")
    learner.save(tmp_path / "m.nr")
    assert (tmp_path / "again.nr").read_bytes() == (tmp_path / "m.nr").read_bytes()


def test_a_merged_learner_is_calibrated_on_the_rounds_that_follow() -> None:
    X, y = noisy(300)
    both = nr.make("arow", native=False).learn(X[:150], y[:150]).merge(
        nr.make("arow", native=False).learn(X[150:], y[150:])
    )  # fmt: skip
    assert "merged" in refusal(lambda: both.predict_proba(X), nr.NotLearned)
    both.learn(X, y)
    assert both.predict_proba(X).shape == (300, 2)


def test_models_of_before_say_what_to_do(tmp_path: Path) -> None:
    old = nr.load(Path(__file__).parents[1] / "golden" / "binary_sparse_names.nr")
    assert "older" in refusal(lambda: old.predict_proba([{"a": 1.0}]), nr.NotLearned)


@pytest.mark.parametrize("spoil", ["count", "truth", "shape", "nan", "extra"])
def test_a_corrupt_window_is_refused(spoil: str, tmp_path: Path) -> None:
    X, y = noisy(40)
    learner = plain().learn(X, y)

    header, arrays = learner.dump()
    rows = arrays["recent_scores"] = arrays["recent_scores"].copy()
    if spoil == "count":
        header["recent_scores"] += 1
    elif spoil == "truth":
        rows[0, 0] = 0.5
    elif spoil == "shape":
        arrays["recent_scores"] = np.ascontiguousarray(rows[:, :1])
    elif spoil == "nan":
        rows[1, 1] = np.nan
    else:
        header["parameters"] = {**header["parameters"], "labels": "asked", "classes": learner.classes}
    file = tmp_path / "m.nr"
    file.write_bytes(sealed({"format": FORMAT, "kind": "rule", **header}, arrays))
    refusal(lambda: nr.load(file), nr.Error)


def test_where_there_are_none_the_error_says_why() -> None:
    regression = nr.make("pa1", task="regression", native=False).learn([[1.0]], [2.0])
    assert "regression" in refusal(lambda: regression.predict_proba([[1.0]]))
    asked = nr.make("pa1", labels="asked", classes=[0, 1], native=False).learn([[1.0], [2.0]], [0, 1])
    assert "asked" in refusal(lambda: asked.predict_proba([[1.0]]))


def test_confidence_is_not_a_probability_of_labels() -> None:
    X, y = noisy(3000)
    learner = nr.make("arow", native=False).learn(X[:2000], y[:2000])
    right = (learner.predict(X[2000:]) == y[2000:]).mean()
    assert learner.confidence(X[2000:]).mean() > right + 0.1
    assert abs(learner.predict_proba(X[2000:]).max(axis=1).mean() - right) < 0.05


def test_delayed_labels_have_the_probabilities_of_their_learner() -> None:
    X, y = noisy(100)
    learner = nr.delayed(plain().learn(X, y))
    np.testing.assert_array_equal(learner.predict_proba(X), learner.learner.predict_proba(X))  # type: ignore[attr-defined]
    assert set(learner.predict_proba_one({0: 1.0})) == {0, 1}


def test_the_window_is_small() -> None:
    assert [capacity(columns) for columns in (1, 10, 1000)] == [MOST, 409, LEAST]
    assert RecentScores(2).cells.nbytes < 40_000
