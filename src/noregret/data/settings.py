"""Settings that stand behind a name, as in separable:margin=0.1,seed=3 or adwin:delta=0.01."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import Any, TypeAlias

from noregret.errors import BadValue, find_closest, shown


@dataclass(frozen=True)
class Setting:
    """A number, with its limits."""

    default: float
    low: float
    high: float = inf
    whole: bool = False
    about: str = ""

    @property
    def limits(self) -> str:
        """The limits, for error messages."""
        kind = "a whole number" if self.whole else "a number"
        return f"{kind} of at least {self.low:g}" + (f" and at most {self.high:g}" if self.high < inf else "")

    @property
    def example(self) -> str:
        """The default as a user would write it."""
        return f"{self.default:g}"

    def check(self, name: str, value: Any) -> float:
        """Return the value as a number, or raise an error that states the limits."""
        try:
            number = inf if isinstance(value, bool) else float(value)
        except (TypeError, ValueError):
            number = inf
        if not self.low <= number <= self.high or number == inf or (self.whole and number != int(number)):
            raise BadValue(f"{name} must be {self.limits}, not {shown(value)}")
        return int(number) if self.whole else number


@dataclass(frozen=True)
class Words:
    """One of a few words."""

    default: str
    among: tuple[str, ...]
    about: str = ""

    @property
    def example(self) -> str:
        """The default as a user would write it."""
        return self.default

    def check(self, name: str, value: Any) -> str:
        """Return the word, or raise an error that lists all of them."""
        if value not in self.among:
            close = find_closest(value, self.among)
            hint = f"; did you mean {close}?" if close else ""
            raise BadValue(f"{name} must be one of {', '.join(self.among)}, not {shown(value)}{hint}")
        return str(value)


Settings: TypeAlias = Mapping[str, Setting | Words]


def parse_settings(name: str, text: str, known: Settings) -> dict[str, str]:
    """Parse key=value,key=value; the values are not checked yet."""
    found: dict[str, str] = {}
    for part in filter(None, text.split(",")):
        key, sign, value = (piece.strip() for piece in part.partition("="))
        check_known(name, [key], known)
        if not sign:
            raise BadValue(f"{name}: give {key} a value, as in {name}:{key}={known[key].example}")
        found[key] = value
    return found


def check_settings(name: str, given: Mapping[str, Any], known: Settings) -> dict[str, Any]:
    """All settings: those given, checked, and the defaults of the others."""
    check_known(name, given, known)
    return {key: one.check(f"{name}: {key}", given.get(key, one.default)) for key, one in known.items()}


def check_known(name: str, given: Any, known: Settings) -> None:
    """Refuse a setting that there is not."""
    for key in given:
        if key not in known:
            close = find_closest(key, known)
            hint = f"; did you mean {close}?" if close else ""
            raise BadValue(f"{name}: there is no setting {key!r}{hint}; there are {', '.join(known)}")
