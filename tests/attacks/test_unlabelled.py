"""Learners without labels beside other threads, signal handlers, and code of the caller that runs inside a call."""

import os
import signal
import threading
from itertools import islice
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.data import blocks
from noregret.decomposition import matrix_rows
from noregret.decomposition.documents import own_documents
from noregret.decomposition.svd import SVD
from noregret.learner.model_file import pack, unpack
from tests.attacks.cut_off import called_at_lines, outcome
from tests.attacks.model_files import saved
from tests.attacks.mutations import seal

MATRIX = np.round(np.random.default_rng(5).normal(size=(24, 4)), 2)
CLASSES = [("red", "green", "blue")[number % 3] for number in range(24)]
PAIRS = np.random.default_rng(6).integers(5, size=(40, 2))
STARS = [1.0 + number % 5 for number in range(40)]


def make_svd(rows: int = 9) -> Any:
    return nr.make("svd", rank=2, batch=4, keep_rows="yes", native=False).learn(MATRIX[:rows])


# ---- signal handlers, and code of the caller -------------------------------------------------------------------------


@pytest.mark.compiles
def test_predictions_of_ratings_inside_a_prediction_change_none_of_them() -> None:
    def make() -> Any:
        learner = nr.make("factorisation", k=2).learn(PAIRS, STARS)
        learner.predict(PAIRS[:3])
        return learner

    whole, part = make().predict(PAIRS).tolist(), make().predict(PAIRS[:7]).tolist()
    found = list[Any]()

    def act(learner: Any) -> None:
        found.append(learner.predict(PAIRS).tolist())

    for _, answer in called_at_lines(make, act, lambda m: m.predict(PAIRS[:7]).tolist(), 1, 3):
        assert answer == part
    assert all(one == whole for one in found)


def test_components_for_a_learner_are_not_shown_while_both_are_learned() -> None:
    def make() -> Any:
        first: Any = nr.make("svd", rank=2, batch=4, native=False)
        return (first | nr.make("arow", native=False)).learn(MATRIX[:6], CLASSES[:6])

    def act(learner: Any) -> None:
        with pytest.raises(nr.BadValue, match="label"):
            learner.learn(MATRIX[6:12], [*CLASSES[6:11], object()])  # refused when the components are known

    before, after = outcome(make, act)
    assert before == after
    shown = make().transform(MATRIX).tolist()
    for _, answer in called_at_lines(make, act, lambda m: m.transform(MATRIX).tolist(), 3, 61):
        assert "called again" in str(answer) if isinstance(answer, nr.Error) else answer == shown


MAKERS: dict[str, Any] = {
    "ratings": lambda: nr.make("factorisation", k=2, native=False).learn(PAIRS[:9], STARS[:9]),
    "svd": make_svd,
}
REFUSED: dict[str, Any] = {
    "ratings": lambda m: m.learn([("new", 1), (2, 1 << 1024)], [1.0, 2.0]),
    "svd": lambda m: m.learn([*MATRIX[9:11], [1e200] * 4]),
}
LEARN: dict[str, Any] = {
    "ratings": lambda m: m.learn([("other", 2)], [3.0]),
    "svd": lambda m: m.learn(MATRIX[20:21]),
}


@pytest.mark.parametrize("kind", MAKERS)
def test_what_a_signal_handler_learned_is_not_undone_with_a_call_that_is_refused(kind: str) -> None:
    make, answered = MAKERS[kind], 0

    def act(learner: Any) -> None:
        with pytest.raises(nr.BadValue, match=r"object|digits|too large"):
            REFUSED[kind](learner)

    before, after = bytes(pack(make())), bytes(pack(LEARN[kind](make())))
    until = {"ratings": 90, "svd": 60}[kind]  # lines: then the change is under way
    for learner, answer in islice(called_at_lines(make, act, LEARN[kind], 1, 1), until):
        assert pack(learner) == (before if isinstance(answer, nr.Error) else after)
        answered += not isinstance(answer, nr.Error)
    assert answered > 2


@pytest.mark.parametrize("kind", [str, int, float])
def test_names_of_users_run_no_code_of_the_caller_once_they_are_read(kind: Any) -> None:
    class Odd(kind):  # type: ignore[misc]
        def __str__(self) -> str:
            return self

        def __int__(self) -> int:
            return 9

        def is_integer(self) -> bool:
            return True

    learner: Any = nr.make("rating_mean", native=False).learn([(Odd("7"), 1)], [2.0])
    assert learner.users == [kind("7")]
    assert type(learner.users[0]) in (str, int)


# ---- other threads ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("act", [lambda m: m.revise(8, MATRIX[9]), lambda m: m.remove(8),
                                 lambda m: m.append_columns(MATRIX[:9, :1])])  # fmt: skip
def test_rows_that_another_thread_removed_are_told_in_words(act: Any) -> None:
    learner = make_svd()
    alter = learner._alter

    def after_another(change: Any) -> Any:
        del learner._alter
        learner.remove(0)
        before = pack(learner)
        try:
            return alter(change)
        finally:
            assert pack(learner) == before

    learner._alter = after_another
    with pytest.raises(nr.BadValue, match=r"row must be below 8|a matrix of 8 rows"):
        act(learner)


def test_a_merged_learner_counts_the_rows_that_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other, copy = make_svd(), make_svd(5), SVD.copy

    def copy_then_learn(learner: Any) -> Any:
        new = copy(learner)
        if learner in (one, other):
            learner.learn(MATRIX[9:13])  # as another thread would
        return new

    monkeypatch.setattr(SVD, "copy", copy_then_learn)
    merged = one.merge(other)
    assert merged.rounds == merged.updates == merged.latest.rows == 14


def test_documents_are_copied_where_another_thread_could_change_them() -> None:
    documents, end = [{"a": 1.0}, {"b": 2.0}], threading.Event()
    thread = threading.Thread(target=end.wait)
    thread.start()
    try:
        found = own_documents(documents)
    finally:
        end.set()
        thread.join()
    assert found == documents
    assert not any(one is other for one, other in zip(found, documents, strict=True))


def test_a_value_that_was_wrong_for_a_moment_is_told_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    learner = make_svd()
    before = pack(learner)
    monkeypatch.setattr(blocks, "all_finite", lambda values: False)
    with pytest.raises(nr.BadValue, match="a value of X changed while it was read"):
        learner.learn(MATRIX)
    monkeypatch.undo()
    assert pack(learner) == before


# ---- numbers and files -----------------------------------------------------------------------------------------------


def test_a_rating_by_a_number_of_hundreds_of_digits_is_refused_and_forgotten() -> None:
    learner = nr.make("factorisation", k=2, native=False).learn(PAIRS, STARS)
    before = pack(learner)
    for number in (1 << 1024, -(1 << 1024), 10**5000):
        with pytest.raises(nr.BadValue, match=r"^row 1: the item is a number of too many digits; give it as a text$"):
            learner.learn([("new", 1), (2, number)], [1.0, 2.0])
    assert pack(learner) == before
    largest = (1 << 1024) - 1
    assert unpack(pack(learner.learn([(largest, -largest)], [1.0])), "m.nr").users[-1] == largest


def test_values_that_overflow_where_hashed_names_meet_are_refused_without_a_warning() -> None:
    with pytest.raises(nr.BadValue, match=r"^row 0: a value is too large: -?inf; scale the rows first$"):
        nr.make("svd", bits=1, native=False).learn([dict.fromkeys("acegikmoqs", 1e308)])


def test_components_that_no_row_has_are_not_made_into_rows() -> None:
    learner = make_svd()
    with pytest.raises(nr.BadValue, match=r"^row 0, column 1: the value is 1.1e\+300; every value must be finite and"):
        learner.inverse_transform([[1.0, 1.1e300]])
    assert np.isfinite(learner.inverse_transform([[1e300, -1e300]])).all()


def test_waiting_documents_with_values_behind_the_last_row_are_refused() -> None:
    header, arrays = saved("unigram", native=False)
    offsets = np.minimum(arrays["pending.offsets"], arrays["pending.offsets"][-1] - 1)
    with pytest.raises(nr.Error, match="rows of a mini-batch do not fit together"):
        unpack(seal(header, {**arrays, "pending.offsets": offsets}), "m.nr")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_rows_that_a_thread_was_turning_into_a_matrix_do_not_stop_the_child_of_a_fork(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    learner, holds, release, turn = make_svd(), threading.Event(), threading.Event(), blocks.to_dense

    def slowly(block: Any) -> Any:
        holds.set()
        release.wait(20)
        return turn(block)

    monkeypatch.setattr(matrix_rows, "to_dense", slowly)
    thread = threading.Thread(target=lambda: learner.copy().learn(MATRIX))
    thread.start()
    holds.wait(20)
    monkeypatch.undo()
    child = os.fork()
    if child == 0:
        signal.alarm(10)
        learner.learn(MATRIX)
        os._exit(7)
    release.set()
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
