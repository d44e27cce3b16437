"""Labels of concept learners: false or true. A concept is not symmetric, so which label is true is never guessed."""

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.data.labels import Labels, as_array, is_number
from noregret.errors import BadValue, check_digits, shown
from noregret.features.frames import labels_to_list


class BooleanLabels:
    """Two labels, the negative and the positive one: 0 and 1, False and True, -1 and +1, or two that were given."""

    def __init__(self, classes: Any = None) -> None:
        self.given: list[Any] | None = None
        if classes is not None:
            if isinstance(classes, (str, bytes)) or not hasattr(classes, "__iter__"):
                raise BadValue(f"classes must be the negative and the positive label, not {shown(classes)}")
            self.given = Labels(list(classes)).order
            if len(self.given) != 2:
                raise BadValue(f"a concept has two labels, the negative and the positive one, not {self.given}")
            if is_number(self.given[0], 1) and any(is_number(self.given[1], value) for value in (0, -1)):
                self.given.reverse()  # natural labels keep their meaning, as in all learners
        self.seen: list[Any] = []

    def read(self, y: Any, rows: int) -> tuple[NDArray[np.bool_], list[Any]]:
        """The truth values of labels, and the labels; new ones are added to those seen."""
        values = self.as_list(y)
        if len(values) != rows:
            raise BadValue(f"X has {rows} rows and y has {len(values)} labels; they must match")
        seen = list(self.seen)
        truth = np.zeros(rows, bool)
        known: dict[Any, bool] = {}
        for row, label in enumerate(values):
            value = known.get(label) if isinstance(label, (bool, int, float, str)) else None
            if value is None:
                value = known[label] = self.find_value(label, row, seen)
            truth[row] = value
        self.seen = seen
        return truth, values

    def name_rounds(self, values: NDArray[np.bool_], truth: list[Any], before: list[Any]) -> NDArray[Any]:
        """The predictions of rounds as labels; a label that no round had before may name the prediction of its own."""
        new = [row for label in self.seen[len(before) :] for row in [truth.index(label)] if row > 0]
        found: list[Any] = []
        for start, stop in pairwise([0, *sorted(set(new)), len(truth)]):
            known = BooleanLabels(self.given)
            known.seen = list(dict.fromkeys([*before, *truth[: start + 1]]))
            found += known.name(values[start:stop]).tolist() if stop > start else []
        return as_array(found)

    def find_value(self, label: Any, row: int, seen: list[Any]) -> bool:
        """Whether a label is the positive one; it is added to those seen."""
        if not isinstance(label, (bool, int, float, str)) or label != label:
            raise BadValue(f"row {row}: a label must be a number, a string or a truth value, not {shown(label)}", row)
        check_digits(label, "the label", row)
        if self.given is not None:
            if label not in self.given:
                raise BadValue(f"row {row}: the label {label!r} is not one of the classes {self.given}", row)
            value = bool(label == self.given[1])
        elif is_number(label, 1):
            value = True
        elif is_number(label, 0) or is_number(label, -1):
            value = False
        else:
            raise BadValue(
                f"row {row}: the label {label!r} does not say whether it is true or false; name the negative and the "
                "positive label with classes=[negative, positive] (--classes)", row
            )  # fmt: skip
        if label not in seen:
            if len(seen) == 2:
                raise BadValue(f"row {row}: a concept has two labels, and {label!r} is a third beside {seen}", row)
            seen.append(label)
        return value

    def as_list(self, y: Any) -> list[Any]:
        y = labels_to_list(y)
        if y is None or isinstance(y, (str, bytes)) or not hasattr(y, "__iter__"):
            raise BadValue(f"y must be one label for every row, not {shown(y)}")
        if isinstance(y, np.ndarray):
            if y.ndim != 1:
                raise BadValue(f"y must be one label for every row, not an array of shape {y.shape}")
            return list(y.tolist())
        return [label.item() if isinstance(label, np.generic) else label for label in y]

    def sides(self) -> tuple[Any, Any] | None:
        """The negative and the positive label; None before a label was seen."""
        if self.given is not None:
            return self.given[0], self.given[1]
        if not self.seen:
            return None
        if isinstance(self.seen[0], bool):
            return False, True
        negative = next((label for label in self.seen if not is_number(label, 1)), -1)
        return negative, next((label for label in self.seen if is_number(label, 1)), 1)

    def name(self, values: NDArray[np.bool_]) -> NDArray[Any]:
        """Truth values as labels."""
        sides = self.sides()
        assert sides is not None
        return np.asarray(as_array(list(sides))[values.astype(np.int64)])
