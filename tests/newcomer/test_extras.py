"""Without its extras noregret learns, reads, saves and races; what needs an extra says which one."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import noregret as nr
from noregret.cli import main
from noregret.errors import import_extra


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the packages of the extras were not installed."""
    for name in list(sys.modules):
        if name.partition(".")[0] in ("sklearn", "pyarrow", "narwhals"):
            monkeypatch.delitem(sys.modules, name)
    for name in ("sklearn", "pyarrow", "narwhals"):
        monkeypatch.setitem(sys.modules, name, None)


@pytest.mark.usefixtures("bare")
@pytest.mark.parametrize(("arguments", "extra"), [(["race", "digits"], "sklearn"), (["race", "t.csv"], "tables")])
def test_a_command_names_the_extra_it_needs(
    arguments: list[str], extra: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("a,b,label\n1,2,1\n2,1,0\n")
    assert main(arguments) == 2
    said = capsys.readouterr().err.strip().splitlines()[-1]
    assert said.endswith(f"which is not installed: pip install 'noregret[{extra}]'")


@pytest.mark.usefixtures("bare")
def test_the_rest_works_without(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text('{"text": "good film", "y": 1}\n{"text": "bad film", "y": 0}\n' * 20)
    m = nr.make("pa1", native=False)
    for batch in nr.open_source(tmp_path / "t.jsonl", text=["text"], label="y"):
        m.learn(batch.X, batch.y)
    m.save(tmp_path / "m.nr")
    assert nr.load(tmp_path / "m.nr").predict_one({"text=good": 1.0}) == 1


def test_importing_noregret_imports_no_extra() -> None:
    text = "import noregret, sys; assert not {'sklearn', 'pyarrow', 'narwhals', 'numba'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", text], check=True)


def test_an_error_inside_an_extra_is_not_hidden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broken_extra.py").write_text("import something_that_is_missing")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ModuleNotFoundError, match="something_that_is_missing"):
        import_extra("broken_extra", "tables", "this")
