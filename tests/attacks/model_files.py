"""One mutated model file: either it is refused, or the learner in it works like any other."""

import math
from functools import cache
from typing import Any

import numpy as np

import noregret as nr
from noregret.decomposition.base import UnsupervisedLearner
from noregret.learner.model_file import Arrays, Header, pack, unpack
from tests.attacks.mutations import mutate
from tests.attacks.victim import Victim
from tests.attacks.victims import OF_THE_CALLER, VICTIMS

NAMES = list(VICTIMS)
INSIDE = ("IndexError", "ZeroDivisionError", "TypeError", "compiled code")  # what no rule may raise


@cache
def saved(name: str, native: bool) -> tuple[Header, Arrays]:
    """The contents of a victim's file."""
    learner = VICTIMS[name].learned(native)
    header, arrays = learner.dump()
    return {"kind": learner.kind, **header}, arrays


def attack(number: int, native: bool) -> str:
    """Change the file of one victim, load it and use it; "refused" or "loaded", else an AssertionError says what."""
    name = NAMES[number % len(NAMES)]
    what, content = mutate(*saved(name, native), number, native)
    try:
        outcome = use(VICTIMS[name], content)
    except Exception as error:
        raise AssertionError(f"model file {number} ({name}: {what}): {type(error).__name__}: {error}") from error
    assert outcome in ("refused", "loaded"), f"model file {number} ({name}: {what}): {outcome}"
    return outcome


def use(victim: Victim, content: bytes) -> str:
    try:
        learner = unpack(content, "m.nr", features=OF_THE_CALLER)
    except nr.Error as error:
        text = str(error)
        return "refused" if text.startswith("m.nr: ") and len(text) < 500 else f"it says {text!r:.200}"
    for step in (predict, learn, learn_one, learn_one, predict, look):
        before = pack(learner)
        try:
            step(learner, victim)
        except nr.Error as error:  # weights of 1e308 overflow: refused, and nothing has changed
            if any(word in str(error) for word in INSIDE):
                return f"{step.__name__}: {error}"
            if pack(learner) != before:
                return f"{step.__name__} was refused and changed the learner"
    packed = pack(learner)
    if not finite(learner):
        return "its weights are not finite"
    again = unpack(packed, "again", features=OF_THE_CALLER)
    return "loaded" if pack(again) == packed else "what was saved is not what is loaded"


def predict(learner: Any, victim: Victim) -> None:
    learner.predict(victim.X[:3])
    learner.predict_one(victim.X[5])


def learn(learner: Any, victim: Victim) -> None:
    query = {} if victim.query is None else {"query": victim.query[12:18]}
    learner.learn(victim.X[12:18], None if victim.y is None else victim.y[12:18], **query)


def learn_one(learner: Any, victim: Victim) -> None:
    if victim.query is None:
        number = 18 + learner.rounds % 3
        learner.learn_one(victim.X[number], None if victim.y is None else victim.y[number])


def look(learner: Any, victim: Victim) -> None:
    learner.copy()
    repr(learner)
    if isinstance(learner, UnsupervisedLearner):
        learner.describe_results()
        learner.transform(victim.X[:3])


def finite(learner: Any) -> bool:
    """Whether all numbers that a learner would save are finite, or missing values in a row that it keeps."""
    header, arrays = learner.dump()
    if getattr(learner, "missing_values", False) and "pending.values" in arrays:
        arrays["pending.values"] = np.nan_to_num(arrays["pending.values"], posinf=np.inf, neginf=-np.inf)
    return all(np.isfinite(array).all() for array in arrays.values()) and finite_numbers(header)


def finite_numbers(value: Any) -> bool:
    if isinstance(value, dict):
        return all(map(finite_numbers, value.values()))
    if isinstance(value, (list, tuple)):
        return all(map(finite_numbers, value))
    return not isinstance(value, float) or math.isfinite(value)


def interpreted(number: int) -> str:
    return attack(number, native=False)


def compiled(number: int) -> str:
    return attack(number, native=True)
