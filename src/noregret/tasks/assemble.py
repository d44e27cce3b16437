"""From a card and a task to a loop: every text is copied with its hooks bound, as plain Python or as compiled code."""

import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from noregret.rules.parameters import bindings
from noregret.rules.row_size import count_row, row_size
from noregret.rules.rule_card import RuleCard
from noregret.rules.specialize import Copier, rebind, specializer
from noregret.tasks import budgets, hooks
from noregret.tasks.budgets import bind_policy
from noregret.tasks.task import Task

Hook: TypeAlias = Callable[..., Any]


@dataclass(frozen=True)
class Plan:
    """All that a loop is specialized from."""

    card: RuleCard
    task: type[Task]
    algebra: str
    covariance: str
    kernel: str
    choices: tuple[tuple[str, str], ...]
    averaged: bool = False
    setup: tuple[tuple[str, str], ...] = ()  # the options of the task
    policy: str = ""  # which support a budget removes; empty where there is none

    @property
    def name(self) -> str:
        """Unique for every loop: no two share a cache entry."""
        sigma = self.covariance if self.card.keeps_covariance else ""
        kind = self.kernel if self.algebra == "kernel" else ""
        usual = self.task.options
        options = [option for _, option in self.choices] + ["averaged"] * self.averaged
        options += [option for name, option in self.setup if option != usual[name].default]
        options += [f"without_{self.policy}"] if self.policy else []
        return "_".join(
            filter(None, [self.task.name.replace("-", "_"), self.card.name, self.algebra, sigma, kind, *options])
        )

    @property
    def bindings(self) -> dict[str, Callable[..., Any]]:
        """What the options of the rule stand for in its text."""
        return bindings(self.card.choices, dict(self.choices))

    @property
    def moves(self) -> dict[str, Callable[..., Any]]:
        """What the options of the task stand for in its loops."""
        chosen = dict(self.setup)
        return {**bindings(self.task.options, chosen), **self.task.functions(chosen)}


def assemble(plan: Plan, maker: Copier) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The two loops of a plan: play (predict, then learn, every round) and score_rows (what predict uses)."""
    card, tag = plan.card, plan.name
    options = plan.bindings
    graft = specializer(options, maker, tag)

    def text(function: Callable[..., Any], name: str = "", **bound: Any) -> Callable[..., Any]:
        return maker(function, f"{name or function.__name__}_{tag}", bound)

    rule = graft(card.rule)
    update = rule
    if card.kind == "margin":
        update = text(hooks.update_margin, rule=rule, fitted=fit_to_rows(card, text, graft))
    elif card.kind in hooks.BY_SLOPE:
        update = text(hooks.BY_SLOPE[card.kind], rule=rule, slope=graft(options["slope"]))

    remove_excess = bind_policy(plan.policy, len(card.state), text) if plan.policy else None
    if remove_excess is not None:
        update = text(budgets.update_within_budget, update=update, remove_excess=remove_excess)

    if card.score is not None:
        score = graft(card.score)
    elif card.weight is not None:
        score = text(hooks.score_by_weight, weight=graft(card.weight))
    else:
        score = text(hooks.score_by_vector)
    final = graft(card.final) if card.final is not None else score
    if plan.averaged:
        final = text(hooks.final_by_mean)
    by_vector = card.score is None and card.weight is None
    scores = text(hooks.scores_by_vector) if by_vector else text(hooks.scores_one_by_one, score=score)
    finals = scores
    if plan.averaged:
        finals = text(hooks.finals_by_mean)
    elif final is not score:
        finals = maker(hooks.scores_one_by_one, f"finals_{tag}", {"score": final})

    plain_rows = by_vector and final is score
    final_row = text(hooks.row_by_vector) if plain_rows else text(hooks.row_by_final, final=final)
    by_score = hooks.row_and_score_by_score
    row_and_score = text(hooks.row_and_score_by_vector) if by_vector else text(by_score, score=score)

    play = plan.task.select_loop(card, dict(plan.setup))
    bound: dict[str, Any] = {
        "score": score,
        "scores": scores,
        "update": update,
        "rule": rule,
        "final": final,
        "finals": finals,
        "final_row": final_row,
        "row_and_score": row_and_score,
    }
    bound["final_differs"] = final is not score
    if remove_excess is not None:
        bound["take_steps"] = text(budgets.steps_within_budget, remove_excess=remove_excess)
    moves = {name: hooked(move, bound) for name, move in plan.moves.items()}
    own = specializer(moves, maker, tag)
    if card.chances is not None:
        bound["chances"] = graft(card.chances)
    if card.level is not None:
        bound["level"] = graft(card.level)
    bound |= {name: own(move) if isinstance(move, types.FunctionType) else move for name, move in moves.items()}

    def loop(function: Callable[..., Any]) -> Callable[..., Any]:
        return text(function, **{name: bound[name] for name in function.__code__.co_names if name in bound})

    return loop(play), loop(plan.task.select_scoring(card))


def fit_to_rows(card: RuleCard, text: Callable[..., Hook], graft: Callable[..., Hook]) -> Hook:
    """What gives a margin rule its parameters: with those that follow the rows, if it has such."""
    if not card.parameters.size_places:
        return text(hooks.as_given)
    return text(hooks.fitted_to_rows, count_row=graft(count_row), row_size=graft(row_size))


def hooked(move: Any, hooks: Mapping[str, Any]) -> Any:
    """An option of a task, which may score and update like the loop that calls it."""
    named = getattr(getattr(move, "__code__", None), "co_names", ())
    return rebind(move, move.__name__, {name: hooks[name] for name in named if name in hooks}) if named else move
