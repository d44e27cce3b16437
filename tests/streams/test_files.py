"""Files: by whatever name and compression, and when they cannot be read one line says why and what to do."""

import bz2
import gzip
import io
import lzma
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from noregret.errors import BadValue
from noregret.streams import files
from noregret.streams.files import TextFile
from noregret.streams.libsvm import Libsvm
from noregret.streams.read_options import ReadOptions

TEXT = b"".join(b"%d %d:%d.5\n" % (j % 3, j % 7 + 1, j) for j in range(20_000))


def zstd(data: bytes) -> bytes:
    return bytes(pa.Codec("zstd").compress(data, asbytes=True))


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "text": bytes,
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstd": zstd,
}
packed = pytest.mark.parametrize("kind", PACKERS)
compressed = pytest.mark.parametrize("kind", [kind for kind in PACKERS if kind != "text"])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "rows"


@packed
def test_a_file_is_read_by_its_first_bytes_whatever_its_name(kind: str, path: Path) -> None:
    path.write_bytes(PACKERS[kind](TEXT))
    with TextFile(str(path)) as file:
        assert file.kind == kind
        assert file.read(100) == TEXT[:100]
        assert file.readall() == TEXT[100:]
        assert file.progress() == 1.0


@packed
def test_files_joined_end_to_end_are_one_text(kind: str, path: Path) -> None:
    path.write_bytes(PACKERS[kind](TEXT) + PACKERS[kind](TEXT[:11]) + PACKERS[kind](TEXT))
    with TextFile(str(path)) as file:
        assert file.readall() == TEXT + TEXT[:11] + TEXT


@packed
def test_what_is_looked_at_is_still_there_to_be_read(kind: str, path: Path) -> None:
    path.write_bytes(PACKERS[kind](TEXT))
    with TextFile(str(path)) as file:
        assert file.peek(50_000) == TEXT[:50_000]
        assert file.peek(10) == TEXT[:10]
        assert file.readall() == TEXT


@pytest.mark.thinned(3)
@compressed
@pytest.mark.parametrize("left", [0.3, 0.9, -1])
def test_a_compressed_file_that_is_cut_off_says_so_and_where(kind: str, left: float, path: Path) -> None:
    whole = PACKERS[kind](TEXT)
    path.write_bytes(whole[:-1] if left < 0 else whole[: int(left * len(whole))])
    with pytest.raises(BadValue, match="data end too early") as caught:
        list(Libsvm(str(path), ReadOptions()))
    assert f"{path}:" in str(caught.value)
    assert kind in str(caught.value)
    assert "get it again" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_damaged_file_names_a_line_it_was_readable_to(path: Path) -> None:
    whole = bytearray(gzip.compress(TEXT, mtime=0))
    whole[-6] ^= 255
    path.write_bytes(whole)
    with pytest.raises(BadValue, match=r"rows:1\d\d\d\d: the gzip data cannot be decompressed \(CRC"):
        list(Libsvm(str(path), ReadOptions()))


def text_or_error(path: Path) -> bytes | str:
    with TextFile(str(path)) as file:
        try:
            return file.readall()
        except BadValue as error:
            return str(error)


@compressed
def test_a_damaged_file_is_an_error_or_the_text_as_it_was(kind: str, path: Path) -> None:
    whole = PACKERS[kind](TEXT)
    for at in range(12, len(whole), len(whole) // 25):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :])
        found = text_or_error(path)
        if isinstance(found, str):
            assert f"the {kind} data" in found
            assert "\n" not in found
        else:
            assert found == TEXT or kind == "zstd"  # the packer here writes no checksum


def refused(path: Path | str) -> str:
    with pytest.raises(BadValue) as caught:
        TextFile(str(path))
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_file_that_cannot_be_opened_says_why(path: Path, tmp_path: Path) -> None:
    assert refused(path) == f"{path}: there is no such file; check the path"
    assert refused(tmp_path) == f"{tmp_path}: is a folder; give a file"
    path.touch()
    assert refused(path) == f"{path}: is empty; give a file with rows"
    path.write_bytes(b"PK\x03\x04" + bytes(30))
    assert refused(path) == f"{path}: is a zip archive; unpack it first"
    assert "cannot be opened" in refused("a\0b") or "no such file" in refused("a\0b")


def test_a_file_that_may_not_be_read_says_so(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*arguments: object, **options: object) -> None:
        raise PermissionError(13, "Permission denied")

    path.write_text("1 1:1\n")
    monkeypatch.setattr(files, "open", denied, raising=False)
    assert refused(path).startswith(f"{path}: may not be read")


def test_a_disk_that_fails_is_named(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Failing(io.BytesIO):
        def readinto(self, room: object) -> int:
            raise OSError(5, "Input/output error")

    monkeypatch.setattr(files, "open_binary", lambda path: Failing(b"1 1:1\n" * 100))
    with pytest.raises(BadValue, match=r"rows: cannot be read: Input/output error"):
        TextFile(str(path)).readall()


def test_progress_counts_compressed_bytes(path: Path) -> None:
    path.write_bytes(gzip.compress(os.urandom(1 << 20)))
    with TextFile(str(path)) as file:
        assert file.progress() is not None
        file.peek(1 << 19)
        share = file.progress()
        assert share is not None
        assert 0.4 < share < 0.6


COUNTING = """
from noregret.streams.files import TextFile
with TextFile("-") as file:
    assert file.progress() is None
    print(file.name, file.kind, len(file.readall()))
"""


@pytest.mark.thinned(3)
@packed
def test_standard_input_may_be_compressed_too(kind: str) -> None:
    told = PACKERS[kind](TEXT)
    done = subprocess.run([sys.executable, "-W", "error", "-c", COUNTING], input=told, capture_output=True)
    assert done.stderr == b""
    assert done.stdout.split() == [b"standard", b"input", kind.encode(), str(len(TEXT)).encode()]


def test_standard_input_with_nothing_in_it_says_so() -> None:
    done = subprocess.run([sys.executable, "-c", COUNTING], input=b"", capture_output=True)
    assert done.stderr.splitlines()[-1].endswith(b"standard input: is empty; give a file with rows")


def test_standard_input_replaced_by_an_object_is_read_from_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TEXT)))
    with TextFile("-") as file:
        assert file.readall() == TEXT
