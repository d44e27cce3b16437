"""Memory and threads: a file ten times as large needs no more memory, and two threads parse faster than one."""

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np

from benchmarks.measure import Row
from benchmarks.stream import text

TITLE = "Memory for large files, and parsing with two threads"
SMALL, LARGE = 200, 2000  # megabytes

LEARN = """
import sys
import noregret
from noregret.streams import open_source
learner = noregret.make("pa1")
for batch in open_source(sys.argv[1]):
    learner.learn(batch.X, batch.y)
for line in open("/proc/self/status"):
    if line.startswith("VmHWM"):
        print(int(line.split()[1]) // 1024)
"""


def lines(size: int) -> bytes:
    """About so many bytes of libsvm text."""
    data = text()
    offsets, indices, values = data.X.indptr.tolist(), data.X.indices.tolist(), data.X.data.tolist()
    made, total = [], 0
    for row, label in enumerate(data.y.tolist()):
        part = slice(offsets[row], offsets[row + 1])
        pairs = zip(indices[part], values[part], strict=True)
        made.append(f"{label} " + " ".join(f"{index + 1}:{value:.6g}" for index, value in pairs) + "\n")
        total += len(made[-1])
        if total >= size:
            break
    return "".join(made).encode()


def write(path: Path, block: bytes, megabytes: int) -> None:
    with open(path, "wb") as file:
        for _ in range(megabytes << 20, 0, -len(block)):
            file.write(block)


def peak(path: Path) -> int:
    """The peak memory of a process that learns the file, in megabytes."""
    told = subprocess.run([sys.executable, "-c", LEARN, str(path)], capture_output=True, text=True, check=True)
    return int(told.stdout.split()[0])


def parse_seconds(path: Path, threads: int) -> tuple[float, int]:
    """The best time of three passes that only parse, and the rows they read."""
    from noregret.streams import libsvm
    from noregret.streams.read_options import ReadOptions

    before, libsvm.THREADS = libsvm.THREADS, threads
    try:
        found = []
        for _ in range(3):
            start, checksum = perf_counter(), 0
            for batch in libsvm.Libsvm(str(path), ReadOptions()):
                checksum += int(batch.X.block.idx.sum(dtype=np.int64)) + batch.rows
            found.append(perf_counter() - start)
        return min(found), checksum
    finally:
        libsvm.THREADS = before


def run() -> list[Row]:
    block = lines(16 << 20)
    with TemporaryDirectory() as folder:
        small, large = Path(folder, "small.svm"), Path(folder, "large.svm")
        write(small, block, SMALL)
        (one, first), (two, second) = (parse_seconds(small, threads) for threads in (1, 2))
        if first != second:
            raise AssertionError("two threads read other rows than one")
        write(large, block, LARGE)
        less, more = peak(small), peak(large)
    size, work = SMALL * 1.048576, f"peak memory, {LARGE} MB of libsvm text"
    speeds = [f"{size / seconds:.0f} MB/s" for seconds in (two, one)]
    return [
        Row(work, f"{more} MB", f"{SMALL} MB: {less} MB", more - less, "MB more", at_most=60.0),
        Row("parsing libsvm text, two threads (the same rows)", speeds[0], f"one {speeds[1]}", one / two, "x", 1.6),
    ]
