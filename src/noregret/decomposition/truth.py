"""Labels beside rows: they are not learned, and only compared with what was found."""

from collections.abc import Mapping, Set
from typing import Any

from numpy.typing import NDArray

from noregret.data.labels import as_array
from noregret.errors import BadValue, shown
from noregret.learner.state_options import unwrap


def check_truth(y: Any, rows: int) -> NDArray[Any] | None:
    """Labels that are told beside the rows, for evaluation; None where there are none."""
    if y is None:
        return None
    labels = y.tolist() if hasattr(y, "tolist") else list(y) if hasattr(y, "__len__") else None
    if not isinstance(labels, list) or isinstance(y, (str, bytes, Mapping, Set)):
        raise BadValue(f"y must be one label for every row, or be left out, not {shown(y)}")
    if len(labels) != rows:
        raise BadValue(f"there are {rows} rows and {len(labels)} labels")
    labels = [unwrap(label) for label in labels]
    for row, label in enumerate(labels):
        if not isinstance(label, (bool, int, float, str, tuple, type(None))):
            raise BadValue(f"row {row}: a label must be a number, a string or None, not {shown(label)}", row=row)
    return None if all(label is None for label in labels) else as_array(labels)
