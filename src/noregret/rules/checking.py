"""Checks that the declarations of rules and of other methods share."""

import keyword
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from noregret.errors import BadValue, shown
from noregret.rules.parameters import Choice, Component, Param
from noregret.rules.registry import RESERVED
from noregret.state.fields import Field

Part: TypeAlias = Literal["params", "state", "counters"]
KINDS: dict[Part, tuple[tuple[type, ...], str]] = {
    "params": ((Param, Choice, Component), "a Param, a Choice or a Component"),
    "state": ((Field,), "a field of noregret.state, such as plain or covariance"),
    "counters": ((int, float), "a number"),
}
TAKEN: dict[Part, tuple[str, ...]] = {"params": RESERVED, "state": ("n",), "counters": ("t",)}


def check_names(who: str, part: Part, declared: Mapping[str, Any]) -> None:
    """Parameters, state and counters must be of their type, with names that p, s and s.n can carry."""
    kinds, wanted = KINDS[part]
    for name, value in declared.items():
        if not isinstance(value, kinds):
            raise BadValue(f"{who}: {name} in {part} must be {wanted}, not {shown(value)}")
        if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("_") or name in TAKEN[part]:
            raise BadValue(f"{who}: {name!r} cannot be a name in {part}; choose another")
