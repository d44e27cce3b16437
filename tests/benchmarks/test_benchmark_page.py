"""The page of benchmarks and its chart show the same figures, whichever part of them was measured last."""

from pathlib import Path

import pytest

from benchmarks import page
from benchmarks.chart import Bar, draw_text, read_bars, select_bars
from benchmarks.measure import Row
from benchmarks.page import Section

SPEED = Section("Speed", [Row("pa1 (20 rows)", "2.00 M rows/s", "River PA 0.50 M rows/s", 4.0, "x", at_least=3.0)])
SIZE = Section("Size", [Row("peak", "9 MB", "", 9.0, "MB", at_most=60.0)], note="Small enough.")


def test_the_chart_of_the_docs_shows_the_figures_of_the_page() -> None:
    bars = select_bars(page.read_rows(page.PAGE.read_text()))
    assert len(bars) > 10
    assert read_bars(page.CHART) == bars, "write both with `make bench ARGS=--docs`"


def test_the_page_has_every_row_and_note_and_how_it_was_measured() -> None:
    text = page.compose([SPEED, SIZE], "Measured today.")
    assert page.read_rows(text) == [*(row.cells() for row in SPEED.rows), *(row.cells() for row in SIZE.rows)]
    assert "\n\nMeasured today.\n\n## Speed\n" in text
    assert text.endswith("Small enough.\n")


def test_only_ratios_with_a_minimum_are_drawn() -> None:
    rows = page.read_rows(page.compose([SPEED, SIZE], ""))
    assert select_bars(rows) == [Bar("pa1, beside River PA", 4.0, 3.0, True)]
    assert draw_text(rows) == [f"  {'#' * 36}|{'#' * 11}   {4.0:5.3g} x  pa1, beside River PA"]
    assert draw_text([]) == []


def test_a_section_measured_again_replaces_the_old_one_and_says_when() -> None:
    slower = Section("Speed", [Row("pa1", "1.00 M rows/s", "River PA 0.50 M rows/s", 2.0, "x", at_least=3.0)])
    new = Section("New", [Row("x", "", "", None, "x", at_least=2.0)])
    text = page.replace_sections(page.compose([SPEED, SIZE], "Measured today."), [slower, new], "Measured later.")
    assert [bar.figure for bar in select_bars(page.read_rows(text))] == [2.0]
    assert [line for line in text.splitlines() if line.startswith("## ")] == ["## Speed", "## Size", "## New"]
    assert text.count("Measured later.") == 2
    assert "\n\nMeasured today.\n\n## Speed\n\nMeasured later.\n" in text


def test_page_and_chart_are_written_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "PAGE", tmp_path / "page.md")
    monkeypatch.setattr(page, "CHART", tmp_path / "chart.png")
    text = page.compose([SPEED, SIZE], "Measured today.")
    assert page.write(text)
    assert page.PAGE.read_text() == text
    assert read_bars(page.CHART) == select_bars(page.read_rows(text))
