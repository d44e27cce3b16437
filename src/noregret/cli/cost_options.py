"""Class weights and costs of mistakes, as they are written on the command line."""

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

from noregret.data.class_weights import MODES
from noregret.errors import BadValue, shown
from noregret.streams.columns import parse_label

WEIGHT = "--class-weight {}: write balanced, balanced_root, or labels and their weights, as in spam=5,ham=1"
COST = "--cost {}: write truth:predicted=cost, separated by commas, as in spam:ham=1,ham:spam=10, or name a file"
LIST = ("truth", "predicted", "cost")

Label: TypeAlias = int | float | str
CostEntry: TypeAlias = tuple[object, object, object]  # truth, predicted, cost, as they are written in a file


def parse_class_weight(text: str | None) -> dict[Label, float] | str | None:
    """Weights by label, or the name of a mode of balancing."""
    if text is None or text.strip() in MODES:
        return text and text.strip()
    weights: dict[Label, float] = {}
    for label, weight in (split_pair(part, WEIGHT.format(text)) for part in text.split(",")):
        if parse_label(label) in weights:
            raise BadValue(f"--class-weight {text}: {label!r} is there twice")
        weights[parse_label(label)] = to_number(weight, "--class-weight", label)
    return weights


def parse_cost(text: str | None) -> dict[tuple[object, object], float] | None:
    """Costs by truth and prediction: written one by one, or in a file of JSON or CSV."""
    if text is None:
        return None
    path = Path(text)
    if path.suffix.lower() == ".json":
        entries: Sequence[CostEntry] = read_json(path)
    elif path.suffix.lower() in (".csv", ".tsv"):
        entries = read_csv(path)
    else:
        entries = [split_cost(part, COST.format(text)) for part in text.split(",")]
    costs: dict[tuple[object, object], float] = {}
    for truth, predicted, value in entries:
        key = to_label(truth), to_label(predicted)
        if key in costs:
            raise BadValue(f"--cost {text}: the cost of predicting {predicted} for {truth} is there twice")
        costs[key] = to_number(value, f"--cost {text}", f"of predicting {predicted} for {truth}")
    return costs


def split_pair(text: str, error: str) -> tuple[str, str]:
    """NAME=VALUE as a pair, or an error."""
    name, equals, value = text.rpartition("=")
    if not equals or not name.strip():
        raise BadValue(error)
    return name.strip(), value


def split_cost(text: str, error: str) -> tuple[str, str, str]:
    """TRUTH:PREDICTED=COST as its parts, or an error."""
    both, value = split_pair(text, error)
    truth, colon, predicted = both.partition(":")
    if not colon or not truth.strip() or not predicted.strip():
        raise BadValue(error)
    return truth.strip(), predicted.strip(), value


def to_label(value: object) -> object:
    """A label of a file: text becomes a number where it is one."""
    return parse_label(value) if isinstance(value, str) else value


def to_number(value: object, option: str, name: str) -> float:
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise BadValue(f"{option}: {name} must be a number, not {shown(value)}") from None


def read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise BadValue(f"--cost {path}: it cannot be read: {getattr(error, 'strerror', None) or error}") from None


def read_json(path: Path) -> list[CostEntry]:
    """{truth: {predicted: cost}}, or [[truth, predicted, cost], ...]."""
    wrong = f"--cost {path}: it should hold {{truth: {{predicted: cost}}}} or a list of [truth, predicted, cost]"
    text = read_text(path)
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadValue(f"--cost {path}: this is not JSON: {error}") from None
    if isinstance(found, dict) and all(isinstance(row, dict) for row in found.values()):
        return [(truth, predicted, value) for truth, row in found.items() for predicted, value in row.items()]
    if isinstance(found, list) and all(isinstance(entry, list) and len(entry) == 3 for entry in found):
        return [(truth, predicted, value) for truth, predicted, value in found]
    raise BadValue(wrong)


def read_csv(path: Path) -> list[CostEntry]:
    """Columns truth, predicted, cost; or a matrix with a row for each truth and a column for each prediction."""
    text = read_text(path)
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
