"""A page of sections: each is a snippet a user could have written, and a table of what it computed."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np


class Row(NamedTuple):
    """What is shown, the expression that computes it after the snippet has run, and what was printed elsewhere."""

    what: str
    expression: str
    printed: Any = None


@dataclass(frozen=True)
class Section:
    """A title, some words, a snippet and the table of its results."""

    title: str
    about: str
    code: str
    rows: tuple[Row, ...]


class Result(NamedTuple):
    """A row whose expression was computed."""

    what: str
    printed: Any
    computed: Any


def computed(preface: str, section: Section) -> list[Result]:
    """Run the snippet of a section, after that of its page, and compute its table."""
    names: dict[str, Any] = {"__name__": "snippet"}
    for code in (preface, section.code):
        exec(compile(code, section.title, "exec"), names)
    return [Result(row.what, row.printed, eval(row.expression, names)) for row in section.rows]


def agrees(result: Result) -> bool:
    """Whether what was printed, six digits where there are so many, is what is computed."""
    if isinstance(result.printed, (str, bool)):
        return bool(result.printed == result.computed)
    found, expected = np.asarray(result.computed, dtype=float), np.asarray(result.printed, dtype=float)
    return found.shape == expected.shape and bool(np.allclose(found, expected, rtol=0.0, atol=1e-6))


def shown(value: Any) -> str:
    """A number with up to six digits, a list of them in brackets, anything else as it is."""
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value.replace("|", "\\|")
    if isinstance(value, (list, tuple, np.ndarray)):
        return "(" + ", ".join(shown(item) for item in value) + ")"
    number = round(float(value), 6) + 0.0
    return f"{number:.6f}".rstrip("0").rstrip(".")


def table(results: Sequence[Result]) -> str:
    """The results as a table; what was printed has a column where it is known."""
    told = any(result.printed is not None for result in results)
    head = ["", "printed", "computed"] if told else ["", "computed"]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for result in results:
        cells = [
            shown(result.what),
            shown(result.printed) if result.printed is not None else "",
            shown(result.computed),
        ]
        lines.append("| " + " | ".join(cells if told else [cells[0], cells[2]]) + " |")
    return "\n".join(lines)


def page(head: str, preface: str, sections: Sequence[Section], tail: str = "") -> str:
    """The page as Markdown, everything on it computed now."""
    parts = [head.strip(), f"```python\n{preface.strip()}\n```"]
    for section in sections:
        about = textwrap.fill(" ".join(section.about.split()), 120)
        parts += [f"## {section.title}", about, f"```python\n{section.code.strip()}\n```"]
        parts += [table(computed(preface, section))] if section.rows else []
    return "\n\n".join([*parts, *([tail.strip()] if tail else [])]) + "\n"
