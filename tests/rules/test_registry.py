"""The registry: learners are found by listing folders, and a folder that cannot be read says so."""

import os
from pathlib import Path
from typing import Any

import pytest

import noregret as nr
from noregret.rules.registry import load_package


def test_a_folder_that_cannot_be_read_is_not_an_empty_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(path: Any) -> list[str]:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(os, "listdir", denied)
    with pytest.raises(nr.Error, match=r"learners: a part of noregret cannot be read \(Permission denied\)"):
        load_package("noregret.learners")


def test_a_module_that_cannot_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "hidden_family").mkdir()
    (tmp_path / "hidden_family" / "__init__.py").write_text("")
    (tmp_path / "hidden_family" / "rule.py").write_text(
        "raise PermissionError(13, 'Permission denied', 'hidden_family/rule.py')"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(nr.Error, match=r"hidden_family/rule\.py: a part of noregret cannot be read"):
        load_package("hidden_family")


def test_a_folder_without_learners_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "empty_family").mkdir()
    (tmp_path / "empty_family" / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(nr.Error, match="there are no learners in this folder of noregret"):
        load_package("empty_family")
