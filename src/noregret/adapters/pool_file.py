"""A pool in the model file: its entries, each a part of its own, its weights, and what it remembers beside them."""

from typing import TYPE_CHECKING, Any

import numpy as np

from noregret.adapters.pool_entries import MOST, Entry, check_names, check_rule
from noregret.errors import BadValue
from noregret.learner.header_fields import corrupt, read_list, read_number
from noregret.learner.model_file import Arrays, FindCard, Header, dump_part, restore_part
from noregret.learner.protocol import Learner

if TYPE_CHECKING:
    from noregret.adapters.pool import Auto

SEES = ("encodes", "encoded", "given")


def dump_pool(pool: "Auto") -> tuple[Header, Arrays]:
    """The header and the arrays of a pool."""
    entries: list[Header] = []
    arrays: Arrays = {}
    for number, entry in enumerate(pool.entries):
        part, own = dump_part(f"entry{number}", entry.learner)
        entries.append({"name": entry.name, "sees": entry.sees, "learner": part})
        arrays |= own
    mixture, own = pool.mixture.dump()
    arrays |= {f"mixture/{name}": array for name, array in own.items()}
    arrays |= {f"odds/{name}": array for name, array in pool.odds.dump().items()}
    arrays |= {f"history/{name}": array for name, array in pool.history.dump().items()}
    header = {
        "entries": entries,
        "mixture": mixture,
        "stopped": dict(pool.stopped),
        "sleep": pool.sleep.dump(),
        "prunes": pool.prunes,
        "targets": list(pool.targets),
        **pool.dump_counts(),
    }
    return header, arrays


def restore_entries(header: Header, arrays: Arrays, find_card: FindCard) -> tuple[Entry, ...]:
    """The entries of a pool, all checked."""
    saved = read_list(header, "entries")
    if not 1 <= len(saved) <= MOST:
        raise corrupt(f"a pool must have 1 to {MOST} entries")
    entries = []
    for number, one in enumerate(saved):
        if not isinstance(one, dict) or type(one.get("name")) is not str or one.get("sees") not in SEES:
            raise corrupt("an entry of a pool must have a name and say which rows it sees")
        learner = restore_part(f"entry{number}", one.get("learner"), arrays, find_card)
        if not isinstance(learner, Learner):
            raise corrupt(f"the entry {one['name']} is not a learner")
        entries.append(Entry(one["name"], learner, one["sees"]))
    try:
        check_names([entry.name for entry in entries])
        check_rule(entries)
    except BadValue as error:
        raise corrupt(str(error)) from None
    encodes = [entry.sees for entry in entries].count("encodes")
    if encodes > 1 or (not encodes and any(entry.sees == "encoded" for entry in entries)):
        raise corrupt("one entry of a pool must encode rows for the others")
    return tuple(entries)


def restore_stopped(header: Header, entries: tuple[Entry, ...]) -> dict[str, str]:
    """The entries that have stopped, and why."""
    stopped, names = header.get("stopped"), {entry.name for entry in entries}
    if (
        not isinstance(stopped, dict)
        or not names > set(stopped)
        or not all(type(why) is str for why in stopped.values())
    ):
        raise corrupt("a pool must say which of its entries have stopped, and not all of them can have")
    return dict(stopped)


def restore_targets(header: Header) -> tuple[int, float, float, float]:
    """What is known of the targets of a regression."""
    saved = read_list(header, "targets")
    if len(saved) != 4 or type(saved[0]) is not int or saved[0] < 0:
        raise corrupt("a pool must say how many targets it has seen, and their sums")
    first, total, squares = (read_number(value, "a sum of targets") for value in saved[1:])
    return saved[0], first, total, squares


def read_header(header: Header, name: str) -> Header:
    """A header inside another."""
    inside = header.get(name)
    if not isinstance(inside, dict):
        raise corrupt(f"{name} is missing")
    return inside


def part_of(arrays: Arrays, name: str) -> dict[str, Any]:
    """The arrays under a name."""
    start = f"{name}/"
    return {key.removeprefix(start): np.asarray(array) for key, array in arrays.items() if key.startswith(start)}
