"""Structured output by a decoder: an enumerating decoder is joint features, and rules step as their text says."""

from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.structured.decoder import EnumeratingDecoder
from tests.conformance.plays import by_appearance, near
from tests.naive import streams
from tests.naive.structured import NaiveStructured, Output

CLASSES = [0, 1, 2]
COST = {0: {1: 3.0, 2: 0.5}, 1: {0: 0.25, 2: 1.0}, 2: {0: 7.0, 1: 1.0}}


def overlapping(x: dict[str, float], label: int) -> dict[str, float]:
    """Features of the class alone, and features that classes share."""
    return {f"{label}:{name}": value for name, value in x.items()} | {
        f"shared {label // 2}:{name}": 0.5 * value for name, value in x.items()
    }


class Classes(EnumeratingDecoder):
    """Joint features as a decoder: the outputs are classes."""

    def __init__(self, cost: Any = None) -> None:
        self.cost = cost

    def outputs(self, x: Any) -> list[int]:
        return CLASSES

    def features(self, x: Any, y: Any) -> dict[str, float]:
        return overlapping(x, y)

    def loss(self, y: Any, predicted: Any) -> float:
        if y == predicted:
            return 0.0
        return 1.0 if self.cost is None else float(self.cost[y][predicted])


def rounds() -> tuple[list[dict[str, float]], list[int]]:
    X, _ = streams.sparse(60, 8, density=0.4, seed=3)
    U = np.random.default_rng(3).normal(size=(3, 8))
    y = by_appearance(streams.relabel(np.argmax(X @ U.T, axis=1), 3, rate=0.2, seed=3))
    return [{f"f{j}": float(x[j]) for j in np.flatnonzero(x)} for x in X], y.tolist()


def rule(name: str, **options: Any) -> nr.RuleLearner:
    """A learner; by default some numbers follow the rows, which are differences here."""
    fixed = {"pegasos": {"lam": 0.05}, "ogd": {"eta0": 0.1}, "pa1": {"C": 1.0}, "pa2": {"C": 1.0}}
    given = fixed.get(name, {})
    return nr.make(name, native=False, **given, **options)


def made(name: str = "pa1", cost: Any = None, average: bool = False, **options: Any) -> Any:
    inner = rule(name, **({"average": True} if average else {}))
    return nr.make("structured", decoder=Classes(cost), learner=inner, **options)


@pytest.mark.thinned(6)
@pytest.mark.parametrize("name", ["pa", "pa1", "pa2", "arow", "ogd", "adagrad", "pegasos"])
@pytest.mark.parametrize("cost", [None, COST], ids=["unit", "costs"])
@pytest.mark.parametrize("margin", ["loss", "sqrt"])
def test_an_enumerating_decoder_is_joint_features(name: str, cost: Any, margin: str) -> None:
    X, y = rounds()
    weight = np.random.default_rng(0).random(len(y)) + 0.5
    own = made(name, cost, competitor="max_loss", margin=margin)
    given = {} if cost is None else {"cost": cost, "margin": margin}
    joint = nr.Joint(rule(name), overlapping, CLASSES, competitor="max_loss", **given)
    weights = weight if own.learner.card.supports_weights else None
    found, expected = own.play(X, y, weights), joint.play(X, y, weights)
    assert found.predictions.tolist() == expected.predictions.tolist()
    assert found.mistakes.tolist() == expected.mistakes.tolist()
    assert found.updated.tolist() == expected.updated.tolist()
    assert own.weights.keys() == joint.learner.weights.keys()
    assert max(abs(own.weights[f] - joint.learner.weights[f]) for f in own.weights) < 1e-12


@pytest.mark.thinned(2)
@pytest.mark.parametrize("name", ["pa", "pa1", "pa2"])
@pytest.mark.parametrize("cost", [None, COST], ids=["unit", "costs"])
def test_all_constraints_of_an_enumerating_decoder_are_those_of_joint_features(name: str, cost: Any) -> None:
    X, y = rounds()
    own = made(name, cost, competitor="all", margin="loss").learn(X, y)
    joint = nr.Joint(rule(name), overlapping, CLASSES, cost, competitor="all").learn(X, y)
    assert own.weights == pytest.approx(joint.learner.weights, abs=1e-10)
    k_best = made(name, cost, competitor="k_best", k=len(CLASSES)).learn(X, y)
    assert k_best.weights == pytest.approx(own.weights, abs=1e-10)


@pytest.mark.parametrize("name", ["perceptron", "pa1", "scw1", "arow", "cw"])
def test_the_predicted_class_as_rival_is_the_option_of_many_classes(name: str) -> None:
    """Only the truth and the prediction are compared, and rounds that are right change nothing but the clock."""
    X, y = rounds()
    blocks = type("Blocks", (Classes,), {"features": lambda self, x, c: {f"{c}:{f}": v for f, v in x.items()}})
    own: Any = nr.make("structured", decoder=blocks(), learner=rule(name), competitor="predicted", margin="unit")
    limit = {"C": 1.0} if name == "pa1" else {}  # that of structured output
    many = nr.make(name, task="multiclass", classes=CLASSES, competitor="predicted", native=False, **limit)
    found, expected = own.play(X, y), many.play(X, y)
    assert found.predictions.tolist() == expected.predictions.tolist()
    assert found.updated.tolist() == expected.updated.tolist()
    named = {f"{c}:{name}": w for c, weights in many.weights.items() for name, w in weights.items()}
    assert own.weights == pytest.approx(named, abs=1e-12)


# ---- the weights that a decoder sees ---------------------------------------------------------------------------------


@pytest.mark.parametrize("rule_name", ["perceptron", "pa1"])
@pytest.mark.parametrize("competitor", ["predicted", "max_loss"])
def test_averages_predict_and_the_weights_that_are_trained_choose_rivals(rule_name: str, competitor: str) -> None:
    X, y = rounds()
    margin = "unit" if rule_name == "perceptron" else "loss"
    learner = made(rule_name, average=True, competitor=competitor)
    naive = NaiveStructured(rule_name, competitor, margin)
    transcript = learner.play(X, y)
    for t, (x, truth) in enumerate(zip(X, y, strict=True)):
        outputs = [Output(c, overlapping(x, c), float(c != truth)) for c in CLASSES]
        predicted = naive.best(outputs, naive.mean()).name
        assert transcript.predictions[t] == predicted, f"round {t}"
        assert transcript.losses[t] == float(predicted != truth)
        naive.learn(outputs)
    near([learner.score(x, 1) for x in X], [naive.score(overlapping(x, 1), naive.mean()) for x in X])
    one = learner.learner.training_scores([overlapping(x, 2) for x in X])
    near(one.tolist(), [naive.score(overlapping(x, 2)) for x in X])


class Spy(Classes):
    """Keeps what a decoder can ask of weights."""

    def argmax(self, w: Any, x: Any) -> Any:
        rows = [self.features(x, c) for c in CLASSES]
        self.seen = w.dots(rows), [w.dot(row) for row in rows], [w[name] for name in rows[0]], w.dots([])
        return super().argmax(w, x)


def test_weights_are_read_one_by_one_or_many_at_once() -> None:
    X, y = rounds()
    spy = Spy()
    learner: Any = nr.make("structured", decoder=spy, learner=rule("pa1"))
    learner.learn_one(X[0], y[0])
    assert spy.seen[0].tolist() == spy.seen[1] == [0.0] * 3
    learner.learn(X, y)
    learner.predict_one(X[7])
    many, one_by_one, single, none = spy.seen
    assert many.tolist() == one_by_one
    near(single, [learner.weights.get(name, 0.0) for name in overlapping(X[7], 0)])
    assert none.tolist() == []
    assert learner.score(X[7], 2) == many[2]


# ---- defaults and refusals -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "competitor", "margin"),
    [("pa1", "max_loss", "loss"), ("arow", "max_loss", "loss"), ("ogd", "max_loss", "loss"),
     ("perceptron", "predicted", "unit"), ("scw1", "predicted", "unit")],
)  # fmt: skip
def test_rules_driven_by_the_loss_meet_the_worst_rival_and_others_the_predicted_one(
    name: str, competitor: str, margin: str
) -> None:
    params = made(name).params
    assert (params["competitor"], params["margin"]) == (competitor, margin)


REFUSED: list[tuple[Any, dict[str, Any], str]] = [
    ("mira", {}, "cannot play structured: it moves the weights of every class at once"),
    ("pa_all", {}, "cannot play structured: it moves the weights of every class at once"),
    ("perceptron_voted", {}, "cannot play structured: it remembers rows"),
    ("duol", {}, "cannot play structured: it remembers rows"),
    ("banditron", {}, "cannot play structured: it is told only whether its choice was right"),
    ("winnow", {}, "cannot play structured: its update is not made for differences of features"),
    ("auto", {}, "auto cannot play structured"),
    (nr.delayed("pa1"), {}, "structured output needs a rule learner"),
    ("perceptron", {"margin": "loss"}, 'perceptron does not support margin="loss": it updates only on mistakes'),
    ("arow", {"competitor": "k_best"}, 'competitor="k_best" solves the problem of pa, pa1, pa2, not of arow'),
    ("pa1", {"competitor": "runner_up"}, "competitor must be one of auto, predicted, max_loss, k_best, all"),
    ("pa1", {"margin": "wide"}, "margin must be one of auto, loss, sqrt, unit"),
    ("pa1", {"k": 1.5}, "k must be a whole number of at least 1"),
    ("pa1", {"k": 0}, "k must be at least 1"),
    ("pa1", {"decoder": None}, "has no features and no argmax and no loss"),
    ("pa1", {"decoder": Classes}, r"not a class: write decoder=Classes\(\)"),
    ("pa1", {"cost": COST}, "structured has no parameter 'cost'"),
]


@pytest.mark.parametrize(("name", "options", "words"), REFUSED, ids=[f"{name} {o}" for name, o, _ in REFUSED])
def test_what_cannot_be_played_says_why(name: str, options: dict[str, Any], words: str) -> None:
    with pytest.raises(nr.BadValue, match=words):
        nr.make("structured", **{"decoder": Classes(), "learner": name, **options})


@pytest.mark.parametrize("options", [{"bias": True}, {"scale": True}, {"transforms": [nr.squares()]}], ids=str)
def test_features_are_scored_as_they_are(options: Any) -> None:
    with pytest.raises(nr.BadValue, match="leave bias, scale and transforms out"):
        nr.make("structured", decoder=Classes(), learner=nr.make("pa1", **options))
    with pytest.raises(nr.BadValue, match='which algebra="kernel" does not have'):
        nr.make("structured", decoder=Classes(), learner=nr.make("perceptron", algebra="kernel"))
    with pytest.raises(nr.BadValue, match="needs a fresh learner"):
        nr.make("structured", decoder=Classes(), learner=rule("pa1").learn([[1.0]], [1]))


class Bare:
    """The least that a decoder has."""

    def features(self, x: Any, y: Any) -> dict[str, float]:
        return {"same": float(x == y)}

    def argmax(self, w: Any, x: Any) -> int:
        return x if w["same"] > 0.0 else 1 - x  # type: ignore[no-any-return]

    def loss(self, y: Any, predicted: Any) -> float:
        return float(y != predicted)


def test_a_decoder_without_a_search_for_losses_plays_against_the_prediction() -> None:
    assert isinstance(Bare(), nr.Decoder)
    learner: Any = nr.make("structured", decoder=Bare(), learner=rule("pa1"))
    assert learner.params["competitor"] == "predicted"
    assert learner.learn([0, 1, 1], [0, 1, 1]).mistakes == 1
    assert learner.predict([0, 1]).tolist() == [0, 1]
    for competitor, needs in (("max_loss", "argmax_augmented or outputs or k_best"), ("k_best", "k_best")):
        with pytest.raises(nr.BadValue, match=f"needs a decoder with the method {needs}, and Bare has none"):
            nr.make("structured", decoder=Bare(), learner=rule("pa1"), competitor=competitor)


def test_outputs_with_the_same_features_take_no_step() -> None:
    """D = 0 while the loss is not: nothing can be learned, and the round counts."""
    decoder = type("Blind", (Classes,), {"features": lambda self, x, c: {"x": 1.0}})()
    for name in ("perceptron", "pa", "pa1", "ogd", "arow"):
        for competitor in ("predicted", "max_loss", *(["all"] if name.startswith("pa") else [])):
            learner: Any = nr.make("structured", decoder=decoder, learner=rule(name), competitor=competitor)
            transcript = learner.play([{}] * 4, [0, 1, 2, 1])
            assert transcript.mistakes.tolist() == [False, True, True, True]
            assert not transcript.updated.any()
            assert (learner.weights, learner.updates, learner.rounds) == ({}, 0, 4)
    loose: Any = nr.make("structured", decoder=decoder, learner=rule("ogd", loss="logistic"))
    assert not loose.play([{}] * 4, [0, 1, 2, 1]).updated.any()


def test_a_prediction_that_differs_is_a_mistake_also_where_it_costs_nothing() -> None:
    X, y = rounds()
    free = {truth: dict.fromkeys(CLASSES, 0.0) for truth in CLASSES}
    learner = made("pa1", free)
    transcript = learner.play(X, y)
    assert transcript.losses.sum() == 0.0
    differs = [found != truth for found, truth in zip(transcript.predictions, y, strict=True)]
    assert transcript.mistakes.tolist() == differs
    assert learner.mistakes == sum(differs) > 0
