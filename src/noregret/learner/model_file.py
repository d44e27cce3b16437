"""Model files: safetensors with a JSON header, versioned, checked before use, written whole or not at all.

Nothing in a model file is ever executed. A learner has a kind; each kind turns itself into a header and named arrays
(`dump`) and back (`restore`), and kinds nest: a learner made of learners puts their parts under names of its own. A
user's own rule is looked up by name in the running program.
"""

import contextlib
import hashlib
import json
import os
import re
import secrets
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from noregret.errors import BadValue, Error
from noregret.learner.finder import Finder
from noregret.learner.packed_arrays import pack_arrays, unpack_arrays
from noregret.learner.registry import load_cards
from noregret.rules.card import Card

FORMAT = 5
WITHOUT_PACKED = 4  # the format of files in which every array is whole
KEY = "noregret"
LONGEST_MESSAGE = 400
ABANDONED = 900.0  # seconds after which nobody writes a temporary file any more
DTYPES = {
    "F64": np.float64, "F32": np.float32, "F16": np.float16, "I64": np.int64, "I32": np.int32, "I16": np.int16,
    "I8": np.int8, "U32": np.uint32, "U8": np.uint8, "BOOL": np.bool_,
}  # fmt: skip

Header = dict[str, Any]
Arrays = dict[str, NDArray[Any]]
FindCard = Finder


class Saved(Protocol):
    """A learner that can be written to a model file."""

    kind: ClassVar[str]
    source: dict[str, Any] | None  # what the doors remember of the data it was learned from

    def dump(self) -> tuple[Header, Arrays]: ...

    @classmethod
    def restore(cls, header: Header, arrays: Arrays, find_card: FindCard) -> Self: ...


KINDS: dict[str, type[Saved]] = {}
AnySaved = TypeVar("AnySaved", bound=type[Saved])


def register_kind(learner: AnySaved) -> AnySaved:
    """Let learners of this class be saved and loaded, by their `kind`."""
    KINDS[learner.kind] = learner
    return learner


# ---- nesting ---------------------------------------------------------------------------------------------------------


def dump_part(name: str, learner: Any) -> tuple[Header, Arrays]:
    """A learner inside another: its header, and its arrays under a name."""
    header, arrays = learner.dump()
    return {"kind": learner.kind, **header}, {f"{name}/{key}": array for key, array in arrays.items()}


def restore_part(name: str, header: Any, arrays: Arrays, find_card: FindCard) -> Any:
    """The learner that `dump_part` put under a name."""
    start = f"{name}/"
    own = {key.removeprefix(start): array for key, array in arrays.items() if key.startswith(start)}
    return restore(header, own, find_card)


def restore(header: Any, arrays: Arrays, find_card: FindCard) -> Any:
    """A learner of the kind that its header names."""
    if not isinstance(header, dict):
        raise BadValue("corrupt model file: a header is missing")
    kind = header.get("kind", "rule")
    if kind not in KINDS:
        load_cards()
    if not isinstance(kind, str) or kind not in KINDS:
        raise Error(f"the model is of the kind {kind!r}, which this noregret does not know; upgrade")
    return KINDS[kind].restore(header, arrays, find_card)


# ---- out -------------------------------------------------------------------------------------------------------------


def digest(text: str, arrays: Mapping[str, NDArray[Any]]) -> str:
    """A checksum over the header and all arrays."""
    seal = hashlib.sha256(text.encode())
    for name in sorted(arrays):
        seal.update(f"{name} {arrays[name].dtype} {arrays[name].shape}".encode())
        seal.update(np.ascontiguousarray(arrays[name]).data)
    return seal.hexdigest()


def pack(learner: Any) -> bytes:
    """The learner as the content of a model file."""
    from safetensors.numpy import save

    header, arrays = learner.dump()
    try:
        source = {} if learner.source is None else {"source": learner.source}
        arrays, packed = pack_arrays(arrays)
        version = {"format": FORMAT, "packed": packed} if packed else {"format": WITHOUT_PACKED}
        header = {**version, "kind": learner.kind, **source, **header}
        text = json.dumps(header, sort_keys=True, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise Error(f"this learner cannot be saved: {error}; labels must be numbers, strings or truth values") from None
    return sort_header(bytes(save(arrays, metadata={KEY: text, "sha256": digest(text, arrays)})))


def sort_header(content: bytes) -> bytes:
    """The same file with its header sorted, which safetensors does not do: equal learners give equal bytes."""
    size = int.from_bytes(content[:8], "little")
    head = json.dumps(json.loads(content[8 : 8 + size]), sort_keys=True).encode()
    head += b" " * (-len(head) % 8)
    return len(head).to_bytes(8, "little") + head + content[8 + size :]


def save(learner: Any, path: Any) -> None:
    """Write a model file beside its place, then put it there in one step."""
    content = pack(learner)
    temporary: Path | None = None
    try:
        target = Path(os.path.realpath(path))  # a link stays a link
        if target.exists() and not target.is_file():
            with open(target, "wb") as device:  # not a place to put a file at: a device or a pipe takes the bytes
                device.write(content)
            return
        temporary = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
        with open(temporary, "xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, temporary)
        os.replace(temporary, target)
        sweep(target)
    except (OSError, TypeError, ValueError) as error:
        remove(temporary)
        raise Error(f"{path}: the model cannot be saved: {getattr(error, 'strerror', None) or error}") from None
    except BaseException:
        remove(temporary)
        raise


def remove(file: Path | None) -> None:
    if file is not None:
        with contextlib.suppress(OSError, ValueError):
            file.unlink()


def sweep(target: Path) -> None:
    """Remove what processes that were killed left of earlier saves to the same place."""
    left = re.compile(rf"\.{re.escape(target.name)}\.[0-9a-f]{{16}}").fullmatch
    with contextlib.suppress(OSError), os.scandir(target.parent) as files:
        for file in files:
            if left(file.name) and time.time() - file.stat(follow_symlinks=False).st_mtime > ABANDONED:
                remove(Path(file.path))


# ---- in --------------------------------------------------------------------------------------------------------------


def load(
    path: Any,
    rule: Card | None = None,
    features: Any = None,
    functions: Any = None,
    decoder: Any = None,
    module: Any = None,
) -> Any:
    """Read a learner from a model file. For a model of your own rule, import its file first or give the rule.

    `features` is the feature function of a model with joint features, or a dict of such functions by name. `functions`
    are those that were given to `make` as options: one function, a list, or a dict by name. `decoder` is the decoder
    of a model of structured output. `module` is the torch module of a model that trains one; it takes the parameters
    of the file.
    """
    try:
        content = Path(path).read_bytes()
    except (OSError, TypeError, ValueError, MemoryError) as error:
        raise Error(f"{path}: the model cannot be read: {getattr(error, 'strerror', None) or error}") from None
    return unpack(content, str(path), rule, features, functions, decoder, module)


def unpack(
    content: bytes,
    where: str,
    rule: Card | None = None,
    features: Any = None,
    functions: Any = None,
    decoder: Any = None,
    module: Any = None,
) -> Any:
    """A learner from the content of a model file; every error names the file."""
    try:
        header, arrays = parse(content, where)
        learner = restore(header, arrays, Finder(rule, features, functions, decoder, module))
        source = check_source(header.get("source"))
        if hasattr(learner, "with_source"):
            return learner.with_source(source)
        learner.source = source
        return learner
    except Error as error:
        text = shorten(str(error), LONGEST_MESSAGE)
        raise Error(text if text.startswith(where) else f"{where}: {text}") from None
    except MemoryError:
        raise Error(f"{where}: the model does not fit in memory") from None
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError, RecursionError):
        raise Error(f"{where}: corrupt model file: its parts do not fit together") from None


def shorten(text: str, size: int) -> str:
    """A text of at most so many characters: what it quotes comes from the file."""
    return text if len(text) <= size else f"{text[: size - 3]}..."


def check_source(source: Any) -> dict[str, Any] | None:
    if source is not None and not isinstance(source, dict):
        raise BadValue("corrupt model file: inconsistent header")
    return source


def parse(content: bytes, where: str) -> tuple[Header, Arrays]:
    """The header and the arrays of a file whose checksum is right."""
    from safetensors import SafetensorError, deserialize

    size = int.from_bytes(content[:8], "little")
    if len(content) < 8 or size > len(content) - 8:
        raise Error(f"{where}: not a noregret model, or only a part of one")
    try:
        metadata = json.loads(content[8 : 8 + size])["__metadata__"]
        text = metadata[KEY]
        header = json.loads(text)
        found = dict(deserialize(content))  # type: ignore[no-untyped-call]
    except (SafetensorError, KeyError, TypeError, ValueError, RecursionError):
        raise Error(f"{where}: not a noregret model, or a damaged one") from None
    version = header.get("format") if isinstance(header, dict) else None
    if not isinstance(version, int) or version < 1:
        raise Error(f"{where}: not a noregret model")
    if version > FORMAT:
        raise Error(f"{where}: written by a newer noregret (format {version}; this one reads up to {FORMAT}); upgrade")
    arrays: Arrays = {
        name: np.frombuffer(bytes(part["data"]), DTYPES[part["dtype"]]).reshape(part["shape"])
        for name, part in found.items()
    }
    if metadata.get("sha256") != digest(text, arrays):
        raise Error(f"{where}: the model file was changed after it was written, or damaged")
    return header, unpack_arrays(header.pop("packed", {}), arrays)
