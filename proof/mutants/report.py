"""Telling what became of the mutants: live on a terminal, in plain lines in a pipe, and as a page of the docs."""

from typing import Any, TextIO

from proof.mutants.running import Run
from proof.mutants.subjects import ROOT
from proof.mutants.verdicts import Score, Verdict, scores, total

COLUMNS = ("learner or file", "mutants", "killed", "equivalent", "survived", "killed of those that could be")

PREFACE = """# Mutants

Made on {day} by `{command}` in {minutes:.0f} minutes on {jobs} processes.

Every rule is broken on purpose, one small change at a time: a sign flipped, a term, factor or statement dropped, min
and max swapped, a comparison turned or made strict, a clock shifted by a round, a constant changed, a hook left out.

What belongs to a learner is its rule, its hooks, options, bound and check, and the functions of the shelf that these
call; what several learners share is broken once for each. Each mutant meets the learner's own tests, interpreted: those
of its family that play it, and its twin. A mutant is killed when one of them fails or never ends. Equivalent mutants
compute what the original does; they are listed by hand, with the reason, at the end.
"""


def cells(score: Score) -> tuple[str, ...]:
    counts = (score.mutants, score.killed, score.equivalent, score.survived)
    return (score.name, *map(str, counts), f"{100.0 * score.share:.1f} %")


def page(run: Run, found: dict[str, Score], day: str, command: str) -> str:
    """The tables as a page of the docs."""
    lines = [PREFACE.format(day=day, command=command, minutes=run.seconds / 60.0, jobs=run.jobs)]
    lines += ["| " + " | ".join(COLUMNS) + " |", "|---" + "|---:" * (len(COLUMNS) - 1) + "|"]
    lines += ["| " + " | ".join(cells(one)) + " |" for one in [*found.values(), total(found.values())]]
    for title, outcome in (("Survivors", "survived"), ("Equivalent mutants", "equivalent")):
        lines += ["", f"## {title}", ""]
        chosen: dict[str, list[Verdict]] = {}
        for one in run.verdicts:
            if one.outcome == outcome:
                chosen.setdefault(str(one.mutant), []).append(one)
        for several in chosen.values():
            lines += item(several)
        if not chosen:
            lines.append("None.")
    return "\n".join(lines) + "\n"


def item(several: list[Verdict]) -> list[str]:
    """One mutant, in whichever learners it was."""
    mutant, who = several[0].mutant, ", ".join(one.subject for one in several)
    where = mutant.file.relative_to(ROOT / "src" / "noregret").as_posix()
    told = [f"- `{where}`, `{mutant.owner}` ({who}): `{mutant.was}` to `{mutant.now or '(dropped)'}`"]
    return [*told, f"  {several[0].reason}"] if several[0].reason else told


def rows(run: Run) -> dict[str, Any]:
    """Everything, for a file of JSON."""
    verdicts = [
        {
            "subject": one.subject, "file": one.mutant.file.relative_to(ROOT).as_posix(), "line": one.mutant.line,
            "function": one.mutant.owner, "kind": one.mutant.kind, "was": one.mutant.was, "now": one.mutant.now,
            "outcome": one.outcome, "killer": one.killer, "tests": one.tests, "reason": one.reason,
        }
        for one in run.verdicts
    ]  # fmt: skip
    counted = {name: vars(score) | {"share": score.share} for name, score in scores(run.verdicts).items()}
    return {"seconds": run.seconds, "tests": len(run.tests), "scores": counted, "mutants": verdicts}


class Live:
    """Progress as it happens: a bar on a terminal, and a line for every survivor and every subject."""

    def __init__(self, out: TextIO) -> None:
        self.out = out
        self.bar: Any = None
        self.counts: dict[str, Score] = {}
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

    def told(self, what: str, done: int, of: int) -> None:
        if self.bar is not None:
            so_far = total(self.counts.values())
            note = f"{so_far.killed} killed, {so_far.survived} survived" if so_far.mutants else ""
            self.bar.update(self.task, description=what, completed=done, total=of or None, note=note)
        elif what != self.stage and (not self.counts or what in ("collecting tests", "unbroken tests")):
            self.say(f"{what}{f': {of}' if of else ''}")
        self.stage = what

    def verdict(self, one: Verdict) -> None:
        if one.subject not in self.counts and self.counts and self.bar is None:
            self.say("  ".join(cells(list(self.counts.values())[-1])))
        score = self.counts.setdefault(one.subject, Score(one.subject))
        score.mutants += 1
        score.killed += one.outcome == "killed"
        score.equivalent += one.outcome == "equivalent"
        score.survived += one.outcome == "survived"
        if one.outcome == "survived":
            self.say(f"survived {one.tests} tests of {one.subject}: {one.mutant}")

    def table(self, found: dict[str, Score], run: Run) -> None:
        """All counts at the end."""
        from rich.console import Console
        from rich.table import Table

        table = Table(*COLUMNS[:1], box=None)
        for name in COLUMNS[1:]:
            table.add_column(name, justify="right")
        for one in [*found.values(), total(found.values())]:
            table.add_row(*cells(one))
        console = Console(file=self.out, width=None if self.out.isatty() else 120)
        console.print(table)
        unfit = sum(one.outcome == "skipped" for one in run.left_out)
        console.print(f"{len(run.tests)} tests, {unfit} left out, {run.seconds:.0f} s on {run.jobs} processes")
