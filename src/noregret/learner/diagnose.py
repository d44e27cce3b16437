"""Blame: what went wrong in a call that was undone, found on copies: which round, which line of the rule."""

from typing import TYPE_CHECKING, Any

import numpy as np

from noregret.errors import BadValue, Error
from noregret.learner.transaction import Overflow, RuleRaised, Transaction

if TYPE_CHECKING:
    from noregret.learner.rule_learner import Learner


def overflow(learner: "Learner", X: Any, y: Any, weight: Any) -> BadValue:
    """Find the round that broke, by trying ever shorter prefixes on copies."""
    X, h = sliceable(X), spread(weight, len(y))
    borders = learner.task_object.borders(y)
    good, bad = 0, len(borders) - 1
    while bad - good > 1:
        middle = (good + bad) // 2
        stop = borders[middle]
        try:
            Transaction(learner.copy(), X[:stop], y[:stop], h and h[:stop], checked=True).run()
            good = middle
        except Overflow:
            bad = middle
    return BadValue(
        f"round {learner.rounds + bad} (row {borders[bad] - 1} of this call): a weight or a score is no longer finite; "
        "nothing of this call was learned. Scale the features, or take smaller steps",
        row=borders[bad] - 1,
    )


def rule_error(learner: "Learner", X: Any, y: Any, weight: Any, counted: int) -> Exception:
    """Meet the error again in plain Python, where it can be located."""
    trial = learner.copy()
    trial.interpret()
    X, h = sliceable(X), spread(weight, len(y))
    rounds = 0 if learner.state is None else int(learner.state.n.t)
    borders = learner.task_object.borders(y)
    first = max(counted - rounds - 1, 0) if len(borders) > len(y) else 0  # a rule may see a list several times
    try:
        if first:
            trial = learner.copy()
            trial.learn(X[:first], y[:first], h and h[:first])
            trial.interpret()
        for t in range(first, len(borders) - 1):
            first, some = t, slice(borders[t], borders[t + 1])
            call = Transaction(trial, X[some], y[some], h and h[some], checked=True)
            call.run()
            trial.classes_before, trial.class_counts = len(trial.labels), call.class_counts
    except Overflow:
        stop = borders[first + 1]
        return overflow(learner, X[:stop], y[:stop], h and h[:stop])
    except Error as error:
        return error
    except RuleRaised as error:
        return told_of(learner, error.__cause__ or error, learner.rounds + first + 1)
    return BadValue(
        f"rule {learner.card.name} raised an error in compiled code that plain Python does not show; "
        "does every path return True or False?"
    )


def told_of(learner: "Learner", error: BaseException, round_number: int) -> Error:
    """An error that a rule raised, with the file and line where it did."""
    files = {function.__code__.co_filename for function in learner.card.functions()}
    where, trace = "", error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename in files:
            where = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}: "
        trace = trace.tb_next
    return Error(f"{where}rule {learner.card.name} raised {type(error).__name__}: {error} in round {round_number}")


def sliceable(X: Any) -> Any:
    """Rows of which some can be taken: not every sparse matrix allows that."""
    return X.tocsr() if hasattr(X, "tocsr") else X


def spread(weight: Any, rows: int) -> list[float] | None:
    """A weight for every row, or None when all weigh the same."""
    return None if weight is None else np.broadcast_to(np.asarray(weight, float), (rows,)).tolist()
