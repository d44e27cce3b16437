"""The closing table as a section of docs/reproductions.md, made from that page, docs/mutants.md and the tests."""

import re
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path

import noregret as nr
from verification.closing.named import ROOT, Named, named
from verification.reproduce.__main__ import BELOW
from verification.reproduce.report import COLUMNS, Result, Row, Table, reproduced, summary

PAGE = ROOT / "docs" / "reproductions.md"
MUTANTS = ROOT / "docs" / "mutants.md"
TWINS = ROOT / "tests" / "naive"
HEAD = ("learner", "twin", "one step", "theorem", "mutants killed", "published results")
ABOUT = """
Every learner has an independent twin, which it follows round by round; tests of one step, in which it solves its
defining problem or keeps its invariant; and tests of its theorem, on streams that meet its conditions (of `adadelta`,
for which no theorem is known, of what bounds its moves). Files of tests are those of `tests/learners`, of twins those
of `tests/naive`. Mutants are small changes made to the rule on purpose, those aside that compute the same: how they
were tried is said in [mutants](mutants.md). The last column counts the rows above.

Written by `make closing` from `verification/closing/tests.toml`, that page and the tables above.
"""


def learner_names() -> list[str]:
    """The names of all learners that come with the library; a user's own rules are not told of here."""
    return sorted(card.name for card in nr.learners().rules.values() if card.built_in)


def cells(line: str) -> list[str]:
    """The cells of a line of a table in Markdown."""
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def tables(text: str) -> Iterator[Table]:
    """The published tables as they stand in the page."""
    title, rows = "", list[Row]()
    for line in [*text.partition(f"\n{BELOW}")[0].splitlines(), "## "]:
        if line.startswith("## "):
            if rows:
                yield Table(title, title.partition(",")[0], "", rows)
            title, rows = line[3:], []
        elif line.startswith("| ") and len(found := cells(line)) == len(COLUMNS) and tuple(found) != COLUMNS:
            rows.append(Row(*found))


def killed(text: str) -> dict[str, str]:
    """By learner, how many mutants were killed of those that could be."""
    found = {}
    for line in text.splitlines():
        if line.startswith("| ") and len(row := cells(line)) == 6 and row[1].isdigit():
            name, mutants, dead, equivalent = row[0], *map(int, row[1:4])
            found[name] = f"{dead} of {mutants - equivalent}"
    return found


def twins() -> dict[str, str]:
    """By learner, the file of its twin."""
    found = {}
    for file in sorted(TWINS.glob("*.py")):
        if not file.stem.startswith(("_", "test_")):
            rules = getattr(import_module(f"tests.naive.{file.stem}"), "RULES", {})
            found.update(dict.fromkeys(rules, file.name))
    return found


def met(results: Iterable[Result]) -> str:
    """What a learner's published results come to: the verdict, how many have which, and who published them."""
    several = list(results)
    if not several:
        return "none published"
    verdicts = [one.verdict for one in several]
    counts = ", ".join(f"{verdicts.count(one)} {one}" for one in dict.fromkeys(sorted(verdicts)))
    return f"{summary(several)}: {', '.join(dict.fromkeys(one.source for one in several))} ({counts})"


def shown(tests: Iterable[str]) -> str:
    return "<br>".join(f"`{test.removeprefix('tests/learners/')}`" for test in tests)


def section(published: str, mutants: str, tests: dict[str, Named]) -> str:
    """The section of the page, with one row for every learner."""
    results, dead, twin = reproduced(tables(published)), killed(mutants), twins()
    lines = [f"{BELOW}\n{ABOUT}", "| " + " | ".join(HEAD) + " |", "|---" * len(HEAD) + "|"]
    for name in learner_names():
        named_here = (shown(tests[name].one_step), shown(tests[name].theorem))
        row = (f"`{name}`", f"`{twin[name]}`", *named_here, dead[name], met(results.get(name, [])))
        lines.append("| " + " | ".join(row) + " |")
    return "\n".join(lines) + "\n"


def page(path: Path = PAGE) -> str:
    """The whole page, its closing section made anew."""
    text = path.read_text(encoding="utf-8")
    above = text.partition(f"\n{BELOW}")[0].rstrip("\n")
    return f"{above}\n\n{section(text, MUTANTS.read_text(encoding='utf-8'), named())}"
