"""The tests named for a learner: which they are, and whether a test really concerns it."""

import ast
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
LIST = Path(__file__).with_name("tests.toml")


@dataclass(frozen=True)
class Named:
    """The tests of a learner, each as the path of its file, two colons and its name."""

    one_step: tuple[str, ...]
    theorem: tuple[str, ...]


def named(path: Path = LIST) -> dict[str, Named]:
    """The hand-kept list, by learner."""
    entries = tomllib.loads(path.read_text(encoding="utf-8"))
    return {name: Named(tuple(one["one_step"]), tuple(one["theorem"])) for name, one in entries.items()}


@cache
def defined(file: Path) -> dict[str, ast.stmt]:
    """What a module defines at its top, by name."""
    found: dict[str, ast.stmt] = {}
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found[node.name] = node
        elif isinstance(node, ast.Assign):
            found.update({one.id: node for one in node.targets if isinstance(one, ast.Name)})
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found[node.target.id] = node
    return found


def reached(file: Path, test: str) -> Iterator[ast.stmt]:
    """A test with its parameters, then everything of its module that it leads to."""
    known, waiting, seen = defined(file), [test], set[str]()
    while waiting:
        name = waiting.pop()
        if name in seen or name not in known:
            continue
        seen.add(name)
        yield known[name]
        waiting += [one.id for one in ast.walk(known[name]) if isinstance(one, ast.Name)]


def fault(test: str, learner: str, root: Path = ROOT) -> str:
    """What is wrong with a test named for a learner; nothing if it is there and says the learner's name."""
    path, _, name = test.partition("::")
    file = root / path
    if not file.is_file():
        return f"{learner}: there is no file {path}"
    if not name.startswith("test_") or not isinstance(defined(file).get(name), ast.FunctionDef):
        return f"{learner}: there is no test {name} in {path}"
    words = (one for part in reached(file, name) for one in ast.walk(part) if isinstance(one, ast.Constant))
    return "" if any(one.value == learner for one in words) else f"{learner}: {test} does not name it"
