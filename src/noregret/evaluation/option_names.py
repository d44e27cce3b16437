"""Names of keyword arguments: one that nothing takes is an error that names the one that was probably meant."""

from collections.abc import Iterable, Mapping
from typing import Any

from noregret.errors import BadValue, find_closest
from noregret.evaluation.play import READING
from noregret.learner.kernel_options import BUDGET_OPTIONS, KERNEL_PARAMS
from noregret.learner.registry import load_cards
from noregret.rules.registry import RESERVED
from noregret.tasks import TASKS


def refuse_misspelt(function: str, given: Mapping[str, Any], own: Iterable[str], learners: object = ()) -> None:
    """Refuse an option that neither a function, a source nor any learner takes, if one of the first two is close.

    Whatever is not close to any goes to the learners, which refuse it with a list of what they take. `learner` is an
    option of learners that are made of others; without `learners` it is a misspelling.
    """
    own = tuple(own)
    if learners is None and "learner" in given:
        raise BadValue(f"{function} has no option 'learner'; did you mean 'learners'?")
    cards, tasks = load_cards().values(), TASKS.values()
    known = {*own, *READING, *RESERVED, *KERNEL_PARAMS, *BUDGET_OPTIONS}
    known |= {name for card in cards for name in card.params}
    known |= {name for task in tasks for name in (*task.params, *task.options)}
    for name in given:
        close = None if name in known else find_closest(name, [*own, *sorted(READING)])
        if close is not None:
            raise BadValue(f"{function} has no option {name!r}; did you mean {close!r}?")
