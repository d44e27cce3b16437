"""The stand-in for the compiler under mutants: loops over tables run as plain Python, as they would compiled."""

import sys
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

import noregret as nr
from noregret.decomposition import rating_loops, rating_one, rating_table
from noregret.jit.compiled import unbound
from noregret.learner.model_file import pack
from verification.mutants.plain_loops import PlainLoops

read_pairs: Any = unbound
read_numbers: Any = unbound
RAISED: list[type[Exception]] = []


class Pairs(NamedTuple):
    users: Any
    sums: Any


def add_entry(table: Any) -> int:
    """A loop that adds numbers by user."""
    pairs, numbers = read_pairs(table), read_numbers(table)
    for error in RAISED:
        raise error
    for user in pairs.users:
        pairs.sums[user] += numbers[user]
    return 0


PLACES = {"pairs": (3, None), "numbers": (7, None)}


def start(counted: list[int], tracers: tuple[type, ...] = ()) -> tuple[Any, Any, Any]:
    """A module with the stand-in, a table that is filled, and the sums that its loop writes."""
    module, table, sums = SimpleNamespace(), np.zeros(9, np.int64), np.zeros(2)
    PlainLoops(counted.append, tracers).install([module])  # type: ignore[list-item]
    module.fill(table, 3, Pairs(np.array([0, 1, 1]), sums))
    module.fill(table, 7, np.array([2.0, 1e308]))
    return module, table, sums


def test_a_loop_reads_what_was_written_last_at_its_places() -> None:
    counted = list[int]()
    module, table, sums = start(counted)
    entry = module.get_function(add_entry, PLACES)
    assert entry.run(module.address(table)) == 0
    assert sums.tolist() == [2.0, np.inf]  # without a warning
    module.fill(table, 7, np.array([5.0, 1.0]))
    assert entry.held(module.address(table))() == 0
    assert sums.tolist() == [7.0, np.inf]
    assert counted == [3, 3]


@pytest.mark.parametrize(
    ("error", "status"), [(ArithmeticError, 1), (ZeroDivisionError, 1), (IndexError, 1), (TypeError, None)]
)
def test_errors_of_compiled_code_are_a_status_and_mistakes_are_raised(
    error: type[Exception], status: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(globals(), "RAISED", [error])
    module, table, _ = start([])
    entry = module.get_function(add_entry, PLACES)
    if status is None:
        with pytest.raises(error):
            entry.run(module.address(table))
    else:
        assert entry.run(module.address(table)) == status


class Tracer:
    """Remembers the functions that it sees."""

    def __init__(self) -> None:
        self.seen = set[str]()

    def __call__(self, frame: Any, event: str, argument: Any) -> None:
        self.seen.add(frame.f_code.co_name)


@pytest.mark.parametrize("sees", [False, True])
def test_only_some_tracers_see_into_a_loop(sees: bool) -> None:
    module, table, _ = start([], (Tracer,) if sees else ())
    entry, tracer, before = module.get_function(add_entry, PLACES), Tracer(), sys.gettrace()
    sys.settrace(tracer)
    try:
        entry.run(module.address(table))
        after = sys.gettrace()
    finally:
        sys.settrace(before)
    assert ("add_entry" in tracer.seen) == sees
    assert after is tracer


def test_single_ratings_are_learned_by_plain_loops_as_many_are(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (rating_one, rating_table, rating_loops):
        for name, value in list(vars(module).items()):
            if value is unbound or name in ("get_function", "fill", "address"):
                monkeypatch.setattr(module, name, value)  # so that it is brought back
    counted = list[int]()
    PlainLoops(counted.append, ()).install((rating_one, rating_table))
    one, many = (nr.make("factorisation", k=2, native=native) for native in (True, False))
    for t in range(12):
        row, y = (t % 5, t % 3), 1.0 + t % 4
        assert one.predict_one(row) == many.predict_one(row)
        one.learn_one(row, y)
        many.learn([row], [y])
    header, arrays = one.dump()
    restored = type(many).restore({**header, "options": many.dump()[0]["options"]}, arrays, None)  # type: ignore[arg-type]
    assert pack(restored) == pack(many)
    assert sum(counted) >= 23
