"""Labels of a classifier: each class gets a code in order of first appearance; two classes also get a sign.

-1/+1, 0/1 and False/True keep their sign. Of any other pair, the class seen first is negative.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.data.blocks import unmask
from noregret.errors import BadValue, check_digits, shown

MANY = 32  # with as many classes, looking up every label is faster than one pass over the labels per class


class Universum:
    """The type of `noregret.UNIVERSUM`, the label of an example that belongs to neither class."""

    def __repr__(self) -> str:
        return "UNIVERSUM"

    def __reduce__(self) -> str:
        return "UNIVERSUM"


UNIVERSUM = Universum()


class Codes(dict[Any, int]):
    """A dict from label to code that checks each new label and gives it the next code."""

    def __missing__(self, label: Any) -> int:
        code = self[check_label(label)] = len(self)
        return code


def check_label(label: Any) -> Any:
    """Return the label as a plain Python value, or raise an error that says why it cannot be a label."""
    label = label.item() if isinstance(label, np.generic) else label
    if not isinstance(label, (bool, int, float, str)):
        several = '; for several labels per row use task="multilabel" (--task multilabel)'
        hint = several if isinstance(label, (tuple, frozenset)) else ""
        raise BadValue(f"a label must be a number, a string or a truth value, not {shown(label)}{hint}")
    check_digits(label, "the label")
    if isinstance(label, float):
        if label != label or label in (float("inf"), float("-inf")):
            raise BadValue(f"the label is {label}; it must be finite")
        if label != int(label):
            raise BadValue(
                f'the label {label!r} is not a class; for real targets use task="regression" (--task regression)'
            )
    return label


class Labels:
    """The classes a learner knows, with their codes and signs."""

    def __init__(self, classes: Iterable[Any] | None = None) -> None:
        self.code = Codes()
        self.fixed = classes is not None
        for label in classes or ():
            self.code[check_label(label)] = len(self.code)
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
        """The labels, by code."""
        return list(self.code)

    def __len__(self) -> int:
        return len(self.code)

    def encode(self, y: Any) -> NDArray[np.int64]:
        """Return the code of every label; new labels get the next codes, in order of appearance."""
        try:
            return self.encode_values(y)
        except BadValue as error:
            row = self.find_unusable(y)
            if row is None or len(y) == 1:
                raise
            raise BadValue(f"row {row}: {error}", row) from None

    def find_unusable(self, y: Any) -> int | None:
        """Return the first row whose label cannot be used."""
        for row, label in enumerate(y if getattr(y, "ndim", 1) == 1 else ()):
            try:
                hash(label)
                if label not in self.code:
                    check_label(label)
            except (BadValue, TypeError):
                return row
        return None

    def encode_values(self, y: Any) -> NDArray[np.int64]:
        if isinstance(y, np.ma.MaskedArray):  # a masked label is refused, as one that is missing
            y = y.tolist() if np.ma.is_masked(y) else y.data
        if isinstance(y, np.ndarray) and y.ndim != 1:
            raise BadValue(f"y must be one label for every row, not an array of shape {y.shape}")
        if isinstance(y, np.ndarray) and y.dtype.kind in "fiub":
            return encode_numbers(self.code, y)
        values = list(y)
        try:
            return np.fromiter(map(self.code.__getitem__, values), np.int64, len(values))
        except TypeError:
            bad = next(label for label in values if getattr(type(label), "__hash__", None) is None)
            raise BadValue(f"a label must be a number, a string or a truth value, not {shown(bad)}") from None

    def refuse_new(self, before: int, codes: NDArray[np.int64]) -> None:
        """Raise an error for a label that is not among the fixed classes."""
        if self.fixed and len(self.code) > before:
            new = self.order[before]
            raise BadValue(
                f"the label {new!r} is not one of the classes this learner was made with: {self.order[:before]}",
                row=int(np.argmax(codes >= before)),
            )

    def truncate(self, size: int) -> None:
        """Forget all but the first `size` labels."""
        while len(self.code) > size:
            self.code.popitem()

    # ---- two classes ---------------------------------------------------------------------------------------------

    def signs(self, known: int) -> NDArray[np.float64]:
        """Return the sign of each of the first `known` classes."""
        order = self.order[:known]
        if known == 1:
            return np.array([1.0 if is_number(order[0], 1) else -1.0])
        if known == 2 and is_number(order[0], 1) and (is_number(order[1], -1) or is_number(order[1], 0)):
            return np.array([1.0, -1.0])
        return np.array([-1.0, 1.0])

    def has_signs(self) -> bool:
        """Return whether the first two labels are a pair with natural signs: -1/+1, 0/1 or False/True."""
        first, second = self.order[:2]
        return is_number(first, 1) != is_number(second, 1) and any(
            is_number(label, value) for label in (first, second) for value in (-1, 0)
        )

    def turns(self, known: int) -> bool:
        """Return whether the first class changes its sign when the second one appears."""
        return known == 2 and self.signs(1)[0] != self.signs(2)[0]

    def sides(self, known: int) -> tuple[Any, Any]:
        """Return the labels predicted for a negative and for a positive score; None before any label was seen."""
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


def encode_numbers(known: dict[Any, int], y: NDArray[Any]) -> NDArray[np.int64]:
    """Return the codes of numeric labels, with one pass over them per class while there are few classes.

    `known` is a dict from label to code that gives a new label the next code when it is looked up.
    """
    encoded, count = np.zeros(y.size, bool), 0
    codes: NDArray[np.int64] | None = None  # made by the first label whose code is not 0

    def write(label: Any, code: int) -> int:
        nonlocal codes
        same = y == label
        if codes is None:
            codes = np.multiply(same, code, dtype=np.int64) if code else None
        elif code:
            np.add(codes, code * same, out=codes)
        np.logical_or(encoded, same, out=encoded)
        return int(np.count_nonzero(same))

    for label, code in list(known.items()) if len(known) < MANY else ():
        if count < y.size and isinstance(label, (int, float)):
            count += write(label, code)
    while count < y.size:
        if len(known) >= MANY:
            rest = np.flatnonzero(~encoded)
            codes = np.zeros(y.size, np.int64) if codes is None else codes
            codes[rest] = np.fromiter(map(known.__getitem__, y[rest].tolist()), np.int64, rest.size)
            break
        label = y[int(np.argmin(encoded))].item()
        count += write(label, known[label])
    return np.zeros(y.size, np.int64) if codes is None else codes


def is_number(label: Any, value: int) -> bool:
    return isinstance(label, (int, float)) and label == value


def as_array(labels: list[Any]) -> NDArray[Any]:
    """Convert labels to an array of their type, or of objects if the types are mixed."""
    kinds = {type(label) for label in labels}
    if kinds <= {bool} or kinds <= {int, float} or kinds <= {str}:
        return np.array(labels)
    out = np.empty(len(labels), object)
    out[:] = labels
    return out


def whole_numbers(values: NDArray[Any], what: str) -> NDArray[np.float64]:
    """Whole numbers beyond 64 bits as floats."""
    for row, value in enumerate(values):
        try:
            float(value)
        except OverflowError:
            raise BadValue(f"row {row}: the {what} is too large for a float", row=row) from None
    return values.astype(np.float64)


def targets(y: Any, what: str = "target") -> NDArray[np.float64]:
    """Convert one number per row (regression targets, relevances) to an array; `what` names them in errors."""
    try:
        values = np.asarray(unmask(y))
    except ValueError:
        raise BadValue("y must be one number for every row") from None
    if values.dtype.kind == "O" and values.ndim == 1 and all(isinstance(target, int) for target in values):
        values = whole_numbers(values, what)
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
