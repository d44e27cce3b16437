"""What is said while loops are compiled."""

import time
from pathlib import Path

import pytest

from noregret.cli.screen import repeat
from noregret.learner import precompile
from noregret.learner.factory import make
from noregret.learner.precompile import find_missing, make_job


def test_what_takes_long_is_told_again_and_again_until_it_ends() -> None:
    told: list[float] = []
    with repeat(lambda: told.append(time.monotonic()), 0.01):
        while len(told) < 3:
            time.sleep(0.001)
    size = len(told)
    time.sleep(0.05)
    assert len(told) == size


def test_an_error_ends_it_too() -> None:
    told: list[int] = []
    with pytest.raises(KeyboardInterrupt), repeat(lambda: told.append(1), 0.001):
        raise KeyboardInterrupt
    size = len(told)
    time.sleep(0.02)
    assert len(told) == size


def test_nothing_is_compiled_for_a_cache_that_cannot_keep_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = make_job(make("pa1").config, "binary", "sparse")
    monkeypatch.setattr(precompile, "cache_folder", lambda: tmp_path / "new")
    assert find_missing([job, job]) == [job]
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(precompile, "cache_folder", lambda: tmp_path / "file")
    assert find_missing([job]) == []


def test_what_a_rule_decides_for_its_task_is_not_asked_for_again() -> None:
    asked, by_itself = make("mira", task="multiclass").config, make("mira").config
    assert make_job(asked, "multiclass", "sparse").key == make_job(by_itself, "multiclass", "sparse").key
    rest = make("pa1", task="multiclass", competitor="rest").config
    assert make_job(rest, "multiclass", "sparse").options["competitor"] == "rest"
