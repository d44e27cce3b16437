"""Independent twins of the learners: dense, slow and obvious.

    twin = naive.binary("pa1", C=0.5)
    scores, updated = twin.run(X, y)

The twins share nothing with the library; tests compare the library to them.
"""

from typing import Any

from . import (
    adaptive,
    bandit,
    batch,
    bogd,
    bottou,
    duol,
    exponentiated,
    fobos,
    gradient,
    groups,
    incremental,
    kernel_budgets,
    mirror,
    norma,
    p_norm,
    passive_aggressive,
    pegasos,
    perceptron,
    pocket,
    rda,
    romma,
    second_order,
    selection,
    truncated,
    ultraconservative,
    winnow,
)
from .kernels import Expansion, Kernel, KernelRule
from .rules import FirstOrder, Rule
from .tasks import Binary, Multiclass, Regression, TaskRow

__all__ = ["RULES", "Kernel", "binary", "kernel", "multiclass", "regression", "rule", "twin", "with_kernel"]

RULES: dict[str, Any] = {
    **adaptive.RULES,
    **bandit.RULES,
    **batch.RULES,
    **bogd.RULES,
    **bottou.RULES,
    **duol.RULES,
    **exponentiated.RULES,
    **fobos.RULES,
    **gradient.RULES,
    **groups.RULES,
    **incremental.RULES,
    **kernel_budgets.RULES,
    **mirror.RULES,
    **norma.RULES,
    **p_norm.RULES,
    **passive_aggressive.RULES,
    **pegasos.RULES,
    **perceptron.RULES,
    **pocket.RULES,
    **rda.RULES,
    **romma.RULES,
    **second_order.RULES,
    **selection.RULES,
    **truncated.RULES,
    **ultraconservative.RULES,
    **winnow.RULES,
}


SHARED = {"power": "rate_power", "decay": "rate_decay", "random_start": "random_start"}  # and where twins keep them


def twin(name: str, **params: object) -> Any:
    """Return the rule, or the player, of that name."""
    if name not in RULES:
        raise ValueError(f"no twin is called {name}")
    shared = {kept: params.pop(one) for one, kept in SHARED.items() if isinstance(params.get(one), float)}
    made = RULES[name](**params)
    for one, value in shared.items():
        setattr(made, one, value)
    return made


def rule(name: str, **params: object) -> Rule:
    """Return the rule of that name."""
    made: Rule = twin(name, **params)
    return made


def with_kernel(made: Rule, function: Kernel) -> Rule:
    """Return a rule as it plays with a kernel."""
    if isinstance(made, KernelRule):
        made.kernel = function
        return made
    if not isinstance(made, FirstOrder):
        raise ValueError(f"{type(made).__name__} does not play with kernels")
    return Expansion(made, function)


def binary(name: str, **params: object) -> Binary:
    """Return a twin for labels -1 and +1."""
    return Binary(rule(name, **params))


def multiclass(name: str, k: int, fixed: bool = False, **params: object) -> Multiclass:
    """Return a twin for labels 0..k-1; all classes take part from the start if fixed."""
    return Multiclass(rule(name, **params), k, fixed)


def regression(name: str, eps: float = 0.1, **params: object) -> Regression:
    """Return a twin for real-valued truths."""
    made = rule(name, **params)
    if not made.regresses:
        raise ValueError(f"{name} does not play regression")
    return Regression(made, eps)


def kernel(
    name: str,
    function: Kernel,
    k: int | None = None,
    fixed: bool = False,
    **params: object,
) -> TaskRow:
    """Return a twin over kernel supports: binary, or multiclass when k is given."""
    expansion = with_kernel(rule(name, **params), function)
    return Binary(expansion) if k is None else Multiclass(expansion, k, fixed)
