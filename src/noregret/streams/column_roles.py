"""Column roles: which columns of a table are the label, weight, time, query or features, for every kind of table."""

from collections.abc import Sequence
from dataclasses import dataclass

from noregret.errors import BadValue, find_closest, shown
from noregret.streams.read_options import ReadOptions
from noregret.streams.source import Source

NO_LABEL = "NONE"  # in place of a column: there is no label
USUAL_LABELS = ("label", "target", "class", "y")


@dataclass(frozen=True)
class ColumnRoles:
    """The number of the column with each role; None if there is none."""

    label: int | None = None
    weight: int | None = None
    timestamp: int | None = None
    drop: tuple[int, ...] = ()
    text: tuple[int, ...] = ()
    categorical: tuple[int, ...] = ()
    query: int | None = None

    @property
    def not_features(self) -> set[int]:
        """The numbers of the columns that hold no features."""
        numbers = (self.label, self.weight, self.timestamp, self.query)
        return {number for number in numbers if number is not None} | set(self.drop)


def find_roles(names: Sequence[str], options: ReadOptions, source: Source) -> ColumnRoles:
    """Find the roles of columns; sets the label of the source, and notes what was guessed."""

    def index_of(column: str | None) -> int | None:
        return None if column is None else find_column(column, names, source.name, source.kind)

    def indices_of(role: str) -> tuple[int, ...]:
        columns = getattr(options, role)
        if role in options.optional:  # rows to be predicted may lack columns that a model remembers
            columns = [column for column in columns if column in names]
        return tuple(find_column(column, names, source.name, source.kind) for column in columns)

    def if_present(column: str | None) -> str | None:
        return column if options.labelled or column in names else None

    for column in options.keep:  # whoever asks for it must get it
        find_column(column, names, source.name, source.kind)
    drop = indices_of("drop")
    left = [name for number, name in enumerate(names) if number not in drop]
    weight, timestamp = index_of(if_present(options.weight)), index_of(if_present(options.timestamp))
    query = index_of(if_present(options.query))
    others = {names[one] for one in (weight, timestamp, query) if one is not None}
    if options.label is None:  # what was named as features is not guessed to be the label
        others |= {*options.text, *options.categorical}
    source.left_out = None
    candidates = [name for name in left if name not in others]
    label = find_label(candidates, options, source)
    if label is None and options.label_left_out and options.label is None and len(candidates) > 1:
        source.left_out = candidates[-1]
        drop = (*drop, names.index(candidates[-1]))
    return ColumnRoles(
        None if label is None else names.index(label),
        weight,
        timestamp,
        drop,
        indices_of("text"),
        indices_of("categorical"),
        query,
    )


def find_column(column: str, names: Sequence[str], source: str, kind: str = "") -> int:
    """Return the number of a column, or raise an error with a suggestion."""
    if column in names:
        return list(names).index(column)
    if kind == "csv" and column[:1] == "c" and column[1:].isdigit():
        raise BadValue(f"{source}: there is no column {shown(column)}; say --no-header if the first line is a row")
    close = find_closest(column, names)
    hint = f", did you mean {close!r}?" if close else ";"
    more = f" and {len(names) - 10} more" if len(names) > 10 else ""
    raise BadValue(f"{source}: there is no column {shown(column)}{hint} the columns are {', '.join(names[:10])}{more}")


def find_label(names: Sequence[str], options: ReadOptions, source: Source) -> str | None:
    """Return the column of the label; None if rows may lack one and there is none."""
    wanted, lower = options.label, [name.lower() for name in names]
    if wanted == NO_LABEL and wanted not in names and not options.labelled:
        return None
    usual = [lower.index(name) for name in USUAL_LABELS if name in lower]
    if wanted is None:
        if not usual and not options.labelled and options.label_left_out and len(names) > 1:
            source.notes.append(
                f"column {names[-1]!r}, the last one, would be the label and is left out; --label NONE reads all"
            )
            return None
        source.notes[:] = [note for note in source.notes if "would be the label" not in note]
        if not usual and not options.labelled:
            source.notes.append("no column is named as the label, so every column is read as a feature")
            return None
        if not names:
            raise BadValue(f"{source.name}: no column is left for the label")
        given = getattr(source, "options", options)  # some sources do not read what is dropped
        dropped = [name for name in given.drop if name.lower() in USUAL_LABELS]
        if dropped and not usual:
            raise BadValue(
                f"{source.name}: the label would be {dropped[0]!r}, which is dropped; name another with --label"
            )
        index = usual[0] if usual else len(names) - 1
    elif wanted not in names and not options.labelled:
        return None
    else:
        index = find_column(wanted, names, source.name, source.kind)
    source.label = names[index]
    last = ", the last one" if wanted is None and not usual else ""
    source.notes.append(f"the label is the column {names[index]!r}{last}")
    return names[index]
