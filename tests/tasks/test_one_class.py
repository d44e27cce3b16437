"""The task of one class: a ball is held around rows that come without labels."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize

import noregret as nr
from noregret.algebra import add, sqnorm, sqsource
from noregret.algebra.centre import distance, toward
from noregret.algebra.internal_verbs import row, scaled_by
from noregret.learner.model_file import pack
from noregret.tasks.one_class import sides
from tests.conformance.plays import CARDS, near, rows_of, state, unusual
from tests.naive.tasks.one_class import STEPS, OneClass
from tests.support.command_line import noregret
from tests.support.cover import ALL, seeds
from tests.support.encoding import encoded

NAMES = list(STEPS)
ALGEBRAS = ["sparse", "dense", "reference", "kernel"]
every_player = pytest.mark.parametrize("name", NAMES)
RADII = pytest.mark.parametrize("learns", [False, True], ids=["fixed", "learned"])


def stream(rounds: int = 60, seed: int = 0) -> tuple[Any, Any]:
    """Rows around a point, one of them zero and some far off, which are labelled -1."""
    rng = np.random.default_rng(seed)
    X = (rng.normal(size=(rounds, 5)) + 1.5) * (rng.random((rounds, 5)) < 0.7)
    X[7] = 0.0
    y = np.where(np.arange(rounds) % 9 == 5, -1, 1)
    X[y < 0] -= 4.0
    return X, y


def player(name: str, **told: Any) -> nr.RuleLearner:
    return nr.make(name, **{"task": "one-class", "radius": 1.5, "native": False, **told})


UNUSED = ("radius", "random_start", "power", "decay")  # of a set, of weights, and of other schedules


def centre(learner: nr.RuleLearner) -> Any:
    """The centre, and after its coordinates its height."""
    return np.append(state(learner)["w"][0], learner.model.arrays.n.w_height)


# ---- the twin ----------------------------------------------------------------------------------------------------


@pytest.mark.thinned(2)
@every_player
@pytest.mark.parametrize("algebra", ALGEBRAS)
@RADII
def test_plays_as_its_twin(name: str, algebra: str, learns: bool) -> None:
    X, y = stream()
    for numbers, labels in (({}, None), (unusual(nr.learners().rules[name]), y)):
        own = {key: value for key, value in numbers.items() if key not in UNUSED}
        twin = OneClass(name, 1.5, learns, **own)
        told = {"kernel": "linear"} if algebra == "kernel" else {}
        learner = player(name, algebra=algebra, learn_radius=learns, **told, **own)
        transcript = learner.play(sp.csr_array(X) if algebra == "sparse" else X, labels)
        scores, moved = twin.run(X, labels)
        near(transcript.scores, scores)
        assert transcript.updated.tolist() == moved.tolist()
        assert transcript.predictions.tolist() == np.where(scores <= 0.0, 1, -1).tolist()
        truth = np.ones(len(X)) if labels is None else labels
        assert transcript.mistakes.tolist() == ((scores <= 0.0) != (truth > 0)).tolist()
        near(transcript.losses, np.where(truth > 0, np.maximum(0.0, scores), 0.0))
        near(learner.scores(X), twin.final(X))
        assert learner.mistakes == transcript.mistakes.sum()
        assert (learner.rounds, learner.updates) == (len(X), moved.sum())


@pytest.mark.compiles
@pytest.mark.parametrize(
    ("name", "algebra"),
    [("pa1", "sparse"), ("ogd", "dense"), ("pa1", "dense"), ("ogd", "sparse")][: None if ALL else 2],
)
def test_the_compiled_text_plays_alike(name: str, algebra: str) -> None:
    X, y = stream()
    rows = sp.csr_array(X) if algebra == "sparse" else X
    plain, compiled = (player(name, algebra=algebra, learn_radius=True, native=native) for native in (False, True))
    near(compiled.play(rows, y).scores, plain.play(rows, y).scores, 1e-13)
    near(compiled.scores(rows), plain.scores(rows), 1e-13)


def test_a_weight_is_how_much_a_row_counts() -> None:
    X, y = stream()
    weight = np.where(np.arange(len(X)) % 3 == 0, 0.0, 0.4)
    for name in ("pa1", "pa2", "ogd"):
        twin = OneClass(name, 1.5)
        near(player(name).play(X, y, weight).scores, twin.run(X, y, weight)[0])


def test_who_plays_is_found_from_the_verbs() -> None:
    assert {card.name for card in CARDS if "one-class" in card.tasks and card.level is None} == set(NAMES)


# ---- what a step does --------------------------------------------------------------------------------------------


@RADII
def test_after_a_step_of_pa_the_row_is_at_the_radius(learns: bool) -> None:
    X, _ = stream()
    learner = player("pa", learn_radius=learns)
    for t in range(len(X)):
        outside = learner.play(X[t : t + 1]).scores[0] > 0.0
        if outside:
            assert learner.scores(X[t : t + 1])[0] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.thinned(2)
@pytest.mark.parametrize("name", ["pa1", "pa2"])
@pytest.mark.parametrize("C", [0.2, 1.0])
def test_a_step_is_the_best_trade_of_loss_against_change(name: str, C: float) -> None:
    X, _ = stream(12)
    learner = player(name, C=C)
    learner.learn(X[:1])
    for t in range(1, len(X)):
        before = centre(learner)[:-1]

        def cost(w: Any, x: Any = X[t], before: Any = before) -> float:
            loss = max(0.0, float(np.linalg.norm(x - w)) - 1.5)
            return 0.5 * float((w - before) @ (w - before)) + C * (loss if name == "pa1" else loss**2)

        learner.learn(X[t : t + 1])
        found = minimize(cost, before, method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-13, "maxiter": 20000})
        assert cost(centre(learner)[:-1]) <= found.fun + 1e-9


@pytest.mark.parametrize("name", ["pa", "pa1", "pa2"])
@seeds(3)
@RADII
def test_the_losses_keep_their_bound(name: str, seed: int, learns: bool) -> None:
    """Crammer et al., lemma 1 with examples of length 1: sum of tau (2 loss - tau - 2 loss of u) <= |u - w_1|^2."""
    X, _ = stream(150, seed)
    C, B = 0.3, 2.0
    learner = player(name, radius=B, learn_radius=learns, **({} if name == "pa" else {"C": C}))
    losses = learner.play(X).losses
    tau = {"pa": losses, "pa1": np.minimum(C, losses), "pa2": losses / (1.0 + 0.5 / C)}[name]
    first = np.append(np.zeros(5), B if learns else 0.0)
    for middle, height in ((X.mean(axis=0), 0.0), (np.median(X, axis=0), 0.7 * B * learns), (np.ones(5), 0.0)):
        u = np.append(middle, height)
        theirs = np.maximum(0.0, np.linalg.norm(np.c_[X, np.zeros(len(X))] - u, axis=1) - B)
        assert (tau * (2.0 * losses - tau - 2.0 * theirs)).sum() <= (u - first) @ (u - first) + 1e-9


def test_the_squared_losses_of_pa_are_at_most_the_distance_to_a_centre_that_holds_all() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 4))
    X = 3.0 + X / np.maximum(1.0, np.linalg.norm(X, axis=1))[:, None]
    fixed = player("pa", radius=1.0).play(X).losses
    assert 0.0 < (fixed**2).sum() <= 4 * 3.0**2
    learned = player("pa", radius=2.0, learn_radius=True).play(X).losses
    assert 0.0 < (learned**2).sum() <= 4 * 3.0**2 + (2.0 - np.sqrt(3.0)) ** 2


def test_a_learned_radius_grows_from_nothing_and_stays_below_its_limit() -> None:
    X, _ = stream(200)
    learner = player("pa1", radius=3.0, learn_radius=True, C=0.1)
    found = []
    for t in range(len(X)):
        learner.learn(X[t : t + 1])
        found.append(3.0**2 - learner.model.arrays.n.w_height**2)
    assert found[0] < 1.0
    assert (np.diff(found) >= 0.0).all()
    assert found[-1] < 9.0
    effective = np.sqrt(found[-1])
    outside = np.linalg.norm(X - centre(learner)[:-1], axis=1) > effective
    assert learner.predict(X).tolist() == np.where(outside, -1, 1).tolist()


@pytest.mark.parametrize("algebra", ["sparse", "dense", "reference"])
def test_a_unit_step_may_be_stretched_and_at_the_centre_there_is_none(algebra: str) -> None:
    learner = player("pa1", algebra=algebra).learn(stream()[0])
    w, x = learner.model.arrays.w, np.zeros((2, 5))
    x[1] = np.add(centre(learner)[:-1], [3.0, 0.0, 0.0, 0.0, 4.0])
    rows = learner._loops.engine.rows(encoded(learner, x, grow=False), 0, 2)
    length = distance(w, row(rows, 1))
    assert length == pytest.approx(5.0)
    step = scaled_by(scaled_by(toward(w, row(rows, 1), length), 2.0), -3.0)
    assert (sqnorm(step), sqsource(step)) == (36.0, 1.0)
    before = centre(learner)
    add(w, 0.5, step)
    near(centre(learner) - before, [-1.8, 0.0, 0.0, 0.0, -2.4, 0.0], 1e-12)
    nowhere = toward(w, row(rows, 0), 0.0)
    before = centre(learner)
    add(w, 1.0, scaled_by(nowhere, 2.0))
    assert (sqnorm(nowhere), centre(learner).tolist()) == (0.0, before.tolist())


# ---- keeping -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["pa1", "ogd"])
@pytest.mark.parametrize("algebra", ["sparse", "dense"])
def test_chunks_saving_and_single_rounds_change_no_bit(name: str, algebra: str, tmp_path: Path) -> None:
    X, y = stream()
    whole = player(name, algebra=algebra, learn_radius=True).learn(X, y)
    for size in (1, 7):
        parts = player(name, algebra=algebra, learn_radius=True)
        for start in range(0, len(X), size):
            parts.learn(X[start : start + size], y[start : start + size])
        assert pack(parts) == pack(whole)
    half = player(name, algebra=algebra, learn_radius=True).learn(X[:23], y[:23])
    half.save(tmp_path / "half.nr")
    assert pack(nr.load(tmp_path / "half.nr").learn(X[23:], y[23:])) == pack(whole)
    assert pack(half.copy().learn(X[23:], y[23:])) == pack(whole)


def test_rows_by_name_and_one_by_one() -> None:
    X, _ = stream()
    whole, single = player("pa1").learn(rows_of(X)), player("pa1")
    assert single.predict_one({"f0": 1.0}) is None
    for named in rows_of(X):
        single.learn_one(named)
    assert pack(single) == pack(whole)
    assert single.scores_one({"never": 30.0}) > 20.0  # a feature of which nothing is known is far away all the same
    assert single.predict_one({"never": 30.0}) == -1
    for algebra in ("sparse", "dense"):
        wide = player("pa1", algebra=algebra, columns="grow").learn(X).scores(np.array([[0.0] * 6, [0.0] * 5 + [30.0]]))
        assert wide[1] > wide[0] + 20.0


@pytest.mark.parametrize(
    ("y", "why"),
    [
        ([1, 0, 1], "row 1: the labels of one-class are 1 or True"),
        (["in"] * 3, "row 0"),
        ([1, 1], "3 rows"),
        (7, "no labels"),
    ],
)
def test_what_is_refused_leaves_no_trace(y: Any, why: str) -> None:
    learner = player("pa1").learn(stream()[0])
    before = pack(learner)
    with pytest.raises(nr.BadValue, match=why):
        learner.learn(np.ones((3, 5)), y)
    with pytest.raises(nr.BadValue, match="row 2"):
        learner.learn(np.array([[1.0] * 5, [2.0] * 5, [np.nan] * 5]))
    with pytest.raises(nr.BadValue, match="no longer finite"):
        learner.learn(np.full((2, 5), 1e200))
    assert pack(learner) == before


def test_truth_values_are_labels_and_none_is_inside() -> None:
    X, y = stream()
    whole = player("pa1").learn(X, y)
    assert pack(player("pa1").learn(X, y > 0)) == pack(whole)
    assert pack(player("pa1").learn(X, [None if label > 0 else False for label in y])) == pack(whole)


@pytest.mark.parametrize(
    ("name", "told", "why"),
    [
        ("arow", {}, "arow cannot play one-class"),
        ("perceptron", {}, "perceptron cannot play one-class"),
        ("pa1", {"gate": "mistake"}, "do not only move by steps"),
        ("ogd", {"onto": "ball"}, "do not only move by steps"),
        ("pa1", {"radius": -1.0}, "radius must be at least 0"),
        ("pa1", {"learn_radius": "maybe"}, "learn_radius must be one of yes, no"),
        ("pa1", {"average": True}, "cannot be averaged"),
        ("pa1", {"classes": [1, -1]}, "leave classes out"),
        ("pa1", {"class_weight": {1: 2.0}}, "leave class_weight out"),
        ("ogd", {"loss": "logistic"}, "does not fit one-class; use one of hinge, squared_hinge"),
    ],
)
def test_what_cannot_be_made_is_said(name: str, told: dict[str, Any], why: str) -> None:
    with pytest.raises(nr.BadValue, match=why):
        player(name, **told)
    with pytest.raises(nr.BadValue, match="3 rows and y has no labels"):
        nr.make("pa1").learn(np.ones((3, 2)))


def test_two_balls_are_merged_into_one_between_them() -> None:
    X, _ = stream(90)
    a, b = (player("pa1", learn_radius=True).learn(rows) for rows in (X[:30], X[30:]))
    near(centre(a.merge(b)), centre(a) / 3.0 + centre(b) * 2.0 / 3.0)


def test_a_ball_of_no_size_follows_the_rows() -> None:
    X, _ = stream()
    for algebra in ("sparse", "dense"):
        learner = player("pa", radius=0.0, algebra=algebra, native=True).learn(X)
        near(centre(learner)[:-1], X[-1], 1e-9)


# ---- the command line --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("labelled", [True, False])
def test_on_the_command_line(tmp_path: Path, labelled: bool) -> None:
    X, y = stream()
    rows = ["a,b,c,d,e" + ",label" * labelled]
    rows += [",".join(map(str, [*x, *([label] if labelled else [])])) for x, label in zip(X.tolist(), y, strict=True)]
    (tmp_path / "rows.csv").write_text("\n".join(rows) + "\n")
    told = ("--task", "one-class", "--learner", "pa1", "--set", "radius=1.5", "--no-scale")
    learned = noregret("learn", "rows.csv", *told, "--save", "m.nr", "--json", "-", cwd=tmp_path).stdout
    twin = OneClass("pa1", 1.5)
    _, moved = twin.run(X, y if labelled else None)
    assert json.loads(learned)["learners"][0]["updates"] == moved.sum()
    said = noregret("predict", "m.nr", "rows.csv", "--scores", "--quiet", cwd=tmp_path).stdout.splitlines()
    assert said[0] == "prediction,score"
    near([float(line.split(",")[1]) for line in said[1:]], twin.final(X))


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (np.array([True, False]), [1.0, -1.0]),
        ([True, False, None], [1.0, -1.0, 1.0]),
        (np.array([1, -1, -1]), [1.0, -1.0, -1.0]),
        (np.array([1.0, -1.0]), [1.0, -1.0]),
        ([1, None, -1.0, float("nan"), False], [1.0, 1.0, -1.0, 1.0, -1.0]),
        (np.array([1.0, np.nan, -1.0]), [1.0, 1.0, -1.0]),
        (np.array([1, 1], np.uint8), [1.0, 1.0]),
        ([np.True_, None, np.int8(-1)], [1.0, 1.0, -1.0]),
        ([], []),
    ],
)
def test_rows_are_inside_unless_their_label_says_otherwise(labels: Any, expected: list[float]) -> None:
    found = sides(labels)
    assert found.dtype == np.float64
    assert found.tolist() == expected


OTHERS: list[tuple[Any, int]] = [
    ([1, 2], 1),
    ([1, -2], 1),
    ([2, 2], 0),
    (np.array([-1, 2]), 1),
    ([0, 1], 0),
    ([1.5], 0),
    (["in", "out"], 0),
    ([1, "1"], 0),
    ([None, 0], 1),
    ([None, 2], 1),
    ([None, 1 + 0j], 1),
    ([None, complex("nan")], 1),
    ([None, "in"], 1),
]


@pytest.mark.parametrize(("labels", "row"), OTHERS)
def test_other_labels_are_refused(labels: Any, row: int) -> None:
    with pytest.raises(nr.BadValue, match=rf"^row {row}: the labels of one-class are 1 or True .*, not") as error:
        sides(labels)
    assert error.value.row == row
    assert f"not {np.asarray(labels).tolist()[row]!r};" in str(error.value)


@pytest.mark.parametrize(
    "labels", [[[1, -1]], np.array([[1, -1]]), np.ones((2, 1)), np.ones((2, 2), bool), [[1], [1, 1]]]
)
def test_a_row_has_one_label(labels: Any) -> None:
    learner = player("pa1").learn(np.eye(2))
    before = pack(learner)
    with pytest.raises(nr.BadValue, match="y must be one label for every row"):
        learner.learn(np.eye(2)[: len(labels)], labels)
    assert pack(learner) == before
