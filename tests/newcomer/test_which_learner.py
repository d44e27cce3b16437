"""Which learner? Races contain what is good at the task, and `--learners all` everything that plays it."""

import re
from pathlib import Path

import numpy as np

import noregret as nr
from noregret.cli.learner_names import find_variants
from noregret.evaluation.race import all_cards, default_cards
from tests.support.command_line import noregret, refused

PAGE = Path(__file__).parents[2] / "docs" / "which-learner.md"


def test_the_page_lists_what_races_by_default() -> None:
    section = PAGE.read_text().partition("## What races by default")[2]
    for tasks, learners in re.findall(r"^\| ([a-z, -]+) \| (.*) \|$", section, re.MULTILINE):
        if tasks != "task":
            for task in tasks.split(", "):
                assert sorted(re.findall(r"\w+", learners)) == [card.name for card in default_cards(task)], task
    assert "adadelta" in {card.name for card in default_cards("regression")}


def test_every_learner_that_the_page_names_exists() -> None:
    text = PAGE.read_text()
    table = text.partition("## By data")[2].partition("Online error")[0]
    named = {
        name
        for cells in re.findall(r"^\|[^|]*\|([^|]*)\|", table, re.MULTILINE)
        for name in re.findall(r"`(\w+)`", cells)
    }
    assert named >= {"arow", "pa2", "rda", "winnow"}
    assert named <= {card.name for card in nr.learners()}


def test_all_means_all_that_play_the_task() -> None:
    for task in ("binary", "regression", "ranking"):
        cards = [one.card for one in find_variants("all", task)]
        assert {card.name for card in cards} >= {card.name for card in default_cards(task)}
        assert all(task in card.tasks for card in cards)
        assert len(cards) > 20
    assert "delayed" not in {card.name for card in all_cards("binary")}


def test_a_race_of_all_runs_in_python() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 3))
    board = nr.race((X, X @ [1.0, 2.0, 3.0]), "all", task="regression", native=False)
    assert {entry.name for entry in board} >= {"pa1", "adadelta", "adaline"}
    assert all(entry.stopped is None for entry in board)


def test_a_misspelt_all_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x,label\n1,a\n2,b\n")
    refused(noregret("race", "a.csv", "--learners", "everything", cwd=tmp_path), "everything")
