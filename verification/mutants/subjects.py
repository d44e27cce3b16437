"""The subjects of mutants: a learner with everything its card uses, or a file that all learners use."""

import dis
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Any

import noregret as nr
from noregret.rules.losses import Loss
from noregret.rules.specialize import plain_function
from verification.mutants.mutate import Mutant, mutants, text
from verification.mutants.shared_files import FILES

ROOT = Path(__file__).parents[2]
EVERY = tuple(f"tests/conformance/test_{name}.py" for name in ("twins", "weights", "bounds", "borders"))
FAMILIES = "tests/learners"
ELSEWHERE = frozenset({"dense", "reference", "kernel"})  # a rule is the same text in every algebra
ELSEWHERE_RUN = ("rate", "entry", "place_arrays")  # stands for the schedule of a learner; run compiled only


@dataclass(frozen=True)
class Subject:
    """A learner or a file: its mutants, and where its tests are found."""

    name: str
    title: str
    mutants: tuple[Mutant, ...]
    files: tuple[str, ...]
    names: tuple[str, ...]  # tests in tests/conformance are its own if they name one of these
    rule: Any = field(default=None, compare=False)
    algebras: frozenset[str] = frozenset()  # beside the sparse one, where alone a rule is tried that can play there

    def may_own(self, test: str) -> bool:
        """Whether a test could be one of its own, by its name alone."""
        file, _, rest = test.partition("::")
        if file not in EVERY:
            return file in self.files
        words = set(re.findall(r"\w+", rest.partition("[")[2]))
        return bool(words & set(self.names)) and not words & ELSEWHERE - self.algebras


def functions_of(card: nr.RuleCard) -> Iterator[FunctionType]:
    """The rule, its hooks, its options, its bounds and its check."""
    options = (one for choice in card.choices.values() for one in choice.among.values() if not isinstance(one, Loss))
    callers = (choice.own.through for choice in card.choices.values() if choice.own is not None)
    theorems = [function for one in card.guarantees for function in (one.bound, one.requires)]
    for one in (*card.functions(), *options, *callers, *theorems, card.check):
        if isinstance(one, FunctionType):
            yield one


def global_names(function: FunctionType) -> set[str]:
    """What a function takes from its module; p.eta is no function eta."""
    return {str(one.argval) for one in dis.get_instructions(function) if one.opname == "LOAD_GLOBAL"}


def reached(card: nr.RuleCard) -> dict[Path, set[str]]:
    """Functions and constants in the files of learners that a card leads to."""
    found: dict[Path, set[str]] = {}
    waiting, seen = list(functions_of(card)), set[Any]()
    while waiting:
        one = waiting.pop()
        if one in seen or not one.__module__.startswith("noregret.learners."):
            continue
        seen.add(one)
        file = Path(inspect.getsourcefile(one) or "")
        found.setdefault(file, set()).add(one.__name__)
        for name in global_names(one):
            thing = plain_function(one.__globals__.get(name))
            if isinstance(thing, FunctionType):
                waiting.append(thing)
            elif name in text(file).constants:
                found[file].add(name)
    return found


def elsewhere(card: nr.RuleCard) -> frozenset[str]:
    return frozenset() if "sparse" in card.algebras else frozenset(card.algebras)


def learner(card: nr.RuleCard) -> Subject:
    changed = [one for file, owners in reached(card).items() for one in mutants(file, owners)]
    quoted = f'"{card.name}"'
    families = [
        file.relative_to(ROOT).as_posix()
        for file in sorted((ROOT / FAMILIES).glob("test_*.py"))
        if quoted in file.read_text(encoding="utf-8")
    ]
    return Subject(card.name, card.name, tuple(changed), tuple(families), (card.name,), card.rule, elsewhere(card))


def shared(name: str) -> Subject:
    module, files, names = FILES[name]
    file = Path(import_module(module).__file__ or "")
    made = [one for one in mutants(file) if one.owner not in ELSEWHERE_RUN]
    if module.startswith("noregret.tasks."):
        made = [one for one in made if "." not in one.owner]  # the rounds; the methods of a task code labels
    return Subject(name, file.relative_to(ROOT / "src/noregret").as_posix(), tuple(made), files, names)


def subjects() -> Mapping[str, Callable[[], Subject]]:
    """All there are, each made when it is asked for."""
    cards = [card for card in nr.learners().rules.values() if card.module.startswith("noregret.learners.")]
    learners = {card.name: (lambda card=card: learner(card)) for card in cards}
    return {**learners, **{name: (lambda name=name: shared(name)) for name in FILES}}
