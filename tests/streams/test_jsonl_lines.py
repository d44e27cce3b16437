"""Lines of JSON, good and bad, are read as the obvious reader reads them."""

import random
from pathlib import Path
from typing import Any

import pytest

from noregret.streams.jsonl import Jsonl
from noregret.streams.source import Reading
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
    source = Jsonl(str(tmp_path / "t.jsonl"), Reading(on_bad="skip", label="y"))
    same(source, rows)
    assert source.skipped == len(wrong)
