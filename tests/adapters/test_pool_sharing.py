"""Entries that share encoded rows and labels learn what they learn alone, and fail and are undone as they are alone."""

from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.adapters import pool_rounds, pool_sharing
from noregret.adapters.pool_history import find_kept
from noregret.adapters.pool_one_row import as_row, list_items, number_known
from noregret.adapters.pool_sleep import BLOCK
from noregret.adapters.pool_votes import add_votes, place_votes
from noregret.learner import shared_rows
from noregret.learner.model_file import FindCard, pack
from noregret.learner.shared_play import SharedPlay
from noregret.learner.transaction import SLICE
from tests.adapters.pools import FEW, few, fresh, noisy
from tests.support import by_name

TASKS = ["binary", "multiclass", "regression"]


def rows_of(task: str, size: int = 60) -> tuple[np.ndarray, Any]:
    X, y = noisy(size, seed=4)
    return X, {"binary": y, "multiclass": np.argmax(X[:, :3], axis=1), "regression": X[:, 0] - X[:, 1]}[task]


def play_in_turn(learner: Any, rows: Any, y: Any, weight: Any = None) -> list[Any]:
    """Play three calls; only the first brings new classes."""
    parts = [slice(0, 20), slice(20, 41), slice(41, 60)]
    return [learner.play(rows[at], y[at], None if weight is None else weight[at]) for at in parts]


@pytest.fixture
def shared(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many entries shared the rows of each call."""
    counts: list[int] = []

    def read(learners: Any, *rest: Any) -> Any:
        counts.append(len(learners))
        return shared_rows.read_outcomes(learners, *rest)

    monkeypatch.setattr(pool_sharing, "read_outcomes", read)
    return counts


@pytest.mark.thinned(2)
@pytest.mark.parametrize("form", ["dense", "dicts", "weighted", "constant", "scaled"])
@pytest.mark.parametrize("task", TASKS)
def test_sharing_changes_no_bit(task: str, form: str, shared: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = rows_of(task)
    options = {"constant": {"bias": True}, "scaled": {"scale": True}}.get(form, {})
    rows: Any = [by_name(row) for row in X] if form == "dicts" else X
    weight = np.linspace(0.0, 2.0, 60) if form == "weighted" else None
    pool = [*FEW[:2], "arow", ("ogd", {"eta0": 0.1})]
    together = few(pool, task=task, **options)
    found = play_in_turn(together, rows, y, weight)
    assert shared == [3, 3] if form == "scaled" else [4, 4]
    monkeypatch.setattr(pool_sharing, "may_share", lambda *given: False)
    monkeypatch.setattr(pool_rounds, "may_encode", lambda learner: False)
    alone = few(pool, task=task, **options)
    expected = play_in_turn(alone, rows, y, weight)
    assert pack(together) == pack(alone)
    for one, other in zip(found, expected, strict=True):
        for name in ("scores", "predictions", "losses", "mistakes", "updated", "truth"):
            assert getattr(one, name).tolist() == getattr(other, name).tolist()


def test_counts_are_those_of_the_learner_alone(shared: list[int]) -> None:
    X, y = rows_of("binary")
    learner = few()
    play_in_turn(learner, X, y)
    assert shared == [4, 4]
    for entry, part in zip(learner.entries, FEW, strict=True):
        alone = fresh(part).learn(X, y)
        own = entry.learner
        assert (own.rounds, own.updates, own.mistakes) == (alone.rounds, alone.updates, alone.mistakes)


def test_new_classes_and_rounds_of_no_class_are_played_by_every_entry_itself(shared: list[int]) -> None:
    X, y = rows_of("binary")
    pool = ["pa1", ("pa1", {"C": 0.1}), "arow"]
    whole, parts = few(pool), few(pool)
    labels: Any = y.tolist()
    labels[50] = 7
    labels[30] = nr.UNIVERSUM
    whole.play(X, labels)
    play_in_turn(parts, X, labels)
    assert shared == []
    assert pack(parts) == pack(whole)


def test_more_rows_than_a_slice_are_shared(shared: list[int]) -> None:
    X, y = noisy(SLICE + 5, columns=2)
    learner: Any = nr.make("auto", pool=["pa1", "arow"])
    learner.learn(X[:50], y[:50])
    learner.learn(X[50:], y[50:])
    assert shared == [2]
    assert [entry.learner.rounds for entry in learner.entries] == [SLICE + 5, SLICE + 5]


def test_an_entry_that_overflows_stops_before_that_row_and_the_others_go_on(shared: list[int]) -> None:
    X, y = rows_of("binary")
    X[50] = 1e200
    pool = ["perceptron_averaged", ("ogd", {"loss": "squared_hinge"}), "pa1(C=1)"]
    whole, parts = few(pool), few(pool)
    whole.play(X, y)
    play_in_turn(parts, X, y)
    assert shared[-1] == 2
    assert list(parts.stopped) == list(whole.stopped) == [parts.entries[1].name]
    assert parts.entries[1].learner.rounds == 50
    assert [entry.learner.rounds for entry in parts.entries] == [60, 50, 60]
    assert parts.shares == whole.shares


def test_an_entry_that_has_stopped_does_not_sleep_whatever_the_chunks() -> None:
    X, y = noisy(BLOCK + 40, columns=2, noise=0.0)
    X[30] = 1e200
    pool = ["perceptron", ("ogd", {"loss": "squared_hinge"}), "pa1(C=1)"]
    whole: Any = nr.make("auto", pool=pool, prune=True)
    parts = whole.copy()
    whole.learn(X, y)
    for start in (0, 20, 60):
        stop = {0: 20, 20: 60, 60: len(y)}[start]
        parts.learn(X[start:stop], y[start:stop])
    assert list(whole.stopped) == [whole.entries[1].name]
    assert parts.sleep == whole.sleep
    assert parts.shares == whole.shares


@pytest.mark.parametrize("step", ["begin", "play_rounds", "end"])
@pytest.mark.parametrize("number", [0, 1, 3])
def test_a_call_that_is_cut_off_after_a_step_of_an_entry_is_undone(
    number: int, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = rows_of("binary")
    rows = [by_name(row) for row in X]
    learner = few()
    learner.learn(rows[:40], y[:40])
    before = pack(learner)
    cut_off, take_step = learner.entries[number].learner, getattr(SharedPlay, step)

    def cut(play: SharedPlay, *given: Any) -> Any:
        found = take_step(play, *given)
        if play.learner is cut_off:
            raise KeyboardInterrupt
        return found

    monkeypatch.setattr(SharedPlay, step, cut)
    with pytest.raises(KeyboardInterrupt):
        learner.learn([*rows[40:], {"new": 1.0}], [*y[40:], 1])
    assert pack(learner) == before
    monkeypatch.undo()
    learner.learn(rows[40:], y[40:])
    assert pack(learner) == pack(few().learn(rows, y))


def test_what_is_cut_off_while_the_losses_are_weighed_is_undone_again_and_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Savepoints write into memory of earlier ones, which no later call may change while it is needed."""
    X, y = rows_of("binary")
    learner = few()
    learner.learn(X[:20], y[:20])
    for start in (20, 30):
        before = pack(learner)
        with monkeypatch.context() as patch:
            patch.setattr(pool_rounds.PoolRounds, "weigh", lambda *given: (_ for _ in ()).throw(KeyboardInterrupt))
            for _ in range(2):
                with pytest.raises(KeyboardInterrupt):
                    learner.learn(X[start:], y[start:])
                assert pack(learner) == before
        learner.learn(X[start : start + 10], y[start : start + 10])
    assert pack(learner) == pack(few().learn(X[:40], y[:40]))


# ---- votes -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [1, 2, 3, 4])
def test_votes_that_are_added_entry_by_entry_have_the_bits_of_those_that_are_placed(classes: int) -> None:
    rng = np.random.default_rng(classes)
    codes = rng.integers(-1, classes, size=(24, 200)).astype(np.int8)
    shares = rng.dirichlet(np.full(24, 0.1), size=200)
    assert add_votes(codes, shares, classes).tolist() == place_votes(codes, shares, classes).tolist()


# ---- weights over time -----------------------------------------------------------------------------------------------


def test_weights_are_kept_at_the_same_rounds_however_they_are_batched() -> None:
    X, y = rows_of("binary")
    whole, one_by_one = few(), few()
    whole.learn(X, y)
    for x, label in zip(X, y.tolist(), strict=True):
        one_by_one.learn_one(x, label)
    assert whole.history.rounds.tolist() == one_by_one.history.rounds.tolist()
    assert whole.history.shares.tolist() == one_by_one.history.shares.tolist()
    assert whole.history.rounds.tolist()[:9] == [1, 2, 3, 4, 5, 6, 7, 8, 9]
    np.testing.assert_allclose(whole.history.shares[0], 1.0 / len(FEW))


@pytest.mark.parametrize("before", [0, 1, 7, 100, 10**6])
def test_eight_rounds_of_each_doubling_are_kept(before: int) -> None:
    every = find_kept(0, 2 * before + 5000)
    assert find_kept(before, 5000).tolist() == [at for at in every if before < at <= before + 5000]
    assert len(find_kept(2**20, 2**20)) == 8


@pytest.mark.parametrize("fault", ["negative", "sum", "order", "future", "entries"])
def test_a_file_with_impossible_weights_over_time_is_refused(fault: str) -> None:
    learner = few().learn(*rows_of("binary"))
    header, arrays = learner.dump()
    shares, rounds = arrays["history/shares"].copy(), arrays["history/rounds"].copy()
    match fault:
        case "negative":
            shares[3, :2] += (1.0, -1.0)
        case "sum":
            shares[3] *= 0.5
        case "order":
            rounds[3] = rounds[2]
        case "future":
            rounds[-1] = 61
        case "entries":
            shares = shares[:, 1:]
    arrays |= {"history/shares": shares, "history/rounds": rounds}
    with pytest.raises(nr.BadValue, match="weights of a pool over time"):
        type(learner).restore(header, arrays, FindCard())


# ---- one row that is predicted, then learned -------------------------------------------------------------------------


def change_nothing(row: dict[str, float]) -> dict[str, float]:
    return row


def change_a_value(row: dict[str, float]) -> dict[str, float]:
    row["f1"] = 5.0
    return row


def turn_around(row: dict[str, float]) -> dict[str, float]:
    return dict(reversed(row.items()))


@pytest.mark.parametrize("change", [change_nothing, change_a_value, turn_around])
@pytest.mark.parametrize("task", TASKS)
def test_a_row_that_was_predicted_is_learned_as_it_is_then(task: str, change: Any) -> None:
    X, y = rows_of(task)
    rows = [by_name(row) for row in X]
    learner: Any = nr.make("auto", pool=["pa1", "arow"], task=task).learn(rows[:30], y[:30])
    expected = learner.copy()
    for row, label in zip(rows[30:50], y[30:50].tolist(), strict=True):
        learner.predict_one(row)
        changed = change(row)
        learner.learn_one(changed, label)
        expected.learn([changed], [label])
        assert learner.predict_one(rows[0]) == expected.predict_one(rows[0])  # another row in between
    assert pack(learner) == pack(expected)


@pytest.mark.parametrize("row", [
    {"f2": 1.5, "f0": -2.0}, {"f1": 0.0}, {"f0": 1.0, "new": 2.0}, {"f0": 1}, {"f0": True}, {"f0": np.float32(0.5)},
    {"f0": 1e308, "f1": 1e308}, {},
])  # fmt: skip
@pytest.mark.parametrize("options", [{}, {"scale": True}, {"bias": True}, {"bits": 8}])
def test_a_row_of_known_names_is_numbered_as_encoding_does(row: dict[str, Any], options: dict[str, Any]) -> None:
    X, y = rows_of("binary")
    learner: Any = nr.make("auto", pool=["pa1", "arow"], **options)
    learner.learn([by_name(x) for x in X], y)
    names = len(learner.model.names.known) if learner.model.names.mode == "names" else 0
    found = number_known(learner.leader, list_items(row))
    plain = not options and set(row) <= {"f0", "f1", "f2"} and all(type(value) is float for value in row.values())
    assert (found is not None) == (plain and bool(row) and sum(row.values()) < np.inf)
    if found is not None:
        encoded = as_row(learner.leader._encode([row], include_unknown=True))
        assert list(found.items()) == list(encoded.items())
    assert not names or len(learner.model.names.known) == names


def test_what_was_predicted_is_forgotten_when_something_else_is_learned() -> None:
    X, y = rows_of("binary")
    rows = [by_name(row) for row in X]
    learner: Any = nr.make("auto", pool=["pa1", "arow"]).learn(rows[:30], y[:30])
    expected = learner.copy()
    learner.predict_one(rows[40])
    for part in (learner, expected):
        part.learn(rows[30:33], y[30:33]).learn_one(rows[40], int(y[40]))
    assert pack(learner) == pack(expected)
