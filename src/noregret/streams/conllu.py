"""Reads annotated sentences: CoNLL-U files, and tables with a token in every line and an empty line after a sentence.

Files may be compressed. Sentences are read one at a time; the whole file is never in memory.
https://universaldependencies.org/format.html
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from noregret.data.sentences import Sentence, check_heads, shorten
from noregret.errors import BadValue, shown
from noregret.streams.files import TextFile
from noregret.streams.lines import LongLine, Pause, read_lines

LONGEST_LINE = 1 << 20  # bytes of a line
MOST_LINES = 1 << 16  # lines of a sentence, comments included
ID, FORM, UPOS, XPOS, HEAD, DEPREL, FIELDS = 0, 1, 3, 4, 6, 7, 10
NUMBER = re.compile(r"[0-9]{1,9}")
SKIPPED = re.compile(r"[0-9]{1,9}(-[0-9]{1,9}|\.[0-9]{1,9})")  # a multiword token, an empty node
SENT_ID = re.compile(r"#\s*sent_id\s*=\s*(.*?)\s*")


class Columns(NamedTuple):
    """Which columns of a table hold the word and its tag, counted from 1; tag None for text without tags."""

    word: int = 1
    tag: int | None = 2


class Lines(NamedTuple):
    """The lines of one sentence as they are in the file, and where they are."""

    text: list[str]
    file: str
    line: int
    number: int
    name: str = ""

    def place(self, offset: int) -> str:
        """Where a line is, for messages: file, line, number and name of its sentence."""
        name = f" ({shorten(self.name)})" if self.name else ""
        return f"{self.file}:{self.line + offset}: sentence {self.number}{name}"


def read_sentences(path: str, columns: Columns | None = None, keep_lines: bool = False) -> Iterator[Sentence]:
    """Yield the sentences of a CoNLL-U file, or with `columns` of a tab-separated table; - is standard input.

    Multiword tokens (1-2) and empty nodes (1.1) are skipped. `keep_lines` keeps the lines of every sentence, so that
    it can be written with other annotation. An error names the file, the line and the sentence.
    """
    if columns is not None:
        check_columns(columns)
    found = 0
    for lines in split_sentences(path, comments=columns is None):
        found += 1
        yield read_conllu(lines, keep_lines) if columns is None else read_table(lines, columns, keep_lines)
    if not found:
        raise BadValue(f"{path}: has no sentences; give a file with a token in every line")


def read_blocks(sentences: Iterable[Sentence], size: int = 256) -> Iterator[list[Sentence]]:
    """Yield lists of so many sentences; the last may be shorter."""
    block: list[Sentence] = []
    for sentence in sentences:
        block.append(sentence)
        if len(block) == size:
            yield block
            block = []
    if block:
        yield block


def check_columns(columns: Columns) -> None:
    """Raise an error unless the columns are different positive numbers."""
    numbers = [number for number in columns if number is not None]
    if min(numbers) < 1 or len(set(numbers)) < len(numbers):
        raise BadValue(f"columns are counted from 1 and must differ, not word={columns.word}, tag={columns.tag}")


def split_sentences(path: str, comments: bool) -> Iterator[Lines]:
    """Yield the lines of every sentence: what stands between empty lines, without them."""
    with TextFile(path) as file:
        text: list[str] = []
        first = line = number = 0
        for raw in read_lines(file, file.name, longest=LONGEST_LINE):
            if isinstance(raw, Pause | LongLine):
                continue
            line += 1
            content = decode(raw, f"{file.name}:{line}: sentence {number + 1}")
            if line == 1:
                content = content.removeprefix("\ufeff")
            if content.strip():
                first = first if text else line
                text.append(content)
                check_length(text, f"{file.name}:{first}: sentence {number + 1}")
            elif text:
                number += 1
                yield name_sentence(Lines(text, file.name, first, number), comments)
                text = []
        if text:
            yield name_sentence(Lines(text, file.name, first, number + 1), comments)


def read_text(path: str) -> Iterator[Sentence]:
    """Yield the sentences of a text, one in every line, whose tokens are separated by spaces."""
    with TextFile(path) as file:
        line = 0
        for raw in read_lines(file, file.name, longest=LONGEST_LINE):
            if isinstance(raw, Pause | LongLine):
                continue
            line += 1
            content = decode(raw, f"{file.name}:{line}")
            if words := (content.removeprefix("\ufeff") if line == 1 else content).split():
                yield Sentence(tuple(words), file=file.name, line=line, number=line)


def decode(raw: bytes, place: str) -> str:
    """Return a line without its end as text."""
    try:
        return raw.removesuffix(b"\n").removesuffix(b"\r").decode()
    except UnicodeDecodeError as error:
        raise BadValue(f"{place}: byte {error.start + 1} of the line is not UTF-8; convert the file to UTF-8") from None


def check_length(text: list[str], place: str) -> None:
    """Raise an error for a sentence without end."""
    if len(text) > MOST_LINES:
        raise BadValue(f"{place}: is longer than {MOST_LINES:,} lines; an empty line must follow every sentence")


def name_sentence(lines: Lines, comments: bool) -> Lines:
    """Add the sent_id of the comments."""
    for text in lines.text if comments else ():
        match = SENT_ID.fullmatch(text)
        if match:
            return lines._replace(name=match[1])
    return lines


def read_conllu(lines: Lines, keep_lines: bool) -> Sentence:
    """Return a sentence of a CoNLL-U file, its lines checked."""
    rows: list[list[str]] = []
    heads: list[int | None] = []
    for offset, text in enumerate(lines.text):
        if text.startswith("#"):
            continue
        fields = text.split("\t")
        if len(fields) != FIELDS:
            raise BadValue(f"{lines.place(offset)}: {count_fields(fields)}; CoNLL-U has {FIELDS}, separated by tabs")
        if SKIPPED.fullmatch(fields[ID]):
            continue
        if not NUMBER.fullmatch(fields[ID]) or int(fields[ID]) != len(rows) + 1:
            raise BadValue(
                f"{lines.place(offset)}: token {shown(fields[ID])} stands where token {len(rows) + 1} should be; "
                "tokens are numbered from 1 in every sentence, and an empty line follows its last"
            )
        if not fields[FORM]:
            raise BadValue(f"{lines.place(offset)}: token {len(rows) + 1} has no word; the second column is empty")
        heads.append(read_head(fields[HEAD], lines.place(offset)))
        rows.append(fields)
    if not rows:
        raise BadValue(f"{lines.place(0)}: has no tokens; remove its lines")
    known = check_all_heads(heads, lines)
    column = list(zip(*rows, strict=True))
    return Sentence(
        words=column[FORM],
        upos=known_tags(column[UPOS]),
        xpos=known_tags(column[XPOS]),
        heads=known,
        relations=known_tags(column[DEPREL]),
        id=lines.name,
        file=lines.file,
        line=lines.line,
        number=lines.number,
        lines=tuple(lines.text) if keep_lines else None,
    )


def read_head(text: str, place: str) -> int | None:
    """Return the number of a head; None for _."""
    if text == "_":
        return None
    if not NUMBER.fullmatch(text):
        raise BadValue(
            f"{place}: the head {shown(text)} is not a number; give 0 for the root, the number of a word, or _"
        )
    return int(text)


def check_all_heads(heads: Sequence[int | None], lines: Lines) -> tuple[int, ...] | None:
    """Return the heads, or None if no word has one; raise an error where one is missing or points outside."""
    known = tuple(head for head in heads if head is not None)
    if not known:
        return None
    if len(known) < len(heads):
        word = list(heads).index(None) + 1
        raise BadValue(f"{lines.place(0)}: word {word} has no head, but others have; give all heads or none")
    check_heads(known, lines.place(0))
    return known


def known_tags(tags: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return the tags, or None if there are none."""
    return None if all(tag in ("_", "") for tag in tags) else tags


def read_table(lines: Lines, columns: Columns, keep_lines: bool) -> Sentence:
    """Return a sentence of a table, its lines checked."""
    words: list[str] = []
    tags: list[str] = []
    least = max(columns.word, columns.tag or 0)
    for offset, text in enumerate(lines.text):
        fields = text.split("\t")
        if len(fields) < least:
            why = f"{count_fields(fields)}, but column {least} was asked for; columns are separated by tabs"
            raise BadValue(f"{lines.place(offset)}: {why}")
        words.append(fields[columns.word - 1])
        tags.append(fields[columns.tag - 1] if columns.tag else "_")
        if not words[-1] or not tags[-1]:
            which = columns.tag if words[-1] else columns.word
            raise BadValue(f"{lines.place(offset)}: column {which} is empty; give a word and a tag in every line")
    return Sentence(
        words=tuple(words),
        upos=tuple(tags) if columns.tag else None,
        file=lines.file,
        line=lines.line,
        number=lines.number,
        lines=tuple(lines.text) if keep_lines else None,
    )


def count_fields(fields: list[str]) -> str:
    """Say how many columns were found, and how the line begins."""
    many = "1 column" if len(fields) == 1 else f"{len(fields)} columns"
    return f"the line {shown(fields[0])} has {many}" if len(fields) == 1 else f"the line has {many}"
