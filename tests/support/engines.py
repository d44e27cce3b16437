"""The two engines of a learner: its text in plain Python, and the same text compiled."""

from collections.abc import Mapping
from typing import Any

import pytest

from noregret.learner import config
from tests.support.cover import ALL

# Compiled loops are compared with the plain text in tests/conformance; the tests of a rule need not compile it again.
NAMES = {False: "plain", True: "compiled"}
engines = pytest.mark.parametrize("native", [False, True] if ALL else [False], ids=NAMES.get)


def interpret_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    """Learners play the plain text where a test does not say `native=True`: for few rounds that is quicker."""
    resolve = config.resolve

    def interpreted(card: Any, given: Mapping[str, Any]) -> config.Config:
        return resolve(card, {"native": False, **given})

    monkeypatch.setattr(config, "resolve", interpreted)
