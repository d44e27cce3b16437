"""Generated and mutated texts of a format, read by its reader and by the obvious one.

    python -m verification.fuzz_text.lines libsvm|csv|jsonl [LINES] [SEED]

Stops at the first difference, with the seed of the text it is in; otherwise says how many lines were the same.
"""

import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from noregret.streams.csv import Csv
from noregret.streams.jsonl import Jsonl
from noregret.streams.read_options import ReadOptions
from tests.naive import csv_rows, json_rows
from tests.naive import libsvm as libsvm_rows
from tests.streams import test_csv, test_jsonl_lines, test_libsvm
from tests.streams.libsvm_rows import read, same

TOGETHER = 2000


def say(what: str) -> None:
    sys.stdout.write(what + "\n")
    sys.stdout.flush()


def libsvm(rng: random.Random, folder: Path) -> tuple[int, int]:
    """Some lines read by compiled code in windows of several sizes."""
    text = b"\n".join(test_libsvm.generated(rng) for _ in range(TOGETHER))
    labelled, zero_based = rng.random() < 0.7, rng.random() < 0.3
    rows, wrong = libsvm_rows.read(text, zero_based, labelled)
    reading = ReadOptions(on_bad="skip", labelled=labelled, zero_based=zero_based)
    found = read(text, reading, rng.choice([20_000, 1 << 16, 1 << 20]))
    same(found, rows)
    assert found.skipped == len(wrong)
    return TOGETHER, len(wrong)


def csv(rng: random.Random, folder: Path) -> tuple[int, int]:
    """A small table, in blocks of several sizes, by compiled code and by pyarrow."""
    text = test_csv.random_table(rng)
    obvious = csv_rows.read(text, "y")
    path = test_csv.written(folder, text)
    block, native = rng.choice([50, 500, 1 << 20]), rng.random() < 0.5
    assert test_csv.taken(Csv(path, ReadOptions(on_bad="skip"), block, native)) == obvious
    return text.count("\n"), obvious.skipped


def jsonl(rng: random.Random, folder: Path) -> tuple[int, int]:
    text = b"\n".join(json_rows.generated(rng) for _ in range(TOGETHER))
    path = folder / "t.jsonl"
    path.write_bytes(text)
    rows, wrong = json_rows.read(text)
    source = Jsonl(str(path), ReadOptions(on_bad="skip", label="y"))
    test_jsonl_lines.same(source, rows)
    assert source.skipped == len(wrong)
    return TOGETHER, len(wrong)


FORMATS: dict[str, Callable[[random.Random, Path], tuple[int, int]]] = {"libsvm": libsvm, "csv": csv, "jsonl": jsonl}


def main() -> None:
    kind, total, seed = ([*sys.argv[1:], *["libsvm", "2000000", "0"][len(sys.argv) - 1 :]])[:3]
    if kind not in FORMATS:
        raise SystemExit(f"no format {kind!r}: there are {', '.join(FORMATS)}")
    done = wrong = 0
    number, told, began = int(seed), 0.0, time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        while done < int(total):
            try:
                lines, refused = FORMATS[kind](random.Random(number), Path(folder))
            except BaseException:
                say(f"the text of seed {number} is read in two ways")
                raise
            done, wrong, number = done + lines, wrong + refused, number + 1
            if time.monotonic() - told > 20.0:
                told = time.monotonic()
                say(f"{done:,} lines, {wrong:,} of them wrong, {told - began:.0f} s")
    say(f"{done:,} lines read in the same way, {wrong:,} of them refused in the same way")


if __name__ == "__main__":
    main()
