"""TextBlocks of JSON, good and bad, are read as the obvious reader reads them."""

import math
import random
from pathlib import Path
from typing import Any

import pytest

import noregret as nr
from noregret.streams.columns import parse_times
from noregret.streams.jsonl import Jsonl
from noregret.streams.read_options import ReadOptions
from noregret.streams.timestamps import parse_time
from tests.naive import json_rows


def same(source: Jsonl, rows: list[json_rows.Row]) -> None:
    found: list[Any] = []
    for batch in source:
        block, names = batch.X.block, batch.X.names
        for row, (a, b) in enumerate(zip(block.indptr[:-1].tolist(), block.indptr[1:].tolist(), strict=True)):
            pairs = zip(block.idx[a:b].tolist(), block.val[a:b].tolist(), strict=True)
            assert batch.lines is not None
            label = batch.y[row]
            label = label.item() if hasattr(label, "item") else label
            found.append(({names[j]: v for j, v in pairs}, label, int(batch.lines[row])))
    assert [(features, line) for features, _, line in found] == [(features, line) for features, _, line in rows]
    for (_, label, line), (_, wanted, _) in zip(found, rows, strict=True):
        assert label == wanted, line


@pytest.mark.parametrize("seed", range(4))
def test_generated_and_mutated_lines_are_read_as_the_obvious_reader_reads_them(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    text = b"\n".join(json_rows.generated(rng) for _ in range(1500))
    (tmp_path / "t.jsonl").write_bytes(text)
    rows, wrong = json_rows.read(text)
    assert 100 < len(wrong) < 1200
    source = Jsonl(str(tmp_path / "t.jsonl"), ReadOptions(on_bad="skip", label="y"))
    same(source, rows)
    assert source.skipped == len(wrong)


# ---- times ---------------------------------------------------------------------------------------------------------


def test_times_are_read_quickly_as_pyarrow_reads_them() -> None:
    import pyarrow

    rng = random.Random(4)
    shapes = ["{0:04}-{1:02}-{2:02}", "{0:04}-{1:02}-{2:02}T{3:02}:{4:02}:{5:02}", "{0:04}-{1:02}-{2:02} {3:02}:{4:02}",
              "{0:04}-{1:02}-{2:02} {3:02}:{4:02}:{5:02}.{6}", "{0:04}-{1:02}-{2:02}T{3:02}:{4:02}:{5:02}Z",
              "{0}-{1}-{2}"]  # fmt: skip
    quick = 0
    for _ in range(3000):
        parts = (rng.choice([0, 1, 1969, 1970, rng.randint(1, 9999)]), rng.randint(0, 13), rng.randint(0, 32),
                 rng.randint(0, 24), rng.randint(0, 60), rng.randint(0, 60), rng.randint(0, 10**7))  # fmt: skip
        text = rng.choice(shapes).format(*parts)
        found = parse_time(text)
        if found is not None:
            quick += 1
            assert found == parse_times(pyarrow.array([text]))[0]
    assert quick > 500
    assert parse_time(2.5) == 2.5
    assert parse_time(7) == 7.0
    assert [parse_time(odd) for odd in (True, None, 1 << 60, math.inf, math.nan, "7", [1])] == [None] * 7


def test_times_go_forward_row_by_row(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    moments = ['"2024-01-01"', '"2024-01-01T00:00:05"', '"2024-01-01 00:00:04"', '"2024-01-01T00:00:05.5"']
    moments += ['"soon"', "null"]
    path.write_text("".join(f'{{"when": {one}, "a": {k}, "y": 1}}\n' for k, one in enumerate(moments)))
    with pytest.raises(nr.BadValue, match=r"t\.jsonl:3: column 'when': the time is before that of an earlier row"):
        list(Jsonl(str(path), ReadOptions(timestamp="when")))
    source = Jsonl(str(path), ReadOptions(timestamp="when", on_bad="skip"))
    (batch,) = source
    assert batch.lines is not None
    assert batch.lines.tolist() == [1, 2, 4]
    assert source.skipped == 3
    assert batch.position == {"byte": path.stat().st_size, "line": 6, "time": 1704067205.5}
    source.start = {"byte": 0, "line": 0, "time": 1704067205.0}
    (late,) = source
    assert late.lines is not None
    assert late.lines.tolist() == [2, 4]
