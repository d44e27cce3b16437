"""Probing: run a margin rule on a few margins, to see when it updates."""

import contextlib
import sys
from collections.abc import Callable, Hashable, Iterator
from functools import cache
from typing import Any, Protocol

from noregret.errors import BadValue
from noregret.rules.names import AlgebraName, RuleKind
from noregret.rules.parameters import Choice, Param, bindings
from noregret.rules.row_size import with_size
from noregret.rules.specialize import rebind, specializer
from noregret.state.growth import bank_of, make
from noregret.state.space import Shape, Space, enlarge

MARGINS = (-1.0, 0.999, 1.0, 1.5)


class Probed(Hashable, Protocol):
    """What of a rule's card is needed to run it."""

    @property
    def name(self) -> str: ...
    @property
    def kind(self) -> RuleKind: ...
    @property
    def rule(self) -> Callable[..., Any]: ...
    @property
    def numbers(self) -> dict[str, Param]: ...
    @property
    def choices(self) -> dict[str, Choice]: ...
    @property
    def defaults(self) -> dict[str, str]: ...
    @property
    def parameters(self) -> Any: ...
    @property
    def algebras(self) -> tuple[AlgebraName, ...]: ...
    def state_shape(self, average: int | None, chosen: tuple[tuple[str, str], ...] = ()) -> Shape: ...


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Run something that no debugger stops in, whatever breakpoints it has."""
    hook, trace = sys.breakpointhook, sys.gettrace()
    sys.breakpointhook = lambda *_, **__: None
    sys.settrace(None)
    try:
        yield
    finally:
        sys.breakpointhook = hook
        sys.settrace(trace)


def begin_with_weights(shape: Shape) -> tuple[Any, Any]:
    """A fresh state and an example in the reference algebra."""
    import numpy as np

    from noregret.algebra.reference import ReferenceExample

    return make(shape, Space("reference", features=2, room=2)), ReferenceExample(np.array([1.0, -2.0]), 2, 1)


def begin_with_kernel(shape: Shape) -> tuple[Any, Any]:
    """A fresh state and an example in the kernel algebra."""
    import numpy as np

    from noregret.algebra.internal_verbs import row
    from noregret.algebra.kernel import KernelRows

    s = make(shape, enlarge(Space("kernel", kernel="linear"), 2, 1, 4, 8))
    rows = KernelRows(np.array([0, 2]), np.array([0, 1], np.uint32), np.array([1.0, -2.0]), 1, bank_of(s))
    return s, row(rows, 0)


@cache
def probe(card: Probed, share: float = 1.0, chosen: tuple[tuple[str, str], ...] | None = None) -> tuple[Any, ...]:
    """What a margin rule returns on some margins in the reference algebra; () if it raises an error.

    Its numbers are the defaults or, with a share below 1, lie between the lower limits and the defaults. A rule that
    keeps examples instead of weights is run with a kernel.
    """
    options = card.defaults if chosen is None else dict(chosen)
    rule = specializer(bindings(card.choices, options), rebind, "probe")(card.rule)
    shape = card.state_shape(None, tuple(options.items()))
    begin = begin_with_kernel if card.algebras == ("kernel",) else begin_with_weights

    def run(margin: float) -> Any:
        p = card.parameters(*[param.between(share) for param in card.numbers.values()] or [0.0])
        s, z = begin(shape)
        s.n.t = 1.0
        return rule(with_size(p, 1.0), s, z, margin)

    try:
        with undisturbed():
            return tuple(map(run, MARGINS))
    except Exception:  # the error is reported, with its line, when a learner of this rule plays
        return ()


def is_loss_driven(card: Probed, chosen: tuple[tuple[str, str], ...] | None = None) -> bool:
    """Whether a margin rule updates just below margin 1 and not from there on, whatever its numbers: probed."""
    runs = [probe(card, share, chosen) for share in (1.0, 0.5)]
    return all([bool(updated) for updated in run[1:]] == [True, False, False] for run in runs)


def require_update_flag(card: Probed) -> None:
    """A margin rule must return True when it changed the state and False when it did not; updates are counted by it."""
    if card.kind == "margin" and None in probe(card):
        code = card.rule.__code__
        raise BadValue(
            f"{code.co_filename}:{code.co_firstlineno}: rule {card.name} returns nothing on some rounds; "
            "it must return True when it changed the state, and False when it did not"
        )
