"""How long the text of each rule is: its body, without decorator, docstring, comments and blank lines."""

import ast
import inspect
import statistics
import textwrap
from collections.abc import Callable

import noregret
from benchmarks.measure import Row

TITLE = "Lines of each rule"


def body_lines(rule: Callable[..., object]) -> int:
    """The lines a reader of the rule reads."""
    text = textwrap.dedent(inspect.getsource(rule))
    function = ast.parse(text).body[0]
    assert isinstance(function, ast.FunctionDef)
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    if not body:
        return 0
    lines = text.splitlines()[body[0].lineno - 1 : function.end_lineno]
    return sum(1 for line in lines if line.strip() and not line.strip().startswith("#"))


def run() -> list[Row]:
    lengths = {card.name: body_lines(card.rule) for card in noregret.learners().rules.values()}
    rows = [Row(name, f"{length} lines", "", length, "lines") for name, length in lengths.items()]
    if lengths:
        middle = statistics.median(lengths.values())
        rows.append(Row(f"median of {len(lengths)}", f"{middle:g} lines", "", middle, "lines"))
    return rows
