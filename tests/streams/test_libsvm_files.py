"""libsvm files: read as scikit-learn reads them, by threads that nobody notices."""

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file

from noregret.errors import BadValue
from noregret.streams.libsvm import Libsvm, Parser
from noregret.streams.prefetch import THREAD_NAME
from noregret.streams.read_options import ReadOptions
from noregret.streams.text_blocks import ParsedBlock


def written(path: Path, rows: int = 3000) -> Path:
    rng = np.random.default_rng(5)
    X: Any = sp.random_array((rows, 500), density=0.05, rng=rng, format="csr")
    y = rng.integers(-3, 4, rows)
    with open(path, "w") as file:
        for r in range(rows):
            part = slice(X.indptr[r], X.indptr[r + 1])
            pairs = zip(X.indices[part].tolist(), X.data[part].tolist(), strict=True)
            file.write(f"{y[r]} " + " ".join(f"{j + 1}:{v!r}" for j, v in sorted(pairs)) + "\n")
    return path


def whole(source: Libsvm) -> tuple[Any, Any]:
    X, y, width = [], [], 0
    for batch in source:
        X.append(batch.X.block)
        y.append(batch.y)
        width = max(width, batch.X.block.width)
    made = [sp.csr_array((b.val, b.idx, b.indptr), shape=(b.rows, width)) for b in X]
    return sp.vstack(made, format="csr"), np.concatenate(y)


def test_a_file_is_read_as_scikit_learn_reads_it_again_and_again(tmp_path: Path) -> None:
    path = written(tmp_path / "rows.svm")
    X, y = load_svmlight_file(str(path))
    source = Libsvm(str(path), ReadOptions())
    for window in (1 << 20, 1 << 14, 1 << 14):
        source.window = window
        found, labels = whole(source)
        assert (found != sp.csr_array(X)).nnz == 0
        np.testing.assert_array_equal(labels, y)


def test_progress_grows_to_the_whole(tmp_path: Path) -> None:
    source = Libsvm(str(written(tmp_path / "rows.svm")), ReadOptions())
    source.window = 1 << 14
    done = [batch.progress or 0.0 for batch in source]
    assert done == sorted(done)
    assert done[-1] == 1.0


def readers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == THREAD_NAME]


def test_whoever_stops_reading_stops_the_thread(tmp_path: Path) -> None:
    source = Libsvm(str(written(tmp_path / "rows.svm")), ReadOptions())
    source.window = 1 << 12
    reading: Any = iter(source)
    next(reading)
    assert readers()
    reading.close()
    assert not readers()
    reading = iter(source)
    next(reading)
    with pytest.raises(KeyboardInterrupt):
        reading.throw(KeyboardInterrupt)
    assert not readers()


def test_an_error_in_the_thread_is_raised_where_the_rows_are_read(tmp_path: Path) -> None:
    path = written(tmp_path / "rows.svm")
    path.write_bytes(path.read_bytes() + b"1 1:x\n")
    source = Libsvm(str(path), ReadOptions())
    source.window = 1 << 14
    with pytest.raises(BadValue, match=r"rows\.svm:3001: feature 1: 'x' is not a number"):
        list(source)
    assert not readers()
    skipping = Libsvm(str(path), ReadOptions(on_bad="skip"))
    for _ in range(2):
        assert sum(len(batch.X) for batch in skipping) == 3000
        assert skipping.skipped == 1


@pytest.mark.parametrize("text", ["\n\n", "# nothing\n", "  \r\n# x"])
def test_a_file_without_rows_says_so(text: str, tmp_path: Path) -> None:
    (tmp_path / "none.svm").write_text(text)
    with pytest.raises(BadValue, match=r"none\.svm: holds no rows"):
        list(Libsvm(str(tmp_path / "none.svm"), ReadOptions()))


def test_a_file_with_no_usable_row_says_how_many_were_skipped(tmp_path: Path) -> None:
    (tmp_path / "none.svm").write_text("+x\n+y\n")
    with pytest.raises(BadValue, match="holds no rows that can be used: 2 were skipped"):
        list(Libsvm(str(tmp_path / "none.svm"), ReadOptions(on_bad="skip")))


STDIN = """
from noregret.streams.files import TextFile
from noregret.streams.libsvm import Libsvm, Parser
from noregret.streams.text_blocks import ParsedBlock
from noregret.streams.prefetch import THREAD_NAME
from noregret.streams.read_options import ReadOptions
with TextFile("-") as file:
    assert file.peek(5) == b"1 1:1"
source = Libsvm("-", ReadOptions())
print(sum(len(batch.X) for batch in source))
try:
    list(source)
except ValueError as error:
    print(error)
"""


def test_standard_input_is_read_once_even_if_it_was_looked_at() -> None:
    done = subprocess.run([sys.executable, "-W", "error", "-c", STDIN], input=b"1 1:1\n" * 50_000, capture_output=True)
    assert done.stderr == b""
    assert done.stdout.split(b"\n")[0].strip() == b"50000"
    assert b"standard input can be read only once" in done.stdout


def test_whoever_leaves_a_silent_pipe_is_not_held_back() -> None:
    code = """
import os, signal, threading
from noregret.streams.libsvm import Libsvm, Parser
from noregret.streams.text_blocks import ParsedBlock
from noregret.streams.prefetch import THREAD_NAME
from noregret.streams.read_options import ReadOptions
signal.signal(signal.SIGINT, signal.default_int_handler)  # it may be ignored where the tests run
threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    list(Libsvm("-", ReadOptions()))
except KeyboardInterrupt:
    print("left")
"""
    if sys.platform == "win32":
        pytest.skip("a signal cannot be sent like this there")
    child = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with child:
        assert child.stdin is not None
        child.stdin.write(b"1 1:1\n" * 10)
        child.stdin.flush()
        assert child.stdout is not None
        assert child.stdout.read() == b"left\n"
        assert child.wait(20) == 0


def test_whatever_goes_wrong_in_a_thread_is_raised_after_the_rows_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = Libsvm(str(written(tmp_path / "rows.svm")), ReadOptions())
    source.window = 1 << 14
    batches = list(source)
    parse_block = Parser.parse_block

    def failing(self: Parser, block: Any) -> ParsedBlock:
        made = parse_block(self, block)
        if made.batches[0].progress == batches[5].progress:
            raise MemoryError("no room")
        return made

    monkeypatch.setattr(Parser, "parse_block", failing)
    reading = iter(source)
    for expected in batches[:5]:
        np.testing.assert_array_equal(next(reading).X.block.val, expected.X.block.val)
    with pytest.raises(MemoryError, match="no room"):
        next(reading)
    assert not readers()


def test_leaving_early_ends_every_thread_and_closes_the_file(tmp_path: Path) -> None:
    import threading

    path = tmp_path / "long.svm"
    path.write_bytes(b"1 1:0.5 2:0.25 3:0.125\n" * 1_000_000)
    batches = iter(Libsvm(str(path), ReadOptions()))
    next(batches)
    batches.close()  # type: ignore[attr-defined]
    assert [thread for thread in threading.enumerate() if thread.name == THREAD_NAME] == []
