"""Text files by path, or - for standard input; compressed files are decompressed while they are read.

The compression is detected from the first bytes, so that names do not matter and pipes can be compressed, too.
"""

import io
import os
import stat
import sys
import time
from collections.abc import Callable
from typing import Any

from noregret.errors import BadValue, import_extra
from noregret.streams.recoding import BOMS, Recoded

SIGNATURE_BYTES = 16  # bytes from which the compression is detected
BLOCK_BYTES = 1 << 16  # bytes decompressed at a time
LONGEST_LINE = 1 << 26  # bytes of a line, at most, in every text format
RETRY = "read it again when no other program writes to it"
AGAIN = "the file may be damaged or cut off; get it again"


class Unreadable(BadValue):
    """A file that cannot be read, or not to its end; `why` is the message without the name of the file.

    `line` is the line of the fault, counted from where reading began; readers set it if they know it. With `in_line`
    the fault is the line itself, which is named even if it is the first.
    """

    def __init__(self, name: str, why: str, in_line: bool = False) -> None:
        super().__init__(f"{name}: {why}")
        self.why, self.in_line = why, in_line
        self.line = 1


class RawFile(io.RawIOBase):
    """The bytes of a file before decompression; the first ones are read in advance, and all are counted."""

    def __init__(self, file: Any, name: str, live: bool = False) -> None:
        self.file, self.title, self.live = file, name, live
        self.count = 0
        self.head = b""
        while len(self.head) < SIGNATURE_BYTES and (more := self.bytes(SIGNATURE_BYTES - len(self.head))):
            self.head += more
            if live and b"\n" in self.head:
                break
        self.pending = self.head

    def bytes(self, size: int) -> bytes:
        """Read at most so many bytes."""
        try:
            return retry_read(lambda: self.file.read(size))  # type: ignore[no-any-return]
        except OSError as error:
            raise Unreadable(self.title, f"cannot be read: {error.strerror or error}") from None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        got = len(self.pending[: len(buffer)])
        buffer[:got] = self.pending[:got]
        self.pending = self.pending[got:]
        if got < len(buffer) and not (got and self.live):
            try:
                got += int(retry_read(lambda: self.file.readinto(memoryview(buffer)[got:])))
            except OSError as error:
                raise Unreadable(self.title, f"cannot be read: {error.strerror or error}") from None
        self.count += got
        return got

    def seek_to(self, offset: int) -> None:
        """Continue at a byte of the file; not for pipes."""
        self.file.seek(offset)
        self.pending, self.count = b"", offset

    def close(self) -> None:
        if not self.closed:
            self.file.close()
        super().close()


class TextFile(io.RawIOBase):
    """A text file, decompressed. Every error is an `Unreadable` whose message says what to do.

    A live one is a pipe whose lines are wanted as soon as they come: no read waits for more than a line.
    """

    def __init__(self, path: str, live: bool = False, encoding: str | None = None) -> None:
        self.name = "standard input" if path == "-" else path
        self.path, self.peeked, self.consumed = path, b"", False
        self.raw: Any = None
        self.text: Any = None
        if (kept := take_peeked(path)) is not None:  # its first bytes were read to detect the format
            self.raw, self.kind, self.text, self.peeked = kept
        else:
            file = open_stdin() if path == "-" else open_binary(path)
            self.raw = RawFile(file, self.name, live and file_size(file) is None)
            self.kind, opener = detect_compression(self.raw.head)
            self.text = self.open_decompressor(opener)
            if self.text is self.raw and self.raw.head[:2] in BOMS:
                encoding = BOMS[self.raw.head[:2]]
            if encoding is not None:
                self.text = Recoded(self.text, encoding, self.name)
        self.size = file_size(self.raw.file)
        self.live = self.raw.live and self.text is self.raw

    def open_decompressor(self, opener: Callable[[Any], Any] | None) -> Any:
        """Return the decompressed file; refuse empty files and archives."""
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
        """Return the next bytes, `size` of them unless the text ends before, without consuming them."""
        while len(self.peeked) < size:
            buffer = bytearray(size - len(self.peeked))
            got = self.decompress_into(buffer)
            self.peeked += buffer[:got]
            if got == 0 or (self.live and b"\n" in self.peeked):
                break
        return self.peeked[:size]

    def readinto(self, buffer: Any) -> int:
        self.consumed = True
        if not self.peeked:
            return self.decompress_into(buffer)
        got = len(self.peeked[: len(buffer)])
        buffer[:got] = self.peeked[:got]
        self.peeked = self.peeked[got:]
        return got

    def decompress_into(self, buffer: Any) -> int:
        """Read decompressed bytes into a buffer; return how many."""
        try:
            if self.text is self.raw:
                return self.check_not_truncated(int(self.raw.readinto(buffer)))
            # A few bytes at a time: where data are damaged, all that is decompressed in the same call is lost.
            return int(self.text.readinto(memoryview(buffer)[:BLOCK_BYTES]) or 0)
        except BadValue:
            raise
        except EOFError:
            raise Unreadable(self.name, f"the {self.kind} data end too early; {AGAIN}") from None
        except Exception as error:
            early = "Truncated" in str(error)
            what = "end too early" if early else f"cannot be decompressed ({' '.join(str(error).split())})"
            raise Unreadable(self.name, f"the {self.kind} data {what}; {AGAIN}") from None

    def check_not_truncated(self, got: int) -> int:
        """Return the number of bytes read; refuse a file that became shorter, because another program writes to it."""
        if not got and self.size is not None and self.raw.count < self.size:
            why = f"became shorter while it was read, from {self.size:,} bytes to {self.raw.count:,}; {RETRY}"
            raise Unreadable(self.name, why)
        return got

    def seek_to(self, offset: int) -> None:
        """Start at a byte of the text, before anything was read."""
        if not offset:
            return
        if self.text is self.raw and self.size is not None and not self.peeked and offset <= self.size:
            self.raw.seek_to(offset)
        else:
            self.skip_bytes(offset, offset)

    def skip_bytes(self, count: int, offset: int) -> None:
        """Skip so many bytes, up to byte `offset` of the text."""
        buffer, left = bytearray(min(count, 1 << 20)), count
        while left and (got := self.readinto(memoryview(buffer)[:left])):
            left -= got
        if left:
            raise Unreadable(
                self.name, f"ends before byte {offset:,}, where reading should continue; is it the same file?"
            )

    def progress(self) -> float | None:
        """Return the share of the file read so far, in compressed bytes; None if its size is not known."""
        return min(1.0, self.raw.count / self.size) if self.size else None

    def close(self) -> None:
        """Close the file; a pipe that was only peeked at stays open for its reader, because it cannot be reopened."""
        if not self.closed and self.text is not None:
            if self.peeked and not self.consumed and file_size(self.raw.file) is None:
                kept = (self.raw, self.kind, self.text, self.peeked)
                _peeked_pipes[self.path] = identify_pipe(self.path), kept
            else:
                self.text.close()
                self.raw.close()
        super().close()


Peeked = tuple[RawFile, str, Any, bytes]
_peeked_pipes: dict[str, tuple[Any, Peeked]] = {}


def take_peeked(path: str) -> Peeked | None:
    """Return the pipe of this path that was only peeked at, unless there is another one at the path by now."""
    pipe, kept = _peeked_pipes.pop(path, (None, None))
    if kept is None or pipe == identify_pipe(path):
        return kept
    kept[2].close()
    kept[0].close()
    return None


def identify_pipe(path: str) -> Any:
    """Return what differs between a pipe and another that takes its place: programs may replace `sys.stdin`."""
    try:
        status = os.fstat(sys.stdin.fileno()) if path == "-" else os.stat(path)
    except (OSError, ValueError, AttributeError):
        return sys.stdin if path == "-" else None
    return status.st_dev, status.st_ino


def retry_read(read: Callable[[], Any]) -> Any:
    """Read, and try again while a non-blocking pipe returns None because it has no data yet."""
    while (got := read()) is None:
        time.sleep(0.01)
    return got


def open_binary(path: str) -> Any:
    """Open a file; every error says what to do."""
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


def open_stdin() -> Any:
    """Open standard input without Python's buffer, whose lock a reading thread would hold when the program ends."""
    try:
        return open(sys.stdin.fileno(), "rb", buffering=0, closefd=False)
    except (OSError, ValueError, AttributeError):
        return io.BytesIO(sys.stdin.buffer.read() if hasattr(sys.stdin, "buffer") else b"")


def file_size(file: Any) -> int | None:
    """Return the size of a regular file; None for pipes."""
    try:
        status = os.fstat(file.fileno())
    except (OSError, ValueError):
        return None
    return status.st_size if stat.S_ISREG(status.st_mode) else None


def detect_compression(head: bytes) -> tuple[str, Callable[[Any], Any] | None]:
    """Return the kind of compression, and the function that opens it; None for archives, which are refused."""
    if head.startswith(b"\x1f\x8b"):
        return "gzip", open_gzip
    if head.startswith(b"BZh") and head[4:10] in (b"1AY&SY", b"\x17rE8P\x90"):
        return "bzip2", open_bzip2
    if head.startswith(b"\xfd7zXZ\x00"):
        return "xz", open_xz
    if head.startswith(b"\x28\xb5\x2f\xfd") or head[1:4] == b"\x2a\x4d\x18":
        return "zstd", open_zstd
    if head.startswith(b"PK\x03\x04"):
        return "zip archive", None
    return "text", lambda raw: raw


def open_gzip(raw: Any) -> Any:
    import gzip

    return gzip.GzipFile(fileobj=raw, mode="rb")


def open_bzip2(raw: Any) -> Any:
    import bz2

    return bz2.BZ2File(raw)


def open_xz(raw: Any) -> Any:
    import lzma

    return lzma.LZMAFile(raw)


def open_zstd(raw: Any) -> Any:
    pa = import_extra("pyarrow", "tables", "a file compressed by zstd")
    return pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), "zstd")
