"""Labels: numbered by first appearance, round by round, also inside a batch; two classes carry a sign.

-1/+1, 0/1 and False/True keep their sign; of any other pair the first seen is negative.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np

from noregret.errors import BadValue, shown

MANY = 32  # beyond so many classes, one sort is cheaper than a pass over the labels for each


class Universum:
    """The label of an example of neither class; there is one, `noregret.UNIVERSUM`."""

    def __repr__(self) -> str:
        return "UNIVERSUM"

    def __reduce__(self) -> str:
        return "UNIVERSUM"


UNIVERSUM = Universum()


class Codes(dict[Any, int]):
    """Gives every new label the next number, after a look at what it is."""

    def __missing__(self, label: Any) -> int:
        code = self[checked(label)] = len(self)
        return code


def checked(label: Any) -> Any:
    """The label as a plain value, or an error that says why it cannot be one."""
    label = label.item() if isinstance(label, np.generic) else label
    if not isinstance(label, (bool, int, float, str)):
        several = '; for several labels ask for task="multilabel" (--task multilabel)'
        hint = several if isinstance(label, (tuple, frozenset)) else ""
        raise BadValue(f"a label must be a number, a string or a truth value, not {shown(label)}{hint}")
    if isinstance(label, float):
        if label != label or label in (float("inf"), float("-inf")):
            raise BadValue(f"the label is {label}; it must be finite")
        if label != int(label):
            raise BadValue(
                f'the label {label!r} is not a class; for real targets ask for task="regression" (--task regression)'
            )
    return label


class Labels:
    """The classes a learner knows, and how they look to the task."""

    def __init__(self, classes: Iterable[Any] | None = None) -> None:
        self.code = Codes()
        self.fixed = classes is not None
        for label in classes or ():
            self.code[checked(label)] = len(self.code)
        if self.fixed and len(self.code) < 2:
            raise BadValue(f"classes must name at least two different labels, not {list(self.code)}")
        self.committed = len(self.code)  # the classes of calls that succeeded; later ones may be forgotten again

    def copy(self) -> "Labels":
        new = Labels()
        new.code.update(self.code)
        new.fixed, new.committed = self.fixed, self.committed
        return new

    @property
    def order(self) -> list[Any]:
        return list(self.code)

    def __len__(self) -> int:
        return len(self.code)

    def codes(self, y: Any) -> np.ndarray:
        """The number of every label; labels not seen before get the next numbers, in order of appearance."""
        try:
            return self.coded(y)
        except BadValue as error:
            row = self.first_unusable(y)
            if row is None or len(y) == 1:
                raise
            raise BadValue(f"row {row}: {error}", row) from None

    def first_unusable(self, y: Any) -> int | None:
        """The first row whose label cannot be one."""
        for row, label in enumerate(y if getattr(y, "ndim", 1) == 1 else ()):
            try:
                hash(label)
                if label not in self.code:
                    checked(label)
            except (BadValue, TypeError):
                return row
        return None

    def coded(self, y: Any) -> np.ndarray:
        if isinstance(y, np.ndarray) and y.ndim != 1:
            raise BadValue(f"y must be one label for every row, not an array of shape {y.shape}")
        if isinstance(y, np.ndarray) and y.dtype.kind in "fiub":
            found = self.numeric(y)
        else:
            values = list(y)
            try:
                found = np.fromiter(map(self.code.__getitem__, values), np.int64, len(values))
            except TypeError:
                bad = next(label for label in values if getattr(type(label), "__hash__", None) is None)
                raise BadValue(f"a label must be a number, a string or a truth value, not {shown(bad)}") from None
        return found

    def numeric(self, y: np.ndarray) -> np.ndarray:
        """Codes of numeric labels: one pass over them for each class, as long as classes are few."""
        found, seen, coded = np.zeros(y.size, np.int64), np.zeros(y.size, bool), 0

        def take(label: Any, number: int) -> int:
            same = y == label
            if number:
                np.add(found, number * same, out=found)
            np.logical_or(seen, same, out=seen)
            return int(np.count_nonzero(same))

        for label, number in list(self.code.items())[:MANY]:
            if coded < y.size and isinstance(label, (int, float)):
                coded += take(label, number)
        while coded < y.size:
            if len(self.code) >= MANY:
                missing = np.flatnonzero(~seen)
                values, first, where = np.unique(y[missing], return_index=True, return_inverse=True)
                for at in np.argsort(first):
                    self.code[values[at].item()]
                found[missing] = np.array([self.code[value.item()] for value in values])[where]
                break
            label = y[int(np.argmin(seen))].item()
            coded += take(label, self.code[label])
        return found

    def refuse_new(self, before: int, codes: np.ndarray) -> None:
        """With fixed classes, a label that was not named is an error."""
        if self.fixed and len(self.code) > before:
            new = self.order[before]
            raise BadValue(
                f"the label {new!r} is not one of the classes this learner was made with: {self.order[:before]}",
                row=int(np.argmax(codes >= before)),
            )

    def forget_from(self, size: int) -> None:
        while len(self.code) > size:
            self.code.popitem()

    # ---- two classes ---------------------------------------------------------------------------------------------

    def signs(self, known: int) -> np.ndarray:
        """The sign of each of the first `known` classes."""
        order = self.order[:known]
        if known == 1:
            return np.array([1.0 if is_number(order[0], 1) else -1.0])
        if known == 2 and is_number(order[0], 1) and (is_number(order[1], -1) or is_number(order[1], 0)):
            return np.array([1.0, -1.0])
        return np.array([-1.0, 1.0])

    def signed(self) -> bool:
        """Whether the first two labels are a pair with signs of its own: -1/+1, 0/1, False/True."""
        first, second = self.order[:2]
        return is_number(first, 1) != is_number(second, 1) and any(
            is_number(label, value) for label in (first, second) for value in (-1, 0)
        )

    def turns(self, known: int) -> bool:
        """Whether the class seen first changes its sign when the second appears."""
        return known == 2 and self.signs(1)[0] != self.signs(2)[0]

    def sides(self, known: int) -> tuple[Any, Any]:
        """The labels predicted for a negative and for a positive score; None where nothing can be said."""
        if known == 0:
            return None, None
        order, signs = self.order, self.signs(known)
        if known >= 2:
            return (order[0], order[1]) if signs[1] > 0 else (order[1], order[0])
        only = order[0]
        if isinstance(only, bool):
            return False, True
        if is_number(only, 1):
            return -1, only
        if is_number(only, -1) or is_number(only, 0):
            return only, 1
        return only, only


def is_number(label: Any, value: int) -> bool:
    return isinstance(label, (int, float)) and label == value


def as_array(labels: list[Any]) -> np.ndarray:
    """Labels as an array of their own kind; of objects when they are mixed."""
    kinds = {type(label) for label in labels}
    if kinds <= {bool} or kinds <= {int, float} or kinds <= {str}:
        return np.array(labels)
    out = np.empty(len(labels), object)
    out[:] = labels
    return out


def targets(y: Any, what: str = "target") -> np.ndarray:
    """Real targets for regression, or what else is one number for every row."""
    try:
        values = np.asarray(y)
    except ValueError:
        raise BadValue("y must be one number for every row") from None
    if values.dtype.kind not in "fiub":
        wrong = [target for target in y if not isinstance(target, (int, float, np.number))]
        raise BadValue(f"{what}s must be numbers, not {shown(wrong[0]) if wrong else values.dtype}")
    values = np.ascontiguousarray(values, dtype=np.float64)
    if values.ndim != 1:
        raise BadValue(f"y must be one number for every row, not an array of shape {values.shape}")
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        message = f"row {bad[0]}: the {what} is {values[bad[0]]}; every {what} must be finite"
        raise BadValue(message, row=int(bad[0]))
    return values
