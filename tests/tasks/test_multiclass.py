"""Many classes: against whom a class is held, by how much, and what the exact steps solve."""

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import noregret as nr
from tests.conformance.plays import CARDS, arrays, by_appearance, near, same_bits, unusual
from tests.naive import rule, streams
from tests.naive.rules import Array
from tests.naive.streams import separable_classes as separable
from tests.naive.tasks import Binary, Multiclass
from tests.support.cover import ALL, seeds

K = 4
COSTS = np.array([[0.0, 1.0, 4.0, 0.5], [2.0, 0.0, 1.0, 1.0], [9.0, 1.0, 0.0, 0.25], [1.0, 3.0, 1.0, 0.0]])
TWINS = ("perceptron", "pa1", "pa2", "arow", "scw1")


def rounds(seed: int = 0, count: int = 60, dense: bool = False) -> tuple[Array, Any]:
    X, _ = streams.dense(count, 6, seed) if dense else streams.sparse(count, 12, density=0.3, seed=seed)
    U = np.random.default_rng(seed).normal(size=(K, X.shape[1]))
    return X, by_appearance(streams.relabel(np.argmax(X @ U.T, axis=1), K, rate=0.3, seed=seed))


def agree(learner: nr.RuleLearner, twin: Any, X: Array, y: Any, known: bool) -> nr.Transcript:
    transcript = learner.play(X, y)
    scores, updated = twin.run(X, y)
    if not known:
        first = [int(np.flatnonzero(y == c)[0]) for c in range(K)]
        scores[first, range(K)] = -np.inf
    near(transcript.scores, scores)
    assert transcript.updated.tolist() == updated.tolist()
    near(learner.scores(X), twin.final(X))
    return transcript


# ---- rivals and margins ----------------------------------------------------------------------------------------------


@pytest.mark.thinned(2)
@pytest.mark.parametrize("known", [False, True], ids=["growing", "fixed"])
@pytest.mark.parametrize("competitor", ["runner_up", "predicted", "max_loss"])
@pytest.mark.parametrize("name", TWINS)
def test_plays_as_its_twin_against_every_competitor(name: str, competitor: str, known: bool) -> None:
    X, y = rounds(seed=1)
    told: dict[str, Any] = {"classes": range(K)} if known else {}
    learner = nr.make(name, task="multiclass", competitor=competitor, native=False, **told)
    twin = Multiclass(rule(name, **learner.config.numbers, **dict(learner.config.choices)), K, known, competitor)
    agree(learner, twin, X, y, known)


@pytest.mark.thinned(2)
@pytest.mark.parametrize("margin", ["loss", "sqrt", None])
@pytest.mark.parametrize("competitor", ["runner_up", "predicted", "max_loss"])
@pytest.mark.parametrize("name", ["pa1", "pa2", "arow", "ogd"])
def test_plays_as_its_twin_where_mistakes_have_costs(name: str, competitor: str, margin: str | None) -> None:
    X, y = rounds(seed=2)
    told = {} if margin is None else {"margin": margin}
    learner = nr.make(name, cost=COSTS, classes=range(K), competitor=competitor, native=False, **told)
    rho = np.sqrt(COSTS) if margin == "sqrt" else COSTS
    twin = Multiclass(rule(name, **learner.config.numbers, **dict(learner.config.choices)), K, True, competitor, rho)
    transcript = agree(learner, twin, X, y, known=True)
    f, t = transcript.scores, np.arange(len(y))
    missing = rho[y] - (f[t, y][:, None] - f)
    missing[t, y] = -np.inf
    others = np.where(np.arange(K) == y[:, None], -np.inf, f)
    rival = {"runner_up": others.argmax(axis=1), "predicted": f.argmax(axis=1), "max_loss": missing.argmax(axis=1)}
    near(transcript.losses, np.maximum(0.0, np.where(rival[competitor] == y, 0.0, missing[t, rival[competitor]])))


@pytest.mark.thinned(3)
@pytest.mark.compiles
@pytest.mark.parametrize("competitor", ["predicted", "max_loss", "rest"])
def test_the_compiled_loop_is_the_plain_text(competitor: str) -> None:
    X, y = rounds(seed=3)
    told: dict[str, Any] = {} if competitor == "rest" else {"cost": {0: {2: 4.0}, 2: {0: 9.0, 3: 0.25}}}
    learners = [nr.make("pa1", competitor=competitor, native=native, **told) for native in (False, True)]
    for rows in (csr_array(X), X) if ALL or competitor == "max_loss" else (csr_array(X),):
        transcripts = [
            nr.make("pa1", competitor=competitor, native=native, **told).play(rows, y) for native in (False, True)
        ]
        near(transcripts[1].scores, transcripts[0].scores, 1e-12)
    singly = learners[1]
    for x, label in zip(X, y, strict=True):
        singly.learn_one({int(j): float(x[j]) for j in np.flatnonzero(x)}, int(label))
    near(singly.scores(csr_array(X)), learners[0].learn(csr_array(X), y).scores(csr_array(X)), 1e-12)


def test_costs_of_labels_seen_late_are_heeded_in_any_chunks() -> None:
    X, y = rounds(seed=4)
    words = np.array(["a", "b", "c", "d"])[y]
    costs = {("a", "d"): 7.0, ("d", "a"): 0.25, ("b", "never seen"): 2.0}
    whole = nr.make("pa1", cost=costs, native=False).learn(X, words)
    plain = nr.make("pa1", task="multiclass", native=False).learn(X, words)
    assert not same_bits(whole.scores(X), plain.scores(X))
    for size in (1, 7):
        parts = nr.make("pa1", cost=costs, native=False)
        for at in range(0, len(X), size):
            parts.learn(X[at : at + size], words[at : at + size])
        assert all(same_bits(one, arrays(parts)[name]) for name, one in arrays(whole).items())


def test_costs_are_kept_in_the_model(tmp_path: Any) -> None:
    X, y = rounds(seed=5)
    learner = nr.make("pa1", cost={0: {2: 4.0}}, competitor="max_loss", native=False).learn(X[:30], y[:30])
    learner.save(tmp_path / "m.nr")
    again = nr.load(tmp_path / "m.nr")
    again.interpret()
    assert again.params == learner.params
    assert same_bits(again.learn(X[30:], y[30:]).scores(X), learner.learn(X[30:], y[30:]).scores(X))


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"cost": [[0.0, -1.0], [1.0, 0.0]], "classes": [0, 1]}, "cost: of predicting 1 for 0 must be at least 0"),
        ({"cost": [[0.5, 1.0], [1.0, 0.0]], "classes": [0, 1]}, "of predicting 0 for 0 must be 0"),
        ({"cost": [[0.0, 1.0]], "classes": [0, 1]}, "a matrix of 2 rows and 2 columns"),
        ({"cost": [[0.0, 1.0], [1.0, 0.0]]}, "needs classes"),
        ({"cost": {"a": {"b": float("nan")}}}, "must be at least 0"),
        ({"cost": {"a": {"c": 1.0}}, "classes": ["a", "b"]}, "the class 'c', which is not one of classes"),
        ({"cost": {"a": 1.0}}, "{truth: {predicted: cost}}"),
        ({"cost": {"a": {"b": 2.0}}, "task": "binary"}, "has no costs"),
        ({"competitor": "worst"}, "competitor must be one of"),
        ({"competitor": "rest", "cost": {"a": {"b": 2.0}}}, "leave cost and margin out"),
    ],
)
def test_costs_that_make_no_sense_are_refused(told: dict[str, Any], said: str) -> None:
    with pytest.raises(nr.BadValue, match=said.replace("{", r"\{").replace("}", r"\}")):
        nr.make("pa1", **told)


def test_a_rule_that_updates_only_on_mistakes_does_not_support_costs() -> None:
    with pytest.raises(nr.BadValue, match="perceptron does not support cost=: it updates only on mistakes"):
        nr.make("perceptron", cost={"a": {"b": 2.0}})


# ---- two classes, and one against the rest ---------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "told"), [("pa", {}), ("pa1", {"C": 0.2}), ("pa2", {"C": 0.2}), ("perceptron", {})])
def test_two_of_many_classes_learn_as_two(name: str, told: dict[str, float]) -> None:
    """W_1 - W_0 makes the binary steps; a price C stands for 2 C there, and the perceptron steps twice as far."""
    X, y = streams.sparse(80, 12, density=0.3, seed=6)
    many = nr.make(name, task="multiclass", classes=[-1, 1], native=False, **told)
    two = Binary(rule(name, **{key: 2.0 * value for key, value in told.items()}))
    scores, _ = two.run(X, y)
    found = many.play(X, y).scores
    near(found[:, 1] - found[:, 0], 2.0 * scores if name == "perceptron" else scores)


REST = [card for card in CARDS if card.why_no_one_vs_rest(card.defaults) is None and "binary" in card.tasks]


def test_one_against_the_rest_is_for_many_rules() -> None:
    assert {"perceptron", "pa", "pa1", "pa2", "arow", "scw1", "cw", "adagrad"} <= {card.name for card in REST}


@pytest.mark.thinned(2)
@pytest.mark.parametrize("card", REST, ids=lambda card: card.name)
def test_one_against_the_rest_is_a_learner_of_two_for_every_class(card: nr.RuleCard) -> None:
    X, y = rounds(seed=7)
    told = {name: value for name, value in unusual(card).items() if name != "random_start"}
    together = nr.make(card, task="multiclass", competitor="rest", classes=range(K), native=False, **told)
    transcript = together.play(X, y)
    moved = np.zeros(len(y), bool)
    for c in range(K):
        alone = nr.make(card, task="binary", classes=[-1, 1], native=False, **told)
        one = alone.play(X, np.where(y == c, 1, -1))
        near(transcript.scores[:, c], one.scores, 1e-12)
        near(together.scores(X)[:, c], alone.scores(X), 1e-12)
        moved |= one.updated
    assert transcript.updated.tolist() == moved.tolist()


def test_one_against_the_rest_weighs_as_a_learner_of_two_does() -> None:
    X, y = rounds(seed=9)
    h = np.random.default_rng(9).choice([0.0, 0.5, 2.0], size=len(y))
    together = nr.make("pa1", C=0.5, competitor="rest", classes=range(K), native=False).learn(X, y, weight=h)
    for c in range(K):
        alone = nr.make("pa1", C=0.5, classes=[-1, 1], native=False).learn(X, np.where(y == c, 1, -1), weight=h)
        near(together.scores(X)[:, c], alone.scores(X), 1e-12)
    assert together.model.arrays.n.t == np.count_nonzero(h)


def test_one_against_the_rest_a_C_that_follows_the_rows_is_that_of_all_classes() -> None:
    X, y = rounds(seed=9)
    together = nr.make("pa1", competitor="rest", classes=range(K), native=False)
    W, logs = np.zeros((K, X.shape[1])), []
    for x, truth in zip(X, y, strict=True):
        found = W @ x
        for c in range(K):
            sign = 1.0 if c == truth else -1.0
            if sign * found[c] < 1.0 and x.any():
                logs.append(np.log(x @ x))
                W[c] += sign * min(1.0 / np.exp(np.mean(logs)), (1.0 - sign * found[c]) / (x @ x)) * x
    near(together.learn(X, y).scores(X), X @ W.T, 1e-12)


@pytest.mark.parametrize("name", ["alma", "fobos", "romma", "mira", "winnow_duplicated", "perceptron_pocket"])
def test_what_belongs_to_all_classes_keeps_a_rule_from_one_against_the_rest(name: str) -> None:
    with pytest.raises(nr.BadValue, match=r"cannot play each class against the rest|leave competitor out"):
        nr.make(name, task="multiclass", competitor="rest")


# ---- theorems --------------------------------------------------------------------------------------------------------


def test_the_worked_rounds_of_multiclass_pa() -> None:
    learner = nr.make("pa", task="multiclass", classes=[0, 1, 2], algebra="dense", native=False)
    learner.learn(np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0], [1.0, 1.0]]), [0, 1, 2, 0])
    W = learner.model.arrays.w.reshape(learner.model.space.class_room, -1)[:3, :2]  # type: ignore[union-attr]
    np.testing.assert_allclose(W, [[0.875, -0.125], [-0.625, 0.375], [-0.25, -0.25]], atol=1e-12)


@seeds(3)
def test_the_perceptron_of_many_classes_keeps_its_bound(seed: int) -> None:
    X, y, _, gamma = separable(seed)
    learner = nr.make("perceptron", task="multiclass", classes=range(4), native=False).learn(X, y)
    assert 0 < learner.updates <= 2.0 * (np.linalg.norm(X, axis=1).max() / gamma) ** 2


@seeds(3)
def test_passive_aggressive_steps_keep_their_loss_bounds(seed: int) -> None:
    X, y, M, gamma = separable(seed)
    u = np.linalg.norm(M) / gamma  # M / gamma beats every other class by 1
    square = 2.0 * (np.linalg.norm(X, axis=1) ** 2).max()
    for name in ("pa", "pa_all"):
        told = {"C": 1e9} if name == "pa_all" else {}
        transcript = nr.make(name, task="multiclass", classes=range(4), native=False, **told).play(X, y)
        assert 0.0 < (transcript.losses**2).sum() <= square * u**2
        assert transcript.mistakes.sum() <= square * u**2


@pytest.mark.parametrize("competitor", ["predicted", "max_loss"])
def test_roots_of_costs_bound_the_cost_suffered(competitor: str) -> None:
    X, y, M, gamma = separable(3)
    u = np.linalg.norm(M) * np.sqrt(COSTS.max()) / gamma  # beats every class by the root of its cost
    square = 2.0 * (np.linalg.norm(X, axis=1) ** 2).max()
    learner = nr.make("pa", cost=COSTS, margin="sqrt", competitor=competitor, classes=range(K), native=False)
    said = learner.play(X, y).predictions.astype(int)
    assert 0.0 < COSTS[y, said].sum() <= square * u**2


@pytest.mark.parametrize(("loss", "expected"), [("hinge", 1.0), ("perceptron", 0.0), ("softmax", np.log(2.0))])
def test_a_class_that_comes_is_scored_by_the_weights_it_begins_with(loss: str, expected: float) -> None:
    """Weights of exponentiated gradient begin with equal shares, so the scores of all classes are equal then."""
    learner = nr.make("eg", native=False, loss=loss, eta=1e-12, task="multiclass")
    transcript = learner.play(np.array([[1.0, 2.0], [3.0, 1.0]]), ["a", "b"])
    assert transcript.predictions.tolist() == [None, "a"]
    assert transcript.losses[1] == pytest.approx(expected, abs=1e-9)
