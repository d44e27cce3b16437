"""What a state can be kept in, driven by rules of our own: shrinking without end, refused calls, means, options."""

import math
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import noregret as nr
from noregret.algebra import add, at, keep, norm, put, scale, shrink
from noregret.algebra.verbs import unbound
from noregret.learner.model_file import pack
from noregret.rules.card import Card
from noregret.rules.decorators import coordinate_rule, gradient_rule, margin_rule
from noregret.rules.parameters import Choice, Param
from noregret.rules.registry import REGISTRY
from noregret.rules.rule_card import G, P, S, Z
from noregret.state import counts, lazy, plain, scaled, top_k
from tests.naive import streams
from tests.naive.rules import Array
from tests.support.cover import ALL, only_in_test_all

D = 20_000
gate = unbound


@gradient_rule(paper="-", params={"by": Param(1e-30, above=0.0)}, state={"w": scaled}, loss="squared")
def shrink_scaled(p: P, s: S, g: G) -> None:
    scale(s.w, p.by)
    add(s.w, -0.1 / (1.0 + norm(s.w, 2.0)), g)


@gradient_rule(paper="-", params={"by": Param(1e-30, above=0.0)}, state={"w": lazy}, loss="squared")
def shrink_lazily(p: P, s: S, g: G) -> None:
    add(s.w, -0.1, g)
    shrink(s.w, 1e-3, math.inf)
    scale(s.w, p.by)


@margin_rule(paper="-", params={"B": Param(3.0, at_least=1.0)}, state={"w": top_k})
def keep_few(p: P, s: S, z: Z, margin: float) -> bool:
    scale(s.w, 0.9)
    if margin < 1.0:
        add(s.w, 0.3, z)
        keep(s.w, p.B)
    return True


@coordinate_rule(paper="-", params={"eta": Param(0.5, above=0.0)}, state={"w": plain, "G": counts})
def per_coordinate(p: P, s: S, j: int, g: float) -> None:
    put(s.G, j, at(s.G, j) + g * g)
    put(s.w, j, at(s.w, j) - p.eta * g / math.sqrt(at(s.G, j)))


def below_one(margin: float) -> bool:
    return margin < 1.0


def below_zero(margin: float) -> bool:
    return margin <= 0.0


@margin_rule(
    paper="-",
    params={
        "when": Choice("loss", {"loss": below_one, "mistake": below_zero}, binds="gate"),
        "length": Choice("short", {"short": 0.5, "long": 2.0}, binds="step"),
    },
    state={"w": plain},
)
def with_options(p: P, s: S, z: Z, margin: float) -> bool:
    if gate(margin):
        add(s.w, step, z)
        return True
    return False


step = 0.0
for rule in (shrink_scaled, shrink_lazily, keep_few, per_coordinate, with_options):
    REGISTRY.pop(rule.name)  # they are for this file alone


def wide(seed: int, rounds: int = 60) -> tuple[csr_array, Array]:
    """A few features, far apart among many."""
    X, y = streams.sparse(rounds, 20, density=0.3, seed=seed)
    rows = csr_array(X)
    return csr_array((rows.data, rows.indices * (D // 20), rows.indptr), shape=(rounds, D)), y


def by_number(rows: csr_array, t: int) -> dict[int, float]:
    part = slice(rows.indptr[t], rows.indptr[t + 1])
    return dict(zip(rows.indices[part].tolist(), rows.data[part].tolist(), strict=True))


@pytest.mark.thinned(3)
@pytest.mark.parametrize("rule", [shrink_scaled, shrink_lazily, keep_few], ids=lambda card: card.name)
def test_a_scale_that_falls_without_end_is_the_same_in_any_calls(rule: Card) -> None:
    X, y = wide(1)
    whole = nr.make(rule).learn(X, y)
    assert np.abs(whole.scores(X)).max() > 0.0
    eager = nr.make(rule, algebra="reference").learn(X.toarray(), y)
    np.testing.assert_allclose(whole.scores(X), eager.scores(X.toarray()), rtol=1e-12, atol=1e-300)
    few, single = nr.make(rule), nr.make(rule)
    for t in range(0, 60, 3):
        few.learn(X[t : t + 3], y[t : t + 3])
    for t in range(60):
        single.learn_one(by_number(X, t), y[t])
    assert few.scores(X).tobytes() == whole.scores(X).tobytes() == single.scores(X).tobytes()


@pytest.mark.parametrize("rule", [shrink_scaled, shrink_lazily, keep_few, per_coordinate], ids=lambda card: card.name)
def test_a_call_that_is_refused_leaves_no_trace(rule: Card) -> None:
    X, y = wide(2)
    learner, twin = nr.make(rule), nr.make(rule)
    for one in (learner, twin):
        one.learn(X[:30], y[:30])
    before = pack(learner)
    bad = X[[30, 30, 30]]
    bad.data[:] = 1e200
    with pytest.raises(nr.Error):
        learner.learn(bad, y[30:33])
    assert pack(learner) == before
    for one in (learner, twin):
        for t in range(30, 60, 2):
            one.learn(X[t : t + 2], y[t : t + 2])
    assert pack(learner) == pack(twin)


@pytest.mark.parametrize("rule", [shrink_scaled, shrink_lazily], ids=lambda card: card.name)
def test_a_single_round_that_folds_and_is_refused_leaves_no_trace_after_a_call_that_copied_all(rule: Card) -> None:
    learner = nr.make(rule).learn([{"a": 1.0, "b": 2.0, "c": 1.0}, {"a": 1.0}], [1, -1])
    learner.predict_one({"a": 1.0})  # from here on single rounds take the fast fast_path
    learner.learn([{"a": 1.0}], [1])
    before = pack(learner)
    with pytest.raises(nr.Error):
        learner.learn_one({"c": 1e300}, -1)
    assert pack(learner) == before


def test_a_kept_vector_never_has_more_than_it_may() -> None:
    X, y = wide(3)
    learner = nr.make(keep_few, B=4.0)
    for t in range(60):
        learner.learn(X[t : t + 1], y[t : t + 1])
        assert learner.nonzeros <= 4
    assert nr.make(keep_few, B=1e9).learn(X, y).nonzeros > 4


def test_coordinates_move_each_in_its_own_way() -> None:
    X, y = streams.dense(50, 4, 1)
    w, total = np.zeros(4), np.zeros(4)
    for x, label in zip(X, y, strict=True):
        if label * (w @ x) < 1.0:
            g = -label * x
            total += g * g
            w -= 0.5 * g / np.sqrt(total)
    np.testing.assert_allclose(nr.make(per_coordinate).learn(X, y).scores(np.eye(4)), w, rtol=1e-12)


def test_options_are_bound_into_the_text() -> None:
    X, y = streams.dense(50, 4, 1)
    for when, limit in (("loss", 1.0), ("mistake", 0.0)):
        for length, size in (("short", 0.5), ("long", 2.0)):
            w = np.zeros(4)
            for x, label in zip(X, y, strict=True):
                margin = label * (w @ x)
                w = w + size * (margin < limit or margin == limit == 0.0) * label * x
            for native in (False, True) if ALL else (False,):
                learner = nr.make(with_options, when=when, length=length, native=native).learn(X, y)
                np.testing.assert_allclose(learner.scores(np.eye(4)), w, rtol=1e-12)
    assert "regression" in with_options.tasks
    with pytest.raises(nr.BadValue, match="updates on mistakes"):
        nr.make(with_options, when="mistake", task="regression")


# ---- means --------------------------------------------------------------------------------------------------------


@pytest.mark.thinned(4)
@pytest.mark.parametrize("algebra", ["sparse", "dense", "kernel", "reference"])
@pytest.mark.parametrize("after", [0, 25])
def test_the_mean_of_the_weights_over_the_rounds(algebra: str, after: int) -> None:
    X, y = streams.sparse(60, 8, density=0.5, seed=4)
    told: dict[str, Any] = {"algebra": algebra, "native": False}
    if algebra == "kernel":
        told["kernel"] = "linear"
    learner, plainly = nr.make("pa1", average=after or True, **told), nr.make("pa1", **told)
    past = [np.zeros(60)] if after == 0 else []
    for t in range(60):
        learner.learn(X[t : t + 1], y[t : t + 1])
        plainly.learn(X[t : t + 1], y[t : t + 1])
        past += [plainly.scores(X)] if t + 1 >= after else []
    np.testing.assert_allclose(learner.scores(X), np.mean(past, axis=0), rtol=1e-10, atol=1e-12)
    again = learner.copy()
    assert again.learn(X, y).scores(X).tobytes() == learner.learn(X, y).scores(X).tobytes()


@only_in_test_all
@pytest.mark.compiles
def test_the_mean_for_many_classes_compiled() -> None:
    X, _ = streams.dense(80, 5, 2)
    y = np.random.default_rng(2).integers(0, 4, size=80)
    fast, slow = (nr.make("arow", task="multiclass", average=True, native=native) for native in (True, False))
    np.testing.assert_allclose(fast.learn(X, y).scores(X), slow.learn(X, y).scores(X), rtol=1e-12)
    mean, told = np.zeros((80, 4)), nr.make("arow", native=False, classes=[0, 1, 2, 3])
    fixed = nr.make("arow", average=True, native=False, classes=[0, 1, 2, 3]).learn(X, y)
    for t in range(80):
        mean += told.learn(X[t : t + 1], y[t : t + 1]).scores(X)
    np.testing.assert_allclose(fixed.scores(X), mean / 81.0, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(
    ("name", "told", "part"),
    [
        ("rda", {"average": True}, "cannot be averaged"),
        ("winnow", {"average": True}, "cannot be averaged"),
        ("perceptron", {"average": True, "random_start": 1.0}, "cannot be averaged"),
        ("pa1", {"average": -1}, "average must be True"),
        ("pa1", {"average": 1.5}, "average must be True"),
        ("pa1", {"average": 10**400}, "average must be True"),
        ("pa1", {"groups": 3}, "keeps no groups"),
        ("perceptron_incremental", {}, "nr.epochs"),
        ("fobos_l1", {}, "that is 'fobos'"),
        ("group_lasso", {"groups": [10**30]}, "groups must be"),
    ],
)
def test_what_cannot_be_asked_for(name: str, told: dict[str, Any], part: str) -> None:
    with pytest.raises(nr.BadValue, match=part):
        nr.make(name, **told)


@pytest.mark.parametrize("groups", [np.array([0, 1, 0]), list(np.array([0, 1, 0])), (0, 1, 0)], ids=repr)
def test_groups_may_be_told_by_an_array_and_are_kept(groups: Any) -> None:
    X, y = streams.dense(20, 4, 3)
    told = nr.make("group_lasso", groups=[0, 1, 0], native=False).learn(X, y)
    assert pack(nr.make("group_lasso", groups=groups, native=False).learn(X, y).copy()) == pack(told)


def test_learners_with_means_are_not_merged() -> None:
    X, y = streams.dense(20, 3, 0)
    a, b = (nr.make("pa1", average=True, native=False).learn(X, y) for _ in range(2))
    with pytest.raises(nr.BadValue, match="averaged"):
        a.merge(b)


def test_the_mean_of_the_perceptron_is_the_averaged_perceptron() -> None:
    X, y = streams.dense(100, 4, 7)
    mean = nr.make("perceptron", average=True, native=False).learn(X, y)
    np.testing.assert_allclose(mean.scores(X), nr.make("perceptron_averaged", native=False).learn(X, y).scores(X))


def test_users_find_what_rules_are_made_of() -> None:
    assert nr.coordinate_rule is coordinate_rule
    assert (nr.counts, nr.top_k, nr.lazy, nr.plain, nr.scaled) == (counts, top_k, lazy, plain, scaled)
    assert {"log_weights", "grouped", "snapshot", "lazy_groups", "random_init", "stack_tasks"} <= set(dir(nr))
    assert all(getattr(nr, name) is not None for name in dir(nr))
