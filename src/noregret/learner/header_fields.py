"""Entries of a model file's header, each checked as it is read."""

from collections.abc import Mapping
from typing import Any

from noregret.errors import BadValue
from noregret.rules.parameters import Param

LARGEST_COUNT = 2**62  # of rounds; there is room for as many again


def corrupt(what: str) -> BadValue:
    """The error for a model file whose header is not valid."""
    return BadValue(f"corrupt model file: {what}")


def read_count(header: Mapping[str, Any], name: str, most: int = LARGEST_COUNT, least: int = 0) -> int:
    """A whole number from `least` to `most`."""
    value = header.get(name)
    if type(value) is not int or not least <= value <= most:
        raise corrupt(f"{name} must be a whole number from {least} to {most}")
    return value


def read_list(header: Mapping[str, Any], name: str) -> list[Any]:
    value = header.get(name)
    if not isinstance(value, list):
        raise corrupt(f"{name} must be a list")
    return value


def read_number(value: Any, name: str) -> float:
    """A finite number."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) < float("inf"):
        raise corrupt(f"{name} must be a finite number")
    try:
        return float(value)
    except OverflowError:
        raise corrupt(f"{name} must be a finite number") from None


def read_label(value: Any, name: str) -> Any:
    """A number, a string or a truth value."""
    if isinstance(value, (bool, int, str)) or (isinstance(value, float) and abs(value) < float("inf")):
        return value
    raise corrupt(f"{name} must be a number, a string or a truth value")


def read_param(header: Mapping[str, Any], name: str, param: Param) -> float:
    """A number within the limits of a parameter."""
    try:
        return param.check("the model", name, header.get(name))
    except BadValue as error:
        raise corrupt(str(error)) from None
