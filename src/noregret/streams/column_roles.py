"""What the columns of a table are for: label, weight, time, query, features; the same for every kind of table."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from noregret.errors import BadValue, shown
from noregret.streams.read_options import Reading
from noregret.streams.source import Source

USUAL_LABELS = ("label", "target", "class", "y")


@dataclass(frozen=True)
class Roles:
    """Columns by their place; None where there is none."""

    label: int | None = None
    weight: int | None = None
    timestamp: int | None = None
    drop: tuple[int, ...] = ()
    text: tuple[int, ...] = ()
    categorical: tuple[int, ...] = ()
    query: int | None = None

    @property
    def aside(self) -> set[int]:
        """The places of columns that hold no features."""
        found = (self.label, self.weight, self.timestamp, self.query)
        return {place for place in found if place is not None} | set(self.drop)


def roles_among(names: Sequence[str], reading: Reading, source: Source) -> Roles:
    """The roles of these columns. The source is told its label, and notes what was guessed."""

    def place(column: str | None) -> int | None:
        return None if column is None else found(column, names, source.name, source.kind)

    def places(role: str) -> tuple[int, ...]:
        asked = getattr(reading, role)
        if not reading.labelled or role in reading.mild:  # what is predicted may lack what was learned from
            asked = [column for column in asked if column in names]
        return tuple(found(column, names, source.name, source.kind) for column in asked)

    def lenient(column: str | None) -> str | None:
        return column if reading.labelled or column in names else None

    drop = places("drop")
    left = [name for number, name in enumerate(names) if number not in drop]
    weight, timestamp = place(lenient(reading.weight)), place(lenient(reading.timestamp))
    query = place(lenient(reading.query))
    others = {names[one] for one in (weight, timestamp, query) if one is not None}
    label = label_among([name for name in left if name not in others], reading, source)
    return Roles(
        None if label is None else names.index(label),
        weight,
        timestamp,
        drop,
        places("text"),
        places("categorical"),
        query,
    )


def found(column: str, names: Sequence[str], source: str, kind: str = "") -> int:
    """The place of a column that was asked for."""
    if column in names:
        return list(names).index(column)
    if kind == "csv" and column[:1] == "c" and column[1:].isdigit():
        raise BadValue(f"{source}: there is no column {shown(column)}; say --no-header if the first line is a row")
    close = get_close_matches(column, names, 1)
    hint = f", did you mean {close[0]!r}?" if close else ";"
    more = f" and {len(names) - 10} more" if len(names) > 10 else ""
    raise BadValue(f"{source}: there is no column {shown(column)}{hint} the columns are {', '.join(names[:10])}{more}")


def label_among(names: Sequence[str], reading: Reading, source: Source) -> str | None:
    """The column of the label; None where rows without one are welcome and there is none."""
    wanted, plain = reading.label, [name.lower() for name in names]
    usual = [plain.index(name) for name in USUAL_LABELS if name in plain]
    if wanted is None:
        if not usual and not reading.labelled:
            source.notes.append("no column is named as the label, so every column is taken as a feature")
            return None
        if not names:
            raise BadValue(f"{source.name}: no column is left for the label")
        place = usual[0] if usual else len(names) - 1
    elif wanted not in names and not reading.labelled:
        return None
    else:
        place = found(wanted, names, source.name, source.kind)
    source.label = names[place]
    last = ", the last one" if wanted is None and not usual else ""
    source.notes.append(f"the label is the column {names[place]!r}{last}")
    return names[place]
