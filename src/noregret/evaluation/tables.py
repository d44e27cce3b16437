"""Tables as aligned plain text, readable in a terminal, a pipe and a file."""

import html
from collections.abc import Callable, Sequence

from noregret.metrics.confusion import Confusion, divide
from noregret.metrics.reliability import Reliability

BARS = "▁▂▃▄▅▆▇█"
WIDE = 20  # up to this many classes, the confusion matrix has a column for each


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of numbers: the first column aligned to the left, the others to the right."""
    return align(head, rows, str.rjust)


def text_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of words: all columns aligned to the left."""
    return align(head, rows, str.ljust)


def align(head: Sequence[str], rows: Sequence[Sequence[str]], justify: Callable[[str, int], str]) -> str:
    """Columns as wide as their widest cell; all but the first are justified as given."""
    widths = [max(len(line[column]) for line in (head, *rows)) for column in range(len(head))]

    def format_line(cells: Sequence[str]) -> str:
        rest = [justify(cell, width) for cell, width in zip(cells[1:], widths[1:], strict=True)]
        return "  ".join([cells[0].ljust(widths[0]), *rest]).rstrip()

    return "\n".join(map(format_line, (head, ["-" * width for width in widths], *rows)))


def html_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table for notebooks."""

    def line(cells: Sequence[str], tag: str) -> str:
        return f"<tr>{''.join(f'<{tag}>{html.escape(cell)}</{tag}>' for cell in cells)}</tr>"

    return f"<table>{line(head, 'th')}{''.join(line(row, 'td') for row in rows)}</table>"


def sparkline(values: Sequence[float]) -> str:
    """Values as a line of small bars, from zero to the largest."""
    largest = max((value for value in values if value < float("inf")), default=0.0)
    if largest <= 0.0:
        return BARS[0] * len(values)
    steps = len(BARS) - 1
    return "".join(BARS[min(steps, round(steps * min(value / largest, 1.0)))] for value in values)


def confusion_table(confusion: Confusion, by_column: bool = False) -> str:
    """The confusion matrix, truths in rows and predictions in columns, with recall, precision and F1 of each class.

    Where there are too many classes for columns: the class that each was most often confused with. With `by_column`, a
    column for each truth with the shares of its rounds that were predicted as every class, which sum to 1.
    """
    labels, rounds = confusion.labels, confusion.rounds
    order = sorted(range(len(labels)), key=lambda number: (isinstance(labels[number], str), labels[number]))
    if by_column and len(labels) <= WIDE:
        return column_table(confusion, order)
    columns = [*order, *[len(labels)] * bool(confusion.table[:, -1].any())]
    names = [*map(str, labels), "none"]
    wide = len(labels) <= WIDE
    head = ["truth \\ predicted", *(names[one] for one in columns)] if wide else ["class", "most often confused with"]
    rows = []
    for number in order:
        shares = [format_share(values[number]) for values in (confusion.recall, confusion.precision, confusion.f1)]
        counts = [f"{confusion.table[number, one]:,}" for one in columns]
        cells = counts if wide else [format_rival(confusion, number, names)]
        rows.append([names[number], *cells, f"{rounds[number]:,}", *shares])
    return table([*head, "rounds", "recall", "precision", "F1"], rows)


def column_table(confusion: Confusion, order: Sequence[int]) -> str:
    """Predictions in rows, truths in columns: the share of each truth that was predicted as each class."""
    names = [*map(str, confusion.labels), "none"]
    shares = divide(confusion.table.T, confusion.rounds)
    predicted = [*order, *[len(order)] * bool(confusion.table[:, -1].any())]
    rows = [[names[one], *(format_share(shares[one, truth]) for truth in order)] for one in predicted]
    rows.append(["rounds", *(f"{confusion.rounds[truth]:,}" for truth in order)])
    return table(["predicted \\ truth", *(names[truth] for truth in order)], rows)


def reliability_table(reliability: Reliability) -> str:
    """How often the predicted label was right, by its probability."""
    rows = []
    for one in reliability.bins():
        shares = [format_share(one[name]) for name in ("probability", "right")]
        rows.append((f"{one['from']:.1f} to {one['to']:.1f}", f"{one['rows']:,}", *shares))
    return table(("probability", "rows", "mean", "right"), rows)


def format_rival(confusion: Confusion, number: int, names: Sequence[str]) -> str:
    """The class that a class was most often confused with, and how often."""
    wrong = confusion.table[number].copy()
    wrong[number] = 0
    return f"{names[int(wrong.argmax())]} ({wrong.max():,})" if wrong.any() else "-"


def format_share(value: float) -> str:
    return "-" if value != value else f"{value:.4f}"
