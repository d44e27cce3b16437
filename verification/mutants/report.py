"""Report the outcome of the mutants: live on a terminal, as plain lines in a pipe, and as a page of the docs."""

from collections.abc import Sequence
from datetime import date
from typing import Any, TextIO

from verification.mutants.subjects import ROOT
from verification.mutants.verdicts import Score, Verdict, total

COLUMNS = ("learner or file", "mutants", "killed", "equivalent", "survived", "killed, of those not equivalent")
PREFACE = """# Mutants

Made on {day} by `{command}`{source}.

How well do the tests detect errors? Every rule is broken on purpose, one small change at a time: a sign flipped, a
term, factor or statement removed, min and max swapped, a comparison reversed or made strict, a round counter shifted,
a constant changed, a hook removed. The mutants of a learner are those of its rule, hooks, options, bound and checks,
and of the functions and constants they use. Mutants of shared code count for every learner that uses it.

Each mutant is run, interpreted, with the tests of its learners: those of the family, and the comparison with the
independent implementation. It is killed if a test fails or does not end. Equivalent mutants compute the same as the
original; they are listed by hand at the end, each with the reason.
"""


def cells(score: Score) -> tuple[str, ...]:
    counts = (score.mutants, score.killed, score.equivalent, score.survived)
    return (score.name, *map(str, counts), f"{100.0 * score.share:.1f} %" if score.mutants else "no result yet")


def describe_recall(in_part: Sequence[Verdict], untried: int) -> str:
    """How the stored results of a page were obtained, and how many mutants have none."""
    said = (
        " from the results of earlier\nruns of some learners at a time. A killed mutant was run first with the test "
        "that killed it before; a survivor with all its tests"
    )
    counted = total(in_part)
    parts = [(counted.killed, "killed"), (counted.equivalent, "equivalent"), (counted.survived, "surviving")]
    if in_part:
        counts = " and ".join(f"{number} {what}" for number, what in parts if number)
        said += f".\nOf {counts} mutants the result is older: that of the record of killers, or of the list at the end"
    if untried:
        said += (
            f".\nCode that is new or has changed has {untried} mutants more, which have no result yet and are not "
            "counted"
        )
    return said


def page(
    verdicts: Sequence[Verdict],
    found: dict[str, Score],
    recalled: bool = False,
    in_part: Sequence[Verdict] = (),
    untried: int = 0,
) -> str:
    """The tables as a page of the docs.

    `in_part` are older verdicts, by the record of killers and the list of equivalents; `untried`: mutants with none.
    """
    command = 'make mutants ARGS="--recall --docs"' if recalled else "make mutants ARGS=--docs"
    source = describe_recall(in_part, untried) if recalled else ""
    lines = [PREFACE.format(day=date.today().isoformat(), command=command, source=source)]
    lines += ["| " + " | ".join(COLUMNS) + " |", "|---" + "|---:" * (len(COLUMNS) - 1) + "|"]
    lines += ["| " + " | ".join(cells(one)) + " |" for one in [*found.values(), total(verdicts)]]
    for title, outcome in (("Survivors", "survived"), ("Equivalent mutants", "equivalent")):
        items = [line for one in verdicts if one.outcome == outcome for line in item(one)]
        lines += ["", f"## {title}", "", *(items or ["None."])]
    return "\n".join(lines) + "\n"


def item(one: Verdict) -> list[str]:
    where = one.mutant.file.relative_to(ROOT / "src" / "noregret").as_posix()
    changed = f"`{one.mutant.was}` to `{one.mutant.now or '(dropped)'}`"
    line = f"- `{where}`, `{one.mutant.owner}` ({', '.join(one.subjects)}): {changed}"
    return [line, f"  {one.reason}"] if one.reason else [f"{line}, after {one.tests} tests"]


class Live:
    """Progress as it happens: a bar on a terminal, and a line for every survivor and every subject."""

    def __init__(self, out: TextIO) -> None:
        self.out = out
        self.bar: Any = None
        self.so_far = Score("")
        self.stage = ""
        if out.isatty():
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

            columns = (TextColumn("{task.description:24}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
            self.bar = Progress(*columns, TextColumn("{task.fields[note]}"))
            self.task = self.bar.add_task("", total=None, note="")

    def __enter__(self) -> "Live":
        if self.bar is not None:
            self.bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        if self.bar is not None:
            self.bar.stop()

    def say(self, line: str) -> None:
        if self.bar is not None:
            self.bar.console.print(line, markup=False, highlight=False, soft_wrap=True)
        else:
            print(line, file=self.out, flush=True)

    def progress(self, what: str, done: int, of: int) -> None:
        if self.bar is not None:
            note = f"{self.so_far.killed} killed, {self.so_far.survived} survived" if self.so_far.mutants else ""
            self.bar.update(self.task, description=what, completed=done, total=of or None, note=note)
        elif what != self.stage:
            self.say(f"{what}{f': {done} of {of}' if of else ''}")
        self.stage = what

    def verdict(self, one: Verdict) -> None:
        self.so_far.count(one)
        if one.outcome == "survived":
            self.say(f"survived {one.tests} tests of {', '.join(one.subjects)}: {one.mutant}")

    def table(self, found: dict[str, Score], verdicts: Sequence[Verdict]) -> None:
        """All counts at the end."""
        from rich.console import Console
        from rich.table import Table

        table = Table(*COLUMNS[:1], box=None)
        for name in COLUMNS[1:]:
            table.add_column(name, justify="right")
        for one in [*found.values(), total(verdicts)]:
            table.add_row(*cells(one))
        Console(file=self.out, width=None if self.out.isatty() else 120).print(table)
