"""Every snippet of the documentation runs, in order, page by page; what a console is said to show, it shows."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.command_line import noregret
from tests.support.cover import only_in_test_all

ROOT = Path(__file__).parent.parent
WRITTEN = [
    ROOT / "README.md",
    ROOT / "ARCHITECTURE.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").glob("*.md")),
]
PAGES = [page for page in WRITTEN if "```python" in page.read_text()]
LONG = ("command-line.md", "regret.md")
CONSOLES = [page for page in WRITTEN if "```console" in page.read_text()]
ELSEWHERE = ("make ", "git ", "pip ", "source ")  # commands that set things up, tried in a fresh clone


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_snippets_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "snippet"}
    for number, snippet in enumerate(re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)):
        file = tmp_path / f"{page.stem}_{number}.py"
        file.write_text(snippet)
        exec(compile(snippet, str(file), "exec"), names)


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=only_in_test_all if page.name in LONG else ()) for page in CONSOLES],
    ids=[page.name for page in CONSOLES],
)
def test_consoles_show_what_they_are_said_to_show(page: Path, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "COLUMNS": "120"}
    for console in re.findall(r"```console\n(.*?)```", page.read_text(), re.DOTALL):
        for command, said in re.findall(r"^\$ (.*)\n((?:[^$\n].*\n|\n(?=[^$]))*)", console, re.MULTILINE):
            if command.startswith(ELSEWHERE):
                continue
            if command.startswith("noregret ") and page.name != "README.md":
                done = noregret(*shlex.split(command, comments=True)[1:], cwd=tmp_path, COLUMNS="120")
            else:
                done = subprocess.run(
                    command, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300
                )
            assert done.returncode == 0, f"{command}\n{done.stderr}"
            assert comparable(said) <= comparable(done.stdout + done.stderr), f"{command}\n{done.stdout}{done.stderr}"


def comparable(text: str) -> set[str]:
    """The lines of an output; the speed that ends a line of a race, and how wide it is, are nobody's promise."""
    lines = [" ".join(line.split()) for line in text.splitlines() if line.strip(" .-")]
    return {re.sub(r" [\d,]+$", "", line) for line in lines}


def heading_anchors(page: Path) -> set[str]:
    """The anchors of the headings of a page, as GitHub makes them."""
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: page.name)
def test_links_lead_to_files_and_headings(page: Path) -> None:
    broken = []
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    for target in re.findall(r"\]\((?!https?:)([^)\s]+)\)", text):
        name, _, anchor = target.partition("#")
        file = page.parent / name if name else page
        if not file.exists() or (anchor and anchor not in heading_anchors(file)):
            broken.append(target)
    assert broken == []


def test_the_readme_tells_the_truth_about_its_comments() -> None:
    import noregret as nr

    m = nr.make("arow", r=0.5, native=False)
    m.learn_one({"viagra": 1.0, "hello": 2.0}, "spam")
    m.learn_one({"meeting": 1.0, "hello": 1.0}, "ham")
    assert m.predict_one({"viagra": 1.0}) == "spam"
    assert m.scores_one({"viagra": 1.0}) < 0.0
    card = nr.learners()["perceptron_averaged"]
    assert card.guarantees[0].says == "updates <= (R / gamma)^2"
    assert card.bound(radius=1.0, margin=0.1) == pytest.approx(100.0)


def test_the_readme_names_every_learner() -> None:
    import noregret as nr

    text = (ROOT / "README.md").read_text()
    assert [card.name for card in nr.learners() if f"`{card.name}`" not in text and card.built_in] == []


def test_the_catalogue_is_what_the_cards_say() -> None:
    import noregret as nr
    from noregret.evaluation.catalog import page

    own = [card for card in nr.learners() if card.built_in]
    assert (ROOT / "docs" / "learners.md").read_text() == page(own), "run `make catalogue`"
