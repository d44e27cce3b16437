"""Variants of learners as text: the one parser and the one writer.

    pa1                                     a learner with its default parameters
    pa1(C=0.1)                              with options of `make`: numbers, words, true or false
    pa1@rbf                                 with a kernel
    pa1(C=0.1)@rbf(gamma=0.5, budget=100)   with the parameters of the kernel, budget and policy

Races, pools, searches, the command line, reports and model files name learners in this way. What is written is
canonical: only what differs from the defaults, in the order of the card, numbers in their shortest form.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from noregret.errors import BadValue, shown
from noregret.learner.kernel_options import BUDGET_OPTIONS, KERNEL_PARAMS, KERNEL_TAKES, usual_kernel
from noregret.learner.named import made_with
from noregret.rules.card import Card
from noregret.rules.method_card import MethodCard
from noregret.rules.parameters import Choice, Component, Param, suggestion
from noregret.rules.registry import RESERVED
from noregret.rules.rule_card import RuleCard
from noregret.tasks import TASKS

Find: TypeAlias = Callable[[Any], Card]  # the card of a name
OPENING, CLOSING = "([{", ")]}"
WORD = re.compile(r"""[^\W\d][^\s()\[\]{}'",@]*""")
CHOSEN = re.compile(r"""[^\s()\[\]{}'",@]+""")  # a choice may begin with a digit: layers=100-50
USUAL = {
    "bias": False, "scale": False, "columns": "fixed", "covariance": "diagonal", "seed": 0,
    "average": False, "policy": "oldest", "coef0": KERNEL_PARAMS["coef0"].default,
    "degree": KERNEL_PARAMS["degree"].default, "p": KERNEL_PARAMS["p"].default,
}  # fmt: skip
"""The defaults of options that are on no card. gamma has none: the first row decides it."""
NEUTRAL = ("native", "gram")  # what does not change what is learned, and the matrix of a precomputed kernel
SHARED = ("task", "native", "seed", "transforms", "scale", "bias", "bits", "columns", "reads", "classes",
          "class_weight", "cost")  # fmt: skip
"""Options that the learners of a race or a pool usually have in common: a name has them only where it must."""


@dataclass(frozen=True, eq=False, repr=False)
class Variant:
    """A card with options of `make`. Two are equal where their canonical names are."""

    card: Card
    options: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return write(self.card, self.options)

    def __repr__(self) -> str:
        return f"<variant {self}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Variant) and self.card is other.card and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def add(self, more: Mapping[str, Any], where: str) -> "Variant":
        """This variant with more options; one that it has already is an error."""
        for name in more:
            if name in self.options:
                raise BadValue(f"{self.card.name}: {name} is given twice, in {str(self)!r} and {where}")
        return Variant(self.card, {**self.options, **more})


# ---- reading --------------------------------------------------------------------------------------------------------


def split_names(text: str) -> list[str]:
    """The names in a text with commas between them; commas in brackets separate options."""
    parts, depth, start = [], 0, 0
    for place, letter in enumerate(text):
        depth = max(0, depth + (letter in OPENING) - (letter in CLOSING))
        if letter == "," and depth == 0:
            parts.append(text[start:place])
            start = place + 1
    return [part.strip() for part in (*parts, text[start:]) if part.strip()]


def as_variant(part: Any, find: Find) -> Variant:
    """The variant that a text, a card, or one of these with a dict of options stands for."""
    if isinstance(part, Variant):
        return part
    if isinstance(part, str):
        return parse(part, find)
    if isinstance(part, (tuple, list)):
        if len(part) != 2 or not isinstance(part[1], Mapping):
            raise BadValue(
                f"a learner is given by name, as a rule, or as a name with its parameters, not as {shown(part)}"
            )
        return as_variant(part[0], find).add(part[1], "beside it")
    return Variant(find(part), {})


def find_bar(text: str) -> int | None:
    """Where the first | stands that is not within brackets nor in the name of a file; None where there is none."""
    depth = 0
    for place in range(file_length(text), len(text)):
        depth += (text[place] in OPENING) - (text[place] in CLOSING)
        if text[place] == "|" and depth == 0:
            return place
    return None


def parse(text: str, find: Find) -> Variant:
    """The variant that a text names; `find` gives the card of a name, or an error where there is none.

    `svd(rank=10) | arow` is a learner behind a decomposition, as in Python.
    """
    if (bar := find_bar(text)) is not None:
        if not text[:bar].strip() or not text[bar + 1 :].strip():
            raise BadValue(
                f"{text!r}: a decomposition stands before |, and a learner after it, as in svd(rank=10) | arow"
            )
        text = f"decomposed(decomposition={text[:bar].strip()}, learner={text[bar + 1 :].strip()})"
    place = re.search(r"[(@]", text[(start := file_length(text)) :])
    end = len(text) if place is None else start + place.start()
    name, rest = text[:end].strip(), text[end:].strip()
    if not name or name[start:].endswith(tuple(CLOSING)):
        wrong = "a bracket is closed that is not open" if name else "there is no name before the bracket"
        raise BadValue(f"{text!r}: {wrong}; write NAME(option=value)@KERNEL(option=value)")
    card = find(name)
    own, rest = cut_brackets(text, name, rest)
    options = {key: read_value(text, card, key, value, find) for key, value in read_pairs(text, own)}
    for key in options:
        check_option(text, card, key)
    if not rest:
        return Variant(card, options)
    if not rest.startswith("@"):
        raise BadValue(f"{text!r}: {shown(rest)} after the brackets; write NAME(option=value)@KERNEL(option=value)")
    kernel, bracket, _ = rest[1:].partition("(")
    inside, more = cut_brackets(text, kernel, rest[1 + len(kernel) :] if bracket else "")
    if more:
        raise BadValue(f"{text!r}: {shown(more)} after the kernel; write NAME(option=value)@KERNEL(option=value)")
    kernel_options = read_kernel(text, card, kernel.strip(), read_pairs(text, inside))
    return Variant(card, options).add(kernel_options, "after @")


def file_length(text: str) -> int:
    """How much of a text is the file of FILE.py:RULE."""
    found = re.match(r".*\.py:", text)
    return 0 if found is None else found.end()


def cut_brackets(text: str, name: str, rest: str) -> tuple[str, str]:
    """What stands in the brackets at the beginning, if there are any, and what comes after them."""
    if not rest.startswith("("):
        return "", rest
    depth = 0
    for place, letter in enumerate(rest):
        depth += (letter in OPENING) - (letter in CLOSING)
        if depth == 0:
            return rest[1:place], rest[place + 1 :].strip()
    raise BadValue(f"{text!r}: the bracket after {name.strip()} is not closed; write {name.strip()}(option=value)")


def read_pairs(text: str, inside: str) -> Iterable[tuple[str, str]]:
    """The options in brackets, each a name and the text of its value."""
    seen = set()
    for part in split_names(inside):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not name or not value:
            raise BadValue(f"{text!r}: {part!r} is not an option; write NAME=VALUE, as in C=0.1 or loss=logistic")
        if name in seen:
            raise BadValue(f"{text!r}: {name} is given twice")
        seen.add(name)
        yield name, value


def read_value(text: str, card: Card, name: str, value: str, find: Find) -> Any:
    """A number, true or false, a word, or of a learner inside another its name."""
    if isinstance(card.params.get(name), Component):
        return str(parse(value, find))
    if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
        value = value[1:-1]
    found = parse_value(value)
    pattern = CHOSEN if isinstance(card.params.get(name), Choice) else WORD
    if isinstance(found, str) and not pattern.fullmatch(found):
        raise BadValue(f"{text!r}: {name}={value}: a value is a number, a word, true or false; "
                       f'give other values as nr.make("{card.name}", {name}=...)')  # fmt: skip
    return found


def parse_value(text: str) -> bool | int | float | str:
    """A number, true or false, or a word; nan is a word, as no parameter takes it as a number."""
    text = text.strip()
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    if text.lower() == "nan":
        return text
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def check_option(text: str, card: Card, name: str) -> None:
    """Refuse an option that a card does not take, with the one that was probably meant."""
    known = [*card.params]
    if isinstance(card, MethodCard):
        known += [one for one in (*card.options, "task") if one not in known]
    else:
        known += [one for task in card.tasks for one in (*TASKS[task].params, *TASKS[task].options)]
        known += [*RESERVED, *KERNEL_PARAMS, *BUDGET_OPTIONS]
    if name.removeprefix("task.").removeprefix("kernel.") not in known:
        takes = ", ".join([*card.params, *(card.options if isinstance(card, MethodCard) else ())])
        close = suggestion(name, known) or f"; it takes {takes}, and the options of nr.make"
        raise BadValue(f"{text!r}: {card.name} has no option {name!r}{close}")


def read_kernel(text: str, card: Card, kernel: str, pairs: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """The options of `make` that a kernel with its parameters stands for."""
    if not isinstance(card, RuleCard):
        raise BadValue(f"{text!r}: {card.name} takes no kernel after @; `noregret learners {card.name}` shows what "
                       "it takes")  # fmt: skip
    if kernel not in KERNEL_TAKES:
        there = f"there is no kernel {kernel!r}" if kernel else "no kernel is named after @"
        known = f"There are {', '.join(KERNEL_TAKES)}"
        raise BadValue(f"{text!r}: {there}{suggestion(kernel, KERNEL_TAKES) or '.'} {known}")
    options: dict[str, Any] = {"algebra": "kernel", "kernel": kernel}
    takes = (*KERNEL_TAKES[kernel], *BUDGET_OPTIONS)
    for name, value in pairs:
        if name not in takes:
            raise BadValue(f"{text!r}: the kernel {kernel} has no parameter {name!r}{suggestion(name, takes) or '.'} "
                           f"After @ it takes {', '.join(takes)}")  # fmt: skip
        found = parse_value(value)
        if not (WORD.fullmatch(found) if isinstance(found, str) else name != "policy"):
            raise BadValue(f"{text!r}: {name}={value}: {name} must be a {'word' if name == 'policy' else 'number'}")
        options[f"kernel.{name}" if name in card.params and name not in BUDGET_OPTIONS else name] = found
    return options


# ---- writing --------------------------------------------------------------------------------------------------------


def write(card: Card, options: Mapping[str, Any], task: str | None = None) -> str:
    """The canonical name of a card with these options.

    What is the default in the task, or in all tasks where none is known, is left out.
    """
    rest = {plain_name(card, name): plain_value(card, name, value) for name, value in options.items()}
    rest = {name: value for name, value in rest.items() if value is not None and name not in NEUTRAL}
    kernel, of_kernel = take_kernel(card, rest)
    task = rest.get("task", task)
    own = {name: value for name, value in rest.items() if not is_default(card, name, value, task)}
    text = card.name + in_brackets(own, option_order(card, task))
    if kernel is None:
        return text
    of_kernel = {name: value for name, value in of_kernel.items() if not is_default(card, name, value, task, True)}
    return f"{text}@{kernel}{in_brackets(of_kernel, (*KERNEL_PARAMS, *BUDGET_OPTIONS))}"


def plain_name(card: Card, name: str) -> str:
    """The name of an option without its owner, where no other option of the card has the name."""
    short = name.removeprefix("task.").removeprefix("kernel.")
    return name if short in card.params else short


def plain_value(card: Card, name: str, value: Any) -> Any:
    """A value as it is written: numpy's numbers as plain ones, yes or no for a choice between these."""
    value = value.item() if hasattr(value, "dtype") and getattr(value, "shape", None) == () else value
    param = card.params.get(name)
    if isinstance(param, Choice) and isinstance(value, bool) and {"yes", "no"} == set(param.among):
        return "yes" if value else "no"
    return value


def take_kernel(card: Card, rest: dict[str, Any]) -> tuple[str | None, dict[str, Any]]:
    """The name of the kernel and its options, which are taken out; None where there is none, or it is the usual one."""
    only = isinstance(card, RuleCard) and card.algebras == ("kernel",)
    algebra = rest.get("algebra")
    if not isinstance(card, RuleCard) or (algebra != "kernel" and not (algebra is None and only)):
        return None, {}
    usual = usual_kernel(card) if algebra is None else "rbf"
    kernel = rest.pop("kernel", None) or usual
    rest.pop("algebra", None)
    own = [name for name in KERNEL_PARAMS if (name in rest and name not in card.params) or f"kernel.{name}" in rest]
    if only and kernel == usual_kernel(card) and not own:
        return None, {}
    found = {}
    for name in (*KERNEL_PARAMS, *BUDGET_OPTIONS):
        key = f"kernel.{name}" if f"kernel.{name}" in rest else name
        if key in rest and (key not in card.params or key in BUDGET_OPTIONS):
            found[name] = rest.pop(key)
    return value_text(kernel), found


def is_default(card: Card, name: str, value: Any, task: str | None, of_kernel: bool = False) -> bool:
    """Whether an option has its default value: in the task, or in all tasks where none is known."""
    param = None if of_kernel and name in KERNEL_PARAMS else card.params.get(name)
    if isinstance(param, Param):
        if param.measured is None:
            return same(value, param.default)
        return task in TASKS and same(value, TASKS[task].default_number(param))
    if isinstance(param, Choice):
        if name == "loss" and isinstance(card, RuleCard):
            return task in TASKS and same(value, TASKS[task].default_option(name, param))
        return same(value, param.default)
    if param is not None:
        return same(value, param.default)
    if name in USUAL:
        return same(value, USUAL[name])
    short = name.removeprefix("task.")
    tasks = [one for one in TASKS.values() if task in (None, one.name)]
    defaults: list[Any] = [one.params[short].default for one in tasks if short in one.params]
    defaults += [one.options[short].default for one in tasks if short in one.options]
    return bool(defaults) and all(same(value, default) for default in defaults)


def same(value: Any, default: Any) -> bool:
    """Whether a value is the default; True and 1 are different."""
    kinds = (bool, int, float, str)
    return isinstance(value, kinds) and isinstance(value, bool) == isinstance(default, bool) and value == default


def option_order(card: Card, task: str | None) -> tuple[str, ...]:
    """The order in which options are written: those of the card, of the task, then those of all learners."""
    tasks = [TASKS[task]] if task in TASKS else list(TASKS.values())
    return (*card.params, *(name for one in tasks for name in (*one.params, *one.options)), *RESERVED)


def in_brackets(options: Mapping[str, Any], order: tuple[str, ...]) -> str:
    """Options in brackets, in a fixed order; nothing where there are none."""
    places = {name: place for place, name in reversed(list(enumerate(order)))}
    names = sorted(options, key=lambda name: (places.get(name, len(order)), name))
    return f"({', '.join(f'{name}={value_text(options[name])}' for name in names)})" if names else ""


def value_text(value: Any) -> str:
    """A value in the name of a variant; of a learner, a detector or a function its name."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return number_text(value)
    if isinstance(value, Mapping) and "name" in value:
        return str(value["name"])
    return str(getattr(value, "__name__", value))


def number_text(value: float) -> str:
    """A number in its shortest form that reads back as the same number: 1, 0.01, 1e-5."""
    digits, _, power = repr(value).partition("e")
    digits = "0" if value == 0 else digits.removesuffix(".0")
    return f"{digits}e{int(power)}" if power else digits


# ---- names of learners ----------------------------------------------------------------------------------------------


def name_learner(learner: Any, named: Iterable[str] = (), whole: bool = False) -> str:
    """The canonical name of a learner, by the options it was made with.

    Options that learners usually share, such as `bias`, are in the name only where they are `named`, or with `whole`.
    """
    config, named = getattr(learner, "config", None), set(named)
    if config is None:
        own = getattr(learner, "variant_options", None) or getattr(learner, "params", {})
        return write(learner.card, {name: value for name, value in own.items() if name in learner.card.params})
    given = {name: value for name, value in made_with(config).items() if whole or name in named or name not in SHARED}
    return write(learner.card, given, config.task.name)


def head_of(name: str) -> str:
    """The name of the learner without its options and its kernel."""
    return re.split("[(@#]", name)[0]


def find_named(name: str, names: Iterable[str]) -> int:
    """The place of a name among canonical ones; the name of a learner alone finds it where it is the only one."""
    listed = list(names)
    found = [place for place, one in enumerate(listed) if one == name]
    found = found or [place for place, one in enumerate(listed) if head_of(one) == name]
    if len(found) != 1:
        raise KeyError(name)
    return found[0]
