"""The HTML report: complete in itself, and whatever the data are named, nothing of them is read as HTML or script."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import noregret as nr
from noregret.plots.html_report import hash_source, html_report, to_safe_json
from tests.support.command_line import SAMPLE, noregret, refused, succeeded

ATTACK = "</script><img src=x onerror=alert(1)><!--&lt;\u2028`${alert(1)}"
RACE = ("--learners", "perceptron,pa1", "--quiet")


class Outline(HTMLParser):
    """The elements of a page with their attributes, and the texts of its scripts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.found and self.found[-1][0] == "script" and data.strip():
            self.scripts.append(data)


def hostile_report() -> dict[str, Any]:
    point = {"rounds": 4, "mistakes": 1, "loss": 2.0, "updates": 1}
    confusion = {"labels": [ATTACK, "b"], "rounds": [2, 2], "recall": [1.0, None], "precision": [0.5, None],
                 "f1": [0.1, None], "counts": [[2, 0], [2, 0]]}  # fmt: skip
    regret = {"loss": ATTACK, "comparator": ATTACK, "says": ATTACK, "points": [
        {"rounds": n, "loss": 2.0 * n, "comparator_loss": 1.0, "gap": 1e-6, "regret": float(n), "average": 1.0,
         "bound": 3.0 * n} for n in (1, 2, 4)]}  # fmt: skip
    entry = {"name": ATTACK, "rounds": 4, "mistakes": 1, "rate": 0.25, "loss": float("inf"), "updates": 1,
             "seconds": 0.1, "curve": [point], "confusion": confusion, "regret": regret, "stopped": ATTACK,
             "largest_weights": [{"of": ATTACK, "weights": [[ATTACK, -1.0]]}]}  # fmt: skip
    return {"schema": 1, "noregret": "0", "command": ["noregret", ATTACK], "source": {"name": ATTACK, "rounds": 4},
            "task": "binary", "seed": 0, "fingerprint": ATTACK, "learners": [entry, {**entry, "name": "b"}],
            "warnings": [ATTACK], "notes": [ATTACK], "train": ATTACK, "compare": ATTACK}  # fmt: skip


def test_names_that_are_html_stay_text() -> None:
    page = html_report(hostile_report())
    outline = Outline(page)
    assert [tag for tag, _ in outline.found].count("script") == 2
    assert not {"img", "iframe", "object"} & {tag for tag, _ in outline.found}
    assert not any(name.startswith("on") for _, attributes in outline.found for name in attributes)
    data = re.search(r'<script type="application/json" id="report">(.*?)</script>', page, re.DOTALL)
    assert data is not None
    assert not set("<>&\u2028\u2029") & set(data[1])
    assert json.loads(data[1])["learners"][0]["name"] == ATTACK


def test_a_page_runs_its_own_script_only_and_loads_nothing() -> None:
    page = html_report(hostile_report())
    outline = Outline(page)
    policy = next(attributes["content"] for tag, attributes in outline.found if "http-equiv" in attributes)
    assert policy is not None
    assert "default-src 'none'" in policy
    assert hash_source(outline.scripts[-1]) in policy
    assert not re.search(r"(src|href)=\"(?!data:)", page)
    assert not re.search(r"@import|url\((?!#)|fetch\(|XMLHttpRequest|innerHTML|eval\(|document\.write", page)


@pytest.mark.parametrize("text", ["\ud800", "\x00", "'\"\\", "]]>", "\u2028"])
def test_any_text_can_be_in_the_data(text: str) -> None:
    found = json.loads(to_safe_json({"name": text, "loss": float("nan")}))
    assert found == {"name": "?" if text == "\ud800" else text, "loss": "nan"}


def test_a_leaderboard_is_a_page_too() -> None:
    board = nr.race(([[1.0, 0.0], [0.0, 1.0]] * 8, ["a", "b"] * 8), ["perceptron", "pa1"], native=False)
    data = json.loads(Outline(html_report(board)).scripts[0])
    assert [entry["name"] for entry in data["learners"]] == [entry.name for entry in board]
    assert data["learners"][0]["largest_weights"]
    assert data["targets"] is False


def test_a_report_needs_learners() -> None:
    with pytest.raises(nr.BadValue, match="a report with learners is needed"):
        html_report({"noregret": "0"})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    (folder / "a.svm").write_text(SAMPLE)
    words = ("a.svm", *RACE, "--json", "race.json", "--report", "race.html")
    succeeded(noregret("race", *words, cwd=folder))
    return folder


def data_of(path: Path) -> Any:
    return json.loads(Outline(path.read_text()).scripts[0])


def test_a_race_writes_what_was_run(folder: Path) -> None:
    shown, report = data_of(folder / "race.html"), json.loads((folder / "race.json").read_text())
    assert report["schema"] == 1
    assert shown["command"][:3] == ["noregret", "race", "a.svm"]
    assert shown["fingerprint"] == report["fingerprint"]
    assert len(report["fingerprint"]) == 64
    assert [entry["name"] for entry in shown["learners"]] == [entry["name"] for entry in report["learners"]]
    assert shown["learners"][0]["largest_weights"][0]["weights"]
    assert {"warnings", "notes", "written", "seed", "noregret"} <= shown.keys()


def test_a_page_made_later_shows_the_same(folder: Path) -> None:
    succeeded(noregret("plot", "race.json", "--out", "later.html", cwd=folder))
    later, shown = data_of(folder / "later.html"), data_of(folder / "race.html")
    assert shown.pop("written")
    assert later == shown


def test_the_page_of_a_resumed_run_shows_all_rounds(folder: Path) -> None:
    words = ("learn", "a.svm", "--quiet")
    succeeded(noregret(*words, "--learner", "pa1", "--limit", "50", "--save", "m.nr", cwd=folder))
    succeeded(noregret(*words, "--resume", "m.nr", "--limit", "90", "--report", "all.html", cwd=folder))
    [entry] = data_of(folder / "all.html")["learners"]
    assert (entry["rounds"], entry["curve"][-1]["rounds"]) == (90, 90)
    assert entry["largest_weights"]


def test_the_curve_of_a_report_ends_with_the_totals(folder: Path) -> None:
    for entry in json.loads((folder / "race.json").read_text())["learners"]:
        rounds = [point["rounds"] for point in entry["curve"]]
        assert rounds == sorted(set(rounds))
        assert {1, 2, 4, 8, 64, 128} <= set(rounds)
        last = entry["curve"][-1]
        assert {name: last[name] for name in ("rounds", "mistakes", "loss", "updates")} == {
            name: entry[name] for name in ("rounds", "mistakes", "loss", "updates")
        }


def test_columns_and_labels_of_a_table_may_be_html(folder: Path) -> None:
    name = ATTACK.split("\u2028")[0].replace(",", "")
    rows = "".join(f"{k % 7},{k % 3},{name if k % 2 else 'b'}\n" for k in range(60))
    (folder / "hostile.csv").write_text(f"{name},x,label\n{rows}")
    succeeded(noregret("race", "hostile.csv", *RACE, "--report", "hostile.html", cwd=folder))
    outline = Outline((folder / "hostile.html").read_text())
    assert [tag for tag, _ in outline.found].count("script") == 2
    assert "img" not in {tag for tag, _ in outline.found}
    shown = data_of(folder / "hostile.html")["learners"][0]
    assert name in shown["confusion"]["labels"]
    assert name in [one for one, _ in shown["largest_weights"][0]["weights"]]


def test_learn_writes_a_page_too(folder: Path) -> None:
    succeeded(noregret("learn", "a.svm", "--learner", "pa1", "--report", "learn.html", "--quiet", cwd=folder))
    shown = data_of(folder / "learn.html")
    assert [entry["name"] for entry in shown["learners"]] == ["pa1"]
    assert "<title>pa1 on a.svm</title>" in (folder / "learn.html").read_text()


def test_regression_shows_no_mistakes(folder: Path) -> None:
    words = ("a.svm", "--task", "regression", "--learners", "pa1", "--quiet", "--report", "real.html")
    succeeded(noregret("race", *words, cwd=folder))
    assert data_of(folder / "real.html")["targets"] is True


def test_pages_that_cannot_be_written_are_refused_before_the_race(folder: Path) -> None:
    refused(noregret("race", "a.svm", *RACE, "--report", "no/race.html", cwd=folder), "--report")
    refused(noregret("race", "a.svm", *RACE, "--report", "a.svm", cwd=folder), "--report", "overwrite")
    refused(noregret("race", "a.svm", *RACE, "--report", "-", cwd=folder), "--report -")
    refused(noregret("learn", "a.svm", "--learner", "pa1", "--report", "-", cwd=folder), "--report -")
