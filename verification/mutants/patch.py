"""Patching the library in this process: the code of a mutant replaces the code it was made from."""

import ast
import sys
from importlib import import_module
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import noregret
from noregret.rules.rule_card import RuleCard
from noregret.rules.specialize import plain_function
from verification.mutants.mutate import Mutant

SOURCE = Path(noregret.__file__).parents[1]


def module_of(file: Path) -> ModuleType:
    parts = file.relative_to(SOURCE).with_suffix("").parts
    return import_module(".".join(parts))


def running_function(module: ModuleType, owner: str) -> FunctionType:
    """The function of this name that the running program calls."""
    thing: Any = module
    for name in owner.split("."):
        thing = vars(thing)[name]
    for wrapper in ("fget", "func", "__func__", "__wrapped__"):  # (cached) properties, static and class methods, caches
        thing = getattr(thing, wrapper, thing)
    found = plain_function(thing)
    assert isinstance(found, FunctionType), owner
    return found


def code_of(source: str, file: Path, owner: str) -> CodeType:
    """The code of a function of a source text, which is not run."""
    code = compile(source, str(file), "exec")
    for name in owner.split("."):
        code = next(one for one in code.co_consts if isinstance(one, CodeType) and one.co_name == name)
    return code


def decorator_arguments(source: str, owner: str) -> dict[str, ast.expr]:
    """The keyword arguments of the decorator of a rule, as written."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef) and node.name == owner:
            calls = (call for call in node.decorator_list if isinstance(call, ast.Call))
            return {one.arg: one.value for call in calls for one in call.keywords if one.arg}
    raise KeyError(owner)


def counters_in(value: ast.expr, module: ModuleType) -> dict[str, float]:
    """The counters that a card declares, as written; a name stands for counters that the module has."""
    if isinstance(value, ast.Name):
        return dict(vars(module)[value.id])
    assert isinstance(value, ast.Dict)
    found: dict[str, float] = {}
    for name, start in zip(value.keys, value.values, strict=True):
        found |= counters_in(start, module) if name is None else {ast.literal_eval(name): ast.literal_eval(start)}
    return found


def install(mutant: Mutant) -> None:
    """Run the mutant in this process from now on."""
    module = module_of(mutant.file)
    thing = vars(module).get(mutant.owner)
    if isinstance(thing, float):
        return set_everywhere(mutant.owner, thing, ast.literal_eval(assigned_value(mutant.source, mutant.owner)))
    function = running_function(module, mutant.owner)
    code = code_of(mutant.source, mutant.file, mutant.owner)
    if not code.co_freevars:  # the statement that is gone was the only one with super()
        code = code.replace(co_freevars=function.__code__.co_freevars)
    function.__code__ = code
    if isinstance(thing, RuleCard):
        now = decorator_arguments(mutant.source, mutant.owner)
        for hook in ("score", "weight", "final", "weight_param", "check"):
            if getattr(thing, hook) and hook not in now:
                object.__setattr__(thing, hook, None)
        if "counters" in now:
            object.__setattr__(thing, "counters", counters_in(now["counters"], module))
        for cached in ("shape", "parameters"):
            vars(thing).pop(cached, None)
        RuleCard.state_shape.cache_clear()


def assigned_value(source: str, name: str) -> ast.expr:
    """The value assigned to a constant, as written."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == name:
            return node.value
    raise KeyError(name)


def set_everywhere(name: str, was: float, now: float) -> None:
    """Change a constant in every module that has imported it."""
    for module in list(sys.modules.values()):
        if getattr(module, name, None) is was:
            setattr(module, name, now)
