"""Files of text as a user names them: a path, or - for standard input; compressed ones are read as they are.

What a file is compressed with is told by its first bytes, so names do not matter and pipes can be compressed too.
"""

import io
import os
import stat
import sys
import time
from collections.abc import Callable
from typing import Any

from noregret.errors import BadValue

HEAD = 16  # bytes looked at to tell how a file is compressed
PIECE = 1 << 16  # bytes unpacked at a time
WHOLE = "read it again when nobody writes to it"
AGAIN = "the file may be damaged or cut off; get it again"


class Unreadable(BadValue):
    """A file that cannot be read, or not to its end; `why` is the message without the file's name.

    A reader that knows notes the `line`, counted from where it began to read.
    """

    def __init__(self, name: str, why: str) -> None:
        super().__init__(f"{name}: {why}")
        self.why = why
        self.line = 1


class Raw(io.RawIOBase):
    """The bytes of a file as they are, the first ones looked at beforehand, all of them counted."""

    def __init__(self, file: Any, name: str) -> None:
        self.file, self.title = file, name
        self.count = 0
        self.head = b""
        while len(self.head) < HEAD and (more := self.bytes(HEAD - len(self.head))):
            self.head += more
        self.ahead = self.head

    def bytes(self, size: int) -> bytes:
        try:
            return patient(lambda: self.file.read(size))  # type: ignore[no-any-return]
        except OSError as error:
            raise Unreadable(self.title, f"cannot be read: {error.strerror or error}") from None

    def readable(self) -> bool:
        return True

    def readinto(self, room: Any) -> int:
        got = len(self.ahead[: len(room)])
        room[:got] = self.ahead[:got]
        self.ahead = self.ahead[got:]
        if got < len(room):
            try:
                got += int(patient(lambda: self.file.readinto(memoryview(room)[got:])))
            except OSError as error:
                raise Unreadable(self.title, f"cannot be read: {error.strerror or error}") from None
        self.count += got
        return got

    def go_to(self, offset: int) -> None:
        """Go on at so many bytes from the start; only files have them."""
        self.file.seek(offset)
        self.ahead, self.count = b"", offset

    def close(self) -> None:
        if not self.closed:
            self.file.close()
        super().close()


class TextFile(io.RawIOBase):
    """A file of text, opened and decompressed. Whatever goes wrong is one `Unreadable` that says what to do."""

    def __init__(self, path: str) -> None:
        self.name = "standard input" if path == "-" else path
        self.path, self.peeked, self.consumed = path, b"", False
        self.raw: Any = None
        self.text: Any = None
        if path in _looked_at:
            self.raw, self.kind, self.text, self.peeked = _looked_at.pop(path)
        else:
            self.raw = Raw(standard_input() if path == "-" else opened(path), self.name)
            self.kind, opener = compression(self.raw.head)
            self.text = self.unpacked(opener)
        self.size = regular_size(self.raw.file)

    def unpacked(self, opener: Callable[[Any], Any] | None) -> Any:
        try:
            if not self.raw.head:
                raise Unreadable(self.name, "is empty; give a file with rows")
            if opener is None:
                raise Unreadable(self.name, f"is a {self.kind}; unpack it first")
            return opener(self.raw)
        except BaseException:
            self.raw.close()
            raise

    def readable(self) -> bool:
        return True

    def peek(self, size: int) -> bytes:
        """The next bytes, `size` of them unless the text ends before; they are still there to be read."""
        while len(self.peeked) < size:
            some = bytearray(size - len(self.peeked))
            got = self.unpack_into(some)
            self.peeked += some[:got]
            if got == 0:
                break
        return self.peeked[:size]

    def readinto(self, room: Any) -> int:
        self.consumed = True
        if not self.peeked:
            return self.unpack_into(room)
        got = len(self.peeked[: len(room)])
        room[:got] = self.peeked[:got]
        self.peeked = self.peeked[got:]
        return got

    def unpack_into(self, room: Any) -> int:
        try:
            if self.text is self.raw:
                return self.not_shorter(int(self.raw.readinto(room)))
            # Little at a time: what is unpacked before damaged data in the same piece is lost.
            return int(self.text.readinto(memoryview(room)[:PIECE]) or 0)
        except BadValue:
            raise
        except EOFError:
            raise Unreadable(self.name, f"the {self.kind} data end too early; {AGAIN}") from None
        except Exception as error:
            early = "Truncated" in str(error)
            what = "end too early" if early else f"cannot be decompressed ({' '.join(str(error).split())})"
            raise Unreadable(self.name, f"the {self.kind} data {what}; {AGAIN}") from None

    def not_shorter(self, got: int) -> int:
        """What was got; a file that ends before it should is being written over by somebody."""
        if not got and self.size is not None and self.raw.count < self.size:
            why = f"became shorter while it was read, from {self.size:,} bytes to {self.raw.count:,}; {WHOLE}"
            raise Unreadable(self.name, why)
        return got

    def go_to(self, offset: int) -> None:
        """Leave out so many bytes of the text, before any was read."""
        if not offset:
            return
        if self.text is self.raw and self.size is not None and not self.peeked and offset <= self.size:
            self.raw.go_to(offset)
        else:
            self.leave_out(offset, offset)

    def leave_out(self, count: int, offset: int) -> None:
        """Read over so many bytes, to the byte `offset` of the text."""
        room, left = bytearray(min(count, 1 << 20)), count
        while left and (got := self.readinto(memoryview(room)[:left])):
            left -= got
        if left:
            raise Unreadable(
                self.name, f"ends before byte {offset:,}, where reading should go on; is it the same file?"
            )

    def progress(self) -> float | None:
        """The share of the file's bytes that are read, compressed bytes if it is; None where the size is not known."""
        return min(1.0, self.raw.count / self.size) if self.size else None

    def close(self) -> None:
        """Close the file; a pipe that was only looked at is kept for who reads it next: it cannot be opened again."""
        if not self.closed and self.text is not None:
            if self.peeked and not self.consumed and regular_size(self.raw.file) is None:
                _looked_at[self.path] = (self.raw, self.kind, self.text, self.peeked)
            else:
                self.text.close()
                self.raw.close()
        super().close()


_looked_at: dict[str, tuple[Raw, str, Any, bytes]] = {}


def patient(read: Callable[[], Any]) -> Any:
    """What reading gives; a pipe that does not wait says None while there is nothing yet."""
    while (found := read()) is None:
        time.sleep(0.01)
    return found


def opened(path: str) -> Any:
    if os.path.isdir(path):
        raise Unreadable(path, "is a folder; give a file")
    try:
        return open(path, "rb", buffering=0)
    except FileNotFoundError:
        raise Unreadable(path, "there is no such file; check the path") from None
    except PermissionError:
        raise Unreadable(path, "may not be read by you; change its permissions or give another file") from None
    except (OSError, ValueError) as error:
        raise Unreadable(path, f"cannot be opened: {getattr(error, 'strerror', None) or error}") from None


def standard_input() -> Any:
    """Standard input without Python's buffer, whose lock a reading thread would hold when the program ends."""
    try:
        return open(sys.stdin.fileno(), "rb", buffering=0, closefd=False)
    except (OSError, ValueError, AttributeError):
        return io.BytesIO(sys.stdin.buffer.read() if hasattr(sys.stdin, "buffer") else b"")


def regular_size(file: Any) -> int | None:
    """How many bytes a file has; None for pipes and the like."""
    try:
        told = os.fstat(file.fileno())
    except (OSError, ValueError):
        return None
    return told.st_size if stat.S_ISREG(told.st_mode) else None


def compression(head: bytes) -> tuple[str, Callable[[Any], Any] | None]:
    """What a file is packed with, and what opens it; nothing opens an archive."""
    if head.startswith(b"\x1f\x8b"):
        return "gzip", gzip_text
    if head.startswith(b"BZh") and head[4:10] in (b"1AY&SY", b"\x17rE8P\x90"):
        return "bzip2", bzip2_text
    if head.startswith(b"\xfd7zXZ\x00"):
        return "xz", xz_text
    if head.startswith(b"\x28\xb5\x2f\xfd") or head[1:4] == b"\x2a\x4d\x18":
        return "zstd", zstd_text
    if head.startswith(b"PK\x03\x04"):
        return "zip archive", None
    return "text", lambda raw: raw


def gzip_text(raw: Any) -> Any:
    import gzip

    return gzip.GzipFile(fileobj=raw, mode="rb")


def bzip2_text(raw: Any) -> Any:
    import bz2

    return bz2.BZ2File(raw)


def xz_text(raw: Any) -> Any:
    import lzma

    return lzma.LZMAFile(raw)


def zstd_text(raw: Any) -> Any:
    import pyarrow as pa

    return pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), "zstd")
