"""A log of what dicts held before they were changed, so that a call that fails can be undone."""

from typing import Any

ABSENT = object()


class UndoLog:
    """Writes to dicts and remembers what was there; `undo` can be repeated, since it does not use the log up."""

    def __init__(self, keep: bool = True) -> None:
        """Without `keep` nothing is remembered: the dicts are a copy that will be thrown away."""
        self.keep = keep
        self.entries: list[tuple[dict[Any, Any], Any, Any]] = []

    def set(self, table: dict[Any, Any], key: Any, value: Any) -> None:
        """table[key] = value."""
        if self.keep:
            self.entries.append((table, key, table.get(key, ABSENT)))
        table[key] = value

    def add(self, table: dict[Any, Any], key: Any, amount: Any) -> None:
        """table[key] += amount, where what is absent is 0."""
        self.set(table, key, table.get(key, 0) + amount)

    def undo(self) -> None:
        for table, key, before in reversed(self.entries):
            if before is ABSENT:
                table.pop(key, None)
            else:
                table[key] = before
