"""The pages of worked examples and errata say what is computed, and what is computed is what was printed."""

import math

import numpy as np
import pytest

from verification.examples import errata, errata_costs, left_out, worked, worked_kernels, worked_mistakes
from verification.examples.__main__ import DOCS
from verification.examples.page import Result, Row, Section, agrees, computed, page, shown


@pytest.mark.parametrize("section", worked.SECTIONS, ids=lambda section: section.title)
def test_a_worked_example_is_computed_as_it_was_printed(section: Section) -> None:
    for result in computed(worked.PREFACE, section):
        assert agrees(result), f"{result.what}: printed {shown(result.printed)}, computed {shown(result.computed)}"


def test_numpy_counts_the_mistakes_of_required_margins_alike() -> None:
    """Each row is scaled by the mean and deviation of the rows before it, with a constant, and learned."""
    from sklearn.datasets import load_breast_cancer

    rows, classes = load_breast_cancer(return_X_y=True)
    scaled = np.zeros((len(rows), rows.shape[1] + 1))
    scaled[:, -1] = 1.0
    for t in range(2, len(rows)):
        spread = rows[:t].std(axis=0)
        ratio = np.divide(rows[t] - rows[:t].mean(axis=0), spread, out=np.zeros(rows.shape[1]), where=spread > 0.0)
        scaled[t, :-1] = np.clip(ratio, -math.sqrt(t), math.sqrt(t))
    counts = []
    for b in (0.0, 1.0, 5.0, 10.0, 100.0):
        w, mistakes, updates = np.zeros(scaled.shape[1]), 0, 0
        for x, sign in zip(scaled, np.where(classes == 1, 1.0, -1.0), strict=True):
            score = float(w @ x)
            mistakes += (score >= 0.0) != (sign > 0.0)
            if sign * score < b or sign * score <= 0.0:
                w, updates = w + sign * x, updates + 1
        counts.append((mistakes, updates))
    assert [row.printed for row in worked_mistakes.REQUIRED.rows] == list(zip(*counts, strict=True))


def test_numpy_counts_the_mistakes_on_rings_and_the_interval_alike() -> None:
    """A kernel perceptron that keeps its supports in a list."""
    angle = np.arange(24) * np.pi / 12
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    line = np.linspace(-3.0, 3.0, 31)[:, None]
    problems = ((np.vstack([circle, 2.0 * circle]), np.arange(48) < 24), (line, np.abs(line[:, 0]) < 1.0))
    for (X, positive), row in zip(problems, worked_kernels.RINGS.rows, strict=False):
        order = np.random.default_rng(1).permutation(len(X))
        rows, signs, coefficients, counts = X[order], np.where(positive, 1.0, -1.0)[order], np.zeros(len(X)), []
        for _ in range(3):
            counts.append(0)
            for t, x in enumerate(rows):
                score = float(coefficients @ np.exp(-((rows - x) ** 2).sum(axis=1)))
                counts[-1] += (score >= 0.0) != (signs[t] > 0.0)
                coefficients[t] += signs[t] if signs[t] * score <= 0.0 else 0.0
        assert tuple(counts) == row.printed


def test_every_number_of_a_worked_example_was_printed_somewhere() -> None:
    assert all(row.printed is not None for section in worked.SECTIONS for row in section.rows)


def test_the_page_of_worked_examples_is_what_is_computed() -> None:
    text = page(worked.HEAD, worked.PREFACE, worked.SECTIONS)
    assert (DOCS / "worked-examples.md").read_text() == text, "run `python -m verification.examples`"


def test_the_page_of_errata_is_what_is_computed() -> None:
    text = page(errata.HEAD, errata.PREFACE, errata.SECTIONS, left_out.TAIL)
    assert (DOCS / "errata.md").read_text() == text, "run `python -m verification.examples`"


def values(section: Section) -> list[object]:
    return [result.computed for result in computed(errata.PREFACE, section)]


def test_more_mistakes_from_elsewhere_than_one_over_gamma_squared_and_one() -> None:
    four, wrong, right, many, longer = values(errata.START)
    assert [four, many] == [4, 14]
    assert [shown(bound) for bound in (wrong, right, longer)] == ["3.777778", "6.111111", "29.444444"]


def test_a_solver_sides_with_the_library_about_pa2() -> None:
    solver, library, printed = values(errata.PA2)
    assert shown(solver) == "(0.0556, -0.3333)"
    assert shown(library) == "(0.055556, -0.333333)"
    assert shown(printed) == "(-0.019172, -0.482789)"


def test_a_solver_sides_with_the_library_about_costs() -> None:
    printed, library, weights, solver = values(errata_costs.COSTS)
    assert [shown(printed), shown(library)] == ["1", "3"]
    assert shown(weights) == shown(solver) == "((0.3, 0.6), (-0.3, -0.6), (0, 0))"


def test_the_perceptron_is_descent_on_mistakes_and_not_on_the_hinge() -> None:
    moved, perceptron, of_hinge, of_mistakes = values(errata.NO_HINGE)
    assert shown(moved) == "(3, 12, 3)"
    assert shown(perceptron) == shown(of_mistakes) == "(0.25, -0.75)"
    assert shown(of_hinge) == "(0.75, -3)"


def test_what_is_not_as_printed_is_told() -> None:
    assert not agrees(Result("a sum", 1.0, 1.00001))
    assert not agrees(Result("a list", (1.0, 2.0), (1.0,)))
    assert not agrees(Result("a word", "x1 >= 1", "x1 >= 2"))
    assert agrees(Result("rounded", 0.333333, 1 / 3))
    assert [result.computed for result in computed("a = 2", Section("", "", "b = a + 1", (Row("b", "b"),)))] == [3]
