"""Files that commands write: JSON reports and tables, complete or not at all."""

import contextlib
import os
import secrets
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from noregret.cli.confusion_option import COLUMNS
from noregret.decomposition.component_table import component_titles
from noregret.errors import BadValue
from noregret.evaluation.capabilities import inner_learner
from noregret.evaluation.leaderboard import Entry, Leaderboard
from noregret.evaluation.regret_report import RegretReport, describe_regret, regret_table
from noregret.evaluation.report import plain_label, to_json
from noregret.evaluation.tables import confusion_table
from noregret.evaluation.tracking_regret import describe_tracking
from noregret.learner.protocol import Learner


@contextlib.contextmanager
def open_output(path: str, what: str) -> Iterator[IO[str]]:
    """A text file to write to, put in its place only when it is complete; - is standard output."""
    if path == "-":
        if sys.stdout.name == os.devnull:
            raise BadValue(f"standard output is closed, and {what} should go there; name a file")
        yield sys.stdout
        sys.stdout.flush()
        return
    target = Path(path)
    replaces = not target.exists() or target.is_file()  # a device or a pipe is written directly
    place = target.with_name(f".{target.name}.{secrets.token_hex(8)}") if replaces else target
    try:
        with open(place, "w", encoding="utf-8", errors="backslashreplace", newline="") as file:
            yield file
        if replaces:
            os.replace(place, target)
    except OSError as error:
        raise BadValue(f"{path}: {what} cannot be written: {error.strerror or error}") from None
    finally:
        if replaces:
            with contextlib.suppress(OSError):
                place.unlink()


def write_json(path: str | None, report: dict[str, Any]) -> None:
    """Write a report as JSON, where a path is given."""
    if path is not None:
        with open_output(path, "the report") as file:
            file.write(to_json(report))


def print_confusion(entry: Entry, how: str) -> None:
    """Print the confusion matrix of a learner: its counts, or for each class a column of shares."""
    text = f"{entry.learner.task} has no confusion matrix: its rounds do not have one label each"
    if entry.confusion is not None:
        text = confusion_table(entry.confusion, how == COLUMNS)
    sys.stdout.write(f"\n{text}\n")


def print_regret(leaderboard: Leaderboard) -> None:
    """Print the regret of the best learner as the rounds go by, with its theorem, and why others have none."""
    entry = leaderboard.best
    lines = ["", *describe_entry_regret(entry)]
    for other in leaderboard:
        if other is not entry and isinstance(other.regret, str):
            lines.append(f"no regret of {other.name}: {other.regret}")
    best = np.inf
    for loss, parts in leaderboard.sequences:
        if loss < best:
            names = ", then ".join(f"{name} from round {start + 1:,}" if start else name for start, name in parts)
            what = "mistakes" if entry.task.prediction == "label" else "loss"
            count = f"{len(parts) - 1} switch{'' if len(parts) == 2 else 'es'} of learner"
            lines.append(f"best in hindsight with {count}: {what} {loss:,.6g} ({names})")
            best = loss
    sys.stdout.write("\n".join(lines) + "\n")


def describe_entry_regret(entry: Entry) -> list[str]:
    """The regret of a learner as lines of text."""
    lines = [f"regret of {entry.name} against the best fixed weights in hindsight:"]
    if isinstance(entry.regret, RegretReport):
        tracking = [] if entry.regret.tracking is None else describe_tracking(entry.regret.tracking)
        return [*lines, regret_table(entry.regret), *describe_regret(entry.regret), *tracking]
    return [*lines, f"  none: {entry.regret or 'not all rows were read'}"]


def to_cell(label: object) -> object:
    """A prediction as a cell of a table: several labels are separated by commas."""
    return ",".join(str(plain_label(one)) for one in label) if isinstance(label, tuple) else label


def prediction_columns(learner: Learner, predictions: NDArray[Any], real: bool) -> dict[str, list[Any]]:
    """Predictions as columns of a file: one, or one for each component, by what the learner calls them."""
    if getattr(predictions, "ndim", 1) == 2:
        name_columns = getattr(inner_learner(learner), "column_titles", component_titles)
        return dict(zip(name_columns(predictions.shape[1]), predictions.T.tolist(), strict=True))
    return {"prediction": [to_cell(label) for label in plain_labels(predictions, real)]}


def plain_labels(predictions: NDArray[Any], real: bool) -> list[Any]:
    """Predictions as people write them: numbers as they are, labels as 1 and not 1.0."""
    return predictions.tolist() if real else [plain_label(label) for label in predictions.tolist()]
