"""Read price relatives: a row for each day, a column for each stock, every number positive."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.errors import BadValue, shown
from noregret.experts.expert_rows import Name, Table, find_missing, read_table

Floats = NDArray[np.float64]


def read_relatives(X: Any, known: list[Name] | None, played: int = 0) -> tuple[list[Name], Floats]:
    """The stocks by name and their price relatives, in the order of the stocks that are known.

    Errors name the day, counted from the first of all days played, and the stock.
    """
    table = align_stocks(read_table(X, None), known, played)
    names: list[Name] = list(range(table.values.shape[1])) if table.names is None else table.names
    if not names:
        raise BadValue("there are no stocks: the rows have no columns")
    values = table.values
    if values.dtype.kind in "fiu":
        numbers = np.array(values, np.float64, order="C")  # a copy: the caller's array may change meanwhile
    else:
        missing = find_missing(values)
        numbers = np.full(values.shape, np.nan)
        for t, i in np.argwhere(~missing):
            numbers[t, i] = read_number(values[t, i], f"day {played + t + 1}, stock {names[i]!r}", int(t))
    if numbers.size and not (numbers.min() > 0.0 and numbers.max() < np.inf):  # also where one is not a number
        t, i = (int(at) for at in np.argwhere(~((numbers > 0.0) & (numbers < np.inf)))[0])
        refuse(f"day {played + t + 1}, stock {names[i]!r}", numbers[t, i], t)
    return names, numbers


def refuse(where: str, value: float, row: int) -> None:
    if np.isnan(value):
        raise BadValue(f"{where}: the price relative is missing; give a number (1 where the price did not change)",
                       row=row)  # fmt: skip
    hint = "; for prices, divide each by that of the day before" if value <= 0.0 else ""
    raise BadValue(f"{where}: a price relative must be positive and finite, not {value:g}{hint}", row=row)


def read_number(value: Any, where: str, row: int) -> float:
    if isinstance(value, (str, bytes, bool)):
        raise BadValue(f"{where}: a price relative must be a number, not {shown(value)}", row=row)
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise BadValue(f"{where}: a price relative must be a number, not {shown(value)}", row=row) from None


def align_stocks(table: Table, known: list[Name] | None, played: int) -> Table:
    """The columns in the order of the stocks that are known; all of these must be there, and no others."""
    if known is None or table.names == known:
        return table
    if table.names is None:
        if table.values.shape[1] != len(known) and table.values.size:
            raise BadValue(f"there are {len(known)} stocks, and {table.values.shape[1]} columns; each stock needs one")
        return Table(known, table.values.reshape(-1, len(known)))
    new = [name for name in table.names if name not in known]
    if new:
        raise BadValue(f"there is no stock {new[0]!r} among those learned so far; a new learner can begin with it")
    missing = [name for name in known if name not in table.names]
    if missing and len(table.values):
        raise BadValue(f"day {played + 1}, stock {missing[0]!r}: the price relative is missing", row=0)
    order = [table.names.index(name) for name in known] if not missing else []
    return Table(known, table.values[:, order] if order else table.values.reshape(0, len(known)))


def to_relatives(prices: Any, names: list[Name] | None = None) -> tuple[list[Name], Floats]:
    """The stocks and their price relatives, from prices: a row for each day, one day less than there are prices."""
    found, values = read_relatives(prices, names)
    if len(values) < 2:
        raise BadValue(f"there are prices of {len(values)} day{'s' * (len(values) != 1)}; "
                       "a price relative needs those of two days")  # fmt: skip
    return found, np.ascontiguousarray(values[1:] / values[:-1])
