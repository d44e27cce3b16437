"""Single rounds from dicts: whatever names and numbers they are made of, they are learned as in a batch, or refused."""

import math
import sys
from collections import Counter, OrderedDict
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.jit import dict_reader
from noregret.learner.fast_path import FEATURES, FastPath
from noregret.learner.model_file import pack
from tests.support import refused
from tests.support.cover import ALL
from tests.support.interrupts import interrupted_at_every_line

LONG = 200  # features, more than a fast path has room for at first


def started(task: str = "binary", names: bool = True) -> nr.RuleLearner:
    """A learner that knows the features a, b, c, or 0, 1, 2, and its classes."""
    a, b, c = ("a", "b", "c") if names else (0, 1, 2)
    rows: list[Any] = [{a: 1.0, b: -0.5}, {b: 2.0, c: 1.0}, {c: -1.0}]
    return nr.make("pa1", task=task, algebra="sparse").learn(rows, [1, -1, 1] if task != "multiclass" else [0, 1, 2])


def same_as_in_batches(rounds: list[tuple[Any, Any]], task: str = "binary", names: bool = True) -> nr.RuleLearner:
    """Play rounds one at a time, and each as a batch of one: predictions, scores and models are the same."""
    one, batch = started(task, names), started(task, names)
    for x, y in rounds:
        assert one.predict_one(x) == batch.predict([x])[0]
        scores = one.scores_one(x)
        assert (list(scores.values()) if task == "multiclass" else scores) == batch.scores([x])[0].tolist()
        one.learn_one(x, y)
        batch.learn([x], [y])
    assert pack(one) == pack(batch)
    assert one.rounds == 3 + len(rounds)
    return one


VALUES = [
    0.25,
    -3,
    0,
    -1,
    True,
    2**60 + 1,
    np.float64(1.5),
    np.float32(0.1),
    np.int64(7),
    Fraction(1, 3),
    Decimal("0.7"),
]


@pytest.mark.thinned(3)
@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__ + str(value))
@pytest.mark.parametrize("names", [True, False], ids=["names", "numbers"])
def test_any_number_is_a_value(value: Any, names: bool) -> None:
    a, b = ("a", "b") if names else (0, 1)
    same_as_in_batches([({a: 1.0, b: value}, 1), ({b: value}, -1), ({b: 1.0, a: value}, -1)], names=names)


@pytest.mark.thinned(2)
@pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
@pytest.mark.parametrize("names", [True, False], ids=["names", "numbers"])
def test_rounds_of_every_task(task: str, names: bool) -> None:
    rng = np.random.default_rng(4)
    told: dict[str, list[Any]] = {"binary": [1, -1], "multiclass": [0, 1, 2], "regression": [0.5, -2, np.float32(0.3)]}
    truths = told[task]
    features: list[Any] = ["c", "a", "b"] if names else [2, 0, 1]
    rounds = [
        ({j: float(rng.normal()) for j in features if rng.random() < 0.7}, truths[t % len(truths)]) for t in range(60)
    ]
    same_as_in_batches(rounds, task, names)


@pytest.mark.parametrize(
    "kind",
    [
        Counter,
        lambda x: OrderedDict(reversed(x.items())),
        lambda x: {np.str_(name): value for name, value in x.items()},
    ],
    ids=["a counter", "another order", "names of numpy"],
)
def test_any_dict_is_a_row(kind: Callable[[Any], Any]) -> None:
    same_as_in_batches([(kind({"a": 1, "b": 2}), 1), (kind({"c": 3, "new": 1}), -1), (kind({"new": 2, "a": 1}), -1)])


def test_new_names_are_taken_as_they_come_and_long_rows_too() -> None:
    rounds: list[tuple[Any, Any]] = [
        ({f"n{t}": 1.0, "a": 0.5, f"n{t // 2}": -1.0}, 1 - 2 * (t % 2)) for t in range(300)
    ]
    rounds += [({f"n{j}": 0.1 * j for j in range(LONG)}, 1), ({f"n{j}": 0.1 for j in range(LONG + 5)}, -1), ({}, 1)]
    assert len(same_as_in_batches(rounds).features) == 3 + 300


@pytest.mark.parametrize("kind", [dict, Counter])
def test_more_new_names_than_there_is_room_for(kind: Callable[[Any], Any]) -> None:
    rounds = [(kind({f"n{t * t + j}": j + 1 for j in range(t * t)}), 1 - 2 * (t % 2)) for t in range(2, 20)]
    same_as_in_batches(rounds)


def test_new_numbers_of_features_are_taken_as_they_come() -> None:
    rounds: list[tuple[Any, Any]] = [({t: 1.0, 0: 0.5, t // 2: -1.0}, 1 - 2 * (t % 2)) for t in range(3, 80)]
    assert len(same_as_in_batches(rounds, names=False).features) == 80


def test_looking_at_new_names_learns_none() -> None:
    learner = started()
    assert learner.scores_one({"new": 5.0, "a": 1.0}) == learner.scores_one({"a": 1.0})
    assert learner.features == ["a", "b", "c"]


WRONG = [math.nan, math.inf, -math.inf, None, "1", b"1", 10**400, -(10**400), 1j, [1.0], np.float64("nan")]


@pytest.mark.parametrize("value", WRONG, ids=lambda value: str(value)[:6])
@pytest.mark.parametrize("x", [{"a": 1.0}, {"new": 1.0, "a": 1.0}], ids=["known", "new"])
def test_what_is_no_finite_number_changes_nothing(value: Any, x: dict[str, Any]) -> None:
    learner = started()
    for row in ({**x, "b": value}, {"b": value, **x}):
        assert "feature 'b'" in refused(learner, partial(learner.learn_one, row, 1))
        assert "feature 'b'" in refused(learner, partial(learner.predict_one, row))
    assert learner.learn_one(x, 1).rounds == 4


@pytest.mark.parametrize("name", [1, None, 2.0, (1,), b"a"], ids=repr)
def test_what_is_no_name_changes_nothing(name: Any) -> None:
    learner = started()
    for row in ({"a": 1.0, name: 1.0}, {name: 1.0, "new": 1.0}):
        refused(learner, partial(learner.learn_one, row, 1))


@pytest.mark.parametrize("number", [-1, 2**31, 2**63, 10**30, 1.0, "a"], ids=repr)
def test_what_is_no_number_of_a_feature_changes_nothing(number: Any) -> None:
    learner = started(names=False)
    refused(learner, lambda: learner.learn_one({0: 1.0, number: 1.0}, 1))


@pytest.mark.parametrize("target", [math.nan, math.inf, None, "1", 1j, 10**400], ids=lambda value: str(value)[:6])
def test_what_is_no_target_changes_nothing(target: Any) -> None:
    learner = started("regression")
    refused(learner, lambda: learner.learn_one({"a": 1.0, "new": 1.0}, target))


def test_a_round_that_overflows_changes_nothing_and_leaves_its_names_unknown() -> None:
    learner = nr.make("ogd", task="regression", algebra="sparse", eta0=1e300).learn([{"a": 1.0}], [1.0])
    refused(learner, lambda: learner.learn_one({"a": 1e200, "new": 1e200}, 1e300))
    assert learner.features == ["a"]


def test_no_reference_is_kept_or_lost() -> None:
    learner = started()
    rows: list[Any] = [{"a": 1.5, "b": 2}, {"unknown": 1.0}, {"a": "no number"}, {"a": 10**400}, OrderedDict(a=1.0)]
    things: list[Any] = [None, True, False, "a", "b", learner.model.names.known, *rows, *rows[0].values()]

    def play() -> None:
        for _ in range(200):
            for row in rows[:3]:
                path_of(learner).score_row(row)
                path_of(learner).learn_row(row, 1.0, 1.0)
            path_of(learner).score_row(rows[3])
            learner.predict_one(rows[4])

    play()
    before = [sys.getrefcount(thing) for thing in things]
    play()
    after = [sys.getrefcount(thing) for thing in things]
    assert max(abs(a - b) for a, b in zip(after, before, strict=True)) < 20


def path_of(learner: nr.RuleLearner) -> FastPath:
    found = learner._loops.fast_path or learner._open_fast_path()
    assert found is not None
    return found


class Meddling(str):
    """A name that does something else whenever another is compared to it."""

    __slots__ = ()
    meddle: Callable[[], Any] = staticmethod(lambda: None)

    def __hash__(self) -> int:
        return hash("a")

    def __eq__(self, other: object) -> bool:
        type(self).meddle()
        return other == "m"


def empty_the_row(learner: nr.RuleLearner, row: dict[str, float]) -> None:
    row.clear()


def score_another(learner: nr.RuleLearner, row: dict[str, float]) -> None:
    Meddling.meddle = lambda: None
    assert learner.predict_one({"b": 1.0}) == learner.predict([{"b": 1.0}])[0]
    learner.predict_one({f"g{j}": np.float32(1.0) for j in range(LONG)})


def raise_an_error(learner: nr.RuleLearner, row: dict[str, float]) -> None:
    raise RuntimeError("meddled")


def learn_another(learner: nr.RuleLearner, row: dict[str, float]) -> None:
    Meddling.meddle = lambda: None
    learner.learn_one({f"g{j}": 1.0 for j in range(LONG)}, 1)


def learn_a_batch(learner: nr.RuleLearner, row: dict[str, float]) -> None:
    Meddling.meddle = lambda: None
    learner.learn([{f"h{j}": 1.0 for j in range(10 * LONG)}], [1])


@pytest.mark.parametrize("deed", [empty_the_row, score_another, raise_an_error, learn_another, learn_a_batch])
def test_a_name_that_meddles_while_it_is_compared_breaks_nothing(deed: Callable[..., None]) -> None:
    learner = nr.make("pa1", algebra="sparse").learn([{Meddling("m"): 1.0, "b": 1.0}, {"b": -1.0}], [1, -1])
    learner.predict_one({"b": 1.0})
    try:
        for act in (learner.predict_one, lambda row: learner.learn_one(row, 1)):
            row = {"".join(("b",)): 2.0, "".join(("a", "")): 1.0, "c": 3.0}
            Meddling.meddle = partial(deed, learner, row)
            learns = deed in (learn_another, learn_a_batch) and act != learner.predict_one
            if deed is raise_an_error or learns:
                before = pack(learner)
                with pytest.raises(RuntimeError if deed is raise_an_error else nr.Error, match=r"meddled|again"):
                    act(row)
                assert pack(learner) == before
            else:
                act(row)
            Meddling.meddle = lambda: None
            assert np.isfinite(learner.scores([{"b": 1.0, "c": 1.0}])).all()
    finally:
        Meddling.meddle = lambda: None


class Float:
    """A number whose conversion does something else first."""

    def __init__(self, value: float, deed: Callable[[], Any]) -> None:
        self.value, self.deed = value, deed

    def __float__(self) -> float:
        self.deed()
        return self.value


@pytest.mark.parametrize("act", ["predict_one", "learn_one", "learn"])
@pytest.mark.parametrize("deed", ["grow", "shrink"])
def test_a_row_that_changes_its_size_while_it_is_read_is_read_once_or_refused(act: str, deed: str) -> None:
    learner = started()
    row: dict[str, Any] = {"a": 1.0}

    def change() -> None:
        if deed == "grow":
            row.update({f"n{j}": 1.0 for j in range(LONG)})
        else:
            row.pop("a", None)

    row["b"] = Float(2.0, change)
    row["c"] = 1.0
    try:
        if act == "learn":
            learner.learn([row], [1])
        else:
            getattr(learner, act)(row, *[1] * (act == "learn_one"))
    except (RuntimeError, nr.BadValue):
        assert pack(learner) == pack(started())
    assert set(learner.features) <= {"a", "b", "c"}
    assert np.isfinite(learner.scores([{"a": 1.0, "b": 1.0, "c": 1.0}])).all()


# ---- room ---------------------------------------------------------------------------------------------------------


def test_a_long_row_that_is_only_scored_makes_no_room_to_learn_it() -> None:
    learner = started("multiclass")
    row = {f"n{j}": np.float32(1.0) for j in range(LONG)}
    learner.predict_one(row)  # makes room in the state
    learner.predict_one(row)
    path = path_of(learner)
    assert path.scorer.features >= LONG
    assert path.trainer.features == FEATURES


def long_row(learner: nr.RuleLearner) -> dict[str, Any]:
    """A row of known features that is too long for the readers there are."""
    learner.learn([{f"n{j}": 0.5 for j in range(LONG)}], [1])
    path_of(learner)
    return {f"n{j}": 0.1 * j for j in range(LONG)}


@pytest.mark.parametrize(
    ("act", "error"),
    [
        ("learn_one", KeyboardInterrupt),
        ("predict_one", MemoryError),
        ("learn_one", MemoryError),
        ("predict_one", KeyboardInterrupt),
    ][: None if ALL else 1],
)
def test_an_interrupt_at_any_line_leaves_the_state_before_or_after(act: str, error: type[BaseException]) -> None:
    """Rows with new names, rows of other kinds and rows that need more room."""

    def prepare() -> tuple[nr.RuleLearner, list[dict[str, Any]]]:
        learner = started()
        rows: list[dict[str, Any]] = [{"a": 0.5, "new": 1.0}, Counter(a=1, other=2), long_row(learner)]
        return learner, rows

    learner, rows = prepare()
    states = [pack(learner)]
    for row in rows:
        states.append(pack(learner.learn_one(row, -1)))
    for number, row in enumerate(rows):

        def ready(number: int = number) -> tuple[nr.RuleLearner, Callable[[], Any]]:
            learner, rows = prepare()
            for row in rows[:number]:
                learner.learn_one(row, -1)
            row = rows[number]
            return learner, (lambda: learner.predict_one(row)) if act == "predict_one" else lambda: learner.learn_one(
                row, -1
            )

        lines = 0
        for learner in interrupted_at_every_line(ready, "fast_path.py", error):
            lines += 1
            after = pack(learner)
            assert after == states[number] or (act == "learn_one" and after == states[number + 1])
            once_more = after == states[number]
            for later in rows[number if once_more else number + 1 :]:
                learner.predict_one(later)
                learner.learn_one(later, -1)
            assert pack(learner) == states[-1]
        assert lines > 5


# ---- where it is not used -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
@pytest.mark.parametrize("names", [True, False], ids=["names", "numbers"])
def test_without_the_dict_reader_all_results_are_the_same_bits(
    task: str, names: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(5)
    quick, slow = started(task, names), started(task, names)
    for t in range(60):
        features: list[Any] = [*"cab", f"n{t % 7}"] if names else [2, 0, 1, 3 + t % 7]
        row = {
            j: VALUES[t % len(VALUES)] if t % 3 == 0 else float(rng.normal()) for j in features if rng.random() < 0.7
        }
        y = {"binary": 1 - 2 * (t % 2), "multiclass": t % 3, "regression": 0.1 * t}[task]
        with monkeypatch.context() as off:
            off.setenv("NOREGRET_DICT_READER", "0")
            expected = slow.predict_one(row), slow.scores_one(row)
            slow.learn_one(row, y)
            assert slow._loops.fast_path is None
        assert (quick.predict_one(row), quick.scores_one(row)) == expected
        quick.learn_one(row, y)
        assert quick._loops.fast_path is not None or names is False
    assert pack(quick) == pack(slow)


@pytest.mark.parametrize(
    ("module", "name", "value"),
    [
        (dict_reader, "TESTED", ()),
        (dict_reader, "TESTED", ((3, 10), (99, 0))),
        (dict_reader, "layout_is_known", lambda: False),
        (sys, "_is_gil_enabled", lambda: False),
        (sys.implementation, "name", "pypy"),
    ],
)
def test_it_is_off_where_it_was_not_tested(module: Any, name: str, value: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    learner = started()
    monkeypatch.setattr(module, name, value, raising=False)
    assert not dict_reader.is_enabled()
    learner.predict_one({"a": 1.0})
    assert learner._loops.fast_path is None


def test_it_is_on_where_it_was_tested() -> None:
    assert dict_reader.is_enabled() == (sys.version_info[:2] in dict_reader.TESTED)
