"""Damaged Arrow, Feather and Parquet files: read to the end, or refused in words that name the file."""

import io
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq

import noregret as nr
from noregret.streams import open_source

KINDS = ("file.arrow", "stream.arrow", "compressed.feather", "plain.parquet", "coded.parquet")
ROWS = 60
OPTIONS: dict[str, Any] = {"label": "label", "on_bad": "skip"}


def make_table() -> Any:
    """A table with every type of column that is read."""
    numbers = list(range(ROWS))
    return pa.table({
        "size": [number / 4 for number in numbers],
        "count": pa.array([None if number % 5 == 0 else number for number in numbers], pa.int32()),
        "on": [number % 3 == 0 for number in numbers],
        "colour": [None if number % 11 == 0 else ("red", "blue", "grün")[number % 3] for number in numbers],
        "coded": pa.array([("one two", "three")[number % 2] for number in numbers]).dictionary_encode(),
        "where": [{"city": f"c{number % 4}", "floor": number % 6} for number in numbers],
        "tags": [(["a", "b"], ["b", "b"], [], None)[number % 4] for number in numbers],
        "price": pa.array([number * 100 for number in numbers], pa.decimal128(10, 2)),
        "label": [("no", "yes")[number % 2] for number in numbers],
    })  # fmt: skip


@cache
def content(kind: str) -> bytes:
    """A sound file."""
    table, out = make_table(), io.BytesIO()
    if kind == "compressed.feather":
        feather.write_feather(table, out, compression="lz4")
    elif kind.endswith(".parquet"):
        pq.write_table(table, out, use_dictionary=kind == "coded.parquet", row_group_size=20, compression="none")
    else:
        write = pa.ipc.new_file if kind == "file.arrow" else pa.ipc.new_stream
        with write(out, table.schema) as writer:
            writer.write_table(table, max_chunksize=20)
    return out.getvalue()


def damage(data: bytes, seed: int) -> bytes:
    """Change a few bits or bytes, cut the file, or write a large number over one of its offsets."""
    rng = np.random.default_rng(seed)
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8))):
        at = int(rng.integers(len(changed)))
        way = rng.random()
        if way < 0.5:
            changed[at] ^= 1 << int(rng.integers(8))
        elif way < 0.7:
            changed[at] = int(rng.integers(256))
        elif way < 0.95:
            at -= at % 4
            number = rng.choice((0x7FFFFFFF, 0xFFFFFFFF, 1000, 0x80000000)).item()
            changed[at : at + 4] = number.to_bytes(4, "little")
        else:
            del changed[at:]
            break
    return bytes(changed) or b"A"


def attack(number: int) -> str:
    """Read one damaged file; "refused" or "read", else an AssertionError says what."""
    kind = KINDS[number % len(KINDS)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / kind
        path.write_bytes(damage(content(kind), number))
        return read(str(path), f"{kind} {number}")


def read(path: str, title: str, **options: Any) -> str:
    """Read a file to its end with both kinds of options for text."""
    try:
        for more in ({}, {"text": ["colour"], "categorical": ["count"], "keep_missing": True}):
            for batch in open_source(path, **{**OPTIONS, **more, **options}):
                assert np.isfinite(batch.X.block.val).all() or "keep_missing" in more, f"{title}: infinite values"
                list(batch.X.names)
    except nr.Error as error:
        if not str(error).startswith(path):
            raise AssertionError(f"{title}: it says {error}") from None
        return "refused"
    except AssertionError:
        raise
    except Exception as error:
        raise AssertionError(f"{title}: {type(error).__name__}: {error}") from error
    return "read"
