"""Tables: aligned plain text, readable in a terminal, a pipe and a file."""

from collections.abc import Sequence

from noregret.data.text_table import table as table
from noregret.metrics.confusion import Confusion

WIDE = 20  # classes up to which a table of confusions has a column for each


def listing(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns of words, all to the left."""
    widths = [max(len(line[column]) for line in (head, *rows)) for column in range(len(head))]
    lines = (head, ["-" * width for width in widths], *rows)
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )


def confusion_table(seen: Confusion) -> str:
    """Rounds by truth (rows) and prediction (columns), and how well each class was found.

    Where classes are too many for columns: the class that each was most often taken for.
    """
    labels, rounds = seen.labels, seen.rounds
    order = sorted(range(len(labels)), key=lambda number: (isinstance(labels[number], str), labels[number]))
    columns = [*order, *[len(labels)] * bool(seen.table[:, -1].any())]
    names = [*map(str, labels), "none"]
    wide = len(labels) <= WIDE
    head = ["truth \\ predicted", *(names[one] for one in columns)] if wide else ["class", "most often taken for"]
    rows = []
    for number in order:
        found = [share(values[number]) for values in (seen.recall, seen.precision, seen.f1)]
        cells = [f"{seen.table[number, one]:,}" for one in columns] if wide else [rival(seen, number, names)]
        rows.append([names[number], *cells, f"{rounds[number]:,}", *found])
    return table([*head, "rounds", "recall", "precision", "F1"], rows)


def rival(seen: Confusion, number: int, names: Sequence[str]) -> str:
    """The class that a class was most often taken for."""
    wrong = seen.table[number].copy()
    wrong[number] = 0
    return f"{names[int(wrong.argmax())]} ({wrong.max():,})" if wrong.any() else "-"


def share(value: float) -> str:
    return "-" if value != value else f"{value:.4f}"
