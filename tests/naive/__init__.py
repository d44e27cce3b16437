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
    exponentiated,
    fobos,
    gradient,
    groups,
    mirror,
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
from .kernels import Expansion, Kernel
from .rules import FirstOrder, Rule
from .tasks import Binary, Multiclass, Regression, TaskRow

__all__ = ["RULES", "Kernel", "binary", "kernel", "multiclass", "regression", "rule"]

RULES: dict[str, Any] = {
    **adaptive.RULES,
    **bandit.RULES,
    **batch.RULES,
    **exponentiated.RULES,
    **fobos.RULES,
    **gradient.RULES,
    **groups.RULES,
    **mirror.RULES,
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


def rule(name: str, **params: object) -> Rule:
    """Return the rule of that name."""
    if name not in RULES:
        raise ValueError(f"no twin is called {name}")
    made: Rule = RULES[name](**params)
    return made


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
    made = rule(name, **params)
    if not isinstance(made, FirstOrder):
        raise ValueError(f"{name} does not play with kernels")
    expansion = Expansion(made, function)
    return Binary(expansion) if k is None else Multiclass(expansion, k, fixed)
