"""The tests of rules play the plain text, unless they ask for `native=True` or play many rounds."""

import pytest

from tests.support.cover import ALL
from tests.support.engines import interpret_by_default


@pytest.fixture(autouse=True)
def plain_text(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if not ALL and request.node.get_closest_marker("many_rounds") is None:
        interpret_by_default(monkeypatch)
