"""Named configurations: methods of the literature that are a rule with options of its own, such as a kernel map.

A method card whose factory returns `name_learner(...)` makes rule learners that go by its name: in reports, races and
model files. So `fogd` is `ogd` behind random Fourier features, and nothing of either is written twice.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from noregret.errors import BadValue
from noregret.rules.method_card import MethodCard

if TYPE_CHECKING:
    from noregret.learner.config import Config
    from noregret.learner.finder import Finder


@dataclass(frozen=True)
class Named:
    """The card that a rule learner goes by, and the options it was made with."""

    card: MethodCard
    given: Mapping[str, Any]


def name_config(config: "Config", card: MethodCard, given: Mapping[str, Any]) -> "Config":
    """The configuration under the name of a method."""
    return replace(config, named=Named(card, dict(given)))


def made_with(config: "Config") -> Mapping[str, Any]:
    """What the caller passed to `make`; of a named configuration, to its method."""
    return config.given if config.named is None else config.named.given


def dump_name(config: "Config") -> dict[str, Any]:
    """The name and its options, for the header of a model file."""
    named = config.named
    return {} if named is None else {"named": {"card": named.card.name, "given": dict(named.given)}}


def restore_name(config: "Config", saved: Any, find_card: "Finder") -> "Config":
    """The configuration under the name that a header gives it; it must be what the method of that name makes."""
    if saved is None:
        return config
    card = find_card(saved["card"])
    if not isinstance(card, MethodCard) or not isinstance(saved["given"], dict):
        raise BadValue("corrupt model file: inconsistent header")
    made = card.build(**saved["given"])
    if getattr(made, "config", None) is None or made.config.named is None or made.config.given != config.given:
        raise BadValue(f"corrupt model file: it is not what {card.name} makes")
    return replace(config, named=made.config.named)
