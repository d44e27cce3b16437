"""What `help` and an editor show of `make` and of each learner."""

import inspect
import pydoc
import re

import pytest

import noregret as nr
from noregret.rules.registry import RESERVED


def helped(thing: object) -> str:
    """What `help` prints."""
    return pydoc.plain(pydoc.render_doc(thing))


def test_make_has_a_signature_with_every_shared_option() -> None:
    shared = inspect.signature(nr.make).parameters
    assert next(iter(shared)) == "rule"
    assert set(shared) == {"rule", *RESERVED, "params"}
    said = helped(nr.make)
    assert all(re.search(rf"^ +{name} ", said, re.MULTILINE) for name in RESERVED)


def test_only_given_options_are_recorded() -> None:
    assert dict(nr.make("arow", r=2.0).config.given) == {"r": 2.0}


def test_help_of_a_learner_says_what_a_user_needs() -> None:
    said = helped(nr.learners()["arow"])
    for part in ("arow: Adaptive regularization", "NIPS 2009", "r = 1; above 0; regularization", "binary, multiclass",
                 "help(nr.make)", 'learner = nr.make("arow", r=1, random_start=0)'):  # fmt: skip
        assert part in said
    assert "__setattr__" not in said
    assert max(map(len, said.splitlines())) < 120


def test_help_of_an_adapter_names_what_it_takes() -> None:
    assert 'nr.make("delayed", learner=..., room=...)' in helped(nr.learners()["delayed"])


BUILT_IN = [card for card in nr.learners() if card.built_in]
RULES = [card.name for card in BUILT_IN if isinstance(card, nr.RuleCard)]


@pytest.mark.parametrize("name", RULES)
def test_the_example_of_every_rule_runs(name: str) -> None:
    example = (nr.learners()[name].__doc__ or "").partition("\nexample ")[2]
    code = inspect.cleandoc(example.replace("\n" + " " * 30, " "))
    code = code.replace(f'nr.make("{name}"', f'nr.make("{name}", native=False')
    made: dict[str, object] = {}
    exec(compile(code, name, "exec"), made)
    assert made["learner"].card.name == name  # type: ignore[attr-defined]


NAMES = [card.name for card in BUILT_IN if card.name not in RULES]
EXAMPLES = [name for name in NAMES if "\nexample     import noregret" in str(nr.learners()[name].__doc__)]


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_example_of_every_method_with_defaults_runs(name: str) -> None:
    example = (nr.learners()[name].__doc__ or "").partition("\nexample ")[2]
    made: dict[str, object] = {}
    exec(compile(inspect.cleandoc(example.replace("\n" + " " * 30, " ")), name, "exec"), made)
    assert made["learner"].card.name == name  # type: ignore[attr-defined]


def test_learners_without_labels_have_such_examples() -> None:
    assert {"svd", "kmeans", "lda", "factorisation"} <= set(EXAMPLES)
