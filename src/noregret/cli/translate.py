"""`noregret translate`: translate a text; adapt to its validated translations, of a file or of the user, on the way."""

import argparse
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import IO, Any

from noregret.cli.interrupts import check_interrupt, defer_interrupts, ignore_interrupts
from noregret.cli.load_learner import load_learner
from noregret.cli.output import open_output, write_json
from noregret.cli.screen import Screen
from noregret.cli.setup import check_outputs
from noregret.errors import BadValue, Error
from noregret.evaluation.report import SCHEMA
from noregret.neural.translation.measures import bleu, ter
from noregret.neural.translation.translator import Translator
from noregret.streams.conllu import decode
from noregret.streams.files import TextFile
from noregret.streams.lines import LongLine, Pause, read_lines
from noregret.version import __version__

LONGEST_LINE = 1 << 20  # bytes
RECENT = 200  # sentences whose BLEU is shown on the way
END, GO_ON = "q", "..."
HOW = 'Enter accepts, a text corrects, "the beginning ..." lets it go on from there, q ends.'


def run(args: argparse.Namespace) -> int:
    if args.skip < 0:
        raise BadValue(f"--skip must not be negative, not {args.skip}")
    if args.validate and args.adapt is not None:
        raise BadValue("--adapt has the validated translations of a file, --validate asks for them; give one of them")
    if args.validate and args.file == "-":
        raise BadValue("--validate asks on standard input; name the file with the sentences")
    learns = args.validate or args.adapt is not None
    if not learns and (useless := [name for name in ("update", "eta", "save") if getattr(args, name) is not None]):
        raise BadValue(f"--{useless[0]} is for a translator that adapts; give --adapt or --validate, too")
    check_outputs({"--json": args.json, "--save": args.save, "--out": args.out}, [args.file, args.adapt])
    if args.out is None and not learns:
        args.out = "-"
    command = Translation(args, load(args))
    with open_output(args.out, "the translations") if args.out else nullcontext() as out:
        try:
            command.run(out)
        except KeyboardInterrupt:
            command.save("stopped")
            raise
    command.save("learned")
    write_json(args.json, command.report())
    if learns and command.done.found and "-" not in (args.out, args.json):
        sys.stdout.write(f"{command.done.describe()}\n")
    return 0


def load(args: argparse.Namespace) -> Translator:
    """The translator of a model file, with the options of its updates."""
    found = load_learner(args.model)
    if not isinstance(found, Translator):
        raise BadValue(f"{args.model}: this is a model of {found.card.name}, not of translator")
    given = {"optimizer": args.update, "eta": args.eta}
    return found.with_options(**{name: value for name, value in given.items() if value is not None})


def read_sentences(path: str) -> Iterator[str]:
    """The lines of a text, of which some may be empty."""
    with TextFile(path) as file:
        line = 0
        for raw in read_lines(file, file.name, longest=LONGEST_LINE):
            if not isinstance(raw, Pause | LongLine):
                line += 1
                content = decode(raw, f"{file.name}:{line}")
                yield (content.removeprefix("\ufeff") if line == 1 else content).strip()


@dataclass
class Done:
    """The translations so far, as they were before their references were learned."""

    found: list[str] = field(default_factory=list)
    references: list[str] = field(default_factory=list)
    loss: float = 0.0
    pieces: int = 0
    accepted: int = 0  # translations that the user left as they were

    def describe(self) -> str:
        accepted = f", {self.accepted:,} accepted" if self.accepted else ""
        return (
            f"{len(self.found):,} sentences{accepted}: BLEU {bleu(self.found, self.references):.1f}, "
            f"TER {ter(self.found, self.references):.1f}, loss {self.loss / self.pieces:.2f} a piece, "
            "each translated before it was learned"
        )


class Translation:
    """A translator going through a text."""

    def __init__(self, args: argparse.Namespace, translator: Translator) -> None:
        self.args, self.translator, self.done, self.lines = args, translator, Done(), 0
        self.screen = Screen(args.quiet or args.validate, piped="-" in (args.out, args.json))

    def run(self, out: IO[str] | None) -> None:
        """Translate every line; learn it, too, where there is a reference."""
        references: list[str] | None = None
        sentences: Any = read_sentences(self.args.file)
        if self.args.adapt is not None:
            sentences, references = list(sentences), list(read_sentences(self.args.adapt))
            if len(sentences) != len(references):
                raise BadValue(f"{self.args.file} has {len(sentences):,} lines and {self.args.adapt} "
                               f"{len(references):,}; line n of one must be the translation of line n of the "
                               "other")  # fmt: skip
        if self.args.validate:
            self.say(HOW)
        for at, sentence in enumerate(sentences):
            if at < self.args.skip:
                continue
            check_interrupt()
            with nullcontext() if self.args.validate else defer_interrupts():
                text = self.translate(at, sentence, None if references is None else references[at])
                if text is None:
                    break
                self.lines = at + 1
                if out is not None:
                    out.write(f"{text}\n")
            if self.screen.due():
                self.screen.show((), (), self.progress(None if references is None else len(references)))
        if not self.lines:
            raise BadValue(f"{self.args.file}: it has no line after the first {self.args.skip:,}; lower --skip")

    def translate(self, at: int, sentence: str, reference: str | None) -> str | None:
        """The translation of a line, or what the user made of it; None at the end."""
        try:
            if self.args.validate and sentence:
                reference = self.ask(at, sentence)
                if reference is None:
                    return None
            if not sentence and not reference:
                return ""
            if reference is None:
                return self.translator.predict_one(sentence)
            transcript = self.translator.play([sentence], [reference])
        except Error as error:
            raise type(error)(f"{self.args.file}:{at + 1}: {str(error).removeprefix('round 1: ')}") from None
        found = str(transcript.predictions[0])
        self.done.found.append(found)
        self.done.references.append(reference)
        self.done.loss += float(transcript.losses[0])
        self.done.pieces += len(self.translator.vocabulary.encode(reference)) + 1
        self.done.accepted += self.args.validate and found == reference
        return reference if self.args.validate else found

    # ---- the user ----------------------------------------------------------------------------------------------------

    def ask(self, at: int, sentence: str) -> str | None:
        """What the user makes of a translation; None when there is no more."""
        found = self.translator.predict_one(sentence)
        self.say(f"\n{at + 1}: {sentence}")
        while True:
            self.say(f"   {found}")
            sys.stderr.write("   > ")
            sys.stderr.flush()
            line = sys.stdin.readline()
            text = line.strip()
            if not line or text == END:
                return None
            if not text and found:
                return found
            if text and not text.endswith(GO_ON):
                return text
            if text:
                found = self.translator.complete(sentence, text.removesuffix(GO_ON).strip())

    def say(self, text: str) -> None:
        sys.stderr.write(f"{text}\n")

    # ---- output ------------------------------------------------------------------------------------------------------

    def progress(self, lines: int | None) -> str:
        whole = "" if lines is None else f" of {lines:,}"
        quality = ""
        if self.done.found:
            recent = bleu(self.done.found[-RECENT:], self.done.references[-RECENT:])
            quality = f", BLEU {recent:.1f} of the last {min(RECENT, len(self.done.found)):,}"
        return f"{self.lines:,}{whole} lines{quality}"

    def save(self, how: str) -> None:
        """Save what was learned, and say where to go on."""
        if self.args.save is None or not self.done.found:
            return
        with ignore_interrupts():
            self.translator.save(self.args.save)
        rest = f"; go on with that model and --skip {self.lines}" if how == "stopped" else ""
        self.screen.note(f"{how}: {len(self.done.found):,} sentences; saved to {self.args.save}{rest}")

    def report(self) -> dict[str, Any]:
        done = self.done
        head = {"schema": SCHEMA, "noregret": __version__, "command": ["noregret", *self.args.command_line]}
        report = {**head, "lines": self.lines, "options": dict(self.translator.options)}
        if done.found:
            report |= {
                "sentences": len(done.found), "bleu": bleu(done.found, done.references),
                "ter": ter(done.found, done.references), "loss": done.loss / done.pieces, "accepted": done.accepted,
            }  # fmt: skip
        return report
