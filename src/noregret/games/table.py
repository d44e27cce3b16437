"""The games: their loops, the numbers and options they take, and what they keep beside the rule."""

from collections import namedtuple
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from noregret.card import Choice, Param
from noregret.games import binary, multiclass, ranking, regression

NOTHING: Mapping[str, Any] = MappingProxyType({})


class Game(NamedTuple):
    """A game: the module with its loops, and what these are given.

    The options are bound into the loops; params and arrays are the fields of g, counters are kept in s.n.
    """

    module: Any
    params: Mapping[str, Param] = NOTHING
    choices: Mapping[str, Choice] = NOTHING
    counters: Mapping[str, float] = NOTHING
    arrays: tuple[str, ...] = ()
    many: bool = False  # whether there is a score, and a block of weights, for every class
    truths: int = 1  # the dimensions of what the loops are told of the truth


RIVALS = {"runner_up": multiclass.runner_up, "predicted": multiclass.predicted, "max_loss": multiclass.max_loss}
PAIRS = {"all": ranking.every, "each": ranking.each, "worst": ranking.worst}
MARGINS = {"unit": multiclass.one, "loss": multiclass.by_cost, "sqrt": multiclass.by_cost}

GAMES = {
    "binary": Game(binary),
    "multiclass": Game(
        multiclass,
        choices={
            "competitor": Choice("runner_up", RIVALS, "the class that the right one must beat", binds="rival_of"),
            "margin": Choice("unit", MARGINS, "by how much: 1, the cost, or its square root", binds="required"),
        },
        arrays=("steps", "owed", "costs"),
        many=True,
    ),
    "regression": Game(
        regression, params={"eps": Param(0.1, at_least=0.0, about="errors up to this size cost nothing")}
    ),
    "ranking": Game(
        ranking,
        choices={"pairs": Choice("all", PAIRS, "which pairs of a list the rule is taught by", binds="taught")},
        arrays=("places", "values"),
        truths=2,
    ),
}
SETTINGS: dict[str, Any] = {
    name: namedtuple(f"{name.replace('-', '_')}_setting", [*game.params, *game.arrays] or ["none"])
    for name, game in GAMES.items()
}
