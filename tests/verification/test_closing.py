"""The closing table: every learner has its tests, they concern it, and the page is up to date."""

from pathlib import Path

import pytest

import noregret as nr
from tests import naive
from verification.closing.__main__ import faults
from verification.closing.named import Named, fault, named
from verification.closing.page import MUTANTS, PAGE, cells, killed, learner_names, met, page, section, tables, twins
from verification.reproduce.__main__ import BELOW, counted
from verification.reproduce.report import Result, reproduced

TESTS = """
import pytest

BOTH = pytest.mark.parametrize("name", ["pa", "cw"])


def made() -> object:
    return nr.make("arow")


@BOTH
def test_by_a_mark(name):
    pass


def test_by_a_helper():
    made()


def test_in_its_body():
    nr.make("ogd")
"""


def test_every_learner_has_tests_of_one_step_and_of_its_theorem() -> None:
    assert faults() == []
    assert set(named()) == set(learner_names())


@pytest.mark.parametrize(
    ("test", "learner", "words"),
    [
        ("test_by_a_mark", "pa", ""),
        ("test_by_a_mark", "ogd", "does not name it"),
        ("test_by_a_helper", "arow", ""),
        ("test_by_a_helper", "cw", "does not name it"),
        ("test_in_its_body", "ogd", ""),
        ("test_in_its_body", "og", "does not name it"),
        ("test_elsewhere", "pa", "no test test_elsewhere"),
        ("made", "arow", "no test made"),
    ],
)
def test_a_test_concerns_a_learner_if_it_leads_to_its_name(test: str, learner: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "test_some.py").write_text(TESTS)
    found = fault(f"test_some.py::{test}", learner, tmp_path)
    assert words in found
    assert bool(found) == bool(words)
    assert "no file" in fault("test_none.py::test_it", learner, tmp_path)


def test_the_page_says_what_the_program_makes() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run `make closing`"


def test_the_tables_of_the_page_are_read_as_they_were_written() -> None:
    found = list(tables(PAGE.read_text(encoding="utf-8")))
    assert f"\n{counted(found)}.\n" in PAGE.read_text(encoding="utf-8")
    assert {"LIBOL", "SOL", "scikit-learn", "Vowpal Wabbit", "KOL"} <= {table.source for table in found}
    assert set(reproduced(found)) <= {card.name for card in nr.learners()}


def test_twins_and_mutants_are_found_for_every_learner() -> None:
    learners = set(learner_names())
    assert learners <= set(killed(MUTANTS.read_text(encoding="utf-8")))
    assert set(twins()) == set(naive.RULES)


def test_a_section_tells_twin_tests_mutants_and_verdicts() -> None:
    mutants = "".join(f"| {name} | 10 | 7 | 1 | 2 | 77.8 % |\n" for name in learner_names())
    tests = {name: Named(("tests/learners/test_a.py::test_b",), ("c", "d")) for name in learner_names()}
    published = f"## LIBOL, a\n\n| x \\| y | pa | 1 | 2 | departs |  |\n\n{BELOW}\n\n| z | cw | 1 | 1 | agrees |  |\n"
    lines = section(published, mutants, tests).splitlines()
    row = next(line for line in lines if line.startswith("| `pa` "))
    assert cells(row) == [
        "`pa`", "`passive_aggressive.py`", "`test_a.py::test_b`", "`c`<br>`d`", "7 of 9", "departs: LIBOL (1 departs)",
    ]  # fmt: skip
    assert cells(next(line for line in lines if line.startswith("| `cw` ")))[-1] == "none published"


def test_a_verdict_is_the_worst_that_is_not_explained() -> None:
    agrees, departs, miss = (Result("A", "", verdict, "") for verdict in ("agrees", "departs", "MISS"))
    assert met([agrees, departs, Result("B", "", "agrees", "")]) == "agrees: A, B (2 agrees, 1 departs)"
    assert met([departs, miss, agrees]).startswith("MISS: A")
