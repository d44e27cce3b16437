"""What the columns of a table hold: numbers, numbers in other words, times, or text, by a sample of their cells.

Numbers are written as in Python, with a decimal point and an exponent. nan and inf count as numbers but are refused, so
that a single one does not turn a column into text. A column holds numbers if all its cells do, apart from empty ones
and the usual marks of a missing value (NA, null, ?). It also holds numbers if nearly all cells do: a word among many
numbers is an error, reported with its line. The same goes for amounts ($1.50, 1,234, 45%) and times; see
`features.cells.judge_texts`. Any other column holds text.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Self

from noregret.cached_property import cached_property
from noregret.errors import shown
from noregret.features.cells import (
    BLANKS,
    ENOUGH,
    MISSING,
    NEARLY,
    NOT_FINITE,
    NUMBER,
    NUMBERS,
    TEXT,
    TIME,
    TIMES,
    Verdict,
    judge_texts,
)
from noregret.streams.columns import Layout, arrow, is_missing, what_to_do

WHAT = {NUMBER: "number", TIME: "date or time"}  # a cell that matches a pattern
MANY = 50  # distinct values of a column that are worth a note, if there are not many more rows


class ColumnTexts:
    """The texts of an Arrow column that are not empty, without the blanks around them."""

    def __init__(self, given: Any) -> None:
        self.given = given

    @cached_property
    def cells(self) -> Any:
        """The texts."""
        compute = arrow(".compute")
        cells = compute.utf8_trim(self.given.drop_null(), characters=BLANKS)
        return cells.filter(compute.not_equal(cells, ""))

    @property
    def size(self) -> int:
        return len(self.cells)

    def count(self, pattern: str) -> int:
        return count_matches(self.cells, pattern)

    def first(self, count: int) -> Self:
        """The texts among the first cells."""
        return type(self)(self.given.slice(0, count))


def detect_types(layout: Layout, table: Any) -> dict[int, str]:
    """Find out what the columns hold, from a sample of rows given as text.

    Returns, for the columns of text, the pattern that most of their cells match though some do not.
    """
    when = layout.roles.timestamp
    layout.numeric_times = when is not None and share_of_numbers(table.column(when)) is not None
    layout.texts = list(layout.roles.text)
    nearly: dict[int, str] = {}
    for index in layout.features():
        if index in layout.texts:
            continue
        if index in layout.roles.categorical:
            layout.categories.append(index)
            continue
        cells, name = table.column(index), layout.columns[index]
        share = share_of_numbers(cells)
        if share is None or share < 1.0:
            verdict = judge_column(cells, name, layout)
            if share is None or verdict.kind == NUMBERS:
                place_column(layout, index, verdict, nearly)
                continue
            layout.number_shares[index] = share
        layout.numeric.append(index)
    return nearly


def judge_column(cells: Any, name: str, layout: Layout) -> Verdict:
    """Decide what a column of texts holds, where the layout does not say so."""
    if name in layout.told_numbers:
        return Verdict(NUMBERS)
    return Verdict(TIMES) if name in layout.told_times else judge_texts(ColumnTexts(cells))


def place_column(layout: Layout, index: int, verdict: Verdict, nearly: dict[int, str]) -> None:
    """Add a column of texts to the layout, by what it holds."""
    {NUMBERS: layout.spelled, TIMES: layout.times, TEXT: layout.categories}[verdict.kind].append(index)
    if verdict.pattern:
        nearly[index] = verdict.pattern


def note_misfits(
    names: Sequence[str], nearly: dict[int, str], columns: Any, place: Callable[[int], str]
) -> Iterable[str]:
    """Yield a note for each column that is read as text though most of its cells are something else.

    `columns` are the cells by column, and `place` says where a row stands.
    """
    compute = arrow(".compute")
    for index, pattern in nearly.items():
        cells = compute.utf8_trim(columns[index], characters=BLANKS)
        wrong = compute.and_(
            compute.not_equal(cells, ""), compute.invert(compute.match_substring_regex(cells, pattern))
        )
        row = compute.index(wrong, True).as_py()
        if row >= 0:
            yield describe_misfit(names[index], cells[row].as_py(), place(row), pattern)


def describe_misfit(name: str, cell: str, place: str, pattern: str) -> str:
    """Describe the first cell that is not like most of its column."""
    what = WHAT.get(pattern, "amount")
    todo = what_to_do(cell) if is_missing(cell) else "correct it or leave it empty"
    return (
        f"column {name!r} is read as categories: {shown(cell)} ({place}) is no {what}, as most of its cells are; {todo}"
    )


def share_of_numbers(cells: Any) -> float | None:
    """Return the share of numbers among the cells, apart from marks of missing values; None if the column is text."""
    texts = ColumnTexts(cells)
    numbers = texts.count(f"{NUMBER}|{NOT_FINITE}")
    marks = texts.count(MISSING) if numbers < texts.size else 0
    if texts.size and numbers == 0:
        return None
    share: float = numbers / max(texts.size - marks, 1) if texts.size else 1.0
    return share if share == 1.0 or (numbers >= ENOUGH and share >= NEARLY) else None


def holds_only(cells: Any, pattern: str) -> bool:
    """Return whether all cells that are not empty match a regular expression, and there are some."""
    texts = ColumnTexts(cells)
    few = texts.first(ENOUGH)  # most columns are told by their first cells
    return texts.size > 0 and few.count(pattern) == few.size and texts.count(pattern) == texts.size


def holds_fractions(cells: Any) -> bool:
    """Return whether a column holds numbers that are not all whole: no classes."""
    return share_of_numbers(cells) is not None and count_matches(cells, r"\.[0-9]*[1-9]") > 0


def count_matches(cells: Any, pattern: str) -> int:
    """Count the cells that match a regular expression."""
    compute = arrow(".compute")
    return compute.sum(compute.match_substring_regex(cells, pattern)).as_py() or 0


def has_decimal_commas(cells: Any) -> bool:
    """Return whether a column of text looks like numbers with decimal commas."""
    return bool(count_matches(cells, r"^[+-]?[0-9]+,[0-9]+$") > NEARLY * max(len(cells) - cells.null_count, 1))


def note_many_values(counts: Iterable[tuple[str, int]], rows: int) -> Iterable[str]:
    """Yield a note for the columns of text whose values hardly repeat: nothing can be learned from such features."""
    for name, values in counts:
        if values > max(MANY, rows // 2):
            yield (
                f"column {name!r} holds {values:,} different values, each a feature of its own; --text {name} makes "
                f"features of its words, --drop {name} leaves it out"
            )
