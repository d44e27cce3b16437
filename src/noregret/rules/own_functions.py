"""Functions of the caller as options: plain Python, bound into a rule's code like the options that come with it."""

import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn, Self

from noregret.errors import BadValue, shown


@dataclass(frozen=True)
class Own:
    """How an option can be a function of the caller: what it takes and, where options take other things, its caller.

    `through` is a plain function with the arguments of an option; its global name `binds` becomes the function.
    """

    takes: tuple[str, ...]
    through: Callable[..., Any] | None = None
    binds: str = ""

    @property
    def text(self) -> str:
        return f"a function ({', '.join(self.takes)}) of your own"


class OwnFunction(str):
    """The name of a caller's function, with the function: an option like other names, equal only to itself."""

    function: Any  # a plain function

    def __new__(cls, function: types.FunctionType) -> Self:
        new = super().__new__(cls, function.__name__)
        new.function = function
        return new

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OwnFunction) and self.function is other.function

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self.function)

    def __repr__(self) -> str:
        return str(self)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: Any) -> Self:
        return self

    def __reduce__(self) -> Any:
        return OwnFunction, (self.function,)


def check_own_function(who: str, own: Own, taken: Any, given: Any) -> OwnFunction:
    """The function as an option; an error says why it cannot be compiled into a rule. Names of options are taken."""
    function = getattr(given, "function", given)
    code = getattr(function, "__code__", None)

    def refuse(problem: str) -> NoReturn:
        where = "" if code is None else f"{code.co_filename}:{code.co_firstlineno}: "
        raise BadValue(f"{where}{who} must be {own.text}; {problem}")

    if not isinstance(function, types.FunctionType):
        refuse(f"{shown(function)} is not a plain Python function")
    code, name = function.__code__, function.__name__
    arguments = code.co_varnames[: code.co_argcount]
    if len(arguments) != len(own.takes) or code.co_kwonlyargcount or code.co_flags & 0x0C:
        refuse(f"{name} takes ({', '.join(arguments)})")
    if not name.isidentifier():
        refuse("it needs a name of its own, by which a saved learner can ask for it")
    if name in taken:
        refuse(f"{name!r} is the name of an option that comes with the rule; choose another")
    if code.co_freevars:
        refuse(f"{name} uses {', '.join(code.co_freevars)} of the function around it, not a constant of its module")
    return OwnFunction(function)
