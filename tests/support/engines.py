"""The two engines of a learner: its text in plain Python, and the same text compiled."""

from collections.abc import Mapping
from typing import Any

import pytest

from noregret.cli import screen
from noregret.evaluation.capabilities import compile_jobs
from noregret.learner import config
from noregret.learner import rule_file as rule_file  # imported here, or it would keep what a test puts in place
from noregret.learner.engine import Engine, Rounds
from noregret.tasks.assemble import Plan
from tests.support.cover import ALL

# Compiled loops are compared with the plain text in tests/conformance; the tests of a rule need not compile it again.
LONG = 1.0  # seconds that one call would take as plain text: longer than to compile its loop
MANY = 4000  # rounds of one call, which take that long whatever they do
NAMES = {False: "plain", True: "compiled"}
engines = pytest.mark.parametrize("native", [False, True] if ALL else [False], ids=NAMES.get)


def interpret_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    """Learners play the plain text where a test does not say `native=True`: for few rounds that is quicker."""
    resolve = config.resolve

    def interpreted(card: Any, given: Mapping[str, Any]) -> config.Config:
        return resolve(card, {"native": False, **given})

    monkeypatch.setattr(config, "resolve", interpreted)


def is_long(engine: Engine, rows: Any, rounds: int) -> bool:
    """Whether some rounds take longer as plain text than to compile; those of kernels look at every round before."""
    match engine.plan.algebra:
        case "reference":
            return False
        case "kernel":
            return rounds**2 * 2e-6 > LONG
        case _:
            values = rows.val.size if rows.val.ndim == 2 else int(rows.indptr[-1] - rows.indptr[0])
            return rounds > MANY or rounds * 3e-5 + values * 2.5e-6 * max(1.0, engine.space.classes / 2) > LONG


class FewLoops:
    """Compile only loops that tests share, and play others as plain text: for a few rounds that is quicker.

    What the two engines compute is compared in tests/conformance. Calls of many rounds compile their loop, and tests
    marked `compiles` whatever they use.
    """

    def __init__(self) -> None:
        self.active = False

    def install(self) -> None:
        start, play, jobs_of = Engine.__init__, Engine.play, compile_jobs

        def started(engine: Engine, plan: Plan, params: Any, native: bool) -> None:
            start(engine, plan, params, native and self.allows(plan))
            engine.asked = native

        def played(engine: Engine, given: Rounds, *rest: Any) -> bool:
            rows, y, _ = given.values
            if engine.asked and not engine.native and is_long(engine, rows, len(y)):
                engine.native, engine.loops = True, None
            return play(engine, given, *rest)

        def jobs(*told: Any) -> Any:
            return [] if self.active else jobs_of(*told)

        setattr(Engine, "__init__", started)  # noqa: B010
        setattr(Engine, "play", played)  # noqa: B010
        setattr(screen, "jobs_of", jobs)  # noqa: B010

    def allows(self, plan: Plan) -> bool:
        from tests.conformance.loops import shared_loops

        return not self.active or plan.name in shared_loops()
