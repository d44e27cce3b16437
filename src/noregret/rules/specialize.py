"""Specialization: a copy of a plain function in which some of its globals are replaced."""

import types
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

Copier: TypeAlias = Callable[[Callable[..., Any], str, Mapping[str, Any]], Callable[..., Any]]


def rebind(function: Callable[..., Any], name: str, bindings: Mapping[str, Any]) -> Callable[..., Any]:
    """A copy of a plain function under a name of its own, with some of its globals replaced."""
    code = function.__code__.replace(co_name=name, co_qualname=name)
    copy = types.FunctionType(code, {**function.__globals__, **bindings}, name, function.__defaults__)
    copy.__qualname__ = name
    copy.__module__ = function.__module__
    return copy


def plain_function(thing: Any) -> Callable[..., Any] | None:
    """The plain function that a thing is or, as a card, carries; None for anything else."""
    thing = getattr(thing, "rule", thing)
    return thing if isinstance(thing, types.FunctionType) else None


def specializer(
    options: Mapping[str, Any], copier: Copier, tag: str
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A function that copies functions with their options bound, and likewise the plain functions they call."""
    copies: dict[Callable[..., Any], Callable[..., Any]] = {}

    def specialize(function: Callable[..., Any]) -> Callable[..., Any]:
        if function not in copies:
            called = {name: function.__globals__.get(name) for name in function.__code__.co_names}
            inner: dict[str, Any] = {}
            for name, thing in called.items():
                plain = plain_function(thing)
                if name not in options and plain is not None and thing is not function:
                    inner[name] = specialize(plain)
            for name, option in options.items():
                if name in called:
                    inner[name] = specialize(option) if isinstance(option, types.FunctionType) else option
            copies[function] = copier(function, f"{function.__name__}_{tag}", inner)
        return copies[function]

    return specialize
