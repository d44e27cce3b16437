"""An interrupt at any line of a call leaves a network as it was before, or as it is after."""

from typing import Any

import pytest

import noregret as nr
from tests.conformance.protocol import state
from tests.support.cover import only_in_test_all
from tests.support.interrupts import interrupted_at_every_line

BEFORE = [{"a": 1.0, "b": -1.0}, {"a": 0.5, "c": 2.0}, {"b": 1.5}]
MORE = [{"a": 1.0, "d": 1.0}, {"e": -1.0, "b": 2.0}]


def trained(anchor: float = 0.0) -> Any:
    learner = nr.make("mlp", layers=[2], native=False, replay=2, anchor=anchor, batch=2)
    return learner.learn(BEFORE, ["x", "y", "x"])


@pytest.mark.thinned(2)
@pytest.mark.parametrize(
    "file",
    [
        pytest.param("neural/network.py", marks=only_in_test_all),
        "neural/network_learner.py",
        "learner/outside_rounds.py",
    ],
)
@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_a_call_that_is_cut_off_changes_all_or_nothing(file: str, error: type[BaseException]) -> None:
    def prepare() -> tuple[Any, Any]:
        learner = trained()
        return learner, lambda: learner.learn(MORE, ["z", "y"])  # new features, and a third class

    allowed = {state(trained()), state(trained().learn(MORE, ["z", "y"]))}
    assert len(allowed) == 2
    count = 0
    for learner in interrupted_at_every_line(prepare, file, error):
        count += 1
        assert state(learner) in allowed, f"line {count}"
        learner.learn(BEFORE, ["x", "y", "x"])
    assert count > 5


def test_a_consolidation_that_is_cut_off_changes_all_or_nothing() -> None:
    def prepare() -> tuple[Any, Any]:
        learner = trained(1.0)
        return learner, learner.consolidate

    allowed = {state(trained(1.0)), state(trained(1.0).consolidate())}
    for learner in interrupted_at_every_line(prepare, "neural/network.py", KeyboardInterrupt):
        assert state(learner) in allowed
