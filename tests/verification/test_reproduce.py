"""Published results: what a figure is, when two agree, and those that can be met on data every machine has."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits

import noregret as nr
from tests.support.cover import only_in_test_all
from verification.reproduce import counts, libol, scikit, sol, vowpal
from verification.reproduce.__main__ import BELOW, MODULES, main, page
from verification.reproduce.data import Missing, folder, must_hold
from verification.reproduce.published import Figure, figure, measured, table, within_scatter, within_two_deviations
from verification.reproduce.report import (
    AGREES,
    DEPARTS,
    MISS,
    NOT_RUN,
    Row,
    Table,
    count,
    read,
    reproduced,
    summary,
    write,
)

ROOT = Path(__file__).parents[2]
BASE = Path(os.environ.get("NOREGRET_DATA", "/nowhere"))
needs_a1a = pytest.mark.skipif(
    not (BASE / "a1a" / "a1a.svm.gz").is_file(), reason="a1a is not there: NOREGRET_DATA names the folder of data"
)


# ---- figures and verdicts -------------------------------------------------------------------------------------------


def test_a_figure_knows_its_deviation_and_what_its_print_rounded_off() -> None:
    assert figure(".332+-.012") == Figure(0.332, 0.012, 0.0005)
    assert figure("15059.9") == Figure(15059.9, 0.0, 0.05)
    assert figure("301") == Figure(301.0, 0.0, 0.5)


@pytest.mark.parametrize("text", ["x", ".3+-y", ""])
def test_what_is_no_figure_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no figure"):
        figure(text)


def test_a_published_table_has_lines_of_one_length_and_each_name_once() -> None:
    assert table("a 1 2.5\nb 3 4") == {"a": [figure("1"), figure("2.5")], "b": [figure("3"), figure("4")]}
    with pytest.raises(ValueError, match="1 to 2 figures"):
        table("a 1 2\nb 3")
    with pytest.raises(ValueError, match="a stands twice"):
        table("a 1\na 2")


def test_two_deviations_are_those_of_the_larger_and_the_print_has_its_half_unit() -> None:
    published = figure(".100+-.010")
    assert within_two_deviations(published, Figure(0.1204, 0.001))
    assert not within_two_deviations(published, Figure(0.1206, 0.001))
    assert within_two_deviations(published, Figure(0.1404, 0.020))
    assert not within_two_deviations(published, Figure(0.1406, 0.020))
    assert not within_two_deviations(figure(".106+-.000"), Figure(0.1077, 0.0005))


def test_the_scatter_of_a_mean_falls_with_the_root_of_the_runs() -> None:
    published, ours = figure(".7758+-.0300"), Figure(0.7758 + 0.025, 0.0400)
    assert within_scatter(published, ours, runs=10)
    assert not within_scatter(published, ours, runs=40)


def test_measured_is_the_mean_and_the_deviation_of_a_sample() -> None:
    assert measured([1.0, 3.0]) == Figure(2.0, 2.0**0.5)
    assert measured([5.0]) == Figure(5.0, 0.0)


def test_every_published_algorithm_is_computed_or_said_to_be_absent() -> None:
    assert set(counts.PUBLISHED) == set(counts.LEARNERS)
    assert set(libol.PUBLISHED) == set(libol.ENTRIES)
    assert set(sol.PUBLISHED) == {*sol.ENTRIES, *sol.ABSENT}


def test_every_learner_that_is_held_against_a_table_is_on_the_shelf() -> None:
    named = [case.learner for case in (*scikit.for_classes(), *scikit.for_targets())]
    named += [entry.learner for entry in libol.ENTRIES.values()] + [entry.learner for entry in sol.ENTRIES.values()]
    for learner in (*named, *(name for name, _ in counts.LEARNERS.values())):
        assert learner in nr.learners()


def test_a_rate_without_a_search_must_also_have_the_published_updates() -> None:
    published = (figure(".332+-.012"), figure("412.4"))
    near, far = Figure(410.0, 10.0), Figure(450.0, 10.0)
    rate = Figure(0.330, 0.008)
    assert libol.judged(libol.ENTRIES["Perceptron"], published, (rate, near))
    assert not libol.judged(libol.ENTRIES["Perceptron"], published, (rate, far))
    assert libol.judged(libol.ENTRIES["PA1"], published, (rate, far))
    assert not libol.judged(libol.ENTRIES["PA1"], published, (Figure(0.3, 0.008), near))


def test_a_search_takes_the_last_of_the_best() -> None:
    X = np.array([[1.0], [1.0], [1.0]])
    y = np.array([1.0, 1.0, 1.0])  # nobody errs, whatever C is
    assert libol.searched("pa1", libol.ENTRIES["PA1"], X, y) == {"C": 16.0}


def test_a_toolbox_is_told_phi_for_eta_and_no_floor() -> None:
    told = {"covariance": "full", "C": 1.0, "floor": 1e-12, "eta": 0.5}
    assert libol.as_toolbox_takes(told) == {"covariance": "full", "C": 1.0, "phi": 0.0}
    assert libol.told_shown(told) == "C = 1, eta = 0.5"


# ---- tables ---------------------------------------------------------------------------------------------------------


def tables() -> list[Table]:
    rows = [Row("a1a PA", "pa", "388", "388", AGREES), Row("x ALMA", "alma", "1", "2", DEPARTS, "because")]
    return [
        Table("First", "Source", "Protocol", rows, 1.0, "libol", "2026-01-01"),
        Table("Second", "Source", "Protocol", [Row("PA", "pa", "1", "3", MISS), Row("-", "", "1", "", NOT_RUN)]),
    ]


def test_what_each_learner_reproduced_is_told_from_the_tables() -> None:
    found = reproduced(tables())
    assert set(found) == {"pa", "alma"}
    assert [result.verdict for result in found["pa"]] == [AGREES, MISS]
    assert found["alma"][0].remark == "because"
    assert summary(found["pa"]) == MISS
    assert summary(found["alma"]) == DEPARTS
    assert summary([]) == ""
    assert count(tables()) == {AGREES: 1, DEPARTS: 1, MISS: 1, NOT_RUN: 1}


def test_tables_are_kept_as_json(tmp_path: Path) -> None:
    write(tables(), tmp_path / "found.json", {"python": "3"})
    assert read(tmp_path / "found.json") == tables()
    assert json.loads((tmp_path / "found.json").read_text())["python"] == "3"


def test_the_page_keeps_what_stands_below_the_tables() -> None:
    before = f"# Old\n\nold tables\n\n{BELOW}\n\nkept\n"
    text = page(tables(), before)
    assert text.endswith(f"\n{BELOW}\n\nkept\n")
    assert "old tables" not in text
    assert "`python -m verification.reproduce --only libol`, 2026-01-01, 1 s." in text
    assert text.count("Source. Protocol") == 1, "the second table has the same protocol, which is not said again"
    assert page(tables(), text) == text


# ---- what is not there ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODULES)
def test_data_that_is_not_there_is_named_in_one_line(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NOREGRET_DATA", raising=False)
    assert main(["--only", name, "--data", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert said.startswith("reproduce: ")
    assert "--data DIR or in NOREGRET_DATA" in said


def test_a_folder_is_told_or_named_by_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOREGRET_DATA", str(tmp_path))
    assert folder(None, "a") == tmp_path
    with pytest.raises(Missing, match="no folder 'elsewhere'"):
        folder("elsewhere", "a")
    monkeypatch.delenv("NOREGRET_DATA")
    with pytest.raises(Missing, match="a is needed, and no folder was named"):
        folder(None, "a")
    with pytest.raises(Missing, match="a/b is not in"):
        must_hold(str(tmp_path), ("a/b",))


def test_docs_are_written_whole_or_not_at_all(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--docs", "--only", "sol"])
    assert "leave --only out" in capsys.readouterr().err


def test_a_peer_that_is_not_installed_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(vowpal, "find_spec", lambda name: None)
    (found,) = vowpal.run(tmp_path)
    assert [row.verdict for row in found.rows] == [NOT_RUN]
    assert "not installed" in found.rows[0].remark


# ---- met again ------------------------------------------------------------------------------------------------------


def built_in() -> scikit.Data:
    X, y = load_breast_cancer(return_X_y=True)
    D, digit = load_digits(return_X_y=True)
    some = np.flatnonzero(digit < 2)[:200]
    return {
        "breast_cancer": (X[:200] / np.abs(X).max(axis=0), np.where(y[:200] > 0, 1.0, -1.0)),
        "digits": (D[some] / 16.0, np.where(digit[some] > 0, 1.0, -1.0)),
    }


def interpreted(case: scikit.Case) -> scikit.Case:
    """The same as plain text: thirty loops are not compiled for a few hundred rows."""
    return replace(case, ours={**case.ours, "native": False})


@pytest.mark.parametrize("case", scikit.for_classes(), ids=lambda case: f"{case.name}-{case.learner}")
@pytest.mark.thinned(4)
def test_scikit_learn_has_the_same_weights_for_classes(case: scikit.Case) -> None:
    if not case.runs:
        pytest.skip("needs scikit-learn 1.8")
    assert [row.verdict for row in scikit.compared([interpreted(case)], built_in())] == [AGREES]


@pytest.mark.parametrize("case", scikit.for_targets(), ids=lambda case: f"{case.name}-{case.learner}")
def test_scikit_learn_has_the_same_weights_for_targets(case: scikit.Case) -> None:
    if not case.runs:
        pytest.skip("needs scikit-learn 1.8")
    X, y = load_diabetes(return_X_y=True)
    data = {"diabetes": (X[:200] * 10.0, y[:200] / y.max())}
    assert [row.verdict for row in scikit.compared([interpreted(case)], data)] == [AGREES]


def test_another_rate_is_told_apart() -> None:
    case = scikit.for_classes()[0]
    other = scikit.Case(case.kind, case.theirs, case.learner, {"eta": 0.5})
    assert scikit.compared([interpreted(other)], built_in())[0].verdict == MISS


def test_a_clipped_score_costs_what_the_clipped_one_costs() -> None:
    scores, y = np.array([-0.5, 3.0, -3.0]), np.array([-1.0, -1.0, 1.0])
    low, high = vowpal.range_of_labels(y)
    assert (low.tolist(), high.tolist()) == ([-1.0, -1.0, -1.0], [0.0, 0.0, 1.0])
    assert vowpal.clipped_loss("hinge", scores, y) == pytest.approx((0.5 + 1.0 + 2.0) / 3.0)
    assert vowpal.clipped_loss("squared", scores, y) == pytest.approx((0.25 + 1.0 + 4.0) / 3.0)
    assert vowpal.clipped_loss("logistic", scores, y) == pytest.approx(np.logaddexp(0.0, [-0.5, 3.0, 3.0]).mean())


@pytest.mark.parametrize("loss", vowpal.LOSSES)
def test_vowpal_wabbit_has_the_same_progressive_loss_up_to_its_clipping(loss: str) -> None:
    pytest.importorskip("vowpalwabbit")
    rng = np.random.default_rng(0)
    rows = np.where(rng.random((120, 30)) < 0.3, rng.random((120, 30)), 0.0) + 0.01
    X: Any = sparse.csr_matrix(rows / np.linalg.norm(rows, axis=1, keepdims=True))
    y = np.where(X @ rng.normal(size=30) + 0.3 * rng.normal(size=120) > 0.0, 1.0, -1.0)
    row = vowpal.compared(loss, vowpal.SETTINGS[2], X, y, [vowpal.example(X[t], y[t]) for t in range(120)])
    assert row.verdict == (AGREES if loss == "logistic" else DEPARTS), row


@needs_a1a
def test_libol_errs_as_often_on_a1a() -> None:
    assert [row.verdict for row in counts.compared(BASE, counts.FILES[:1])] == [AGREES] * 7


TRIED = """
import numpy as np
from verification.reproduce import libol, sol

X = np.random.default_rng(0).normal(size=(60, 5)) * 2.0
y = np.where(X[:, 0] + 0.5 * X[:, 1] > 0.3, 1.0, -1.0)
told = {"ALMA": {"C": 1.0, "alpha": 0.9, "p": 2.0}, "NAROW": {"b": 1.0}, "CW": {"eta": 0.9}}
told["SCW2"] = {"C": 1.0, "eta": 0.9}
for name, entry in libol.ENTRIES.items():
    if entry.theirs:
        some = {**entry.told, **told.get(name, {}), "native": False}
        ours, theirs = (libol.made(one, some).learn(X, y).scores(X) for one in (entry.learner, entry.theirs))
        print(name, float(np.abs(ours - theirs).max()))
some = {"a": 0.5, "phi": 1.0, "native": False}
ours, theirs = (sol.learned(one, some, X, y)[0].scores(X) for one in ("cw", "toolbox_eccw"))
print("ECCW", float(np.abs(ours - theirs).max()))
"""


@only_in_test_all
def test_the_rules_of_the_toolboxes_differ_as_far_as_they_are_said_to() -> None:
    """In a process of its own, since its rules join the catalogue. CW differs only when no variance is left."""
    done = subprocess.run([sys.executable, "-c", TRIED], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    apart = {name: float(value) for name, value in (line.split() for line in done.stdout.splitlines())}
    assert set(apart) == {"ROMMA", "aROMMA", "ALMA", "SOP", "CW", "NAROW", "SCW2", "ECCW"}
    assert apart.pop("CW") < 1e-9
    assert min(apart.values()) > 1e-6
