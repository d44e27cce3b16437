"""Options of how a state is stored: the algebra, the covariance, averages, hashing and groups, checked."""

from collections.abc import Mapping
from typing import Any

from noregret.algebra import TYPES
from noregret.errors import BadValue, shown
from noregret.features.hashing import MAX_BITS
from noregret.rules.parameters import suggestion
from noregret.rules.rule_card import RuleCard
from noregret.tasks.task import Task

COVARIANCES = ("diagonal", "drop", "full")
LARGEST_GROUP = 1 << 16  # there is room for whole groups only
LARGEST = 1 << 53  # whole numbers below it are floats, too


def check_algebra(card: RuleCard, algebra: Any) -> str | None:
    if algebra is None:
        return None
    if not isinstance(algebra, str) or algebra not in TYPES:
        raise BadValue(f"algebra must be one of {', '.join(TYPES)}, not {algebra!r}{suggestion(algebra, TYPES)}")
    reason = card.why_not(algebra)
    if reason is not None:
        raise BadValue(f"{card.name} cannot play in the {algebra} algebra: {reason}")
    return algebra


def check_covariance(card: RuleCard, covariance: Any) -> str:
    if covariance is not None and not card.keeps_covariance:
        raise BadValue(f"{card.name} keeps no covariance; leave covariance={covariance!r} out")
    if covariance not in (None, *COVARIANCES):
        raise BadValue(f"covariance must be one of {', '.join(COVARIANCES)}, not {covariance!r}")
    return covariance or "diagonal"


def check_average(
    card: RuleCard, task: type[Task], average: Any, numbers: Mapping[str, float], choices: Mapping[str, str]
) -> int | None:
    """After how many rounds the mean of the weights begins: 0 for True, None when no mean is asked for."""
    if average is None or average is False:
        return None
    if average is not True and (not isinstance(average, int) or not 0 <= average < LARGEST):
        raise BadValue(f"average must be True, or the number of rounds to leave out before it begins, not {average!r}")
    reason = card.why_no_average(choices)
    if numbers.get("random_start", 0.0) > 0.0:
        reason = "a mean begins at weights of zero, not at random ones"
    if reason is not None:
        raise BadValue(f"{card.name} cannot be averaged: {reason}")
    reason = task.why_no_average()
    if reason is not None:
        raise BadValue(reason)
    return 0 if average is True else average


def check_bits(bits: Any) -> int | None:
    """How many cells names are hashed to, as a power of two; None where names are kept."""
    if bits is not None and (type(bits) is not int or not 1 <= bits <= MAX_BITS):
        raise BadValue(f"bits must be a whole number from 1 to {MAX_BITS}, not {shown(bits)}")
    return bits


def check_groups(card: RuleCard, groups: Any) -> tuple[int, ...] | int:
    """The group of every feature by its number; or how many features in a row make one group."""
    grouped = card.keeps_groups
    if groups is None:
        return 1 if grouped else ()
    if not grouped:
        raise BadValue(f"{card.name} keeps no groups; leave groups out")
    if isinstance(groups, int) and not isinstance(groups, bool) and groups >= 1:
        if groups > LARGEST_GROUP:
            raise BadValue(f"{card.name}: a group has at most {LARGEST_GROUP} features, not {shown(groups)}")
        return groups
    listed = groups.tolist() if hasattr(groups, "tolist") else groups
    listed = [unwrap(group) for group in listed] if isinstance(listed, (list, tuple)) else None
    if listed and all(
        isinstance(group, int) and not isinstance(group, bool) and abs(group) < LARGEST for group in listed
    ):
        return tuple(listed)
    raise BadValue(
        f"{card.name}: groups must be how many features in a row make a group, or a list with the group number of each "
        f"feature, not {shown(groups)}"
    )


def unwrap(value: Any) -> Any:
    """A numpy scalar as the plain value it stands for: it can be compared, shown and saved like one."""
    return value.item() if hasattr(value, "dtype") and getattr(value, "shape", None) == () else value
