"""The supports of a kernel learner: its kernel as in use, the rows it keeps and their coefficients."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.algebra.kernel import Expansion
from noregret.algebra.scaled import Scaled
from noregret.errors import BadValue
from noregret.learner.kernel_options import KERNEL_TAKES, SPECTRUM
from noregret.learner.model import Model
from noregret.state.bank_rows import read_rows

CONSTANT = "(constant)"
Floats = NDArray[np.float64]


class Support(NamedTuple):
    """A row that a kernel learner keeps, with its coefficient in the score; a dict by class where there are many."""

    row: dict[Any, float]
    coefficient: Any


class KernelUse(NamedTuple):
    """The kernel of a learner with its parameters, the number of supports, and the budget (0: none) with its policy."""

    kernel: str
    parameters: dict[str, float]
    supports: int
    budget: int
    policy: str

    @property
    def text(self) -> str:
        """In words: the kernel, the supports and how many there may be."""
        numbers = ", ".join(f"{name} = {value:.6g}" for name, value in self.parameters.items())
        count = f"{self.supports:,} support{'' if self.supports == 1 else 's'}"
        most = f" of at most {self.budget:,}" if self.budget else ""
        most += f" (policy {self.policy})" if self.policy else ""
        return f"{self.kernel}{f' ({numbers})' if numbers else ''}, {count}{most}"


def describe_kernel(model: Model) -> KernelUse | None:
    """How a learner uses a kernel; None where it has none. A gamma that the first row decides is the one decided."""
    config = model.config
    if model.algebra != "kernel":
        return None
    shape = config.kernel_params if model.space is None else model.known_space.shape
    named = dict(zip(("gamma", "coef0", "p" if config.kernel == SPECTRUM else "degree"), shape, strict=True))
    takes = {name: named[name] for name in KERNEL_TAKES.get(config.kernel, ()) if named[name] or model.space}
    count = 0 if model.arrays is None else int(model.bank.n[0])
    return KernelUse(str(config.kernel), takes, count, config.budget.size, config.budget.policy)


def read_supports(model: Model, count: int | None = None) -> list[Support]:
    """The supports, those with the largest coefficients first."""
    if model.algebra != "kernel":
        raise BadValue(f'{model.card.name} has no supports: it was not made with algebra="kernel"')
    coefficients = read_coefficients(model)
    rows = read_rows(model.bank)
    names = [CONSTANT] * model.config.bias + model.feature_names()
    order = np.argsort(-np.abs(coefficients).max(axis=1), kind="stable")[:count]
    found = []
    for place in order.tolist():
        cells = range(int(rows.start[place]), int(rows.start[place + 1]))
        row = {names[rows.idx[cell]]: float(rows.val[cell]) for cell in cells}
        own = coefficients[place].tolist()
        labels = model.labels.order
        found.append(Support(row, dict(zip(labels, own, strict=False)) if model.task.many else own[0]))
    return found


def read_coefficients(model: Model) -> Floats:
    """The coefficients that are trained, supports in rows: one, or where there are many classes one for each."""
    w, factor = model.arrays.w, 1.0
    while not isinstance(w, Expansion):
        factor *= float(w.n[0]) if isinstance(w, Scaled) else 1.0
        w = w.v
    space = model.known_space
    return factor * np.asarray(w.coef).reshape(-1, space.stride)[: int(model.bank.n[0]), : max(space.classes, 1)]
