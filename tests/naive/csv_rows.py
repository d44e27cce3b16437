"""CSV the obvious way: Python's csv module, one row at a time, every rule written out once."""

import csv
import math
import re
from dataclasses import dataclass, field
from typing import Any

PLAIN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


@dataclass
class Read:
    """What a table says: a dict of features, a label and a line for every row."""

    rows: list[dict[str, float]] = field(default_factory=list)
    labels: list[Any] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    empty: int = 0
    skipped: int = 0


def read(text: str, label: str, delimiter: str = ",", targets: bool = False) -> Read:
    """All good rows of a table whose first line names the columns; rows that cannot be used are counted."""
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    cells = {n: next(csv.reader([line], delimiter=delimiter)) for n, line in enumerate(lines, 1) if line}
    head = cells.pop(min(cells))
    width, where = len(head), head.index(label)
    whole = {n: [cell.strip(" \t") for cell in row] for n, row in cells.items() if len(row) == width}
    numeric = [all(is_number(row[j]) for row in whole.values() if row[j]) for j in range(width)]
    out = Read(skipped=len(cells) - len(whole))
    out.names = [name for j, name in enumerate(head) if numeric[j] and j != where]
    for n, row in whole.items():
        truth = row[where]
        floats = [float(row[j]) for j in range(width) if numeric[j] and row[j] and j != where]
        if not (truth and all(map(math.isfinite, floats)) and good_label(truth, targets)):
            out.skipped += 1
            continue
        features = {}
        for j, cell in enumerate(row):
            if j == where:
                continue
            out.empty += cell == ""
            if cell and numeric[j]:
                features[head[j]] = float(cell)
            elif cell:
                features[f"{head[j]}={cell}"] = 1.0
        out.names += [name for name in features if name not in out.names]
        out.rows.append(features)
        out.labels.append(float(truth) if targets else plain(truth))
        out.lines.append(n)
    return out


def is_number(cell: str) -> bool:
    return PLAIN.fullmatch(cell) is not None or cell.lower().lstrip("+-") in ("nan", "inf", "infinity")


def good_label(cell: str, targets: bool) -> bool:
    return math.isfinite(float(cell)) if is_number(cell) else not targets


def plain(cell: str) -> Any:
    if not is_number(cell):
        return cell
    return int(float(cell)) if float(cell).is_integer() else float(cell)
