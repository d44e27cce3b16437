"""Text that is not yet lines of UTF-8: other encodings, and cells in quotes that contain line breaks."""

import codecs
import io
from typing import Any

from noregret.errors import BadValue, shown

CHUNK = 1 << 16
BOMS = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


def check_encoding(name: str) -> str:
    """Return the name of an encoding; refuse one that Python does not know, or that is no text."""
    try:
        codec = codecs.lookup(name)
    except LookupError:
        codec = None
    if codec is None or not getattr(codec, "_is_text_encoding", True):
        raise BadValue(f"there is no encoding {shown(name)}; usual ones are utf-8, latin-1, cp1252, utf-16, shift_jis")
    return codec.name


class Recoded(io.RawIOBase):
    """A text in another encoding, read as UTF-8."""

    def __init__(self, file: Any, encoding: str, name: str) -> None:
        self.file, self.encoding, self.name = file, encoding, name
        self.decoder = codecs.getincrementaldecoder(encoding)()
        self.pending, self.over = b"", False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self.pending and not self.over:
            chunk = bytearray(CHUNK)
            got = int(self.file.readinto(chunk) or 0)
            self.over = got == 0
            try:
                self.pending = self.decoder.decode(bytes(chunk[:got]), final=self.over).encode()
            except UnicodeDecodeError as error:
                why = f"the text is not in {self.encoding}: {error.reason}; name another --encoding"
                raise BadValue(f"{self.name}: {why}") from None
        part = self.pending[: len(buffer)]
        buffer[: len(part)] = part
        self.pending = self.pending[len(part) :]
        return len(part)

    def close(self) -> None:
        if not self.closed:
            self.file.close()
        super().close()


def join_quoted_lines(block: bytes, inside: bool, quote: bytes = b'"') -> tuple[bytes, bool]:
    """Replace line breaks inside quotes by blanks; return the block, as long as before, and whether it ends inside."""
    parts = block.split(quote)
    for at in range(0 if inside else 1, len(parts), 2):
        parts[at] = parts[at].replace(b"\n", b" ").replace(b"\r", b" ")
    return quote.join(parts), inside ^ (len(parts) % 2 == 0)


class QuotedLines:
    """A table whose quoted cells may contain line breaks, read with a row on each line."""

    def __init__(self, file: Any, inside: bool) -> None:
        """`inside` says whether what was read before ends inside quotes."""
        self.file, self.inside = file, inside

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)

    def __enter__(self) -> "QuotedLines":
        return self

    def __exit__(self, *error: object) -> None:
        self.file.close()

    def readinto(self, buffer: Any) -> int:
        got = int(self.file.readinto(buffer))
        joined, self.inside = join_quoted_lines(bytes(buffer[:got]), self.inside)
        buffer[:got] = joined
        return got

    def skip_bytes(self, count: int, offset: int) -> None:
        """Skip so many bytes, up to byte `offset` of the text: they end where a row ends, outside of quotes."""
        self.file.skip_bytes(count, offset)
        self.inside = False
