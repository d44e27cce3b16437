"""Vowpal Wabbit's text format as a source of rounds, parsed by two threads ahead of the learner.

    [label [importance [base]]] ['tag] |[namespace[:scale]] feature[:value] ... |...

A feature is named namespace^feature, or feature if the namespace has no name. city:paris, whose value is a word, is the
feature city^paris. A feature without a value has the value 1, the scale of a namespace multiplies its values, and a
feature that occurs twice in a line has the sum. The label is a number or a word. A word that begins with a quote, or
touches the first bar, is a tag and is ignored. The importance is the weight of the round. A base, the offset of a
prediction, must be 0. Empty lines are ignored.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noregret.data.batch import Batch
from noregret.data.blocks import Rows, SparseBlock, all_finite
from noregret.errors import BadValue
from noregret.features import canonicalize
from noregret.features.names import GrowingNames
from noregret.streams import name_table
from noregret.streams import vw_text as text
from noregret.streams.columns import parse_label
from noregret.streams.files import TextFile
from noregret.streams.libsvm import DEFERRED, EXACT, ROWS, THREADS, WINDOW
from noregret.streams.number_text import PAD
from noregret.streams.prefetch import map_in_order
from noregret.streams.read_options import ReadOptions
from noregret.streams.source import SPARSE_ROWS, Source, read_position
from noregret.streams.text_blocks import LineFault, ParsedBlock, TextBlock, TextBlocks
from noregret.streams.vw_fault import describe_fault, label_fault

FEW, MANY = 1 << 13, 1 << 16  # names there is room for at first, in a parser and in the source

Parse = Callable[[NDArray[np.int64], NDArray[np.uint8], text.Out, name_table.NameTable, name_table.NameTable], None]


class UnnumberedBatch(NamedTuple):
    """A batch in which feature -1 - n is the n-th name that the parser did not know.

    `new_names` holds these names, each with a newline; `bare` marks those that first appeared without a value.
    """

    batch: Batch
    new_names: bytes
    bare: NDArray[np.uint8]


class Vw(Source):
    """Rows of `label |namespace feature:value ...` from a path, or - for standard input."""

    kind = "vw"
    learner_defaults = SPARSE_ROWS

    def __init__(self, path: str, options: ReadOptions) -> None:
        super().__init__()
        self.path, self.options = path, options
        self.name = "standard input" if path == "-" else path
        self.window = WINDOW

    def __iter__(self) -> Iterator[Batch]:
        self.begin()
        file, begin = TextFile(self.path, self.options.live), read_position(self.start, "byte")
        file.seek_to(begin)
        blocks = TextBlocks(file, self.window, begin, self.kind)
        parse = compile_parser()
        count = min(THREADS, os.cpu_count() or 1)
        names = compile_dictionary()
        parsers = [Parser(self.options, self.window, parse, names) for _ in range(count)]
        parts = map_in_order(parsers, blocks.read_into, Parser.parse_block, blocks.file.close)
        try:
            yield from self.join_blocks(parts, names)
        finally:
            parts.close()

    def needs_compiling(self) -> bool:
        from noregret.jit.compiled import is_cached

        return not (
            is_cached(text.vw, parser_slots(), text.ENDS)
            and is_cached(name_table.vw_numbers, dictionary_slots())
            and is_cached(canonicalize.entry, canonicalize.slots())
        )

    def join_blocks(self, parts: Iterable[ParsedBlock], names: "NameDictionary") -> Iterator[Batch]:
        """Yield the batches of all blocks, with line numbers of the whole file and with their names numbered."""
        rows, lines = 0, read_position(self.start, "line")
        for part in parts:
            self.skipped += part.skipped
            for unnumbered in part.batches:
                batch = unnumbered.batch
                rows += batch.rows
                position = {"byte": batch.position["byte"], "line": batch.position["line"] + lines}
                yield batch._replace(X=names.number_rows(unnumbered), lines=batch.lines + lines, position=position)
            if part.fault is not None:
                line, why = part.fault
                raise BadValue(f"{self.name}:{lines + line}: {why}" if line else f"{self.name}: {why}")
            lines += part.lines
        self.check_not_empty(rows)


class NameDictionary:
    """The names of the source, numbered in the order in which they first appear in the text.

    The numbers do not depend on the timing of the parsers: a name that a parser did not know is looked up here again,
    and new names are numbered here, in the order of the text.
    """

    def __init__(self, number: Callable[..., None], renumber: Callable[..., None]) -> None:
        self.number, self.renumber = number, renumber
        self.names: list[str] = []
        self.known, self.table = name_table.create_table(MANY, letters=0), np.zeros(name_table.SLOTS, np.int64)

    def number_rows(self, unnumbered: UnnumberedBatch) -> Rows:
        """Return the rows of a batch with the numbers of their names, and all names so far."""
        numbers = self.number_names(unnumbered.new_names, unnumbered.bare)
        size = len(self.names)
        X = unnumbered.batch.X._replace(width=size)
        block = canonicalize.renumber_block(numbers, X, self.renumber, new_only=True)
        if not all_finite(block.val):
            block = block._replace(ready=False)
        return Rows(block, GrowingNames(self.names, size), self.known.bare[:size].view(bool))

    def number_names(self, lines: bytes, bare: NDArray[np.uint8]) -> NDArray[np.int32]:
        """Return the numbers of names, one per line; new ones get the next number."""
        table, buffer, numbers = self.table, np.frombuffer(lines + bytes(PAD), np.uint8), np.empty(bare.size, np.int32)
        table[[name_table.POSITION, name_table.DONE]] = 0
        self.number(table, buffer, bare, numbers, self.known)
        while table[name_table.DONE] < numbers.size:
            larger = name_table.double_table(self.known)
            table[name_table.REBUILD] = 1
            self.number(table, buffer, bare, numbers, larger)
            self.known = larger  # parsers use the old table until the new one is complete
        names, before = lines.decode().split("\n")[:-1], len(self.names)
        if int(table[name_table.NAMES]) - before < len(names):  # some are known by now, or written in two ways
            highest = np.maximum.accumulate(np.concatenate(([before - 1], numbers)))
            names = [names[at] for at in np.flatnonzero(numbers > highest[:-1]).tolist()]
        self.names += names
        return numbers


def compile_parser() -> Parse:
    """Return the compiled parser."""
    from noregret.jit.compiled import compile_function

    return compile_function(text.vw, parser_slots(), text.ENDS)


def parser_slots() -> dict[str, tuple[int, Any]]:
    """Return the slot of every array of the compiled parser, with an example of the array."""
    return {
        "buffer": (text.BUFFER, np.zeros(1, np.uint8)),
        "out": (text.OUT, text.allocate(1, 1, 1)),
        "known": (text.KNOWN, name_table.create_table(1)),
        "shared": (text.SHARED, name_table.create_table(1)),
    }


def compile_dictionary() -> NameDictionary:
    """Return an empty dictionary with compiled functions."""
    from noregret.jit.compiled import compile_function

    number = compile_function(name_table.vw_numbers, dictionary_slots())
    return NameDictionary(number, compile_function(canonicalize.entry, canonicalize.slots()))


def dictionary_slots() -> dict[str, tuple[int, Any]]:
    """Return the slot of every array of the compiled numbering of names, with an example of the array."""
    return {
        "buffer": (name_table.BUFFER, np.zeros(1, np.uint8)),
        "bare": (name_table.BARE, np.zeros(1, np.uint8)),
        "out": (name_table.OUT, np.zeros(1, np.int32)),
        "known": (name_table.KNOWN, name_table.create_table(1)),
    }


class Parser:
    """Parses blocks of lines, one at a time, in arrays that are reused."""

    def __init__(self, options: ReadOptions, size: int, parse: Parse, names: NameDictionary) -> None:
        self.options, self.parse, self.size, self.names = options, parse, size, names
        self.buffer = bytearray(size + PAD)
        self.out = text.allocate(size, ROWS, DEFERRED)
        self.known = name_table.create_table(FEW)
        self.table = np.zeros(text.SLOTS, np.int64)
        self.skipped = 0

    def parse_block(self, block: TextBlock | ParsedBlock) -> ParsedBlock:
        """Return the batches of a block, without the batch that has a faulty line."""
        if isinstance(block, ParsedBlock):
            return block
        table, batches, fault = self.table, [], None
        table[text.LINE], table[text.POSITION], table[text.END] = 1, 0, block.end
        table[text.LABELLED] = self.options.labelled
        self.skipped = 0
        room, out = len(block.buffer), self.out
        if room > self.size + PAD:
            self.out = text.allocate(room, ROWS, DEFERRED)
        try:
            while table[text.POSITION] < table[text.END]:
                words = self.parse_rows(block)
                if table[text.ROWS] > 0:
                    batches.append(self.make_batch(block, words))
        except LineFault as error:
            fault = error.line, error.why
        if room > self.size + PAD:
            self.out = out
        return ParsedBlock(batches, int(table[text.LINE]) - 1, self.skipped, fault)

    def parse_rows(self, block: TextBlock) -> dict[int, Any]:
        """Parse until the arrays are full or the block ends; return the labels that are words, by row."""
        table = self.table
        table[[text.ROWS, text.NONZEROS, text.DEFERRED, text.WORDS, text.SCALES]] = 0
        table[[name_table.NAMES, name_table.ENTRIES, name_table.FILLED, name_table.NEW_BYTES]] = 0
        self.known.slots[:] = 0
        start = table.copy()
        buffer = np.frombuffer(block.buffer, np.uint8)
        while True:
            self.parse(table, buffer, self.out, self.known, self.names.known)
            status = int(table[text.STATUS])
            if status == name_table.FINE:
                words = self.read_deferred(block)
                if words is not None:
                    return words
                table[: text.BUFFER] = start[: text.BUFFER]
                self.clear_slots()
            elif not self.make_room(block, status):
                if not self.options.lenient:
                    self.read_deferred(block)  # a fault in an earlier line is reported first
                self.refuse(block, int(table[text.FAULT]), status)

    def make_room(self, block: TextBlock, status: int) -> bool:
        """Provide what the parser stopped for, so that it can continue; return False if a line is faulty."""
        out, at = self.out, int(self.table[text.FAULT])
        if status == text.DEFERRED_FULL:
            self.out = out._replace(deferred=np.concatenate([out.deferred, np.empty_like(out.deferred)]))
        elif status == name_table.NO_ROOM:
            self.known = name_table.double_table(self.known)
            self.clear_slots()
        elif status == text.DEFERRED_SCALE:
            scale = float(find_number(block.buffer, at))
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

    def clear_slots(self) -> None:
        """Clear the hash slots and have the parser rebuild them."""
        self.known.slots[:] = 0
        self.table[name_table.REBUILD] = 1

    def read_deferred(self, block: TextBlock) -> dict[int, Any] | None:
        """Read what was left to Python and return the labels that are words, by row.

        Returns None if lines with faults were removed, after which the block must be parsed again.
        """
        out, faults, words = self.out, [], {}
        for where, first, last in out.deferred[: self.table[text.DEFERRED]].tolist():
            value = float(block.buffer[first:last])
            if where >= 0:
                value *= float(out.val[where])
                out.val[where] = value
                fine, status = np.isfinite(value), text.NOT_FINITE
            else:
                row, which = divmod(-1 - where, 3)
                status = (text.BAD_LABEL, text.BAD_WEIGHT, text.BAD_BASE)[which]
                fine = value == 0.0 if which == text.IS_BASE else np.isfinite(value)
                if which != text.IS_BASE:
                    (out.y, out.weight)[which][row] = value
                fine = fine and not (which == text.IS_WEIGHT and value < 0.0)
            if not fine:
                faults.append((first, status))
        for row, first, last in out.words[: self.table[text.WORDS]].tolist():
            word = bytes(block.buffer[first:last])
            if label_fault(word, self.options.targets):
                faults.append((first, text.BAD_LABEL))
            else:
                words[row] = parse_label(word.decode())
        for first, status in sorted(faults):
            self.refuse(block, first, status)
        return None if faults else words

    def refuse(self, block: TextBlock, at: int, status: int) -> None:
        """Raise the fault at a position; or, if bad rows are skipped, blank out its line."""
        buffer = block.buffer
        first = buffer.rfind(b"\n", 0, at) + 1
        last = buffer.find(b"\n", at)
        if self.options.lenient:
            if buffer[first:last].strip(b" "):
                buffer[first:last] = b" " * (last - first)
                self.skipped += 1
            return
        if status == text.NOT_FINITE:
            at = find_feature_start(buffer, at)
        why = describe_fault(bytes(buffer[first:last]), at - first, status, self.options.targets)
        if block.cut_off and last == block.end - 1:
            why += "; the last line has no end, so the file may be cut off"
        raise LineFault(buffer.count(b"\n", 0, first) + 1, why)

    def make_batch(self, block: TextBlock, words: dict[int, Any]) -> UnnumberedBatch:
        """Copy the parsed rows to a batch, because the arrays are reused."""
        table, out = self.table, self.out
        rows, values, names = int(table[text.ROWS]), int(table[text.NONZEROS]), int(table[name_table.NAMES])
        X = SparseBlock(out.indptr[: rows + 1].copy(), out.idx[:values].copy(), out.val[:values].copy(), names)
        weight = None if bool((out.weight[:rows] == 1.0).all()) else out.weight[:rows].copy()
        byte = block.begin + min(int(table[text.POSITION]), block.end - block.cut_off)
        position = {"byte": byte, "line": int(table[text.LINE]) - 1}
        labels = self.labels(out.y[:rows], words)
        batch = Batch(X, labels, out.lines[:rows].copy(), block.progress, weight, position)
        new_names = self.known.new_names[: table[name_table.NEW_BYTES]].tobytes()
        return UnnumberedBatch(batch, new_names, self.known.bare[:names].copy())

    def labels(self, y: NDArray[np.float64], words: dict[int, Any]) -> Any:
        """Return labels as integers if all are, as a list if some are words; None if no row has one."""
        if words:
            numbers = [int(one) if one.is_integer() else None if one != one else one for one in y.tolist()]
            return [words.get(row, one) for row, one in enumerate(numbers)]
        if not self.options.labelled and bool(np.isnan(y).all()):
            return None
        if not self.options.targets and bool(((np.rint(y) == y) & (np.abs(y) < EXACT)).all()):
            return y.astype(np.int64)
        return y.copy()


def find_feature_start(line: bytearray, at: int) -> int:
    """Return where the feature begins that a value belongs to."""
    while at > 0 and not text.ends_number(line[at - 1]):
        at -= 1
    return at


def find_number(line: bytearray, at: int) -> bytes:
    """Return the text of the number at a position, up to the next blank or bar."""
    last = at
    while not text.ends_number(line[last]):
        last += 1
    return bytes(line[at:last])
