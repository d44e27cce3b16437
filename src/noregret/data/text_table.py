"""Tables as aligned plain text, readable in a terminal, a pipe and a file."""

from collections.abc import Sequence


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns as wide as they need; the first to the left, numbers to the right."""
    widths = [max(len(line[column]) for line in (head, *rows)) for column in range(len(head))]

    def line(cells: Sequence[str]) -> str:
        first = cells[0].ljust(widths[0])
        return "  ".join(
            [first, *(cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True))]
        ).rstrip()

    return "\n".join([line(head), line(["-" * width for width in widths]), *(line(row) for row in rows)])
