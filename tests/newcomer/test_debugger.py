"""A debugger stops in rounds of a rule, never where it is only probed; leaving it ends the program."""

import bdb
import sys
from typing import Any

import pytest

import noregret as nr
from noregret.algebra import add


def test_a_debugger_stops_in_rounds_only_and_quitting_quits(monkeypatch: pytest.MonkeyPatch) -> None:
    stops: list[int] = []
    monkeypatch.setattr(sys, "breakpointhook", lambda: stops.append(1))

    @nr.margin_rule(paper="none", params={"C": nr.Param(1.0, above=0.0)}, state={"w": nr.plain})
    def with_a_breakpoint(p: Any, s: Any, z: Any, margin: float) -> bool:
        """Stops."""
        breakpoint()
        add(s.w, p.C, z)
        return True

    m = nr.make(with_a_breakpoint, native=False)
    assert "binary" in m.card.tasks
    assert not stops
    m.learn_one({"a": 1.0}, 1)
    assert len(stops) == 1

    def leave() -> None:
        raise bdb.BdbQuit

    monkeypatch.setattr(sys, "breakpointhook", leave)
    with pytest.raises(bdb.BdbQuit):
        m.learn_one({"a": 1.0}, -1)
    assert m.rounds == 1
