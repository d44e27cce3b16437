"""Single rounds with options: whatever a learner was made with, one compiled call learns them, as in a batch."""

import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.learner.model_file import pack
from noregret.learner.row_reader import NO_COUNTS
from tests.support import refusal
from tests.support.cover import ALL
from tests.support.interrupts import interrupted_at_every_line

OPTIONS: dict[str, dict[str, Any]] = {
    "bias": {"bias": True},
    "bias by size": {"bias": "auto"},
    "bias of 2": {"bias": 2.0},
    "scale": {"scale": True},
    "scale, bias": {"scale": True, "bias": True},
    "hashed": {"bits": 4},
    "hashed, scale, bias": {"bits": 4, "scale": True, "bias": True},
    "tf_idf": {"transforms": nr.tf_idf()},
    "min_max, clip": {"transforms": nr.min_max() | nr.clip(limit=0.5)},
    "log1p, unit_norm": {"transforms": nr.log1p() | nr.unit_norm()},
    "tf_idf of logarithms": {"transforms": nr.clip(limit=9.0) | nr.tf_idf(sublinear=True)},
    "missing": {"transforms": nr.missing(policy="mean") | nr.scale()},
    "only": {"transforms": nr.scale(only=["f1", "new1"]) | nr.unit_norm(only=["f0", "f1", "f3"])},
    "only, bias": {"transforms": nr.min_max() | nr.clip(limit=1.0, only=["f2"]), "bias": True},
    "squares": {"transforms": nr.squares()},
    "squares, only": {"transforms": nr.squares(only=["f1", "new3"]) | nr.scale(only=["f1"]), "bias": True},
    "pairs": {"transforms": nr.pairs(), "bias": True},
    "scale, pairs, scale": {"transforms": nr.scale() | nr.pairs() | nr.scale()},
    "pairs between": {"transforms": nr.pairs(between=[("f0", "f1"), ("f3", "f2"), ("f4", "f4")]) | nr.min_max()},
    "one_hot": {"transforms": nr.log1p() | nr.clip(limit=1.0) | nr.one_hot(only=["f1"]) | nr.unit_norm()},
    "conjunctions": {"transforms": nr.conjunctions(order=3, limit=30_000) | nr.min_max(), "bias": True},
    "conjunctions, only": {"transforms": nr.conjunctions(only=["f1", "f0", "new3", "f4"])},
    "squares, pairs": {"transforms": nr.squares() | nr.pairs()},
    "class weights": {"class_weight": {0: 2.0, 1: 0.25}},
    "balanced": {"class_weight": "balanced"},
    "balanced_root, scale": {"class_weight": "balanced_root", "scale": True},
}
DERIVED = ("squares", "squares, only", "pairs", "scale, pairs, scale", "pairs between", "one_hot", "squares, pairs",
           "conjunctions", "conjunctions, only")  # fmt: skip
UNBOUNDED = [name for name in DERIVED if name != "one_hot"]
TASKS = {"binary": 2, "multiclass": 3, "regression": 0}
Round = tuple[Any, Any, float | None]


def rounds_of(task: str, dense: bool, rounds: int = 80) -> list[Round]:
    """Rounds with a few new names, importance weights now and then."""
    rng = np.random.default_rng(11)
    made: list[Round] = []
    for t in range(rounds):
        values = rng.normal(size=5) * [1, 10, 0.1, 1, 3] + [0, 5, 0, 0, 0]
        y: Any = float(values[0]) if task == "regression" else int(rng.integers(TASKS[task])) if t > 3 else 0
        row: Any = values
        if not dense:
            names = [f"f{j}" for j in rng.permutation(5)] if t % 9 else [f"new{t % 7}", "f1", f"new{t}"]
            row = dict(zip(names, values.tolist(), strict=False))
        made.append((row, y, 0.5 if t % 8 == 7 else None))
    return made


def make(task: str, options: dict[str, Any]) -> nr.RuleLearner:
    made = nr.make("arow" if task == "binary" else "pa1", task=task, **options)
    assert isinstance(made, nr.RuleLearner)
    return made


def in_batches(learner: nr.RuleLearner, row: Any, y: Any, weight: float | None) -> None:
    X = [row] if isinstance(row, dict) else np.reshape(row, (1, -1))
    learner.learn(X, [y], weight)


def absolute(row: Any) -> Any:
    return {name: abs(value) for name, value in row.items()} if isinstance(row, dict) else np.abs(row)


CASES = [
    pytest.param(task, dense, name, id=f"{task}-{'numbers' if dense else 'dicts'}-{name}")
    for task in TASKS
    for dense in (False, True)
    for name, options in OPTIONS.items()
    if not (dense and ("bits" in options or name in DERIVED))
    and not (task == "regression" and "class_weight" in options)
]


@pytest.mark.thinned(10)
@pytest.mark.parametrize(("task", "dense", "name"), CASES)
def test_a_round_is_the_same_as_a_batch_of_one(task: str, dense: bool, name: str) -> None:
    rounds, options = rounds_of(task, dense), OPTIONS[name]
    if "logarithms" in name:
        rounds = [(absolute(row), y, weight) for row, y, weight in rounds]
    one, batch = make(task, options), make(task, options)
    fast = 0
    for t, (row, y, weight) in enumerate(rounds):
        if t > 3:
            X = [row] if isinstance(row, dict) else row.reshape(1, -1)
            scores = one.scores_one(row)
            told = batch.scores(X)[0].tolist()
            assert (list(scores.values()) if isinstance(scores, dict) else scores) == told
            assert one.predict_one(row) == batch.predict(X)[0]
        one.learn_one(row, y, weight)
        in_batches(batch, row, y, weight)
        fast += one._loops.fast_path is not None
        if t == 40:
            one.predict([row] if isinstance(row, dict) else row.reshape(1, -1))
            one = one.copy()
    assert pack(one) == pack(batch)
    assert fast > 50  # all but the rounds in which the learner grew


SWEEPING: dict[str, dict[str, Any]] = {
    "fobos_group": {"groups": 2},
    "fobos_infinity": {},
    "ofs": {"B": 3},
    "ofs_partial": {"B": 3},
    "perceptron_truncated": {"B": 3},
}


@pytest.mark.compiles
@pytest.mark.parametrize("dense", [False, pytest.param(True, marks=pytest.mark.skipif(not ALL, reason="test-all"))])
@pytest.mark.parametrize("name", SWEEPING)
def test_a_rule_that_may_change_every_weight_learns_single_rounds_as_batches(name: str, dense: bool) -> None:
    one, batch = (nr.make(name, **SWEEPING[name]) for _ in range(2))
    fast = 0
    for t, (row, y, _) in enumerate(rounds_of("binary", dense)):
        X = [row] if isinstance(row, dict) else row.reshape(1, -1)
        if t > 3:
            assert one.scores_one(row) == batch.scores(X)[0]
        one.learn_one(row, y)
        in_batches(batch, row, y, None)
        fast += one._loops.fast_path is not None
    assert pack(one) == pack(batch)
    assert fast > 50
    huge: Any = np.full(5, 1e308) if dense else dict.fromkeys(["f0", "f1", "new"], 1e308)
    undone = [is_undone(one, huge, label) for label in (0, 1, 0)]
    assert True in undone


def is_undone(learner: nr.RuleLearner, row: Any, label: int) -> bool:
    """Whether a round is refused; then it must leave nothing behind."""
    before, twin = pack(learner), learner.copy()
    try:
        learner.learn_one(row, label)
    except nr.Error:
        assert pack(learner) == before
        for other, y, _ in rounds_of("binary", isinstance(row, np.ndarray))[:9]:
            assert pack(learner.learn_one(other, y)) == pack(twin.learn_one(other, y))
        return True
    return False


@pytest.mark.parametrize("name", ["only", *DERIVED])
def test_most_rounds_with_such_transforms_are_one_compiled_call(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    learner, taken = started(name), 0
    general = type(learner)._play

    def count(self: Any, *given: Any, **options: Any) -> Any:
        nonlocal taken
        taken += 1
        return general(self, *given, **options)

    monkeypatch.setattr(type(learner), "_play", count)
    rng = np.random.default_rng(3)
    for t in range(200):  # new names and new pairs come now and then
        names = [*rng.permutation([f"f{j}" for j in range(5)])[:3].tolist(), f"more{t // 10}"]
        learner.predict_one(dict.fromkeys(names, float(rng.integers(1, 4))))
        learner.learn_one(dict.fromkeys(names, float(rng.integers(1, 4))), t % 2)
    assert taken < 20  # where there was no room left


def test_rows_that_become_too_many_features_are_left_to_the_general_path() -> None:
    one, batch = (make("binary", {"transforms": nr.pairs() | nr.pairs(limit=1e4)}) for _ in range(2))
    for t in range(12):
        row = {f"f{j}": float(j + t) for j in range(3)}
        one.learn_one(row, t % 2)
        in_batches(batch, row, t % 2, None)
    assert one._loops.fast_path is None
    assert pack(one) == pack(batch)
    wide = make("binary", {"transforms": nr.pairs(limit=1e4)})
    for t in range(8):
        wide.learn_one({f"f{j}": 1.0 + j for j in range(3)}, t % 2)
    assert wide._loops.fast_path is not None
    wide.predict_one({f"f{j}": 1.0 for j in range(600)})
    wide.predict_one({"f1": 1.0})
    assert wide._loops.fast_path is not None
    assert wide._loops.fast_path.scorer.features < 600


def test_counts_below_zero_are_refused_in_single_rounds() -> None:
    learner = make("binary", {"transforms": nr.tf_idf(sublinear=True)})
    for t in range(20):
        learner.learn_one({"a": float(t), "b": 1.0}, t % 2)
    assert learner._loops.fast_path is not None
    before = pack(learner)
    with pytest.raises(nr.Error, match="needs counts"):
        learner.learn_one({"a": -1.0, "b": 1.0}, 1)
    with pytest.raises(nr.Error, match="needs counts"):
        learner.predict_one({"a": -1.0, "b": 1.0})
    assert pack(learner) == before


@pytest.mark.parametrize("kind", [list, tuple, np.float32, np.int64, bool])
def test_rows_of_any_numbers(kind: Any) -> None:
    one, batch = make("binary", {"scale": True}), make("binary", {"scale": True})
    for t, (row, y, _) in enumerate(rounds_of("binary", True)):
        given: Any = kind(row.tolist()) if kind in (list, tuple) else (10 * row).astype(kind)
        in_batches(batch, np.asarray(given), y, None)
        one.learn_one(given, y)
        assert t < 5 or one._loops.fast_path is not None
    assert pack(one) == pack(batch)


def test_a_masked_array_is_the_row_that_a_batch_takes_it_for() -> None:
    one, batch = started("dense"), started("dense")
    values = [1.0, 2.0, 3.0, 4.0, 5.0]
    row = np.ma.masked_array(values, mask=False)
    assert one.scores_one(row) == batch.scores(row.reshape(1, -1))[0]
    one.learn_one(row, 1)
    in_batches(batch, np.array(values), 1, None)
    hidden = np.ma.masked_array(values, mask=[True, False, False, False, False])
    for refused in (lambda: one.learn_one(hidden, 1), lambda: batch.learn(hidden.reshape(1, -1), [1])):
        assert "feature 0: the value is nan" in refusal(refused)
    assert pack(one) == pack(batch)


def started(name: str) -> nr.RuleLearner:
    dense = name == "dense"
    learner = make("binary", {"scale": True, "class_weight": "balanced"} if dense else OPTIONS[name])
    for row, y, weight in rounds_of("binary", dense, 20):
        learner.learn_one(row, y, weight)
    learner.predict_one(row)
    assert learner._loops.fast_path is not None
    return learner


WRONG = [math.nan, math.inf, None, "1", 10**400, [1.0]]


@pytest.mark.parametrize(
    "name", [*["scale", "tf_idf", "balanced", "pairs", "only"], "hashed, scale, bias", "min_max, clip"]
)
@pytest.mark.parametrize("value", WRONG, ids=map(str, range(len(WRONG))))
def test_a_bad_value_is_refused_and_changes_nothing(name: str, value: Any) -> None:
    learner = started(name)
    before, row = pack(learner), {"f0": 1.0, "f1": value, "new": 1.0}
    for act in (lambda: learner.learn_one(row, 1), lambda: learner.predict_one(row)):
        with pytest.raises(nr.Error, match="f1"):
            act()
    assert pack(learner) == before


@pytest.mark.parametrize("row", [[1.0, 2.0, math.inf, 0.0, 1.0], [["1"]] * 5, np.zeros((5, 2)), "12345"])
def test_a_bad_row_of_numbers_is_refused_and_changes_nothing(row: Any) -> None:
    learner = started("dense")
    before = pack(learner)
    for act in (learner.predict_one, lambda row: learner.learn_one(row, 1)):
        with pytest.raises(nr.Error):
            act(row)
        assert pack(learner) == before


@pytest.mark.parametrize("weight", [-1.0, math.nan, math.inf, "heavy", [1.0, 2.0]])
def test_a_bad_weight_is_refused_and_changes_nothing(weight: Any) -> None:
    for name in ("dense", "balanced"):
        learner = started(name)
        before, row = pack(learner), rounds_of("binary", name == "dense")[0][0]
        with pytest.raises(nr.Error, match="weight"):
            learner.learn_one(row, 1, weight)
        assert pack(learner) == before


@pytest.mark.parametrize("name", ["scale", "hashed, scale, bias", "dense", "only", *UNBOUNDED])
def test_a_round_that_overflows_is_undone(name: str) -> None:
    learner = started(name)
    before = pack(learner)
    row: Any = [1e300, -1e300, 1e300, 1e300, 1e300] if name == "dense" else {"f0": 1e300, "f1": -1e300, "other": 1e300}
    with pytest.raises(nr.Error):
        learner.learn_one(row, 1)
    assert pack(learner) == before
    assert learner._loops.fast_path is None or learner._loops.fast_path.counts is (
        learner.model.class_counts if learner.model.class_counts.size else NO_COUNTS
    )


@pytest.mark.parametrize("name", ["scale", "hashed, scale, bias", "balanced", "dense", "only", *DERIVED])
@pytest.mark.thinned(4)
def test_rows_before_and_after_a_batch_meet_the_same_statistics(name: str) -> None:
    """A call that takes the general path may replace what the tables of the fast path lead to."""
    mixed, alone = started(name), started(name)
    for row, y, _ in rounds_of("binary", name == "dense", 60)[20:]:
        mixed.learn_one(row, y)
        in_batches(alone, row, y, None)
        wide = np.ones((1, 5)) if name == "dense" else [{f"w{j}": 1.0 for j in range(50)}]
        assert (mixed.scores(wide) == alone.scores(wide)).all()
        mixed.learn(wide, [1])
        alone.learn(wide, [1])
    assert pack(mixed) == pack(alone)


@pytest.mark.parametrize("name", ["scale", "hashed, scale, bias", "balanced", "dense", "squares, only"])
@pytest.mark.parametrize(
    ("act", "error"),
    [("learn_one", KeyboardInterrupt), ("predict_one", MemoryError), ("learn_one", MemoryError)][: None if ALL else 1],
)
def test_an_interrupt_at_any_line_leaves_the_state_before_or_after(
    name: str, act: str, error: type[BaseException]
) -> None:
    files = {"hashed, scale, bias": "hashed_path.py", "dense": "dense_path.py", "squares, only": "derived_path.py"}
    file = files.get(name, "fast_path.py")
    row: Any = np.ones(5) if name == "dense" else Counter(f0=1, new=2, other=3)
    states = [pack(started(name)), pack(started(name).learn_one(row, 1))]

    def ready() -> tuple[nr.RuleLearner, Callable[[], Any]]:
        learner = started(name)
        return learner, lambda: learner.predict_one(row) if act == "predict_one" else learner.learn_one(row, 1)

    lines = 0
    for learner in interrupted_at_every_line(ready, file, error):
        lines += 1
        after = pack(learner)
        assert after in states[: 2 if act == "learn_one" else 1]
        if after == states[0]:
            learner.learn_one(row, 1)
        assert pack(learner) == states[1]
    assert lines > (3 if act == "learn_one" else 2)


def test_hashed_names_are_recorded_once_however_many_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    from noregret.learner import hashed_path

    monkeypatch.setattr(hashed_path, "CACHE_SIZE", 8)
    one, batch = make("binary", {"bits": 6}), make("binary", {"bits": 6})
    for t in range(200):
        row = {f"n{t * j % 97}": 1.0 + j for j in range(1, 5)}
        assert t < 3 or one.predict_one(row) == batch.predict([row])[0]
        one.learn_one(row, t % 2)
        batch.learn([row], [t % 2])
    assert pack(one) == pack(batch)
    assert isinstance(one._loops.fast_path, hashed_path.HashedPath)
    assert len(one._loops.fast_path.known) <= 8


def test_names_that_share_a_cell_are_summed_in_one_order() -> None:
    one, batch = make("binary", {"bits": 2}), make("binary", {"bits": 2})
    rng = np.random.default_rng(5)
    for t in range(60):
        row = {f"n{rng.integers(40)}": float(rng.normal() * 10.0 ** rng.integers(-3, 4)) for _ in range(20)}
        one.learn_one(row, t % 2)
        batch.learn([row], [t % 2])
        assert one.scores_one(row) == batch.scores([row])[0]
    assert pack(one) == pack(batch)
