"""A card as text: what the command line and `help` show of a learner, and how to make one."""

import inspect
import json
import textwrap
from collections.abc import Iterator

from noregret.rules.card import Card
from noregret.rules.parameters import Choice, Component, Param, Parameter
from noregret.rules.registry import RESERVED
from noregret.rules.rule_card import RuleCard
from noregret.tasks import TASKS

WIDE = 100
CALIBRATED = "scores are calibrated on those of past rounds"
COVARIANCE = (
    "With many classes every class has a Gaussian of its own. An update with step kappa adds kappa x x' to the "
    "precisions of the right class and of its rival: all of it (covariance=full) or its diagonal (diagonal). So both "
    "agree on rows of one feature, and precisions of merged learners add; what couples two classes is left out. "
    "covariance=drop updates the covariance of both classes together and keeps its diagonal."
)


def describe_card(card: Card) -> str:
    """A card as text, with an example for the command line."""
    command = getattr(getattr(card, "factory", None), "command_line", "noregret learn DATA --learner {name}")
    example = f"{command.format(name=card.name)} --save {card.name}.nr"
    if not any(TASKS[task].from_source for task in card.tasks if task in TASKS):
        example = f'nr.make("{card.name}") in Python: its rounds are not rows of a table'
    return "\n".join([*lines_of(card), "", example]) + "\n"


def help_text(card: Card) -> str:
    """What `help` shows of a card: the same in lines of a readable length, and how to make a learner in Python."""
    wrapped = [part for line in lines_of(card) for part in wrap(line)]
    shared = "shared by all learners: see help(nr.make)" if isinstance(card, RuleCard) else ""
    return "\n".join([*wrapped, *([f"options     {shared}"] if shared else []), "", *example_lines(card)]) + "\n"


def lines_of(card: Card) -> Iterator[str]:
    yield f"{card.name}: {card.about}"
    yield ""
    if details := details_of(card):
        yield from (*details, "")
    yield f"paper       {card.paper}"
    yield f"plays       {', '.join(card.tasks)}"
    if card.algebras:
        yield f"in          {', '.join(card.algebras)}"
    for number, (name, param) in enumerate(card.params.items()):
        search = f"; search {param.search_text}" if param.search_text else ""
        text = f"{name} = {param.default_text}; {param.limits}; {param.about}{search}"
        yield f"{'parameters' if number == 0 else '':12}{text}"
    if not card.params:
        yield "parameters  none"
    for guarantee in card.guarantees:
        yield f"theorem     {guarantee.says}"
        yield f"            when {guarantee.condition}"
    yield f"weights     {'supported' if card.supports_weights else 'not supported: all rounds count the same'}"
    if (how := describe_probabilities(card)) is not None:
        yield f"proba       {how}"
    yield f"merging     {card.merge.law}: {card.merge.how}"


def wrap(line: str) -> list[str]:
    """A long line as several; those after the first are indented as the table of the card is."""
    indent = 12 if line.startswith(" ") or line[10:12] == "  " else 0
    return textwrap.wrap(line, WIDE, subsequent_indent=" " * indent, break_long_words=False) or [""]


def example_lines(card: Card) -> Iterator[str]:
    """How to make a learner of the card: with the defaults written out, unless it is made of other learners."""
    if not isinstance(card, RuleCard):
        options = getattr(card, "options", ())
        plain = all(isinstance(param, (Param, Choice)) for param in card.params.values())
        if card.needs or not plain or not set(options) <= set(RESERVED):
            named = "".join(f", {name}=..." for name in (*card.params, *options))
            yield f'example     learner = nr.make("{card.name}"{named})'
            return
        if options:
            yield f"options     {', '.join(options)}: see help(nr.make)"
    given = "".join(f", {name}={default_code(param)}" for name, param in card.params.items())
    if isinstance(card, RuleCard) and all(
        TASKS[task].needs_classes is not None for task in card.tasks if task in TASKS
    ):
        given = f', classes=["a", "b"]{given}'
    yield "example     import noregret as nr"
    yield from wrap_code(f'learner = nr.make("{card.name}"{given})')
    if isinstance(card, RuleCard) and "binary" in card.tasks:
        yield f"{'':12}learner.learn([[1.0, 0.0], [0.0, 1.0]], [1, -1]).predict_one([1.0, 0.0])"


def wrap_code(code: str) -> list[str]:
    """A call in lines of a readable length."""
    return textwrap.wrap(code, WIDE, initial_indent=" " * 12, subsequent_indent=" " * 30, break_long_words=False,
                         break_on_hyphens=False)  # fmt: skip


def default_code(param: Parameter) -> str:
    """A default as Python code."""
    if isinstance(param, (Choice, Component)):
        default = param.default
        return json.dumps(default if isinstance(default, str) else list(default))
    return f"{param.default:g}"


def details_of(card: Card) -> list[str]:
    """What a card says beyond its first line: paragraphs of the rule's docstring, and what covariances mean."""
    doc = inspect.getdoc(getattr(card, "rule", None)) or ""
    found = [" ".join(paragraph.split()) for paragraph in doc.split("\n\n")[1:]]
    return [*found, COVARIANCE] if getattr(card, "keeps_covariance", False) else found


def describe_probabilities(card: Card) -> str | None:
    """Where the probabilities of classes come from; None where there are none."""
    if not isinstance(card, RuleCard) or all(TASKS[task].no_probabilities is not None for task in card.tasks):
        return None
    loss = card.choices.get("loss")
    if loss is None or "logistic" not in loss.among:
        return CALIBRATED
    many = "; with loss=softmax, the softmax of the scores" if "multiclass" in card.tasks else ""
    if loss.default == "logistic":
        return f"of two classes, scores are log-odds; otherwise {CALIBRATED}{many}"
    return f"{CALIBRATED}; with loss=logistic and two classes, scores are log-odds{many}"
