"""From a card and a game to a loop: every text is copied with its hooks bound, as plain Python or as compiled code."""

import hashlib
import types
from collections import namedtuple
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from noregret.card import Card, Param, bindings
from noregret.games import binary, hooks, multiclass, regression
from noregret.texts import Maker, grafting


class Game(NamedTuple):
    """A game: the module with its loops, and the numbers it takes."""

    module: Any
    params: Mapping[str, Param]


GAMES = {
    "binary": Game(binary, {}),
    "multiclass": Game(multiclass, {}),
    "regression": Game(regression, {"eps": Param(0.1, at_least=0.0, about="errors up to this size cost nothing")}),
}
SETTINGS: dict[str, Any] = {
    name: namedtuple(f"{name}_setting", list(game.params) or ["none"]) for name, game in GAMES.items()
}


@dataclass(frozen=True)
class Plan:
    """All that a loop is stamped from."""

    card: Card
    game: str
    algebra: str
    covariance: str
    kernel: str
    choices: tuple[tuple[str, str], ...]
    averaged: bool = False

    @property
    def name(self) -> str:
        """Unique for every loop: no two share a cache entry."""
        sigma = self.covariance if self.card.keeps_covariance else ""
        kind = self.kernel if self.algebra == "kernel" else ""
        options = [option for _, option in self.choices] + ["averaged"] * self.averaged
        return "_".join(filter(None, [self.game, self.card.name, self.algebra, sigma, kind, *options]))

    @property
    def bindings(self) -> dict[str, Callable[..., Any]]:
        """What the options of the rule stand for in its text."""
        return bindings(self.card, dict(self.choices))


def assemble(plan: Plan, maker: Maker) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The two loops of a plan: play (predict, then learn, every round) and judge (what predict uses)."""
    card, tag = plan.card, plan.name
    options = plan.bindings
    graft = grafting(options, maker, tag)

    def text(function: Callable[..., Any], **bound: Any) -> Callable[..., Any]:
        return maker(function, f"{function.__name__}_{tag}", bound)

    rule = graft(card.rule)
    if card.kind == "margin":
        update = text(hooks.update_margin, rule=rule)
    else:
        adaptor = {"gradient": hooks.update_gradient, "coordinate": hooks.update_coordinates}[card.kind]
        update = text(adaptor, rule=rule, slope=graft(options["slope"]))

    if card.score is not None:
        score = graft(card.score)
    elif card.weight is not None:
        score = text(hooks.score_by_weight, weight=graft(card.weight))
    else:
        score = text(hooks.score_by_vector)
    final = graft(card.final) if card.final is not None else score
    if plan.averaged:
        final = text(hooks.final_by_mean)

    module = GAMES[plan.game].module
    if plan.game != "multiclass":
        return (
            text(module.play, score=score, update=update),
            text(module.judge, final=final),
        )
    by_vector = card.score is None and card.weight is None
    scores = text(hooks.scores_by_vector) if by_vector else text(hooks.scores_one_by_one, score=score)
    finals = maker(hooks.scores_one_by_one, f"finals_{tag}", {"score": final}) if final is not score else scores
    return text(module.play, scores=scores, update=update), text(module.judge, finals=finals)


def frozen(thing: Any) -> bytes:
    """A constant of a module as compiled code would carry it; nothing for what compiled code cannot carry."""
    if isinstance(thing, np.ndarray):
        return repr((thing.dtype, thing.shape)).encode() + thing.tobytes()
    return repr(thing).encode() if isinstance(thing, (bool, int, float, str, tuple, np.generic)) else b""


def fingerprint(plan: Plan) -> str:
    """A hash of all that this rule brings into the loop: its code, its helpers, its constants; not its line numbers."""
    digest = hashlib.sha256(plan.name.encode())
    seen: set[Any] = set()

    def take(function: Callable[..., Any]) -> None:
        code = function.__code__
        if code in seen:
            return
        seen.add(code)
        digest.update(repr(function.__defaults__).encode())
        read(code, function)

    def read(code: types.CodeType, function: Callable[..., Any]) -> None:
        digest.update(code.co_code)
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                read(constant, function)
            elif constant is not function.__doc__:
                digest.update(repr(constant).encode())
        for name in code.co_names:
            digest.update(name.encode())
            thing = function.__globals__.get(name)
            if isinstance(thing, Card):
                thing = thing.rule
            if isinstance(thing, types.FunctionType):
                take(thing)
            elif isinstance(thing, types.ModuleType):
                for inner in code.co_names:
                    digest.update(frozen(getattr(thing, inner, None)))
            else:
                digest.update(frozen(thing))

    for function in (*plan.card.functions(), *plan.bindings.values()):
        if isinstance(function, types.FunctionType):
            take(function)
        else:
            digest.update(frozen(function))
    digest.update(repr((tuple(plan.card.numbers), plan.card.weigh, tuple(plan.card.state.items()))).encode())
    digest.update(repr(tuple(plan.card.counters)).encode())
    return digest.hexdigest()
