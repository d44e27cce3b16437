"""Texts: plain functions as material. A copy of one can have its globals bound to other things than the original."""

import types
from collections.abc import Callable, Mapping
from typing import Any

Maker = Callable[[Callable[..., Any], str, Mapping[str, Any]], Callable[..., Any]]


def rebound(function: Callable[..., Any], name: str, bindings: Mapping[str, Any]) -> Callable[..., Any]:
    """A copy of a plain function under a name of its own, with some of its globals replaced."""
    code = function.__code__.replace(co_name=name, co_qualname=name)
    copy = types.FunctionType(code, {**function.__globals__, **bindings}, name, function.__defaults__)
    copy.__qualname__ = name
    copy.__module__ = function.__module__
    return copy


def plain_text(thing: Any) -> Callable[..., Any] | None:
    """The plain function that a thing is or, as a card, carries; None for anything else."""
    thing = getattr(thing, "rule", thing)
    return thing if isinstance(thing, types.FunctionType) else None


def grafting(options: Mapping[str, Any], maker: Maker, tag: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """What makes copies of functions with their options bound, and of the plain functions these call likewise."""
    made: dict[Callable[..., Any], Callable[..., Any]] = {}

    def graft(function: Callable[..., Any]) -> Callable[..., Any]:
        if function not in made:
            called = {name: function.__globals__.get(name) for name in function.__code__.co_names}
            inner: dict[str, Any] = {}
            for name, thing in called.items():
                text = plain_text(thing)
                if name not in options and text is not None and thing is not function:
                    inner[name] = graft(text)
            for name, option in options.items():
                if name in called:
                    inner[name] = graft(option) if isinstance(option, types.FunctionType) else option
            made[function] = maker(function, f"{function.__name__}_{tag}", inner)
        return made[function]

    return graft
