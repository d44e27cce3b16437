"""Every Python snippet of the documentation runs, in order, page by page."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
WRITTEN = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
PAGES = [page for page in WRITTEN if "```python" in page.read_text()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_snippets_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "snippet"}
    for number, snippet in enumerate(re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)):
        file = tmp_path / f"{page.stem}_{number}.py"
        file.write_text(snippet)
        exec(compile(snippet, str(file), "exec"), names)


def test_the_readme_tells_the_truth_about_its_comments() -> None:
    import noregret as nr

    m = nr.make("arow", r=0.5, native=False)
    m.learn_one({"viagra": 1.0, "hello": 2.0}, "spam")
    m.learn_one({"meeting": 1.0, "hello": 1.0}, "ham")
    assert m.predict_one({"viagra": 1.0}) == "spam"
    assert m.scores_one({"viagra": 1.0}) < 0.0
    guarantee = nr.learners()["perceptron"].guarantee
    assert guarantee is not None
    assert guarantee.says == "updates <= (R / gamma)^2"
    assert guarantee.bound(radius=1.0, margin=0.1) == pytest.approx(100.0)


def test_the_shelf_names_every_learner() -> None:
    import noregret as nr

    text = (ROOT / "README.md").read_text()
    assert [card.name for card in nr.learners() if f"`{card.name}`" not in text and built_in(card)] == []


def built_in(card: object) -> bool:
    return bool(getattr(card, "rule").__module__.startswith("noregret."))  # noqa: B009
