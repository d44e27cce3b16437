"""Vowpal Wabbit's text as a source of rounds: features by name, parsed ahead by two more threads.

    [label [importance [base]]] ['tag] |[namespace[:scale]] feature[:value] ... |...

A feature is named namespace^feature, or feature where the namespace has no name; city:paris, whose value is a word, is
the feature city^paris. A feature without a value has the value 1, the scale of a namespace multiplies its values, and a
feature that stands twice in a line has the sum. The label is a number or a word; a word that begins with a quote, or
touches the first bar, is a tag and read over. The importance is the weight of the round. A base, which is where
a prediction would start from, must be 0. Empty lines are read over.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from noregret.data.batch import Batch
from noregret.data.blocks import Rows, SparseBlock, all_finite
from noregret.errors import BadValue
from noregret.features import canonicalize
from noregret.features.names import GrowingNames
from noregret.streams import vw_names
from noregret.streams import vw_text as text
from noregret.streams.columns import label_of
from noregret.streams.files import TextFile
from noregret.streams.libsvm import ROWS, SLOW, THREADS, WHOLE, WINDOW
from noregret.streams.number_text import PAD
from noregret.streams.prefetch import in_order
from noregret.streams.source import Reading, Source, number_in
from noregret.streams.text_blocks import Fault, Lines, Part, Stretch
from noregret.streams.vw_fault import what_is_wrong, wrong_word

FEW, MANY = 1 << 13, 1 << 16  # names there is room for at first, in a parser and in the source

Parse = Callable[[np.ndarray, np.ndarray, text.Out, vw_names.Known, vw_names.Known], None]


class Piece(NamedTuple):
    """A batch in which feature -1 - n is the n-th of the names that its parser did not find; those names, each with a
    newline; and which of them first stood without a value."""

    batch: Batch
    fresh: bytes
    bare: np.ndarray


class Vw(Source):
    """Rows of `label |namespace feature:value ...` from a path, or - for standard input."""

    kind = "vw"

    def __init__(self, path: str, reading: Reading) -> None:
        super().__init__()
        self.path, self.reading = path, reading
        self.name = "standard input" if path == "-" else path
        self.window = WINDOW

    def __iter__(self) -> Iterator[Batch]:
        self.claim()
        file, begin = TextFile(self.path), number_in(self.start, "byte")
        file.go_to(begin)
        lines = Lines(file, self.window, begin, self.kind)
        parse = compiled()
        count = min(THREADS, os.cpu_count() or 1)
        names = dictionary()
        parsers = [Parser(self.reading, self.window, parse, names) for _ in range(count)]
        parts = in_order(parsers, lines.into, Parser.part, lines.file.close)
        try:
            yield from self.joined(parts, names)
        finally:
            parts.close()

    def needs_compiling(self) -> bool:
        from noregret.jit.compiled import is_cached

        parsing = is_cached(text.vw, parser_places(), text.ENDS)
        naming = is_cached(vw_names.vw_numbers, dictionary_places())
        return not (parsing and naming and is_cached(canonicalize.entry, canonicalize.slots()))

    def joined(self, parts: Iterable[Part], names: "Dictionary") -> Iterator[Batch]:
        """The batches of all parts, their lines counted through, their names numbered in the order they stand in."""
        rows, lines = 0, number_in(self.start, "line")
        for part in parts:
            self.skipped += part.skipped
            for piece in part.batches:
                batch = piece.batch
                rows += batch.rows
                position = {"byte": batch.position["byte"], "line": batch.position["line"] + lines}
                yield batch._replace(X=names.rows(piece), lines=batch.lines + lines, position=position)
            if part.fault is not None:
                line, why = part.fault
                raise BadValue(f"{self.name}:{lines + line}: {why}" if line else f"{self.name}: {why}")
            lines += part.lines
        self.must_hold(rows)


class Dictionary:
    """The names of the source, numbered in the order in which the text first has them.

    Who parsed what, and what was known to whom when, does not show: a name without a number is brought here as often as
    it is met, and gets its number here, in the order of the text.
    """

    def __init__(self, number: Callable[..., None], arrange: Callable[..., None]) -> None:
        self.number, self.arrange = number, arrange
        self.names: list[str] = []
        self.known, self.table = vw_names.space_for(MANY, letters=0), np.zeros(vw_names.SLOTS, np.int64)

    def rows(self, piece: Piece) -> Rows:
        """The rows of a piece, with the numbers and all the names so far."""
        numbers = self.numbered(piece.fresh, piece.bare)
        size = len(self.names)
        block = canonicalize.renumber_block(numbers, piece.batch.X._replace(width=size), self.arrange, new_only=True)
        if not all_finite(block.val):
            block = block._replace(ready=False)
        return Rows(block, GrowingNames(self.names, size), self.known.bare[:size].view(bool))

    def numbered(self, lines: bytes, bare: np.ndarray) -> np.ndarray:
        """The numbers of names that stand one a line; new ones get the next."""
        table, buffer, found = self.table, np.frombuffer(lines + bytes(PAD), np.uint8), np.empty(bare.size, np.int32)
        table[[vw_names.PLACE, vw_names.DONE]] = 0
        self.number(table, buffer, bare, found, self.known)
        while table[vw_names.DONE] < found.size:
            more = vw_names.doubled(self.known)
            table[vw_names.REBUILD] = 1
            self.number(table, buffer, bare, found, more)
            self.known = more  # parsers look into the old one until the new one is there
        names, before = lines.decode().split("\n")[:-1], len(self.names)
        if int(table[vw_names.NAMES]) - before < len(names):  # some are known by now, or written in two ways
            highest = np.maximum.accumulate(np.concatenate(([before - 1], found)))
            names = [names[place] for place in np.flatnonzero(found > highest[:-1]).tolist()]
        self.names += names
        return found


def compiled() -> Parse:
    """The parser at full speed."""
    from noregret.jit.compiled import compile_function

    return compile_function(text.vw, parser_places(), text.ENDS)


def parser_places() -> dict[str, tuple[int, Any]]:
    """Where the parser finds its arrays."""
    return {
        "buffer": (text.BUFFER, np.zeros(1, np.uint8)),
        "out": (text.OUT, text.room(1, 1, 1)),
        "known": (text.KNOWN, vw_names.space_for(1)),
        "shared": (text.SHARED, vw_names.space_for(1)),
    }


def dictionary() -> Dictionary:
    """A dictionary at full speed."""
    from noregret.jit.compiled import compile_function

    return Dictionary(
        compile_function(vw_names.vw_numbers, dictionary_places()),
        compile_function(canonicalize.entry, canonicalize.slots()),
    )


def dictionary_places() -> dict[str, tuple[int, Any]]:
    """Where the dictionary finds its arrays."""
    return {
        "buffer": (vw_names.BUFFER, np.zeros(1, np.uint8)),
        "bare": (vw_names.BARE, np.zeros(1, np.uint8)),
        "out": (vw_names.OUT, np.zeros(1, np.int32)),
        "known": (vw_names.KNOWN, vw_names.space_for(1)),
    }


class Parser:
    """Batches from stretches of lines, one stretch at a time, in arrays that are filled again and again."""

    def __init__(self, reading: Reading, size: int, parse: Parse, names: Dictionary) -> None:
        self.reading, self.parse, self.size, self.names = reading, parse, size, names
        self.buffer = bytearray(size + PAD)
        self.out = text.room(size, ROWS, SLOW)
        self.known = vw_names.space_for(FEW)
        self.table = np.zeros(text.SLOTS, np.int64)
        self.skipped = 0

    def part(self, stretch: Stretch | Part) -> Part:
        """The rows of a stretch; those of the block with a wrong line are left out."""
        if isinstance(stretch, Part):
            return stretch
        table, pieces, fault = self.table, [], None
        table[text.LINE], table[text.POSITION], table[text.END] = 1, 0, stretch.end
        table[text.LABELLED] = self.reading.labelled
        self.skipped = 0
        room, out = len(stretch.buffer), self.out
        if room > self.size + PAD:
            self.out = text.room(room, ROWS, SLOW)
        try:
            while table[text.POSITION] < table[text.END]:
                words = self.block(stretch)
                if table[text.ROWS] > 0:
                    pieces.append(self.piece(stretch, words))
        except Fault as found:
            fault = found.line, found.why
        if room > self.size + PAD:
            self.out = out
        return Part(pieces, int(table[text.LINE]) - 1, self.skipped, fault)

    def block(self, stretch: Stretch) -> dict[int, Any]:
        """Parse until the arrays are full or the stretch ends; returns the labels that are words, by row."""
        table = self.table
        table[[text.ROWS, text.NONZEROS, text.SLOW, text.WORDS, text.SCALES]] = 0
        table[[vw_names.NAMES, vw_names.ENTRIES, vw_names.FILLED, vw_names.FRESH]] = 0
        self.known.slots[:] = 0
        start = table.copy()
        buffer = np.frombuffer(stretch.buffer, np.uint8)
        while True:
            self.parse(table, buffer, self.out, self.known, self.names.known)
            verdict = int(table[text.VERDICT])
            if verdict == vw_names.FINE:
                words = self.settled(stretch)
                if words is not None:
                    return words
                table[: text.BUFFER] = start[: text.BUFFER]
                self.empty_slots()
            elif not self.made_room(stretch, verdict):
                if not self.reading.lenient:
                    self.settled(stretch)  # an error in a line before goes first
                self.refuse(stretch, int(table[text.FAULT]), verdict)

    def made_room(self, stretch: Stretch, verdict: int) -> bool:
        """See to what the parser cannot do by itself, so that it can go on; False for what is wrong with a line."""
        out, at = self.out, int(self.table[text.FAULT])
        if verdict == text.SLOW_FULL:
            self.out = out._replace(slow=np.concatenate([out.slow, np.empty_like(out.slow)]))
        elif verdict == vw_names.NO_ROOM:
            self.known = vw_names.doubled(self.known)
            self.empty_slots()
        elif verdict == text.SLOW_SCALE:
            scale = float(number_from(stretch.buffer, at))
            if not np.isfinite(scale):
                return False
            count = int(self.table[text.SCALES])
            if count == len(out.scales):
                self.out = out = out._replace(scales=np.concatenate([out.scales, np.empty_like(out.scales)]))
            out.scales[count] = at, scale
            self.table[text.SCALES] = count + 1
        else:
            return False
        return True

    def empty_slots(self) -> None:
        """Have the parser find a slot for every name that is left."""
        self.known.slots[:] = 0
        self.table[vw_names.REBUILD] = 1

    def settled(self, stretch: Stretch) -> dict[int, Any] | None:
        """Have Python read what the parser could not, and give the labels that are words; None if lines were struck
        out because of what it found."""
        out, wrong, words = self.out, [], {}
        for where, first, last in out.slow[: self.table[text.SLOW]].tolist():
            value = float(stretch.buffer[first:last])
            if where >= 0:
                value *= float(out.val[where])
                out.val[where] = value
                fine, verdict = np.isfinite(value), text.NOT_FINITE
            else:
                row, which = divmod(-1 - where, 3)
                verdict = (text.BAD_LABEL, text.BAD_WEIGHT, text.BAD_BASE)[which]
                fine = value == 0.0 if which == text.IS_BASE else np.isfinite(value)
                if which != text.IS_BASE:
                    (out.y, out.weight)[which][row] = value
                fine = fine and not (which == text.IS_WEIGHT and value < 0.0)
            if not fine:
                wrong.append((first, verdict))
        for row, first, last in out.words[: self.table[text.WORDS]].tolist():
            word = bytes(stretch.buffer[first:last])
            if wrong_word(word, self.reading.targets):
                wrong.append((first, text.BAD_LABEL))
            else:
                words[row] = label_of(word.decode())
        for first, verdict in sorted(wrong):
            self.refuse(stretch, first, verdict)
        return None if wrong else words

    def refuse(self, stretch: Stretch, at: int, verdict: int) -> None:
        """Raise the fault at a place; or empty its line, which leaves it out."""
        buffer = stretch.buffer
        first = buffer.rfind(b"\n", 0, at) + 1
        last = buffer.find(b"\n", at)
        if self.reading.lenient:
            if buffer[first:last].strip(b" "):
                buffer[first:last] = b" " * (last - first)
                self.skipped += 1
            return
        if verdict == text.NOT_FINITE:
            at = start_of_feature(buffer, at)
        why = what_is_wrong(bytes(buffer[first:last]), at - first, verdict, self.reading.targets)
        if stretch.cut_off and last == stretch.end - 1:
            why += "; the last line has no end, so the file may be cut off"
        raise Fault(buffer.count(b"\n", 0, first) + 1, why)

    def piece(self, stretch: Stretch, words: dict[int, Any]) -> Piece:
        """A copy of what was parsed, because the arrays are filled again."""
        table, out = self.table, self.out
        rows, values, names = int(table[text.ROWS]), int(table[text.NONZEROS]), int(table[vw_names.NAMES])
        block = SparseBlock(out.indptr[: rows + 1].copy(), out.idx[:values].copy(), out.val[:values].copy(), names)
        weight = None if bool((out.weight[:rows] == 1.0).all()) else out.weight[:rows].copy()
        byte = stretch.begin + min(int(table[text.POSITION]), stretch.end - stretch.cut_off)
        position = {"byte": byte, "line": int(table[text.LINE]) - 1}
        labels = self.labels(out.y[:rows], words)
        batch = Batch(block, labels, out.lines[:rows].copy(), stretch.done, weight, position)
        fresh = self.known.fresh[: table[vw_names.FRESH]].tobytes()
        return Piece(batch, fresh, self.known.bare[:names].copy())

    def labels(self, y: np.ndarray, words: dict[int, Any]) -> Any:
        """Numbers, whole ones where all of them are, or a list where some are words; None where no row has a label."""
        if words:
            numbers = [int(one) if one.is_integer() else None if one != one else one for one in y.tolist()]
            return [words.get(row, one) for row, one in enumerate(numbers)]
        if not self.reading.labelled and bool(np.isnan(y).all()):
            return None
        if not self.reading.targets and bool(((np.rint(y) == y) & (np.abs(y) < WHOLE)).all()):
            return y.astype(np.int64)
        return y.copy()


def start_of_feature(line: bytearray, at: int) -> int:
    """Where the feature begins that a value belongs to."""
    while at > 0 and not text.closes(line[at - 1]):
        at -= 1
    return at


def number_from(line: bytearray, at: int) -> bytes:
    """The number that stands at a place, to the next blank or bar."""
    last = at
    while not text.closes(line[last]):
        last += 1
    return bytes(line[at:last])
