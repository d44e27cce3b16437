"""Diagnose a call that failed and was undone, on copies: which round overflowed, which line of the rule raised."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noregret.data.blocks import Rows, convert_sparse
from noregret.data.inputs import LabelsLike, RowsLike, WeightsLike
from noregret.errors import BadValue, Error
from noregret.learner.change import Change
from noregret.learner.encode import encode_rows
from noregret.learner.engine import Loops
from noregret.learner.model import Model
from noregret.learner.transaction import Overflow, RuleRaised, Transaction

FITTING = 1e100  # products of larger values may overflow, so that a built-in rule cannot go on


class Trial:
    """A copy of a model on which rounds can be tried."""

    def __init__(self, model: Model) -> None:
        self.model, self.loops = model.copy(), Loops()
        self.loops.bind(self.model)

    def interpret(self) -> None:
        """Run the rule's text in plain Python from now on."""
        self.model.config = replace(self.model.config, native=False)
        self.loops.bind(self.model)

    def run(self, X: RowsLike, y: LabelsLike, weight: WeightsLike) -> None:
        Transaction(self.model, self.loops, X, y, weight).run(Change())


def check_scores(scores: NDArray[np.float64]) -> None:
    """Raise an error for a row whose score is not finite, as learning it does."""
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(scores.sum()) or np.isfinite(scores).all():
            return
    row = int(np.argmax(~np.isfinite(scores).reshape(len(scores), -1).all(axis=1)))
    raise BadValue(f"row {row}: the score is not finite: the values are too large; scale the features", row=row)


def find_overflow(model: Model, X: RowsLike, y: LabelsLike, weight: WeightsLike) -> BadValue:
    """Find the round that overflowed, by trying ever shorter prefixes on copies."""
    X, h = sliceable(X), weight_list(weight, len(y))
    boundaries = model.task.boundaries(y)
    good, bad = 0, len(boundaries) - 1
    while bad - good > 1:
        middle = (good + bad) // 2
        stop = boundaries[middle]
        try:
            Trial(model).run(X[:stop], y[:stop], h and h[:stop])
            good = middle
        except Overflow:
            bad = middle
    return overflow_error(model, bad, boundaries[bad] - 1)


def overflow_error(model: Model, number: int, row: int) -> BadValue:
    """The error of a round that overflowed: that of so many rounds of the call, at this row of it."""
    return BadValue(
        f"round {model.rounds + number} (row {row} of this call): a weight or a score is no longer finite;"
        " nothing of this call was learned. Scale the features, or take smaller steps",
        row=row,
    )


def find_rule_error(model: Model, X: RowsLike, y: LabelsLike, weight: WeightsLike, counted: int) -> Exception:
    """Meet the error again in plain Python, where it can be located; the rule had counted so many rounds."""
    X, h = sliceable(X), weight_list(weight, len(y))
    rounds = 0 if model.arrays is None else int(model.arrays.n.t)
    boundaries: Sequence[int] = model.task.boundaries(y)
    first = max(counted - rounds - 1, 0) if len(boundaries) > len(y) else 0  # a rule may see a list several times
    trial = Trial(model)
    try:
        if first:
            trial.run(X[:first], y[:first], h and h[:first])
        trial.interpret()
        for t in range(first, len(boundaries) - 1):
            first, some = t, slice(boundaries[t], boundaries[t + 1])
            trial.run(X[some], y[some], h and h[some])
    except Overflow:
        stop = boundaries[first + 1]
        return find_overflow(model, X[:stop], y[:stop], h and h[:stop])
    except Error as error:
        return error
    except RuleRaised as error:
        if model.card.built_in and largest_value(model, X[some]) > FITTING:
            return overflow_error(model, first + 1, boundaries[first + 1] - 1)
        return locate_error(model, error.__cause__ or error, model.rounds + first + 1)
    return BadValue(
        f"rule {model.card.name} raised an error in compiled code that plain Python does not show; "
        "does every path return True or False?"
    )


def largest_value(model: Model, X: RowsLike) -> float:
    """The largest absolute value of some rows."""
    return float(np.abs(encode_rows(model.copy(), X, grow=True, include_unknown=True).val).max(initial=0.0))


def locate_error(model: Model, error: BaseException, round_number: int) -> Error:
    """An error that a rule, or a function given as its option, raised, with the file and line where it did."""
    card = model.card
    own = model.config.own_functions
    files = {function.__code__.co_filename for function in [*card.functions(), *own]}
    where, trace = "", error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename in files:
            where = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}: "
        trace = trace.tb_next
    return Error(f"{where}rule {card.name} raised {type(error).__name__}: {error} in round {round_number}")


def sliceable(X: RowsLike) -> Any:
    """Rows that can be sliced: not every sparse matrix can, and scipy slices none that another thread changes."""
    return Rows(convert_sparse(X)) if hasattr(X, "tocsr") else X


def weight_list(weight: WeightsLike, rows: int) -> list[float] | None:
    """A weight for every row, or None when all weigh the same."""
    return None if weight is None else np.broadcast_to(np.asarray(weight, float), (rows,)).tolist()
