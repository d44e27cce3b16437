"""Writes sentences as CoNLL-U."""

import re
from collections.abc import Sequence

from noregret.data.sentences import Sentence
from noregret.streams.conllu import DEPREL, FIELDS, FORM, HEAD, ID, NUMBER, UPOS, XPOS

DEPS = 8  # the column of enhanced dependencies
BREAKS = re.compile(r"[\t\r\n]")


def write_conllu(
    sentence: Sentence,
    heads: Sequence[int] | None = None,
    relations: Sequence[str] | None = None,
    upos: Sequence[str] | None = None,
    xpos: Sequence[str] | None = None,
) -> str:
    """Return the lines of a sentence in CoNLL-U, with other heads, relations or tags and an empty line at the end.

    Of a sentence that was read with `keep_lines`, everything else stays as it was. Enhanced dependencies are removed
    where heads are replaced, because they would contradict them.
    """
    if sentence.lines is not None and all(text.count("\t") == FIELDS - 1 or text[0] == "#" for text in sentence.lines):
        rows = [text if text.startswith("#") else text.split("\t") for text in sentence.lines]
    else:
        rows = plain_rows(sentence)
    lines: list[str] = []
    at = 0
    for row in rows:
        if isinstance(row, list) and NUMBER.fullmatch(row[ID]):
            for column, values in ((HEAD, heads), (DEPREL, relations), (UPOS, upos), (XPOS, xpos)):
                if values is not None:
                    row[column] = str(values[at])
            at += 1
        if isinstance(row, list) and heads is not None:
            row[DEPS] = "_"
        lines.append(row if isinstance(row, str) else "\t".join(row))
    return "\n".join(lines) + "\n\n"


def plain_rows(sentence: Sentence) -> list[str | list[str]]:
    """Return the lines of a sentence of which only the annotation is known."""
    rows: list[str | list[str]] = [f"# sent_id = {sentence.id}"] if sentence.id else []
    for at, word in enumerate(sentence.words):
        row = ["_"] * FIELDS
        row[ID], row[FORM] = str(at + 1), BREAKS.sub(" ", word) or "_"
        known = ((UPOS, sentence.upos), (XPOS, sentence.xpos), (HEAD, sentence.heads), (DEPREL, sentence.relations))
        for column, values in known:
            if values is not None:
                row[column] = str(values[at])
        rows.append(row)
    return rows
