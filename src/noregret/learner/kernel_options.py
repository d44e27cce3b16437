"""The kernel of a learner, its parameters and its budget, checked."""

import sys
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.algebra.kernel_functions import KERNELS
from noregret.errors import BadValue
from noregret.rules.parameters import Param, suggestion
from noregret.rules.rule_card import RuleCard
from noregret.tasks.budgets import POLICIES

KERNEL_PARAMS = {
    "gamma": Param(
        1.0,
        above=0.0,
        about="how fast the kernel falls with distance, or the factor of the product; by default 1 over the squared "
        "length of the first row, and of the laplacian kernel 1 over its sum of absolute values",
    ),
    "coef0": Param(1.0, at_least=0.0, about="the constant of the polynomial and the sigmoid kernel"),
    "degree": Param(3.0, at_least=1.0, about="the power of the polynomial kernel"),
}
KERNEL_TAKES: dict[str, tuple[str, ...]] = {
    "linear": (),
    "polynomial": ("gamma", "coef0", "degree"),
    "rbf": ("gamma",),
    "laplacian": ("gamma",),
    "sigmoid": ("gamma", "coef0"),
    "cosine": (),
}
KernelParams = tuple[float, float, float]
MOST_SUPPORTS = 1 << 31
BUDGET_OPTIONS = ("budget", "policy")


class Budget(NamedTuple):
    """The most supports that are kept (0: any number), and which one goes (empty: the rule itself decides)."""

    size: int = 0
    policy: str = ""


def check_kernel(kernel: Any, algebra: str | None) -> str:
    if kernel is not None and algebra != "kernel":
        raise BadValue(f'kernel={kernel!r} needs algebra="kernel"')
    if kernel not in (None, *KERNELS):
        raise BadValue(f"kernel must be one of {', '.join(KERNELS)}, not {kernel!r}{suggestion(kernel, KERNELS)}")
    return kernel or "rbf"


def check_kernel_params(kernel: str, rest: dict[str, Any]) -> KernelParams:
    """gamma, coef0 and degree; gamma is 0 where the first row decides it."""
    values = {name: param.default for name, param in KERNEL_PARAMS.items()}
    for name in KERNEL_TAKES.get(kernel, ()):
        param = KERNEL_PARAMS[name]
        given = rest.pop(f"kernel.{name}", rest.pop(name, None if name == "gamma" else param.default))
        values[name] = 0.0 if given is None else param.check(f"kernel {kernel}", name, given)
    return values["gamma"], values["coef0"], values["degree"]


def usual_gamma(kernel: str, values: NDArray[np.float64]) -> float:
    """The gamma that follows from the values of a row that are not zero: then k of the row and zero is exp(-1)."""
    size = float(np.abs(values).sum() if kernel == "laplacian" else values @ values)
    return min(1.0 / size, sys.float_info.max) if size > 0.0 else 1.0


def check_budget(card: RuleCard, algebra: str | None, numbers: Mapping[str, float], budget: Any, policy: Any) -> Budget:
    """The budget of a learner. A rule with a budget of its own decides itself which support goes."""
    if "budget" in numbers:
        if policy is not None:
            raise BadValue(f"{card.name} decides itself which support it gives up; leave policy out")
        return Budget(int(numbers["budget"]))
    if budget is None:
        if policy is not None:
            raise BadValue(f"policy={policy!r} needs budget=, the most supports that are kept")
        return Budget()
    if algebra != "kernel":
        raise BadValue(f'budget={budget!r} needs algebra="kernel": only kernel learners keep supports')
    if isinstance(budget, bool) or not isinstance(budget, (int, float)) or not 1 <= budget < MOST_SUPPORTS:
        raise BadValue(f"budget must be a whole number of at least 1, not {budget!r}")
    if int(budget) != budget:
        raise BadValue(f"budget must be a whole number, not {budget!r}")
    policy = "oldest" if policy is None else policy
    if policy not in POLICIES:
        known = f"policy must be one of {', '.join(POLICIES)}, not {policy!r}"
        raise BadValue(f"{known}{suggestion(policy, POLICIES)}")
    ordered = sorted(verb.name for verb in card.verbs if verb.name in ("append", "votes", "remove_support"))
    if ordered:
        raise BadValue(f"{card.name} needs all its supports ({', '.join(ordered)}), so it cannot have a budget")
    return Budget(int(budget), policy)
