"""What a user of Python expects: options where they are needed, short reprs, functions that travel."""

import bdb
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noregret as nr
from noregret.algebra import add

X, Y = [{"a": 1.0}, {"b": 1.0}] * 20, ["x", "y"] * 20


@pytest.fixture
def orders(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    ages = rng.integers(18, 80, 100)
    lines = [f"{age},{'ab'[age % 2]},{'yes' if age > 50 else 'no'},{2.0 * age}" for age in ages]
    (tmp_path / "orders.csv").write_text("\n".join(["age,plan,churn,price", *lines]))
    return tmp_path / "orders.csv"


def test_race_play_and_evaluate_take_the_options_of_a_source(orders: Path) -> None:
    board = nr.race(orders, ["pa1"], label="churn", drop=["price"], native=False)
    same = nr.race(nr.open_source(orders, label="churn", drop=["price"]), ["pa1"], native=False)
    assert board["pa1"].mistakes == same["pa1"].mistakes < 30
    assert nr.race(orders, ["pa1"], task="regression", label="price", native=False)["pa1"].report["r2"] > 0.5
    m = nr.make("pa1", native=False)
    assert nr.play(orders, m, label="churn", limit=50)["mistakes"] == m.mistakes
    assert m.rounds == 50
    assert nr.evaluate(orders, m, label="churn")["rows"] == 100


def test_a_frame_is_raced_by_the_name_of_its_label(orders: Path) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_csv(orders)
    by_file = nr.race(orders, ["pa1"], label="churn", native=False)
    assert nr.race(frame, ["pa1"], label="churn", native=False)["pa1"].mistakes == by_file["pa1"].mistakes


def test_a_source_that_is_open_takes_no_more_options(orders: Path) -> None:
    with pytest.raises(nr.BadValue, match="give label to open_source"):
        nr.race(nr.open_source(orders), ["pa1"], label="churn")


def test_reprs_are_short_and_notebooks_show_tables() -> None:
    said = nr.make("pa1", native=False).play(X, Y)
    assert repr(said) == "<transcript: 40 rounds, 2 mistakes, 2 updates, loss 2>"
    assert said._repr_html_().startswith("<code>&lt;transcript")
    board = nr.race((X, Y), ["pa1"], native=False)
    assert board._repr_html_().startswith("<table><tr><th>learner</th>")
    assert len(repr(nr.delayed(nr.make("pa1")))) < 100


def test_functions_that_use_the_package_can_be_sent_elsewhere() -> None:
    cloudpickle = pytest.importorskip("cloudpickle")

    def work() -> Any:
        return nr.make("pa1", native=False).learn(X, Y).predict_one({"a": 1.0})

    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    try:
        assert cloudpickle.loads(cloudpickle.dumps(work))() == "x"
    finally:
        cloudpickle.unregister_pickle_by_value(sys.modules[__name__])


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
