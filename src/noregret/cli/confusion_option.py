"""The values of --confusion, which may be left out: what follows the option may also be a file."""

from collections.abc import Sequence

OPTION, COUNTS, COLUMNS = "--confusion", "counts", "columns"


def separate_value(arguments: Sequence[str]) -> list[str]:
    """The arguments with the value of --confusion attached to it, so that no other word is taken for one."""
    found: list[str] = []
    for word in arguments:
        if found and found[-1] == OPTION:
            found[-1] = f"{OPTION}={word if word in (COUNTS, COLUMNS) else COUNTS}"
            if word in (COUNTS, COLUMNS):
                continue
        found.append(word)
    return found
