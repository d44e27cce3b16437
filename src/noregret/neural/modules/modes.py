"""Training and evaluation mode: modules such as dropout learn in the one and predict in the other.

Of a module that never looks at its mode one pass serves to predict a round and to learn it; others need two.
"""

from types import CodeType, FunctionType
from typing import Any

from noregret.neural.modules.module_file import Module
from noregret.neural.modules.tensors import Tensor, load_torch

Modes = list[tuple[Any, bool]]  # every part of a module, and whether it is in training mode


class Watched:
    """Stands for the mode of a module, and notes when somebody looks."""

    def __init__(self) -> None:
        self.seen = False

    def __bool__(self) -> bool:
        self.seen = True
        return False


def list_modes(module: Module) -> Modes:
    """The mode of every part as it is."""
    return [(part, part.training) for part in module.modules()]


def set_modes(modes: Modes) -> None:
    """Bring every part into a mode."""
    for part, mode in modes:
        part.training = mode


def learning_modes(module: Module) -> Modes:
    """The modes to learn in: as given, so that parts in evaluation mode stay frozen; training, where all is frozen."""
    before = list_modes(module)
    if not module.training:
        module.train()
    found = list_modes(module)
    set_modes(before)
    return found


def predicting_modes(module: Module) -> Modes:
    """The modes to predict in."""
    return [(part, False) for part in module.modules()]


def looks_at_mode(module: Module, x: Tensor) -> bool:
    """Whether a pass depends on the mode: some part looks at it now, or the text of a class of the user's does."""
    if any(mentions_mode(type(part)) for part in module.modules()):
        return True
    before, watched = list_modes(module), Watched()
    try:
        for part, _ in before:
            part.training = watched
        with load_torch().no_grad():
            module(x)
    except Exception:  # torch takes nothing but a truth value for a mode; what else is wrong shows up in a round
        return True
    finally:
        set_modes(before)
    return watched.seen


def mentions_mode(made: type) -> bool:
    """Whether the text of a class that is not torch's own mentions `training`."""
    own = [one for one in made.__mro__ if one.__module__.partition(".")[0] not in ("torch", "builtins")]
    functions = [value for one in own for value in vars(one).values() if isinstance(value, FunctionType)]
    return any(mentions(function.__code__, "training") for function in functions)


def mentions(code: CodeType, name: str) -> bool:
    """Whether a text, or one inside it, uses a name."""
    return name in code.co_names or any(mentions(one, name) for one in code.co_consts if isinstance(one, CodeType))
