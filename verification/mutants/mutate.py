"""Making mutants: one small change in the text of one function, or in the arguments of a card."""

import ast
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from verification.mutants.edits import Change, in_function

HOOKS = ("score", "weight", "final", "weight_param", "check")


@dataclass(frozen=True)
class Mutant:
    """A file with one change: where it is, what it was, what it is now."""

    file: Path
    owner: str  # the function, the constant, or the card whose keyword is dropped
    kind: str
    line: int
    was: str
    now: str
    source: str
    nth: int = 1  # of the mutants of this function that read the same

    def __str__(self) -> str:
        return f"{self.file.name}:{self.line} {self.owner}: {self.was}  ->  {self.now or '(dropped)'}"


class Text:
    """A source file that knows its lines and where its functions, constants and cards stand."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.source = file.read_text(encoding="utf-8")
        self.lines = self.source.encode().splitlines(keepends=True)
        self.functions: dict[str, ast.FunctionDef] = {}
        self.constants: dict[str, ast.expr] = {}
        for node in ast.parse(self.source).body:
            if isinstance(node, ast.FunctionDef):
                self.functions[node.name] = node
            elif isinstance(node, ast.ClassDef):
                inner = (one for one in node.body if isinstance(one, ast.FunctionDef) and not is_setter(one))
                self.functions.update({f"{node.name}.{one.name}": one for one in inner})
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and is_number(node.value):
                self.constants[node.targets[0].id] = node.value

    def mutant(self, owner: str, change: Change) -> Mutant:
        """The file with a change in it."""
        node = change.node
        first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
        head = self.lines[first][: node.col_offset]
        tail = self.lines[last][node.end_col_offset :]
        if not change.text and tail.startswith(b","):
            tail = tail[1:]
        put = head + unwrapped(change.text, head, tail).encode() + tail
        whole = b"".join([*self.lines[:first], put, *self.lines[last + 1 :]]).decode()
        was = b" ".join(line.strip() for line in self.lines[first : last + 1]).decode()
        now = " ".join(line.strip() for line in put.decode().splitlines())
        return Mutant(self.file, owner, change.kind, node.lineno, was, now, whole)


def is_setter(function: ast.FunctionDef) -> bool:
    """Whether it sets a property, whose name stands for what reads it."""
    return any(isinstance(one, ast.Attribute) and one.attr == "setter" for one in function.decorator_list)


def is_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, float)


def changed(node: ast.expr) -> Change:
    """A limit far out is no limit any more; anything else is doubled."""
    number = ast.literal_eval(node)
    other = "1e999" if number > 1e9 else "0.0" if 0.0 < number < 1e-6 else repr(2.0 * number)
    return Change("constant", node, other)


def unwrapped(inner: str, head: bytes, tail: bytes) -> str:
    """Without brackets of its own where it already stands in some."""
    bracketed = inner.startswith("(") and inner.endswith(")") and head.endswith(b"(") and tail.startswith(b")")
    return inner[1:-1] if bracketed and closes_last(inner) else inner


def closes_last(inner: str) -> bool:
    """Whether the first bracket is closed by the last one."""
    depth = 0
    for place, letter in enumerate(inner):
        depth += (letter == "(") - (letter == ")")
        if depth == 0:
            return place == len(inner) - 1
    return False


@cache
def text(file: Path) -> Text:
    return Text(file)


@cache
def of_owner(file: Path, owner: str) -> list[Mutant]:
    """The mutants of one function, with its card if it is a rule, or of one constant.

    Two changes that come to the same text are one mutant.
    """
    here = text(file)
    if owner in here.constants:
        return [here.mutant(owner, changed(here.constants[owner]))]
    function = here.functions[owner]
    made = [here.mutant(owner, change) for change in (*in_function(function), *in_card(function))]
    seen: Counter[tuple[str, str]] = Counter()
    found = []
    for one in sorted({one.source: one for one in made}.values(), key=lambda one: one.line):
        seen[one.was, one.now] += 1
        found.append(replace(one, nth=seen[one.was, one.now]))
    return found


def mutants(file: Path, owners: Collection[str] | None = None) -> list[Mutant]:
    """Every mutant of these functions and constants, and of the cards of these rules; of all, if none are named."""
    here = text(file)
    known = [*here.functions, *here.constants]
    return [one for owner in known if owners is None or owner in owners for one in of_owner(file, owner)]


def in_card(function: ast.FunctionDef) -> Iterator[Change]:
    """Changes of the arguments of a rule's decorator: a hook left out, a counter that starts elsewhere."""
    for call in function.decorator_list:
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or not call.func.id.endswith("_rule"):
            continue
        for given in call.keywords:
            if given.arg in HOOKS and not (isinstance(given.value, ast.Constant) and not given.value.value):
                yield Change("hook", given, "")
            elif given.arg == "counters" and isinstance(given.value, ast.Dict):
                for value in filter(is_number, given.value.values):
                    yield Change("constant", value, repr(ast.literal_eval(value) + 1.0))
