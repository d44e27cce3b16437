"""What classes weigh and mistakes cost, as it is said on the command line."""

import csv
import json
from pathlib import Path
from typing import Any

from noregret.data.class_weights import MODES
from noregret.errors import BadValue, shown
from noregret.streams.columns import parse_label

WEIGHT = "--class-weight {}: say balanced, balanced_root, or labels and their weights, as in spam=5,ham=1"
COST = "--cost {}: say truth:predicted=cost with commas between them, as in spam:ham=1,ham:spam=10, or name a file"
LIST = ("truth", "predicted", "cost")


def class_weight(text: str | None) -> dict[Any, Any] | str | None:
    """Weights by label, or the word for balanced ones."""
    if text is None or text.strip() in MODES:
        return text and text.strip()
    found: dict[Any, Any] = {}
    for label, weight in (pair(part, WEIGHT.format(text)) for part in text.split(",")):
        if parse_label(label) in found:
            raise BadValue(f"--class-weight {text}: {label!r} stands there twice")
        found[parse_label(label)] = amount(weight, "--class-weight", label)
    return found


def cost(text: str | None) -> dict[tuple[Any, Any], Any] | None:
    """Costs by truth and prediction: said one by one, or in a file of JSON or CSV."""
    if text is None:
        return None
    path = Path(text)
    if path.suffix.lower() == ".json":
        entries = from_json(path)
    elif path.suffix.lower() in (".csv", ".tsv"):
        entries = from_csv(path)
    else:
        entries = [one_cost(part, COST.format(text)) for part in text.split(",")]
    found: dict[tuple[Any, Any], Any] = {}
    for truth, predicted, value in entries:
        key = label(truth), label(predicted)
        if key in found:
            raise BadValue(f"--cost {text}: the cost of predicting {predicted} for {truth} stands there twice")
        found[key] = amount(value, f"--cost {text}", f"of predicting {predicted} for {truth}")
    return found


def pair(text: str, otherwise: str) -> tuple[str, str]:
    """A name and what it is said to be."""
    name, equals, value = text.rpartition("=")
    if not equals or not name.strip():
        raise BadValue(otherwise)
    return name.strip(), value


def one_cost(text: str, otherwise: str) -> tuple[str, str, str]:
    both, value = pair(text, otherwise)
    truth, colon, predicted = both.partition(":")
    if not colon or not truth.strip() or not predicted.strip():
        raise BadValue(otherwise)
    return truth.strip(), predicted.strip(), value


def label(told: Any) -> Any:
    return parse_label(told) if isinstance(told, str) else told


def amount(value: Any, what: str, of: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise BadValue(f"{what}: {of} must be a number, not {shown(value)}") from None


def opened(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise BadValue(f"--cost {path}: it cannot be read: {getattr(error, 'strerror', None) or error}") from None


def from_json(path: Path) -> list[tuple[Any, Any, Any]]:
    """{truth: {predicted: cost}}, or [[truth, predicted, cost], ...]."""
    wrong = f"--cost {path}: it should hold {{truth: {{predicted: cost}}}} or a list of [truth, predicted, cost]"
    text = opened(path)
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadValue(f"--cost {path}: this is no JSON: {error}") from None
    if isinstance(found, dict) and all(isinstance(row, dict) for row in found.values()):
        return [(truth, predicted, value) for truth, row in found.items() for predicted, value in row.items()]
    if isinstance(found, list) and all(isinstance(entry, list) and len(entry) == 3 for entry in found):
        return [tuple(entry) for entry in found]
    raise BadValue(wrong)


def from_csv(path: Path) -> list[tuple[Any, Any, Any]]:
    """Lines of truth, predicted, cost under these names; or a square, its columns named in the first line."""
    text = opened(path)
    rows = [
        row for row in csv.reader(text.splitlines(), delimiter="\t" if path.suffix.lower() == ".tsv" else ",") if row
    ]
    if not rows or len(rows[0]) < 2:
        raise BadValue(f"--cost {path}: it should name the classes in its first line and begin each line with one")
    head, *body = [[cell.strip() for cell in row] for row in rows]
    for number, row in enumerate(body, 2):
        if len(row) != len(head):
            raise BadValue(f"--cost {path}: row {number} has {len(row)} cells and the first has {len(head)}")
    if tuple(name.lower() for name in head) == LIST:
        return [(truth, predicted, value) for truth, predicted, value in body]
    return [(row[0], predicted, value) for row in body for predicted, value in zip(head[1:], row[1:], strict=True)]
