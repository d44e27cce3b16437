"""Fingerprints of code: a hash of bytecode and of everything it reaches, by which compiled functions are cached.

A fingerprint covers the instructions, constants and names of a function, and in turn of the functions, verb
implementations, classes and constants it names. Docstrings, comments, annotations, line numbers and file names do not
count: editing them, or moving a function to another file, does not change a fingerprint. (Annotations of functions
inside functions do count: they are part of the outer one's bytecode.)
"""

import dis
import hashlib
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib.util import find_spec
from types import CodeType, FunctionType, MappingProxyType, ModuleType
from typing import Any, Protocol, cast

import numpy as np

from noregret.algebra.verbs import HELPERS, REASSOCIATED, Verb

HAS_CONSTANT = frozenset(dis.hasconst)
EXTENDED = dis.opmap["EXTENDED_ARG"]
ANNOTATIONS = ("__annotate__", "__annotate_func__")  # code that computes annotations, from Python 3.14 on
EXTERNAL = {"numpy", "scipy", "numba", "math"}  # packages whose functions are known by name and version
NO_BINDINGS: Mapping[str, Any] = MappingProxyType({})


class Digest(Protocol):
    """What hashlib returns."""

    def update(self, data: bytes, /) -> None: ...

    def hexdigest(self) -> str: ...


def fingerprint(
    functions: Iterable[Callable[..., Any]],
    types: Iterable[type] = (),
    options: object = None,
    bindings: Mapping[str, Any] = NO_BINDINGS,
) -> str:
    """Hash functions with all they reach, and options.

    `types` are the types of the values the functions will be given: of a verb only the implementations for these, and
    for the classes that the code names, count. `bindings` replace globals of these names in every function.
    """
    walk = Walk(types, bindings)
    walk.write(repr(options))
    for function in functions:
        walk.write(walk.describe(function))
    walk.follow_verbs()
    return walk.digest.hexdigest()


class Walk:
    """A walk over functions and what they name, each visited once and known by its number from then on."""

    def __init__(self, types: Iterable[type], bindings: Mapping[str, Any]) -> None:
        self.digest: Digest = hashlib.sha256()
        self.types = {object, np.ndarray, *types}
        self.bindings = bindings
        self.functions: dict[FunctionType, int] = {}
        self.verbs: dict[Verb, set[tuple[type, ...]]] = {}

    def write(self, text: str) -> None:
        self.digest.update(text.encode() + b"\n")

    def describe(self, thing: object) -> str:
        """A short description of a global; functions and classes are visited when they are first met."""
        if not isinstance(thing, (ModuleType, type)):
            thing = getattr(thing, "py_func", thing)  # a function that its author compiled
            thing = getattr(thing, "rule", thing)  # a card
        if isinstance(thing, Verb):
            self.verbs.setdefault(thing, set())
            return f"verb {thing.name}"
        if isinstance(thing, FunctionType) and (thing.__module__ or "").partition(".")[0] not in EXTERNAL:
            return f"function {self.visit(thing)}"
        if isinstance(thing, type):
            self.types.add(thing)
            return f"class {thing.__qualname__} {getattr(thing, '_fields', ())}"
        return describe_constant(thing)

    def visit(self, function: FunctionType) -> int:
        """The number of a function; at its first visit it is written into the digest."""
        if function in self.functions:
            return self.functions[function]
        number = self.functions[function] = len(self.functions)
        code, outside = function.__code__, function.__globals__
        cells = [cell.cell_contents for cell in function.__closure__ or ()]
        defaults = (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).items())
        kind = (function in HELPERS, function in REASSOCIATED)
        self.write(f"{number} {digest_code(code)} {kind} {list(map(self.describe, (*defaults, *cells)))}")
        for name in names_in(code):
            if name in self.bindings or name in outside:
                thing = self.bindings.get(name, outside.get(name))
                self.write(f"{number} {name} {self.describe(thing)}")
                if isinstance(thing, ModuleType):
                    self.follow_module(number, thing, code)
        return number

    def follow_module(self, number: int, module: ModuleType, code: CodeType) -> None:
        """What a function may name of a module that it names."""
        external = module.__name__.partition(".")[0] in EXTERNAL
        for name in names_in(code):
            if name in vars(module) or (not external and hasattr(module, name)):
                self.write(f"{number} {module.__name__}.{name} {self.describe(getattr(module, name))}")

    def follow_verbs(self) -> None:
        """Visit the implementations of verbs for the types met so far, until these lead to nothing new."""
        size = -1
        while size != (size := len(self.types) + len(self.verbs) + sum(map(len, self.verbs.values()))):
            for verb, visited in list(self.verbs.items()):
                for pattern, implementation in verb.table.items():
                    if pattern not in visited and self.types.issuperset(pattern):
                        visited.add(pattern)
                        names = [kind.__qualname__ for kind in pattern]
                        self.write(f"{verb.name} {names} {self.describe(implementation)}")


def describe_constant(thing: object) -> str:
    """A constant by its value, as compiled code would contain it; anything else by its name or its type."""
    if isinstance(thing, np.ndarray):
        return f"array {thing.dtype} {thing.shape} {hashlib.sha256(thing.tobytes()).hexdigest()}"
    if isinstance(thing, frozenset):
        return f"set {sorted(map(describe_constant, thing))}"
    if isinstance(thing, tuple):
        return f"{type(thing).__qualname__} {list(map(describe_constant, thing))}"
    if isinstance(thing, CodeType):
        return f"code {digest_code(thing)}"
    if thing is None or thing is ... or isinstance(thing, (bool, int, float, complex, str, bytes, np.generic)):
        return f"{type(thing).__qualname__} {thing!r}"
    name = getattr(thing, "__qualname__", getattr(thing, "__name__", type(thing).__qualname__))
    return f"{type(thing).__qualname__} {getattr(thing, '__module__', '')} {name}"


def names_in(code: CodeType) -> Iterable[str]:
    """The names in a code object and in the code objects inside it, such as comprehensions, in order."""
    names = dict.fromkeys(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names |= dict.fromkeys(names_in(constant))
    return names


@cache
def digest_code(code: CodeType) -> str:
    """A hash of one code object, and of those inside it.

    Instructions refer to constants by number, and a docstring is one of the constants: so the constants that are used
    are hashed in the order of their use, and their numbers are left out.
    """
    operations, arguments = code.co_code[::2], bytearray(code.co_code[1::2])
    constants = []
    for at in [at for at, operation in enumerate(operations) if operation in HAS_CONSTANT]:
        number, before = arguments[at], 1
        while operations[at - before] == EXTENDED:
            number |= arguments[at - before] << 8 * before
            before += 1
        constants.append(describe_constant(code.co_consts[number]))
        arguments[at] = 0
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    rest = (constants, code.co_names, names, code.co_freevars, code.co_cellvars, code.co_argcount, code.co_flags & 0xFF)
    parts = (operations, arguments, code.co_exceptiontable, repr(rest).encode())
    return hashlib.sha256(b"|".join(parts)).hexdigest()


@cache
def digest_module(name: str) -> str:
    """A hash of the functions and numbers of a module, without importing it."""
    spec = find_spec(name)
    assert spec is not None
    code = cast(Any, spec.loader).get_code(name)
    digest = hashlib.sha256()
    for constant in constants_of(code):
        digest.update(constant.encode() + b"\n")
    return digest.hexdigest()


def constants_of(code: CodeType) -> Iterable[str]:
    """The functions and the numbers of a module or class, in order; other constants may belong to annotations."""
    for constant in code.co_consts:
        if not isinstance(constant, CodeType):
            if isinstance(constant, (bool, int, float)):
                yield describe_constant(constant)
        elif constant.co_flags & 1:  # a function's: its variables have numbers, those of a class have names
            if constant.co_name not in ANNOTATIONS:
                yield digest_code(constant)
        else:
            yield from constants_of(constant)
