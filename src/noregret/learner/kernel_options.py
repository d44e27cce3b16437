"""The kernel of a learner, its parameters and its budget, checked."""

import math
import sys
import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.algebra.given_kernels import Gram
from noregret.algebra.kernel_functions import KERNELS
from noregret.errors import BadValue, shown
from noregret.rules.own_functions import Own, check_own_function
from noregret.rules.parameters import Param, suggestion
from noregret.rules.rule_card import RuleCard
from noregret.tasks.budgets import POLICIES
from noregret.tasks.task import Task

KERNEL_PARAMS = {
    "gamma": Param(
        1.0,
        above=0.0,
        about="how fast the kernel falls with distance, or the factor of the product; by default 1 over the squared "
        "length of the first row, and of the laplacian kernel 1 over its sum of absolute values",
    ),
    "coef0": Param(1.0, at_least=0.0, about="the constant of the polynomial and the sigmoid kernel"),
    "degree": Param(3.0, at_least=1.0, about="the power of the polynomial kernel"),
    "p": Param(3.0, at_least=1.0, at_most=64.0, about="how many bytes are one feature of the spectrum kernel"),
}
KERNEL_TAKES: dict[str, tuple[str, ...]] = {
    "linear": (),
    "polynomial": ("gamma", "coef0", "degree"),
    "rbf": ("gamma",),
    "laplacian": ("gamma",),
    "sigmoid": ("gamma", "coef0"),
    "cosine": (),
    "spectrum": ("p",),
}
KernelParams = tuple[float, float, float]
PRECOMPUTED = "precomputed"
SPECTRUM = "spectrum"
NAMES = (*KERNELS, SPECTRUM, PRECOMPUTED)
OWN = Own(("x", "z"))
UNEVEN = 1e-9  # relative: by how much k(x, z) and k(z, x) may differ
NOT_POSITIVE = (
    "the sigmoid kernel is not positive semidefinite: some matrices of it have negative eigenvalues, and the theorems "
    "of kernel learners do not hold for it (nr.check_mercer looks at a sample)"
)
MOST_SUPPORTS = 1 << 31
BUDGET_OPTIONS = ("budget", "policy")


class Budget(NamedTuple):
    """The most supports that are kept (0: any number), and which one goes (empty: the rule itself decides)."""

    size: int = 0
    policy: str = ""


def check_kernel(kernel: Any, algebra: str | None) -> str:
    if kernel is not None and algebra != "kernel":
        raise BadValue(f'kernel={kernel!r} needs algebra="kernel"')
    if callable(getattr(kernel, "function", kernel)):
        return check_own_function("kernel", OWN, NAMES, kernel)
    if kernel is not None and kernel not in NAMES:
        known = f"kernel must be one of {', '.join(NAMES)}, or {OWN.text}"
        raise BadValue(f"{known}, not {shown(kernel)}{suggestion(kernel, NAMES)}")
    if kernel == "sigmoid":
        warnings.warn(NOT_POSITIVE, stacklevel=2)
    return kernel or "rbf"


def usual_kernel(card: RuleCard) -> str:
    """The kernel of a rule that needs supports, where none is named: x.z if it keeps its steps to vote."""
    return "linear" if any(verb.name == "votes" for verb in card.verbs) else "rbf"


def check_gram(kernel: Any, gram: Any) -> Gram | None:
    """The matrix of a precomputed kernel, checked."""
    if kernel != PRECOMPUTED:
        if gram is not None:
            raise BadValue(f'gram= is for kernel="{PRECOMPUTED}"')
        return None
    if isinstance(gram, Gram):
        return gram
    if gram is None:
        raise BadValue(f'kernel="{PRECOMPUTED}" needs gram=, the matrix of the kernel of all pairs of objects')
    try:
        matrix = np.array(gram, dtype=np.float64)
    except (TypeError, ValueError):
        raise BadValue("gram must be a matrix of numbers") from None
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not matrix.size:
        raise BadValue(f"gram must be a square matrix; it has shape {matrix.shape}")
    bad = np.argwhere(~np.isfinite(matrix))
    if bad.size:
        raise BadValue(f"gram[{bad[0][0]}, {bad[0][1]}] is {matrix[tuple(bad[0])]}; every value must be finite")
    uneven = np.argwhere(np.abs(matrix - matrix.T) > UNEVEN * (1.0 + np.abs(matrix)))
    if uneven.size:
        i, j = uneven[0]
        raise BadValue(f"gram is not symmetric: gram[{i}, {j}] is {matrix[i, j]}, gram[{j}, {i}] is {matrix[j, i]}")
    return Gram(matrix)


def refuse_given_kernel(task: type[Task], options: Mapping[str, Any]) -> None:
    """Refuse what a kernel of the caller cannot serve."""
    if task.needs_query:
        raise BadValue(f"{task.name} needs one of the kernels {', '.join(KERNELS)}")
    if "gram" in options:
        for name in ("bias", "scale", "transforms", "bits"):
            if options.get(name):
                raise BadValue(f"the rows of a precomputed kernel are numbers of objects; leave {name} out")


def check_values(function: Any, rows: NDArray[np.float64]) -> None:
    """Refuse a kernel of the caller that is not finite or not symmetric on a few rows."""
    for s, x in enumerate(rows):
        for t, z in enumerate(rows[: s + 1]):
            found, turned = function(x, z), function(z, x)
            for value in (found, turned):
                if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
                    raise BadValue(f"kernel {function.__name__} of rows {t} and {s} is {shown(value)}, not a number")
            if abs(found - turned) > UNEVEN * (1.0 + abs(found)):
                raise BadValue(
                    f"kernel {function.__name__} is not symmetric: of rows {s} and {t} it is {found}, of {t} and {s} "
                    f"{turned}"
                )


def check_kernel_params(kernel: str, rest: dict[str, Any]) -> KernelParams:
    """gamma, coef0 and degree, or the p of texts; gamma is 0 where the first row decides it."""
    values = {name: param.default for name, param in KERNEL_PARAMS.items()}
    for name in KERNEL_TAKES.get(kernel, ()):
        param = KERNEL_PARAMS[name]
        given = rest.pop(f"kernel.{name}", rest.pop(name, None if name == "gamma" else param.default))
        values[name] = 0.0 if given is None else param.check(f"kernel {kernel}", name, given)
    if values["p"] != int(values["p"]):
        raise BadValue(f"kernel {kernel}: p must be a whole number, not {values['p']:g}")
    return values["gamma"], values["coef0"], values["p"] if kernel == SPECTRUM else values["degree"]


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
