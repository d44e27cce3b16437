"""The formats of files, one module each: told by --format, by the ending of a name, or by a look at the first lines."""

import re
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path

from noregret.errors import BadValue, shown
from noregret.streams import datasets
from noregret.streams.read_options import Reading
from noregret.streams.source import Source

MARK = b"\xef\xbb\xbf"  # what some editors put before the text
LOOK = 1 << 16  # bytes in which the format should show
MARKS = {
    b"PAR1": "parquet", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "arrow",
    b"\0\0\x08\x03": "idx", b"\0\0\x08\x01": "idx",
}  # fmt: skip
PAIR = re.compile(rb"(?:[0-9]+|qid):[^:,;|]+")
NUMBER = rb"[-+]?[0-9]*\.?[0-9]+"
NAMED = re.compile(
    rb"[ \t]*(?:[^\s|,;:]+[ \t]+){0,3}(?:'[^\s|]*[ \t]*)?\|[^\s|:]+(?::[^\s|]+)?(?:[ \t|]|$)"
)  # 1 |words a b
NAMELESS = re.compile(rb"[ \t]*(?:" + NUMBER + rb"[ \t]+){0,3}(?:'[^\s|]*[ \t]*)?\|(?:[ \t]+[^\s|]+){2,}")  # 1 | a b


FORMATS = {
    "libsvm": ("libsvm", "Libsvm"),
    "vw": ("vw", "Vw"),
    "csv": ("csv", "Csv"),
    "jsonl": ("jsonl", "Jsonl"),
    "parquet": ("arrow", "parquet"),
    "arrow": ("arrow", "ipc"),
    "idx": ("idx", "Idx"),
    "text": ("text", "Texts"),
}  # each by its module, and by what makes a source of a path and a reading there
OTHERWISE = {
    "svmlight": "libsvm", "svm": "libsvm", "tsv": "csv", "json": "jsonl", "ndjson": "jsonl", "feather": "arrow",
    "ipc": "arrow", "mnist": "idx",
}  # fmt: skip


def file_source(path: str, spec: str, reading: Reading) -> Source:
    """A file in the format asked for, or else by its ending, or by a look at its first lines."""
    if path != "-" and Path(path).is_dir():
        path = str(datasets.inside(Path(path), spec))
    kind = asked(reading) or datasets.split_name(path)[1] or looked_at(path)
    module, maker = FORMATS[kind]
    source: Source = getattr(import_module(f"noregret.streams.{module}"), maker)(path, reading)
    reading.must_suit(f"{source.kind} ({source.name})", source.takes)
    return source


def asked(reading: Reading) -> str | None:
    """The format that was asked for."""
    if reading.format is None:
        return None
    kind = OTHERWISE.get(reading.format, reading.format)
    if kind not in FORMATS:
        close = get_close_matches(str(kind), [*FORMATS, *OTHERWISE], 1)
        hint = f", did you mean {close[0]!r}?" if close else ";"
        raise BadValue(f"there is no format {shown(reading.format)}{hint} the formats are {', '.join(FORMATS)}")
    return kind


def looked_at(path: str) -> str:
    """The format of a file whose name does not tell; what was looked at of standard input is kept for its reader."""
    from noregret.streams.files import TextFile

    with TextFile(path) as file:
        return sniffed(file.peek(LOOK), file.name)


def sniffed(head: bytes, name: str) -> str:
    """The format of a file by how it begins: marks, records, features after a bar, pairs index:value, or cells."""
    for mark, kind in MARKS.items():
        if head.startswith(mark):
            return kind
    lines = [line for line in head.split(b"\n") if line.strip() and not line.lstrip().startswith(b"#")]
    if lines and lines[0].lstrip(b"\xef\xbb\xbf ").startswith(b"{"):
        return "jsonl"
    whole = lines[:-1] or lines  # the last may be cut off
    if whole and all(NAMED.match(line.removeprefix(MARK)) or NAMELESS.match(line.removeprefix(MARK)) for line in whole):
        return "vw"
    if any(PAIR.fullmatch(word) for line in lines for word in line.split(None, 2)[:2]):
        return "libsvm"
    if lines and any(mark in lines[0] for mark in (b",", b";", b"\t", b"|")):
        return "csv"
    raise BadValue(
        f"{name}: this is neither libsvm (label index:value ...) nor vw (label |namespace feature ...) nor JSON "
        "lines nor a table of cells separated by commas, semicolons, tabs or bars; say which with --format"
    )
