"""Reports that leave the program: JSON, and files written whole or not at all."""

import contextlib
import json
import math
import os
import secrets
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np

from noregret.errors import BadValue


@contextlib.contextmanager
def written(path: str, what: str) -> Iterator[IO[str]]:
    """A text file to write to; it takes its place only when everything is in it. - is standard output."""
    if path == "-":
        if sys.stdout.name == os.devnull:
            raise BadValue(f"standard output is closed, and {what} should go there; name a file")
        yield sys.stdout
        sys.stdout.flush()
        return
    target = Path(path)
    whole = not target.exists() or target.is_file()  # a device or a pipe is written as it is
    place = target.with_name(f".{target.name}.{secrets.token_hex(8)}") if whole else target
    try:
        with open(place, "w", encoding="utf-8", errors="backslashreplace", newline="") as file:
            yield file
        if whole:
            os.replace(place, target)
    except OSError as error:
        raise BadValue(f"{path}: {what} cannot be written: {error.strerror or error}") from None
    finally:
        if whole:
            with contextlib.suppress(OSError):
                place.unlink()


def write_json(path: str | None, report: dict[str, Any]) -> None:
    """A report for machines: keys in a fixed order, numbers exact."""
    if path is not None:
        with written(path, "the report") as file:
            file.write(json.dumps(finite(report), indent=2, allow_nan=False) + "\n")


def finite(value: Any) -> Any:
    """JSON has no word for a loss that is infinite; it is written as a text."""
    if isinstance(value, dict):
        return {key: finite(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(one) for one in value]
    return repr(value) if isinstance(value, float) and not math.isfinite(value) else value


def plain_label(label: Any) -> Any:
    """A label as a person would write it: 1 and not 1.0."""
    return int(label) if isinstance(label, float) and label == int(label) else label


def same(guess: Any, truth: Any) -> bool:
    """Whether a prediction is the truth; of several labels the order does not matter."""
    if isinstance(guess, tuple):
        return set(guess) == set(truth if isinstance(truth, tuple) else (truth,))
    return bool(guess == truth)


def as_cell(label: Any) -> Any:
    """A prediction as a cell of a table: several labels with commas between them."""
    return ",".join(str(plain_label(one)) for one in label) if isinstance(label, tuple) else label


def plain_labels(found: np.ndarray, targets: bool) -> list[Any]:
    return found.tolist() if targets else [plain_label(label) for label in found.tolist()]
