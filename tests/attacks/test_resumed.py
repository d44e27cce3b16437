"""What a model says of its source may be forged: the command resumes or refuses, in words."""

from pathlib import Path
from typing import Any

import pytest

import noregret as nr
from noregret.evaluation.checkpoint import is_position
from tests.attacks.mutations import seal
from tests.attacks.resumed import NAMES, attack, interrupted, write_files
from tests.support.command_line import noregret, refused


def test_changed_sources_are_resumed_or_refused() -> None:
    assert {attack(number) for number in range(4 * len(NAMES) + 1)} == {"refused", "resumed"}


@pytest.mark.parametrize(
    "source",
    [
        {"place": {"at": {"byte": "x"}, "past": 0}},
        {"place": {"at": {"pass": 0, "file": 0, "rows": 3, "at": 5}, "past": 0}},
        {"place": {"at": {"byte": 10**400}, "past": 0}},
        {"place": {"at": None, "past": -1}},
        {"place": {"at": None, "past": 2**60}},
        {"reading": {"label": 5}},
        {"reading": {"drop": 5}},
        {"reading": {"header": "yes"}},
        {"reading": {"passes": -3}},
    ],
)
def test_places_and_options_that_cannot_be_are_refused(source: dict[str, Any], tmp_path: Path) -> None:
    header, arrays = interrupted("t.csv", ())
    write_files(tmp_path)
    (tmp_path / "m.nr").write_bytes(seal({**header, "source": {**header["source"], **source}}, arrays))
    refused(noregret("learn", "t.csv", "--resume", "m.nr", cwd=tmp_path))


def test_a_label_that_is_no_name_is_not_believed(tmp_path: Path) -> None:
    header, arrays = interrupted("t.csv", ())
    write_files(tmp_path)
    source = {**header["source"], "label": 7, "place": None, "rows": 0}
    (tmp_path / "m.nr").write_bytes(seal({**header, "source": source}, arrays))
    assert noregret("learn", "t.csv", "--resume", "m.nr", "--quiet", cwd=tmp_path).returncode == 0


def test_positions_are_numbers_by_name() -> None:
    assert is_position({"byte": 5, "line": 2, "time": 1.5})
    assert is_position({"pass": 0, "file": 1, "rows": 3, "at": {"byte": 5}})
    wrong: list[Any] = [None, 5, [], {"byte": True}, {"byte": "5"}, {"at": 5}, {"byte": float("nan")}, {"byte": 2**53}]
    assert not any(map(is_position, wrong))
    deep: dict[str, Any] = {}
    for _ in range(10):
        deep = {"at": deep}
    assert not is_position(deep)


@pytest.mark.parametrize(
    "option", [{"label": 5}, {"weight": 1.5}, {"drop": 5}, {"text": {"a": 1}}, {"header": "no"}, {"format": 3}]
)
def test_options_of_other_types_are_refused(option: dict[str, Any], tmp_path: Path) -> None:
    write_files(tmp_path)
    with pytest.raises(nr.BadValue, match=next(iter(option))):
        nr.open_source(str(tmp_path / "t.csv"), **option)
