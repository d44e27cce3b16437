"""Joint features: blocks of them are many classes, and whatever classes share they learn together."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.learner.model_file import FindCard, restore
from tests.conformance.plays import by_appearance, near
from tests.naive import streams

CLASSES = [0, 1, 2]


def blocks(x: dict[str, float], label: Any) -> dict[str, float]:
    return {f"{label}:{name}": value for name, value in x.items()}


def made(name: str = "pa1", **options: Any) -> nr.Joint:
    return nr.Joint(nr.make(name, task="ranking", pairs="worst", native=False, **options), blocks, CLASSES)


def rounds() -> tuple[list[dict[str, float]], list[int]]:
    X, _ = streams.sparse(60, 8, density=0.4, seed=3)
    U = np.random.default_rng(3).normal(size=(3, 8))
    y = by_appearance(streams.relabel(np.argmax(X @ U.T, axis=1), 3, rate=0.2, seed=3))
    return [{f"f{j}": float(x[j]) for j in np.flatnonzero(x)} for x in X], y.tolist()


@pytest.mark.parametrize("name", ["perceptron", "pa1", "pa2", "arow"])
def test_a_block_for_every_class_is_the_task_of_many_classes(name: str) -> None:
    X, y = rounds()
    joint, many = made(name), nr.make(name, task="multiclass", classes=CLASSES, native=False)
    for x, label in zip(X, y, strict=True):
        if joint.learner.rounds:
            near(list(joint.scores_one(x).values()), list(many.scores_one(x).values()))
            assert joint.predict_one(x) == many.predict_one(x)
        joint.learn_one(x, label)
        many.learn_one(x, label)
    assert joint.learner.updates == many.updates
    at_once = made(name).learn(X, y)
    assert [at_once.scores_one(x) for x in X] == [joint.scores_one(x) for x in X]


COST = {0: {1: 3.0, 2: 0.5}, 1: {0: 0.0}, 2: {0: 7.0}}
OPTIONS: list[dict[str, Any]] = [
    {"competitor": "max_loss"},
    {"cost": COST},
    {"cost": COST, "competitor": "max_loss"},
    {"cost": COST, "margin": "sqrt"},
    {"cost": COST, "margin": "sqrt", "competitor": "max_loss"},
    {"cost": COST, "margin": "unit"},
]


@pytest.mark.parametrize("name", ["pa1", "pa2", "ogd"])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_costs_and_competitors_are_those_of_many_classes(name: str, options: dict[str, Any]) -> None:
    X, y = rounds()
    weight = np.random.default_rng(0).random(len(y))
    weight[5] = 0.0
    joint = nr.Joint(nr.make(name, native=False), blocks, CLASSES, **options)
    many = nr.make(name, task="multiclass", classes=CLASSES, native=False, **options)
    found, expected = joint.play(X, y, weight), many.play(X, y, weight)
    near(found.scores.ravel().tolist(), expected.scores.ravel().tolist())
    near(found.losses.tolist(), expected.losses.tolist())
    for part in ("predictions", "mistakes", "updated", "truth"):
        assert getattr(found, part).tolist() == getattr(expected, part).tolist()
    assert (joint.mistakes, joint.updates, joint.rounds) == (many.mistakes, many.updates, many.rounds)


def overlapping(x: dict[str, float], label: int) -> dict[str, float]:
    """Features of the class alone, and features that classes share."""
    return {f"{label}:{name}": value for name, value in x.items()} | {
        f"shared {label // 2}:{name}": 0.5 * value for name, value in x.items()
    }


def obvious_hinge(X: list[Any], y: list[int], competitor: str, C: float) -> tuple[list[list[float]], list[float]]:
    """PA-I on w . phi(x, c) with costs as margins, one round after the other."""
    w: dict[str, float] = {}
    scores, losses = [], []
    for x, truth in zip(X, y, strict=True):
        phi = {c: overlapping(x, c) for c in CLASSES}
        f = {c: sum(w.get(name, 0.0) * value for name, value in phi[c].items()) for c in CLASSES}
        cost = {c: COST[truth].get(c, 1.0) for c in CLASSES if c != truth}
        loss = {c: cost[c] - (f[truth] - f[c]) for c in cost}
        rival = max(loss, key=lambda c: loss[c] if competitor == "max_loss" else f[c])
        scores.append([f[c] for c in CLASSES])
        losses.append(max(0.0, loss[rival]))
        names = {*phi[truth], *phi[rival]}
        z = {name: phi[truth].get(name, 0.0) - phi[rival].get(name, 0.0) for name in names}
        if loss[rival] > 0.0:
            step = min(C, loss[rival] / sum(value**2 for value in z.values()))
            for name in names:
                w[name] = w.get(name, 0.0) + step * z[name]
    return scores, losses


@pytest.mark.parametrize("competitor", ["runner_up", "max_loss"])
@pytest.mark.parametrize("C", [0.05, 10.0])
def test_hinge_losses_with_costs_are_those_of_the_obvious_loop(competitor: str, C: float) -> None:
    X, y = rounds()
    joint = nr.Joint(nr.make("pa1", C=C, native=False), overlapping, CLASSES, COST, competitor=competitor)
    transcript = joint.play(X, y)
    scores, losses = obvious_hinge(X, y, competitor, C)
    near(transcript.scores.ravel().tolist(), np.ravel(scores).tolist())
    near(transcript.losses.tolist(), losses)


# ---- all other classes at once ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("C", [0.02, 0.3, 1e6])
@pytest.mark.parametrize("cost", [None, COST], ids=["unit", "costs"])
def test_all_constraints_of_blocks_are_pa_all(C: float, cost: Any) -> None:
    X, y = rounds()
    joint = nr.Joint(nr.make("pa1", C=C, native=False), blocks, CLASSES, cost, competitor="all")
    many = nr.make("pa_all", C=C, classes=CLASSES, native=False, **({} if cost is None else {"cost": cost}))
    found, expected = joint.play(X, y), many.play(X, y)
    np.testing.assert_allclose(found.scores, expected.scores, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found.losses, expected.losses, rtol=1e-9, atol=1e-9)
    assert found.updated.tolist() == expected.updated.tolist()


@pytest.mark.parametrize("name", ["pa", "pa1", "pa2"])
def test_a_step_for_all_constraints_solves_its_problem(name: str) -> None:
    """The smallest change of w plus the price of one slack for all required margins, against a general solver."""
    from scipy.optimize import minimize as scipy_minimize

    minimize: Any = scipy_minimize

    X, y = rounds()
    C = 0.3
    options = {} if name == "pa" else {"C": C}
    joint = nr.Joint(nr.make(name, native=False, **options), overlapping, CLASSES, COST, competitor="all")
    for x, truth in zip(X[:12], y[:12], strict=True):
        rows = joint.rows(x)
        features = sorted({feature for row in rows for feature in row})
        table = np.array([[row.get(feature, 0.0) for feature in features] for row in rows])
        before = joint.scores([x])[0] if joint.rounds else np.zeros(3)
        rivals = [c for c in CLASSES if c != truth]
        Z = table[truth] - table[rivals]
        missing = np.array([COST[truth].get(c, 1.0) for c in rivals]) - (before[truth] - before[rivals])

        def problem(v: np.ndarray, name: str = name) -> float:
            price = {"pa": 0.0, "pa1": C * v[-1], "pa2": C * v[-1] ** 2}[name]
            return float(0.5 * v[:-1] @ v[:-1] + price)

        slack = 0.0 if name == "pa" else 1.0
        bounds = [(None, None)] * len(features) + [(0.0, None)]
        limits = {
            "type": "ineq",
            "fun": lambda v, Z=Z, missing=missing, slack=slack: Z @ v[:-1] + slack * v[-1] - missing,
        }
        best = minimize(
            problem, np.zeros(len(features) + 1), bounds=bounds, constraints=limits, method="SLSQP",
            options={"ftol": 1e-15, "maxiter": 500},
        )  # fmt: skip
        joint.learn_one(x, truth)
        moved = joint.scores([x])[0] - before
        np.testing.assert_allclose(moved, table @ best.x[:-1], atol=1e-5)


def test_all_constraints_need_a_passive_aggressive_rule_and_plain_features() -> None:
    with pytest.raises(nr.BadValue, match="solves the problem of pa, pa1, pa2, not of arow"):
        nr.Joint(nr.make("arow"), blocks, CLASSES, competitor="all")
    with pytest.raises(nr.BadValue, match="leave transforms, scale and bits out"):
        nr.Joint(nr.scale() | nr.make("pa1"), blocks, CLASSES, competitor="all")
    with pytest.raises(nr.BadValue, match="does not support cost="):
        nr.Joint(nr.make("perceptron"), blocks, CLASSES, COST)


# ---- files -----------------------------------------------------------------------------------------------------------


def test_the_feature_function_is_given_again_when_a_model_is_loaded(tmp_path: Path) -> None:
    X, y = rounds()
    joint = nr.Joint(nr.make("pa1", native=False), blocks, CLASSES, COST, competitor="max_loss").learn(X, y)
    joint.save(tmp_path / "joint.nr")
    features: Any
    for features in (blocks, {"blocks": blocks}):
        again = nr.load(tmp_path / "joint.nr", features=features)
        assert again.predict(X).tolist() == joint.predict(X).tolist()
        assert again.params == joint.params
    wrong: list[tuple[Any, str]] = [
        (None, "learned with the feature function 'blocks'"),
        (overlapping, "learned with the feature function 'blocks'"),
        ({"blocks": 3}, "features must be a function"),
    ]
    for features, words in wrong:
        with pytest.raises(nr.Error, match=words):
            nr.load(tmp_path / "joint.nr", features=features)
    nameless = nr.Joint(nr.make("pa1", native=False), lambda x, label: blocks(x, label), CLASSES)
    with pytest.raises(nr.Error, match="a function with a name to be saved"):
        nameless.save(tmp_path / "nameless.nr")
    assert nameless.copy().learn(X, y).rounds == len(y)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"classes": [0, 1, 7]}, "cost names the class 2"),
        ({"classes": [[0], 1, 2]}, "a class must be a number"),
        ({"classes": [0]}, "at least two different labels"),
        ({"cost": [[0, 1]]}, "a cost must be"),
        ({"cost": [[0, 1, "x"]]}, "must be a finite number"),
        ({"cost": [[0, 1, -2.0]]}, "at least 0"),
        ({"competitor": "runner_up"}, "does not fit|have learned|need a fresh learner"),
        ({"competitor": 3}, "competitor must be one of"),
        ({"margin": "wide"}, "margin must be one of"),
        ({"features": 3}, "must be the name of a function"),
    ],
)
def test_a_corrupt_header_is_refused(changes: dict[str, Any], words: str) -> None:
    X, y = rounds()
    joint = nr.Joint(nr.make("pa1", native=False), blocks, CLASSES, COST, competitor="max_loss").learn(X, y)
    header, arrays = joint.dump()
    with pytest.raises(nr.BadValue, match=words) as caught:
        restore({"kind": "joint", **header, **changes}, arrays, FindCard(features=blocks))
    assert "corrupt model file" in str(caught.value)


def test_errors_name_the_row_of_the_caller() -> None:
    X, y = rounds()
    for competitor in ("runner_up", "all"):
        joint = nr.Joint(nr.make("pa1", native=False), blocks, CLASSES, competitor=competitor).learn(X[:5], y[:5])
        with pytest.raises(nr.BadValue, match=r"^row 2, feature") as caught:
            joint.learn([X[0], X[1], {"f0": np.nan}], [0, 1, 2])
        assert caught.value.row == 2


def test_what_classes_share_is_learned_once() -> None:
    """Prices: dearer or cheaper, by one feature that both have."""
    joint = nr.Joint(
        nr.make("pa", task="ranking", pairs="worst", native=False),
        lambda x, label: {"distance": -abs(x - label)},
        [10, 20, 30, 40],
    )
    assert joint.predict_one(12) is None
    joint.learn([12, 37, 22], [10, 40, 20])
    assert joint.predict([11, 19, 33, 90]).tolist() == [10, 20, 30, 40]


def test_bad_input_is_refused_and_changes_nothing() -> None:
    X, y = rounds()
    joint = made().learn(X[:20], y[:20])
    before = joint.scores_one(X[0])
    with pytest.raises(nr.BadValue, match="the label 7 is not one of the classes"):
        joint.learn_one(X[0], 7)
    with pytest.raises(nr.BadValue, match="the label 7 is not one of the classes"):
        joint.learn(X[:2], [0, 7])
    with pytest.raises(nr.BadValue, match="2 rows and y has 1 labels"):
        joint.learn(X[:2], [0])
    with pytest.raises(nr.BadValue, match="features must return a dict"):
        nr.Joint(joint.learner, lambda x, label: [1.0], CLASSES).learn_one(X[0], 0)
    with pytest.raises(nr.BadValue, match='task="ranking"'):
        nr.Joint(nr.make("pa1", native=False).learn([[1.0]], [1]), blocks, CLASSES)
    with pytest.raises(nr.BadValue, match="competitor must be one of"):
        nr.Joint(nr.make("pa1"), blocks, CLASSES, competitor="rest")
    with pytest.raises(nr.BadValue, match="needs a rule learner"):
        nr.Joint(joint, blocks, CLASSES)  # type: ignore[arg-type]
    with pytest.raises(nr.BadValue, match="at least two"):
        nr.Joint(nr.make("pa1", task="ranking", pairs="worst"), blocks, [1, 1])
    assert joint.scores_one(X[0]) == before
    assert joint.learner.rounds == 20
