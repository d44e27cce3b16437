"""File formats, one module each: given by --format, by the suffix of the file, or detected from its first lines."""

import re
from importlib import import_module
from pathlib import Path

from noregret.errors import BadValue, find_closest, shown
from noregret.streams import datasets
from noregret.streams.read_options import ReadOptions
from noregret.streams.source import Source

BOM = b"\xef\xbb\xbf"  # the byte order mark that some editors put before the text
SNIFF_BYTES = 1 << 16  # bytes from which the format is detected
SIGNATURES = {
    b"PAR1": "parquet", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "arrow",
    b"\0\0\x08\x03": "idx", b"\0\0\x08\x01": "idx",
}  # fmt: skip
PAIR = re.compile(rb"(?:[0-9]+|qid):[^:,;|]+")
NUMBER = rb"[-+]?[0-9]*\.?[0-9]+"
VW_NAMESPACE = re.compile(
    rb"[ \t]*(?:[^\s|,;:]+[ \t]+){0,3}(?:'[^\s|]*[ \t]*)?\|[^\s|:]+(?::[^\s|]+)?(?:[ \t|]|$)"
)  # 1 |words a b
VW_NO_NAMESPACE = re.compile(
    rb"[ \t]*(?:" + NUMBER + rb"[ \t]+){0,3}(?:'[^\s|]*[ \t]*)?\|(?:[ \t]+[^\s|]+){2,}"
)  # 1 | a b


FORMATS = {
    "libsvm": ("libsvm", "Libsvm"),
    "vw": ("vw", "Vw"),
    "csv": ("csv", "Csv"),
    "jsonl": ("jsonl", "Jsonl"),
    "parquet": ("arrow", "parquet"),
    "arrow": ("arrow", "ipc"),
    "idx": ("idx", "Idx"),
    "text": ("text", "Texts"),
    "folder": ("folder", "Folder"),
}  # the module of each format, and the class or function there that makes a source from a path and options
ALIASES = {
    "svmlight": "libsvm", "svm": "libsvm", "tsv": "csv", "json": "jsonl", "ndjson": "jsonl", "feather": "arrow",
    "ipc": "arrow", "mnist": "idx",
}  # fmt: skip


def file_source(path: str, spec: str, options: ReadOptions) -> Source:
    """Open a file in the requested format, or else by its suffix, or by its first lines."""
    if requested_format(options) != "folder" and path != "-" and Path(path).is_dir():
        path = str(datasets.find_main_file(Path(path), spec))
    kind = requested_format(options) or datasets.split_name(path)[1] or sniff_file(path, options)
    module, factory = FORMATS[kind]
    source: Source = getattr(import_module(f"noregret.streams.{module}"), factory)(path, options)
    options.check_applies(f"{source.kind} ({source.name})", source.accepts)
    return source


def requested_format(options: ReadOptions) -> str | None:
    """Return the format given by the option, with its aliases resolved."""
    if options.format is None:
        return None
    kind = ALIASES.get(options.format, options.format)
    if kind not in FORMATS:
        close = find_closest(kind, [*FORMATS, *ALIASES])
        hint = f", did you mean {close!r}?" if close else ";"
        raise BadValue(f"there is no format {shown(options.format)}{hint} the formats are {', '.join(FORMATS)}")
    return kind


def sniff_file(path: str, options: ReadOptions) -> str:
    """Detect the format of a file; the bytes read from standard input are kept for its reader."""
    from noregret.streams.files import TextFile

    with TextFile(path, options.live, options.encoding) as file:
        return sniff_format(file.peek(SNIFF_BYTES), file.name)


def sniff_format(head: bytes, name: str) -> str:
    """Detect the format of a file from its first bytes."""
    for signature, kind in SIGNATURES.items():
        if head.startswith(signature):
            return kind
    if head.startswith(b"\x93NUMPY"):
        raise BadValue(f"{name}: this is an array of NumPy, not a table; write it as a table with "
                       "np.savetxt(PATH, X, delimiter=','), or learn it in Python")  # fmt: skip
    if head[8:9] == b"{" and head[4:8] == bytes(4):
        raise BadValue(f"{name}: this is a saved model, not data; `noregret show {name}` says what it can do")
    lines = [line for line in head.split(b"\n") if line.strip() and not line.lstrip().startswith(b"#")]
    if lines and lines[0].lstrip(b"\xef\xbb\xbf ").startswith(b"{"):
        return "jsonl"
    whole = [line.removeprefix(BOM) for line in lines[:-1] or lines]  # the last line may be incomplete
    if whole and all(VW_NAMESPACE.match(line) or VW_NO_NAMESPACE.match(line) for line in whole):
        return "vw"
    if any(PAIR.fullmatch(word) for line in lines for word in line.split(None, 2)[:2]):
        return "libsvm"
    if lines and any(delimiter in lines[0] for delimiter in (b",", b";", b"\t", b"|")):
        return "csv"
    raise BadValue(
        f"{name}: this is neither libsvm (label index:value ...) nor vw (label |namespace feature ...) nor JSON "
        "lines nor a table of cells separated by commas, semicolons, tabs or bars; say which with --format, as "
        "in --format text for lines of text"
    )
